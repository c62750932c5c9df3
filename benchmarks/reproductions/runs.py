"""A run, with its data set, algorithm, scale of the steps and seed; and the store of results."""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.reproductions.demonstrations import missed
from benchmarks.reproductions.experiments import DataSplit, Experiment
from relaxboost._core.arrays import Array
from relaxboost._core.compiled import is_interrupt
from relaxboost._core.files import write_atomically
from relaxboost.functional import BoostState, Stopping, boost
from relaxboost.functional.algorithms import ALGORITHMS
from relaxboost.functional.learners import StumpHypothesis

Result = dict[str, Any]

COLUMNS = ("learners", "train_loss", "train_score", "test_loss", "test_score")
BASELINE = "HistGradientBoosting"
STEP, LINE_SEARCH = "1/sqrt(t)", "line-search"


def labels(score: str) -> list[str]:
    """Return labels of all `COLUMNS` except the first, for the score of an experiment."""
    return ["training loss", f"training {score}", "test loss", f"test {score}"]


def follow(
    experiment: Experiment,
    problem: DataSplit,
    algorithm: str,
    scale: float,
    learners: int,
    step: str = STEP,
) -> Result:
    """Boost, and return loss and score on both sets after every round.

    Returns
    -------
    dict
        ``rows``, a list of `COLUMNS` for each round of at most `learners` weak learners;
        ``splits`` and ``late_splits``, the numbers of different splits among all weak learners and
        among their second half; ``rounds`` and ``status``.

    Raises
    ------
    KeyboardInterrupt
        On Ctrl-C, so that no part of a run is stored as a whole run.
    """
    loss, half, held = experiment.loss, problem.train, problem.test
    train = loss.bind(half.y, groups=half.groups)
    weights, unit = (None, 1.0) if experiment.geometry is None else experiment.geometry(train)
    unit = unit if step == STEP else 1.0
    test = loss.bind(held.y, groups=held.groups, classes=train.classes)
    rows: list[list[float]] = []
    wrong = [SCORES[experiment.score](risk) for risk in (train, test)]
    F, X = test.zero(), held.X
    count = 0

    def watch(state: BoostState) -> None:
        nonlocal F, count
        if state.direction is not None:
            for part in state.direction.parts:
                F = F - state.step * part.coefficient * part.hypothesis(X)
            count += len(state.direction.parts)
        if count <= learners:
            scores = wrong[0](state.F), wrong[1](F)
            rows.append([count, state.value, scores[0], test.value(F), scores[1]])

    try:
        with warnings.catch_warnings():
            # The largest of the steps that are compared are too long for some data.
            warnings.filterwarnings("ignore", "the training risk rose")
            made = boost(
                half.X,
                loss.bind(half.y, weights, groups=half.groups),
                experiment.learner,
                algorithm=ALGORITHMS[algorithm](step=step, scale=scale * unit),
                stopping=Stopping(learners, max_learners=learners, callback=watch),
            )
    except SystemError as error:  # Ctrl-C within a compiled kernel
        if is_interrupt(error):
            raise KeyboardInterrupt from None
        raise
    if made.status == "interrupted":
        raise KeyboardInterrupt
    splits: list[Any] = [  # hypotheses that are not stumps are all different
        (one.feature, one.threshold) if isinstance(one, StumpHypothesis) else one
        for one in (term.hypothesis for term in made.terms[: int(rows[-1][0])])
    ]
    return {
        "rows": rows,
        "splits": len(set(splits)),
        "late_splits": len(set(splits[len(splits) // 2 :])),
        "rounds": len(rows) - 1,
        "status": made.status,
    }


SCORES: dict[str, Callable[[Any], Callable[[Array], float]]] = {
    "error": lambda risk: lambda F: float(np.mean(F.argmax(axis=1) != risk.y)),
    "disagreement": lambda risk: lambda F: float(risk.disagreement(F)),
    "missed": missed,
}
"""The share of wrong predictions as a function of a risk, by the score of an experiment."""


def baseline(problem: DataSplit, learners: int) -> Result:
    """Return the test accuracy of scikit-learn's HistGradientBoostingClassifier with stumps.

    It has ``max_depth=1`` and otherwise defaults, without early stopping. A round fits a stump for
    each class, or one stump for two classes. ``at_rounds`` is the accuracy after `learners` rounds,
    and ``at_learners`` that after `learners` stumps, rounded up to a round.
    """
    from sklearn.ensemble import HistGradientBoostingClassifier
    from threadpoolctl import threadpool_limits

    model = HistGradientBoostingClassifier(
        max_depth=1, max_iter=learners, early_stopping=False, random_state=0
    )
    with threadpool_limits(1):  # waiting threads of OpenMP slow down a loaded machine
        model.fit(problem.train.X, problem.train.y)
    each = model.n_trees_per_iteration_
    wanted = {-(-learners // each): "at_learners", learners: "at_rounds"}
    found: Result = {"stumps_a_round": each}
    for t, predicted in enumerate(model.staged_predict(problem.test.X), start=1):
        if t in wanted:
            found[wanted[t]] = float(np.mean(predicted == problem.test.y))
    found.setdefault("at_learners", found["at_rounds"])
    return found


class Store:
    """A folder of results, one file each, written completely or not at all.

    A stored result is used if it was made for the same data, settings and format.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def get(self, spec: dict[str, Any], make: Callable[[], Result]) -> Result:
        """Return the stored result for `spec`, or store and return the result of `make`."""
        path = self.folder / self.name(spec)
        with suppress(OSError, ValueError):
            kept: Any = json.loads(path.read_text())
            if isinstance(kept, dict) and kept.get("spec") == spec:
                return kept
        result = {"spec": spec, **make()}
        write_atomically(path, (json.dumps(result, allow_nan=False) + "\n").encode())
        return result

    def name(self, spec: dict[str, Any]) -> str:
        """Return the name of the file of a run."""
        parts = [spec["figure"], spec["set"], spec["algorithm"]]
        if spec["scale"] is not None:
            parts.append(f"scale{spec['scale']:g}")
        if "step" in spec:
            parts[-1] = spec["step"]
        parts += [f"seed{spec['seed']}", str(spec["learners"]), *["quick"] * spec["quick"]]
        return "-".join(parts) + ".json"

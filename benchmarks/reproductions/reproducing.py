"""`reproduce`: run an experiment, use stored results, and write the figure and the findings."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.readers import data_folder
from benchmarks.reproductions import findings
from benchmarks.reproductions.drawing import STYLES, draw, png, table
from benchmarks.reproductions.experiments import EXPERIMENTS, DataSplit, Experiment
from benchmarks.reproductions.findings import Finding, Grid, Results
from benchmarks.reproductions.runs import (
    BASELINE,
    LINE_SEARCH,
    STEP,
    Result,
    Store,
    baseline,
    follow,
)
from benchmarks.reproductions.summary import describe, title, written
from relaxboost._core.errors import InputError
from relaxboost._core.files import write_atomically
from relaxboost._core.parameters import count
from relaxboost.views.plots import check_plot

ALGORITHMS = tuple(STYLES)
QUICK_LEARNERS, QUICK_SEEDS = 60, 2

Progress = Callable[[int, int, str], None]


@dataclass(frozen=True)
class Outcome:
    """The results of a rerun.

    Attributes
    ----------
    data : dict
        For machines.
    text : str
        For people.
    files : tuple of Path
        The figure, the curves as CSV, the text, and the data as JSON.
    """

    data: dict[str, Any]
    text: str
    files: tuple[Path, ...]


@dataclass(frozen=True)
class Effort:
    """The size of an experiment.

    Parameters
    ----------
    learners : int, optional
        Weak learners of each run, >= 2; by default 300.
    seeds : int, optional
        Number of splits into training and test set, or of folds for rankings; by default 3.
    quick : bool
        Take small parts of the data, and by default 60 learners and 2 seeds, for a first look.
    baseline : bool
        For fig3, add the accuracy of scikit-learn's HistGradientBoostingClassifier with stumps.
    line_search : bool
        Take the best step along each direction instead of c/sqrt(t).

    Raises
    ------
    InputError
        If there are fewer than 2 learners or 1 seed.
    """

    learners: int = None  # type: ignore[assignment]  # a number once it is made
    seeds: int = None  # type: ignore[assignment]
    quick: bool = False
    baseline: bool = True
    line_search: bool = False

    def __post_init__(self) -> None:
        for name, quick, usual in (("learners", QUICK_LEARNERS, 300), ("seeds", QUICK_SEEDS, 3)):
            given = getattr(self, name)
            used = (quick if self.quick else usual) if given is None else given
            object.__setattr__(self, name, count(name, used))
        if self.learners == 1:
            raise InputError("learners must be at least 2, so that there is a second half")


def reproduce(
    name: str,
    data: str | Path | None = None,
    out: str | Path | None = None,
    *,
    sets: Sequence[str] = (),
    effort: Effort | None = None,
    progress: Progress | None = None,
) -> Outcome:
    """Rerun an experiment of Grubb & Bagnell (2011), and write figure, curves and findings.

    All three algorithms take the steps c/sqrt(t) of Theorems 5 and 7 with the same constant c. Of
    four candidates, c is the one with the least final training loss of seed 0, averaged over the
    algorithms. For fig1 the unit of c is the first step that `planning.boost` takes by default.
    Every finished run is stored in ``out/runs``. A later call for the same data and effort uses
    it, so that the call after an interruption continues and writes the same files.

    Parameters
    ----------
    name : {"gb11-fig1", "gb11-fig2", "gb11-fig3"}
    data : path, optional
        The folder of data; by default the value of the environment variable RELAXBOOST_DATA.
    out : path, optional
        The folder of results, created if necessary; by default it has the name of the figure.
    sets : sequence of str
        By default terrain and borlange; mq2008; or connect4, letter, pendigits, satimage.
    effort : Effort, optional
        The numbers of weak learners and seeds; by default 300 and 3.
    progress : callable, optional
        Called with (finished runs, all runs, the name of the next run).

    Raises
    ------
    InputError
        Before work starts, if the figure or a set is unknown, or a file of data is missing. The
        message names the source of the file.

    References
    ----------
    Grubb & Bagnell (2011), Sec. 5, Figs. 1 to 3.
    """
    if name not in EXPERIMENTS:
        raise InputError(f"no figure {name!r}; there are {', '.join(EXPERIMENTS)}")
    experiment = EXPERIMENTS[name]
    chosen = _chosen(experiment, sets)
    effort = effort or Effort()
    if experiment.score != "error":
        effort = replace(effort, baseline=False)
    if experiment.most is not None and effort.seeds > experiment.most:
        raise InputError(f"{name} has {experiment.most} folds; got seeds={effort.seeds}")
    folder = data_folder(data)
    for one in chosen:
        experiment.check(one, folder, effort.seeds)
    target = _folder(Path(name) if out is None else Path(out))
    check_plot(target / f"{name}.png")
    show = progress or (lambda done, total, name: None)
    runner = _Runner(experiment, effort, Store(target / "runs"), len(chosen), show)
    found = {one: runner.run(one, folder) for one in chosen}
    return _write(experiment, effort, found, target)


def _chosen(experiment: Experiment, sets: Sequence[str]) -> tuple[str, ...]:
    for one in sets:
        if one not in experiment.sets:
            raise InputError(
                f"{experiment.name} has no set {one!r}; there are {', '.join(experiment.sets)}"
            )
    return tuple(dict.fromkeys(sets)) or experiment.default


def _folder(out: Path) -> Path:
    try:
        (out / "runs").mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"cannot make the folder {out}: {error.strerror}; name another") from None
    return out


@dataclass
class _Set:
    """The results on a set."""

    scale: float
    grid: Grid
    results: Results
    baselines: list[Result]
    findings: list[Finding]


class _Runner:
    """Runs the parts of an experiment that are not stored yet."""

    def __init__(
        self, experiment: Experiment, effort: Effort, store: Store, sets: int, show: Progress
    ) -> None:
        self.experiment, self.effort, self.store = experiment, effort, store
        self.show, self.done = show, 0
        self.scales = (1.0,) if effort.line_search else experiment.scales
        runs = (len(self.scales) + effort.seeds - 1) * len(ALGORITHMS)
        self.total = sets * (runs + effort.seeds * effort.baseline)

    def run(self, name: str, folder: Path) -> _Set:
        """Return the results on a set."""
        effort, seeds = self.effort, range(self.effort.seeds)
        problem = self.experiment.problems(name, folder, effort.seeds, effort.quick)
        first, scales = problem(0), self.scales
        grid = {s: {a: self.one(first, a, s) for a in ALGORITHMS} for s in scales}
        means = {s: np.mean([r["rows"][-1][1] for r in row.values()]) for s, row in grid.items()}
        scale = min(scales, key=lambda s: (means[s], s))
        results: Results = {a: [grid[scale][a]] for a in ALGORITHMS}
        baselines = []
        for seed in seeds:
            given = first if seed == 0 else problem(seed)
            if seed > 0:
                for a in ALGORITHMS:
                    results[a].append(self.one(given, a, scale))
            if effort.baseline:
                baselines.append(self.one(given, BASELINE, None))
        judge = findings.JUDGES[self.experiment.score]
        return _Set(scale, grid, results, baselines, judge(name, results, grid))

    def one(self, problem: DataSplit, algorithm: str, scale: float | None) -> Result:
        """Return the result of a run."""
        learners = self.effort.learners
        spec = {
            "figure": self.experiment.name,
            "set": problem.name,
            "split": problem.split,
            "seed": problem.seed,
            "algorithm": algorithm,
            "scale": scale,
            "learners": learners,
            "quick": self.effort.quick,
            "train": len(problem.train.y),
            "test": len(problem.test.y),
            "data": problem.digest(),
            "format": 1,
            **({"step": LINE_SEARCH} if self.effort.line_search else {}),
        }

        def make() -> Result:
            if scale is None:
                return baseline(problem, learners)
            step = LINE_SEARCH if self.effort.line_search else STEP
            return follow(self.experiment, problem, algorithm, scale, learners, step)

        self.show(self.done, self.total, self.store.name(spec).removesuffix(".json"))
        result = self.store.get(spec, make)
        self.done += 1
        self.show(self.done, self.total, "")
        return result


def _write(experiment: Experiment, effort: Effort, found: dict[str, _Set], target: Path) -> Outcome:
    data: dict[str, Any] = {
        "figure": experiment.name,
        "title": experiment.title,
        "score": experiment.score,
        "learners": effort.learners,
        "seeds": effort.seeds,
        "quick": effort.quick,
        "line_search": effort.line_search,
        "sets": {},
        "findings": [finding._asdict() for one in found.values() for finding in one.findings],
    }
    for name, one in found.items():
        data["sets"][name] = describe(one.scale, one.grid, one.results, one.baselines)
        data["sets"][name]["line_search"] = effort.line_search
    notes = [finding.line() for one in found.values() for finding in one.findings]
    text = written(data, notes)
    curves = {name: one.results for name, one in found.items()}
    titles = {name: title(name, data["sets"][name], experiment.score) for name in found}
    stem = target / experiment.name
    files = tuple(stem.with_name(f"{stem.name}{end}") for end in (".png", ".csv", ".txt", ".json"))
    write_atomically(files[0], png(draw(experiment, curves, titles)))
    write_atomically(files[1], table(experiment, curves).encode())
    write_atomically(files[2], text.encode())
    write_atomically(files[3], (json.dumps(data, indent=2, allow_nan=False) + "\n").encode())
    return Outcome(data, text, files)

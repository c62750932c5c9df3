"""Test errors at defaults, with 0, 10 and 20 % of the training labels flipped.

    python benchmarks/margins.py --data DIR [--sets sonar heart] [--fractions]

DIR holds the public sets by folder, as `read` names them (UCI and IDA); they are not part of the
package. Each split trains on at most 300 rows and tests on the rest of at most 2 000.
With --fractions it is fixed fractions beside the one chosen, over each half of the sets.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from common import machine, table
from lightgbm import LGBMClassifier
from scipy.stats import t as student
from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import (
    AdaBoostClassifier,
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
)
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.svm import LinearSVC

from relaxboost.estimators import MarginBoostClassifier, MarginBoostClassifierCV

ROWS, TRAIN, SPLITS, FLIPS = 2000, 300, 5, (0.0, 0.1, 0.2)

METHODS: dict[str, Callable[[], Any]] = {
    "margin .1": partial(MarginBoostClassifier, fraction=0.1),
    "margin": MarginBoostClassifier,
    "AdaBoost": lambda: AdaBoostClassifier(random_state=0),
    "GradientBoosting": lambda: GradientBoostingClassifier(random_state=0),
    "HistGradientBoosting": lambda: HistGradientBoostingClassifier(random_state=0),
    "LightGBM": lambda: LGBMClassifier(random_state=0, n_jobs=1, verbose=-1),
}


class AsStumps:
    """Every cut between 16 bins of a feature, as −1 and +1."""

    def fit(self, X: Any, y: Any = None) -> AsStumps:
        """Find the cuts."""
        grid = np.linspace(0.0, 1.0, 17)[1:-1]
        self.cuts = [np.unique(np.quantile(x, grid)) for x in np.asarray(X).T]
        return self

    def transform(self, X: Any) -> Any:
        """Return the stumps."""
        columns = zip(np.asarray(X).T, self.cuts, strict=True)
        return np.hstack([np.where(x[:, None] > cuts, 1.0, -1.0) for x, cuts in columns])

    def fit_transform(self, X: Any, y: Any = None) -> Any:
        """Do both."""
        return self.fit(X).transform(X)


METHODS["SVM on stumps"] = lambda: make_pipeline(AsStumps(), LinearSVC(random_state=0))


def read(root: Path) -> dict[str, Callable[[], pd.DataFrame]]:
    """Return what reads each set, labels in the last column."""
    plain: dict[str, dict[str, Any]] = {
        "sonar/sonar.csv.gz": {"header": None},
        "german/german.csv.gz": {"header": None},
        "spambase/spambase.tsv.gz": {"sep": "\t"},
        "magic/magic04.data.gz": {"header": None},
        "adult/adult-train.csv.gz": {"header": None, "na_values": "?", "skipinitialspace": True},
        "raetsch/heart-statlog.tsv.gz": {"sep": "\t"},
        "raetsch/breast_cancer.csv.gz": {},
        "raetsch/diabetis_pima.csv.gz": {"header": None},
        "raetsch/flare_solar.csv.gz": {},
        "raetsch/titanic.csv.gz": {},
        "raetsch/banana.csv.gz": {},
        "raetsch/twonorm.csv.gz": {},
    }

    def reader(path: str, options: dict[str, Any]) -> Callable[[], pd.DataFrame]:
        return lambda: pd.read_csv(root / path, **options)

    sets = {path.split("/")[-1].split(".")[0]: reader(path, o) for path, o in plain.items()}
    sets["wisconsin"] = lambda: load_breast_cancer(as_frame=True).frame
    return sets


def splits(frame: pd.DataFrame) -> Iterator[tuple[int, int, tuple[Any, ...], np.ndarray]]:
    """Yield (split, number of the flip, (X, y, train, test), the labels given)."""
    frame = frame.sample(min(ROWS, len(frame)), random_state=0)
    X, y = frame.iloc[:, :-1], np.unique(frame.iloc[:, -1], return_inverse=True)[1]
    X.columns = [f"x{f}" for f in range(X.shape[1])]
    for name in X:  # categories are declared before the split
        if not pd.api.types.is_numeric_dtype(X[name]):
            X = X.assign(**{name: X[name].astype("category")})
    for split in range(SPLITS):
        rows = np.arange(len(y))
        size = min(TRAIN, len(y) * 2 // 3)
        train, test = train_test_split(rows, train_size=size, stratify=y, random_state=split)
        draw = np.random.default_rng(split).random(size)
        for a, flip in enumerate(FLIPS):
            yield split, a, (X, y, train, test), np.where(draw < flip, 1 - y[train], y[train])


def errors(frame: pd.DataFrame, seconds: dict[str, float]) -> np.ndarray:
    """Return test errors, (flips, methods, splits)."""
    out = np.empty((len(FLIPS), len(METHODS), SPLITS))
    for split, a, (X, y, train, test), given in splits(frame):
        numbers = pd.DataFrame(pd.get_dummies(X, dtype=float).to_numpy())
        for b, (name, make) in enumerate(METHODS.items()):
            whole = X if name.startswith("margin") else numbers
            start = time.process_time()
            model = make().fit(whole.iloc[train], given)
            out[a, b, split] = np.mean(model.predict(whole.iloc[test]) != y[test])
            seconds[name] += time.process_time() - start
    return out


class Whole(MarginBoostClassifierCV):
    """Goes down the whole path, to tell what each fraction would have done."""

    def _choose(self, held: Any, given: Any, grid: list[Any]) -> int:
        self.chosen = super()._choose(held, given, grid)
        return len(grid) - 1


def fractions(chosen: list[str], sets: dict[str, Callable[[], pd.DataFrame]]) -> None:
    """Print test errors of all fractions, and of the one chosen, over each half of the sets."""
    found = np.zeros((len(chosen), len(FLIPS), len(MarginBoostClassifierCV.usual_fractions) + 1))
    for s, name in enumerate(chosen):
        for _, a, (X, y, train, test), given in splits(sets[name]()):
            model = Whole(MarginBoostClassifierCV.usual_fractions).fit(X.iloc[train], given)
            wrong = [np.mean(told != y[test]) for told in model.staged_predict(X.iloc[test])]
            found[s, a] += np.array([*wrong, wrong[model.chosen]]) / SPLITS
        print(name, found[s].round(3).tolist(), file=sys.stderr, flush=True)
    names = [*map(str, sorted(MarginBoostClassifierCV.usual_fractions, reverse=True)), "chosen"]
    for half in range(2):
        means = 100 * found[half::2].mean(axis=0)
        rows = [
            [f"{100 * f:g} %", *(f"{e:.1f}" for e in r)] for f, r in zip(FLIPS, means, strict=True)
        ]
        rows.append(["all", *(f"{e:.1f}" for e in means.mean(axis=0))])
        table(f"Errors by fraction, {', '.join(chosen[half::2])}", ["flipped", *names], rows)


def interval(values: np.ndarray) -> str:
    """Return mean ± half of the 95 % interval of Student, in percent."""
    half = student.ppf(0.975, values.size - 1) * values.std(ddof=1) / np.sqrt(values.size)
    return f"{100 * values.mean():.1f} ± {100 * half:.1f}"


def main() -> None:
    """Print a table for each share of flipped labels, and the differences over all sets."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", default=os.environ.get("RELAXBOOST_DATA"), required=False)
    parser.add_argument("--sets", nargs="*")
    parser.add_argument("--fractions", action="store_true")
    options = parser.parse_args()
    if options.data is None:
        parser.error("say where the sets are: --data DIR, or RELAXBOOST_DATA")
    warnings.simplefilter("ignore")  # of no vote that beats none, which the errors show
    sets, seconds = read(Path(options.data)), dict.fromkeys(METHODS, 0.0)
    chosen = options.sets or list(sets)
    if options.fractions:
        machine()
        fractions(chosen, sets)
        return
    found = np.empty((len(chosen), len(FLIPS), len(METHODS), SPLITS))
    for s, name in enumerate(chosen):
        found[s] = errors(sets[name](), seconds)
        print(name, found[s].mean(axis=-1).round(3).tolist(), file=sys.stderr, flush=True)
    machine()
    for a, flip in enumerate(FLIPS):
        rows = [[name, *map(interval, found[s, a])] for s, name in enumerate(chosen)]
        title = f"Test errors in percent, {100 * flip:g} % of training labels flipped"
        table(title, ["set", *METHODS], rows)
    if len(chosen) > 1:
        ours = found[:, :, 1].mean(axis=-1)
        rows = [
            [f"{100 * flip:g} %", *(interval(e - ours[:, a]) for e in found[:, a].mean(axis=-1).T)]
            for a, flip in enumerate(FLIPS)
        ]
        table("How much more than the margin, over the sets", ["flipped", *METHODS], rows)
    table("CPU seconds, all fits", list(seconds), [[f"{s:.0f}" for s in seconds.values()]])


if __name__ == "__main__":
    main()

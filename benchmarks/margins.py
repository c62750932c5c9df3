"""Accuracy and time of classifiers at defaults, with 0, 10 and 20 % of the training labels flipped.

    python benchmarks/margins.py --data DIR [--sets sonar heart] [--splits 10] [--stumps]
    python benchmarks/margins.py --data DIR --sets categories [--splits 5]

DIR holds the public sets by folder, as `read` names them (UCI and IDA); they are not part of the
package. Each split trains on `TRAIN` rows of a set, and tests on at most 3000 of the others, with
their true labels. With --stumps also `MarginBoostClassifier(hypotheses="stumps")`, which is slow.
`--sets categories` are the sets of `CATEGORIES`, as frames with columns of categories; the forest
and AdaBoost get them one-hot. Most rows of "adult_few" and "titanic" are equal to others.
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
from scipy.stats import gmean
from scipy.stats import t as student
from sklearn.datasets import load_breast_cancer, load_digits, load_svmlight_file
from sklearn.ensemble import (
    AdaBoostClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
)

from relaxboost.estimators import MarginBoostClassifier

FLIPS = (0.0, 0.1, 0.2)
TEST = 3000
TRAIN = {
    "banana": 400,
    "breast_cancer": 200,
    "diabetis": 468,
    "flare_solar": 666,
    "heart": 200,
    "splice": 1000,
    "twonorm": 400,
    "german": 700,
    "sonar": 150,
    "spambase": 1000,
    "magic": 1000,
    "letter": 700,
    "digits": 700,
    "wisconsin": 380,
}
CATEGORIES = {
    "german_raw": 700,
    "adult": 1000,
    "adult_few": 1000,
    "mushrooms": 300,
    "titanic": 1000,
}
ONE_HOT = ("RF", "AdaBoost")


class Uniform(MarginBoostClassifier):
    """The same pool of trees with equal weights, for comparison with the weights of the game."""

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Uniform:
        """Fit, then let the sign of the sum of the trees decide."""
        super().fit(X, y, sample_weight)
        (voter,) = self._stages[-1]
        pool = self.game_.matrix
        members = [(1.0 / pool.n, pool.hypothesis(j)) for j in range(pool.n)]
        self._stages[-1] = [voter._replace(members=members, means=np.zeros(pool.n))]
        return self

    def predict(self, X: Any) -> Any:
        """Return the sign of the votes."""
        return self.classes_[(self.votes(X) > 0.0).astype(int)]


METHODS: dict[str, Callable[[], Any]] = {
    "MarginBoost": MarginBoostClassifier,
    "HGB": partial(HistGradientBoostingClassifier, random_state=0),
    "RF": partial(RandomForestClassifier, random_state=0),
    "AdaBoost": partial(AdaBoostClassifier, random_state=0),
    "equal votes": Uniform,
}
STUMPS = {"stumps": partial(MarginBoostClassifier, hypotheses="stumps")}


def read(root: Path) -> dict[str, Callable[[], tuple[Any, np.ndarray]]]:
    """Return what reads each set: features as numbers or a frame, and labels 0 and 1."""
    files: dict[str, dict[str, Any]] = {
        "raetsch/banana.csv.gz": {},
        "raetsch/breast_cancer.csv.gz": {},
        "raetsch/diabetis_pima.csv.gz": {"header": None},
        "raetsch/flare_solar.csv.gz": {},
        "raetsch/heart-statlog.tsv.gz": {"sep": "\t"},
        "raetsch/splice.csv.gz": {},
        "raetsch/twonorm.csv.gz": {},
        "german/german.csv.gz": {"header": None},
        "sonar/sonar.csv.gz": {"header": None},
        "spambase/spambase.tsv.gz": {"sep": "\t"},
        "magic/magic04.data.gz": {"header": None},
    }

    def table_of(path: str, options: dict[str, Any]) -> tuple[np.ndarray, np.ndarray]:
        frame = pd.read_csv(root / path, **options)
        codes = np.unique(frame.iloc[:, -1], return_inverse=True)[1]
        return pd.get_dummies(frame.iloc[:, :-1], dtype=float).to_numpy(), codes

    def letters() -> tuple[np.ndarray, np.ndarray]:
        frame = pd.read_csv(root / "letter/letter-recognition.data.gz", header=None)
        frame = frame[frame[0].isin(list("EFOQ"))]
        return frame.iloc[:, 1:].to_numpy(float), frame[0].isin(list("EO")).to_numpy().astype(int)

    def digits() -> tuple[np.ndarray, np.ndarray]:
        X, y = load_digits(return_X_y=True)
        return X, y % 2

    def german() -> tuple[pd.DataFrame, np.ndarray]:
        frame = pd.read_csv(root / "german/german.csv.gz", header=None)
        return categories(frame.iloc[:, :-1]), frame.iloc[:, -1].to_numpy() - 1

    def adult(columns: Any = slice(None)) -> tuple[pd.DataFrame, np.ndarray]:
        path = root / "adult/adult-train.csv.gz"
        frame = pd.read_csv(path, header=None, skipinitialspace=True, na_values="?")
        return categories(frame.iloc[:, :-1][columns]), (frame[14] == ">50K").to_numpy().astype(int)

    def titanic() -> tuple[pd.DataFrame, np.ndarray]:
        frame = pd.read_csv(root / "raetsch/titanic.csv.gz")
        codes = np.unique(frame.iloc[:, -1], return_inverse=True)[1]
        return frame.iloc[:, :-1].astype("category"), codes

    def mushrooms() -> tuple[pd.DataFrame, np.ndarray]:
        X, y = load_svmlight_file(str(root / "mushrooms/agaricus.txt.train.gz"), n_features=127)
        # Each mushroom has one entry for each of its 22 features, in order.
        frame = pd.DataFrame(X.indices.reshape(len(y), -1))
        return frame.astype("category"), y.astype(int)

    sets: dict[str, Callable[[], tuple[Any, np.ndarray]]] = {}
    for path, options in files.items():
        name = path.split("/")[-1].split(".")[0].split("-")[0].removesuffix("_pima")
        sets[name.replace("magic04", "magic")] = partial(table_of, path, options)
    return sets | {
        "letter": letters,
        "digits": digits,
        "wisconsin": partial(load_breast_cancer, return_X_y=True),
        "german_raw": german,
        "adult": adult,
        # Kind of work, marital status, race, sex.
        "adult_few": partial(adult, [1, 5, 8, 9]),
        "mushrooms": mushrooms,
        "titanic": titanic,
    }


def categories(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the frame with its columns of strings as categories."""
    strings = [name for name, x in frame.items() if not pd.api.types.is_numeric_dtype(x)]
    return frame.astype(dict.fromkeys(strings, "category")).rename(columns=str)


def splits(y: np.ndarray, rows: int, count: int) -> Iterator[tuple[int, int, Any, Any, Any]]:
    """Yield (split, number of the flip, training rows and their labels, test rows)."""
    for split in range(count):
        rng = np.random.default_rng(1000 + split)
        order = rng.permutation(len(y))
        train = order[:rows]
        test = order[rows : rows + TEST]
        draw = rng.random(rows)
        for a, flip in enumerate(FLIPS):
            given = np.where(draw < flip, 1 - y[train], y[train])
            yield split, a, train, given, test


def rows_of(data: Any, rows: Any) -> Any:
    """Return some rows of an array or a frame."""
    return data.iloc[rows] if isinstance(data, pd.DataFrame) else data[rows]


def interval(values: np.ndarray) -> str:
    """Return the mean ± half of the 95 % interval of Student."""
    half = student.ppf(0.975, values.size - 1) * values.std(ddof=1) / np.sqrt(values.size)
    return f"{values.mean():.4f} ± {half:.4f}"


def main() -> None:
    """Print a table for each share of flipped labels, the means over the sets, and the times."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", default=os.environ.get("RELAXBOOST_DATA"))
    parser.add_argument("--sets", nargs="*")
    parser.add_argument("--splits", type=int, default=10)
    parser.add_argument("--stumps", action="store_true")
    options = parser.parse_args()
    if options.data is None:
        parser.error("say where the sets are: --data DIR, or RELAXBOOST_DATA")
    warnings.simplefilter("ignore")
    methods = METHODS | (STUMPS if options.stumps else {})
    sets = read(Path(options.data))
    names = list(CATEGORIES) if options.sets == ["categories"] else options.sets or list(TRAIN)
    right = np.empty((len(names), len(FLIPS), len(methods), options.splits))
    seconds = np.empty_like(right)
    MarginBoostClassifier().fit([[0.0], [1.0], [2.0]], [0, 1, 1])  # compiles
    for s, name in enumerate(names):
        X, y = sets[name]()
        encoded = X if isinstance(X, np.ndarray) else pd.get_dummies(X, dtype=float).to_numpy()
        rows = (TRAIN | CATEGORIES)[name]
        for split, a, train, given, test in splits(y, rows, options.splits):
            for b, (method, make) in enumerate(methods.items()):
                data = encoded if method in ONE_HOT else X
                start = time.process_time()
                model = make().fit(rows_of(data, train), given)
                seconds[s, a, b, split] = time.process_time() - start
                right[s, a, b, split] = np.mean(model.predict(rows_of(data, test)) == y[test])
        print(name, right[s].mean(axis=-1).round(3).tolist(), file=sys.stderr, flush=True)
    machine()
    for a, flip in enumerate(FLIPS):
        rows = [
            [name, *(f"{x:.3f}" for x in right[s, a].mean(axis=-1))] for s, name in enumerate(names)
        ]
        means = right[:, a].mean(axis=(0, 2))
        rows.append(["mean", *(f"{x:.4f}" for x in means)])
        title = f"Accuracy on true labels, {100 * flip:g} % of training labels flipped"
        table(title, ["set", *methods], rows)
        best = right[:, a, 1:3].mean(axis=-1).max(axis=-1).mean()
        print(f"\nThe better of HGB and RF on each set, mean: {best:.4f}")
        ours = right[:, a].mean(axis=-1)
        if len(names) > 1:
            gains = [interval(ours[:, 0] - x) for x in ours.T[1:]]
            table("MarginBoost minus others, over the sets", list(methods)[1:], [gains])
    ratio = seconds / seconds[:, :, 1:2]
    rows = [
        [name, f"{gmean(r, axis=None):.2f}", f"{s:.0f}"]
        for name, r, s in zip(
            methods, np.moveaxis(ratio, 2, 0), seconds.sum(axis=(0, 1, 3)), strict=True
        )
    ]
    table("CPU time of fits", ["method", "times HGB's, geometric mean", "seconds in all"], rows)


if __name__ == "__main__":
    main()

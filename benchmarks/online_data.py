"""Online classification of ijcnn1, a9a and covtype20k, beside scikit-learn and river.

Run: python benchmarks/online_data.py [--data DIR] [--sets ijcnn1 a9a covtype20k] [--seeds 5]

DIR, or the environment variable RELAXBOOST_DATA, holds the sets, in folders of their names or not:
ijcnn1.trn.bz2 and ijcnn1.tst.bz2, a9a.gz and a9a.t.gz of LIBSVM, and covtype.20k.data.gz, the
sample of 20 000 rows that comes with H2O (5000 of them, always the same, are the test set). Needs
river.

Every learner is at its defaults and sees the training examples once, in the same order, which a
seed shuffles; features are scaled to [-1, 1] by the range of the first 1000, for all alike. A
progressive error is that of predictions made before an example was learned from. SGDClassifier
predicts and then learns 20 rows at a time, since a call for each takes it minutes; mirror descent
and river go row by row. Times are CPU seconds of the whole stream, one thread.
"""

from __future__ import annotations

import argparse
import gzip
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from common import machine, table
from scipy.stats import t as student
from sklearn.datasets import load_svmlight_file
from sklearn.linear_model import SGDClassifier
from threadpoolctl import threadpool_limits

import relaxboost as rb
from benchmarks.readers import data_folder
from benchmarks.readers.places import look
from relaxboost.online import LinearBasis, hindsight

FIRST, AT_A_TIME = 1000, 20


class Split(NamedTuple):
    """Training and test examples."""

    X: np.ndarray
    y: np.ndarray
    X_test: np.ndarray
    y_test: np.ndarray


class Seen(NamedTuple):
    """What a learner reached on a stream."""

    progressive: float
    test: float
    seconds: float


def found(folder: Path, name: str, file: str) -> Path:
    """Return the path of a file, or say that it is missing."""
    path = look(folder, name, file)
    if path is None:
        raise rb.InputError(f"{name} needs {file}, which is not in {folder}")
    return path


def svmlight(name: str, train: str, test: str, width: int) -> Callable[[Path], Split]:
    """Return the reader of a pair of LIBSVM files."""

    def read(folder: Path) -> Split:
        parts = [
            load_svmlight_file(str(found(folder, name, file)), n_features=width)
            for file in (train, test)
        ]
        (X, y), (X_test, y_test) = parts
        return Split(X.toarray(), y, X_test.toarray(), y_test)

    return read


def covtype(folder: Path) -> Split:
    """Read the sample, and hold out 5000 rows."""
    with gzip.open(found(folder, "covtype20k", "covtype.20k.data.gz"), "rt") as file:
        rows = np.array([line.split(",") for line in file if line[0].isdigit()], dtype=float)
    rows = np.random.default_rng(0).permutation(rows)
    X, y = rows[:, :-1], rows[:, -1].astype(int)
    return Split(X[:-5000], y[:-5000], X[-5000:], y[-5000:])


SETS = {
    "ijcnn1": svmlight("ijcnn1", "ijcnn1.trn.bz2", "ijcnn1.tst.bz2", 22),
    "a9a": svmlight("a9a", "a9a.gz", "a9a.t.gz", 123),
    "covtype20k": covtype,
}


def ordered(data: Split, seed: int) -> Split:
    """Return the training examples in the order of a seed, and all scaled by the first."""
    order = np.random.default_rng(seed).permutation(len(data.y))
    X = data.X[order]
    scale = LinearBasis.spanning(X[:FIRST])
    return Split(scale.values(X), data.y[order], scale.values(data.X_test), data.y_test)


def ours(data: Split, **options: Any) -> tuple[Seen, Any]:
    """Learn by mirror descent; the features are scaled already."""
    width = data.X.shape[1]
    basis = LinearBasis(np.zeros(width), np.ones(width))
    model = rb.estimators.MirrorDescentClassifier(basis=basis, **options)
    start = time.process_time()
    said = model.progressive(data.X, data.y, classes=np.unique(data.y))
    seconds = time.process_time() - start
    test = np.mean(model.predict(data.X_test) != data.y_test)
    return Seen(float(np.mean(said != data.y)), float(test), seconds), model


def scikit_learn(data: Split) -> Seen:
    """Learn by SGDClassifier, some rows at a time."""
    model = SGDClassifier(random_state=0)
    classes = np.unique(data.y)
    wrong = 0
    start = time.process_time()
    for block in range(0, len(data.y), AT_A_TIME):
        X, y = data.X[block : block + AT_A_TIME], data.y[block : block + AT_A_TIME]
        wrong += np.sum((model.predict(X) if block else classes[0]) != y)
        model.partial_fit(X, y, classes=classes)
    seconds = time.process_time() - start
    test = np.mean(model.predict(data.X_test) != data.y_test)
    return Seen(wrong / len(data.y), float(test), seconds)


def river(data: Split) -> Seen:
    """Learn by river's logistic regression, one against the rest for several classes."""
    from river.linear_model import LogisticRegression

    classes = np.unique(data.y)
    one = classes[1:] if len(classes) == 2 else classes
    models = [LogisticRegression() for _ in one]
    names = list(range(data.X.shape[1]))
    wrong = 0
    start = time.process_time()
    for values, y in zip(data.X.tolist(), data.y, strict=True):
        x = dict(zip(names, values, strict=True))
        scores = [model.predict_proba_one(x)[True] for model in models]
        said = classes[int(scores[0] > 0.5) if len(one) == 1 else int(np.argmax(scores))]
        wrong += said != y
        for model, label in zip(models, one, strict=True):
            model.learn_one(x, bool(y == label))
    seconds = time.process_time() - start
    scores = np.column_stack(
        [
            data.X_test @ np.array([model.weights.get(name, 0.0) for name in names])
            + model.intercept
            for model in models
        ]
    )
    said = classes[(scores[:, 0] > 0.0).astype(int) if len(one) == 1 else scores.argmax(axis=1)]
    return Seen(wrong / len(data.y), float(np.mean(said != data.y_test)), seconds)


def interval(values: list[float]) -> str:
    """Return the mean in per cent, and half a 95% interval of it (Student's t) over seeds."""
    shares = 100.0 * np.array(values)
    if len(shares) < 2:
        return f"{shares[0]:.2f}"
    half = student.ppf(0.975, len(shares) - 1) * shares.std(ddof=1) / np.sqrt(len(shares))
    return f"{shares.mean():.2f} ± {half:.2f}"


def compare(name: str, data: Split, seeds: int) -> None:
    """Print the errors of all learners on a set."""
    learners: dict[str, Callable[[Split], Seen]] = {
        "without a radius (default)": lambda data: ours(data)[0],
        "mirror descent, entropy": lambda data: ours(data, radius=30)[0],
        "the same, last weights": lambda data: ours(data, radius=30, average=False)[0],
        'mirror descent, "squared-l2"': lambda data: ours(data, radius=30, proxy="squared-l2")[0],
        "scikit-learn SGDClassifier": scikit_learn,
        "river LogisticRegression": river,
    }
    ours(ordered(data, 0))  # compiled before it is timed
    ours(ordered(data, 0), radius=30)
    ours(ordered(data, 0), radius=30, proxy="squared-l2")
    rows = []
    for title, learn in learners.items():
        seen = [learn(ordered(data, seed)) for seed in range(seeds)]
        rows.append(
            (
                title,
                interval([one.progressive for one in seen]),
                interval([one.test for one in seen]),
                f"{np.median([one.seconds for one in seen]):.2f}",
            )
        )
    common = max(np.mean(data.y_test == label) for label in np.unique(data.y))
    train, test = len(data.y), len(data.y_test)
    table(
        f"{name}: {train} examples x {data.X.shape[1]}, {len(np.unique(data.y))} classes; {test} "
        f"test examples, {100 * (1 - common):.2f}% not of the commonest class",
        ("learner", "progressive error, %", "test error, %", "CPU s"),
        rows,
    )


def choices(name: str, data: Split) -> None:
    """Print what the radius and the schedule change, and how far the loss is from the least."""
    data = ordered(data, 0)
    rows = []
    H = np.column_stack([data.X, np.ones(len(data.y))])
    for radius in (3, 10, 30, 100):
        best = 0.0
        for schedule in ("adaptive", "growing"):
            seen, model = ours(data, radius=radius, schedule=schedule)
            if not best:
                labels = model.classes_[-len(model.learners_) :]
                best = sum(
                    hindsight(
                        "logistic", rb.L1Ball(radius), (H, np.where(data.y == y, 1.0, -1.0)), 1e-4
                    ).lower
                    for y in labels
                )
            loss = sum(learner.loss for learner in model.learners_)
            bound = sum(learner.regret_bound() for learner in model.learners_)
            rows.append(
                (
                    radius,
                    schedule,
                    f"{100 * seen.progressive:.2f}",
                    f"{100 * seen.test:.2f}",
                    *(f"{x / len(data.y):.3f}" for x in (loss, best, max(loss - bound, 0.0))),
                )
            )
    table(
        f"{name}, entropy, one order: by radius and schedule",
        (
            "radius",
            "schedule",
            "progressive, %",
            "test, %",
            "loss",
            "of the best w",
            "by theorem >=",
        ),
        rows,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--data", default=os.environ.get("RELAXBOOST_DATA"))
    parser.add_argument("--sets", nargs="+", choices=SETS, default=list(SETS))
    parser.add_argument("--seeds", type=int, default=5)
    given = parser.parse_args()
    try:
        sets = {name: SETS[name](data_folder(given.data)) for name in given.sets}
    except rb.InputError as error:
        parser.error(str(error))
    machine()
    with threadpool_limits(1):
        for name, data in sets.items():
            compare(name, data, given.seeds)
            choices(name, data)


if __name__ == "__main__":
    main()

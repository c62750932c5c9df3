"""Learning without a radius, compared with the best constant step and radius in hindsight.

Run: python benchmarks/without_radius.py [--data DIR] [--rows 200000]

The streams are ijcnn1, a9a and covtype20k of benchmarks/online_data.py, in one order, and four of
30 features with logistic labels, 13 % of which are wrong under the true weights. The true weights
stand still, or turn once, 4 and 20 times. Every error is that of predictions made before an example
was learned from; the loss is the logistic loss, which all learners minimise. Several classes are
each separated from the rest.

"The best step" is gradient descent, row by row, with the constant step 2^-12, ..., 2^3 that has the
least error, and the best radius is 1, 3, 10, 30 or 100 of mirror descent with the entropy.
SGDClassifier takes that best step, and 20 rows at a time. Times are CPU microseconds a row, one
thread, the median of three runs but for SGDClassifier.
"""

from __future__ import annotations

import argparse
import os
import time
from typing import Any, NamedTuple

import numpy as np
from common import machine, table
from online_data import AT_A_TIME, SETS, ordered
from sklearn.linear_model import SGDClassifier
from threadpoolctl import threadpool_limits

import relaxboost as rb
from benchmarks.readers import data_folder
from relaxboost.online import Constant, GradientDescent, HedgedDescent, MirrorDescent

STEPS = 2.0 ** np.arange(-12, 4)


class Run(NamedTuple):
    """What a learner reached on a stream."""

    error: float
    loss: float
    micros: float


def turning(turns: float, rows: int) -> tuple[np.ndarray, np.ndarray]:
    """Return examples whose true weights turn in a plane, with logistic labels."""
    rng = np.random.default_rng(1)
    X = np.clip(rng.normal(size=(rows, 30)) / 3.0, -1.0, 1.0)
    plane = np.linalg.qr(rng.normal(size=(30, 2)))[0].T
    angle = np.linspace(0.0, 2.0 * np.pi * turns, rows)[:, None]
    scores = 12.0 * (X * (np.cos(angle) * plane[0] + np.sin(angle) * plane[1])).sum(axis=1)
    return X, np.where(rng.random(rows) < 1.0 / (1.0 + np.exp(-scores)), 1, 0)


def learned(method: Any, H: np.ndarray, Y: np.ndarray, repeats: int = 1) -> Run:
    """Learn each column of Y, and count the examples on which the largest score is wrong."""
    seconds = []
    for _ in range(repeats):
        learners = [method.start(H.shape[1]) for _ in Y.T]
        start = time.process_time()
        said = [learner.update(H, y) for learner, y in zip(learners, Y.T, strict=True)]
        seconds.append(time.process_time() - start)
    scores = np.column_stack(said)
    wrong = (
        scores.argmax(axis=1) != Y.argmax(axis=1) if len(said) > 1 else (scores > 0.0) != (Y > 0)
    )
    loss = sum(learner.loss for learner in learners)
    return Run(float(wrong.mean()), loss / len(Y), 1e6 * float(np.median(seconds)) / len(Y))


def scikit_learn(X: np.ndarray, y: np.ndarray, step: float) -> Run:
    """Learn by SGDClassifier, some rows at a time."""
    model = SGDClassifier("log_loss", alpha=0.0, learning_rate="constant", eta0=step)
    classes = np.unique(y)
    wrong = 0
    start = time.process_time()
    for block in range(0, len(y), AT_A_TIME):
        rows = slice(block, block + AT_A_TIME)
        wrong += np.sum((model.predict(X[rows]) if block else classes[0]) != y[rows])
        model.partial_fit(X[rows], y[rows], classes=classes)
    return Run(wrong / len(y), np.nan, 1e6 * (time.process_time() - start) / len(y))


def compare(name: str, X: np.ndarray, y: np.ndarray) -> list[tuple[Any, ...]]:
    """Return a row of the table for each learner."""
    H = np.column_stack([X, np.ones(len(y))])
    classes = np.unique(y)[1 if len(np.unique(y)) == 2 else 0 :]
    Y = np.where(y[:, None] == classes, 1.0, -1.0)
    bound = np.sqrt(H.shape[1]) * (1.0 + 1e-12)
    free = rb.L2Ball(1e9)
    steps = [
        GradientDescent("logistic", free, schedule=Constant(1 / s), bound=bound) for s in STEPS
    ]
    balls = {
        radius: MirrorDescent("logistic", rb.L1Ball(radius), schedule="adaptive", bound=1 + 1e-12)
        for radius in (1, 3, 10, 30, 100)
    }
    automatic = HedgedDescent("logistic", bound=bound)
    for method in (steps[0], balls[1], automatic):
        learned(method, H[:9], Y[:9])  # compiled before it is timed
    tried = {step: learned(method, H, Y) for step, method in zip(STEPS, steps, strict=True)}
    step = min(tried, key=lambda s: tried[s].error)
    least = min(run.loss for run in tried.values())
    radius = min(balls, key=lambda r: learned(balls[r], H, Y).error)
    rows = {
        f"the best step, {step:g}": learned(steps[list(STEPS).index(step)], H, Y, 3),
        "SGDClassifier with it": scikit_learn(X, y, step),
        f"the best radius, {radius}": learned(balls[radius], H, Y, 3),
        "radius 1": learned(balls[1], H, Y, 3),
        'radius="auto"': learned(automatic, H, Y, 3),
    }
    best = tried[step].error
    return [
        (
            name,
            title,
            f"{100 * run.error:.2f}",
            f"{100 * (run.error / best - 1):+.1f}",
            "-" if np.isnan(run.loss) else f"{100 * (run.loss / least - 1):+.1f}",
            f"{run.micros:.2f}",
        )
        for title, run in rows.items()
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--data", default=os.environ.get("RELAXBOOST_DATA"))
    parser.add_argument("--rows", type=int, default=200_000)
    given = parser.parse_args()
    machine()
    rows = []
    with threadpool_limits(1):
        for name, read in SETS.items():
            data = ordered(read(data_folder(given.data)), 0)
            rows += compare(name, data.X, data.y)
        for turns in (0, 1, 4, 20):
            rows += compare(f"{turns} turns", *turning(turns, given.rows))
    table(
        "wrong before learning, by stream",
        ("stream", "learner", "wrong, %", "to best step, %", "loss to best step, %", "CPU us/row"),
        rows,
    )


if __name__ == "__main__":
    main()

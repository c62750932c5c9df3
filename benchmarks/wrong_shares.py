"""Which fraction of `Capped` predicts best, if a share q of the training labels is wrong?

For each set, q and split, the script solves the games of all `FRACTIONS`, for stumps and for the
trees of `MarginBoostClassifier`. The accuracy is measured on rows that are held out, with their
true labels. A rule's loss is the accuracy of the best fraction minus that of the rule's fraction.
The best fraction is the one with the best mean over the splits of a set and a q. Rules may use q,
or the share r of wrong predictions in cross-validation, which counts the wrong labels as they are.

Run: OMP_NUM_THREADS=1 python benchmarks/wrong_shares.py [--splits 6] [--trees] [--data DIR]

With --data, the sets are those of `margins.py` that scikit-learn does not contain.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from common import machine, table
from margins import TRAIN, read
from sklearn import datasets as sk

import relaxboost as rb
from relaxboost.estimators import MarginBoostClassifier

WRONG = (0.0, 0.05, 0.1, 0.15, 0.2, 0.3)
FRACTIONS = np.arange(1, 19) / 20
FOLDS = 5
MAX_TRAINING_ROWS = 400
MAX_TEST_ROWS = 3000
MAX_CUTS = 16


def sets() -> dict[str, tuple[Any, Any]]:
    """Return the features and the labels 0 and 1 of each set."""
    drawn: dict[str, Callable[..., tuple[Any, Any]]] = {
        "classification": partial(sk.make_classification, flip_y=0.0),
        "clusters": partial(sk.make_classification, n_informative=6, class_sep=2.0, flip_y=0.0),
        "blobs": partial(sk.make_blobs, centers=[[-0.4] * 10, [0.4] * 10]),
        "moons": partial(sk.make_moons, noise=0.2),
        "circles": partial(sk.make_circles, noise=0.1, factor=0.5),
        "quantiles": partial(sk.make_gaussian_quantiles, n_features=5, n_classes=2),
        "hastie": sk.make_hastie_10_2,
        "friedman1": sk.make_friedman1,
        "friedman3": sk.make_friedman3,
    }
    made = {name: make(n_samples=2000, random_state=0) for name, make in drawn.items()}
    made["diabetes"] = sk.load_diabetes(return_X_y=True)
    made["breast cancer"] = sk.load_breast_cancer(return_X_y=True)
    for name in ("friedman1", "friedman3", "diabetes", "hastie"):
        X, y = made[name]
        made[name] = X, y > np.median(y) if name != "hastie" else y > 0.0
    X, y = sk.load_digits(return_X_y=True)
    made["digits"] = X, y % 2
    X, y = sk.load_wine(return_X_y=True)
    made["wine"] = X, y == 1
    return made


def public_sets(root: Path) -> dict[str, tuple[Any, Any]]:
    """Return the sets of `margins.py` that scikit-learn does not contain."""
    made = read(root)
    return {name: made[name]() for name in TRAIN if name not in ("digits", "wisconsin")}


def path(A: Any, over: Any) -> list[rb.Solution]:
    """Return the best votes of all fractions."""
    game = rb.Game(A, rb.Capped(fraction=0.5), over=over)
    return rb.path(game, tol=1e-3, rtol=0.02, fraction=FRACTIONS, time_limit=20.0)


def stump_votes(X: Any, y: Any, Z: Any) -> Any:
    """Return the votes of stumps for rows Z, shape (fractions, rows)."""
    A = rb.matrices.stumps(X, np.where(y, 1.0, -1.0), max_cuts=MAX_CUTS)
    found = path(A, rb.L1Ball(1))
    return np.array(
        [
            sum(
                (c * A.hypothesis(j)(Z) for j, c in zip(s.support, s.coefficients, strict=True)),
                np.zeros(len(Z)),
            )
            for s in found
        ]
    )


def by_stumps(X: Any, y: Any, Z: Any) -> tuple[Any, Any]:
    """Return the votes for rows Z, and held-out votes for rows X by cross-validation."""
    held = np.empty((len(FRACTIONS), len(X)))
    fold = np.random.default_rng(0).permutation(len(X)) % FOLDS
    for out in range(FOLDS):
        held[:, fold == out] = stump_votes(X[fold != out], y[fold != out], X[fold == out])
    return stump_votes(X, y, Z), held


def by_trees(X: Any, y: Any, Z: Any) -> tuple[Any, Any]:
    """Return the votes for rows Z, and the votes for rows X of trees that have not seen them."""
    fitted = MarginBoostClassifier(fraction=0.9, folds=None).fit(X, y)
    game = fitted.game_
    pool = game.matrix
    E = fitted._stages[-1][0].columns(Z)
    trees = np.array([pool.hypothesis(j).predict(E) for j in range(pool.n)])
    found = path(pool, game.over)
    held = [pool.unseen_votes(s.support, s.coefficients) for s in found]
    return np.array([s.w @ trees for s in found]), np.array(held)


LEARNERS = {"stumps": by_stumps, "trees": by_trees}


def splits(X: Any, y: Any, count: int) -> Iterator[tuple[int, int, Any, Any, Any]]:
    """Yield (split, number of q, training rows, their labels, test rows)."""
    size = min(len(y) // 2, MAX_TRAINING_ROWS)
    for split in range(count):
        rng = np.random.default_rng(split)
        order = rng.permutation(len(y))
        train, test = order[:size], order[size : size + MAX_TEST_ROWS]
        draw = rng.random(size)
        for a, q in enumerate(WRONG):
            yield split, a, train, y[train] ^ (draw < q), test


def measured(learner: str, named: dict[str, tuple[Any, Any]], count: int) -> tuple[Any, Any]:
    """Return accuracies and cross-validated errors of shape (sets, q, splits, fractions)."""
    right = np.empty((len(named), len(WRONG), count, len(FRACTIONS)))
    errors = np.empty_like(right)
    for s, (name, (X, labels)) in enumerate(named.items()):
        y = np.asarray(labels, dtype=bool)
        start = time.process_time()
        for split, a, train, given, test in splits(X, y, count):
            votes, held = LEARNERS[learner](X[train], given, X[test])
            right[s, a, split] = ((votes > 0.0) == y[test]).mean(axis=1)
            errors[s, a, split] = ((held > 0.0) != given).mean(axis=1)
        print(f"{name}: {time.process_time() - start:.0f} s", file=sys.stderr, flush=True)
    return right, errors


def rules(errors: Any) -> dict[str, Any]:
    """Return the fractions of each rule, which broadcast to the shape (sets, q, splits)."""
    q = np.array(WRONG)[None, :, None]
    r = errors.min(axis=-1)
    e = np.maximum(r - q, 0.0) / (1.0 - 2.0 * q)  # r = q + (1 − 2q) e
    made: dict[str, Any] = {f"{c:g} q": c * q for c in (2, 2.5, 3, 4)}
    made |= {f"2 q + {c:g}": 2.0 * q + c for c in (0.1, 0.15, 0.2, 0.25, 0.3)}
    made |= {f"always {c:g}": c + 0.0 * q for c in (0.4, 0.5, 0.6, 0.7)}
    made |= {"2 (q + e)": 2.0 * (q + e), "2 r": 2.0 * r, "2.5 r": 2.5 * r}
    return made | {"cross-validation": FRACTIONS[errors.argmin(axis=-1)]}


def losses(right: Any, fractions: Any) -> Any:
    """Return the loss of a rule for each set and q, in points."""
    # Of two fractions that are equally near, the larger one is taken, which favours 2.5 q.
    nearest = np.abs(np.asarray(fractions)[..., None] + 1e-9 - FRACTIONS).argmin(axis=-1)
    chosen = np.broadcast_to(nearest, right.shape[:3])[..., None]
    got = np.take_along_axis(right, chosen, axis=-1)[..., 0].mean(axis=-1)
    return 100.0 * (right.mean(axis=2).max(axis=-1) - got)


def main() -> None:
    """Print the best fraction for each set and q, and the loss of each rule."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--splits", type=int, default=6)
    parser.add_argument("--trees", action="store_true")
    parser.add_argument("--data", type=Path)
    options = parser.parse_args()
    learner = "trees" if options.trees else "stumps"
    named = sets() if options.data is None else public_sets(options.data)
    right, errors = measured(learner, named, options.splits)
    machine()
    best = FRACTIONS[right.mean(axis=2).argmax(axis=-1)]
    header = [f"q = {q:g}" for q in WRONG]
    rows = [[name, *(f"{x:.2f}" for x in row)] for name, row in zip(named, best, strict=True)]
    table(f"Best fraction, {learner}", ["set", *header], rows)
    rows = []
    for name, fractions in rules(errors).items():
        lost = losses(right, fractions)
        wrong = lost[:, 1:]
        cells = [*lost.mean(axis=0), wrong.mean(), wrong.max()]
        rows.append([name, *(f"{x:.1f}" for x in cells)])
    table("Points lost", ["fraction", *header, "mean, q > 0", "largest, q > 0"], rows)


if __name__ == "__main__":
    main()

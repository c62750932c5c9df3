"""Two baselines: regret matching on the whole matrix, and scikit-learn's AdaBoost."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from relaxboost._core.arrays import Vector
from relaxboost._core.errors import InputError
from relaxboost.game.domains import L1Ball
from relaxboost.game.game import Game
from relaxboost.matrices import StumpMatrix
from relaxboost.relaxations import Capped, HardMargin


class PeerPoints(NamedTuple):
    """What a solver hands over; None for what it does not have."""

    d: Any
    w: Any
    history: Any = ()
    """(seconds, lower, upper) on the way, the bounds estimates of its own."""


Run = Callable[[float, float], PeerPoints]
"""Takes a tolerance, or another measure of effort, and seconds of time."""


class RegretMatcher:
    """Predictive regret matching+ on simplices, with the last loss as the prediction.

    References
    ----------
    Farina, Kroer & Sandholm (2021), Faster game solving via predictive Blackwell approachability,
    Algorithm 3.
    """

    def __init__(self, *shape: int) -> None:
        self._regret, self.x = np.zeros(shape), np.full(shape, 1.0 / shape[-1])

    def play(self, loss: Vector) -> Vector:
        """Take the loss of the last point, as it was and as it is to be; return the next point."""
        regret = (self.x * loss).sum(axis=-1, keepdims=True) - loss
        self._regret = np.maximum(self._regret + regret, 0.0)
        ahead = np.maximum(self._regret + regret, 0.0)
        total = ahead.sum(axis=-1, keepdims=True)
        self.x = np.where(total > 0.0, ahead / np.where(total > 0.0, total, 1.0), self.x)
        return self.x


def regret_matching(game: Game) -> Run:
    """Return PRM+ for all players, alternating, with averages weighted by the round squared.

    d stays below 1/k for fear of a third player, who charges it up to twice the radius for each
    unit above: as much as weight moved from one example to another can gain, so that it is exact.
    """
    if not isinstance(game.relaxation, HardMargin | Capped) or not isinstance(game.over, L1Ball):
        raise InputError("HardMargin and Capped over an l1 ball only")
    bulk, radius, m, n = game.matrix.bulk(), game.over.scale, game.m, game.matrix.known
    cap = 1.0 / float(getattr(game.relaxation, "k", 1))

    def run(tol: float, seconds: float) -> PeerPoints:
        start, due, total = time.perf_counter(), 1, 0.0
        rows, columns, fines = RegretMatcher(m), RegretMatcher(2 * n), RegretMatcher(m, 2)
        w, fine, mean_d, mean_w = np.zeros(n), np.zeros(m), np.zeros(m), np.zeros(n)
        history = []
        for t in range(1, 10**9):
            d = rows.play(bulk.margins(w) + fine)
            edges = radius * bulk.edges(d)
            both = columns.play(np.append(-edges, edges))
            w = radius * (both[:n] - both[n:])
            if cap < 1.0:
                above = 2.0 * radius * (d - cap)
                fine = 2.0 * radius * fines.play(np.column_stack([np.zeros(m), -above]))[:, 1]
            mean_d += t * t * (d - mean_d) / (total := total + t * t)
            mean_w += t * t * (w - mean_w) / total
            late = time.perf_counter() - start
            if t >= due or late >= seconds:
                lower, upper = game.bracket(mean_d, mean_w)
                history.append((late, lower, upper))
                if upper - lower <= tol or late >= seconds:
                    break
                due = int(1.2 * t) + 1
        return PeerPoints(mean_d, mean_w, history)

    return run


def stagewise(game: Game) -> Run:
    """Return scikit-learn's AdaBoost over stumps, of data or of a matrix of signs.

    A column of signs is a feature whose only cut makes it that hypothesis. It has a w and no d.
    """
    from sklearn.ensemble import AdaBoostClassifier

    matrix: Any = game.matrix
    if isinstance(matrix, StumpMatrix):
        y, X = matrix.data()[:, 0], matrix.data()[:, 1:]
    else:
        A = np.asarray(matrix.toarray(), dtype=np.float64) if matrix.n else np.zeros((1, 1))
        if matrix.implicit or not (np.abs(A) == 1.0).all():
            raise InputError("stumps and matrices of signs only")
        y = np.where(np.arange(game.m) % 2, 1.0, -1.0)
        X = y[:, None] * A
    levels = [np.unique(x) for x in X.T]
    first = np.cumsum([0, *(len(level) - 1 for level in levels)])
    if first[-1] != matrix.n:
        raise InputError("all stumps only, and columns that are not constant")

    def run(rounds: float, seconds: float) -> PeerPoints:
        found = AdaBoostClassifier(n_estimators=int(rounds), random_state=0).fit(X, y)
        w: dict[int, float] = {}
        for tree, alpha in zip(found.estimators_, found.estimator_weights_, strict=False):
            inner = tree.tree_
            if inner.node_count == 3:
                feature, cut = int(inner.feature[0]), float(inner.threshold[0])
                below = int(np.searchsorted(levels[feature], cut, side="right")) - 1
                j = int(first[feature]) + min(max(below, 0), len(levels[feature]) - 2)
                above = found.classes_[int(np.argmax(inner.value[2]))] > 0
                w[j] = w.get(j, 0.0) + (alpha if above else -alpha)
        total = sum(map(abs, w.values())) or 1.0
        scale = game.over.reach(game.n) / total
        return PeerPoints(None, (np.array([*w]), np.array([*w.values()]) * scale))

    return run

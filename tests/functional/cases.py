"""Every loss on random data, with scores at the kinks among them."""

from __future__ import annotations

from typing import Any, NamedTuple

import cvxpy as cp
import numpy as np

from relaxboost import functional as fn


class Case(NamedTuple):
    loss: Any
    kind: str
    """numbers, signs, places or grades: what the targets are."""


CUSTOM = fn.CustomLoss(
    lambda F, y: cp.pos(cp.abs(F - y) - 0.5), gradient_bound=1.0, attained=True, name="insensitive"
)
KINDS = {"regression": "numbers", "binary": "signs", "multiclass": "places", "ranking": "grades"}
"""By the task of a loss."""
OTHERS = (fn.Quantile(0.2), fn.Huber(0.5), fn.SmoothHinge(0.5), fn.RankingHinge("queries"), CUSTOM)
"""Losses with other parameters than their defaults; those are found by the registry."""
LOSSES = (*(kind() for kind in fn.LOSSES.values()), *OTHERS)
_SCALAR = [one for one in LOSSES if isinstance(one, fn.PointwiseLoss) and one is not CUSTOM]
POINTWISE = list({type(one): one for one in _SCALAR}.values())
"""One loss of each kind for a single number, with other parameters if it has any."""
CASES = {repr(loss): Case(loss, KINDS[loss.task]) for loss in LOSSES}


def targets(kind, rng, size, classes=3):
    """Return targets of a kind and what else `bind` takes; halves, so that scores meet them."""
    if kind == "numbers":
        return rng.integers(-4, 5, size) / 2.0, {}
    if kind == "signs":
        y = np.where(rng.random(size) < 0.5, -1, 1)
        y[:2] = -1, 1
        return y, {}
    if kind == "places":
        y = rng.integers(0, classes, size)
        y[:classes] = np.arange(classes)
        return y, {}
    y = rng.integers(0, 3, size)
    y[:2] = 0, 1
    groups = rng.integers(0, max(1, size // 4), size)
    groups[:2] = 0
    return y, {"groups": groups}


def bound(case, rng, size=12, weighted=True, classes=3):
    """Return a risk of the case, some of whose weights are zero."""
    y, more = targets(case.kind, rng, size, classes)
    weights = rng.integers(0, 4, size) if weighted else None
    if weighted:
        weights[:3] = 1
    return case.loss.bind(y, weights, **more)


def scores(risk, rng):
    """Return predictions, half of the time on a grid of halves where the kinks and ties are."""
    shape = risk.zero().shape
    if rng.random() < 0.5:
        return rng.integers(-6, 7, shape) / 2.0
    return rng.normal(size=shape) * 10.0 ** rng.integers(-2, 2)

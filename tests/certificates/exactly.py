"""Both bounds of a game at a pair, in fractions and by definition: slow and obviously right."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

import relaxboost as rb
from relaxboost.certificates import ExactOptimum
from relaxboost.certificates.exact.evaluate import ExactEvaluation
from relaxboost.certificates.parts import describe_auxiliaries
from relaxboost.relaxations.multiples import Scaled
from tests.certificates import judge
from tests.twins import fraction

Numbers = list[Fraction]


def penalty(f: rb.Relaxation, d: Numbers) -> Fraction | None:
    """Return f(d), None for infinity, from the formulas of the second opinion on certificates."""
    described = f.describe(len(d))
    try:
        z = describe_auxiliaries(f, described, d, ExactEvaluation(repr(f), exact=True))
        return fraction(judge.penalty(described, np.array([judge.rational(x) for x in d]), z))
    except (judge.Infinite, rb.InputError):
        return None


def conjugate(f: rb.Relaxation, x: Numbers, d: Numbers) -> Fraction | None:
    """Return f*(x), None for infinity; x is a subgradient at d, where there is no formula."""
    if isinstance(f, Scaled):
        inner = conjugate(f.f, [t / f.c for t in x], d)
        return None if inner is None else f.c * inner
    described = f.describe(len(x))
    if described["kind"] in ("sum", "polyhedral"):  # f*(x) = <x, d> − f(d)
        return sum(s * t for s, t in zip(x, d, strict=True)) - penalty(f, d)
    try:
        return fraction(judge.conjugate(described, np.array([judge.rational(t) for t in x]), {}))
    except judge.Infinite:
        return None


def check_pair(game: rb.Game, found: ExactOptimum) -> None:
    """Assert that the pair is feasible and that both bounds are the value, exactly."""
    A = [[Fraction(x) for x in row] for row in game.matrix.toarray().tolist()]
    f, d, w = game.relaxation, found.d, dict(zip(found.support, found.w, strict=True))
    assert found.lower == found.value == found.upper
    assert len(d) == game.m
    assert min(d) >= 0
    assert sum(d) == 1
    edges = [sum(x * row[j] for x, row in zip(d, A, strict=True)) for j in range(game.n)]
    cost = penalty(f, d)
    assert cost is not None
    if isinstance(game.over, rb.L1Ball):
        radius = game.over.radius
        assert sum(map(abs, found.w)) <= radius
        assert found.value == cost + radius * max(map(abs, edges))
    else:
        radius, total = game.over.radius, sum(found.w)
        assert min(found.w, default=1) > 0
        assert total <= radius if game.over.holds_zero else total == radius
        least = [0] if game.over.holds_zero else []
        assert found.value == cost + radius * max(edges + least)
    u = [sum(c * row[j] for j, c in w.items()) for row in A]
    assert all(x >= found.gamma - y for x, y in zip(found.x, u, strict=True))
    dual = conjugate(f, found.x, d)
    assert dual is not None
    assert found.value == found.gamma - dual


def as_game(A: np.ndarray, k: object = None) -> rb.Game:
    return rb.Game(A, rb.HardMargin() if k is None else rb.Capped(k=k))

"""Both bounds of a game at a pair, in fractions and by definition: slow and obviously right."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

import relaxboost as rb
from relaxboost.certificates import ExactOptimum
from relaxboost.relaxations.affine import Dilated, Shifted
from relaxboost.relaxations.calculus import Scaled, Sum
from relaxboost.relaxations.max_norm import MaxPenalty
from relaxboost.relaxations.sum_norm import SumBall, SumPenalty

Numbers = list[Fraction]


def penalty(f: rb.Relaxation, d: Numbers) -> Fraction | None:
    """Return f(d), None for infinity."""
    if isinstance(f, Scaled):
        inner = penalty(f.f, d)
        return None if inner is None else f.c * inner
    if isinstance(f, Sum):
        one, two = penalty(f.first, d), penalty(f.second, d)
        return None if one is None or two is None else one + two
    if isinstance(f, Shifted):
        return penalty(f.f, [x + y for x, y in zip(d, shift(f, len(d)), strict=True)])
    if isinstance(f, Dilated):
        return penalty(f.f, [f.c * x for x in d])
    size = [abs(x) for x in d]
    if isinstance(f, rb.GroupCaps):
        sums = {g: sum(x for x, h in zip(size, f.groups, strict=True) if h == g) for g, _ in f.caps}
        return within(all(sums[g] <= c for g, c in f.caps))
    a = weights(f, len(d))
    weighted = [x * y for x, y in zip(size, a, strict=True)]
    if isinstance(f, rb.HardMargin):
        return Fraction(0)
    if isinstance(f, rb.Capped):
        return within(max(size) * f.k <= 1)
    if isinstance(f, rb.Caps):
        return within(all(x <= c for x, c in zip(size, f.caps, strict=True)))
    if isinstance(f, SumBall):
        return within(sum(weighted) <= f.radius)
    if isinstance(f, SumPenalty):
        return f.weight * sum(weighted)
    assert isinstance(f, MaxPenalty)
    return f.weight * max(weighted)


def conjugate(f: rb.Relaxation, x: Numbers) -> Fraction | None:
    """Return f*(x), None for infinity; a sum has no closed form."""
    if isinstance(f, Scaled):
        inner = conjugate(f.f, [t / f.c for t in x])
        return None if inner is None else f.c * inner
    if isinstance(f, Shifted):
        inner = conjugate(f.f, x)
        along = sum(t * s for t, s in zip(x, shift(f, len(x)), strict=True))
        return None if inner is None else inner - along
    if isinstance(f, Dilated):
        return conjugate(f.f, [t / f.c for t in x])
    size = [abs(t) for t in x]
    if isinstance(f, rb.GroupCaps):
        largest = {
            g: max(t for t, h in zip(size, f.groups, strict=True) if h == g) for g, _ in f.caps
        }
        free = [t for t, h in zip(size, f.groups, strict=True) if h < 0]
        return None if any(free) else sum(c * largest[g] for g, c in f.caps)
    a = weights(f, len(x))
    divided = [t / b for t, b in zip(size, a, strict=True)]
    if isinstance(f, rb.HardMargin):
        return within(not any(x))
    if isinstance(f, rb.Capped):
        return sum(size) / f.k
    if isinstance(f, rb.Caps):
        return sum(t * c for t, c in zip(size, f.caps, strict=True))
    if isinstance(f, SumBall):
        return f.radius * max(divided)
    if isinstance(f, SumPenalty):
        return within(max(divided) <= f.weight)
    assert isinstance(f, MaxPenalty)
    return within(sum(divided) <= f.weight)


def within(inside: bool) -> Fraction | None:
    return Fraction(0) if inside else None


def shift(f: Shifted, m: int) -> Numbers:
    return [Fraction(x) for x in (f.d0 if isinstance(f.d0, tuple) else (f.d0,) * m)]


def weights(f: rb.Relaxation, m: int) -> Numbers:
    given = getattr(f, "weights", None)
    return [Fraction(1)] * m if given is None else list(given)


def has_sum(f: rb.Relaxation) -> bool:
    return isinstance(f, Sum) or any(has_sum(part) for part in f.parts)


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
        assert min(found.w) > 0
        assert sum(found.w) == 1
        assert found.value == cost + max(edges)
    u = [sum(c * row[j] for j, c in w.items()) for row in A]
    assert all(x >= found.gamma - y for x, y in zip(found.x, u, strict=True))
    if has_sum(f):  # f*(x) = <x, d> − f(d) holds where x is a subgradient at d
        dual = sum(x * y for x, y in zip(found.x, d, strict=True)) - cost
    else:
        dual = conjugate(f, found.x)
    assert dual is not None
    assert found.value == found.gamma - dual


def as_game(A: np.ndarray, k: object = None) -> rb.Game:
    return rb.Game(A, rb.HardMargin() if k is None else rb.Capped(k=k))

"""SS09, Sec. 2: the dual norm, and the pair ℓ1 and ℓ∞."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import product

from relaxboost.claims.arrays import Vector
from relaxboost.claims.instance import Instance
from relaxboost.claims.measure import Slack, equal
from relaxboost.claims.spaces import Space
from relaxboost.claims.ss09.exact import fractions, inner
from relaxboost.claims.ss09.source import SOURCE


@SOURCE.claim(
    "Sec2-dual-norms",
    "Sec. 2, dual norm",
    "The norms ℓ1 and ℓ∞ are dual to each other.",
    formula="max_{‖d‖_∞ ≤ 1} <w, d> = ‖w‖_1 and max_{‖d‖_1 ≤ 1} <w, d> = ‖w‖_∞",
    space=Space(sizes={"m": (1, 6)}, w=Vector("m", -2.0, 2.0)),
)
def dual_norms(x: Instance) -> Iterator[Slack]:
    """The maximum of a linear function over a ball is at one of its vertices, and all are tried.

    Of the ℓ∞ ball these are the 2^m vectors of signs, of the ℓ1 ball the ± unit vectors.
    """
    w = fractions(x.w)
    signs = max(inner(w, d) for d in product((-1, 1), repeat=len(w)))
    units = max(sign * value for value in w for sign in (-1, 1))
    yield equal(signs, sum(map(abs, w), Fraction(0)), "ℓ∞ ball")
    yield equal(units, max(map(abs, w)), "l1 ball")

"""Every relaxation of the package, to be held to the interface: add a family here, nowhere else.

Each entry is a name and a function from the number of examples m to the relaxation, so that
parameters can depend on m. What the suite checks needs no test beside the family.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import cvxpy as cp
import numpy as np

import relaxboost as rb
from relaxboost.relaxations import SpectralRisk

SIZES = (2, 17)
"""The numbers of examples at which every family is checked."""

ENDS = (1, 60)
"""One example, and a number that the suite treats as large (above 50).

One family of each class is checked at them, and one with a prior or weights. cvxpy takes seconds to
compile some families for 200 examples."""


def weights(m: int) -> list[float]:
    """Return unequal weights between 1 and 3, exact in binary."""
    return [1.0 + 2.0 * (7 * i % 16) / 16 for i in range(m)]


def prior(m: int) -> list[Fraction]:
    """Return an uneven prior."""
    total = m * (m + 3) // 2
    return [Fraction(i + 2, total) for i in range(m)]


def least(m: int, p: float) -> float:
    """Return the least p-norm on the simplex with `weights`."""
    q = p / (p - 1.0)
    return float(np.sum(np.array(weights(m)) ** -q)) ** (-1.0 / q)


def groups(m: int) -> list[int]:
    """Return labels of about √m interleaved groups."""
    count = max(1, math.isqrt(m))
    return [i % count for i in range(m)]


def steep(m: int) -> list[Fraction]:
    """Return a spectrum whose second half is 0."""
    total = sum(range(1, m // 2 + 2))
    return [Fraction(max(0, m // 2 + 1 - i), total) for i in range(m)]


def skew(m: int) -> np.ndarray:
    """Return a matrix Q whose norm ‖Qd‖ mixes neighbours: not orthant-monotone."""
    return np.eye(m) + 0.5 * np.eye(m, k=1)


def soft_cap(d: Any) -> Any:
    """Return a price on weights above twice the uniform one."""
    return cp.sum_squares(cp.pos(d - 2.0 / d.shape[0]))


def steps(d: Any) -> Any:
    """Return a price on the largest weight, and a cap: a linear program that cvxpy knows as one."""
    return 0.5 * cp.max(d), [d <= 3.0 / d.shape[0]]


def overweight(t: Any) -> Any:
    """Return a generator that charges for weight above the prior alone."""
    return cp.square(cp.pos(t - 1))


FAMILIES: list[tuple[str, Callable[[int], rb.Relaxation]]] = [
    ("HardMargin", lambda m: rb.HardMargin()),
    ("Capped(1)", lambda m: rb.Capped(1)),
    ("Capped(m)", lambda m: rb.Capped(k=m)),
    ("Capped(2.5)", lambda m: rb.Capped(min(2.5, m))),
    ("Capped(a third)", lambda m: rb.Capped(Fraction(m + 2, 3))),
    ("Capped(fraction)", lambda m: rb.Capped(fraction=max(0.4, 1 / m))),
    ("CVaR", lambda m: rb.CVaR(min(Fraction(3, 5), 1 - Fraction(1, m)))),
    ("Caps", lambda m: rb.Caps([Fraction(i % 3 + 1, m) for i in range(m)])),
    (
        "GroupCaps",
        lambda m: rb.relaxations.GroupCaps(groups(m), Fraction(2, max(2, math.isqrt(m)))),
    ),
    (
        "GroupCaps, some free",
        lambda m: rb.relaxations.GroupCaps([i % 3 - 1 for i in range(m)], 0.25),
    ),
    (
        "SpectralRisk",
        lambda m: SpectralRisk([1, Fraction(m + 2, 3)], [Fraction(1, 3), 2 / 3]),
    ),
    ("SpectralRisk.from_spectrum", lambda m: SpectralRisk.from_spectrum(steep(m))),
    ("SpectralRisk.gini", lambda m: SpectralRisk.gini()),
    ("SpectralRisk.exponential", lambda m: SpectralRisk.exponential(5)),
    ("SpectralRisk.extremile", lambda m: SpectralRisk.extremile(2.5)),
    ("SpectralRisk.power", lambda m: SpectralRisk.power(Fraction(1, 3))),
    ("SpectralRisk.mean_cvar", lambda m: SpectralRisk.mean_cvar(0.25, 0.1)),
    ("SpectralRisk(one k)", lambda m: SpectralRisk([min(2.5, m)], [1])),
    ("NormBall(1.5)", lambda m: rb.NormBall(1.5, 1.2 * m ** (1 / 1.5 - 1))),
    ("NormBall(2)", lambda m: rb.NormBall(2, 1.3 * m**-0.5)),
    ("NormBall(2, weights)", lambda m: rb.NormBall(2, 1.2 * least(m, 2), weights(m))),
    ("NormBall(8)", lambda m: rb.NormBall(8, 1.2 * m ** (1 / 8 - 1))),
    ("NormBall(1)", lambda m: rb.NormBall(1, 1)),
    ("NormBall(1, weights)", lambda m: rb.NormBall(1, 1.5, weights(m))),
    ("NormBall(inf)", lambda m: rb.NormBall(math.inf, Fraction(min(2, m), m))),
    ("NormBall(inf, weights)", lambda m: rb.NormBall(math.inf, 4 / m, weights(m))),
    ("NormPenalty(1.5)", lambda m: rb.NormPenalty(1.5, 0.3)),
    ("NormPenalty(2)", lambda m: rb.NormPenalty(2, 0.3)),
    ("NormPenalty(3, weights)", lambda m: rb.NormPenalty(3, 0.3, weights(m))),
    ("NormPenalty(1, weights)", lambda m: rb.NormPenalty(1, 0.5, weights(m))),
    ("NormPenalty(inf)", lambda m: rb.NormPenalty(math.inf, 0.5)),
    ("NormPenalty(inf, weights)", lambda m: rb.NormPenalty(math.inf, 0.5, weights(m))),
    ("GroupNormPenalty", lambda m: rb.relaxations.GroupNormPenalty(groups(m), 0.4)),
    ("GroupNormBall", lambda m: rb.relaxations.GroupNormBall(groups(m), 0.6 if m > 4 else 1)),
    (
        "GroupNormBall(3)",
        lambda m: rb.relaxations.GroupNormBall(groups(m), 0.6 if m > 4 else 1, p=3),
    ),
    ("MahalanobisPenalty", lambda m: rb.relaxations.MahalanobisPenalty(skew(m), 0.3)),
    ("MahalanobisBall", lambda m: rb.relaxations.MahalanobisBall(skew(m), 2.5 / m**0.5)),
    ("ChiSquarePenalty", lambda m: rb.relaxations.ChiSquarePenalty(0.3)),
    ("ChiSquarePenalty(prior)", lambda m: rb.relaxations.ChiSquarePenalty(0.03, prior(m))),
    ("ChiSquareBall", lambda m: rb.relaxations.ChiSquareBall(0.7)),
    ("ChiSquareBall(prior)", lambda m: rb.relaxations.ChiSquareBall(0.2, prior(m))),
    ("HellingerPenalty", lambda m: rb.relaxations.HellingerPenalty(0.3)),
    ("HellingerPenalty(prior)", lambda m: rb.relaxations.HellingerPenalty(0.05, prior(m))),
    ("HellingerBall", lambda m: rb.relaxations.HellingerBall(0.3)),
    ("HellingerBall(prior)", lambda m: rb.relaxations.HellingerBall(0.1, prior(m))),
    ("PowerPenalty(1.5)", lambda m: rb.relaxations.PowerPenalty(1.5, 0.3)),
    ("PowerPenalty(3, prior)", lambda m: rb.relaxations.PowerPenalty(3, 0.3, prior(m))),
    ("PowerBall(3)", lambda m: rb.relaxations.PowerBall(3, 0.3)),
    ("KLPenalty", lambda m: rb.KLPenalty(0.1)),
    ("KLPenalty(prior)", lambda m: rb.KLPenalty(0.02, prior(m))),
    ("KLBall", lambda m: rb.KLBall(0.3)),
    ("KLBall(prior)", lambda m: rb.KLBall(0.1, prior(m))),
    ("BinaryEntropy", lambda m: rb.BinaryEntropy(Fraction(m + 2, 3), 0.1)),
    ("BinaryEntropy(fraction)", lambda m: rb.BinaryEntropy(fraction=0.5 + 0.5 / m, weight=0.02)),
    ("TotalVariationBall", lambda m: rb.relaxations.TotalVariationBall(0.3)),
    (
        "TotalVariationBall(prior)",
        lambda m: rb.relaxations.TotalVariationBall(0.15, [0, *prior(m - 1)] if m > 1 else [1]),
    ),
    ("c * f", lambda m: 0.5 * rb.relaxations.ChiSquarePenalty(0.3)),
    ("f + g", lambda m: rb.Capped(Fraction(m + 2, 3)) + rb.KLPenalty(0.1)),
    ("polyhedral f + g", lambda m: rb.Capped(Fraction(m + 2, 3)) + rb.NormPenalty(math.inf, 0.5)),
    ("f.shifted(d0)", lambda m: rb.NormPenalty(2, 0.3).shifted(-0.5 / m)),
    ("f.scaled(c)", lambda m: rb.NormPenalty(2, 0.3).scaled(2)),
    ("Custom", lambda m: rb.Custom(f=soft_cap)),
    ("Custom, piecewise linear", lambda m: rb.Custom(f=steps)),
    ("f_divergence", lambda m: rb.f_divergence(overweight, weight=0.3)),
]


def firsts() -> list[str]:
    """Return the name of the first family of each class, and of the first with a vector in it."""
    found: dict[tuple[type, bool], str] = {}
    for name, make in FAMILIES:
        found.setdefault((type(make(3)), "prior" in name or "weights" in name), name)
    return list(found.values())


CASES = [(name, m) for name, _ in FAMILIES for m in SIZES]
CASES += [(name, m) for name in firsts() for m in ENDS]
"""The families and sizes that the suite checks."""

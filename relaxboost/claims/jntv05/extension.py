"""JNTV05, Sec. 5: Theorem 2, its conditions, regression, unbounded sets, and Remark 5."""

import math
from fractions import Fraction

import numpy as np

from relaxboost.claims.jntv05.formulas import (
    RUNS,
    VALUES,
    RegressionLaw,
    growing,
    law,
    mirror_of,
    modulus,
)
from relaxboost.claims.jntv05.proofs import SIGN
from relaxboost.claims.jntv05.source import SOURCE
from relaxboost.claims.language import *

GENERAL = Space(
    sizes={"k": (1, 3), "n": (2, 4)},
    H=Matrix(axes=("k", "n")),
    y=Vector("k", -2, 2),
    p=Distribution("k"),
    radius=Real(0.25, 2),
    scale=Real(0.2, 5, log=True),
    proxy=Choice("entropy", "squared"),
    shift=Real(-1, 1),
    roof=Real(0.001, 2, log=True),
    t=Whole(1, 4),
)
"""Regression with squared loss, β_0 in `scale`, a constant added to V, and the least V̄."""


def _general(x: Instance, shift: float) -> Slacks:
    """Measure (33) for a β_0 with V + shift, and (34) with V̄ = V*, at the best of M + 1 points."""
    found, size = RegressionLaw(x.p, x.radius, x.H, x.y), x.H.shape[1]
    alpha, L = modulus(x.proxy, size, x.radius), found.lipschitz
    points = x.radius * np.vstack([np.full(size, 1.0 / size), np.eye(size)])
    theta = points[int(np.argmin(found.risk(points)))]
    most, at = (VALUES[x.proxy](w, x.radius) for w in (points[1], theta))
    best = max(L, 0.01) / math.sqrt(alpha * most)
    for first in (x.scale, best):
        P, means = found.samples(np.ones(x.t), growing(first, x.t), mirror_of(x.proxy, x.radius))
        excess = float(P @ found.risk(means) - found.risk(theta))
        bound = (first * (at + shift) + L**2 / (alpha * first)) * math.sqrt(x.t + 1) / x.t
        yield at_most(excess, bound, "E A(θ̂_t) − A(θ), (33)", x.t)
    if L >= 0.01:
        bound = 2.0 * L * math.sqrt(most / alpha) * math.sqrt(x.t + 1) / x.t
        yield at_most(excess, bound, "E A(θ̂_t) − A(θ), (34)", x.t)


def _below_roof(x: Instance, shift: float) -> Slack | None:
    """Measure (34) with V + shift and a V̄ ≥ V(θ*); None where no vertex or centre is a θ*."""
    found, size = RegressionLaw(x.p, x.radius, x.H, x.y), x.H.shape[1]
    points = x.radius * np.vstack([np.full(size, 1.0 / size), np.eye(size)])
    theta = points[int(np.argmin(found.risk(points)))]
    slope = x.p @ found.slopes(theta[None, :])[0]
    if float(((points - theta) @ slope).min()) < -1e-9 or found.lipschitz < 0.01:
        return None
    alpha, L = modulus(x.proxy, size, x.radius), found.lipschitz
    roof = max(x.roof, VALUES[x.proxy](theta, x.radius) + shift)
    beta = growing(L / math.sqrt(alpha * roof), x.t)
    P, means = found.samples(np.ones(x.t), beta, mirror_of(x.proxy, x.radius))
    excess = float(P @ found.risk(means) - found.risk(theta))
    bound = 2.0 * L * math.sqrt(roof / alpha) * math.sqrt(x.t + 1) / x.t
    return at_most(excess, bound, "E A(θ̂_t) − min A, (34)", x.t)


@SOURCE.claim(
    "T2",
    given="here regression with squared loss, Eq. 31, on the simplex; θ_0 = θ_*; finite laws. Our "
    f"copy breaks (33); with (28) it is (β_0 V(θ*) + L²/(αβ_0)) √(t + 1)/t; {SIGN}",
    space=GENERAL,
)
def theorem_2(x: Instance) -> Slack:
    slack = _below_roof(x, x.shift)
    assume(slack is not None)
    assert slack is not None
    return slack


@theorem_2.corrected()
def theorem_2_corrected(x: Instance) -> Slacks:
    slack = _below_roof(x, abs(x.shift))
    if slack is not None:
        yield slack
    yield from _general(x, 0.0)
    yield from _general(x, abs(x.shift))


@SOURCE.claim(
    "T2-squared",
    space=Space(
        sizes={"k": (1, 3), "n": (1, 3)},
        H=Matrix(axes=("k", "n")),
        y=Vector("k", -2, 2),
        p=Distribution("k"),
        theta=Vector("n", -20, 20),
        L=Real(1, 10),
    ),
)
def squared(x: Instance) -> Slack:
    return at_most(_square(x, x.theta), exactly([x.L])[0] ** 2, "E ‖∇Q‖_∞², L²")


def _square(x: Instance, theta: Array) -> Fraction:
    """Return E ‖∇Q(θ, Z)‖_∞², in fractions."""
    H, y, p, w = exactly(x.H), exactly(x.y), exactly(x.p), exactly(theta)
    sizes = (max(abs(h) for h in row) * abs(row @ w - v) for row, v in zip(H, y, strict=True))
    total: Fraction = sum((q * (2 * s) ** 2 for q, s in zip(p, sizes, strict=True)), Fraction(0))
    return total


@squared.corrected()
def squared_corrected(x: Instance) -> Slack:
    lam = sum(abs(w) for w in exactly(x.theta))
    K = max(abs(h) for row in exactly(x.H) for h in row)
    mean = sum(p * (abs(y) + K * lam) ** 2 for p, y in zip(exactly(x.p), exactly(x.y), strict=True))
    return at_most(_square(x, x.theta), 4 * K**2 * mean, "E ‖∇Q‖_∞², the bound")


@squared_corrected.step()
def _(x: Instance) -> Slacks:
    H, y = exactly(x.H), exactly(x.y)
    K = max(abs(h) for row in H for h in row)
    for w in (exactly(x.theta), exactly(np.eye(x.theta.size)[0])):
        for row, v in zip(H, y, strict=True):
            yield at_most(abs(row @ w - v), abs(v) + K * sum(abs(e) for e in w), "|θᵀH − Y|")


@SOURCE.claim("T2-max", space=Space(tau=Real(0.01, 1), most=Real(1, 1000, log=True)))
def largest(x: Instance) -> Slack:
    tau = Fraction(x.tau)
    one, two = (1 - tau**2) / (1 + tau**2), 2 * tau / (1 + tau**2)
    return at_most(_disc(one, two), Fraction(x.most), "V(θ), V̄")


def _disc(one: Fraction, two: Fraction) -> Fraction:
    return (one**2 + two**2) / 2 + two**4 / (1 - one) ** 3


@largest.corrected()
def largest_corrected(x: Instance) -> Slack:
    share, other = min(Fraction(1), 1 / Fraction(x.most)), min(Fraction(1), Fraction(x.tau))
    one, two = -share, (1 - share) * (2 * other - 1)
    vertices = [(-1, 0), (0, 1), (0, -1)]
    most = max(_disc(Fraction(a), Fraction(b)) for a, b in vertices)
    return at_most(_disc(one, two), most, "V(θ), max V at vertices")


@SOURCE.claim(
    "T2-unbounded",
    space=RUNS.but(loss=Choice("hinge"), theta=Vector("n", -4, 4), scale=Real(0.1, 5, log=True)),
)
def unbounded(x: Instance) -> Slack:
    found, size = law(x), x.theta.size
    L = float(np.abs(x.H).max())
    P, means = found.samples(np.ones(x.t), growing(x.scale, x.t), lambda Z, beta: -Z / beta)
    excess = float(P @ found.risk(means) - found.risk(x.theta))
    bound = x.scale * float(x.theta @ x.theta) / 2.0 + L**2 * size / x.scale
    return at_most(excess, bound * math.sqrt(x.t + 1) / x.t, "E A(θ̂_t) − A(θ)", x.t)


@unbounded.step(
    space=Space(
        sizes={"n": (2, 6)}, z=Vector("n", -3, 3), u=Vector("n", -3, 3), beta=Real(0.1, 4, log=True)
    )
)
def _(x: Instance) -> Slacks:
    for u in (x.u, np.where(x.u >= 0.0, 1.0, -1.0)):
        after = float((x.z + u) @ (x.z + u)) / (2.0 * x.beta)
        linear = float(x.z @ x.z) / (2.0 * x.beta) + float(x.z @ u) / x.beta
        square = x.u.size * float(np.abs(u).max()) ** 2 / (2.0 * x.beta)
        yield at_most(after, linear + square, "‖ζ + u‖_2²/(2β)")


CHAIN = Space(steep=Real(0.25, 4), flat=Real(0.25, 4), scale=Real(0.2, 5, log=True))
"""Two slopes R of Q(θ, Z) = R[±(θ_1 − 1/2)]_+, M = 2, λ = 1, and β_0."""
_MARKOV = (
    "M = 2, λ = 1, the entropy; Q(θ, Z) = R[±(θ_1 − 1/2)]_+, with R steep or flat and a sign as Z "
    "says; Z_i a stationary Markov chain, "
)


@SOURCE.claim("R5", given=_MARKOV + "t = 3", space=CHAIN)
def dependent(x: Instance) -> Slack:
    _, most = _chain(x)
    return at_most(_after_two(x), float(most) / x.scale * 2.0 / 3.0, "E A(θ̂_3) − min A, (33)", 3)


@SOURCE.claim(
    "R5-proof",
    given=_MARKOV + "i = 2; the proof of Proposition 3 makes 'use of the bound "
    "E ‖u_i(θ)‖_∞² ≤ L_φ²(λ)' at θ = θ_{i−1}",
    space=CHAIN,
)
def second_moment(x: Instance) -> Slack:
    squares, most = _chain(x)
    return at_most(squares, most, "E ‖u_2(θ_1)‖_∞², L²")


def _chain(x: Instance) -> tuple[Fraction, Fraction]:
    """Return E ‖u_2(θ_1)‖² and L², after the conditions of the remark have been asserted."""
    steep, flat = Fraction(x.steep), Fraction(x.flat)
    # Marginal law, for one sign: steep has p, flat q, p + q = 1/2.
    p, q = flat / (steep + flat) / 2, steep / (steep + flat) / 2
    # Given that Z_1 was of sign +, θ_1 < 1/2, where sign − acts with slope −R: steep has 2p then,
    # the others, 1 − 2p, are flat of sign +. The same with signs exchanged.
    after = {
        (1, "steep"): Fraction(0),
        (1, "flat"): 1 - 2 * p,
        (-1, "steep"): 2 * p,
        (-1, "flat"): Fraction(0),
    }
    for kind, share in (("steep", p), ("flat", q)):  # Z_2 has the law of Z_1
        assert (after[1, kind] + after[-1, kind]) / 2 == share
    slope = -2 * p * steep
    assert slope == -(p * steep + q * flat)  # E (u_2 | θ_1) is that of Z, the slope of A
    return 2 * p * steep**2, p * steep**2 + q * flat**2


@second_moment.corrected()
def second_moment_corrected(x: Instance) -> Slacks:
    squares, _ = _chain(x)
    L = max(x.steep, x.flat)
    yield at_most(squares, Fraction(L) ** 2, "E ‖u_2(θ_1)‖_∞², L²")
    yield at_most(_after_two(x), L**2 / x.scale * 2.0 / 3.0, "E A(θ̂_3) − min A, (33)", 3)


def _after_two(x: Instance) -> float:
    """Return E A(θ̂_3) − min A for the chain."""
    p, q = x.flat / (x.steep + x.flat) / 2.0, x.steep / (x.steep + x.flat) / 2.0
    beta, total = growing(x.scale, 3), 0.0
    for share, first in ((p, x.steep), (q, x.flat)):  # of sign +; sign − is its mirror image
        one = 1.0 / (1.0 + math.exp(first / 2.0 / beta[1]))
        for again, second in ((2.0 * p, -x.steep), (1.0 - 2.0 * p, 0.0)):
            two = 1.0 / (1.0 + math.exp((first / 2.0 + second) / beta[2]))
            total += 2.0 * share * again * abs((0.5 + one + two) / 3.0 - 0.5)
    return (p * x.steep + q * x.flat) * total

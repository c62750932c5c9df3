"""JNTV05, Secs. 6.1 and 6.2: ratios of proxies, the conjecture, other sets."""

import math
from fractions import Fraction
from typing import Any

import numpy as np
from scipy.special import ndtr

from relaxboost.claims.jntv05.formulas import VALUES, half_square, modulus
from relaxboost.claims.jntv05.proxy import DUALS, PAIRS
from relaxboost.claims.jntv05.source import SOURCE
from relaxboost.claims.language import *
from relaxboost.game.domains import FullSimplex, L1Ball, Simplex
from relaxboost.online.proxies import as_proxy

THREE = {"n": (3, 8)}
RATIOS = PAIRS.but(sizes={"n": (2, 12)}, proxy=Choice("squared", "tilted", "entropy", "power"))
_HALVES = {"x": [1, 0], "y": [0, 1], "s": "1/2", "radius": 1, "proxy": "squared"}


def _ratio(x: Instance, size: int) -> float:
    """Return (max V − min V)/α over the simplex of M = `size`."""
    ends = (np.eye(size)[0], np.full(size, 1.0 / size))
    most, least = (VALUES[x.proxy](x.radius * w, x.radius) for w in ends)
    return (most - least) / modulus(x.proxy, size, x.radius)


@SOURCE.claim(
    "ratio-others",
    space=Space(
        M=Whole(3, 80),
        C=Real(4, 8),
        radius=Real(0.25, 3, log=True),
        proxy=Choice("squared", "p-norm", "power"),
    ),
)
def others(x: Instance) -> Slack:
    return at_most(_ratio(x, x.M), x.C * x.radius**2 * math.log(x.M), "(1/α) max V, Cλ² ln M")


@others.corrected()
def others_corrected(x: Instance) -> Slacks:
    assume(x.proxy != "squared")
    found, log = _ratio(x, x.M), x.radius**2 * math.log(x.M)
    yield at_least(found, log / 2.0, "(1/α) max V, λ² ln M/2")
    yield at_most(found, 4.0 * log, "(1/α) max V, 4λ² ln M")


@others_corrected.step(space=Space(M=Whole(3, 10**6)))
def _(x: Instance) -> Slacks:
    s = math.log(x.M) / (1.0 + math.log(x.M))
    yield at_least(s, 0.5, "s, 1/2")
    for low, factor in (
        ((math.e - 1.0) / 2.0, (math.exp(2.0 * s) - 1.0) / 2.0),
        ((math.e - 1.0) / 2.0, (math.e - 1.0) * s),
    ):
        yield at_least(factor, low, "the factor, at s = 1/2")
        yield at_most(factor, 4.0, "the factor, 4")


@SOURCE.claim(
    "conjecture",
    space=RATIOS,
    counterexamples=[
        _HALVES,
        {"x": [1, 0, 0], "y": [0, 1, 0], "s": "1/2", "radius": 1, "proxy": "tilted"},
        {"x": [1, 0, 0], "y": [0, 1, 0], "s": "1/2", "radius": 1, "proxy": "power"},
    ],
)
def conjecture(x: Instance) -> Slack:
    return at_least(_ratio(x, x.x.size), x.radius**2 * math.log(x.x.size), "λ² ln M, (1/α) max V")


@conjecture.corrected()
def conjecture_corrected(x: Instance) -> Slacks:
    size, square = x.x.size, x.radius**2
    ratio = _ratio(x, size)
    yield at_least(ratio, 2.0 * square * (1.0 - 1.0 / size) ** 2, "ratio, 2λ²(1 − 1/M)²")
    yield at_least(ratio, square * _largest_normal(size) ** 2 / 2.0, "ratio, λ²g_M²/2")
    a, b = x.radius * x.x, x.radius * x.y
    value, alpha = VALUES[x.proxy], modulus(x.proxy, size, x.radius)
    bend = x.s * (1.0 - x.s) / 2.0 * alpha * float(np.abs(a - b).sum()) ** 2
    ends = x.s * value(a, x.radius) + (1.0 - x.s) * value(b, x.radius)
    yield at_most(value(x.s * a + (1.0 - x.s) * b, x.radius), ends - bend, "(7) with α")
    if x.proxy == "tilted" and size > 2:
        exact = square * (size - 1) ** 2 * math.log(size - 1) / (size * (size - 2))
        yield equal(ratio, exact, "ratio, its formula")
        yield at_most(ratio, square * math.log(size), "ratio, λ² ln M")


def _largest_normal(count: int) -> float:
    """Return the mean of the largest of so many independent normal numbers."""
    s = np.linspace(0.0, 9.0, 1801)
    tails = 1.0 - ndtr(s) ** count - ndtr(-s) ** count
    return float((tails[1:] + tails[:-1]).sum()) * (s[1] - s[0]) / 2.0


@SOURCE.claim(
    "package", space=PAIRS.but(sizes=THREE, proxy=Choice("entropy", "p-norm", "power", "tilted"))
)
def package(x: Instance) -> Slacks:
    size, over, proxy = x.x.size, Simplex(x.radius), as_proxy(x.proxy)
    alpha = proxy.modulus(over, size)
    yield equal(
        proxy.largest(over, size) / alpha, _ratio(x, size), "ratio of the package, the formula"
    )
    a, b = x.radius * x.x, x.radius * x.y
    bend = x.s * (1.0 - x.s) / 2.0 * alpha * float(np.abs(a - b).sum()) ** 2
    ends = x.s * proxy.value(a, over) + (1.0 - x.s) * proxy.value(b, over)
    yield at_most(proxy.value(x.s * a + (1.0 - x.s) * b, over), ends - bend, "(7) with its α")


@SOURCE.claim("l1", space=PAIRS)
def l1(x: Instance) -> Slacks:
    a, b, s, lam = exactly(x.x), exactly(x.y), Fraction(x.s), Fraction(x.radius)
    mixed = sum(abs(s * p + (1 - s) * q) for p, q in zip(a, b, strict=True))
    yield equal(mixed, s * sum(a) + (1 - s) * sum(b), "V(sx + (1 − s)y)")
    h = (a - b) / 10**6
    corner = sum(-lam * min(z) for z in (h, -h))
    yield equal(corner, lam * (max(h) - min(h)), "W_β(h) + W_β(−h) − 2W_β(0)")
    yield at_least(corner, lam * sum(abs(e) for e in h) / len(h), "the same, λ‖h‖_1/M")


@l1.step()
def _(x: Instance) -> Slack:
    a, b, s = Fraction(x.x[0]), Fraction(x.y[0]), Fraction(x.s)
    return equal(abs(s * a + (1 - s) * b), s * abs(a) + (1 - s) * abs(b), "|sa + (1 − s)b|")


@l1.step()
def _(x: Instance) -> Slacks:
    h = exactly(x.x) - exactly(x.y)
    h = h - sum(h) / len(h)
    for e in h:
        yield at_least(max(h) - min(h), abs(e), "max h − min h, |h_j|")


@SOURCE.claim("ratio-l2", space=Space(sizes={"n": (2, 9)}, h=Vector("n"), radius=Real(0.25, 3)))
def ratio_l2(x: Instance) -> Slack:
    size, square = x.h.size, Fraction(x.radius) ** 2
    return equal(square / _flattest(size), square * size / 2, "(1/α) max V, λ²M/2")


def _flattest(size: int) -> Fraction:
    """Return 2 min ‖h‖_2²/‖h‖_1² over vectors of sum 0: by the number k of positive entries."""
    return min(Fraction(1, 2 * k) + Fraction(1, 2 * (size - k)) for k in range(1, size))


@ratio_l2.corrected()
def ratio_l2_anywhere(x: Instance) -> Slacks:
    size, square = x.h.size, Fraction(x.radius) ** 2
    alpha, h = Fraction(2, size), exactly(x.h)
    yield equal(square / alpha, square * size / 2, "(1/α) max V, λ²M/2")
    for direction in (h, exactly(np.where(x.h >= 0.0, 1.0, -1.0))):
        least = alpha * sum(abs(e) for e in direction) ** 2
        yield at_least(2 * sum(e * e for e in direction), least, "hᵀ∇²V h, α‖h‖_1²")


@ratio_l2_anywhere.step()
def _(x: Instance) -> Slacks:
    for h in (exactly(x.h), exactly(np.where(x.h >= 0.0, 1.0, -1.0))):
        yield at_most(sum(abs(e) for e in h) ** 2, len(h) * sum(e * e for e in h), "‖h‖_1²")


@ratio_l2.corrected()
def ratio_l2_corrected(x: Instance) -> Slacks:
    size, square = x.h.size, Fraction(x.radius) ** 2
    alpha = _flattest(size)
    exact = square * (size - Fraction(size % 2, size)) / 2
    yield equal(square / alpha, exact, "(1/α) max V, the formula")
    yield at_most(exact, square * size / 2, "the formula, λ²M/2")
    h = exactly(x.h)
    h = h - sum(h) / size
    most = alpha * sum(abs(e) for e in h) ** 2
    yield at_least(2 * sum(e * e for e in h), most, "hᵀ∇²V h, α‖h‖_1²")
    least = half_square(np.eye(size)[0], 1.0) * 2.0
    yield equal(least, 1.0 - 1.0 / size, "max V − min V, 1 − 1/M")


@ratio_l2_corrected.step()
def _(x: Instance) -> Slack:
    h = exactly(x.h)
    h = h - sum(h) / len(h)
    k = sum(e > 0 for e in h)
    assume(0 < k < len(h))
    shares = Fraction(1, k) + Fraction(1, len(h) - k)
    least = sum(abs(e) for e in h) ** 2 / 4 * shares
    return at_least(sum(e * e for e in h), least, "‖h‖_2², (‖h‖_1²/4)(1/k + 1/(M − k))")


@ratio_l2_corrected.step()
def _(x: Instance) -> Slacks:
    size = x.h.size
    most = size**2 - size % 2
    for k in range(1, size):
        yield at_most(4 * k * (size - k), most, "4k(M − k), M² − [M odd]")
    yield equal(4 * (size // 2) * (size - size // 2), most, "at ⌊M/2⌋")


@SOURCE.claim("R1", space=Space(half=Whole(1, 500), radius=Real(0.25, 3)))
def remark_1(x: Instance) -> Slacks:
    size = 2 * x.half
    squared = x.radius**2 * (1.0 - 1.0 / size) / 2.0 / modulus("squared", size, x.radius)
    yield equal(squared, x.radius**2 * (size - 1) / 2.0, "V*/α of ‖θ‖_2²/2, λ²(M − 1)/2")
    if size > 2:
        yield at_least(squared, x.radius**2 * math.log(size), "the same, λ² ln M")


@remark_1.step()
def _(x: Instance) -> Slack:
    size = 2 * x.half + 2
    return at_least((size - 1) / 2.0, math.log(size), "(M − 1)/2, ln M")


@SOURCE.claim(
    "Sec6.2",
    space=DUALS.but(
        sizes={"n": (3, 6)},
        over=Choice("simplex", "full simplex", "ball"),
        proxy=Choice("entropy", "squared-l2", "p-norm", "power"),
    ),
)
def sets(x: Instance) -> Slacks:
    kinds: dict[str, Any] = {"simplex": Simplex, "full simplex": FullSimplex, "ball": L1Ball}
    over = kinds[x.over](x.radius)
    proxy = as_proxy(x.proxy)
    best = proxy.mirror(x.z, x.beta, over)
    yield at_most(float(np.abs(best).sum()), x.radius, "‖θ‖_1, λ")
    least = float(x.z @ best) + x.beta * proxy.value(best, over)
    yield equal(-least, proxy.conjugate(x.z, x.beta, over), "W_β(z)")
    other = x.radius * (x.theta if x.over == "simplex" else 0.7 * x.theta)
    if x.over == "ball":
        other = other * np.sign(x.v)
    for share in (1.0, 0.1, 0.001):
        theta = best + share * (other - best)
        value = float(x.z @ theta) + x.beta * proxy.value(theta, over)
        yield at_most(least, value, "zᵀθ + βV(θ), at another point")

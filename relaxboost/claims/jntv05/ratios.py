"""JNTV05, Secs. 6.1 and 6.2, and Remark 1: other proxy functions V, and (max V − min V)/α.

Here α is the modulus of strong convexity.
"""

import math
from fractions import Fraction
from typing import Any

import numpy as np
from scipy.special import ndtr

from relaxboost.claims.jntv05 import SOURCE
from relaxboost.claims.jntv05.formulas import VALUES, modulus, p_norm, powers
from relaxboost.claims.jntv05.proxy import DUALS, PAIRS
from relaxboost.claims.language import *
from relaxboost.claims.sides import on_simplex
from relaxboost.game.domains import FullSimplex, L1Ball, Simplex
from relaxboost.online.proxies import as_proxy

ANYWHERE = Space(sizes={"n": (2, 6)}, x=Vector("n", -2, 2), y=Vector("n", -2, 2), s=Real(0, 1))


def _bend(x: Instance, proxy: str, radius: float = 1.0) -> Slack:
    """Return the slack of inequality (7), the strong convexity of a proxy function, at λx and λy.

    The number λ is `radius`.
    """
    a, b = radius * x.x, radius * x.y
    value = VALUES[proxy]
    alpha = modulus(proxy, x.x.size, radius)
    less = x.s * (1.0 - x.s) / 2.0 * alpha * float(np.abs(a - b).sum()) ** 2
    ends = x.s * value(a, radius) + (1.0 - x.s) * value(b, radius)
    return at_most(value(x.s * a + (1.0 - x.s) * b, radius), ends - less, "V(sx + (1 − s)y), (7)")


@SOURCE.claim("Eq35", space=ANYWHERE.but(alpha=Real(1e-6, 1, log=True)))
def eq35(x: Instance) -> Slack:
    if x.x.size > 2:
        return _bend(x, "p-norm")
    p = 1.0 + 1.0 / math.log(2.0)
    e = (x.alpha * p / 4.0) ** (1.0 / (p - 2.0))
    rise = math.expm1(2.0 / p * math.log1p(e**p)) / 2.0
    return at_most(x.alpha / 2.0, rise / e**2, f"α/2, (V(1, e) − V(1, 0))/e² at e = {e:.3g}")


@eq35.corrected()
def eq35_corrected(x: Instance) -> Slack:
    assume(x.x.size >= 3)
    return eq35(x)[0]


@eq35_corrected.step(space=ANYWHERE.but(sizes={"n": (3, 8)}))
def _(x: Instance) -> Slack:
    bend = x.s * (1.0 - x.s) / math.log(x.x.size) * p_norm(x.x - x.y, 1.0)
    ends = x.s * p_norm(x.x, 1.0) + (1.0 - x.s) * p_norm(x.y, 1.0)
    return at_most(p_norm(x.s * x.x + (1.0 - x.s) * x.y, 1.0), ends - bend, "V(sx + (1 − s)y)")


@SOURCE.claim("Eq36-strong", space=PAIRS.but(sizes={"n": (2, 8)}))
def eq36_strong(x: Instance) -> Slacks:
    yield equal(powers(np.full(x.x.size, x.radius / x.x.size), x.radius), 0, "V at the centre, 0")
    yield at_least(powers(x.radius * x.x, x.radius), 0, "0, V(θ)")
    yield _bend(x, "power", x.radius)


@eq36_strong.step()
def _(x: Instance) -> Slacks:
    size = x.x.size
    s = 1.0 / math.log(x.x.size)
    even = np.where(np.arange(size) % 2 == 0, 1.0, -1.0)
    for theta, h in ((0.9 * x.x + 0.1 / size, x.y - x.x), (np.full(size, 1.0 / size), even)):
        least = modulus("power", size, 1.0) * float(np.abs(h).sum()) ** 2
        yield at_least(float((h * h * theta ** (s - 1.0)).sum()), least, "α‖h‖_1², hᵀ∇²V h")


def _ratio(proxy: str, size: int, radius: float = 1.0) -> float:
    """Return the ratio (max V − min V)/α of a proxy function V over the simplex."""
    ends = (np.eye(size)[0], np.full(size, 1.0 / size))
    most, least = (VALUES[proxy](radius * w, radius) for w in ends)
    return (most - least) / modulus(proxy, size, radius)


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
    found = _ratio(x.proxy, x.M, x.radius)
    return at_most(found, x.C * x.radius**2 * math.log(x.M), "(1/α) max V, Cλ² ln M")


@others.corrected()
def others_corrected(x: Instance) -> Slacks:
    assume(x.proxy != "squared")
    found = _ratio(x.proxy, x.M, x.radius)
    log = x.radius**2 * math.log(x.M)
    yield at_least(found, log / 2.0, "λ² ln M/2, (1/α) max V")
    yield at_most(found, 4.0 * log, "(1/α) max V, 4λ² ln M")


@others_corrected.step(space=Space(M=Whole(3, 10**4)))
def _(x: Instance) -> Slacks:
    s = math.log(x.M) / (1.0 + math.log(x.M))
    yield at_least(s, 0.5, "1/2, s")
    for proxy, factor in (
        ("p-norm", (math.exp(2.0 * s) - 1.0) / 2.0),
        ("power", (math.e - 1.0) * s),
    ):
        yield equal(_ratio(proxy, x.M), factor * math.log(x.M), "(1/α) max V for λ = 1")
        yield at_least(factor, (math.e - 1.0) / 2.0, "the factor, at s = 1/2")
        yield at_most(factor, 4.0, "the factor, 4")


@SOURCE.claim(
    "conjecture",
    space=PAIRS.but(sizes={"n": (2, 12)}, proxy=Choice("squared", "tilted", "entropy", "power")),
)
def conjecture(x: Instance) -> Slack:
    ratio = _ratio(x.proxy, x.x.size, x.radius)
    return at_least(ratio, x.radius**2 * math.log(x.x.size), "λ² ln M, (1/α) max V")


@conjecture.corrected()
def conjecture_corrected(x: Instance) -> Slacks:
    size = x.x.size
    square = x.radius**2
    ratio = _ratio(x.proxy, size, x.radius)
    yield at_least(ratio, 2.0 * square * (1.0 - 1.0 / size) ** 2, "2λ²(1 − 1/M)², ratio")
    yield at_least(ratio, square * _largest_normal(size) ** 2 / 2.0, "λ²g_M²/2, ratio")
    yield _bend(x, x.proxy, x.radius)
    if x.proxy == "tilted" and size > 2:
        exact = square * (size - 1) ** 2 * math.log(size - 1) / (size * (size - 2))
        yield equal(ratio, exact, "ratio, its formula")


@conjecture_corrected.step()
def _(x: Instance) -> Slack:
    theta = on_simplex(exactly(x.x))
    vertex = np.eye(x.x.size)[int(np.argmin(x.x))]
    far = sum(abs(e) for e in exactly(vertex) - theta)
    return at_least(far, 2 - Fraction(2, x.x.size), "2λ(1 − 1/M), ‖λe_j − θ_*‖_1")


def _largest_normal(count: int) -> float:
    # The integral is the expected maximum of `count` independent standard normal variables.
    s = np.linspace(0.0, 9.0, 1801)
    tails = 1.0 - ndtr(s) ** count - ndtr(-s) ** count
    return float((tails[1:] + tails[:-1]).sum()) * (s[1] - s[0]) / 2.0


@SOURCE.claim("R1", space=Space(half=Whole(1, 500), radius=Real(0.25, 3)))
def remark_1(x: Instance) -> Slack:
    size = 2 * x.half
    ratio = x.radius**2 * (size - 1) / 2.0
    return equal(_ratio("squared", size, x.radius), ratio, "V*/α of ‖θ‖_2²/2, λ²(M − 1)/2")


@remark_1.step()
def _(x: Instance) -> Slack:
    size = 2 * x.half + 2
    return at_least((size - 1) / 2.0, math.log(size), "ln M, (M − 1)/2")


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

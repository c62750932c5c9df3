"""JNTV05, Sec. 3: β-conjugates, Assumption (L), the entropy, and the two algorithms."""

from fractions import Fraction

import numpy as np
from scipy.special import rel_entr

from relaxboost.claims.jntv05 import SOURCE
from relaxboost.claims.jntv05.formulas import (
    STREAMS,
    VALUES,
    entropy,
    free_energy,
    gibbs,
    growing,
    iterates,
    mirror_of,
    modulus,
    nearest,
)
from relaxboost.claims.language import *

DUALS = Space(
    sizes={"n": (2, 6)},
    z=Vector("n", -3, 3),
    v=Vector("n", -3, 3),
    theta=Distribution("n"),
    radius=Real(0.25, 3, log=True),
    beta=Real(0.1, 4, log=True),
)
SMOOTH = DUALS.but(proxy=Choice("entropy", "squared"))
PAIRS = Space(
    sizes={"n": (2, 6)},
    x=Distribution("n"),
    y=Distribution("n"),
    s=Real(0, 1),
    radius=Real(0.25, 3, log=True),
)
JUMPS = Space(a=Real(0, 1), d=Real(-3, 3), beta=Real(0.25, 3), jump=Real(0, 2))
"""The space of instances with a strongly convex function V that may jump. V is a² at the point (a,
1 − a) if a > 0. At the end a = 0 of the segment, V may have any value `jump` >= 0."""


def _dual(d: Fraction, beta: Fraction) -> Fraction:
    # W_β(z) + z_2 is the supremum of da − βa² over a in [0, 1], where d = z_2 − z_1.
    a = min(max(d / (2 * beta), Fraction(0)), Fraction(1))
    return d * a - beta * a * a


@SOURCE.claim("P1-1", space=JUMPS)
def conjugate(x: Instance, closed: bool = False) -> Slack:
    a, beta = Fraction(x.a), Fraction(x.beta)
    jump = Fraction(0) if closed or a else Fraction(x.jump)
    tried = [2 * beta * a, Fraction(x.d), *(Fraction(k, 4) for k in range(-16, 16))]
    most = max(d * a - _dual(d, beta) for d in tried)
    return equal(beta * (a * a + jump), most, "βV(θ), sup {−zᵀθ − W_β(z)}")


@conjugate.corrected()
def conjugate_corrected(x: Instance) -> Slack:
    return conjugate(x, True)[0]


@conjugate_corrected.step(space=SMOOTH)
def _(x: Instance) -> Slacks:
    mirror = mirror_of(x.proxy, x.radius)
    value = VALUES[x.proxy]
    theta = x.radius * (0.9 * x.theta + 0.1 / x.theta.size)
    slope = np.log(theta) if x.proxy == "entropy" else theta  # ∇V(θ), up to a constant
    right = x.beta * value(theta, x.radius)
    for z, compare in ((-x.beta * slope, equal), (x.z, at_most)):
        best = mirror(z, x.beta)
        dual = -float(z @ best) - x.beta * value(best, x.radius)
        yield compare(-float(z @ theta) - dual, right, "−zᵀθ − W_β(z), βV(θ)")


@SOURCE.claim("L-assumption", space=SMOOTH)
def assumption_l(x: Instance) -> Slack:
    mirror = mirror_of(x.proxy, x.radius)
    change = np.abs(mirror(x.z, x.beta) - mirror(x.v, x.beta)).sum()
    alpha = modulus(x.proxy, x.z.size, x.radius)
    bound = float(np.abs(x.z - x.v).max()) / (alpha * x.beta)
    return at_most(float(change), bound, "‖∇W_β(z) − ∇W_β(z̃)‖_1")


@assumption_l.step()
def _(x: Instance) -> Slack:
    value = VALUES[x.proxy]
    alpha = modulus(x.proxy, x.z.size, x.radius)
    best = mirror_of(x.proxy, x.radius)(x.z, x.beta)
    other = x.radius * x.theta
    rise = value(other, x.radius) - value(best, x.radius) + float(x.z @ (other - best)) / x.beta
    return at_least(rise, alpha / 2.0 * float(np.abs(other - best).sum()) ** 2, "V(x) − V(x*)")


@SOURCE.claim("P1-2ii", space=JUMPS)
def argmax(x: Instance, closed: bool = False) -> Slack:
    d, beta = Fraction(x.d), Fraction(x.beta)
    a = min(max(d / (2 * beta), Fraction(0)), Fraction(1))  # −∇W_β = (a, 1 − a)
    jump = Fraction(0) if closed or a else Fraction(x.jump)
    value = d * a - beta * (a * a + jump)
    return equal(value, _dual(d, beta), "−zᵀθ − βV(θ) at −∇W_β(z), W_β(z)")


@argmax.corrected()
def argmax_corrected(x: Instance) -> Slack:
    return argmax(x, True)[0]


@argmax_corrected.step(space=SMOOTH)
def _(x: Instance) -> Slacks:
    mirror = mirror_of(x.proxy, x.radius)
    value = VALUES[x.proxy]

    def objective(z: Array, theta: Array) -> float:
        return -float(z @ theta) - x.beta * value(theta, x.radius)

    best, there = mirror(x.z, x.beta), mirror(x.v, x.beta)
    at = objective(x.z, best)
    yield equal(float(best.sum()), x.radius, "Σ θ_j, λ")
    yield at_most(objective(x.z, x.radius * x.theta), at, "another θ', W_β(z)")
    yield at_least(objective(x.v, there), at - float(best @ (x.v - x.z)), "W_β(z̃)")


@SOURCE.claim("D1", space=PAIRS)
def strongly_convex(x: Instance) -> Slacks:
    a, b = x.radius * x.x, x.radius * x.y
    mixed = entropy(x.s * a + (1.0 - x.s) * b, x.radius)
    ends = x.s * entropy(a, x.radius) + (1.0 - x.s) * entropy(b, x.radius)
    bend = x.s * (1.0 - x.s) / (2.0 * x.radius) * float(np.abs(a - b).sum()) ** 2
    yield at_most(mixed, ends - bend, "V(sx + (1 − s)y)")


@strongly_convex.step(space=DUALS)
def _(x: Instance) -> Slacks:
    size = float(np.abs(x.z).sum())
    inner = 0.9 * x.theta + 0.1 / x.theta.size
    for theta in (inner, np.maximum(np.abs(x.z), 1e-300) / max(size, 1e-300)):
        form = float((x.z**2 / (x.radius * theta)).sum())
        yield at_least(form, size**2 / x.radius, "‖h‖_1²/λ, Σ h_j²/θ_j")


@SOURCE.claim("Eq10", space=DUALS)
def eq10(x: Instance) -> Slacks:
    theta = gibbs(x.z, x.beta, x.radius)
    h = 1e-3 * x.v
    rise = free_energy(x.z + h, x.beta, x.radius) - free_energy(x.z, x.beta, x.radius)
    bend = x.radius / (2.0 * x.beta) * float(np.abs(h).max()) ** 2
    yield at_least(rise, -float(theta @ h), "<∇W_β(z), h>, W_β(z + h) − W_β(z)")
    yield at_most(rise, bend - float(theta @ h), "the same, with (λ/2β)‖h‖_∞² more")


@eq10.step()
def _(x: Instance) -> Slack:
    theta = x.radius * x.theta
    lost = free_energy(x.z, x.beta, x.radius) + float(x.z @ theta)
    lost += x.beta * entropy(theta, x.radius)
    divergence = float(rel_entr(x.theta, gibbs(x.z, x.beta, 1.0)).sum())
    return equal(lost, x.radius * x.beta * divergence, "what is lost, the divergence")


@SOURCE.claim(
    "Eq11", space=STREAMS.but(theta=Distribution("n"), proxy=Choice("entropy", "squared"))
)
def scheme(x: Instance) -> Slacks:
    value = VALUES[x.proxy]
    beta = growing(x.beta, len(x.U))
    found = iterates(x.U, x.gamma, beta, mirror_of(x.proxy, x.radius))
    zeta = np.vstack([0.0 * x.U[:1], np.cumsum(x.gamma[:, None] * x.U, axis=0)])
    other = x.radius * x.theta
    for i, (z, b, theta) in enumerate(zip(zeta, beta, found, strict=True)):
        least = float(z @ theta) + b * value(theta, x.radius)
        yield at_most(least, float(z @ other) + b * value(other, x.radius), "θ_i, θ", i or None)


STEPS = Space(
    sizes={"n": (2, 5)},
    before=Distribution("n"),
    u=Vector("n", -2, 2),
    theta=Distribution("n"),
    gamma=Real(0.1, 2),
    proxy=Choice("entropy", "squared"),
)


def _objective(x: Instance, theta: Array) -> tuple[float, float]:
    # These are the objective of (24) at θ, and zᵀθ + V(θ) for the vector z of (22).
    before, slope = _slope(x)
    value = VALUES[x.proxy](theta, 1.0)
    rise = value - VALUES[x.proxy](before, 1.0) - float(slope @ (theta - before))
    return x.gamma * float(theta @ x.u) + rise, float((x.gamma * x.u - slope) @ theta) + value


def _slope(x: Instance) -> tuple[Array, Array]:
    # The point θ_{i−1} is in the interior. The gradient ∇V there is exact up to a constant.
    before = 0.9 * x.before + 0.1 / x.before.size
    return before, np.log(before) if x.proxy == "entropy" else before


@SOURCE.claim("Eq22-Eq24", space=STEPS)
def greedy(x: Instance) -> Slacks:
    before, slope = _slope(x)
    mirror = gibbs if x.proxy == "entropy" else nearest
    after = mirror(x.gamma * x.u - slope, 1.0, 1.0)
    least, _ = _objective(x, after)
    yield at_most(least, _objective(x, x.theta)[0], "(22), another θ")
    yield at_most(least, _objective(x, before)[0], "(22), θ_{i−1}")
    for vertex in np.eye(before.size):
        nearby = 0.999 * after + 0.001 * vertex
        yield at_most(least, _objective(x, nearby)[0], "(22), a point nearby")


@greedy.step()
def _(x: Instance) -> Slack:
    (a, b), (c, d) = (_objective(x, w) for w in (x.theta, np.full(x.u.size, 1.0 / x.u.size)))
    return equal(b - a, d - c, "the constant")

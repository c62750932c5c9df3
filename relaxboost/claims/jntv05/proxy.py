"""JNTV05, Sec. 3.1: norms, β-conjugates, Assumption (L), proxies, and the entropy."""

import math
from fractions import Fraction

import numpy as np

from relaxboost.claims.jntv05.formulas import (
    VALUES,
    entropy,
    free_energy,
    gibbs,
    mirror_of,
    modulus,
)
from relaxboost.claims.jntv05.source import SOURCE
from relaxboost.claims.language import *

DUALS = Space(
    sizes={"n": (2, 6)},
    z=Vector("n", -3, 3),
    v=Vector("n", -3, 3),
    theta=Distribution("n"),
    radius=Real(0.25, 3, log=True),
    beta=Real(0.1, 4, log=True),
)
PAIRS = Space(
    sizes={"n": (2, 6)},
    x=Distribution("n"),
    y=Distribution("n"),
    s=Real(0, 1),
    radius=Real(0.25, 3, log=True),
)
JUMPS = Space(a=Real(0, 1), d=Real(-3, 3), beta=Real(0.25, 3), jump=Real(0, 2))
"""V(a, 1 − a) = a², and more by a jump at a = 0: convex on the simplex of M = 2, α = 1/2."""


@SOURCE.claim("norms", space=DUALS)
def norms(x: Instance) -> Slacks:
    z, theta = exactly(x.z), exactly(x.theta)
    j = int(np.argmax(np.abs(x.z)))
    sign = 1 if z[j] >= 0 else -1
    yield equal(sign * z[j], max(abs(each) for each in z), "zᵀθ at the vertex, ‖z‖_∞")
    size = max(abs(each) for each in z) * sum(theta)
    yield at_most(sum(abs(a) * b for a, b in zip(z, theta, strict=True)), size, "zᵀθ, ‖z‖_∞ ‖θ‖_1")


@norms.step()
def _(x: Instance) -> Slacks:
    z, theta = exactly(x.z), exactly(x.theta) * exactly(np.where(x.v >= 0.0, 1.0, -1.0))
    most = max(abs(each) for each in z)
    for a, b in zip(z, theta, strict=True):
        yield at_most(a * b, most * abs(b), "z_j θ_j")


def _stretch(x: Instance) -> Fraction:
    return Fraction(x.jump) if x.a == 0.0 else Fraction(0)


def _dual(d: Fraction, beta: Fraction) -> Fraction:
    """Return W_β(z) + z_2 for d = z_2 − z_1: the sup of da − βa² over [0, 1]; a = 0 is a limit."""
    a = min(max(d / (2 * beta), Fraction(0)), Fraction(1))
    return d * a - beta * a * a


@SOURCE.claim("P1-1", space=JUMPS)
def conjugate(x: Instance) -> Slacks:
    yield from _biconjugate(x, _stretch(x))


def _biconjugate(x: Instance, jump: Fraction) -> Slacks:
    a, beta = Fraction(x.a), Fraction(x.beta)
    tried = [2 * beta * a, Fraction(x.d), *(Fraction(k, 4) for k in range(-16, 16))]
    most = max(d * a - _dual(d, beta) for d in tried)
    yield equal(beta * (a * a + jump), most, "βV(θ), sup {−zᵀθ − W_β(z)}")
    other = Fraction(x.d) / 2 + 1
    middle = (Fraction(x.d) + other) / 2
    mean = (_dual(Fraction(x.d), beta) + _dual(other, beta)) / 2
    yield at_most(_dual(middle, beta), mean, "W_β at a middle")


@conjugate.corrected()
def conjugate_corrected(x: Instance) -> Slacks:
    yield from _biconjugate(x, Fraction(0))


@SOURCE.claim("P1-finite", space=DUALS)
def finite(x: Instance) -> Slack:
    value = 0.0 if float(np.abs(x.z).max()) <= x.beta else math.inf
    return at_most(value, 1e300, "W_β(z), a number")


@finite.corrected()
def finite_corrected(x: Instance) -> Slack:
    size = x.z.size
    most = size * float(np.abs(x.z).max()) ** 2 / (2.0 * x.beta)
    return at_most(float(x.z @ x.z) / (2.0 * x.beta), most, "W_β(z), M‖z‖_∞²/(2β)")


@finite_corrected.step(space=DUALS.but(r=Real(0, 30), alpha=Real(0.1, 3, log=True)))
def _(x: Instance) -> Slacks:
    size, bend = float(np.abs(x.z).max()), x.alpha * x.beta
    for r in (x.r, size / bend):
        yield at_most(size * r - bend / 2.0 * r**2, size**2 / (2.0 * bend), "‖z‖_∞ r − (αβ/2)r²")


SMOOTH = DUALS.but(proxy=Choice("entropy", "squared"))


@SOURCE.claim("L-assumption", space=SMOOTH)
def assumption_l(x: Instance) -> Slack:
    mirror = mirror_of(x.proxy, x.radius)
    change = np.abs(mirror(x.z, x.beta) - mirror(x.v, x.beta)).sum()
    alpha = modulus(x.proxy, x.z.size, x.radius)
    bound = float(np.abs(x.z - x.v).max()) / (alpha * x.beta)
    return at_most(float(change), bound, "‖∇W_β(z) − ∇W_β(z̃)‖_1")


@assumption_l.step()
def _(x: Instance) -> Slack:
    mirror = mirror_of(x.proxy, x.radius)
    size = float(np.abs(mirror(x.z, x.beta) - mirror(x.v, x.beta)).sum())
    alpha = modulus(x.proxy, x.z.size, x.radius)
    return at_most(alpha * x.beta * size**2, float(np.abs(x.z - x.v).max()) * size, "αβ‖d‖_1²")


@SOURCE.claim("P1-2ii", space=JUMPS)
def argmax(x: Instance) -> Slack:
    return _attained(x, True)


def _attained(x: Instance, jumps: bool) -> Slack:
    d, beta = Fraction(x.d), Fraction(x.beta)
    a = min(max(d / (2 * beta), Fraction(0)), Fraction(1))  # −∇W_β = (a, 1 − a)
    jump = Fraction(x.jump) if jumps and a == 0 else Fraction(0)
    value = d * a - beta * (a * a + jump)
    return equal(value, _dual(d, beta), "−zᵀθ − βV(θ) at −∇W_β(z), W_β(z)")


@argmax.corrected()
def argmax_corrected(x: Instance) -> Slack:
    return _attained(x, False)


@SOURCE.claim("P1-2ii-proxies", space=SMOOTH)
def argmax_of_proxies(x: Instance) -> Slacks:
    mirror, value = mirror_of(x.proxy, x.radius), VALUES[x.proxy]

    def objective(z: np.ndarray, theta: np.ndarray) -> float:
        return -float(z @ theta) - x.beta * value(theta, x.radius)

    best, there = mirror(x.z, x.beta), mirror(x.v, x.beta)
    at = objective(x.z, best)
    yield equal(float(best.sum()), x.radius, "Σ θ_j, λ")
    yield at_least(float(best.min()), 0, "min θ_j")
    yield at_most(objective(x.z, x.radius * x.theta), at, "another θ', W_β(z)")
    yield at_least(objective(x.v, there), at - float(best @ (x.v - x.z)), "W_β(z̃)")


@argmax_of_proxies.step(space=DUALS)
def _(x: Instance) -> Slacks:
    best = mirror_of("squared", x.radius)(x.z, x.beta)
    size = 1.0 + float(np.abs(x.z).max()) / x.beta
    for theta in (x.radius * x.theta, best):
        angle = float((x.z / x.beta + best) @ (theta - best))
        yield at_least(angle / size, 0.0, "<z/β + θ, θ' − θ>")


@argmax_of_proxies.step()
def _(x: Instance) -> Slack:
    best = mirror_of(x.proxy, x.radius)(x.z, x.beta)
    value = x.beta * VALUES[x.proxy](best, x.radius)
    right = -float(x.z @ best) - value - float(best @ (x.v - x.z))
    return equal(-float(x.v @ best) - value, right, "−z̃ᵀθ − βV(θ)")


@SOURCE.claim("D1", space=PAIRS)
def strongly_convex(x: Instance) -> Slacks:
    a, b = x.radius * x.x, x.radius * x.y
    mixed = entropy(x.s * a + (1.0 - x.s) * b, x.radius)
    ends = x.s * entropy(a, x.radius) + (1.0 - x.s) * entropy(b, x.radius)
    bend = x.s * (1.0 - x.s) / (2.0 * x.radius) * float(np.abs(a - b).sum()) ** 2
    yield at_most(mixed, ends - bend, "V(sx + (1 − s)y)")
    h = a - b
    if float(np.abs(h).min()) > 1e-3:
        size = float(np.abs(h).sum())
        theta = x.radius * np.abs(h) / size
        yield equal(float((h * h / theta).sum()), size**2 / x.radius, "hᵀ∇²V h, ‖h‖_1²/λ")


@strongly_convex.step(space=DUALS)
def _(x: Instance) -> Slacks:
    size = float(np.abs(x.z).sum())
    inner = 0.9 * x.theta + 0.1 / x.theta.size
    for theta in (inner, np.maximum(np.abs(x.z), 1e-300) / max(size, 1e-300)):
        form = float((x.z**2 / (x.radius * theta)).sum())
        yield at_least(form, size**2 / x.radius, "Σ h_j²/θ_j, ‖h‖_1²/λ")


@SOURCE.claim("D2", space=DUALS)
def minimiser(x: Instance) -> Slacks:
    at = np.full(x.theta.size, x.radius / x.theta.size)
    theta = x.radius * x.theta
    yield equal(entropy(at, x.radius), 0, "V(θ_*), 0")
    away = float(np.abs(theta - at).sum()) ** 2 / (2.0 * x.radius)
    yield at_least(entropy(theta, x.radius), away, "V(θ), ‖θ − θ_*‖_1²/(2λ)")


@minimiser.step()
def _(x: Instance) -> Slacks:
    even = x.radius / x.theta.size
    for part in (*(x.radius * x.theta), even):
        value = float(part) * math.log(part / even) if part > 0.0 else 0.0
        yield at_least(value, float(part) - even, "θ_j ln(Mθ_j/λ), θ_j − λ/M")


@SOURCE.claim("Eq9", space=DUALS)
def eq9(x: Instance) -> Slacks:
    best = gibbs(x.z, x.beta, x.radius)
    value = free_energy(x.z, x.beta, x.radius)
    found = -float(x.z @ best) - x.beta * entropy(best, x.radius)
    yield equal(found, value, "−zᵀθ − βV(θ) at (10), (9)")
    theta = x.radius * x.theta
    less = -float(x.z @ theta) - x.beta * entropy(theta, x.radius)
    yield at_most(less, value, "−zᵀθ − βV(θ), (9)")


@eq9.step()
def _(x: Instance) -> Slack:
    theta, gibbs_ = x.radius * x.theta, gibbs(x.z, x.beta, 1.0)
    lost = free_energy(x.z, x.beta, x.radius) + float(x.z @ theta)
    lost += x.beta * entropy(theta, x.radius)
    p = x.theta[x.theta > 0.0]
    divergence = float((p * np.log(p / gibbs_[x.theta > 0.0])).sum())
    return equal(lost, x.radius * x.beta * divergence, "what is lost, the divergence")


@eq9.step()
def _(x: Instance) -> Slacks:
    for p, g in zip(x.theta, gibbs(x.z, x.beta, 1.0), strict=True):
        for q in (p, g):
            value = float(q * math.log(q / g)) if q > 0.0 else 0.0
            yield at_least(value, float(q - g), "p ln(p/g), p − g")


@SOURCE.claim("Eq10", space=DUALS)
def eq10(x: Instance) -> Slacks:
    theta = gibbs(x.z, x.beta, x.radius)
    h = 1e-3 * x.v
    rise = free_energy(x.z + h, x.beta, x.radius) - free_energy(x.z, x.beta, x.radius)
    bend = x.radius / (2.0 * x.beta) * float(np.abs(h).max()) ** 2
    yield at_least(rise, -float(theta @ h), "W_β(z + h) − W_β(z), <∇W_β(z), h>")
    yield at_most(rise, bend - float(theta @ h), "the same, with (λ/2β)‖h‖_∞² more")
    j, k = int(np.argmax(x.z)), int(np.argmin(x.z))
    odds = math.exp((x.z[k] - x.z[j]) / x.beta)
    yield equal(float(theta[j]), float(theta[k]) * odds, "θ_j/θ_k, exp((z_k − z_j)/β)")


@eq10.step()
def _(x: Instance) -> Slack:
    theta = gibbs(x.z, x.beta, x.radius)
    value = -float(x.z @ theta) - x.beta * entropy(theta, x.radius)
    return equal(free_energy(x.z, x.beta, x.radius), value, "W_β(z), −zᵀθ − βV(θ)")


@eq10.step()
def _(x: Instance) -> Slacks:
    theta = x.radius * x.theta
    for h in (x.v, np.where(np.arange(x.v.size) % 2 == 0, 1.0, -1.0)):
        variance = float(theta @ h**2) - float(theta @ h) ** 2 / x.radius
        yield at_most(variance, x.radius * float(np.abs(h).max()) ** 2, "the variance")


@SOURCE.claim("KL", space=DUALS.but(radius=Real(1, 1)))
def kullback(x: Instance) -> Slack:
    theta = x.theta[x.theta > 0.0]
    divergence = float((theta * np.log(theta * x.theta.size)).sum())
    return equal(entropy(x.theta, 1.0), divergence, "V(θ), KL(θ ‖ u)")


@kullback.step()
def _(x: Instance) -> Slacks:
    size = x.theta.size
    for part in x.theta[x.theta > 0.0].tolist():
        terms = part * math.log(size) + part * math.log(part)
        yield equal(part * math.log(part * size), terms, "θ_j ln(Mθ_j)")

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
    """In fractions.

    Proof. Each term of zᵀθ is at most ‖z‖_∞ |θ_j| by the step, and Σ |θ_j| = 1; equal at the vertex
    sgn(z_j) e_j of the ball, where |z_j| is largest.
    """
    z, theta = exactly(x.z), exactly(x.theta)
    j = int(np.argmax(np.abs(x.z)))
    sign = 1 if z[j] >= 0 else -1
    yield equal(sign * z[j], max(abs(each) for each in z), "zᵀθ at the vertex, ‖z‖_∞")
    size = max(abs(each) for each in z) * sum(theta)
    yield at_most(sum(abs(a) * b for a, b in zip(z, theta, strict=True)), size, "zᵀθ, ‖z‖_∞ ‖θ‖_1")


@norms.step("A term.", "z_j θ_j ≤ ‖z‖_∞ |θ_j|")
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
    """V may jump at the boundary of Θ, where its conjugate does not see it: the right side is the
    closure of βV. The sup over z is at z_2 − z_1 = 2βa, and at none of 33 others.
    """
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


@conjugate.corrected(
    "reading: V is continuous on Θ; lower semicontinuous will do.", "the same, V closed"
)
def conjugate_corrected(x: Instance) -> Slacks:
    """Fenchel and Moreau: W_β is a supremum of affine functions, and βV = cl βV its conjugate."""
    yield from _biconjugate(x, Fraction(0))


@SOURCE.claim("P1-finite", space=DUALS)
def finite(x: Instance) -> Slack:
    """A degenerate case: Θ unbounded and V that grows no faster than a line, which the paper never
    uses. −zᵀθ − β‖θ‖_1 at θ = −R sgn(z_j) e_j is R(|z_j| − β), without bound where ‖z‖_∞ > β.
    """
    value = 0.0 if float(np.abs(x.z).max()) <= x.beta else math.inf
    return at_most(value, 1e300, "W_β(z), a number")


@finite.corrected(
    "W_β has values in R if V is strongly convex, or Θ compact.",
    "W_β(z) ≤ −zᵀθ_* − βV(θ_*) + ‖z‖_∞²/(2αβ)",
)
def finite_corrected(x: Instance) -> Slack:
    """Here V = ‖θ‖_2²/2 on R^M, α = 1/M, where W_β(z) = ‖z‖_2²/(2β); equal where all |z_j| agree.

    Proof. V grows quadratically from its minimiser (JNTV05-Eq40): with r = ‖θ − θ_*‖_1 no
    −zᵀθ − βV(θ) exceeds that at θ_* by more than ‖z‖_∞ r − (αβ/2)r² ≤ ‖z‖_∞²/(2αβ) (1). On a
    compact Θ an affine function is below V.
    """
    size = x.z.size
    most = size * float(np.abs(x.z).max()) ** 2 / (2.0 * x.beta)
    return at_most(float(x.z @ x.z) / (2.0 * x.beta), most, "W_β(z), M‖z‖_∞²/(2β)")


@finite_corrected.step(
    "A parabola.",
    "‖z‖_∞ r − (αβ/2)r² ≤ ‖z‖_∞²/(2αβ)",
    space=DUALS.but(r=Real(0, 30), alpha=Real(0.1, 3, log=True)),
)
def _(x: Instance) -> Slacks:
    """Equal at r = ‖z‖_∞/(αβ)."""
    size, bend = float(np.abs(x.z).max()), x.alpha * x.beta
    for r in (x.r, size / bend):
        yield at_most(size * r - bend / 2.0 * r**2, size**2 / (2.0 * bend), "‖z‖_∞ r − (αβ/2)r²")


SMOOTH = DUALS.but(proxy=Choice("entropy", "squared"))


@SOURCE.claim("L-assumption", space=SMOOTH)
def assumption_l(x: Instance) -> Slack:
    """Nearly tight for z near z̃ = −z with half of the mass on each sign.

    Proof. −∇W_β(z) is the argmax by Proposition 1, item 2(ii). The step is JNTV05-B-end; it is
    divided by αβ‖∇W_β(z) − ∇W_β(z̃)‖_1, if that is not 0.
    """
    mirror = mirror_of(x.proxy, x.radius)
    change = np.abs(mirror(x.z, x.beta) - mirror(x.v, x.beta)).sum()
    alpha = modulus(x.proxy, x.z.size, x.radius)
    bound = float(np.abs(x.z - x.v).max()) / (alpha * x.beta)
    return at_most(float(change), bound, "‖∇W_β(z) − ∇W_β(z̃)‖_1")


@assumption_l.step("Before the division.", "αβ‖d‖_1² ≤ ‖z − z̃‖_∞ ‖d‖_1, d = ∇W_β(z) − ∇W_β(z̃)")
def _(x: Instance) -> Slack:
    mirror = mirror_of(x.proxy, x.radius)
    size = float(np.abs(mirror(x.z, x.beta) - mirror(x.v, x.beta)).sum())
    alpha = modulus(x.proxy, x.z.size, x.radius)
    return at_most(alpha * x.beta * size**2, float(np.abs(x.z - x.v).max()) * size, "αβ‖d‖_1²")


@SOURCE.claim("P1-2ii", space=JUMPS)
def argmax(x: Instance) -> Slack:
    """Where V jumps at the boundary the sup need not be attained: −∇W_β is the limit, at which the
    value is less by the jump. The appendix calls existence evident.
    """
    return _attained(x, True)


def _attained(x: Instance, jumps: bool) -> Slack:
    d, beta = Fraction(x.d), Fraction(x.beta)
    a = min(max(d / (2 * beta), Fraction(0)), Fraction(1))  # −∇W_β = (a, 1 − a)
    jump = Fraction(x.jump) if jumps and a == 0 else Fraction(0)
    value = d * a - beta * (a * a + jump)
    return equal(value, _dual(d, beta), "−zᵀθ − βV(θ) at −∇W_β(z), W_β(z)")


@argmax.corrected(
    "reading: V is continuous on Θ; lower semicontinuous will do.", "the same, V closed"
)
def argmax_corrected(x: Instance) -> Slack:
    """A closed strongly convex function has one minimiser on a closed set, and Danskin's theorem
    makes it the gradient.
    """
    return _attained(x, False)


@SOURCE.claim("P1-2ii-proxies", space=SMOOTH)
def argmax_of_proxies(x: Instance) -> Slacks:
    """Proof. For the entropy it is JNTV05-Eq9. For ‖θ‖_2²/2 −∇W_β(z) is the point of the simplex
    nearest to −z/β, where <z/β + θ, θ' − θ> ≥ 0 (1), and the objective falls by β times that and
    (β/2)‖θ' − θ‖_2². W_β(z̃) is at least the objective at θ, which gives the sub-gradient (2).
    """
    mirror, value = mirror_of(x.proxy, x.radius), VALUES[x.proxy]

    def objective(z: np.ndarray, theta: np.ndarray) -> float:
        return -float(z @ theta) - x.beta * value(theta, x.radius)

    best, there = mirror(x.z, x.beta), mirror(x.v, x.beta)
    at = objective(x.z, best)
    yield equal(float(best.sum()), x.radius, "Σ θ_j, λ")
    yield at_least(float(best.min()), 0, "min θ_j")
    yield at_most(objective(x.z, x.radius * x.theta), at, "another θ', W_β(z)")
    yield at_least(objective(x.v, there), at - float(best @ (x.v - x.z)), "W_β(z̃)")


@argmax_of_proxies.step("The angle at the nearest point.", "<z/β + θ, θ' − θ> ≥ 0", space=DUALS)
def _(x: Instance) -> Slacks:
    """Equal at θ itself."""
    best = mirror_of("squared", x.radius)(x.z, x.beta)
    size = 1.0 + float(np.abs(x.z).max()) / x.beta
    for theta in (x.radius * x.theta, best):
        angle = float((x.z / x.beta + best) @ (theta - best))
        yield at_least(angle / size, 0.0, "<z/β + θ, θ' − θ>")


@argmax_of_proxies.step("The objective is linear in z.", "−z̃ᵀθ − βV(θ) = W_β(z) − θᵀ(z̃ − z)")
def _(x: Instance) -> Slack:
    best = mirror_of(x.proxy, x.radius)(x.z, x.beta)
    value = x.beta * VALUES[x.proxy](best, x.radius)
    right = -float(x.z @ best) - value - float(best @ (x.v - x.z))
    return equal(-float(x.v @ best) - value, right, "−z̃ᵀθ − βV(θ)")


@SOURCE.claim("D1", space=PAIRS)
def strongly_convex(x: Instance) -> Slacks:
    """Along h with Σ h = 0 from θ = λ|h|/‖h‖_1 the second derivative is ‖h‖_1²/λ: no larger α.

    Proof. Along the segment from y, with h = x − y, the second derivative of V is Σ h_j²/θ_j, at
    least ‖h‖_1²/λ by the step. A function of one variable with f'' ≥ c has (7) with c for α‖h‖_1²,
    as f − cτ²/2 is convex. By continuity of V it is so up to the boundary.
    """
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


@strongly_convex.step("Cauchy and Schwarz.", "Σ h_j²/θ_j ≥ ‖h‖_1²/λ for Σ θ_j = λ", space=DUALS)
def _(x: Instance) -> Slacks:
    """(Σ |h_j|)² = (Σ (|h_j|/√θ_j) √θ_j)². Equal where θ ∝ |h|."""
    size = float(np.abs(x.z).sum())
    inner = 0.9 * x.theta + 0.1 / x.theta.size
    for theta in (inner, np.maximum(np.abs(x.z), 1e-300) / max(size, 1e-300)):
        form = float((x.z**2 / (x.radius * theta)).sum())
        yield at_least(form, size**2 / x.radius, "Σ h_j²/θ_j, ‖h‖_1²/λ")


@SOURCE.claim("D2", space=DUALS)
def minimiser(x: Instance) -> Slacks:
    """V(θ)/λ is a relative entropy, and this is Pinsker's inequality.

    Proof. V ≥ V(θ_*) = 0 (1). So (7) for θ and θ_* (JNTV05-D1) gives V(θ) ≥ ((1 − s)/(2λ))
    ‖θ − θ_*‖_1² for every s in (0, 1), and for s → 0 the bound.
    """
    at = np.full(x.theta.size, x.radius / x.theta.size)
    theta = x.radius * x.theta
    yield equal(entropy(at, x.radius), 0, "V(θ_*), 0")
    away = float(np.abs(theta - at).sum()) ** 2 / (2.0 * x.radius)
    yield at_least(entropy(theta, x.radius), away, "V(θ), ‖θ − θ_*‖_1²/(2λ)")


@minimiser.step(
    "V is not negative.", "θ_j ln(Mθ_j/λ) ≥ θ_j − λ/M, and both sides add up to V and 0"
)
def _(x: Instance) -> Slacks:
    """ln y ≤ y − 1 at y = λ/(Mθ_j). Equal at θ_*."""
    even = x.radius / x.theta.size
    for part in (*(x.radius * x.theta), even):
        value = float(part) * math.log(part / even) if part > 0.0 else 0.0
        yield at_least(value, float(part) - even, "θ_j ln(Mθ_j/λ), θ_j − λ/M")


@SOURCE.claim("Eq9", space=DUALS)
def eq9(x: Instance) -> Slacks:
    """Attained at (10).

    Proof. By the first step any θ gives less than (9), by λβ times the relative entropy of θ/λ from
    the Gibbs distribution, which is ≥ 0 by the second, and 0 just at that distribution.
    """
    best = gibbs(x.z, x.beta, x.radius)
    value = free_energy(x.z, x.beta, x.radius)
    found = -float(x.z @ best) - x.beta * entropy(best, x.radius)
    yield equal(found, value, "−zᵀθ − βV(θ) at (10), (9)")
    theta = x.radius * x.theta
    less = -float(x.z @ theta) - x.beta * entropy(theta, x.radius)
    yield at_most(less, value, "−zᵀθ − βV(θ), (9)")


@eq9.step("What is lost.", "(9) + zᵀθ + βV(θ) = λβ Σ p_j ln(p_j/g_j), p = θ/λ, g Gibbs")
def _(x: Instance) -> Slack:
    theta, gibbs_ = x.radius * x.theta, gibbs(x.z, x.beta, 1.0)
    lost = free_energy(x.z, x.beta, x.radius) + float(x.z @ theta)
    lost += x.beta * entropy(theta, x.radius)
    p = x.theta[x.theta > 0.0]
    divergence = float((p * np.log(p / gibbs_[x.theta > 0.0])).sum())
    return equal(lost, x.radius * x.beta * divergence, "what is lost, the divergence")


@eq9.step("The relative entropy is not negative.", "p ln(p/g) ≥ p − g")
def _(x: Instance) -> Slacks:
    """ln y ≤ y − 1 at y = g/p; summed up, Σ p − Σ g = 0. Equal at p = g."""
    for p, g in zip(x.theta, gibbs(x.z, x.beta, 1.0), strict=True):
        for q in (p, g):
            value = float(q * math.log(q / g)) if q > 0.0 else 0.0
            yield at_least(value, float(q - g), "p ln(p/g), p − g")


@SOURCE.claim("Eq10", space=DUALS)
def eq10(x: Instance) -> Slacks:
    """Proof. With θ from (10) W_β(z) = −zᵀθ − βV(θ) (1), JNTV05-Eq9, and W_β(z + h) is at least
    −(z + h)ᵀθ − βV(θ), and larger by (λ/(2β))‖h‖_∞² at most (JNTV05-P2-proof), as the second
    derivative along h is a variance (2). So −θ is the gradient.
    """
    theta = gibbs(x.z, x.beta, x.radius)
    h = 1e-3 * x.v
    rise = free_energy(x.z + h, x.beta, x.radius) - free_energy(x.z, x.beta, x.radius)
    bend = x.radius / (2.0 * x.beta) * float(np.abs(h).max()) ** 2
    yield at_least(rise, -float(theta @ h), "W_β(z + h) − W_β(z), <∇W_β(z), h>")
    yield at_most(rise, bend - float(theta @ h), "the same, with (λ/2β)‖h‖_∞² more")
    j, k = int(np.argmax(x.z)), int(np.argmin(x.z))
    odds = math.exp((x.z[k] - x.z[j]) / x.beta)
    yield equal(float(theta[j]), float(theta[k]) * odds, "θ_j/θ_k, exp((z_k − z_j)/β)")


@eq10.step("Attained at (10).", "W_β(z) = −zᵀθ − βV(θ), θ from (10)")
def _(x: Instance) -> Slack:
    theta = gibbs(x.z, x.beta, x.radius)
    value = -float(x.z @ theta) - x.beta * entropy(theta, x.radius)
    return equal(free_energy(x.z, x.beta, x.radius), value, "W_β(z), −zᵀθ − βV(θ)")


@eq10.step("The curvature.", "Σ θ_j h_j² − (Σ θ_j h_j)²/λ ≤ λ‖h‖_∞²")
def _(x: Instance) -> Slacks:
    """A variance. Equal for signs that halve the mass."""
    theta = x.radius * x.theta
    for h in (x.v, np.where(np.arange(x.v.size) % 2 == 0, 1.0, -1.0)):
        variance = float(theta @ h**2) - float(theta @ h) ** 2 / x.radius
        yield at_most(variance, x.radius * float(np.abs(h).max()) ** 2, "the variance")


@SOURCE.claim("KL", space=DUALS.but(radius=Real(1, 1)))
def kullback(x: Instance) -> Slack:
    """The other one, Σ (1/M) ln(1/(Mθ_j)), is infinite at the vertices.

    Proof. A term is θ_j ln M + θ_j ln θ_j (1), and Σ θ_j = 1.
    """
    theta = x.theta[x.theta > 0.0]
    divergence = float((theta * np.log(theta * x.theta.size)).sum())
    return equal(entropy(x.theta, 1.0), divergence, "V(θ), KL(θ ‖ u)")


@kullback.step("A term.", "θ_j ln(θ_j/(1/M)) = θ_j ln M + θ_j ln θ_j")
def _(x: Instance) -> Slacks:
    size = x.theta.size
    for part in x.theta[x.theta > 0.0].tolist():
        terms = part * math.log(size) + part * math.log(part)
        yield equal(part * math.log(part * size), terms, "θ_j ln(Mθ_j)")

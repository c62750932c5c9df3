"""JNTV05, Sec. 2: risks, losses, sub-gradients, their bound, and the remarks on Theorem 1."""

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np

from relaxboost.claims.jntv05.formulas import LAWS, LOSSES, law
from relaxboost.claims.jntv05.source import SOURCE
from relaxboost.claims.language import *
from relaxboost.claims.sides import on_simplex

POINTS = LAWS.but(theta=Distribution("n"), other=Distribution("n"))


@SOURCE.claim("Eq1", space=Space(sizes={"m": (1, 6)}, y=Vector("m"), f=Vector("m", 0.01, 1)))
def empirical_error(x: Instance) -> Slacks:
    """Along s ↦ sYf the error jumps from 1 to 0 at s = 0, and convexity fails between −1 and 1."""
    y = np.where(x.y >= 0.0, 1.0, -1.0)

    def error(s: float) -> Fraction:
        wrong = np.where(s * y * x.f > 0.0, 1.0, -1.0) != y
        return Fraction(int(wrong.sum()), y.size)

    negative = int((y < 0.0).sum())
    yield at_most(error(1e-9), 0, "R_n just right of 0")
    yield at_least(error(-1e-9), 1, "R_n just left of 0")
    at_zero = Fraction(y.size - negative, y.size)
    yield equal(error(0.0), at_zero, "R_n at 0, the share of Y_i = 1")
    if at_zero > Fraction(1, 2):
        yield at_least(error(0.0), (error(-1.0) + error(1.0)) / 2, "R_n at 0, the mean at ±1")


@SOURCE.claim("unbiased", space=POINTS)
def unbiased(x: Instance) -> Slack:
    """All k² samples of two examples, with their probabilities.

    Proof. Each example has the law of one (1), and a mean of expectations is that of the mean.
    """
    values = LOSSES[x.loss][0](law(x).S @ (x.radius * x.theta))
    pairs = (values[:, None] + values[None, :]) / 2.0
    return equal(float(x.p @ pairs @ x.p), float(x.p @ values), "E A_n(f), A(f)")


@unbiased.step("Each of two.", "Σ_i Σ_j p_i p_j φ_i = Σ_i Σ_j p_i p_j φ_j = Σ_i p_i φ_i")
def _(x: Instance) -> Slacks:
    values = LOSSES[x.loss][0](law(x).S @ (x.radius * x.theta))
    joint, mean = np.outer(x.p, x.p), float(x.p @ values)
    yield equal(float(values @ joint.sum(axis=1)), mean, "E φ of the first, A(f)")
    yield equal(float(joint.sum(axis=0) @ values), mean, "E φ of the second, A(f)")


@SOURCE.claim("calibration", space=Space(eta=Real(0.02, 0.98), loss=Choice(*LOSSES)))
def calibration(x: Instance) -> Slack:
    """φ is convex and φ'(0) < 0, so that the risk falls at 0 towards the likelier label.

    Proof. For η > 1/2 the risk of f > 0 is less than that of −f by (2η − 1)(φ(−f) − φ(f)), which is
    positive (1), and at 0 the slope is (2η − 1)φ'(0) < 0 (2). For η < 1/2 signs change.

    The least risk of 4001 values of f in [−20, 20], of which one is next to the minimiser.
    """
    phi = LOSSES[x.loss][0]
    f = np.linspace(-20.0, 20.0, 4001)
    best = float(f[int(np.argmin(x.eta * phi(f) + (1.0 - x.eta) * phi(-f)))])
    assume(abs(x.eta - 0.5) > 0.01)
    wrong = 1.0 - x.eta if best > 0.0 else x.eta
    return equal(wrong, min(x.eta, 1.0 - x.eta), "P(Y ≠ g(X)), min {η, 1 − η}")


@calibration.step(
    "φ prefers the right sign.",
    "φ(−f) − φ(f) ≥ f for f ≥ 0",
    space=Space(f=Real(0, 9), loss=Choice(*LOSSES)),
)
def _(x: Instance) -> Slack:
    phi = LOSSES[x.loss][0]
    f = np.array([x.f])
    return at_least(float((phi(-f) - phi(f))[0]), x.f, "φ(−f) − φ(f), f")


@calibration.step("φ falls at 0.", "φ'(0) ≤ −1/2", space=Space(loss=Choice(*LOSSES)))
def _(x: Instance) -> Slack:
    """−1, −1 and −1/(2 ln 2)."""
    return at_most(float(LOSSES[x.loss][1](np.zeros(1))[0]), -0.5, "φ'(0), −1/2")


@SOURCE.claim("losses", space=POINTS.but(s=Real(0, 1), u=Real(-5, 5), v=Real(-5, 5)))
def losses(x: Instance) -> Slacks:
    """Equal where both points are on a line of the hinge.

    Proof. φ is above its tangents, φ(v) ≥ φ(u) + φ'(u)(v − u) (1), and so convex; A is a mean of
    φ of linear functions of θ.
    """
    phi = LOSSES[x.loss][0]
    low, u, v = phi(np.array([x.s * x.u + (1.0 - x.s) * x.v, x.u, x.v])).tolist()
    yield at_least(min(low, u, v), 0, "φ")
    yield at_most(low, x.s * u + (1.0 - x.s) * v, "φ(su + (1 − s)v)")
    a, b = x.radius * x.theta, x.radius * x.other
    risks = law(x).risk(np.array([x.s * a + (1.0 - x.s) * b, a, b])).tolist()
    yield at_most(risks[0], x.s * risks[1] + (1.0 - x.s) * risks[2], "A(sθ + (1 − s)θ')")


@losses.step("φ is above its tangents.", "φ(v) ≥ φ(u) + φ'(u)(v − u)")
def _(x: Instance) -> Slack:
    phi, slope = LOSSES[x.loss]
    u, v = np.array([x.u]), np.array([x.v])
    tangent = float((phi(u) + slope(u) * (v - u))[0])
    return at_least(float(phi(v)[0]), tangent, "φ(v), φ(u) + φ'(u)(v − u)")


@SOURCE.claim("Eq4", space=POINTS.but(loss=Choice("hinge"), v=Real(-1, 0)))
def sub_gradient(x: Instance) -> Slack:
    """Proof. φ(b) ≥ φ(a) + g(b − a) for each g that φ' may be at a (1). At a = Y θᵀH and b = Y θ'ᵀH
    this is a sub-gradient of φ(Y θᵀH), and the expectation is a sum.
    """
    S, p = exactly(law(x).S), exactly(x.p)
    theta, other = (exactly(x.radius * w) for w in (x.theta, x.other))
    at, there = S @ theta, S @ other
    slope = [Fraction(-1) if v < 1 else Fraction(x.v) if v == 1 else Fraction(0) for v in at]
    risks = [sum(q * max(1 - v, 0) for q, v in zip(p, each, strict=True)) for each in (at, there)]
    rise = sum(q * g * (b - a) for q, g, a, b in zip(p, slope, at, there, strict=True))
    return at_least(Fraction(risks[1]), Fraction(risks[0] + rise), "A(θ'), A(θ) + <E u, θ' − θ>")


@sub_gradient.step(
    "Any slope at the corner.",
    "(1 − b)_+ ≥ (1 − a)_+ + g(b − a), g in [−1, 0] at a = 1",
    space=Space(a=Real(-3, 3), b=Real(-3, 3), v=Real(-1, 0)),
)
def _(x: Instance) -> Slacks:
    for a in (x.a, 1.0):
        slope = -1.0 if a < 1.0 else x.v if a == 1.0 else 0.0
        tangent = max(1.0 - a, 0.0) + slope * (x.b - a)
        yield at_least(max(1.0 - x.b, 0.0), tangent, "(1 − b)_+, (1 − a)_+ + g(b − a)")


@SOURCE.claim("L", space=POINTS)
def lipschitz(x: Instance) -> Slacks:
    """Attained for the hinge where a margin is below 1.

    Proof. ‖u_i(θ)‖_∞ = |φ'(Y θᵀH)| ‖H‖_∞, where |Y θᵀH| ≤ Kλ by the step, and ‖H‖_∞ ≤ K. So is
    the mean of the squares.
    """
    found = law(x)
    sizes = np.abs(found.slopes(x.radius * x.theta)).max(axis=1)
    yield at_most(float(sizes.max()), found.lipschitz, "‖u(θ)‖_∞, L")
    yield at_most(float(x.p @ sizes**2), found.lipschitz**2, "E ‖u(θ)‖_∞², L²")


@lipschitz.step("A margin.", "|Y θᵀH| ≤ Kλ for θ in the λ-simplex")
def _(x: Instance) -> Slacks:
    """Σ θ_j = λ. Equal for the vertex at the largest |h_j|."""
    S, lam = exactly(law(x).S), Fraction(x.radius)
    K = max(abs(e) for row in S for e in row)
    for row in S:
        theta = lam * on_simplex(exactly(x.theta))
        yield at_most(abs(row @ theta), K * lam, "|Y θᵀH|, Kλ")
        yield at_most(max(abs(e) for e in row) * lam, K * lam, "at a vertex, Kλ")


@SOURCE.claim(
    "T1-C", space=LAWS.but(radius=Real(1, 1), loss=Choice("hinge"), H=Matrix(axes=("k", "n")))
)
def constant(x: Instance) -> Slack:
    """The largest φ' is 0, and would give C = 0.

    Proof. K = 1, and φ' = −1 on [−1, 1) (1), so that L = sup |φ'| = 1.
    """
    signs = np.where(x.H >= 0.0, 1.0, -1.0)
    found = replace(law(x), S=signs)
    return equal(2.0 * x.radius * found.lipschitz, 2, "2λL, 2")


@constant.step("The slope of the hinge.", "φ'(v) = −1 for v < 1", space=Space(v=Real(-1, 0.999)))
def _(x: Instance) -> Slack:
    return equal(float(LOSSES["hinge"][1](np.array([x.v]))[0]), -1.0, "φ'(v), −1")


def bayes(experts: float, t: int, shift: float) -> float:
    """Return the least expected excess risk over all estimators, the best expert being random.

    One of M = exp(experts) independent experts is right with probability 1/2 + shift, the others
    with 1/2, in t rounds; the best choice is the one most often right, ties shared.
    """
    counts = np.arange(t + 1)
    logs = np.array(
        [math.lgamma(t + 1) - math.lgamma(k + 1) - math.lgamma(t - k + 1) for k in counts]
    )
    right = np.exp(logs + counts * math.log(0.5 + shift) + (t - counts) * math.log(0.5 - shift))
    usual = np.exp(logs - t * math.log(2.0))
    upto = np.minimum(np.cumsum(usual), 1.0)
    M = math.exp(experts)
    shared = (upto**M - (upto - usual).clip(0.0) ** M) / (M * usual)
    return 2.0 * shift * (1.0 - float(right @ shared))


@SOURCE.claim(
    "R2", space=Space(t=Whole(1, 60), experts=Real(0.7, 500, log=True), c=Real(0.01, 1, log=True))
)
def lower_bound(x: Instance) -> Slack:
    """False for every c: no estimator has an excess risk of more than 2, and the right side grows
    with M, here exp(experts); beyond 2 for ln M > 4t/c².
    """
    return at_least(2.0, x.c * math.sqrt(x.experts / x.t), "the largest excess risk, c √(ln M/t)")


@lower_bound.corrected(
    "For M of at most exponential order, ln M ≤ t; then c = 1/6 will do.",
    "inf sup E A(θ̂_t) − min A ≥ (1/6) min {1, √(ln M/t)}",
)
def lower_bound_corrected(x: Instance) -> Slack:
    """A sup is at least a mean: of M laws, in each of which one expert of M independent ones is
    right with probability 1/2 + δ, δ = min {1/2 √(ln M/t), 2/5}/2. The hinge is linear on [−1, 1],
    and the best answer is the likeliest expert. Its exact excess is computed.
    """
    assume(x.experts <= 12.0)
    rate = min(1.0, math.sqrt(x.experts / x.t))
    excess = bayes(x.experts, x.t, min(0.4, rate / 2.0) / 2.0)
    return at_least(excess, rate / 6.0, "Bayes excess risk, min {1, √(ln M/t)}/6")


@SOURCE.claim(
    "R3", space=Space(sizes={"n": (1, 5)}, w=Weights("n"), v=Distribution("n"), u=Distribution("n"))
)
def symmetric(x: Instance) -> Slacks:
    """Both inclusions, with λ = 1.

    Proof. w = θ − θ' has |w_j| ≤ θ_j + θ'_j by the first step, and Σ θ_j + θ'_j = λ. Conversely
    θ_j = [w_j]_+ + s and θ'_j = [−w_j]_+ + s with s = (λ − ‖w‖_1)/(2M) ≥ 0 have the difference w,
    and the sum λ by the second.
    """
    w = exactly(x.w)
    left = (1 - sum(abs(each) for each in w)) / (2 * len(w))
    parts = [max(each, 0) + left for each in w], [max(-each, 0) + left for each in w]
    yield equal(sum(parts[0]) + sum(parts[1]), 1, "Σ θ_j + θ'_j")
    yield at_least(min(parts[0] + parts[1]), 0, "the least part")
    gap = max(abs(a - b - c) for a, b, c in zip(*parts, w, strict=True))
    yield equal(gap, 0, "θ − θ', w")
    halves = (exactly(x.v) - exactly(x.u)) / 2
    most = (sum(exactly(x.v)) + sum(exactly(x.u))) / 2
    yield at_most(sum(abs(each) for each in halves), most, "‖θ − θ'‖_1, λ")


@symmetric.step("A difference.", "|θ_j − θ'_j| ≤ θ_j + θ'_j")
def _(x: Instance) -> Slacks:
    for a, b in zip(exactly(x.v), exactly(x.u), strict=True):
        yield at_most(abs(a - b), a + b, "|θ_j − θ'_j|")


@symmetric.step("The sum.", "Σ [w_j]_+ + [−w_j]_+ + 2s = λ, s = (λ − ‖w‖_1)/(2M)")
def _(x: Instance) -> Slack:
    w = exactly(x.w)
    left = (1 - sum(abs(each) for each in w)) / (2 * len(w))
    return equal(sum(max(e, 0) + max(-e, 0) + 2 * left for e in w), 1, "the sum, λ")

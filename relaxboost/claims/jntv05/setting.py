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
    values = LOSSES[x.loss][0](law(x).S @ (x.radius * x.theta))
    pairs = (values[:, None] + values[None, :]) / 2.0
    return equal(float(x.p @ pairs @ x.p), float(x.p @ values), "E A_n(f), A(f)")


@unbiased.step()
def _(x: Instance) -> Slacks:
    values = LOSSES[x.loss][0](law(x).S @ (x.radius * x.theta))
    joint, mean = np.outer(x.p, x.p), float(x.p @ values)
    yield equal(float(values @ joint.sum(axis=1)), mean, "E φ of the first, A(f)")
    yield equal(float(joint.sum(axis=0) @ values), mean, "E φ of the second, A(f)")


@SOURCE.claim("calibration", space=Space(eta=Real(0.02, 0.98), loss=Choice(*LOSSES)))
def calibration(x: Instance) -> Slack:
    phi = LOSSES[x.loss][0]
    f = np.linspace(-20.0, 20.0, 4001)
    best = float(f[int(np.argmin(x.eta * phi(f) + (1.0 - x.eta) * phi(-f)))])
    assume(abs(x.eta - 0.5) > 0.01)
    wrong = 1.0 - x.eta if best > 0.0 else x.eta
    return equal(wrong, min(x.eta, 1.0 - x.eta), "P(Y ≠ g(X)), min {η, 1 − η}")


@calibration.step(space=Space(f=Real(0, 9), loss=Choice(*LOSSES)))
def _(x: Instance) -> Slack:
    phi = LOSSES[x.loss][0]
    f = np.array([x.f])
    return at_least(float((phi(-f) - phi(f))[0]), x.f, "φ(−f) − φ(f), f")


@calibration.step(space=Space(loss=Choice(*LOSSES)))
def _(x: Instance) -> Slack:
    return at_most(float(LOSSES[x.loss][1](np.zeros(1))[0]), -0.5, "φ'(0), −1/2")


@SOURCE.claim("losses", space=POINTS.but(s=Real(0, 1), u=Real(-5, 5), v=Real(-5, 5)))
def losses(x: Instance) -> Slacks:
    phi = LOSSES[x.loss][0]
    low, u, v = phi(np.array([x.s * x.u + (1.0 - x.s) * x.v, x.u, x.v])).tolist()
    yield at_least(min(low, u, v), 0, "φ")
    yield at_most(low, x.s * u + (1.0 - x.s) * v, "φ(su + (1 − s)v)")
    a, b = x.radius * x.theta, x.radius * x.other
    risks = law(x).risk(np.array([x.s * a + (1.0 - x.s) * b, a, b])).tolist()
    yield at_most(risks[0], x.s * risks[1] + (1.0 - x.s) * risks[2], "A(sθ + (1 − s)θ')")


@losses.step()
def _(x: Instance) -> Slack:
    phi, slope = LOSSES[x.loss]
    u, v = np.array([x.u]), np.array([x.v])
    tangent = float((phi(u) + slope(u) * (v - u))[0])
    return at_least(float(phi(v)[0]), tangent, "φ(v), φ(u) + φ'(u)(v − u)")


@SOURCE.claim("Eq4", space=POINTS.but(loss=Choice("hinge"), v=Real(-1, 0)))
def sub_gradient(x: Instance) -> Slack:
    S, p = exactly(law(x).S), exactly(x.p)
    theta, other = (exactly(x.radius * w) for w in (x.theta, x.other))
    at, there = S @ theta, S @ other
    slope = [Fraction(-1) if v < 1 else Fraction(x.v) if v == 1 else Fraction(0) for v in at]
    risks = [sum(q * max(1 - v, 0) for q, v in zip(p, each, strict=True)) for each in (at, there)]
    rise = sum(q * g * (b - a) for q, g, a, b in zip(p, slope, at, there, strict=True))
    return at_least(Fraction(risks[1]), Fraction(risks[0] + rise), "A(θ'), A(θ) + <E u, θ' − θ>")


@sub_gradient.step(space=Space(a=Real(-3, 3), b=Real(-3, 3), v=Real(-1, 0)))
def _(x: Instance) -> Slacks:
    for a in (x.a, 1.0):
        slope = -1.0 if a < 1.0 else x.v if a == 1.0 else 0.0
        tangent = max(1.0 - a, 0.0) + slope * (x.b - a)
        yield at_least(max(1.0 - x.b, 0.0), tangent, "(1 − b)_+, (1 − a)_+ + g(b − a)")


@SOURCE.claim("L", space=POINTS)
def lipschitz(x: Instance) -> Slacks:
    found = law(x)
    sizes = np.abs(found.slopes(x.radius * x.theta)).max(axis=1)
    yield at_most(float(sizes.max()), found.lipschitz, "‖u(θ)‖_∞, L")
    yield at_most(float(x.p @ sizes**2), found.lipschitz**2, "E ‖u(θ)‖_∞², L²")


@lipschitz.step()
def _(x: Instance) -> Slacks:
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
    signs = np.where(x.H >= 0.0, 1.0, -1.0)
    found = replace(law(x), S=signs)
    return equal(2.0 * x.radius * found.lipschitz, 2, "2λL, 2")


@constant.step(space=Space(v=Real(-1, 0.999)))
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
    return at_least(2.0, x.c * math.sqrt(x.experts / x.t), "the largest excess risk, c √(ln M/t)")


@lower_bound.corrected()
def lower_bound_corrected(x: Instance) -> Slack:
    assume(x.experts <= 12.0)
    rate = min(1.0, math.sqrt(x.experts / x.t))
    excess = bayes(x.experts, x.t, min(0.4, rate / 2.0) / 2.0)
    return at_least(excess, rate / 6.0, "Bayes excess risk, min {1, √(ln M/t)}/6")


@SOURCE.claim(
    "R3", space=Space(sizes={"n": (1, 5)}, w=Weights("n"), v=Distribution("n"), u=Distribution("n"))
)
def symmetric(x: Instance) -> Slacks:
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


@symmetric.step()
def _(x: Instance) -> Slacks:
    for a, b in zip(exactly(x.v), exactly(x.u), strict=True):
        yield at_most(abs(a - b), a + b, "|θ_j − θ'_j|")


@symmetric.step()
def _(x: Instance) -> Slack:
    w = exactly(x.w)
    left = (1 - sum(abs(each) for each in w)) / (2 * len(w))
    return equal(sum(max(e, 0) + max(-e, 0) + 2 * left for e in w), 1, "the sum, λ")

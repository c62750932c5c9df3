"""JNTV05, Sec. 3.5: the mirror descent of Eqs. 22 to 24, and when it is that of Eq. 11."""

from fractions import Fraction
from typing import Any

import numpy as np

from relaxboost.claims.jntv05.formulas import VALUES, gibbs, growing, nearest
from relaxboost.claims.jntv05.scheme import STREAMS
from relaxboost.claims.jntv05.source import SOURCE
from relaxboost.claims.language import *
from relaxboost.game.domains import FullSimplex, L1Ball, Simplex
from relaxboost.online import Constant, ExponentiatedGradient, Growing, MirrorDescent, MirrorSteps

STEPS = Space(
    sizes={"n": (2, 5)},
    before=Distribution("n"),
    u=Vector("n", -2, 2),
    theta=Distribution("n"),
    gamma=Real(0.1, 2),
)


@SOURCE.claim("Eq22-Eq24", space=STEPS.but(proxy=Choice("entropy", "squared")))
def greedy(x: Instance) -> Slacks:
    value, mirror = VALUES[x.proxy], gibbs if x.proxy == "entropy" else nearest
    before = 0.9 * x.before + 0.1 / x.before.size
    slope = np.log(before) if x.proxy == "entropy" else before  # up to a constant

    def objective(theta: Array) -> float:
        rise = value(theta, 1.0) - value(before, 1.0) - float(slope @ (theta - before))
        return x.gamma * float(theta @ x.u) + rise

    after = mirror(x.gamma * x.u - slope, 1.0, 1.0)
    yield at_most(objective(after), objective(x.theta), "(22), another θ")
    yield at_most(objective(after), objective(before), "(22), θ_{i−1}")
    for j in range(before.size):
        nearby = 0.999 * after + 0.001 * np.eye(before.size)[j]
        yield at_most(objective(after), objective(nearby), "(22), a point nearby")
    still = mirror(-slope, 1.0, 1.0)
    yield equal(float(np.abs(still - before).max()), 0.0, "(22) with u = 0, θ_{i−1}")


@greedy.step()
def _(x: Instance) -> Slack:
    value = VALUES[x.proxy]
    before = 0.9 * x.before + 0.1 / x.before.size
    slope = np.log(before) if x.proxy == "entropy" else before
    rest = []
    for theta in (x.theta, np.full(before.size, 1.0 / before.size)):
        left = float((x.gamma * x.u - slope) @ theta) + value(theta, 1.0)
        rise = value(theta, 1.0) - value(before, 1.0) - float(slope @ (theta - before))
        rest.append(left - x.gamma * float(theta @ x.u) - rise)
    return equal(rest[0], rest[1], "the constant")


@SOURCE.claim("Eq22-gradient", space=STEPS.but(other=Vector("n", -3, 3)))
def gradient_method(x: Instance) -> Slack:
    z, other = exactly(x.gamma * x.u - x.theta), exactly(x.other)
    least = -sum(a * a for a in z) / 2
    value = sum(a * b for a, b in zip(z, other, strict=True)) + sum(b * b for b in other) / 2
    away = sum((a + b) ** 2 for a, b in zip(z, other, strict=True)) / 2
    return equal(value - least, away, "zᵀθ' + V(θ') above its least, ‖θ' + z‖²/2")


@gradient_method.step()
def _(x: Instance) -> Slack:
    z, b = Fraction(x.gamma) * Fraction(x.u[0]), Fraction(x.other[0])
    return equal(z * b + b * b / 2, (b + z) ** 2 / 2 - z * z / 2, "zb + b²/2")


@SOURCE.claim("Eq23", space=STREAMS.but(first=Distribution("n")))
def exponentiated(x: Instance) -> Slacks:
    size = x.U.shape[1]
    first = 0.9 * x.first + 0.1 / size
    step = first
    learner = ExponentiatedGradient("inner", over=Simplex(1), schedule=Growing(x.beta)).start(size)
    uniform, beta = np.full(size, 1.0 / size), growing(x.beta, len(x.U))
    for i in range(1, len(x.U) + 1):
        step = step * np.exp(-x.gamma[i - 1] * x.U[i - 1])
        step = step / step.sum()
        whole = first * np.exp(-(x.gamma[:i] @ x.U[:i]))
        mirrored = gibbs(x.gamma[:i] @ x.U[:i] - np.log(first), 1.0, 1.0)
        yield equal(float(np.abs(step - whole / whole.sum()).max()), 0.0, "the two forms", i)
        yield equal(float(np.abs(step - mirrored).max()), 0.0, "(23), (22)", i)
        learner.update(x.U[i - 1])
        uniform = uniform * np.exp(-x.U[i - 1] / beta[i - 1])
        uniform = uniform / uniform.sum()
        yield equal(float(np.abs(learner.w - uniform).max()), 0.0, "the package's, (23)", i)


@SOURCE.claim("Sec3.5-growing", space=STREAMS)
def odds(x: Instance) -> Slacks:
    size, t = x.U.shape[1], len(x.U)
    over, beta = Simplex(x.radius), growing(x.beta, t)
    for schedule, divisors in ((Growing(x.beta), beta), (Constant(x.beta), 0.0 * beta + x.beta)):
        averaged = MirrorDescent("inner", over=over, schedule=schedule).start(size)
        steps = MirrorSteps("inner", over=over, proxy="entropy", schedule=schedule).start(size)
        for learner in (averaged, steps):
            learner.update(x.U, weight=x.gamma)
        logs = -(x.gamma @ x.U) / divisors[t], -((x.gamma / divisors[:t]) @ x.U)
        for learner, log in zip((averaged, steps), logs, strict=True):
            found = np.log(learner.w / learner.w[0])
            yield equal(float(np.abs(found - (log - log[0])).max()), 0.0, "log-odds, the formula")
        if schedule.steady:
            gap = float(np.abs(averaged.w - steps.w).max())
            yield equal(gap, 0.0, "(11), (22) with constant β")


@SOURCE.claim("Sec3.5-agree", space=STREAMS.but(over=Choice("simplex", "full simplex", "ball")))
def agree(x: Instance) -> Slack:
    kinds: dict[str, Any] = {"simplex": Simplex, "full simplex": FullSimplex, "ball": L1Ball}
    over = kinds[x.over](x.radius)
    options: Any = {"over": over, "proxy": "entropy", "schedule": Constant(x.beta)}
    found = []
    for kind in (MirrorDescent, MirrorSteps):
        learner = kind("inner", **options).start(x.U.shape[1])
        learner.update(x.U)
        found.append(learner.w)
    return equal(float(np.abs(found[0] - found[1]).max()) / x.radius, 0.0, "θ_t of (11), of (22)")


@SOURCE.claim("Sec3.5-differ", space=Space(g=Real(1, 2), share=Real(0, 1)))
def differ(x: Instance) -> Slacks:
    g = Fraction(x.g)
    h = (g - 1) + Fraction(x.share) * (2 - g)

    def project(a: Fraction) -> Fraction:
        return min(max(a, Fraction(0)), Fraction(1))

    lazy = project(Fraction(1, 2) - (g - h) / 2)
    first = project(Fraction(1, 2) - g / 2)
    forgetful = project(first + h / 2)
    yield equal(forgetful - lazy, (g - 1) / 2, "difference of the first components")
    rows = nearest(
        np.array([[float(g - h), 0.0], [float(-h) - float(first), float(first) - 1.0]]), 1.0, 1.0
    )
    yield equal(float(rows[0, 0]), float(lazy), "(11), by projection")
    yield equal(float(rows[1, 0]), float(forgetful), "(22), by projection")


@differ.step()
def _(x: Instance) -> Slacks:
    g = Fraction(x.g)
    h = (g - 1) + Fraction(x.share) * (2 - g)
    yield equal(h / 2 - (Fraction(1, 2) - (g - h) / 2), (g - 1) / 2, "the difference")
    yield at_least(g - h, 0, "g − h, 0")
    yield at_most(g - h, 1, "g − h, 1")


@SOURCE.claim("Sec3.5-start", space=STREAMS.but(first=Distribution("n")))
def start(x: Instance) -> Slacks:
    first = np.where(np.arange(x.first.size) == 0, 0.0, x.first + 0.01)
    runs = [first / first.sum(), np.full(first.size, 1.0 / first.size)]
    for i, (gamma, u) in enumerate(zip(x.gamma, x.U, strict=True), 1):
        for number, theta in enumerate(runs):
            heights = theta * np.exp(-gamma * u)
            runs[number] = heights / heights.sum()
        ratios = runs[0][1:] / runs[1][1:] / first[1:]
        yield equal(float(runs[0][0]), 0.0, "θ_i1 of (23), θ_01 = 0", i)
        yield equal(float(np.ptp(ratios / ratios[0])), 0.0, "θ_ij/θ_0j over that from equal θ_0", i)
    least = float(gibbs(x.gamma @ x.U, x.beta, 1.0)[0])
    yield at_least(least, 1e-300, "θ_i1 of (11), whatever θ_0")

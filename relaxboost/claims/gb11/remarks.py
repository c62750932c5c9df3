"""GB11, Sec. 4.2: remarks on averages, thresholds, and the number of weak learners."""

import math
from fractions import Fraction

import numpy as np

from relaxboost.claims.gb11.problems import RUNS, STRONG, Descent, Kinks, space, spans
from relaxboost.claims.gb11.repeated import bound4, strongly, wasted, weakly
from relaxboost.claims.gb11.residual import residuals
from relaxboost.claims.gb11.source import SOURCE
from relaxboost.claims.language import *
from relaxboost.functional.algorithms import Repeated, Residual

STEPPED = RUNS.but(first=Real(0.1, 2.0, log=True), power=Real(0.1, 1.0))
"""Runs with η_t = first/t^power."""


@SOURCE.claim("average", space=STEPPED).checked(trials=60)
def average(x: Instance) -> Slacks:
    run = _stepped(x)
    for T in range(1, run.last + 1):
        t, eta = np.arange(1.0, T + 1.0), _steps(run, T)
        D, q, G = _span(run, T, x.y), wasted(run.gamma(T)), run.gradients(T)
        S = np.cumsum((2.0 * (G * eta) ** 2 + D * G * eta * q**t)[::-1])[::-1]
        most = (D**2 / 2.0 + S[0]) / T + float(_shares(T) @ S[:-1])
        yield at_most(float(eta[-1] * run.gaps[T - 1]), most, "η_T gap of f_{T−1}", T)


def _stepped(x: Instance, algorithm: Residual | None = None) -> Descent:
    return weakly(x, algorithm, x.first, x.power)


def _steps(run: Descent, T: int) -> Array:
    """Return η_1, ..., η_T."""
    return np.array([after.step for _, after, _ in list(run.moves())[:T]])


def _span(run: Descent, T: int, best: Array) -> float:
    """Return D, the largest distance of f_0, ..., f_{T−1} and f*."""
    points = [state.F for state in run.states[:T]] + [best]
    return max(run.norm(f - g) for f in points for g in points)


def _shares(T: int) -> Array:
    """Return 1/(k(k + 1)) at s = T − k for s = 1, ..., T − 1."""
    k = np.arange(T - 1.0, 0.0, -1.0)
    return np.asarray(1.0 / (k * (k + 1.0)))


@average.step(space=Space(sizes={"m": (1, 8)}, gaps=Vector("m", 0, 3), power=Real(0, 2)))
def _(x: Instance) -> Slack:
    T = x.gaps.size
    eta = np.arange(1.0, T + 1.0) ** -x.power
    right = float(eta @ x.gaps) / T
    for k in range(1, T):
        rises = eta[T - k - 1 :] @ (x.gaps[T - k - 1 :] - x.gaps[T - k - 1])
        right += float(rises) / (k * (k + 1.0))
    return at_most(float(eta[-1] * x.gaps[-1]), right, "η_T q_T")


@average.step(space=STEPPED.but(s=Whole(1, 25)))
def _(x: Instance) -> Slacks:
    run = _stepped(x)
    assume(x.s <= run.last)
    for u in (x.y, run.states[x.s - 1].F):
        least = run.risk.evaluate(u)[0]
        D = max(run.norm(state.F - u) for state in run.states)
        left, right = 0.0, run.norm(run.states[x.s - 1].F - u) ** 2 / 2.0
        for before, after, direction in list(run.moves())[x.s - 1 :]:
            rest, eta = run.norm(before.gradient - direction.values), after.step
            left += eta * (before.value - least)
            right += eta**2 * run.norm(direction.values) ** 2 / 2.0 + eta * rest * D
            yield at_most(left, right, "Σ η_t (R[f_{t−1}] − R[u])", after.round)


@average.step()
def _(x: Instance) -> Slacks:
    run = _stepped(x)
    for before, after, _ in run.moves():
        G, move = run.gradients(after.round), run.norm(after.F - before.F)
        yield at_most(after.value - before.value, G * move, "rise, G‖f_t − f_{t−1}‖", after.round)
        yield at_most(G * move, 2.0 * G**2 * after.step, "G‖f_t − f_{t−1}‖, 2G²η_t", after.round)


@average.step(
    space=Space(sizes={"m": (8, 60)}, rises=Vector("m", -0.4, 1), power=Real(0, 0.5)).including(
        {"rises": [1, 1, 1, 1, 1], "power": 0}
    )
)
def _(x: Instance) -> Slack:
    eta = 0.125 / np.arange(1.0, x.rises.size + 2.0) ** x.power
    q = [2.0]
    for rise, step in zip(x.rises, eta, strict=False):
        q.append(max(2.0 + 1e-9, q[-1] + 2.0 * float(rise * step)))
        if q[-1] > 3.0:
            break
    assume(q[-1] > 3.0)
    return at_least(float(eta[: len(q)] @ (np.array(q) - 2.0)), 1.0 / 16.0, "Σ η_t (q_t − q_s)")


@average.step(space=Space(T=Whole(1, 60), q=Real(0, 0.95)))
def _(x: Instance) -> Slacks:
    ends = [x.q / (1.0 - x.q) + x.q / (1.0 - x.q) ** 2, 2.0 + math.log(x.T)]
    for part, end in zip((lambda t: x.q**t, lambda t: 1.0 / t), ends, strict=True):
        total = 0.0
        for k in range(1, x.T):
            total += math.fsum(map(part, range(x.T - k, x.T + 1))) / (k * (k + 1.0))
        yield at_most(total, end / x.T, "weighted sum")


@SOURCE.claim("average-residual", space=STEPPED).checked(trials=60)
def average_residual(x: Instance) -> Slacks:
    run = _stepped(x, Residual())
    for T in range(1, run.last + 1):
        eta, D, G = _steps(run, T), _span(run, T, x.y), run.gradients(T)
        q = wasted(run.gamma(T))
        B = q * G / (1.0 - q)
        S = (G**2 / 2.0 + G * B) * np.cumsum(eta[::-1] ** 2)[::-1]
        S += (eta - eta[-1]) * B * (D + eta[0] * B)
        most = (D**2 / 2.0 + S[0]) / T
        most += float(_shares(T) @ (S + (eta * B) ** 2 / 2.0)[:-1])
        yield at_most(float(eta[-1] * run.gaps[T - 1]), most, "η_T gap of f_{T−1}", T)


@average_residual.step(space=STEPPED.but(s=Whole(1, 25)))
def _(x: Instance) -> Slacks:
    run = _stepped(x, Residual())
    assume(x.s <= run.last)
    inner, found = run.risk.measure.inner, residuals(run)
    for u in (x.y, run.states[x.s - 1].F):
        least, left, right = run.risk.evaluate(u)[0], 0.0, 0.0
        for t, whole, _, rest in found[x.s - 1 :]:
            before, eta = run.states[t - 1], run.states[t].step
            then = x.first / (t + 1) ** x.power
            old = whole - before.gradient
            if t == x.s:
                right = run.norm(before.F - eta * old - u) ** 2 / 2.0
            v = before.gradient
            left += eta * (before.value - least)
            right += eta**2 * (inner(v, v) / 2.0 + inner(v, old))
            size = 1.0 + abs(left) + abs(right)
            yield at_most(left / size, right / size, "Σ η_t (R[f_{t−1}] − R[u])", t)
            right += (eta - then) * inner(rest, run.states[t].F - then * rest - u)


@average_residual.step(space=Space(T=Whole(1, 200)))
def _(x: Instance) -> Slacks:
    T = x.T
    squares = math.fsum(1.0 / (k * (k + 1) * (T - k)) for k in range(1, T))
    yield at_most(squares, 3.0 / T, "Σ η²/(k(k+1))")
    falls = ((T - k) ** -0.5 - T**-0.5 for k in range(1, T))
    total = math.fsum(fall / (k * (k + 1)) for k, fall in enumerate(falls, 1))
    yield at_most(total, (1.0 + math.log(T)) / T, "Σ (η_{T−k} − η_T)/(k(k+1))")


@SOURCE.claim("average-best", space=space(algorithm=Choice("repeated", "residual"))).checked(
    trials=60
)
def best(x: Instance) -> Slacks:
    run = weakly(x, Repeated() if x.algorithm == "repeated" else Residual())
    for t in range(1, run.last + 1):
        mean = run.mean(t, False)
        yield at_most(float(run.gaps[1 : t + 1].min()), mean, "best gap, average gap", t)
        point = np.mean([state.F for state in run.states[1 : t + 1]], axis=0)
        yield at_most(Kinks(x.A, x.y).evaluate(point)[0], mean, "gap of the average", t)


@best.step(space=Space(a=Vector("m", 0, 3)))
def _(x: Instance) -> Slack:
    return at_most(min(exactly(x.a)), sum(exactly(x.a)) / x.a.size, "min a_t, the mean")


@best.step()
def _(x: Instance) -> Slack:
    risk, other = Kinks(x.A, x.y), x.y + (x.f0 - x.y)[::-1]
    middle = risk.evaluate((x.f0 + other) / 2.0)[0]
    mean = (risk.evaluate(x.f0)[0] + risk.evaluate(other)[0]) / 2.0
    return at_most(middle, mean, "R[(f + g)/2]")


@SOURCE.claim("threshold", space=STRONG.but(tau=Real(0.01, 0.9, log=True))).checked(trials=60)
def threshold(x: Instance) -> Slacks:
    q = wasted(spans(x))
    assume(q > 1e-3)
    run = strongly(x, Repeated(threshold=x.tau))
    most = math.ceil(math.log(x.tau) / math.log(q) - 1e-9)
    for before, after, direction in run.moves():
        t = after.round
        rest, size = run.norm(before.gradient - direction.values), run.norm(before.gradient)
        yield at_most(rest / size, x.tau, "‖∇_t − h_t‖/‖∇_t‖", t)
        yield at_most(len(direction.parts), max(1, most), "projections", t)
        scale = run.gradients(t - 1) ** 2 / x.lam
        right = scale * ((1.0 + math.log(t)) / t + x.tau**2)
        yield at_most(run.mean(t, True), right, "mean gap of f_0..f_{T−1}", t)
        epsilon = 2.0 * x.tau**2 * scale
        if scale * (1.0 + math.log(t)) / t <= epsilon / 2.0:
            yield at_most(run.mean(t, True), epsilon, "mean gap, ε", t)


@threshold.step(space=Space(q=Real(0.01, 0.99), tau=Real(0.01, 0.9, log=True)))
def _(x: Instance) -> Slack:
    count = math.ceil(math.log(x.tau) / math.log(x.q))
    return at_most(count * math.log(x.q), math.log(x.tau), "k ln q, ln τ")


@SOURCE.claim("learners", space=RUNS).checked(trials=60)
def learners(x: Instance) -> Slacks:
    for algorithm in (Repeated(), Residual()):
        run, count = weakly(x, algorithm), 0
        for before, after, direction in run.moves():
            t = after.round
            if isinstance(algorithm, Repeated):
                rest = run.norm(before.gradient - direction.values)
                if rest <= 1e-12 * run.norm(before.gradient):
                    break
            count += len(direction.parts)
            yield equal(count, t * (t + 1) // 2 if isinstance(algorithm, Repeated) else t, "", t)
            share = 2.0 / (t + 1.0) if isinstance(algorithm, Repeated) else 1.0
            yield equal(t / count, share, "gradients to a learner", t)


@learners.step(space=Space(T=Whole(1, 300)))
def _(x: Instance) -> Slack:
    return equal(sum(range(1, x.T + 1)), x.T * (x.T + 1) // 2, "1 + ... + T")


@SOURCE.claim("efficiency", space=STRONG).checked(trials=60)
def efficiency(x: Instance) -> Slacks:
    for algorithm, factor in ((Repeated(), 2.0), (Residual(), 1.0)):
        run = strongly(x, algorithm, factor)
        for t in range(2, run.last + 1):
            gamma, scale = run.gamma(t), run.gradients(t - 1) ** 2 / x.lam
            if factor == 2.0:
                right = scale * (math.log(t) / t + 1.0 / (gamma**2 * t))
                yield equal(right / scale, bound4(run, x.lam, t, True) / scale, "of Theorem 4", t)
            else:
                right = 32.0 * scale * math.log(t) / (gamma**4 * t)
                stated = 8.0 / gamma**4 * (1.0 + math.log(t) + 2.0 / t) / t
                yield at_least(right / scale, stated, "32 ln T/(γ⁴T), Theorem 6", t)
            yield at_most(run.mean(t, True), right, "mean gap of f_0..f_{T−1}", t)


@efficiency.step(space=Space(gamma=Real(0.05, 1)))
def _(x: Instance) -> Slack:
    square = Fraction(x.gamma) ** 2
    return equal(1 + (1 - square) / square, 1 / square, "1 + (1 − γ²)/γ², 1/γ²")


@efficiency.step(space=Space(T=Whole(2, 400)))
def _(x: Instance) -> Slack:
    return at_most(1.0 + math.log(x.T) + 2.0 / x.T, 4.0 * math.log(x.T), "1 + ln T + 2/T")

"""GB11, Sec. 4.2: remarks on averages, thresholds, and the number of weak learners."""

import math

import numpy as np

from relaxboost.claims.gb11 import SOURCE
from relaxboost.claims.gb11.problems import RUNS, STRONG, spans
from relaxboost.claims.gb11.repeated import strongly, wasted, weakly
from relaxboost.claims.language import *
from relaxboost.functional.algorithms import Repeated

STEPPED = RUNS.but(first=Real(0.1, 2.0, log=True), power=Real(0.1, 1.0))
"""The runs of a boosting algorithm with the step size first/t^power in round t."""


@SOURCE.claim("average", space=STEPPED).checked(trials=60)
def average(x: Instance) -> Slacks:
    run = weakly(x, Repeated(), x.first, x.power)
    steps = np.array([after.step for _, after, _ in run.moves()])
    for T in range(1, run.last + 1):
        points = [*(state.F for state in run.states[:T]), x.y]
        D = max(run.norm(f - g) for f in points for g in points)
        q = wasted(run.gamma(T))
        G = run.gradients(T)
        eta = steps[:T]
        t = np.arange(1.0, T + 1.0)
        S = np.cumsum((2.0 * (G * eta) ** 2 + D * G * eta * q**t)[::-1])[::-1]
        k = np.arange(T - 1.0, 0.0, -1.0)
        most = (D**2 / 2.0 + S[0]) / T + float((S[:-1] / (k * (k + 1.0))).sum())
        yield at_most(float(eta[-1] * run.gaps[T - 1]), most, "η_T gap of f_{T−1}", T)


@average.step(space=Space(sizes={"m": (1, 8)}, gaps=Vector("m", 0, 3), power=Real(0, 2)))
def _(x: Instance) -> Slack:
    T = x.gaps.size
    eta = np.arange(1.0, T + 1.0) ** -x.power
    right = float(eta @ x.gaps) / T
    for k in range(1, T):
        rises = eta[T - k - 1 :] @ (x.gaps[T - k - 1 :] - x.gaps[T - k - 1])
        right += float(rises) / (k * (k + 1.0))
    return at_most(float(eta[-1] * x.gaps[-1]), right, "η_T e_T")


@average.step(
    space=Space(sizes={"m": (8, 60)}, rises=Vector("m", -0.4, 1), power=Real(0, 0.5)).including(
        {"rises": [1, 1, 1, 1, 1], "power": 0}
    )
)
def _(x: Instance) -> Slack:
    eta = 0.125 / np.arange(1.0, x.rises.size + 2.0) ** x.power
    e = [2.0]
    for rise, step in zip(x.rises, eta, strict=False):
        e.append(max(2.0 + 1e-9, e[-1] + 2.0 * float(rise * step)))
        if e[-1] > 3.0:
            break
    assume(e[-1] > 3.0)
    return at_least(float(eta[: len(e)] @ (np.array(e) - 2.0)), 1.0 / 16.0, "Σ η_t (e_t − e_s)")


@average.step(space=Space(T=Whole(1, 60), q=Real(0, 0.95)))
def _(x: Instance) -> Slacks:
    log = math.log(x.T)
    for terms, end in (
        ([1.0 / t for t in range(1, x.T + 1)], 2.0 + log),
        ([x.q**t for t in range(1, x.T + 1)], x.q * (2.0 - x.q) / (1.0 - x.q) ** 2),
    ):
        total = math.fsum(sum(terms[x.T - k - 1 :]) / (k * (k + 1.0)) for k in range(1, x.T))
        yield at_most(total, end / x.T, "weighted sum")


@SOURCE.claim("threshold", space=STRONG.but(tau=Real(0.01, 0.9, log=True))).checked(trials=60)
def threshold(x: Instance) -> Slacks:
    q = wasted(spans(x))
    assume(q > 1e-3)
    run = strongly(x, Repeated(threshold=x.tau))
    most = math.ceil(math.log(x.tau) / math.log(q) - 1e-9)
    for before, after, direction in run.moves():
        t = after.round
        rest = run.norm(before.gradient - direction.values)
        yield at_most(rest / run.norm(before.gradient), x.tau, "‖∇_t − h_t‖/‖∇_t‖", t)
        yield at_most(len(direction.parts), max(1, most), "projections", t)
        right = run.gradients(t - 1) ** 2 / x.lam * ((1.0 + math.log(t)) / t + x.tau**2)
        yield at_most(run.mean(t, True), right, "mean gap of f_0..f_{T−1}", t)


@threshold.step(space=Space(q=Real(0.01, 0.99), tau=Real(0.01, 0.9, log=True)))
def _(x: Instance) -> Slack:
    log, end = math.log(x.q), math.log(x.tau)
    return at_most(math.ceil(end / log) * log, end, "k ln q, ln τ")


@SOURCE.claim("efficiency", space=Space(gamma=Real(0.05, 1), T=Whole(2, 400)))
def efficiency(x: Instance) -> Slacks:
    rest = 1.0 + math.log(x.T)
    T = x.T
    gamma = x.gamma
    fourth = (rest + (1.0 - gamma**2) / gamma**2) / T
    yield equal(fourth, math.log(T) / T + 1.0 / (gamma**2 * T), "Theorem 4, its order")
    sixth = 8.0 / gamma**4 * (rest + 2.0 / T) / T
    yield at_most(sixth, 32.0 * math.log(T) / (gamma**4 * T), "Theorem 6, its order")


@efficiency.step()
def _(x: Instance) -> Slack:
    return at_most(1.0 + math.log(x.T) + 2.0 / x.T, 4.0 * math.log(x.T), "1 + ln T + 2/T")

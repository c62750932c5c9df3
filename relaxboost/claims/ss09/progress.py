"""SS09, Sec. 5: the soft maximum of AdaBoost, the proof of Theorem 9, and a sharper Lemma 12."""

import math

import numpy as np
from scipy.special import log_softmax, softmax

from relaxboost.claims.language import *
from relaxboost.claims.sides import optimum
from relaxboost.claims.ss09 import SOURCE
from relaxboost.claims.ss09.exact import entropy, log_mean_exp
from relaxboost.claims.ss09.smooth import (
    CAPPED_RUNS,
    F_GIVEN,
    FAMILY_RUNS,
    Fig1Run,
    beta,
    distribution,
    hat,
    least_gain,
    smooth,
    smoothed_game,
)
from relaxboost.game.game import Game
from relaxboost.relaxations import KLPenalty

_GIVEN = F_GIVEN + "; A in [−1, 1]^(m×n), m ≥ 2"


@SOURCE.claim(
    "Sec5.1-soft-max",
    space=Space(sizes={"m": (1, 6), "n": (1, 5)}, A=Matrix(), w=Weights(), d=Distribution()),
).checked(trials=20)
def soft_margin(x: Instance) -> Slacks:
    rho = x.optimum(Game(x.A))
    soft, d, w = optimum(x, Game(x.A, KLPenalty(1)))
    found = -log_mean_exp(-x.A @ w.astype(np.float64))
    best = d.astype(np.float64)
    edge = float(np.abs(best @ x.A).max()) + entropy(best / best.sum())
    yield equal(solved(found), solved(edge), "soft margin and relaxed edge")
    yield at_least(soft, rho - solved(0.0), "ρ")
    yield at_most(soft, rho + math.log(len(x.A)) + solved(0.0), "ρ + log m")


@soft_margin.step()
def _(x: Instance) -> Slacks:
    u = x.A @ x.w
    best = softmax(-u)
    yield at_most(-log_mean_exp(-u), float(x.d @ u) + entropy(x.d), "the d drawn")
    yield equal(near(-log_mean_exp(-u)), near(float(best @ u) + entropy(best)), "the softmax")


@SOURCE.claim("L11", given=_GIVEN, space=FAMILY_RUNS).checked(trials=20)
def gap(x: Instance) -> Slacks:
    run = Fig1Run(x)
    most = x.optimum(smoothed_game(x))
    values = hat(run.d, run.k, run.beta, run.f) + np.max(np.abs(run.d @ run.A), axis=-1)
    for t, now in enumerate(run.rounds):
        slope = float(run.slope[t])
        yield at_most(most - float(run.D[t]), slope, "ε_t", now.number)
        yield equal(float(values[t] - run.D[t]), slope, "P(d_t) − D(w_t)", now.number)


@gap.step(space=FAMILY_RUNS.but(w=Weights()))
def _(x: Instance) -> Slacks:
    u = x.A @ x.w
    smoothing = beta(len(x.A), x.epsilon)
    d = distribution(u, x.k, smoothing, x.f)[0]
    edge = float(np.max(np.abs(d @ x.A)))
    short = float(hat(d, x.k, smoothing, x.f) + edge - smooth(u, x.k, smoothing, x.f))
    yield equal(short, edge - float(d @ u), "P(d) − D(w)")
    yield at_least(short, 0.0, "P(d) − D(w)")


@SOURCE.claim("L12", given=_GIVEN + "; ε_t ≤ 1, which always holds", space=FAMILY_RUNS).checked(
    trials=20
)
def gain(x: Instance) -> Slacks:
    run = Fig1Run(x)
    assume(len(run.rounds) > 1)
    most = x.optimum(smoothed_game(x))
    for t, step in enumerate(np.diff(run.D)):
        left = most - float(run.D[t])
        yield at_most(left, 1.0, "ε_t ≤ 1", t + 1)
        yield at_most(least_gain(left, run.beta), float(step), "βε_t²/8", t + 1)


@gain.step(space=FAMILY_RUNS, trials=20)
def _(x: Instance) -> Slacks:
    run = Fig1Run(x, max_rounds=100)
    for t, step in enumerate(np.diff(run.D)):
        slope, size = float(run.slope[t]), float(np.max(np.abs(run.v[t])))
        yield at_least(float(step), run.beta * slope**2 / (2.0 * size**2), "gain", t + 1)
        yield at_most(size, 2.0, "‖v‖_∞", t + 1)


SPREAD = 0.964
"""The standard deviation of log d_i, for an index i drawn from a distribution d with m entries, is
at most this multiple of log m. The statements about progress below use this constant, and a step of
their proof checks it."""


@SOURCE.claim("L12-sharper", space=CAPPED_RUNS.but(epsilon=Real(0.1, 0.4, log=True))).checked(
    trials=40
)
def sharper(x: Instance) -> Slacks:
    run = Fig1Run(x)
    for t, gain in enumerate(np.diff(run.D)):
        least = 3.0 / 16.0 * run.beta * float(run.slope[t]) ** 2
        yield at_least(float(gain), least, "gain", t + 1)
    yield at_most(len(run.rounds), 64.0 / 3.0 * math.log(run.m) / x.epsilon**2, "rounds")


@sharper.step(
    space=Space(sizes={"m": (2, 12)}, theta=Vector("m", -6.0, 6.0)).including(
        {"theta": [0, 2.3994]}, {"theta": [3.6354, *[0] * 11]}
    ),
    trials=60,
)
def _(x: Instance) -> Slacks:
    log_d = log_softmax(x.theta)
    m = len(x.theta)
    d = np.exp(log_d)
    deviation = float(d @ (log_d - d @ log_d) ** 2) ** 0.5
    yield at_most(deviation**2, math.log(m - 1) ** 2 / 4.0 + 1.0, "variance of log d")
    yield at_most(deviation, SPREAD * math.log(m), "deviation of log d")


@sharper.step(
    space=Space(
        sizes={"m": (2, 8)},
        u=Vector("m", -1.0, 1.0),
        column=Vector("m", -1.0, 1.0),
        k=Whole(1, "m"),
        beta=Real(0.01, 0.3, log=True),
        eta=Real(0.0, 0.99),
    ).including({"u": [0, 0], "column": [1, -1], "k": 1, "beta": "1/50", "eta": "1/100"}),
    trials=100,
)
def _(x: Instance) -> Slack:
    v = x.column - x.u
    ends = smooth(np.array([x.u, x.u + x.eta * v]), x.k, x.beta)
    s = float(distribution(x.u, x.k, x.beta)[0] @ v)
    deviation = (1.0 + SPREAD * x.beta * math.log(len(v))) / (1.0 - x.eta)
    bend = min(float(np.max(np.abs(v))), deviation) ** 2
    gain = x.eta * s - x.eta**2 * bend / (2.0 * x.beta)
    return at_least(float(ends[1] - ends[0]), gain, "gain")


@sharper.step(
    space=Space(a=Real(0.05, 2.0), m=Whole(2, 50), epsilon=Real(0.01, 0.4)).including(
        {"a": 2, "m": 2, "epsilon": "2/5"}
    )
)
def _(x: Instance) -> Slack:
    eta = beta(x.m, x.epsilon) / x.a
    assume(eta < 1.0)
    bend = min(x.a, (1.0 + 0.5 * SPREAD * x.epsilon) / (1.0 - eta)) ** 2
    return at_least((1.0 - bend / (2.0 * x.a**2)) / x.a**2, 3.0 / 16.0, "constant")

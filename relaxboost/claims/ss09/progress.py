"""SS09, Sec. 5.1: the soft maximum of AdaBoost as a relaxation, and the proof of Theorem 9."""

import math

import numpy as np

from relaxboost.claims.language import *
from relaxboost.claims.sides import optimum
from relaxboost.claims.ss09 import SOURCE
from relaxboost.claims.ss09.exact import entropy, log_mean_exp, softmax
from relaxboost.claims.ss09.smooth import (
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

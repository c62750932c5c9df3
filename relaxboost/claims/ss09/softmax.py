"""SS09, Sec. 5.1, first paragraph: the soft-max of AdaBoost as a relaxation."""

import math

import numpy as np

from relaxboost.claims.language import *
from relaxboost.claims.sides import optimum
from relaxboost.claims.ss09.exact import entropy, log_mean_exp, softmax
from relaxboost.claims.ss09.source import SOURCE
from relaxboost.game.game import Game
from relaxboost.relaxations import KLPenalty

POINTS = Space(sizes={"m": (1, 6), "n": (1, 5)}, A=Matrix(), w=Weights(), d=Distribution())


@SOURCE.claim("Sec5.1-soft-max", space=POINTS).checked(trials=30)
def soft_margin(x: Instance) -> Slacks:
    rho = x.optimum(Game(x.A))
    soft, d, w = optimum(x, Game(x.A, KLPenalty(1)))
    found = -log_mean_exp(-x.A @ w.astype(np.float64))
    best = d.astype(np.float64)
    edge = float(np.abs(best @ x.A).max()) + entropy(best / best.sum())
    yield equal(solved(found), solved(edge), "soft margin and relaxed edge")
    yield at_least(soft, rho - solved(0.0), "ρ")
    yield at_most(soft, rho + math.log(len(x.A)) + solved(0.0), "ρ + log m")
    drawn = -log_mean_exp(-x.A @ x.w)
    yield at_most(drawn, entropy(x.d) + float(np.abs(x.d @ x.A).max()), "the w and the d drawn")


@soft_margin.step()
def _(x: Instance) -> Slacks:
    u = x.A @ x.w
    best = softmax(-u)
    yield at_most(-log_mean_exp(-u), float(x.d @ u) + entropy(x.d), "the d drawn")
    yield equal(near(-log_mean_exp(-u)), near(float(best @ u) + entropy(best)), "the softmax")


@soft_margin.step()
def _(x: Instance) -> Slacks:
    yield at_least(entropy(x.d), 0)
    yield at_most(entropy(x.d), math.log(len(x.d)))
    yield equal(entropy(np.eye(len(x.d))[0]), math.log(len(x.d)), "a vertex")


@SOURCE.claim(
    "Sec5.1-soft-max-sharp",
    space=Space(u=Vector("m")).including({"u": [-1, 1]}, {"u": [-1, 1, 1, 1]}),
)
def nearer(x: Instance) -> Slack:
    m = len(x.u)
    bound = float(x.u.min()) + math.log(m / (1.0 + (m - 1) * math.exp(-2.0)))
    return at_most(-log_mean_exp(-x.u), bound, "soft margin")


@nearer.step()
def _(x: Instance) -> Slack:
    total = math.fsum(np.exp(x.u.min() - x.u).tolist())
    return at_least(total, 1.0 + (len(x.u) - 1) * math.exp(-2.0))


@SOURCE.claim("Sec5.1-exp-loss", space=Space(sizes={"m": (1, 6)}, theta=Vector("m")))
def exponential_loss(x: Instance) -> Slack:
    return equal(log_mean_exp(x.theta), float(np.mean(np.exp(x.theta))), "soft-max and exp-loss")


@exponential_loss.corrected()
def logarithm(x: Instance) -> Slack:
    return equal(near(math.exp(log_mean_exp(x.theta))), near(float(np.mean(np.exp(x.theta)))))

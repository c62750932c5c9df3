"""DEK11, Sec. 3 and Theorem 3: the exponentiated gradient algorithm and its regret."""

import math

import numpy as np
from scipy.special import logsumexp, rel_entr, softmax

from relaxboost.claims.dek11 import SOURCE
from relaxboost.claims.dek11.runs import LOSSES, Passed, lipschitz, longest, one, online
from relaxboost.claims.language import *
from relaxboost.online import ExponentiatedGradient, Horizon

STREAMS = Space(
    sizes={"m": (1, 9), "n": (2, 4)},
    A=Matrix(),
    y=Vector("m"),
    w=Distribution("n"),
    loss=Choice(*LOSSES),
)
"""The instances for an algorithm with experts: examples A, numbers y whose signs are the labels, a
comparison distribution w over the experts, and a loss."""


def step(x: Instance) -> tuple[float, float]:
    """Return λX and the step size η = √(2 log(n)/m)/(λX) for m examples and n experts.

    λ is the Lipschitz constant of the loss, and X is the largest absolute entry of an example.
    """
    X, (m, n) = longest(x.A, math.inf), x.A.shape
    steep = lipschitz(x.loss, X)[0] * X
    return steep, math.sqrt(2.0 * math.log(n) / m) / steep


def learned(x: Instance) -> Passed:
    """Run `relaxboost.online` exponentiated gradient on an instance.

    Return the weights, losses and gradients of its rounds.
    """
    schedule = Horizon(len(x.A))
    bound = longest(x.A, math.inf)
    return online(x, ExponentiatedGradient(x.loss, schedule=schedule, bound=bound, targets=1.0))


@SOURCE.claim("A2", space=STREAMS).checked(trials=40)
def algorithm(x: Instance) -> Slacks:
    _, eta = step(x)
    found = learned(x)
    off = float(np.abs(found.w - one(x).exponentiated(eta).w).max())
    yield equal(off, 0.0, "distance of the two runs")
    sums = -eta * found.slopes[0].sum(axis=0)
    yield equal(float(np.abs(found.w[0, -1] - softmax(sums)).max()), 0.0, "w_m − softmax")


def turned() -> tuple[float, float]:
    """Return the regret of exponentiated gradient on two experts with alternating costs, and its
    bound √(2m log 2).
    """
    # Two experts have costs ±1, which change sign in each round except in the last 240 rounds. If S
    # is the sum of the costs of the first expert, then w_1 − w_2 = tanh(−ηS). So |w_1 − w_2|
    # alternates between 0 and tanh η while the costs alternate.
    m, last = 10_000, 240
    eta = math.sqrt(2.0 * math.log(2.0) / m)
    paid = (m - last) / 2 * math.tanh(eta) - float(np.tanh(eta * np.arange(last)).sum())
    return paid + last, math.sqrt(2.0 * m * math.log(2.0))


TURNS = {"A": [[1, -1]], "y": [1], "w": [1, 0], "loss": "hinge"}


@SOURCE.claim(
    "T3",
    space=STREAMS,
    counterexamples=[TURNS, {**TURNS, "A": [[1, -1]] * 40, "y": [1, -1] * 12 + [1] * 16}],
)
def theorem_3(x: Instance, printed: bool = True) -> Slacks:
    m, n = x.A.shape
    run, (steep, _) = learned(x), step(x)
    right = steep * math.sqrt(2.0 * (n * math.log(m) if printed else m * math.log(n)))
    left = float((run.losses - one(x).of(x.w)[0]).sum())
    linear = float(run.linear()[0] - run.slopes.sum(axis=(0, 1)).min())
    yield at_most(left, right, "regret against w")
    yield at_most(left, linear, "regret against w, linearised regret")
    if not printed:
        yield at_most(linear, right, "linearised regret")
        yield at_most(*turned(), "regret of 10 000 turns, √(2m log 2)")


theorem_3_corrected = theorem_3.corrected()(lambda x: theorem_3(x, False))


def one_round(x: Instance) -> tuple[Array, Array, Array, Array]:
    """Return four arrays with an entry or a row for each round i.

    They contain the decrease α_i of the relative entropy to w*, the gain η<∇l_i, w_{i−1} − w*>, the
    vector Z = −η∇l_i, and the weights w_{i−1}.
    """
    eta = step(x)[1]
    run = one(x).exponentiated(eta)
    divergence = rel_entr(x.w, run.w[0]).sum(axis=1)
    before = run.before[0]
    Z = -eta * run.slopes[0]
    return divergence[:-1] - divergence[1:], ((x.w - before) * Z).sum(axis=1), Z, before


@theorem_3_corrected.step()
def _(x: Instance) -> Slack:
    alpha, gain, Z, w = one_round(x)
    logs = logsumexp(Z - (w * Z).sum(axis=1, keepdims=True), axis=1, b=w)
    off = np.abs(alpha - gain + logs).max() / (1.0 + np.abs(Z).max())
    return equal(float(off), 0.0, "α_i − η gain + log E exp(Z − E Z)")


@theorem_3_corrected.step()
def _(x: Instance) -> Slack:
    alpha, gain, _, _ = one_round(x)
    size = math.sqrt(2.0 * math.log(x.A.shape[1]) / len(x.A))  # ηλX
    return at_least(float((alpha - gain).min()) / size**2, -0.5, "−1/2, (α_i − η gain)/(ηλX)²")

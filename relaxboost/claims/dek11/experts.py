"""DEK11, Sec. 3 and Theorem 3: the exponentiated gradient and its regret."""

import math

import numpy as np
from scipy.special import rel_entr

from relaxboost.claims.dek11.runs import LOSSES, Passed, largest, one, signs, steepest
from relaxboost.claims.dek11.source import SOURCE
from relaxboost.claims.language import *
from relaxboost.online import ExponentiatedGradient, Horizon

STREAMS = Space(
    sizes={"m": (1, 9), "n": (2, 4)},
    A=Matrix(),
    y=Vector("m"),
    w=Distribution("n"),
    loss=Choice(*LOSSES),
)
"""A stream: the rows of A and the signs of y; a comparator in the simplex."""


def steep(x: Instance) -> float:
    """Return λX, X the largest entry of A in size."""
    X = largest(x.A)
    return steepest(x.loss, X) * X


def learned(x: Instance) -> Passed:
    """Return the run of the package's exponentiated gradient on the stream of an instance."""
    method = ExponentiatedGradient(
        x.loss, schedule=Horizon(len(x.A)), bound=largest(x.A), targets=1.0
    )
    learner = method.start(x.A.shape[1])
    weights = [learner.w]
    for h, target in zip(x.A, signs(x.y), strict=True):
        learner.update(h, float(target))
        weights.append(learner.w)
    w = np.array(weights)[None]
    return Passed(w, *one(x).of(w[:, :-1]))


def linear_regret(run: Passed) -> float:
    """Return Σ <∇l_i, w_{i−1}> less the least entry of Σ ∇l_i: no regret is larger."""
    return float(run.linear()[0] - run.slopes.sum(axis=(0, 1)).min())


@SOURCE.claim("A2", space=STREAMS).checked(trials=40)
def algorithm(x: Instance) -> Slacks:
    m, n = x.A.shape
    eta = math.sqrt(2.0 * math.log(n) / m) / steep(x)
    found, expected = learned(x), one(x).exponentiated(eta)
    yield equal(float(np.abs(found.w - expected.w).max()), 0.0, "distance of the two runs")
    sums = -eta * found.slopes[0].sum(axis=0)
    soft = np.exp(sums - sums.max())
    yield equal(float(np.abs(found.w[0, -1] - soft / soft.sum()).max()), 0.0, "w_m − softmax")
    yield at_least(float(found.w.min()), 0.0, "w, 0")
    yield equal(float(np.abs(found.w.sum(axis=2) - 1.0).max()), 0.0, "Σ w − 1")


def turned() -> tuple[float, float]:
    """Return the regret for two experts of costs ±1 by turns, at last the same; and √(2m log 2).

    After the sum S of the costs of the first, w_1 − w_2 = tanh(−ηS): 0 and tanh η by turns.
    """
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
    run = learned(x)
    right = steep(x) * math.sqrt(2.0 * (n * math.log(m) if printed else m * math.log(n)))
    left = float((run.losses - one(x).of(x.w)[0]).sum())
    yield at_most(left, right, "regret against w")
    yield at_most(left, linear_regret(run), "regret against w, linearised regret")
    if not printed:
        yield at_most(linear_regret(run), right, "linearised regret")
        yield at_most(*turned(), "regret of 10 000 turns, √(2m log 2)")


@theorem_3.corrected()
def theorem_3_corrected(x: Instance) -> Slacks:
    yield from theorem_3(x, False)


@SOURCE.claim("T3-regret", space=STREAMS)
def regret(x: Instance) -> Slacks:
    m, n = x.A.shape
    run = learned(x)
    for left, size, rounds, experts in (
        (linear_regret(run), steep(x), m, n),
        (turned()[0], 1.0, 10_000, 2),
    ):
        yield at_most(left, size * math.sqrt(2.0 * rounds * math.log(experts)), "regret")
    vertices = [float(one(x).of(v)[0].sum()) for v in np.eye(n)]
    yield at_most(
        float(run.losses.sum()) - min(vertices), linear_regret(run), "against the best expert"
    )


@regret.step()
def _(x: Instance) -> Slack:
    m, n = x.A.shape
    scale = math.sqrt(2.0 * math.log(n) / m)  # ηλX
    run = one(x).exponentiated(scale / steep(x))
    divergence = rel_entr(x.w, run.w[0]).sum(axis=1)
    gain = ((run.before[0] - x.w) * run.slopes[0]).sum(axis=1) * scale / steep(x)
    least = float((divergence[:-1] - divergence[1:] - gain).min())
    return at_least(least / scale**2, -0.5, "(α_i − η gain)/(ηλX)², −1/2")


(_nearer,) = regret.stated.steps
theorem_3_corrected.step()(_nearer.stated.check)

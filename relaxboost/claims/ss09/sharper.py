"""SS09, Sec. 5.1 and 5.2, sharper than stated: why Lemma 12 times 3/2 is no error."""

import math

import numpy as np

from relaxboost.claims.language import *
from relaxboost.claims.ss09.runs import beta
from relaxboost.claims.ss09.smooth import CAPPED_RUNS, Fig1Run, distribution, smooth
from relaxboost.claims.ss09.source import SOURCE
from relaxboost.claims.ss09.totally import totally_corrective_run

SPREAD = 0.964
"""Bounds the standard deviation of log d, in units of log m."""


@SOURCE.claim("L12-sharper", space=CAPPED_RUNS.but(epsilon=Real(0.1, 0.4, log=True))).checked(
    trials=40
)
def sharper(x: Instance) -> Slacks:
    """‖v‖_∞ can be 2 for v = A(e^{j_t} − w_t), but not where d_t has its weight on both signs.
    The least gain that a search found is .27 β gap², for k = 4.

    Proof. Let s be the gap, a = ‖v‖_∞ ≤ 2, η = βs/a² ≤ β/a, which is the step, as nothing is
    clipped (F1-clip), z = u + ηv. Along the step D bends by
    V/β, V the variance of v over what is not capped, so that the gain is at least
    ηs − η²V/(2β) = (βs²/a²)(1 − V/(2a²)). V ≤ a², and as v = (A_j − z)/(1 − η) its deviation is at
    most (1 + .482 ε)/(1 − η) (step 2): that of A_j is at most 1 and that of z, which is −β log d
    and a constant, at most .964 β log m = .482 ε (step 1). Hence (1 − V/(2a²))/a² ≥ 3/16 (step 3).
    The rounds are counted as for `T9-rounds`, with 3/16 for 1/8.
    """
    run = Fig1Run(x)
    for t, gain in enumerate(np.diff(run.D)):
        least = 3.0 / 16.0 * run.beta * float(run.slope[t]) ** 2
        yield at_least(float(gain), least, "gain", t + 1)
    yield at_most(len(run.rounds), 64.0 / 3.0 * math.log(run.m) / x.epsilon**2, "rounds")


@sharper.step(
    "The standard deviation of log d under d is at most .964 log m.",
    "Σ d_i log² d_i − (Σ d_i log d_i)² ≤ min(log²(m − 1)/4 + 1, (.964 log m)²); m ≥ 2",
    space=Space(sizes={"m": (2, 12)}, theta=Vector("m", -6.0, 6.0)).including(
        {"theta": [0, 2.3994]}, {"theta": [3.6354, *[0] * 11]}
    ),
    trials=60,
)
def _(x: Instance) -> Slacks:
    """Where the variance is greatest, log² d_i + 2(1 − μ) log d_i, with μ the mean of log d, is the
    same for all d_i > 0, so that these have two values at most. Let k of n ≤ m have the one, with
    mass q, and y = log(q/(1 − q)). The variance is q(1 − q)(y + log((n − k)/k))², which is at most
    (|y| + L)²/(4 cosh²(y/2)), L = log(m − 1). As cosh²(y/2) ≥ 1 + y²/4 and, by Cauchy's
    inequality, (|y| + L)² ≤ (1 + y²/4)(4 + L²), this is at most L²/4 + 1. Reeb & Wolf 2015
    (arXiv 1304.0036) have that bound too. For m ≥ 3 it is at most (.964 log m)²; for m = 2 the
    variance is y²/(4 cosh²(y/2)) ≤ .4393 = (.9563 log 2)², at y = 2.3994.
    """
    log_d, m = x.theta - np.logaddexp.reduce(x.theta), len(x.theta)
    deviation = _deviation(np.exp(log_d), log_d)
    yield at_most(deviation**2, math.log(m - 1) ** 2 / 4.0 + 1.0, "variance of log d")
    yield at_most(deviation, SPREAD * math.log(m), "deviation of log d")


def _deviation(d: Array, v: Array) -> float:
    return float(d @ (v - d @ v) ** 2) ** 0.5


@sharper.step(
    "A step of length η gains at least ηs − η²V/(2β).",
    "D(w + ηv) − D(w) ≥ ηs − η²V/(2β), V = min(a, (1 + .964 β log m)/(1 − η))²",
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


BENDS = Space(a=Real(0.05, 2.0), m=Whole(2, 50), epsilon=Real(0.01, 0.4))


@sharper.step(
    "For ε ≤ 2/5 the constant is at least 3/16.",
    "(1 − V/(2a²))/a² ≥ 3/16, V = min(a, (1 + .482 ε)/(1 − β/a))², 0 < a ≤ 2",
    space=BENDS.including({"a": 2, "m": 2, "epsilon": "2/5"}),
    trials=200,
)
def _(x: Instance) -> Slack:
    eta = beta(x.m, x.epsilon) / x.a
    assume(eta < 1.0)
    bend = min(x.a, (1.0 + 0.5 * SPREAD * x.epsilon) / (1.0 - eta)) ** 2
    return at_least((1.0 - bend / (2.0 * x.a**2)) / x.a**2, 3.0 / 16.0, "constant")


@SOURCE.claim("Eq13-sharper", space=CAPPED_RUNS.but(epsilon=Real(0.1, 1 / 3, log=True))).checked(
    trials=20
)
def totally_sharper(x: Instance) -> Slacks:
    """Proof. The update gains at least what any step gains, by step 2 of `L12-sharper`
    ηs − η²V/(2β). With η = 4βs/9, which is at most 8β/9, V ≤ 9/4 (step 1), and this is 2βs²/9 and
    more.
    """
    run = totally_corrective_run(x)
    for t, now in enumerate(run.trace, 1):
        least = 2.0 / 9.0 * beta(len(x.A), x.epsilon) * now.slope**2
        yield at_least(now.best - now.value, least, "gain", t)
    yield at_most(run.rounds, 18.0 * math.log(len(x.A)) / x.epsilon**2, "rounds")


@totally_sharper.step(
    "For ε ≤ 1/3 and this step the variance is at most 9/4.",
    "((1 + .482 ε)/(1 − 8β/9))² ≤ 9/4",
    space=Space(m=Whole(2, 50), epsilon=Real(0.01, 1 / 3)).including({"m": 2, "epsilon": "1/3"}),
)
def _(x: Instance) -> Slack:
    deviation = (1.0 + 0.5 * SPREAD * x.epsilon) / (1.0 - 8.0 / 9.0 * beta(x.m, x.epsilon))
    return at_most(deviation**2, 9.0 / 4.0, "variance")

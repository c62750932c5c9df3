"""SS09, Secs. 5.1 and 5.2: a sharper form of Lemma 12, whose gain is 1.5 times as large."""

import math

import numpy as np

from relaxboost.claims.language import *
from relaxboost.claims.ss09 import SOURCE
from relaxboost.claims.ss09.smooth import CAPPED_RUNS, Fig1Run, beta, distribution, smooth

SPREAD = 0.964
"""An upper bound on the standard deviation of log d under d, in units of log m."""


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
    log_d = x.theta - np.logaddexp.reduce(x.theta)
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

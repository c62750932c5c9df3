"""SS09, Sec. 5: the accuracy and the number of rounds of the algorithm of Fig. 1."""

import math

import numpy as np
from scipy.special import lambertw

from relaxboost.claims.language import *
from relaxboost.claims.ss09 import SOURCE
from relaxboost.claims.ss09.smooth import (
    CAPPED_RUNS,
    F_GIVEN,
    FAMILY_RUNS,
    F,
    Fig1Run,
    beta,
    distribution,
    f_of,
    fig1,
    game,
    margin,
    smooth,
    smoothed_game,
)
from relaxboost.game.game import Game

GAMES = CAPPED_RUNS.but(epsilon=Real(0.05, 0.5, log=True))
VOTES = CAPPED_RUNS.but(w=Weights())
MARGINS = Space(
    u=Vector("m", -1.0, 1.0), beta=Real(0.02, 2.0, log=True), k=Whole(1, "m")
).including({"u": [0, 1], "beta": "1/20", "k": 1})
_ERROR = "ρ − margin of w_t"


def _bound(x: Instance) -> float:
    return 32.0 * math.log(len(x.A)) / x.epsilon**2  # The paper bounds the rounds by 32 log(m)/ε².


def smoothing_costs(x: Instance) -> Slack:
    """Return the slack of <d, Aw> ≤ F(Aw) + β log(m/k) for the weights w of an instance.

    The relaxed margin F(u) is the minimum of <d, u> over distributions d ≤ 1/k on m examples. In
    the inequality, d minimises <d, Aw> plus β times its relative entropy, under the same cap.
    """
    u = x.A @ x.w
    smoothing = beta(len(x.A), x.epsilon)
    mean = float(distribution(u, x.k, smoothing)[0] @ u)
    most = smoothing * math.log(len(u) / x.k)
    return at_most(mean, float(margin(u, x.k)) + most, "<d, Aw> and F(Aw)")


@SOURCE.claim("remark-approximate", space=CAPPED_RUNS.but(delta=Real(0.0, 0.5))).checked(trials=40)
def nearly_best(x: Instance) -> Slacks:
    run = Fig1Run(x, delta=x.delta)
    rho = x.optimum(game(x))
    for t, (u, gap) in enumerate(zip(run.u, run.slope, strict=True), 1):
        most = float(gap) + x.delta + 0.5 * x.epsilon
        yield at_most(rho - float(margin(u, x.k)), most, "error", t)
    for t, gain in enumerate(np.diff(run.D)):
        yield at_least(float(gain), run.beta * float(run.slope[t]) ** 2 / 8.0, "gain", t + 1)
    yield at_most(len(run.rounds), 8.0 / (run.beta * x.epsilon**2) + 1.0, "rounds")


nearly_best.step(space=VOTES)(smoothing_costs)


@SOURCE.claim("T9", space=GAMES).checked(trials=30)
def accuracy(x: Instance) -> Slack:
    run = Fig1Run(x)
    return at_most(error(x, run.u[-1]), x.epsilon, _ERROR, len(run.rounds))


@accuracy.corrected()
def accuracy_half_more(x: Instance) -> Slacks:
    run = Fig1Run(x)
    bound = float(run.slope[-1]) + run.beta * math.log(run.m / x.k)
    yield at_most(error(x, run.u[-1]), bound, _ERROR, len(run.rounds))
    yield at_most(bound, 1.5 * x.epsilon, "gap + β log(m/k)", len(run.rounds))


@accuracy.corrected()
def accuracy_half_gap(x: Instance) -> Slacks:
    run = Fig1Run(x, to_gap=0.5 * x.epsilon)
    bracket = float(np.max(np.abs(run.d[-1] @ x.A)) - margin(run.u[-1], x.k))
    yield at_most(error(x, run.u[-1]), bracket, _ERROR, len(run.rounds))
    yield at_most(bracket, x.epsilon, "bracket without smoothing", len(run.rounds))
    yield at_most(len(run.rounds), 2.0 * _bound(x), "rounds")


def error(x: Instance, u: Array) -> float:
    """Return the error ρ − F(u): the game value minus the relaxed margin at u = Aw."""
    return float(x.optimum(game(x)).middle - margin(u, x.k, f_of(x)))


@accuracy_half_more.step(space=MARGINS)
def _(x: Instance) -> Slacks:
    rough, fine = float(margin(x.u, x.k)), float(smooth(x.u, x.k, x.beta))
    yield at_least(fine, rough, "−f̂*(−u)")
    yield at_most(fine, rough + x.beta * math.log(len(x.u) / x.k), "−f̂*(−u)")


accuracy_half_gap.step(space=VOTES)(smoothing_costs)


@SOURCE.claim(
    "T9-family",
    given="A in [−1, 1]^(m×n), m ≥ 2, 0 < ε ≤ 1; " + F_GIVEN,
    space=GAMES.but(f=F),
).checked(trials=12)
def family(x: Instance) -> Slacks:
    yield from accuracy(x)


@family.corrected()
def family_half_more(x: Instance) -> Slacks:
    for gap, most in ((x.epsilon, 1.5 * x.epsilon), (0.5 * x.epsilon, x.epsilon)):
        run = Fig1Run(x, to_gap=gap)
        short = error(x, run.u[-1])
        bound = float(run.slope[-1]) + run.beta * math.log(run.m)
        yield at_most(short, bound, _ERROR, len(run.rounds))
        yield at_most(short, most, _ERROR, len(run.rounds))
        yield at_most(len(run.rounds), 2.0 * _bound(x), "rounds")


@family_half_more.step(
    space=Space(u=Vector("m", -1.0, 1.0), beta=Real(0.02, 2.0, log=True), k=Whole(1, "m"), f=F),
    trials=100,
)
def _(x: Instance) -> Slacks:
    rough, fine = (float(each) for each in (margin(x.u, x.k, x.f), smooth(x.u, x.k, x.beta, x.f)))
    yield at_least(fine, rough, "−f̂*(−u)")
    yield at_most(fine, rough + x.beta * math.log(len(x.u)), "−f̂*(−u)")


def lambert(y: float) -> float:
    """Return Lambert's W(y) for y ≥ 0, the solution W of W e^W = y."""
    return float(lambertw(y).real)


@SOURCE.claim(
    "T9-many-rows",
    space=Space(
        m=Whole(2, 10_000), c=Real(0.05, 1.0), b=Real(0.0, 1.0), epsilon=Real(0.1, 1.0, log=True)
    ),
).checked(trials=30)
def many_rows(x: Instance, corrected: bool = False) -> Slack:
    A = _two_columns(x, x.c)
    last = fig1(Game(A), x.epsilon)[-1]
    cost = beta(x.m, x.epsilon) * lambert((x.m - 1) / math.e)
    most = min(last.gap, x.epsilon) + cost if corrected else x.epsilon
    return at_most(x.c - float(np.min(A @ last.w)), most, _ERROR, last.number)


def _two_columns(x: Instance, c: float) -> Array:
    A = np.ones((x.m, 2))
    A[:, 0] = c
    A[0, 1] = -x.b
    return A


many_rows_lambert = many_rows.corrected()(lambda x: many_rows(x, True))


@many_rows_lambert.step(
    space=MARGINS.but(k=Whole(1, 1)).including({"u": [0, 1.2784645427610738], "beta": 1, "k": 1})
)
def _(x: Instance) -> Slacks:
    most, least = lambert((len(x.u) - 1) / math.e), float(np.min(x.u))
    mean = float(distribution(x.u, 1, x.beta)[0] @ x.u)
    yield at_most(mean - least, x.beta * most, "<d, u> − min u")
    for s in (x.u - least) / x.beta:
        yield at_most(float((s - most) * math.exp(-s)), math.exp(-1.0 - most), "one term")


@many_rows_lambert.step(
    space=Space(
        m=Whole(2, 100_000), b=Real(-0.9, 1.0), epsilon=Real(0.05, 1.0, log=True)
    ).including({"m": 100_000, "b": 0, "epsilon": "1/10"}),
    trials=30,
)
def _(x: Instance) -> Slacks:
    W = lambert((x.m - 1) / math.e)
    smoothing = beta(x.m, x.epsilon)
    c = (W - x.b) / (1.0 + W)
    s = smoothing * (1.0 + W) / (1.0 + x.b)
    assume(0.0 < c < 1.0 and s <= 1.0)
    A = _two_columns(x, c)
    u = A @ np.array([1.0 - s, s])
    d = np.exp(-(u - u.min()) / smoothing)
    edges = d @ A / d.sum()
    yield equal(float(edges.max()), c, "largest edge and ρ")
    yield equal(float(edges.max() - d @ u / d.sum()), 0.0, "gap")
    yield equal(c - float(u.min()), smoothing * W, "error, βW")
    yield at_most(c - float(u.min()), 0.5 * x.epsilon, "error")


@SOURCE.claim(
    "T9-rounds", given="A in [−1, 1]^(m×n), m ≥ 2, 0 < ε ≤ 1; " + F_GIVEN, space=GAMES.but(f=F)
).checked(trials=24)
def rounds(x: Instance) -> Slack:
    return at_most(len(Fig1Run(x).rounds), _bound(x), "rounds")


@rounds.step(space=FAMILY_RUNS, trials=10)
def _(x: Instance) -> Slacks:
    run = Fig1Run(x, max_rounds=100)
    most = x.optimum(smoothed_game(x))
    for t, value in enumerate(run.D, 1):
        yield at_most(most - float(value), 8.0 / (run.beta * (t + 1)), "ε_t", t)


@SOURCE.claim(
    "T9-rounds-worst",
    space=Space(m=Whole(2, 100), epsilon=Real(0.05, 0.1, log=True)).including(
        {"m": 100, "epsilon": "9/400"}
    ),
).checked(trials=6)
def rounds_worst(x: Instance) -> Slacks:
    limit = (2.0 - 2.0 / x.m) ** 2 / beta(x.m, x.epsilon) / x.epsilon
    found = slowest(x.m, x.epsilon)
    yield at_most(found, 32.0 * math.log(x.m) / x.epsilon**2, "rounds")
    yield at_most(found, limit + 2.0, "rounds, and their limit")


def slowest(m: int, epsilon: float) -> int:
    """Return the rounds of Fig. 1 on the m × m matrix with 1 on the diagonal and −1 elsewhere."""
    smoothing = beta(m, epsilon)
    w = np.zeros(m)  # All columns enter with the sign −1, so these are the weights of 1 − 2I.
    t = 0
    while True:
        t += 1
        least = float(w.sum()) - 2.0 * float(w.max())
        u = float(w.sum()) - 2.0 * w
        d = np.exp((least - u) / smoothing)
        d /= float(d.sum())
        j = int(d.argmin())
        gap = 1.0 - 2.0 * float(d[j]) - float(d @ u)
        if gap <= epsilon:
            return t
        size = max(1.0 - least, abs(1.0 + float(u[j])), float(u.max()) - 1.0)
        eta = min(1.0, smoothing * gap / size**2)
        w *= 1.0 - eta
        w[j] += eta


@SOURCE.claim("T9-rounds-open", space=GAMES).checked(trials=30)
def half_the_rounds(x: Instance) -> Slack:
    bound = 0.5 * _bound(x)
    return at_most(len(fig1(game(x), x.epsilon, max_rounds=math.ceil(bound) + 2)), bound, "rounds")


@SOURCE.claim(
    "T9-capped",
    space=CAPPED_RUNS.but(sizes={"m": (2, 24), "n": (1, 5)}).including(
        {"A": [[1]] * 17, "k": 16, "epsilon": "99/100"}
    ),
).checked(trials=40)
def capped(x: Instance) -> Slacks:
    assume(x.k < len(x.A))
    range_ = math.log(len(x.A) / x.k)
    smoothing = x.epsilon / (2.0 * range_)
    run = Fig1Run(x, smoothing=smoothing)
    yield at_most(error(x, run.u[-1]), 1.5 * x.epsilon, _ERROR, len(run.rounds))
    yield at_most(len(run.rounds), max(2.0, 32.0 * range_ / x.epsilon**2), "rounds")
    further = Fig1Run(x, smoothing=smoothing, to_gap=0.5 * x.epsilon)
    yield at_most(error(x, further.u[-1]), x.epsilon, "error, gap ≤ ε/2", len(further.rounds))

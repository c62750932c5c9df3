"""SS09, Sec. 5: Theorem 9, what Fig. 1 returns and after how many rounds."""

import math

import numpy as np

from relaxboost.claims.language import *
from relaxboost.claims.ss09.runs import beta, fig1
from relaxboost.claims.ss09.smooth import (
    CAPPED_RUNS,
    F_GIVEN,
    FAMILY_RUNS,
    F,
    Fig1Run,
    distribution,
    game,
    margin,
    smooth,
    smoothed_game,
)
from relaxboost.claims.ss09.source import SOURCE
from relaxboost.game.game import Game

GAMES = CAPPED_RUNS.but(epsilon=Real(0.05, 0.5, log=True))
MARGINS = Space(
    u=Vector("m", -1.0, 1.0), beta=Real(0.02, 2.0, log=True), k=Whole(1, "m")
).including({"u": [0, 1], "beta": "1/20", "k": 1})
_ERROR = "ρ − margin of w_t"


@SOURCE.claim("T9", space=GAMES).checked(trials=30)
def accuracy(x: Instance) -> Slack:
    run = Fig1Run(x)
    return at_most(_errors(x, run)[-1], x.epsilon, _ERROR, len(run.rounds))


@accuracy.corrected()
def accuracy_half_more(x: Instance) -> Slacks:
    run = Fig1Run(x)
    bound = float(run.slope[-1]) + run.beta * math.log(run.m / x.k)
    yield at_most(_errors(x, run)[-1], bound, _ERROR, len(run.rounds))
    yield at_most(bound, 1.5 * x.epsilon, "gap + β log(m/k)", len(run.rounds))


@accuracy.corrected()
def accuracy_lambert(x: Instance) -> Slacks:
    assume(x.k == 1)
    run = Fig1Run(x)
    for t, error in enumerate(_errors(x, run)):
        bound = float(run.slope[t]) + run.beta * lambert((run.m - 1) / math.e)
        yield at_most(error, bound, _ERROR, t + 1)


@accuracy.corrected()
def accuracy_half_gap(x: Instance) -> Slacks:
    run = Fig1Run(x, to_gap=0.5 * x.epsilon)
    yield at_most(_errors(x, run)[-1], x.epsilon, _ERROR, len(run.rounds))
    yield at_most(len(run.rounds), 64.0 * math.log(run.m) / x.epsilon**2, "rounds")


@accuracy.corrected()
def accuracy_bracket(x: Instance) -> Slacks:
    run = Fig1Run(x, stop=lambda now: now.upper - now.lower <= x.epsilon)
    yield at_most(_errors(x, run)[-1], x.epsilon, _ERROR, len(run.rounds))
    yield at_most(len(run.rounds), 64.0 * math.log(run.m) / x.epsilon**2, "rounds")


@accuracy_half_more.step(space=MARGINS)
def _(x: Instance) -> Slacks:
    rough, fine = float(margin(x.u, x.k)), float(smooth(x.u, x.k, x.beta))
    yield at_least(fine, rough, "−f̂*(−u)")
    yield at_most(fine, rough + x.beta * math.log(len(x.u) / x.k), "−f̂*(−u)")


@accuracy_lambert.step(space=MARGINS.including({"u": [0, 1.2784645427610738], "beta": 1, "k": 1}))
def _(x: Instance) -> Slacks:
    most, least = lambert((len(x.u) - 1) / math.e), float(np.min(x.u))
    mean = float(distribution(x.u, 1, x.beta)[0] @ x.u)
    yield at_most(mean - least, x.beta * most, "<d, u> − min u")
    for s in (x.u - least) / x.beta:
        yield at_most(float((s - most) * math.exp(-s)), math.exp(-1.0 - most), "one term")


@accuracy_half_gap.step(space=Space(m=Whole(2, 100), epsilon=Real(0.01, 1.0, log=True)))
def _(x: Instance) -> Slack:
    smoothing, half = beta(x.m, x.epsilon), 0.5 * x.epsilon
    total = (8.0 / (smoothing * half) - 1.0) + half / (smoothing * half**2 / 8.0) + 1.0
    return equal(total * x.epsilon**2 / math.log(x.m), 64.0, "rounds ε²/log m")


@accuracy_bracket.step(space=CAPPED_RUNS.but(w=Weights()))
def _(x: Instance) -> Slack:
    u, smoothing = x.A @ x.w, beta(len(x.A), x.epsilon)
    mean = float(distribution(u, x.k, smoothing)[0] @ u)
    most = smoothing * math.log(len(u) / x.k)
    return at_most(mean - float(margin(u, x.k)), most, "<d, Aw> − F(Aw)")


def _errors(x: Instance, run: Fig1Run) -> list[float]:
    """Return ρ − F(Aw_t) for every round."""
    rho = x.optimum(game(x))
    return [float(rho.middle - value) for value in margin(run.u, x.k, run.f)]


def lambert(y: float) -> float:
    """Return W(y), the W with W e^W = y, for y ≥ 0, by Newton's method from above."""
    w = math.log1p(y)
    for _ in range(60):
        w -= (w * math.exp(w) - y) / (math.exp(w) * (w + 1.0))
    return w


@SOURCE.claim(
    "T9-family",
    printed=accuracy.printed,
    given="A in [−1, 1]^(m×n), m ≥ 2, 0 < ε ≤ 1; " + F_GIVEN,
    space=GAMES.but(f=F),
    counterexamples=[
        {
            "A": [["9/10", "7/10"], ["-1/2", "1/5"]],
            "k": 1,
            "f": "first weight",
            "epsilon": "1/5",
        },
        {"A": [["-4/5", "-9/10"], ["3/5", 0]], "k": 2, "f": "max norm", "epsilon": "1/10"},
        {
            "A": [["1/2", "-1/10"]] + [["1/2", 1]] * 4,
            "k": 2,
            "f": "Euclidean ball",
            "epsilon": "3/10",
        },
        {"A": [[-1, 0], ["-1/10", "2/5"]], "k": 1, "f": "square", "epsilon": "1/10"},
        {
            "A": [["7/20", "-9/10"]] + [["7/20", 1]] * 7,
            "k": 1,
            "f": "entropic",
            "epsilon": "3/10",
        },
    ],
).checked(trials=20)
def family(x: Instance) -> Slack:
    run = Fig1Run(x)
    return at_most(_errors(x, run)[-1], x.epsilon, _ERROR, len(run.rounds))


@family.corrected()
def family_half_more(x: Instance) -> Slacks:
    for gap, most in ((x.epsilon, 1.5 * x.epsilon), (0.5 * x.epsilon, x.epsilon)):
        run = Fig1Run(x, to_gap=gap)
        error, bound = _errors(x, run)[-1], float(run.slope[-1]) + run.beta * math.log(run.m)
        yield at_most(error, bound, _ERROR, len(run.rounds))
        yield at_most(error, most, _ERROR, len(run.rounds))
        yield at_most(len(run.rounds), 64.0 * math.log(run.m) / x.epsilon**2, "rounds")


@family_half_more.step(
    space=Space(u=Vector("m", -1.0, 1.0), beta=Real(0.02, 2.0, log=True), k=Whole(1, "m"), f=F),
    trials=100,
)
def _(x: Instance) -> Slacks:
    rough, fine = (float(each) for each in (margin(x.u, x.k, x.f), smooth(x.u, x.k, x.beta, x.f)))
    yield at_least(fine, rough, "−f̂*(−u)")
    yield at_most(fine, rough + x.beta * math.log(len(x.u)), "−f̂*(−u)")


@SOURCE.claim(
    "T9-many-rows",
    space=Space(
        m=Whole(2, 10_000), c=Real(0.05, 1.0), b=Real(0.0, 1.0), epsilon=Real(0.1, 1.0, log=True)
    ),
).checked(trials=60)
def many_rows(x: Instance, corrected: bool = False) -> Slacks:
    A = np.ones((x.m, 2))
    A[:, 0], A[0, 1] = x.c, -x.b
    last = fig1(Game(A), x.epsilon)[-1]
    error = x.c - float(np.min(A @ last.w))
    if not corrected:
        yield at_most(error, x.epsilon, _ERROR, last.number)
        return
    smoothing = beta(x.m, x.epsilon) * lambert((x.m - 1) / math.e)
    yield at_most(error, last.gap + smoothing, _ERROR, last.number)
    yield at_most(error, x.epsilon + smoothing, _ERROR, last.number)


@many_rows.corrected()
def many_rows_lambert(x: Instance) -> Slacks:
    yield from many_rows(x, True)


@SOURCE.claim(
    "T9-rounds", given="A in [−1, 1]^(m×n), m ≥ 2, 0 < ε ≤ 1; " + F_GIVEN, space=GAMES.but(f=F)
).checked(trials=60)
def rounds(x: Instance) -> Slack:
    bound = 32.0 * math.log(len(x.A)) / x.epsilon**2
    return at_most(len(Fig1Run(x, max_rounds=math.ceil(bound) + 2).rounds), bound, "rounds")


@rounds.step(space=FAMILY_RUNS, trials=20)
def _(x: Instance) -> Slacks:
    run = Fig1Run(x, max_rounds=100)
    for t, gain in enumerate(np.diff(run.D)):
        slope, size = float(run.slope[t]), float(np.max(np.abs(run.v[t])))
        yield at_least(float(gain), run.beta * slope**2 / (2.0 * size**2), "gain", t + 1)
        yield at_most(size, 2.0, "‖v‖_∞", t + 1)


@rounds.step(space=FAMILY_RUNS, trials=10)
def _(x: Instance) -> Slacks:
    run, most = Fig1Run(x, max_rounds=100), x.optimum(smoothed_game(x))
    for t, value in enumerate(run.D, 1):
        yield at_most(most - float(value), 8.0 / (run.beta * (t + 1)), "ε_t", t)


@rounds.step(space=Space(m=Whole(2, 100), epsilon=Real(0.01, 1.0, log=True)))
def _(x: Instance) -> Slack:
    unit = math.log(x.m) / x.epsilon**2
    phase = 8.0 / (beta(x.m, x.epsilon) * x.epsilon)
    return equal(((phase - 1.0) + phase + 1.0) / unit, 32.0, "rounds ε²/log m")


@SOURCE.claim(
    "T9-rounds-worst",
    space=Space(m=Whole(2, 100), epsilon=Real(0.05, 0.1, log=True)).including(
        {"m": 100, "epsilon": "9/400"}
    ),
).checked(trials=6)
def rounds_worst(x: Instance) -> Slacks:
    limit = (2.0 - 2.0 / x.m) ** 2 / beta(x.m, x.epsilon) / x.epsilon
    found = _slowest(x.m, x.epsilon)
    yield at_most(found, 32.0 * math.log(x.m) / x.epsilon**2, "rounds")
    yield at_most(found, limit + 2.0, "rounds, and their limit")


def _slowest(m: int, epsilon: float) -> int:
    """Return the rounds of Fig. 1 on A = 2I − 1, whose columns all enter with the sign −1."""
    smoothing, t = beta(m, epsilon), 0
    w = np.zeros(m)  # of −A, which is 1 − 2I
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
    bound = 16.0 * math.log(len(x.A)) / x.epsilon**2
    return at_most(len(fig1(game(x), x.epsilon, max_rounds=math.ceil(bound) + 2)), bound, "rounds")


@SOURCE.claim("T9-phases", given=F_GIVEN + "; 0 < ε ≤ 1", space=FAMILY_RUNS).checked(trials=20)
def phases(x: Instance) -> Slacks:
    run = Fig1Run(x)
    most = x.optimum(smoothed_game(x))
    late = float(most.upper) - x.epsilon <= run.D
    one, two = int(np.sum(~late)), int(np.sum(late & (run.slope > x.epsilon)))
    yield at_most(one, 8.0 / (run.beta * x.epsilon) - 1.0, "first phase")
    yield at_most(two, 8.0 / (run.beta * x.epsilon), "second phase")
    for t in np.flatnonzero(late[:-1]):
        gain = float(run.D[t + 1] - run.D[t])
        yield at_most(run.beta * float(run.slope[t]) ** 2 / 8.0, gain, "gain", int(t) + 1)


@SOURCE.claim(
    "T9-capped",
    space=CAPPED_RUNS.but(sizes={"m": (2, 24), "n": (1, 5)}).including(
        {"A": [[1]] * 17, "k": 16, "epsilon": "99/100"}
    ),
).checked(trials=60)
def capped(x: Instance) -> Slacks:
    assume(x.k < len(x.A))
    range_ = math.log(len(x.A) / x.k)
    smoothing = x.epsilon / (2.0 * range_)
    run = Fig1Run(x, smoothing=smoothing)
    yield at_most(_errors(x, run)[-1], 1.5 * x.epsilon, _ERROR, len(run.rounds))
    yield at_most(len(run.rounds), max(2.0, 32.0 * range_ / x.epsilon**2), "rounds")
    further = Fig1Run(x, smoothing=smoothing, to_gap=0.5 * x.epsilon)
    yield at_most(_errors(x, further)[-1], x.epsilon, "error, gap ≤ ε/2", len(further.rounds))

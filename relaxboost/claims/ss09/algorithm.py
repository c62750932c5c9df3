"""SS09, Sec. 5: Theorem 9, what Fig. 1 returns and after how many rounds."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from relaxboost.claims import Instance, Real, Slack, Space, Whole, assume, at_most
from relaxboost.claims.ss09.runs import beta, fig1
from relaxboost.claims.ss09.smooth import CAPPED_RUNS, Fig1Run, game, margin, smoothed_game
from relaxboost.claims.ss09.source import SOURCE
from relaxboost.game.game import Game

GAMES = CAPPED_RUNS.but(epsilon=Real(0.05, 0.5, log=True))
_ERROR = "ρ − margin of w_t"


@SOURCE.claim(
    "T9",
    "Theorem 9, accuracy",
    "Fig. 1, stopped by its own test, returns an ε-accurate w.",
    formula="max_γ (γ − f*([γ − A w_t]_+)) ≥ ρ − ε",
    given="A in [−1, 1]^(m×n), 0 < ε ≤ 1; f the indicator of ‖d‖_∞ ≤ 1/k; k = 1: hard margin",
    space=GAMES,
    counterexamples=[
        {"A": [["1/10", "9/10"], ["-3/5", 0]], "k": 1, "epsilon": "3/10"},
        {"A": [["9/10", "2/5"], ["-2/5", "1/10"]], "k": 1, "epsilon": "1/10"},
        {
            "A": [["-3/5", "-1/25"], [0, "7/25"], ["-3/5", "22/25"], ["-3/5", "24/25"]],
            "k": 2,
            "epsilon": "1/5",
        },
        {
            "A": [
                [1, -1, -1, -1, -1, 1],
                [1, 1, -1, -1, -1, -1],
                [1, 1, -1, -1, 1, -1],
                [-1, -1, -1, -1, 1, 1],
                [-1, -1, 1, -1, -1, -1],
                [-1, 1, 1, 1, -1, 1],
                [1, 1, 1, -1, 1, -1],
            ],
            "k": 1,
            "epsilon": "1/10",
        },
    ],
).checked(trials=30)
def accuracy(x: Instance) -> Slack:
    """The test bounds the gap of the *smoothed* problem, which is up to ε/2 from the other one.

    The proof shows ε_t ≤ ε/2 after 32 log(m)/ε² rounds, but the test stops before.
    """
    run = Fig1Run(x)
    return at_most(_errors(x, run)[-1], x.epsilon, _ERROR, len(run.rounds))


@accuracy.corrected(
    "The error is at most gap + β log(m/k), and so at most 3ε/2.",
    "ρ − max_γ (...) ≤ <d_t, A(e^{j_t} − w_t)> + β log(m/k) ≤ 3ε/2",
)
def accuracy_half_more(x: Instance) -> Iterator[Slack]:
    """The smoothed gap is at most ε; h is between 0 and log(m/k) where no d_i exceeds 1/k."""
    run = Fig1Run(x)
    bound = float(run.slope[-1]) + run.beta * math.log(run.m / x.k)
    yield at_most(_errors(x, run)[-1], bound, _ERROR, len(run.rounds))
    yield at_most(bound, 1.5 * x.epsilon, "gap + β log(m/k)", len(run.rounds))


@accuracy.corrected(
    "For the hard margin the error is at most gap + β W((m−1)/e), in every round.",
    "ρ − min_i (Aw_t)_i ≤ <d_t, A(e^{j_t} − w_t)> + β W((m−1)/e), W e^W = (m−1)/e",
)
def accuracy_lambert(x: Instance) -> Iterator[Slack]:
    """ρ ≤ ‖Aᵀd_t‖_∞, so that the error is at most gap + <d_t, u> − min u for u = Aw_t.

    With d_t ∝ e^{−u/β} the last difference is largest where all u_i but one are equal and
    β(1 + W) above it, W e^W = (m−1)/e; there it is βW.
    """
    assume(x.k == 1)
    run = Fig1Run(x)
    for t, error in enumerate(_errors(x, run)):
        bound = float(run.slope[t]) + run.beta * lambert((run.m - 1) / math.e)
        yield at_most(error, bound, _ERROR, t + 1)


@accuracy.corrected(
    "With the test gap ≤ ε/2 the returned w is ε-accurate, after at most 64 log(m)/ε² rounds.",
    "<d_t, A(e^{j_t} − w_t)> ≤ ε/2 ⇒ max_γ (...) ≥ ρ − ε",
)
def accuracy_half_gap(x: Instance) -> Iterator[Slack]:
    """ε_t ≤ ε/2, and the smoothing costs ε/2. The two phases of `T9-phases` with ε/2 for ε."""
    run = Fig1Run(x, to_gap=0.5 * x.epsilon)
    yield at_most(_errors(x, run)[-1], x.epsilon, _ERROR, len(run.rounds))
    yield at_most(len(run.rounds), 64.0 * math.log(run.m) / x.epsilon**2, "rounds")


@accuracy.corrected(
    "With a test of the unsmoothed bracket the returned w is ε-accurate, after as many rounds.",
    "f(d_t) + ‖Aᵀd_t‖_∞ − max_γ (...) ≤ ε ⇒ max_γ (...) ≥ ρ − ε",
)
def accuracy_bracket(x: Instance) -> Iterator[Slack]:
    """Weak duality without smoothing. The bracket is at most gap + ε/2, so the rounds suffice."""
    run = Fig1Run(x, stop=lambda now: now.upper - now.lower <= x.epsilon)
    yield at_most(_errors(x, run)[-1], x.epsilon, _ERROR, len(run.rounds))
    yield at_most(len(run.rounds), 64.0 * math.log(run.m) / x.epsilon**2, "rounds")


def _errors(x: Instance, run: Fig1Run) -> list[float]:
    """Return ρ − F(Aw_t) for every round."""
    rho = x.optimum(game(x))
    return [float(rho.middle - value) for value in margin(run.u, x.k)]


def lambert(y: float) -> float:
    """Return W(y), the W with W e^W = y, for y ≥ 0, by Newton's method from above."""
    w = math.log1p(y)
    for _ in range(60):
        w -= (w * math.exp(w) - y) / (math.exp(w) * (w + 1.0))
    return w


@SOURCE.claim(
    "T9-many-rows",
    "Theorem 9, accuracy, for many examples",
    "Fig. 1 returns an ε-accurate w, however many examples there are.",
    formula="min_i (Aw_t)_i ≥ ρ − ε; A = [[c, −b], [c, 1], ..., [c, 1]], for which ρ = c",
    given="m rows, 0 < c < 1, 0 ≤ b ≤ 1, ε > 0",
    space=Space(
        m=Whole(2, 10_000), c=Real(0.05, 1.0), b=Real(0.0, 1.0), epsilon=Real(0.1, 1.0, log=True)
    ),
    counterexamples=[
        {"m": 10, "c": "7/25", "b": "71/100", "epsilon": "23/100"},
        {"m": 100, "c": "18/25", "b": "7/25", "epsilon": "3/5"},
        {"m": 10_000, "c": "43/50", "b": "1/4", "epsilon": "17/25"},
    ],
).checked(trials=60)
def many_rows(x: Instance, corrected: bool = False) -> Iterator[Slack]:
    """The second column fits all examples but one, and the test stops before that one weighs much.

    The error over ε can come near 1 + W((m−1)/e)/(2 log m), which tends to 3/2.
    """
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


@many_rows.corrected(
    "The error is at most gap + β W((m−1)/e), which this family attains but for some 1e-4.",
    "ρ − min_i (Aw_t)_i ≤ <d_t, A(e^{j_t} − w_t)> + β W((m−1)/e) ≤ ε (1 + W((m−1)/e)/(2 log m))",
)
def many_rows_lambert(x: Instance) -> Iterator[Slack]:
    """As for `T9`: attained where all margins but one are equal, as they are here."""
    yield from many_rows(x, True)


@SOURCE.claim(
    "T9-rounds",
    "Theorem 9, rounds",
    "Fig. 1 terminates within 32 log(m)/ε² rounds.",
    formula="t ≤ 32 log(m)/ε²",
    given="A in [−1, 1]^(m×n), m ≥ 2, 0 < ε ≤ 1; f the indicator of ‖d‖_∞ ≤ 1/k",
    space=GAMES,
)
def rounds(x: Instance) -> Slack:
    """The proof bounds ε_t, and not the gap that the figure tests.

    It takes the two phases of `T9-phases` to bound the rounds until the test is met.
    """
    bound = 32.0 * math.log(len(x.A)) / x.epsilon**2
    return at_most(len(fig1(game(x), x.epsilon, max_rounds=math.ceil(bound) + 2)), bound, "rounds")


@SOURCE.claim(
    "T9-rounds-worst",
    "Theorem 9, rounds, on the slowest games known",
    "Fig. 1 terminates within 32 log(m)/ε² rounds.",
    formula="t ≤ 32 log(m)/ε²; A = 2I − 1, with 1 on the diagonal and −1 elsewhere",
    given="m ≥ 2, 0 < ε ≤ 1",
    space=Space(m=Whole(2, 100), epsilon=Real(0.06, 0.1, log=True)),
).checked(trials=6)
def rounds_worst(x: Instance) -> Slack:
    """The more accurate, the more of the bound is used.

    For m = 100 it is .192 of it with ε = .06, .206 with ε = .04 and .222 with ε = .02.
    """
    bound = 32.0 * math.log(x.m) / x.epsilon**2
    return at_most(len(fig1(Game(2.0 * np.eye(x.m) - 1.0), x.epsilon)), bound, "rounds")


@SOURCE.claim(
    "T9-phases",
    "Theorem 9, rounds; a proof",
    "At most 8/(βε) rounds pass until ε_t ≤ ε, and fewer than 8/(βε) more until gap ≤ ε.",
    formula="max {t: ε_t > ε} ≤ 8/(βε) − 1, #{t: ε_t ≤ ε < gap_t} < 8/(βε), 16/(βε) = 32 log(m)/ε²",
    given="f the indicator of ‖d‖_∞ ≤ 1/k, 0 < ε ≤ 1",
    space=CAPPED_RUNS,
).checked(trials=20)
def phases(x: Instance) -> Iterator[Slack]:
    """ε_t ≤ 8/(β(t+1)); then each round with gap > ε gains β gap²/8 > βε²/8 of at most ε.

    The text has the first phase only, with ε/2 for ε, and tests the gap.
    """
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
    "Theorem 9, for the soft margin (sharper than stated)",
    "On the capped simplex β = ε/(2 log(mν)) suffices.",
    formula="error ≤ 3ε/2, t ≤ max(2, 32 log(mν)/ε²), and error ≤ ε with the test gap ≤ ε/2",
    given="f the indicator of ‖d‖_∞ ≤ ν = 1/k, 1 ≤ k < m, 0 < ε ≤ 1",
    space=CAPPED_RUNS.but(sizes={"m": (2, 24), "n": (1, 5)}),
).checked(trials=60)
def capped(x: Instance) -> Iterator[Slack]:
    """0 ≤ h(d) ≤ log(mν) where no d_i exceeds ν, so that βh is at most ε/2 there.

    The 2: for a small range β is large and the first step is η = 1, as for A = (1, ..., 1) with
    m = 17, k = 16 and ε = .99, where 32 log(mν)/ε² = 1.98. With η = 1 in Eq. 12 ε_2 ≤ 2/β, which
    is below ε/2 where 16/(βε) < 4; else the two phases of `T9-phases` apply.
    """
    assume(x.k < len(x.A))
    range_ = math.log(len(x.A) / x.k)
    smoothing = x.epsilon / (2.0 * range_)
    run = Fig1Run(x, smoothing=smoothing)
    yield at_most(_errors(x, run)[-1], 1.5 * x.epsilon, _ERROR, len(run.rounds))
    yield at_most(len(run.rounds), max(2.0, 32.0 * range_ / x.epsilon**2), "rounds")
    further = Fig1Run(x, smoothing=smoothing, to_gap=0.5 * x.epsilon)
    yield at_most(_errors(x, further)[-1], x.epsilon, "error, gap ≤ ε/2", len(further.rounds))

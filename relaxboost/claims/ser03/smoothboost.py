"""SmoothBoost: the number of its rounds, the margins it leaves, and how smooth it is."""

import math

import numpy as np

from relaxboost.claims.language import *
from relaxboost.claims.ser03.source import SOURCE
from relaxboost.game.game import Game
from relaxboost.relaxations import Capped
from relaxboost.solvers.boosters.smoothboost import SmoothBoostRun
from relaxboost.solvers.rounds import Rounds

UNSEEN = "JMLR 4:633-648; the text is not at hand, the numbers are as later software quotes them"
GAMES = Space(sizes={"m": (2, 8), "n": (1, 6)}, A=Matrix(), k=Whole(1, "m"))


@SOURCE.claim(
    "T",
    ("Theorem on SmoothBoost", UNSEEN),
    "SmoothBoost leaves fewer than κm examples at a margin of θ or below, and ends in time.",
    formula="T < 2/(κγ² √(1 − γ)), #{i: (A w_T)_i ≤ θ} < κm, θ = γ/(2 + γ), d_{t,i} ≤ 1/(κm)",
    printed=ILLEGIBLE,
    given="every edge is at least 2γ, γ in (0, 1/2]; κ = k/m",
    space=GAMES,
).checked(trials=40)
def theorem(x: Instance) -> Slacks:
    """γ is half the value of the game with d ≤ 1/k, so that every edge is large enough.

    Proof. Let φ' = −M, φ(0) = 0, Φ = Σ φ(N_i), c = −½ log(1 − γ) and y = c(1 + θ). Since M is e^c
    -Lipschitz in its logarithm, φ(N + δ) − φ(N) ≤ M(N)(e^(−cδ) − 1)/c for −1 − θ ≤ δ ≤ 1 − θ, and
    that is at most M(N)(−δ + (e^y − 1 − y)/c). With Σ M δ ≥ (2γ − θ) Σ M and Σ M ≥ κm, a round
    lowers Φ by κm((2γ − θ) − (e^y − 1 − y)/c), which is at least κm γ²√(1 − γ)/(2c). Φ begins at 0
    and stays above −m/c. When Σ M < κm, fewer than κm examples have N ≤ 0.
    """
    game = Game(x.A, Capped(x.k))
    rho = float(x.optimum(game).lower)
    assume(rho > 0.1)
    gamma, m = min(rho / 2.0, 0.5), len(x.A)
    run = SmoothBoostRun(game, gamma)
    *states, last = Rounds(game, run)
    yield at_most(len(states), 2.0 / (x.k / m * gamma**2 * math.sqrt(1.0 - gamma)), "T, bound")
    few = int(np.sum(last.active.u <= gamma / (2.0 + gamma)))
    yield at_most(few, x.k - 1, "examples at θ or below, k − 1")
    largest = max(float(state.d.max()) for state in states)
    yield at_most(largest, 1.0 / x.k, "d_{t,i}, 1/k")


@theorem.step(
    "φ(N + δ) − φ(N) ≤ M(N)(e^(−cδ) − 1)/c",
    "φ(N) = −N for N ≤ 0, (e^(−cN) − 1)/c above; M = 1, e^(−cN)",
    space=Space(c=Real(0.01, 0.35), n=Real(-3, 3), delta=Real(-1.2, 1)),
)
def _(x: Instance) -> Slack:
    def phi(n: float) -> float:
        return -n if n <= 0.0 else math.expm1(-x.c * n) / x.c

    measure = math.exp(-x.c * max(x.n, 0.0))
    right = measure * math.expm1(-x.c * x.delta) / x.c
    return at_most(phi(x.n + x.delta) - phi(x.n), right, "change of φ, bound")


@theorem.step(
    "c(2γ − θ) − (e^y − 1 − y) ≥ γ²√(1 − γ)/2",
    "c = −½ log(1 − γ), θ = γ/(2 + γ), y = c(1 + θ), γ in (0, 1/2]",
    space=Space(gamma=Real(1e-3, 0.5, log=True)),
)
def _(x: Instance) -> Slack:
    c, theta = -0.5 * math.log1p(-x.gamma), x.gamma / (2.0 + x.gamma)
    y = c * (1.0 + theta)
    left = c * (2.0 * x.gamma - theta) - (math.expm1(y) - y)
    return at_least(left, x.gamma**2 * math.sqrt(1.0 - x.gamma) / 2.0, "left, γ²√(1 − γ)/2")


@SOURCE.claim("soft", space=GAMES).checked(trials=40)
def soft(x: Instance) -> Slacks:
    """Φ ≤ 0 after every round, so that Σ [−N_i]_+ ≤ m/c; N = T(A w_T − θ)."""
    game = Game(x.A, Capped(x.k))
    rho = float(x.optimum(game).lower)
    assume(rho > 0.1)
    gamma, m = min(rho / 2.0, 0.5), len(x.A)
    theta, c = gamma / (2.0 + gamma), -0.5 * math.log1p(-gamma)
    run = SmoothBoostRun(game, gamma)
    for state in Rounds(game, run):
        T = state.round - 1
        if T:
            least = float(np.sort(state.active.u)[: x.k].mean())
            yield at_least(least, theta - m / (x.k * T * c), "AvgMin_k, θ − m/(kTc)", T)

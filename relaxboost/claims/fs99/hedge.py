"""Hedge in a game: its regret, and the number of rounds to a gap."""

import math

import numpy as np

from relaxboost.claims.fs99.source import SOURCE
from relaxboost.claims.language import *
from relaxboost.game.game import Game
from relaxboost.relaxations import Capped
from relaxboost.solvers.solve import solve

UNSEEN = "the text is not at hand; constants are derived here for entries in [−1, 1]"
GAMES = Space(
    sizes={"m": (2, 8), "n": (1, 6)}, A=Matrix(), k=Whole(1, "m"), eps=Real(0.05, 0.5, log=True)
)


@SOURCE.claim(
    "T",
    ("Hedge against best answers", UNSEEN),
    "Hedge with β = 1/ε has a gap of ε after 2 log(m/k)/ε² answers.",
    formula="upper − lower ≤ ε for T ≥ 2 log(m/k)/ε²",
    printed=ILLEGIBLE,
    given="A in [−1, 1]^(m×n), 1 ≤ k ≤ m; w is the mean of the answers, d the best or the mean",
    space=GAMES,
).checked(trials=40)
def theorem(x: Instance) -> Slacks:
    """FS99-regret at β = 1/ε: log(m/k)/(εT) + ε/2 ≤ ε. Rounds that show the mean come on top."""
    game = Game(x.A, Capped(x.k))
    rho = x.optimum(game)
    found = solve(game, method="hedge", tol=x.eps)
    if found.status == "interrupted":
        raise KeyboardInterrupt
    yield at_most(found.gap, x.eps, "gap, ε")
    yield at_least(found.lower, rho - x.eps, "lower, ρ − ε")
    answers = 2.0 * math.log(len(x.A) / x.k) / (x.eps * (1.0 - 1e-9)) ** 2
    looks = max(0.0, math.log(max(answers, 1.0)) / math.log(1.1))
    yield at_most(found.rounds, answers + looks + 3.0, "rounds, 2 log(m/k)/ε² and looks")


@SOURCE.claim(
    "regret",
    ("Regret of multiplicative weights", UNSEEN),
    "The regret of d against any answers is at most β log(m/k) + T/(2β).",
    formula="Σ ⟨d_t, a_t⟩ − min over d ≤ 1/k of Σ ⟨d, a_t⟩ ≤ β log(m/k) + T/(2β)",
    printed=ILLEGIBLE,
    given="|a_{t,i}| ≤ 1; d_t has the least ⟨d, Σ_{s<t} a_s⟩ + β Δ(d, u) among d ≤ 1/k",
    space=GAMES.but(sizes={"m": (2, 8), "n": (1, 20)}, beta=Real(0.1, 20, log=True)),
)
def regret(x: Instance) -> Slack:
    """The columns of A are the answers.

    Proof. G_t = min over d of ⟨d, Σ_{s≤t} a_s⟩ + βΔ(d, u) is at least
    G_{t−1} + ⟨d_t, a_t⟩ − 1/(2β). G_0 = 0, and G_T is at most the loss of the best d plus
    β log(m/k).
    """
    f = Capped(x.k).resolve(len(x.A))
    total, paid = np.zeros(len(x.A)), 0.0
    for answer in x.A.T:
        paid += float(f.distribution(total, x.beta) @ answer)
        total = total + answer
    T = x.A.shape[1]
    least = float(np.sort(total)[: x.k].mean())
    most = x.beta * math.log(len(x.A) / x.k) + T / (2.0 * x.beta)
    return at_most(paid - least, most, "regret, bound")


@regret.step(
    "one round",
    "min over d of ⟨d, z + a⟩ + βΔ(d, u) ≥ min over d of ⟨d, z⟩ + βΔ(d, u) + ⟨d*, a⟩ − 1/(2β)",
    space=Space(
        sizes={"m": (2, 8)},
        z=Vector("m"),
        a=Vector("m"),
        k=Whole(1, "m"),
        beta=Real(0.1, 20, log=True),
    ),
)
def _(x: Instance) -> Slack:
    """d* is the minimiser on the right; Δ is 1-strongly convex in ℓ1, and |a_i| ≤ 1."""
    f, m = Capped(x.k).resolve(x.z.size), x.z.size

    def least(u: Array) -> tuple[float, Array]:
        d = f.distribution(u, x.beta)
        seen = d[d > 0.0]
        entropy = float(seen @ np.log(seen)) + math.log(m)
        return float(d @ u) + x.beta * entropy, d

    before, d = least(x.z)
    after, _ = least(x.z + x.a)
    right = before + float(d @ x.a) - 1.0 / (2.0 * x.beta)
    return at_least(after, right, "next minimum, this one + ⟨d*, a⟩ − 1/(2β)")

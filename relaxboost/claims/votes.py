"""Functions that run AdaBoost and AdaBoost* in checks, and a simple AdaBoost for comparison."""

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import takewhile

import numpy as np

from relaxboost._core.arrays import Array
from relaxboost.claims import Bracket, Instance, Matrix, Space, Whole, assume
from relaxboost.claims.fields import Rng, Sizes
from relaxboost.claims.sides import ASSUMED_ERROR
from relaxboost.game.game import Game
from relaxboost.matrices import Best
from relaxboost.solvers.boosters.adaboost import AdaBoostRun, ColumnBooster
from relaxboost.solvers.boosters.adaboost_star import AdaBoostStarRun
from relaxboost.solvers.boosters.votes import Votes
from relaxboost.solvers.rounds import Rounds

RUNS = Space(sizes={"m": (1, 6), "n": (1, 6)}, A=Matrix(), t=Whole(1, 12))

ROUNDS_BEFORE_CYCLE = 600
"""The number of AdaBoost rounds before the search for a cycle starts. Earlier rounds may not have
reached the cycle."""
MAX_PERIOD = 60
"""The longest cycle that the search finds, in rounds."""


@dataclass(frozen=True)
class Vote:
    """A round of AdaBoost or AdaBoost*: the distribution, the chosen column, and the weights."""

    number: int
    """The round number t, from 1."""
    d: Array
    """The distribution for the weak learner, proportional to exp(−A w_{t−1}) for the weights
    w_{t−1} before the round."""
    column: int
    """The index of the chosen column."""
    sign: int
    """The sign, 1 or −1, of the chosen column."""
    edge: float
    """The edge γ_t of the chosen column: `sign` times the entry `column` of Aᵀd."""
    step: float
    """The step size, by which the weight of the chosen column changes."""
    before: Array
    """The unnormalised weights before the round."""
    w: Array
    """The unnormalised weights after the round."""
    margins: Array
    """The margins A w_t after the round, which the package updates in each round."""
    log_risk: float
    """The logarithm of the exponential risk after the round, computed from the margins."""


def adaboost(A: Array, steps: int, step: str = "classical") -> list[Vote]:
    """Run the package's AdaBoost on a margin matrix A, and return at most `steps` rounds.

    The entries of A are in [−1, 1]. The run stops early if an edge is zero. The step rule is
    "lecture", "classical" or "line-search", as for `relaxboost.solve`.
    """
    game = Game(A)
    return list(_votes(game, AdaBoostRun(game, step), steps))


def adaboost_star(A: Array, accuracy: float, steps: int) -> list[Vote]:
    """Run the package's AdaBoost* with ν = `accuracy`, and return at most `steps` rounds."""
    game = Game(A)
    return list(_votes(game, AdaBoostStarRun(game, accuracy), steps))


def short_of_one(votes: Iterable[Vote]) -> Iterator[Vote]:
    """Yield the rounds before the first round t with an edge γ_t above 0.999.

    The step artanh γ_t of this round would be very large.
    """
    return takewhile(lambda vote: vote.edge <= 0.999, votes)


def _votes(game: Game, update: ColumnBooster, steps: int) -> Iterator[Vote]:
    shown = None
    before = np.zeros(game.n or 0)
    for state in Rounds(game, update):
        votes = state.active
        w = np.zeros(game.n or 0)
        assert isinstance(votes, Votes)
        support, coefficients = votes.coefficients(votes.snapshot())
        w[support] = coefficients * votes.norm
        if shown is not None:
            best = shown.best
            assert isinstance(best, Best)
            answer = best.id, best.sign, best.edge, state.step
            yield Vote(shown.round, shown.d, *answer, before, w, votes.raw, votes.log_risk)
        if state.round > steps:
            return
        shown = state
        before = w


def adaboost_by_hand(A: Array, steps: int) -> list[Array]:
    """Return the AdaBoost weights w_1, w_2, ..., computed without the package.

    The step is artanh γ_t, where γ_t is the edge of the chosen column. The run stops before a round
    in which this edge is 1. If all edges are zero, the weights stay the same.
    """
    w = np.zeros(A.shape[1])
    found = []
    for _ in range(steps):
        u = A @ w
        d = np.exp(-(u - u.min()))
        edges = d @ A / d.sum()
        # If several columns have the largest edge up to rounding, the first of them is chosen.
        j = int(np.argmax(np.abs(edges) >= np.max(np.abs(edges)) - 1e-12))
        if abs(edges[j]) >= 1.0 - 1e-12:
            break
        w[j] += math.atanh(edges[j])
        found.append(w.copy())
    return found


def weak_learnability(x: Instance) -> Bracket:
    """Return the number γ of weak learnability, the infimum over φ >= 0 of ‖Aᵀφ‖_inf/‖φ‖_1.

    Instances with γ = 0 are skipped.
    """
    gamma = x.optimum(Game(x.A))
    assume(gamma.lower > 0)
    return gamma


def risk(A: Array, w: Array) -> float:
    """Return the exponential risk L(−Aw) = (1/m) Σ exp(−(Aw)_i)."""
    return float(np.mean(np.exp(-(A @ w))))


def reweighting(A: Array, w: Array) -> Array:
    """Return the vector ∇L(−Aw), whose entries are the weights exp(−(Aw)_i)/m of the examples."""
    return np.exp(-(A @ w)) / len(A)


def gradient(A: Array, w: Array) -> Array:
    """Return the gradient ∇(L∘(−A))(w) = −Aᵀ∇L(−Aw) of the risk in w."""
    return -A.T @ reweighting(A, w)


@dataclass(frozen=True)
class Cycle:
    """A cycle of AdaBoost, in which the distributions recur."""

    d: list[Array]
    """The distributions in one period."""
    edges: Array
    """The absolute edges of the chosen columns in one period."""
    w: Array
    """The sum Σ artanh(γ_t) r_t e_{j_t} over one period, where γ_t is the absolute edge in round t,
    r_t its sign, and j_t the index of the chosen column. The direction of the AdaBoost weights
    converges to the direction of this sum."""


def reweighted(A: Array, d: Array) -> tuple[Array, int, float]:
    """Return a triple: AdaBoost's next distribution after d; the chosen column; and its edge.

    The entries of the margin matrix A are 1 and −1. The map is that of Rudin, Daubechies & Schapire
    (2004).
    """
    edges = A.T @ d
    j = int(np.argmax(np.abs(edges)))
    # The next distribution is d_i/(1 + a_i γ), and 1/(1 + aγ) = (1 − aγ)/(1 − γ²) for a = ±1.
    after = d * (1.0 - A[:, j] * edges[j])
    # The total is 0 if the chosen column is right on all examples with a weight.
    total = float(after.sum())
    return after / total if total > 0.0 else d, j, float(edges[j])


def cycle(A: Array, d: Array) -> Cycle | None:
    """Return the cycle that AdaBoost reaches from the distribution d, or None if none is found."""
    for _ in range(ROUNDS_BEFORE_CYCLE):
        d, _, edge = reweighted(A, d)
        if abs(edge) < 1e-6 or abs(edge) > 1.0 - 1e-6:
            # There is no next distribution if all edges are 0, or if the chosen column is never
            # wrong.
            return None
    seen = [d]
    edges = []
    w = np.zeros(A.shape[1])
    for _ in range(MAX_PERIOD):
        d, j, edge = reweighted(A, d)
        edges.append(abs(edge))
        w[j] += np.arctanh(edge)
        if float(np.abs(d - seen[0]).max()) < ASSUMED_ERROR:
            # If rounding errors have broken a tie between columns, a weight of the distribution may
            # grow from one period to the next, and would end the cycle later.
            if not (d > 0.0).all() or (d > seen[0] * (1.0 + 1e-6)).any():
                return None
            return Cycle(seen, np.array(edges), w)
        seen.append(d)
    return None


def all_signs(A: Array) -> bool:
    """Return whether every entry of the matrix A is 1 or −1."""
    return bool((np.abs(A) == 1.0).all())


class SignMatrix(Matrix):
    """A field for a matrix with entries 1 and −1, as for predictions of labels."""

    def _clipped(self, value: Array) -> Array:
        return np.where(value >= 0.0, 1.0, -1.0)

    def structured(self, rng: Rng, sizes: Sizes) -> Array:
        return self._clipped(super().structured(rng, sizes))

    def simpler(self, value: Array) -> Iterator[Array]:
        for at in np.ndindex(value.shape):
            if value[at] < 0.0:
                one = value.copy()
                one[at] = 1.0
                yield one


class Separable(SignMatrix):
    """A field for a matrix H with entries 1 and −1, on which some weighted vote makes no mistake.

    For each drawn matrix, there are column weights v >= 0 such that no entry of Hv is negative.
    """

    def random(self, rng: Rng, sizes: Sizes) -> Array:
        # Each row is multiplied by the sign of its margin for random weights v > 0.
        H = rng.choice([-1.0, 1.0], self._shape(sizes))
        margins = H @ rng.dirichlet(np.ones(H.shape[1]))
        return self._clipped(H * np.where(margins >= 0.0, 1.0, -1.0)[:, None])

"""AdaBoost, and AdaBoost*, which reaches the maximum margin."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from relaxboost._core.arrays import Vector
from relaxboost._core.errors import InputError
from relaxboost._core.loop import Clock
from relaxboost.game.domains import AtomicSet, L1Ball
from relaxboost.game.game import Game
from relaxboost.matrices import Best
from relaxboost.relaxations import HardMargin
from relaxboost.solvers.hypothesis import ActiveSet
from relaxboost.solvers.method import Method
from relaxboost.solvers.rounds import Booster
from relaxboost.solvers.stopping import Tolerance

ADABOOST_STEPS = ("lecture", "classical", "line-search")
"""Step rules: the edge γ; artanh γ; the minimiser of the exponential risk along the column."""

LONGEST = math.atanh(1.0 - 2.0**-53)
"""The step, 18.7, in place of an infinite one: artanh of the largest double below 1."""

_FARTHEST = 1e100
"""No step is longer, so that sums of them stay finite."""

_NEAREST_TO_ONE = 0.999
"""The largest accuracy that AdaBoost* works with; at 1 and above w = 0 is accurate already."""


@dataclass(frozen=True)
class _HardMarginMethod(Method):
    """A method for `HardMargin` over an `L1Ball` only, which solves no smoothed problem.

    The bracket is that of w scaled to the size of the ball; the callback sees the w that is not
    (`RoundState`).
    """

    cold = "AdaBoost and AdaBoost* count their steps from w = 0"

    def check(self, game: Game) -> None:
        """Raise an InputError for relaxations and other domains."""
        what = f"{type(self).__name__}()"
        if not isinstance(game.relaxation, HardMargin):
            raise InputError(
                f"{what} maximises the hard margin and knows no relaxation, and this game has "
                f'{game.relaxation!r}; use method="auto", or the game without its relaxation'
            )
        if not isinstance(game.over, L1Ball):
            raise InputError(
                f"{what} is for games over L1Ball(radius), and this one is over {game.over!r}; "
                'use method="auto", or play over L1Ball(radius)'
            )


@dataclass(frozen=True)
class AdaBoost(_HardMarginMethod):
    """AdaBoost: steepest descent in l1 of the exponential risk (1/m) Σ exp(−(Aw)_i).

    It need not reach the maximum margin, so it needs `max_rounds` or `time_limit`.

    Parameters
    ----------
    step : {"classical", "lecture", "line-search"}
        With γ the edge of the best column: artanh γ, γ, or the minimiser of the risk, which for
        entries ±1 is the classical step.

    References
    ----------
    Freund & Schapire (1997); Rudin, Daubechies & Schapire (2004) for where it cycles.
    """

    name = "adaboost"
    endless = (
        "AdaBoost need not reach the maximum margin (Rudin, Daubechies & Schapire 2004); "
        'use method="adaboost-star"'
    )
    step: str = "classical"

    def __post_init__(self) -> None:
        self.choice("step", ADABOOST_STEPS)

    def start(self, game: Game, goal: Tolerance, clock: Clock) -> Booster:
        return AdaBoostRun(game, self.step).named(f"adaboost ({self.step})")


@dataclass(frozen=True)
class AdaBoostStar(_HardMarginMethod):
    """AdaBoost* with accuracy tol, which reaches the maximum margin.

    References
    ----------
    Rätsch & Warmuth (2005), Algorithm 2, 2 log(m) / tol² rounds.
    """

    name = "adaboost-star"

    def rounds_bound(self, game: Game, tol: float) -> float:
        """Return 2 log(m) / tol² rounded up, and a round to look."""
        slack = game.matrix.slack
        return math.nan if slack else star_rounds(game.m, working_accuracy(game, tol))

    def start(self, game: Game, goal: Tolerance, clock: Clock) -> Booster:
        return AdaBoostStarRun(game, working_accuracy(game, goal.tol)).named("adaboost-star")


class Votes(ActiveSet):
    """The w of AdaBoost, to which steps are added, and the same scaled to the size of the ball.

    `weights` and the margins `u` are those of r w/‖w‖_1, a point of the game over `L1Ball(r)`;
    `raw` and `norm` follow w itself.
    """

    raw: Vector
    """The margins A w of the w that is not scaled; a new array each round."""
    norm: float
    """‖w‖_1 of the w that is not scaled, so that u = r raw / norm."""

    def __init__(self, game: Game) -> None:
        assert isinstance(game.over, AtomicSet)
        super().__init__(game.matrix, game.over, game.relaxation.center(game.m))
        self._votes = np.zeros(16)
        self.raw = np.zeros(game.m)
        self.norm = 0.0

    @property
    def log_risk(self) -> float:
        """log L(−Aw) = log (1/m) Σ exp(−(Aw)_i) of the w that is not scaled."""
        return _log_sum_exp(-self.raw) - math.log(self.raw.size)

    def vote(self, best: Best, eta: float, column: Vector) -> None:
        """Add `eta` times the signed column of `best` to w."""
        slot = self.slot(best)
        if slot >= self._votes.size:
            self._votes = np.concatenate([self._votes, np.zeros(self._votes.size)])
        # A column that was taken with the other sign loses weight first: ‖w‖_1 is that of the sum.
        opposite = self._slots.get((best.id, -best.sign))
        taken = 0.0 if opposite is None else min(float(self._votes[opposite]), eta)
        if opposite is not None:
            self._votes[opposite] -= taken
        self._votes[slot] += eta - taken
        used, scale = len(self), self.over.scale
        norm = float(self._votes[:used].sum())
        raw = self.raw + eta * column
        share = 1.0 if norm == 0.0 else norm
        weights = np.zeros(self._votes.size)
        weights[:used] = self._votes[:used] / share * scale
        self.raw, self.norm = raw, norm
        self.weights, self.u = weights, raw / share * scale


class AdaBoostRun(Booster):
    """w_{t+1} = w_t + η_t r_t e_{j_t}: steepest descent in l1 of the exponential risk.

    From w_1 = 0, d_t is proportional to exp(−A w_t), which is the gradient of
    L(−Aw) = (1/m) Σ exp(−(Aw)_i) up to sign and scale, j_t is the column with the largest absolute
    edge γ_t and r_t the sign of its edge. With entries in [−1, 1] each of the steps ``"lecture"``
    (η = γ) and ``"classical"`` (η = artanh γ, which for entries ±1 is the minimiser along the
    column) multiplies L by at most sqrt(1 − γ²) or exp(−γ²/2), and so does ``"line-search"``, the
    minimiser for any entries.

    Where the best column is nowhere wrong, so that there is no finite minimiser (or artanh 1), a
    step of 18.7 is taken. Sums are in the log domain: d may have zeros, steps and margins may be
    large.

    References
    ----------
    Freund & Schapire (1997), A decision-theoretic generalization of on-line learning and an
    application to boosting, Fig. 2 and Thm 6; Schapire & Singer (1999), Improved boosting
    algorithms using confidence-rated predictions, Sec. 3, for real entries; Telgarsky's lecture on
    AdaBoost, for the view as descent with η = ‖Aᵀ∇L‖_inf / ‖∇L‖_1.
    """

    inner = "exponential"
    active: Votes

    def __init__(self, game: Game, rule: str) -> None:
        self._relaxation = game.relaxation
        self._matrix = game.matrix
        self._rule = rule
        self.active = Votes(game)
        self.d = self._distribution()

    def advance(self, best: Any) -> Booster | None:
        """Add the step along the column `best` to w and recompute d."""
        column = best.sign * self._matrix.column(best.id).astype(np.float64)
        if self._rule != "line-search":
            self._check(best, column)
        eta = self._length(best.edge, column) if best.edge > 0.0 else 0.0
        if not eta > 0.0:  # w minimises the risk
            return None
        self.active.vote(best, eta, column)
        self.step = eta
        self.d = self._distribution()
        return self

    def _distribution(self) -> Vector:
        return self._relaxation.distribution(self.active.raw, 1.0)

    def _length(self, edge: float, column: Vector) -> float:
        if self._rule == "lecture":
            return min(edge, 1.0)
        if self._rule == "classical":
            return artanh_edge(edge, column, self.active.raw)
        return line_search(edge, column, self.active.raw)

    def _check(self, best: Best, column: Vector) -> None:
        """Raise for entries beyond 1, which a matrix of one's own may have."""
        i = int(np.argmax(np.abs(column)))
        if not abs(column[i]) <= 1.0:
            raise InputError(
                f"A[{i}, {best.id}] has absolute value {abs(column[i]):g}, and this step needs "
                "entries in [-1, 1]; divide A by its largest absolute entry, or use "
                'AdaBoost(step="line-search")'
            )


class AdaBoostStarRun(AdaBoostRun):
    """AdaBoost with steps artanh γ_t − artanh ρ_t, ρ_t = min over r <= t of γ_r less `accuracy`.

    After 2 log(m)/ν² steps, ν the accuracy, every margin of w/‖w‖_1 is at least min γ − ν (where
    that is negative, w = 0 is as good), and min γ is an upper bound on the game over the unit
    ball. See docs/mathematics.md.

    References
    ----------
    Rätsch & Warmuth (2005), Efficient margin maximizing with boosting, JMLR 6: Algorithm 2 and its
    theorem.
    """

    def __init__(self, game: Game, accuracy: float) -> None:
        super().__init__(game, "star")
        self._accuracy = accuracy
        self._least = math.inf

    def _length(self, edge: float, column: Vector) -> float:
        edge = min(edge, 1.0)
        self._least = min(self._least, edge)
        rho = self._least - self._accuracy
        # artanh γ − artanh ρ = artanh x; for small x the difference would cancel. 1 − γρ is at
        # least the accuracy, but for rounding.
        x = (edge - self._least + self._accuracy) / max(1.0 - edge * rho, self._accuracy)
        if x < 0.5:
            return math.atanh(x)
        classical = artanh_edge(edge, column, self.active.raw)
        shorter = math.atanh(min(rho, 1.0 - 2.0**-53))
        return LONGEST if classical - shorter <= 0.0 else classical - shorter


def working_accuracy(game: Game, tol: float) -> float:
    """Return the ν at which AdaBoost* ends with a gap of `tol`.

    The slack of a weak learner is part of every upper bound, and so of the gap; a billionth is left
    for rounding.
    """
    slack = game.over.value(game.matrix.slack)
    rest = (tol - slack if slack < tol else tol) * (1.0 - 1e-9)
    return min(max(rest / game.over.value(1.0), 1e-300), _NEAREST_TO_ONE)


def star_rounds(m: int, accuracy: float) -> float:
    """Return the rounds that AdaBoost* needs at most: the steps of the theorem, and one to look."""
    steps = 2.0 * math.log(m) / accuracy / accuracy
    return 1.0 + max(1.0, math.ceil(steps) if steps < 2.0**53 else steps)


def artanh_edge(edge: float, column: Vector, raw: Vector) -> float:
    """Return artanh of the edge of a signed column with entries in [−1, 1], never infinite.

    ½ log (1 + γ)/(1 − γ) = ½ log Σ d (1 + a) / Σ d (1 − a) with d proportional to exp(−raw), so
    that it is known where 1 − γ has been rounded away.
    """
    if edge <= 0.5:
        return math.atanh(edge)
    with np.errstate(divide="ignore", invalid="ignore"):
        right = _log_sum_exp(np.log1p(column) - raw)
        wrong = _log_sum_exp(np.log1p(-column) - raw)
    return LONGEST if wrong == -math.inf else 0.5 * (right - wrong)


def line_search(edge: float, column: Vector, raw: Vector) -> float:
    """Return the η > 0 that minimises Σ exp(−raw − η column), for a positive edge.

    At the minimum Σ d a over the positive entries a equals that over the negative ones. The
    difference of the logarithms decreases in η, linearly if all |a| are equal, so that Newton's
    method is at the solution at once for entries ±1; a bracket safeguards it for others. A column
    without negative entries has no minimum: the risk falls all the way, and the step is 18.7, or
    artanh of the edge if that is longer, so that it gains no less than the classical one.
    """
    up, down = column > 0.0, column < 0.0
    if not down.any():
        return max(LONGEST, artanh_edge(edge, column, raw) if column.max() <= 1.0 else 0.0)
    a, b = column[up], -column[down]
    at_a, at_b = np.log(a) - raw[up], np.log(b) - raw[down]

    def excess(eta: float) -> tuple[float, float]:
        """Return the difference of the logarithms and its slope."""
        high, low = at_a - eta * a, at_b + eta * b
        top, bottom = _log_sum_exp(high), _log_sum_exp(low)
        slope = -float(np.exp(high - top) @ a) - float(np.exp(low - bottom) @ b)
        return top - bottom, slope

    left, right, eta, previous = 0.0, math.inf, 0.0, math.inf
    for _ in range(400):
        value, slope = excess(eta)
        if value > 0.0:
            left = eta
        else:
            right = eta
        newton = min(eta - value / min(slope, -1e-300), _FARTHEST)
        if abs(newton - eta) <= 4e-16 * eta or right <= left * (1.0 + 4e-16):
            break
        if left < newton < right and abs(value) <= 0.5 * previous:
            eta = newton
        else:  # Newton's method leaves the bracket or crawls
            eta = 0.5 * (left + right) if right < math.inf else max(2.0 * left, 1.0)
        previous = abs(value)
    return min(eta, _FARTHEST)


def _log_sum_exp(x: Vector) -> float:
    """Return log Σ exp x, −inf if every entry is."""
    top = float(x.max())
    return top + math.log(float(np.exp(x - top).sum())) if top > -math.inf else top

"""The corrective update of Shalev-Shwartz & Singer (2009), Fig. 1, and its faster step rules."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf, nan, ulp
from typing import Any, NamedTuple

import numpy as np

from relaxboost._core.arrays import Vector
from relaxboost._core.errors import InputError
from relaxboost._core.loop import Clock
from relaxboost.game.domains import AtomicSet, Dense
from relaxboost.game.domains.euclidean import EuclideanSet
from relaxboost.game.game import Game
from relaxboost.matrices import Best, kernels
from relaxboost.relaxations._projections import CappedFollower
from relaxboost.solvers.dense import DensePoint
from relaxboost.solvers.hypothesis import ActiveSet, MovingHypothesis, worst_in_use
from relaxboost.solvers.method import STOPPING, SmoothedMethod
from relaxboost.solvers.rounds import Booster
from relaxboost.solvers.smoothing import Smoother
from relaxboost.solvers.steps import Segment, Step, arrival, line_search, quadratic_step
from relaxboost.solvers.stopping import PATIENCE_ROUNDS, Tolerance
from relaxboost.solvers.warm_start import WarmStart

STEPS = ("fig1", "classic", "line-search", "away", "pairwise")
"""Step rules: Fig. 1's own; 2/(t + 2); exact; exact with away steps; exact and pairwise."""

EXCHANGING = ("away", "pairwise")
"""The rules that take weight from single atoms, and so need a domain that has some."""

SEARCH_ACCURACY = 0.25
"""The accuracy of the line search for a pairwise step: the search ends once the derivative is at
most this fraction of its value at the beginning. The number of rounds hardly depends on it."""

_NOWHERE = Step(nan)


@dataclass(frozen=True)
class Corrective(SmoothedMethod):
    """SS09 Fig. 1: w_{t+1} = (1 − η_t) w_t + η_t e_{j_t}, one new weight a round.

    Parameters
    ----------
    beta, smoothing
        See `SmoothedMethod`; for the step ``"fig1"``, β is tol / (2 log m) by default, as stated
        there.
    step : {"fig1", "classic", "line-search", "away", "pairwise"}
        ``"fig1"`` takes the paper's step, and ``"pairwise"`` is the fastest. ``"classic"`` takes
        2/(t + 2) without looking, ``"line-search"`` the best step on the segment. ``"away"`` may
        instead move away from the worst column in use, ``"pairwise"`` moves weight from the worst
        column in use to the best one (Lacoste-Julien & Jaggi 2015); both search the line exactly
        and drop columns. They need a domain with atoms.
    stopping : {"certified", "smoothed"}
        ``"smoothed"`` is Fig. 1's own test, on the gap of the smoothed problem at w_t, which is
        then returned; it does not bound the error by tol (errors up to 3/2 tol occur).

    References
    ----------
    Shalev-Shwartz & Singer (2009), Fig. 1 and Thm 9.
    """

    name = "corrective"
    step: str = "fig1"
    stopping: str = "certified"

    def __post_init__(self) -> None:
        super().__post_init__()
        self.choice("step", STEPS)
        self.choice("stopping", STOPPING)

    @property
    def smoothed_test(self) -> bool:
        return self.stopping == "smoothed"

    def check(self, game: Game) -> None:
        """Raise an InputError for steps that need atoms over a set without."""
        super().check(game)
        if self.step in EXCHANGING and not isinstance(game.over, AtomicSet):
            raise InputError(
                f"step={self.step!r} takes weight from the worst of finitely many atoms, and "
                f'{game.over!r} has none; use step="line-search"'
            )

    def start(self, game: Game, goal: Tolerance, clock: Clock) -> Booster:
        beta, smoother, suffix = self.smoother(game, goal.tol, whole=self.step == "fig1")
        run = CorrectiveRun(game, beta, self.step, smoother)
        return run.named(f"corrective ({self.step}{suffix})")


class _Worst(NamedTuple):
    """The atom in use with the smallest edge; slot None is w = 0."""

    slot: int | None
    edge: float
    """The edge of the atom, scaled to size 1."""
    weight: float


class _IdleRounds:
    """Counts rounds that are as the one before.

    Columns whose weights are below rounding leave one a round, which changes nothing else.
    """

    def __init__(self) -> None:
        self._last: tuple[float, Vector, Vector] | None = None
        self._used = 0
        self._count = 0

    def are_too_many(self, edge: float, d: Vector, active: MovingHypothesis) -> bool:
        """Count a round; return whether the last rounds were all alike."""
        last = self._last
        self._last = now = edge, d, active.u
        # d and the margins are compared only where the edge has stayed, which is seldom.
        is_same = last is not None and last[0] == edge
        if not is_same or last is None or not all(map(np.array_equal, last[1:], now[1:])):
            self._count = 0
            return False
        used = active.used
        self._count = self._count + 1 if self._used == used else 0
        self._used = used
        return self._count > PATIENCE_ROUNDS


class CorrectiveRun(Booster):
    """Frank–Wolfe on the smoothed relaxed margin D(w) = min over d of <d, Aw> + f(d) + βh(d).

    d_t is the minimising d. Over other domains than the l1 ball e_j is the answer to d_t: an atom
    of another size, or a dense w. With a penalty g* on w this is the generalised conditional
    gradient method: the answer maximises <Aᵀd_t, w> − g*(w), and steps are taken on D − g*,
    exactly where a line is searched.
    """

    inner = "smoothed"
    active: MovingHypothesis
    edges: Vector | None = None
    """Those of the atoms in use at d, once known."""

    def __init__(
        self,
        game: Game,
        beta: float,
        rule: str,
        smoother: Smoother | None = None,
        active: ActiveSet | None = None,
        *,
        target: float = 0.0,
    ) -> None:
        self._project = (game.relaxation if smoother is None else smoother).projector(beta)
        self._beta = beta
        self._rule = rule
        self._target = target
        """The gap of the smoothed game at which the run ends by itself; 0 for never."""
        self._round = 0
        self._idle = _IdleRounds()
        self.active = starting_point(game) if active is None else active
        self._found = _NOWHERE
        self._stretches = dict.fromkeys(("towards", "away", "pairwise"), 1.0)
        self.d = self._project(self.active.u)

    def ask(self, game: Game) -> Best | Dense:
        """Return the answer to d_t; the same pass prices the atoms in use where steps need it."""
        if self._rule not in EXCHANGING:
            return super().ask(game)
        best, self.edges = self.atoms.priced(self.d)
        return best

    def advance(self, best: Best | Dense) -> Booster | None:
        """Take a step; return None at the target, or after many rounds that changed nothing."""
        self._round += 1
        if self._idle.are_too_many(best.edge, self.d, self.active):
            return None
        if self._target and self.active.gap(self.d, best) <= self._target:
            return None
        if self._rule == "pairwise":
            self._pairwise(best)
        elif self._rule == "away":
            self._away(best)
        else:
            self._towards(best)
        self._reweigh()
        return self

    def warmed(self, start: WarmStart) -> Booster:
        """Continue from the w of a start; its d says nothing that w does not."""
        if start.w is not None:
            self._round = start.rounds
            self.active.load(*start.w)
            self.d = self._project(self.active.u)
        return self

    def towards(self, best: Best | Dense) -> None:
        """Take the exact step on the segment to `best`, which gains at least what Fig. 1's does."""
        self._towards(best)
        self._reweigh()

    def settle(self, goal: float, clock: Clock, most: float = inf) -> int:
        """Take pairwise steps over the columns in use to a gap of `goal` there; return how many."""
        active, taken = self.atoms, 0
        while taken < most and clock.left:
            self.edges = active.edges(self.d)
            best = active.best(self.edges)
            if active.gap(self.d, best) <= goal:
                break
            self._pairwise(best)
            self._reweigh()
            taken += 1
            if self.step <= ulp(active.over.scale):  # with a tiny beta such steps never end
                break
        return taken

    def _reweigh(self) -> None:
        """Set d to that of the present margins, where the step has not met it."""
        found, self._found, self.edges = self._found, _NOWHERE, None
        if found.d is None:
            self.d = self._project(self.active.u)
            return
        self.d = found.d
        if found.product is not None:
            self.active.product = found.d, self.active.u, found.product

    def _towards(self, best: Best | Dense) -> None:
        active = self.active
        v, size = active.direction(best)
        bend = active.bend(best)
        # For g* = a η + b η²/2 along the way, the gap is the slope at 0 less b/2.
        slope = active.gap(self.d, best) + 0.5 * bend[1]
        if self._rule in ("fig1", "classic"):
            eta = 2.0 / (self._round + 2.0)
            if self._rule == "fig1":
                eta = quadratic_step(slope, v, self._beta, curvature=bend[1], size=size)
            u, d, _, product = arrival(self._project, active.u, v, eta)
            self._found = Step(eta, u, d, product=product)
        else:
            segment = Segment(active.u, v, slope, bend=bend, size=size)
            self._found = line_search(
                self._project, self._beta, segment, stretch=self._stretches["towards"]
            )
            eta = self._step_of("towards")
        active.move(best, eta, self._margins(eta, v))
        self.step = eta

    @property
    def atoms(self) -> ActiveSet:
        """The combined hypothesis of a game over a set with atoms."""
        assert isinstance(self.active, ActiveSet)
        return self.active

    def _worst_in_use(self) -> _Worst:
        active = self.atoms
        weights = active.weights[: len(active)]
        edges = self.edges
        if edges is None:
            edges = active.edges(self.d) if weights.any() else weights
        over = active.over
        slot, edge, weight = worst_in_use(weights, edges, over.scale, over.holds_zero)
        return _Worst(None if slot < 0 else slot, edge, weight)

    def _pairwise(self, best: Any) -> None:
        """Move weight from the worst atom in use to the best one."""
        active, worst = self.atoms, self._worst_in_use()
        slot = active.slot(best)
        if slot == worst.slot:  # edges of two passes differ by rounding
            self._found, self.step = Step(0.0), 0.0
            return
        v, size = active.between(slot, worst.slot)
        segment = Segment(active.u, v, best.edge - worst.edge, worst.weight, size=size)
        stretch = self._stretches["pairwise"]
        if isinstance(self._project, CappedFollower):
            stretch = self._project.stretch(self.d, v, size, SEARCH_ACCURACY)
        self._found = line_search(self._project, self._beta, segment, SEARCH_ACCURACY, stretch)
        self.step = eta = self._step_of("pairwise")
        active.exchange(best, worst.slot, eta, self._margins(eta, v))

    def _away(self, best: Any) -> None:
        """Move away from the worst atom in use, or towards the best one if that is steeper."""
        active, scale, worst = self.atoms, self.atoms.over.scale, self._worst_in_use()
        slope = float(self.d @ active.u) - scale * worst.edge
        if active.gap(self.d, best) >= slope or worst.weight >= scale:
            self._towards(best)
            return
        v = active.u.copy()
        if worst.slot is not None:
            v -= scale * active.column(worst.slot)
        longest = worst.weight / (scale - worst.weight)
        segment = Segment(active.u, v, slope, longest)
        self._found = line_search(
            self._project, self._beta, segment, stretch=self._stretches["away"]
        )
        eta = self._step_of("away")
        active.weights[: len(active)] *= 1.0 + eta
        if worst.slot is not None:
            left = active.weights[worst.slot] - eta * scale
            active.weights[worst.slot] = 0.0 if eta == longest else max(0.0, left)
        active.u, self.step = self._margins(eta, v), eta

    def _step_of(self, kind: str) -> float:
        """Return the step found, and note where the next search of its kind is to begin."""
        if self._found.stretch is not None:
            self._stretches[kind] = self._found.stretch
        return self._found.eta

    def _margins(self, eta: float, v: Vector) -> Vector:
        """Return u + ηv, which the step may have met."""
        there = self._found.u
        return kernels.along(self.active.u, v, eta) if there is None else there


def few_steps_suffice(game: Game, tol: float) -> bool:
    """Return whether f is so strongly convex that some eight steps reach a gap of tol.

    With modulus μ, steps of Frank–Wolfe leave a gap of about 8/(μ t) after t rounds, for margins in
    [−1, 1] (Jaggi 2013, Thm 1). Cone solvers fail on such f, whose numbers differ by many orders.
    """
    return game.relaxation.curvature(game.m) * tol >= 1.0


def starting_point(game: Game) -> MovingHypothesis:
    """Return the point that runs start from, over any domain."""
    if isinstance(game.over, AtomicSet):
        return active_set(game)
    assert isinstance(game.over, EuclideanSet)
    return DensePoint(game.matrix, game.over)


def active_set(game: Game) -> ActiveSet:
    """Return the point that runs start from, for a game over a set with atoms."""
    assert isinstance(game.over, AtomicSet)
    return ActiveSet(game.matrix, game.over, game.relaxation.center(game.m))


class Unbegun(Booster):
    """A first round at the center of f, for a method that no solver lets begin; then its error."""

    inner = "lost"

    def __init__(self, game: Game, error: Exception) -> None:
        self.active, self.d = starting_point(game), game.relaxation.center(game.m)
        self._error = error

    def advance(self, best: object) -> Booster:
        """Raise what kept the method from its beginning."""
        raise self._error

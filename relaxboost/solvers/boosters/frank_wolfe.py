"""Frank–Wolfe steps on the smoothed relaxed margin, for `Corrective` and other methods."""

from __future__ import annotations

import numpy as np

from relaxboost._core.arrays import Vector
from relaxboost.game.domains import Dense
from relaxboost.game.game import Game
from relaxboost.matrices import Best, kernels
from relaxboost.relaxations.base import projector
from relaxboost.solvers.boosters.starting_points import starting_point
from relaxboost.solvers.hypothesis import ActiveSet, MovingHypothesis
from relaxboost.solvers.rounds import Booster
from relaxboost.solvers.smoothing import Projector
from relaxboost.solvers.steps import Segment, Step, arrival, line_search, quadratic_step
from relaxboost.solvers.stopping import PATIENCE_ROUNDS
from relaxboost.solvers.warm_start import WarmStart

STEPS = ("fig1", "classic", "line-search", "away", "pairwise")
"""The step rules; see `Corrective`."""

EXCHANGING = ("away", "pairwise")
"""The step rules that move weight away from a single atom, and need a domain with atoms."""

SEARCH_ACCURACY = 0.25
# The number of rounds hardly depends on this fraction.
"""The final derivative of a pairwise line search, as a fraction of the initial derivative."""


class CorrectiveRun(Booster):
    """A run of Frank–Wolfe steps that maximise the smoothed relaxed margin D(w) of the weights w.

    D(w) is the minimum of <d, Aw> + f(d) + β h(d) over the distributions d. Here A is the margin
    matrix, f is the relaxation, and h is the entropy or another smoothing function. In round t the
    distribution d_t attains this minimum for the weights w_t. The weak learner returns the best
    answer to d_t: an atom of the domain of w or, over a Euclidean set, a dense w. The run moves w_t
    towards this answer. The rules "away" and "pairwise" also reduce the weight of another atom.

    If the game has a penalty g* on w, the best answer maximises <Aᵀd_t, w> − g*(w), and the steps
    increase D(w) − g*(w). The method is then the generalised conditional gradient method.

    Parameters
    ----------
    game : Game
        The game that the booster solves.
    beta : float
        The weight β of the smoothing, > 0.
    rule : str
        A step rule, one of `STEPS`.
    project : callable, optional
        The function that maps margins Aw to the minimiser d. The default is for the entropy.
    active : ActiveSet, optional
        The first weights w, which the steps change in place. By default `starting_point` creates
        them.
    target : float
        The gap of the smoothed game at which the run ends. For 0, there is no such test.
    """

    inner = "smoothed"
    active: MovingHypothesis
    edges: Vector | None = None
    """The edges, under the current d, of the columns found so far, or None if they are unknown."""

    def __init__(
        self,
        game: Game,
        beta: float,
        rule: str,
        project: Projector | None = None,
        active: ActiveSet | None = None,
        *,
        target: float = 0.0,
    ) -> None:
        self._project = project or projector(game.relaxation, beta)
        self._beta = beta
        self._rule = rule
        self._target = target
        self._round = 0
        self._idle_rounds = 0
        self._last: tuple[Vector, int] | None = None
        self._stretches = dict.fromkeys(("towards", "exchange", "away", "newton"), 1.0)
        self.active = starting_point(game) if active is None else active
        self.d = self._project(self.active.u)

    @property
    def atoms(self) -> ActiveSet:
        """The weights of the run as an `ActiveSet`. The domain must have atoms."""
        assert isinstance(self.active, ActiveSet)
        return self.active

    def warmed(self, start: WarmStart) -> Booster:
        """Start the run from the weights of a warm start, and return this booster.

        The distribution over the examples is computed from the weights.
        """
        if start.w is not None:
            # After a checkpoint the steps 2/(t + 2) of the rule "classic" continue. Other starts
            # have no rounds, so their first step is 2/3, as without a start.
            self._round = start.rounds
            self.active.load(*start.w)
            self.d = self._project(self.active.u)
        return self

    def ask(self, game: Game) -> Best | Dense:
        """Return the best hypothesis for the current distribution d.

        The rules "away" and "pairwise" also need the edges of the columns found so far. If the
        search computes them, they are stored in `edges`.
        """
        if self._rule not in EXCHANGING:
            return super().ask(game)
        best, self.edges = self.atoms.priced(self.d)
        return best

    def advance(self, best: Best | Dense) -> Booster | None:
        """Move the weights w by a step of the step rule.

        Return None if the gap of the smoothed game has reached the target, or if w has not changed
        for more than `PATIENCE_ROUNDS` rounds.
        """
        self._round += 1
        if self._is_idle():
            self.end(f"w did not change for {PATIENCE_ROUNDS} rounds")
            return None
        # A run with a target is a phase of `auto`. At the target the next phase continues.
        if self._target and self.active.gap(self.d, best) <= self._target:
            self.end(f"the smoothed gap reached the target {self._target:g} of these steps")
            return None
        # Steps that exchange atoms run over sets with atoms, whose answers are atoms.
        if self._rule == "pairwise" and isinstance(best, Best):
            self._exchange(best)
        elif self._rule == "away" and isinstance(best, Best):
            self._away(best)
        else:
            self.towards(best)
        return self

    def _is_idle(self) -> bool:
        # A round that only drops a column with a tiny weight is a change: the run drops such
        # columns one at a time, and the margins do not change until the last of them is dropped.
        now = self.active.u, self.active.used
        last = self._last
        is_same = last is not None and last[1] == now[1] and np.array_equal(last[0], now[0])
        self._idle_rounds = self._idle_rounds + 1 if is_same else 0
        self._last = now
        return self._idle_rounds > PATIENCE_ROUNDS

    def towards(self, best: Best | Dense) -> None:
        """Move the weights w towards the hypothesis `best`.

        The rules "fig1" and "classic" prescribe the step length. All other rules use a line search,
        which gains at least as much as the step of "fig1".
        """
        active = self.active
        v, size = active.direction(best)
        bend = active.bend(best)
        # The penalty on the segment is a η + b η²/2, (a, b) = `bend`. The gap counts the penalty
        # at η = 1, so the gap is the slope at η = 0 less b/2.
        slope = active.gap(self.d, best) + 0.5 * bend[1]
        if self._rule in ("fig1", "classic"):
            eta = 2.0 / (self._round + 2.0)
            if self._rule == "fig1":
                eta = quadratic_step(slope, v, self._beta, curvature=bend[1], size=size)
            u, d, _ = arrival(self._project, active.u, v, eta)
            found = Step(eta, u, d)
        else:
            segment = Segment(active.u, v, slope, bend=bend, size=size)
            stretch = self._stretches["towards"]
            found = line_search(self._project, self._beta, segment, stretch=stretch)
        active.move(best, found.eta, self._margins(found, v))
        self._finish("towards", found)

    def _exchange(self, best: Best) -> None:
        # A pairwise step moves weight from the worst atom in use to `best`.
        active = self.atoms
        worst, edge, weight = self._worst_in_use()
        slot = active.slot(best)
        # The two edges come from different passes. If they differ by rounding only, the best atom
        # can also be the worst atom, and then no weight can move.
        if slot == worst:
            self._finish("exchange", Step(0.0))
            return
        v, size = active.between(slot, worst)
        stretch = self._stretches["exchange"]
        # The longest step takes all the weight of the worst atom.
        segment = Segment(active.u, v, best.edge - edge, weight, size=size)
        found = line_search(self._project, self._beta, segment, SEARCH_ACCURACY, stretch)
        active.exchange(best, worst, found.eta, self._margins(found, v))
        self._finish("exchange", found)

    def _away(self, best: Best) -> None:
        # The direction is that of the larger slope: away from the worst atom in use, or towards
        # `best`.
        active = self.atoms
        scale = active.over.scale
        worst, edge, weight = self._worst_in_use()
        slope = float(self.d @ active.u) - scale * edge
        # An atom with all the weight is w itself, and there is no direction away from it.
        if active.gap(self.d, best) >= slope or weight >= scale:
            self.towards(best)
            return
        # The direction is w minus the worst atom, which is w itself if the worst point is 0.
        v = active.u.copy()
        if worst is not None:
            v -= scale * active.column(worst)
        # The longest step takes all weight from the worst atom.
        longest = weight / (scale - weight)
        segment = Segment(active.u, v, slope, longest)
        stretch = self._stretches["away"]
        found = line_search(self._project, self._beta, segment, stretch=stretch)
        eta = found.eta
        active.weights[: len(active)] *= 1.0 + eta
        if worst is not None:
            left = active.weights[worst] - eta * scale
            # After the longest step rounding could leave a tiny weight, which would stay in use.
            active.weights[worst] = 0.0 if eta == longest else max(0.0, left)
        active.u = self._margins(found, v)
        self._finish("away", found)

    def _worst_in_use(self) -> tuple[int | None, float, float]:
        # The worst atom has the smallest edge among the atoms with positive weight. If the weights
        # sum to less than the scale, the missing weight is that of w = 0, whose index is None and
        # whose edge is 0.
        active = self.atoms
        over = active.over
        weights = active.weights[: len(active)]
        unused = over.scale - float(weights.sum())
        used = np.flatnonzero(weights > 0.0)
        if not used.size:
            return None, 0.0, unused
        edges = active.edges(self.d) if self.edges is None else self.edges
        slot = int(used[np.argmin(edges[used])])
        # A remainder below 1e-12 of the scale is the rounding of the sum, and no weight of w = 0.
        if over.holds_zero and unused > 1e-12 * over.scale and edges[slot] >= 0.0:
            return None, 0.0, unused
        return slot, float(edges[slot]), float(weights[slot])

    def _margins(self, found: Step, v: Vector) -> Vector:
        return kernels.along(self.active.u, v, found.eta) if found.u is None else found.u

    def _finish(self, kind: str, found: Step) -> None:
        self.step = found.eta
        self.edges = None
        # The next line search of this kind starts from the stretch that this search found.
        if found.stretch is not None:
            self._stretches[kind] = found.stretch
        self.d = self._project(self.active.u) if found.d is None else found.d


def few_steps_suffice(game: Game, tol: float) -> bool:
    """Return whether about eight Frank–Wolfe steps suffice for a gap of `tol`."""
    # After t steps the gap is about 8 r²/(μ t), where μ is the modulus of strong convexity of f and
    # r the largest margin (Jaggi 2013, Thm 1). The method "auto" solves such games by pairwise
    # steps alone: cone solvers fail for a large μ, because the numbers in the cone programs then
    # differ by many orders of magnitude.
    return game.relaxation.curvature(game.m) * tol >= game.over.reach(game.n) ** 2

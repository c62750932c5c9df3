"""Pairwise and Newton steps over the columns found so far, for ERLPBoost."""

from __future__ import annotations

from math import ulp

import numpy as np

from relaxboost._core.arrays import Matrix
from relaxboost._core.loop import Clock, TimeUp
from relaxboost.game.game import Game
from relaxboost.matrices import Best, kernels
from relaxboost.relaxations.base import needs_solver
from relaxboost.solvers.boosters.frank_wolfe import SEARCH_ACCURACY, CorrectiveRun
from relaxboost.solvers.boosters.hull import reweigh
from relaxboost.solvers.hypothesis import ActiveSet
from relaxboost.solvers.smoothing import Projector
from relaxboost.solvers.steps import Segment, line_search

MODEL_ACCURACY = 0.5
# A higher accuracy would be useless, because a line search follows.
"""The accuracy of the quadratic model's maximiser, as a fraction of the restricted gap."""

DIFFERENCE = 1e-5
# Each entry of d changes by a factor of about 1 + 1e-5. This is far above the rounding errors of d,
# and small enough that few entries reach a bound such as 1/k for `Capped`.
"""The margin change for finite differences of the Hessian, as a fraction of β."""


class RestrictedRun(CorrectiveRun):
    """A run that maximises the smoothed relaxed margin D(w) over the columns found so far.

    D(w) is the minimum over the distributions d of <d, Aw> + f(d) + β h(d), where A is the margin
    matrix, f is the relaxation, and h is the smoothing function. A Newton step maximises a
    quadratic model of D over the convex hull of the atoms, and a line search moves w towards the
    maximiser.

    Parameters
    ----------
    game : Game
        The game that the booster solves. The domain of w has atoms.
    beta : float
        The weight β of the smoothing, > 0.
    project : callable
        The function that maps margins Aw to the minimising d.
    active : ActiveSet
        The columns found so far, with their weights.
    """

    def __init__(self, game: Game, beta: float, project: Projector, active: ActiveSet) -> None:
        super().__init__(game, beta, "pairwise", project, active)
        self._has_hessian = not needs_solver(game.relaxation)

    def settle(self, goal: float, clock: Clock) -> None:
        """Take pairwise and then Newton steps until the restricted gap is at most `goal`.

        The restricted gap is the gap of the smoothed game with only the columns found so far. The
        steps also end at the time limit, or if they become too short to change the weights.
        """
        # With a tiny β the steps become so short that they never close the gap.
        shortest = ulp(self.atoms.over.scale)
        exchanges = 0
        # A Newton step takes about as long as one pairwise step for each column with weight.
        # Pairwise steps come first, because with many columns they often need less time.
        while not self._has_hessian or exchanges < self.atoms.used:
            best, gap = self._find_best()
            if gap <= goal or not clock.left:
                return
            self._exchange(best)
            exchanges += 1
            if self.step <= shortest:
                break
        while self._has_hessian and clock.left:
            best, gap = self._find_best()
            if gap <= goal:
                break
            try:
                self._newton(best, gap, clock)
            except TimeUp:
                break
            # Rounding errors can make the quadratic model useless if the gap is tiny.
            if self.step <= 0.0:
                self._exchange(best)
            if self.step <= shortest:
                break

    def _find_best(self) -> tuple[Best, float]:
        # The column with the largest edge, and the gap of the restricted game.
        self.edges = self.atoms.edges(self.d)
        best = self.atoms.best(self.edges)
        return best, self.atoms.gap(self.d, best)

    def _newton(self, best: Best, gap: float, clock: Clock) -> None:
        active = self.atoms
        scale = active.over.scale
        active.slot(best)
        edges = active.edges(self.d)
        # Only columns with weight, and columns with an edge above the mean edge of the weights,
        # can gain or lose weight at first order.
        is_free = (active.weights > 0.0) | (scale * edges > float(self.d @ active.u))
        slots = np.flatnonzero(is_free)
        atoms = scale * active.columns[:, slots].astype(np.float64)
        gradient = scale * edges[slots]
        weights = active.weights[slots] / scale
        if active.over.holds_zero:
            # The point w = 0 is an atom with margins 0, and has the missing weight.
            atoms = np.column_stack([atoms, np.zeros(active.u.size)])
            gradient = np.append(gradient, 0.0)
            weights = np.append(weights, max(0.0, 1.0 - float(weights.sum())))
        # If β is tiny, the Hessian may overflow, and there is no Newton step.
        with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
            hessian = self._hessian(atoms, clock)
        if not np.isfinite(hessian).all():
            self.step = 0.0
            return
        moved = weights.copy()
        # The model is <gradient, change> − <change, hessian · change>/2. The function `reweigh`
        # minimises <costs, moved> + <moved, hessian · moved>/2, its negative up to a constant.
        costs = -gradient - hessian @ weights
        reweigh(hessian, costs, moved, moved.size, (1.0, 0.0, 1.0), MODEL_ACCURACY * gap)
        change = moved - weights
        v = atoms @ change
        segment = Segment(active.u, v, float(gradient @ change))
        found = line_search(
            self._project, self._beta, segment, SEARCH_ACCURACY, self._stretches["newton"]
        )
        active.weights[slots] += found.eta * scale * change[: slots.size]
        # Rounding may leave a weight just below 0.
        np.maximum(active.weights, 0.0, out=active.weights)
        active.u = self._margins(found, v)
        self._finish("newton", found)

    def _hessian(self, atoms: Matrix, clock: Clock) -> Matrix:
        """Return minus the Hessian of the smoothed margin in the weights of the atoms.

        `atoms` has a column of margins for each atom. Raise `TimeUp` at the time limit.
        """
        changes = np.zeros_like(atoms)
        for j, v in enumerate(atoms.T):
            clock.check()
            size = kernels.largest(v)
            if size > 0.0:
                h = DIFFERENCE * self._beta / size
                changes[:, j] = (self.d - self._project(kernels.along(self.active.u, v, h))) / h
        products = atoms.T @ changes
        # Rounding errors make the matrix a little asymmetric.
        return np.asarray(0.5 * (products + products.T))

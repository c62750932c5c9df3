"""A point strictly inside all inequalities of a game, and the step of Mehrotra from it."""

from __future__ import annotations

from typing import Any, NamedTuple, Protocol

import numpy as np

from relaxboost._core.arrays import Array, Vector, Whole
from relaxboost._core.loop import seconds_left
from relaxboost.game.domains import AtomicSet
from relaxboost.matrices import kernels
from relaxboost.matrices.bulk import Bulk, Pricing
from relaxboost.relaxations import LinearForm
from relaxboost.relaxations.cone_form import ConeForm
from relaxboost.solvers.interior_point.barrier import FRACTION_TO_BOUNDARY
from relaxboost.solvers.interior_point.conic import Conic
from relaxboost.solvers.interior_point.edge_bounds import BoundsChange, EdgeBounds
from relaxboost.solvers.interior_point.elimination import Elimination
from relaxboost.solvers.interior_point.normal import UNSOLVED, Move, Normal, Right
from relaxboost.solvers.interior_point.part import Aim, Part
from relaxboost.solvers.interior_point.polyhedron import Polyhedron


class _Centre(NamedTuple):
    """The products of slack and multiplier at which a direction aims.

    Each part is one number for all products, or an array with a number for each.
    """

    part: Any
    bounds: Array | float


class _Equations(NamedTuple):
    """The right-hand side of Newton's equations, with the targets that lead to it."""

    right: Right
    aim: Aim
    bounds: Array


class _Direction(NamedTuple):
    """A direction in all variables."""

    equations: _Equations
    move: Move
    part: Any
    """The direction in the variables, slacks and multipliers of f."""
    bounds: BoundsChange


class Outsiders(Protocol):
    """Columns that are not in play. None of them may have an edge above v either."""

    def block(
        self, direction: Vector, v: float, rise: float, length: float
    ) -> tuple[float, tuple[Bulk, Whole] | None]:
        """Return the longest step, of at most `length`, after which no edge is above v.

        `direction` is the direction of d, and `rise` the change of v. If columns block the step,
        the best of them enter the play. The second result then contains all columns in play and
        the places of the former ones among them; otherwise it is None.
        """


class Iterate:
    """The program of a game and a point strictly inside its inequalities.

    The program is to minimise f(d) + r v over Σd = 1, the bounds v on all edges in `EdgeBounds`,
    and the constraints of f in `Part`, where r is the radius of the set of weights. Inequalities
    hold strictly from the start on, and equations converge. The page Mathematics, "The interior
    point method", derives the equations.

    Parameters
    ----------
    form : LinearForm or ConeForm
        The program that defines f.
    bulk : Bulk
        The products with the columns in play.
    over : AtomicSet
        The set W of the weights w.
    center : array of shape (m,)
        The distribution d near which the method starts.
    whole : Pricing, optional
        The edges of all columns, if only some columns are in play.

    References
    ----------
    Mehrotra (1992), SIAM J. Optim. 2; Gondzio (1996), Comput. Optim. Appl. 6; Wright (1997),
    Primal-Dual Interior-Point Methods, Ch. 10.
    """

    has_correctors = True
    """Whether centrality correctors cost much less than a factor."""

    def __init__(
        self,
        form: LinearForm | ConeForm,
        bulk: Bulk,
        over: AtomicSet,
        center: Vector,
        whole: Pricing | None = None,
    ) -> None:
        # Multipliers are about as large as r and the slopes of f. If r v exceeds its least value by
        # a tenth of that, the products of all slacks and multipliers start near each other.
        size = over.scale + float(np.abs(form.cost).max())
        part: Part
        if isinstance(form, LinearForm):
            part = Polyhedron(form, center, 0.1 * size / bulk.m)
        else:
            part = Conic(form, center, size)
        # The first v is above the edges of all columns, not only of those in play.
        highest = abs(kernels.first_largest((whole or bulk).edges(part.x[: bulk.m]))[1])
        v = highest + 0.1 * size / over.scale
        self._begin(part, EdgeBounds(bulk, over, part.x[: bulk.m], v))

    def _begin(self, part: Part, bounds: EdgeBounds, has_sum: bool = True) -> None:
        """Set the point, whose d sums to 1 in the end if `has_sum`."""
        self.part = part
        self.bounds = bounds
        self._has_sum = has_sum
        self._multiplier = 0.0
        """The multiplier λ of Σd = 1."""
        self.infeasibility = 1.0
        """An upper bound on the part of the first residuals that is left in any equation, except
        for roundings."""
        self.elimination = Elimination()

    @property
    def bulk(self) -> Bulk:
        """The products with the columns in play."""
        return self.bounds.bulk

    @property
    def d(self) -> Vector:
        """The distribution d. Its entries are positive, and their sum converges to 1."""
        return self.part.x[: self.bulk.m]

    @property
    def w(self) -> Vector:
        """The weights of the columns in play, shape (n,)."""
        return self.bounds.w

    @property
    def v(self) -> float:
        """The bound on all edges."""
        return self.bounds.v

    @property
    def mu(self) -> float:
        """The mean of slack · multiplier, which goes to zero."""
        return self.product / (self.part.count + self.bounds.pairs.count)

    @property
    def product(self) -> float:
        """The complementarity Σ slack · multiplier; once all equations hold, it is the gap."""
        return self.part.product + self.bounds.pairs.product

    def step(self, outsiders: Outsiders | None = None) -> float:
        """Take a predictor-corrector step; return the longer of the primal and the dual length.

        The step ends before an outsider has an edge above v, and the outsiders that block the step
        enter the play. So the iterates stay feasible for the whole game.

        Raises
        ------
        numpy.linalg.LinAlgError
            If Newton's equations have no solution in doubles.
        TimeUp
            If the time limit of the run is over. The point is unchanged then.
        """
        normal, direction = self._predict_and_correct()
        # Only the direction that is taken is refined. The predictor needs few digits.
        seconds_left()
        refined = normal.refined(direction.equations.right, direction.move)
        direction = self._complete(direction.equations, refined)
        self.elimination.note(normal)
        length, dual = self._longest(direction)
        admitted = None
        if outsiders is not None:
            heading = direction.move.t[: self.bulk.m]
            length, admitted = outsiders.block(heading, self.v, direction.move.v, length)
        # Primal and dual steps may differ in length, as is usual for linear programs.
        self._go(direction, FRACTION_TO_BOUNDARY * length, FRACTION_TO_BOUNDARY * dual)
        if admitted is not None:
            self.bounds.admit(*admitted, self.d)
        return max(length, dual)

    def _predict_and_correct(self) -> tuple[Normal, _Direction]:
        """Return the factorised equations and Mehrotra's direction."""
        scaling = self.bounds.scaling()._replace(has_sum=self._has_sum)
        normal = self.elimination.factorise(self.bulk, self.part.block(), scaling)
        predictor = self._solve(normal, _Centre(0.0, 0.0), None)
        mu = self._centring(predictor)
        corrected = self._solve(normal, _Centre(mu, mu), predictor)
        # Without a factor each corrector would cost as much as the predictor.
        if normal.iterations or not self.has_correctors:
            return normal, corrected
        return normal, self._recentre(normal, mu, predictor, corrected)

    def _recentre(
        self, normal: Normal, mu: float, predictor: _Direction, direction: _Direction
    ) -> _Direction:
        """Return the direction after Gondzio's multiple centrality correctors.

        Each corrector aims at steps that are longer by 0.2 and at products near `mu` after them. It
        is accepted if both steps together are longer by a tenth of that. (Gondzio aims at 0.1,
        which takes one step more in ten.)
        """
        # Each corrector changes the products at which the one before aimed.
        centre = _Centre(mu, mu)
        length = self._longest(direction)
        while True:
            step = min(1.0, length[0] + 0.2)
            dual = min(1.0, length[1] + 0.2)
            part = self.part.outliers(direction.part, step, dual, mu)
            # Cones have no such correctors.
            if part is None:
                return direction
            bounds = self.bounds.pairs.outliers(*direction.bounds, step, dual, mu)
            centre = _Centre(centre.part + part, centre.bounds + bounds)
            recentred = self._solve(normal, centre, predictor)
            longer = self._longest(recentred)
            if sum(longer) < sum(length) + 0.02:
                return direction
            direction = recentred
            length = longer

    def _centring(self, predictor: _Direction) -> float:
        """Return the product σ μ at which the corrector aims.

        The centring parameter of Mehrotra is σ = (μ after the predictor / μ)³.
        """
        length, dual = self._longest(predictor)
        after = self.part.product_after(length, dual, predictor.part)
        after += self.bounds.pairs.product_after(length, dual, *predictor.bounds)
        sigma = (after / self.product) ** 3
        return float(sigma * self.mu)

    def _solve(self, normal: Normal, centre: _Centre, predictor: _Direction | None) -> _Direction:
        """Return the direction to the products `centre`, corrected by a predictor if given."""
        seconds_left()
        # A w − λ is the gradient in d of the terms of the Lagrangian that do not belong to f.
        pull = self.bounds.margins - self._multiplier
        aim = self.part.aim(pull, centre.part, predictor and predictor.part)
        target = self.bounds.target(centre.bounds, predictor and predictor.bounds)
        q, s = self.bounds.right_side(target)
        right = Right(aim.h, q, s, 1.0 - float(self.d.sum()))
        return self._complete(_Equations(right, aim, target), normal.solve(right))

    def _complete(self, equations: _Equations, move: Move) -> _Direction:
        """Return the direction of all variables from a solution of the reduced equations."""
        # Overflow in a factor or in the curvature of a cone shows here.
        if not np.isfinite(move.t).all():
            raise np.linalg.LinAlgError(UNSOLVED)
        part = self.part.change(equations.aim, move.t)
        bounds = self.bounds.change(equations.bounds, move)
        return _Direction(equations, move, part, bounds)

    def _longest(self, direction: _Direction) -> tuple[float, float]:
        """Return the primal and the dual step to the boundary, each at most 1."""
        part = self.part.longest(direction.part)
        bounds = self.bounds.pairs.longest(*direction.bounds)
        steps = min(part[0], bounds[0]), min(part[1], bounds[1])
        # Equations in which primal and dual variables multiply each other need one step for both.
        return steps if self.bounds.is_linear else (min(steps),) * 2

    def _go(self, direction: _Direction, length: float, dual: float) -> None:
        self.part.go(length, dual, direction.part)
        v = self.v + length * direction.move.v
        self.bounds.go(length, dual, direction.bounds, self.d, v)
        self._multiplier += dual * direction.move.total
        # A step of length 1 solves all linear equations.
        left = self.infeasibility * (1.0 - min(length, dual))
        # Below this part of the first residuals, roundings prevail.
        self.infeasibility = max(left, 1e-10)

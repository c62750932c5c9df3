"""A point that strictly satisfies all inequalities of a game, and Mehrotra's (1992) step.

The inequalities are the constraints of the relaxation f and the bounds on the edges.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from relaxboost._core.arrays import Array, Vector
from relaxboost._core.loop import seconds_left
from relaxboost.game.domains import AtomicSet, L2Ball, SquaredNorm
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
from relaxboost.solvers.interior_point.sieve import Sieve
from relaxboost.solvers.interior_point.smooth_weights import SmoothWeights


class _Equations(NamedTuple):
    # `aim` is a result of `Part.aim`, and `bounds` is a result of `EdgeBounds.target`.
    right: Right
    aim: Aim
    bounds: Array


class _Direction(NamedTuple):
    # `move` solves Newton's equations. The steps of all other variables follow from it.
    equations: _Equations
    move: Move
    part: Any
    bounds: BoundsChange


class Iterate:
    """The program of a game, and a point that strictly satisfies its inequalities.

    The program minimises f(d) + r v, where d is the distribution, v is a bound on all edges, and r
    is the radius of the domain of the weights w. The constraints are Σd = 1, the bounds of
    `EdgeBounds`, and those of the relaxation f in `Part`. The inequalities hold strictly from the
    start, and the residuals of the equations converge to zero. The module `normal` has the
    equations of a step.

    Parameters
    ----------
    form : LinearForm or ConeForm
        The program that defines the relaxation f.
    bulk : Bulk
        The columns in the restricted problem.
    over : AtomicSet, L2Ball or SquaredNorm
        The domain of the weights w.
    center : array of shape (m,)
        The method starts near this distribution d.
    whole : Pricing, optional
        All columns of the game, if only some columns are in the restricted problem.

    References
    ----------
    Mehrotra (1992), SIAM J. Optim. 2; Wright (1997), Primal-Dual Interior-Point Methods, Ch. 10.
    """

    def __init__(
        self,
        form: LinearForm | ConeForm,
        bulk: Bulk,
        over: AtomicSet | L2Ball | SquaredNorm,
        center: Vector,
        whole: Pricing | None = None,
    ) -> None:
        # Multipliers are about as large as the margins and the slopes of f, and `reach` bounds the
        # margins. It is r over a set with atoms. If r v exceeds its least value by a tenth of that,
        # the products of all slacks and multipliers start near each other.
        size = over.reach(bulk.n) + float(np.abs(form.cost).max())
        part: Part
        if isinstance(form, LinearForm):
            part = Polyhedron(form, center, 0.1 * size / bulk.m)
        else:
            part = Conic(form, center, size)
        d = part.x[: bulk.m]
        # Over a Euclidean set the run starts from w = 0, the center of the set.
        zero = np.zeros(bulk.n)
        # The type is Any, because `SmoothWeights` can take the place of `EdgeBounds`.
        weights: Any
        if isinstance(over, L2Ball):
            weights = SmoothWeights(bulk, d, zero, float(over.radius), mu=0.1 * size)
        elif isinstance(over, SquaredNorm):
            weights = SmoothWeights(bulk, d, zero, quadratic=2.0 * float(over.weight))
        else:
            # The first v is above the edges of all columns, not only of those in use.
            highest = abs(kernels.first_largest((whole or bulk).edges(d))[1])
            weights = EdgeBounds(bulk, over, d, highest + 0.1 * size / over.scale)
        self._begin(part, weights)

    def _begin(self, part: Part, bounds: EdgeBounds, has_sum: bool = True) -> None:
        self.part = part
        self.bounds = bounds
        self._has_sum = has_sum
        # This is the multiplier λ of the equation Σd = 1.
        self._multiplier = 0.0
        self.infeasibility = 1.0
        """An upper bound on the residuals of the equations, relative to the start. It ignores
        rounding errors."""
        self.elimination = Elimination()

    @property
    def bulk(self) -> Bulk:
        """The columns of the game matrix in the restricted problem."""
        return self.bounds.bulk

    @property
    def d(self) -> Vector:
        """The distribution d. Its entries are positive, and their sum converges to 1."""
        return self.part.x[: self.bulk.m]

    @property
    def w(self) -> Vector:
        """The weights of the n columns in the restricted problem."""
        return self.bounds.w

    @property
    def v(self) -> float:
        """The bound v on all edges, greater than the edge of every column."""
        return self.bounds.v

    @property
    def mu(self) -> float:
        """The mean of slack times multiplier over all inequalities, which converges to zero."""
        return self.product / (self.part.count + self.bounds.pairs.count)

    @property
    def product(self) -> float:
        """The sum of slack times multiplier over all inequalities.

        If all equations hold, the sum is the duality gap.
        """
        return self.part.product + self.bounds.pairs.product

    def step(self, sieve: Sieve | None = None) -> float:
        """Take a predictor-corrector step, and return its length.

        The result is the larger of the lengths of the primal and the dual step.

        If some columns are outside the restricted problem, `sieve` has all columns. After the step,
        v is still greater than all edges, and some of the columns that limit the step enter the
        restricted problem.

        Raises
        ------
        numpy.linalg.LinAlgError
            If Newton's equations have no solution in double precision.
        TimeUp
            If the time limit has been reached. The point is then unchanged.
        """
        normal, direction = self._predict_and_correct()
        # Only the direction that is taken is refined. The predictor needs few digits.
        seconds_left()
        refined = normal.refined(direction.equations.right, direction.move)
        direction = self._complete(direction.equations, refined)
        self.elimination.note(normal)
        length, dual = self._longest(direction)
        admitted = None
        if sieve is not None:
            heading = direction.move.t[: self.bulk.m]
            length, admitted = sieve.block(heading, self.v, direction.move.v, length)
        # Primal and dual steps may differ in length, as is usual for linear programs.
        self._go(direction, FRACTION_TO_BOUNDARY * length, FRACTION_TO_BOUNDARY * dual)
        if admitted is not None:
            self.bounds.admit(*admitted, self.d)
        return max(length, dual)

    def _predict_and_correct(self) -> tuple[Normal, _Direction]:
        # The corrector shares one factorisation with the predictor.
        scaling = self.bounds.scaling()._replace(has_sum=self._has_sum)
        normal = self.elimination.factorise(self.bulk, self.part.block(), scaling)
        predictor = self._solve(normal, None, 0.0)
        # The centring parameter σ of Mehrotra is q³. Here q is the sum of the products of slack and
        # multiplier after the predictor, divided by their current sum.
        steps = self._longest(predictor)
        after = self.part.product_after(*steps, predictor.part)
        after += self.bounds.pairs.product_after(*steps, *predictor.bounds)
        mu = float((after / self.product) ** 3 * self.mu)
        corrected = self._solve(normal, predictor, mu)
        # Near the boundary of exponential cones the second-order terms may be so large that the
        # step has length zero. A step longer than 0.1 ends such a series of short steps.
        length = self._longest(corrected)
        if max(length) < 0.1:
            plain = self._solve(normal, None, mu)
            if sum(self._longest(plain)) > sum(length):
                return normal, plain
        return normal, corrected

    def _solve(self, normal: Normal, predictor: _Direction | None, centre: float) -> _Direction:
        # The direction leads to a point at which each product of slack and multiplier is `centre`.
        seconds_left()
        # A w − λ is the gradient in d of the terms of the Lagrangian other than those of f.
        pull = self.bounds.margins - self._multiplier
        aim = self.part.aim(pull, centre, predictor and predictor.part)
        target = self.bounds.target(centre, predictor and predictor.bounds)
        q, s = self.bounds.right_side(target)
        right = Right(aim.h, q, s, 1.0 - float(self.d.sum()))
        return self._complete(_Equations(right, aim, target), normal.solve(right))

    def _complete(self, equations: _Equations, move: Move) -> _Direction:
        # Overflow in a factor or in the curvature of a cone shows here.
        if not np.isfinite(move.t).all():
            raise np.linalg.LinAlgError(UNSOLVED)
        part = self.part.change(equations.aim, move.t)
        bounds = self.bounds.change(equations.bounds, move)
        return _Direction(equations, move, part, bounds)

    def _longest(self, direction: _Direction) -> tuple[float, float]:
        # After the longest primal and dual steps, the slacks and the multipliers of linear
        # inequalities are nonnegative, and those of cones are in their cones.
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
        # If the residuals are a smaller part of the first residuals, they are rounding errors.
        self.infeasibility = max(left, 1e-10)

"""A point strictly inside all inequalities of a game, and Mehrotra's step from it."""

from __future__ import annotations

from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from relaxboost._core.arrays import Array, Vector, Whole
from relaxboost.game.domains import AtomicSet
from relaxboost.matrices import kernels
from relaxboost.matrices.bulk import Bulk, Pricing
from relaxboost.relaxations import LinearForm
from relaxboost.relaxations.cone_bounds import ConeProof
from relaxboost.relaxations.cone_form import ConeForm
from relaxboost.solvers.interior_point.additive import seconds_dense, seconds_of_passes
from relaxboost.solvers.interior_point.barrier import TINY, Barrier
from relaxboost.solvers.interior_point.block import Diagonal
from relaxboost.solvers.interior_point.conic import Conic
from relaxboost.solvers.interior_point.normal import (
    UNSOLVED,
    ByColumns,
    ByExamples,
    ByPasses,
    ColumnScaling,
    Move,
    Normal,
    Right,
)
from relaxboost.solvers.interior_point.part import Aim, Part
from relaxboost.solvers.interior_point.polyhedron import Polyhedron

_SHORT = 0.995
"""The part gone of the way to the boundary."""
_CORRECTORS, _FURTHER = 4, 0.2
"""Corrections of a direction at most, where a factor makes them cheap; and how much longer a step
each is to allow, of which a tenth is enough."""
_AROUND, _LEAST = 3.0, 1e-3
"""How many times the value at the centre products begin at, and the least of what they could be:
larger ones take steps to fall."""
_SPOILT = 0.5
"""The part of the predictor's steps below which its correction is tried without."""
_LIGHT = 1e-3
"""The part of the mean weight that is next to none."""
LARGEST = 12_000
"""Order up to which a dense matrix is factorised."""
_WIDE = 10
"""How many columns there may be for each example where a matrix in the examples has no factor."""
_WORSE = 1.05
"""The factor by which iterations are expected to rise in a step."""
_WIDER = 2.0
"""How many times a matrix costs itself with the columns that enter."""
_MANY = 100
"""Iterations from which equations are so ill-conditioned that a matrix ends sooner."""
_FRESH = 0.1
"""The part of the mean weight that a new column may get, since all of it is missing from the
equations."""
_BEYOND = 1.2
"""How far a look for columns that block a step goes beyond that of a rough direction, since better
ones go further. A second look is along the better one."""
_NOTHING = 0.0, 0.0, 0.0
"""The products that the predictor aims at."""


class _Equations(NamedTuple):
    """Newton's equations, and what they were made of."""

    right: Right
    aim: Aim
    missing: Array
    """What the multipliers of the columns lack to their products, and that of v >= 0."""
    spare: Array


class _Change(NamedTuple):
    """A direction in all variables, and what it solves."""

    equations: _Equations
    move: Move
    part: Any
    """That of the variables that belong to f."""
    slack: Array
    mult: Array
    """The changes of slacks and of weights, one row for each sign."""
    floor: tuple[Array, Array]
    """Those of v >= 0, where that is an inequality of its own."""


class Others(Protocol):
    """Columns that are not in play, of which none may cost more than v.

    They are asked along a direction of d, while v rises by `rise`.
    """

    def reach(self, direction: Vector, v: float, rise: float) -> float:
        """Return the step at which one does, 1 at most."""

    def enter(
        self, direction: Vector, v: float, rise: float, length: float
    ) -> tuple[Bulk, Whole] | None:
        """Let those enter that would after a step of this length.

        Return the columns in play and the places of those of before, None where none enters.
        """


class Iterate:
    """The program of a game, min f(d) + r v, and a point strictly inside its bounds.

    Σd = 1, and ± <a_j, d> <= v for each column j (without the minus over the simplices). The
    multipliers of these are w_j⁺ and w_j⁻. Over the full simplex 0 <= v too, whose multiplier is
    the weight left out. They hold strictly from the start; Σd = 1 and what is dual converge, and
    what f has of its own is in its `Part`.

    Parameters
    ----------
    form : LinearForm
    bulk : Bulk
    over : AtomicSet
    center : array of shape (m,)
        A d to start near.
    whole : Pricing, optional
        All columns, where those in play are some: v starts above them.

    References
    ----------
    Mehrotra (1992), SIAM J. Optim. 2; Wright (1997), Primal-Dual Interior-Point Methods, Ch. 10.
    """

    def __init__(
        self,
        form: LinearForm | ConeForm,
        bulk: Bulk,
        over: AtomicSet,
        center: Vector,
        whole: Pricing | None = None,
    ) -> None:
        self.bulk, self._over, m = bulk, over, bulk.m
        """The columns in play."""
        self._signs = np.array([[1.0], [-1.0]] if over.two_sided else [[1.0]])
        self.total = 0.0
        self.left = 1.0
        """What at most is left of what the equations lacked at the start, above roundings."""
        self._iterations: float = 20
        """The most that a right-hand side of the last step by passes took."""
        self._tied = False
        """Whether rows of f left a matrix in d alone without a factor."""
        self.by_passes = False
        """Whether the last step was one, which costs as much as many with a small factor."""
        # Multipliers are of the size of r and of the slopes of f, whichever is larger, and a v
        # that is as far off in r v keeps the products near each other.
        slopes = float(np.abs(form.cost).max())
        size = over.scale + slopes
        if isinstance(form, LinearForm) and form.rows is None:
            around = over.scale * float(np.abs((whole or bulk).edges(center)).max()) + slopes
            size = min(size, max(_AROUND * around, _LEAST * size))
        centre = 0.1 * size / m
        self._part: Part
        if isinstance(form, LinearForm):
            self._part = Polyhedron(form, center, centre)
        else:
            self._part = Conic(form, center, size)
        self.edges = bulk.edges(self.d)
        highest = abs(kernels.first_largest((whole or bulk).edges(self.d))[1])
        self.v = highest + 0.1 * size / over.scale
        slack = self.v - self._signs * self.edges
        self._columns = Barrier(slack, centre, np.ones(slack.shape, dtype=bool))
        own = np.full(int(over.holds_zero and not over.two_sided), self.v)
        self._floor = Barrier(own, centre, np.ones(own.shape, dtype=bool))
        for pairs in (self._columns, self._floor):
            pairs.mult[:] = over.scale / (slack.size + own.size)
        self.margins = bulk.margins(self.w)

    @property
    def d(self) -> Vector:
        """The distribution, positive; it sums to one up to what has not converged."""
        return self._part.x[: self.bulk.m]

    @property
    def w(self) -> Vector:
        """The weights, shape (n,)."""
        return np.asarray((self._signs * self._columns.mult).sum(axis=0))

    @property
    def proof(self) -> ConeProof | None:
        """The multipliers of f's cone form, where it has one."""
        return self._part.proof

    @property
    def in_use(self) -> NDArray[np.bool_]:
        """Which columns have more weight than slack: those that the optimum uses, near the end."""
        return np.asarray((self._columns.mult > self._columns.slack).any(axis=0))

    @property
    def mu(self) -> float:
        """The mean of slack · multiplier, which goes to zero."""
        return self.product / self._count

    @property
    def product(self) -> float:
        """Σ slack · multiplier: the gap, once nothing is missing from the equations."""
        return self._part.product + self._columns.product + self._floor.product

    @property
    def _count(self) -> float:
        return self._part.count + self._columns.count + self._floor.count

    def step(self, others: Others | None = None) -> float:
        """Go a predictor and a corrector step; return the longer of the two lengths.

        Of others, those that block the step enter before it is taken. So every column counts in
        it, and the iterates stay near the central path of the whole game.
        """
        while True:
            try:
                return self._stepped(others)
            except np.linalg.LinAlgError:
                if not (self.bulk.rounded or self.bulk.single):
                    raise
            self.bulk.single &= self.bulk.rounded
            self.bulk.rounded = False

    def _stepped(self, others: Others | None) -> float:
        normal = self._factorised()
        first = self._newton(normal, _NOTHING)
        change: _Change | None = None
        if others is not None:
            normal, first, change = self._unblocked(others, normal, first)
        if change is None:
            change = self._corrected(normal, self._centre(first), first)
        equations = change.equations
        change = self._change(equations, normal.refined(equations.right, change.move))
        self._counted(normal)
        length, dual = self._longest(change)
        if others is not None:
            length = min(length, others.reach(*self._heading(change)))
        self._go(change, min(1.0, _SHORT * length), min(1.0, _SHORT * dual))
        return max(length, dual)

    def _unblocked(
        self, others: Others, normal: Normal, first: _Change
    ) -> tuple[Normal, _Change, _Change | None]:
        """Let those enter that block the step; return the equations then, with their predictor.

        And the corrected direction, where the last look has made it and nothing entered.
        """
        for rough in (True, False):
            change = self._corrected(normal, self._centre(first), first, rough)
            length = self._longest(change)[0] * (_BEYOND if rough else 1.0)
            entered = others.enter(*self._heading(change), min(length, 1.0))
            if not (rough or entered):
                return normal, first, change
            self._counted(normal)
            if not entered and self.by_passes:  # the next would be the same
                return normal, first, change
            if entered:
                bulk, place = entered
                self._take(bulk, self._columns.slack, self._columns.mult, place)
                normal = self._factorised((normal, place))
                first = self._newton(normal, _NOTHING)
        return normal, first, None

    def _counted(self, normal: Normal) -> None:
        """Note whether a step is one by passes, and what iterations it took."""
        self.by_passes = normal.iterations > 0
        if self.by_passes:
            self._iterations = normal.iterations if normal.iterations < _MANY else np.inf

    def _heading(self, change: _Change) -> tuple[Vector, float, float]:
        """Return the direction of d, v, and how far v rises."""
        return change.move.t[: self.bulk.m], self.v, change.move.v

    def _centre(self, first: _Change) -> float:
        """Return what products are to become, from how far the predictor goes."""
        part, columns, mu = self._part, self._columns, self.mu
        length, dual = self._longest(first)
        after = part.product_after(length, dual, first.part)
        after += columns.product_after(length, dual, first.slack, first.mult)
        after += self._floor.product_after(length, dual, *first.floor)
        return float((after / self._count / mu) ** 3 * mu)

    def _corrected(
        self, normal: Normal, centre: float, first: _Change, rough: bool = False
    ) -> _Change:
        """Return the direction corrected by the predictor, and again while its steps get longer.

        Products that longer steps would bring far from `centre` are bent towards it (Gondzio 1996,
        Comput. Optim. Appl. 6). A `rough` one is corrected once. Where pairs are far from their
        centre already, the predictor's products may be so large that they spoil the direction.
        """
        aims: tuple[Any, Any, Any] = (centre, centre, centre)
        predictor: _Change | None = first
        change = self._newton(normal, aims, predictor)
        lengths = self._longest(change)
        if sum(lengths) < _SPOILT * sum(self._longest(first)):
            plain = self._newton(normal, aims)
            others = self._longest(plain)
            if sum(others) > sum(lengths):
                change, lengths, predictor = plain, others, None
        for _ in range(0 if rough or normal.iterations else _CORRECTORS):
            further = (*(min(1.0, length + _FURTHER) for length in lengths), centre)
            bent = self._part.bent(change.part, *further)
            if bent is None:
                break
            aims = (
                aims[0] + bent,
                aims[1] + self._columns.bent(change.slack, change.mult, *further),
                aims[2] + self._floor.bent(*change.floor, *further),
            )
            other = self._newton(normal, aims, predictor)
            longer = self._longest(other)
            if sum(longer) < sum(lengths) + 0.1 * _FURTHER:
                break
            change, lengths = other, longer
        return change

    def _factorised(self, before: tuple[Normal, Whole] | None = None) -> Normal:
        m, bulk, block = self.bulk.m, self.bulk, self._part.block()
        ratio = self._columns.ratio
        D, E = ratio.sum(axis=0), (self._signs * ratio).sum(axis=0)
        if not D.all():
            raise np.linalg.LinAlgError(UNSOLVED)
        kappa = float((4.0 * ratio[0] * ratio[1] / D).sum()) if len(ratio) == 2 else 0.0
        floor = float(self._floor.ratio.sum())
        made = ColumnScaling(D, E, kappa + floor, floor)
        diagonal = isinstance(block, Diagonal)
        bulk.single &= not block.written  # a K that does not fall apart has too little to lose
        bulk.rounded &= diagonal
        by_examples = bulk.n > m and not self._tied
        if by_examples or (block.written and bulk.array is None):
            try:
                return ByExamples(bulk, block, made)
            except np.linalg.LinAlgError:  # rows of f say too much of d for a matrix in d alone
                if diagonal or block.written or bulk.n > min(_WIDE * m, LARGEST):
                    raise
                self._tied = True
        small = bulk.levels is None or bulk.n <= LARGEST
        if diagonal and small and before is not None and type(before[0]) is ByColumns:
            return ByColumns(bulk, block, made, (before[0], before[1]))
        if block.written and not self._tied and m <= LARGEST:
            try:
                return ByColumns(bulk, block, made)
            except np.linalg.LinAlgError:  # K⁻¹ lost digits that its Schur complement in d keeps
                return ByExamples(bulk, block, made)
        if bulk.levels is None or not diagonal:
            return ByColumns(bulk, block, made)
        features = len(bulk.levels.codes)
        dense = _WIDER * seconds_dense(features, m, bulk.n)
        if bulk.n <= LARGEST and dense < seconds_of_passes(features, m, self._iterations):
            self._iterations *= _WORSE
            return ByColumns(bulk, block, made)
        return ByPasses(bulk, block, made)

    def _newton(
        self, normal: Normal, aims: tuple[Any, Any, Any], first: _Change | None = None
    ) -> _Change:
        """Return the direction to products of `aims`, corrected by the predictor `first`.

        These are of f, of the columns and of v >= 0, each for all of them or one by one.
        """
        columns, floor = self._columns, self._floor
        aim = self._part.aim(self.margins - self.total, aims[0], first and first.part)
        wanted = aims[1] if first is None else aims[1] - first.slack * first.mult
        missing = columns.missing(wanted)
        spare = floor.missing(aims[2] if first is None else aims[2] - np.multiply(*first.floor))
        D = columns.ratio.sum(axis=0)
        signs = self._signs * columns.ratio / D
        net = (self._signs * missing).sum(axis=0)
        short = self._over.scale - float(columns.mult.sum()) - float((floor.mult + spare).sum())
        right = Right(
            aim.h,
            -net / D,
            float(missing.sum()) - float(signs.sum(axis=0) @ net) - short,
            1.0 - float(self.d.sum()),
        )
        return self._change(_Equations(right, aim, missing, spare), normal.solve(right))

    def _change(self, equations: _Equations, move: Move) -> _Change:
        """Return what a solution of the equations changes."""
        columns, floor = self._columns, self._floor
        _, aim, missing, spare = equations
        if not np.isfinite(move.t).all():
            raise np.linalg.LinAlgError(UNSOLVED)
        slack = move.v - self._signs * move.edges
        changes = missing - columns.ratio * slack
        if len(changes) == 2:  # what is large follows from the sum, without cancellation
            larger = columns.ratio[0] > columns.ratio[1]
            changes = np.where(
                np.stack([larger, ~larger]),
                np.stack([move.y + changes[1], changes[0] - move.y]),
                changes,
            )
        else:
            changes = move.y[None, :]
        raised = np.full_like(spare, move.v)
        rest = raised, spare - floor.ratio * raised
        part = self._part.change(aim, move.t)
        return _Change(equations, move, part, slack, changes, rest)

    def _longest(self, change: _Change) -> tuple[float, float]:
        pairs = (
            self._part.longest(change.part),
            self._columns.longest(change.slack, change.mult),
            self._floor.longest(*change.floor),
        )
        return min(p[0] for p in pairs), min(p[1] for p in pairs)

    def _go(self, change: _Change, length: float, dual: float) -> None:
        self._part.go(length, dual, change.part)
        self.left = max(self.left * (1.0 - min(length, dual)), 1e-10)
        self.total += dual * change.move.total
        self.v += length * change.move.v
        self.edges = self.bulk.edges(self.d)
        self._columns.move(self.v - self._signs * self.edges, dual, change.mult)
        self._floor.move(np.full_like(self._floor.slack, self.v), dual, change.floor[1])
        self.margins = self.bulk.margins(self.w)

    def weighty(self, part: float) -> NDArray[np.bool_]:
        """Return which columns have a curvature of at least this part of those in use, or weight.

        Near the end curvatures differ so much that one in use, not yet centred, looks idle.
        """
        largest: Vector = self._columns.ratio.max(axis=0)
        used = self.in_use
        weight = self._columns.mult.max(axis=0) > _LIGHT * self._over.scale / used.size
        return weight | (largest >= part * (np.median(largest[used]) if used.any() else 0.0))

    def leave(self, bulk: Bulk, stay: NDArray[np.bool_]) -> None:
        """Go on with the columns that `stay`; of cuts, the next take over the weight of others."""
        mult = self._columns.mult[:, stay]
        if bulk.levels is not None and stay.any():
            gone = np.flatnonzero(~stay)
            heirs = np.searchsorted(np.flatnonzero(stay), gone)
            np.add.at(mult.T, np.minimum(heirs, mult.shape[1] - 1), self._columns.mult[:, gone].T)
        self._take(bulk, self._columns.slack[:, stay], mult, np.arange(bulk.n))

    def _take(self, bulk: Bulk, slack: Array, mult: Array, place: Whole) -> None:
        """Go on with other columns: those of `slack` and `mult` at `place`, and new ones.

        New products are of the present mean.
        """
        mu = self.mu
        self.bulk, self.edges = bulk, bulk.edges(self.d)
        slacks = np.maximum(self.v - self._signs * self.edges, TINY)
        slacks[:, place] = slack
        self._columns = Barrier(slacks, mu, np.ones(slacks.shape, dtype=bool))
        self._columns.mult = np.minimum(self._columns.mult, _FRESH * self._over.scale / bulk.n)
        self._columns.mult[:, place] = mult
        self.margins = bulk.margins(self.w)

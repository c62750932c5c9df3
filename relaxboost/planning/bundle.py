"""The bundle method: queries at the minimiser of a cutting-plane model."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from relaxboost._core.arrays import Array, Whole, doubles
from relaxboost._core.errors import InputError
from relaxboost._core.loop import Clock
from relaxboost._core.parameters import count
from relaxboost.planning.costs import LinearCosts
from relaxboost.planning.cuts import Cuts, average
from relaxboost.planning.problem import FitPoint, Problem


class FitState(NamedTuple):
    """The result of a round."""

    point: FitPoint
    """The point where the round evaluated the objective."""
    lower: float
    """The best lower bound of the least value so far."""


@dataclass(frozen=True)
class Bundle:
    """Kelley's cutting-plane method.

    The model is a sum of cutting planes, one sum for each group of demonstrations. Its least value
    is the lower bound, and its minimiser is the next query.

    Parameters
    ----------
    start : LinearCosts or array of shape (d,), optional
        The first query, such as an earlier `Fit`; by default w = 0. It is projected to the domain
        of the regulariser.
    max_cuts : int
        The number of cuts to keep. Those that were inactive for the longest time are dropped first.
    patience : int
        A run is stalled after this number of rounds in which rounding let neither bound change.

    References
    ----------
    Kelley (1960), The cutting-plane method for solving convex programs. Joachims, Finley & Yu
    (2009), Cutting-plane training of structural SVMs.
    """

    start: LinearCosts | ArrayLike | None = field(default=None, repr=False, compare=False)
    max_cuts: int = 500
    patience: int = 60

    def __post_init__(self) -> None:
        count("max_cuts", self.max_cuts)
        count("patience", self.patience)

    def first(self, problem: Problem) -> Array:
        """Return the first query, a point of the problem's domain, shape (d,)."""
        if self.start is None:
            return np.zeros(problem.d)
        given = self.start
        if isinstance(given, LinearCosts):
            # Weights belong to features by their names, not by their places.
            if given.names != problem.names:
                raise InputError(
                    f"start was learned on features {', '.join(given.names)}, and these tasks have "
                    f"{', '.join(problem.names)}"
                )
            given = given.w
        w = np.array(doubles("start", given))
        if w.shape != (problem.d,) or not np.isfinite(w).all():
            raise InputError(
                f"start needs {problem.d} finite entries, one a feature, got {given!r}"
            )
        return problem.project(w)


def rounds(
    model: CuttingPlanes, point: FitPoint, clock: Clock, patience: int
) -> Iterator[FitState]:
    """Yield the rounds of the method, beginning with a point and the cuts of a model."""
    best = math.inf
    lower = 0.0
    still = 0
    while still < patience:
        before = (best, lower)
        model.add(point.cuts)
        w, bound = model.minimise()
        lower = max(lower, bound)
        best = min(best, point.value)
        yield FitState(point, lower)
        # Rounding errors of the master problem may repeat the same query for ever.
        still = still + 1 if (best, lower) == before else 0
        query = _polyak(model.problem, point, lower) if w is None else w
        point = model.problem.at(query, clock=clock)


def _polyak(problem: Problem, last: FitPoint, level: float) -> Array:
    """Return Polyak's subgradient step towards a level, which needs no solver."""
    slope = last.cuts.slope.sum(axis=0)
    square = float(slope @ slope)
    by = (last.value - level) / square if square > 0.0 else 0.0
    return problem.project(last.w - by * slope)


class CuttingPlanes:
    """The model m(w) = Σ over groups of the largest offset + <slope, w>, a lower bound of R.

    Its programs are posed in w times the root mean squares of features, and in values divided by
    the largest offset. Solvers then see the same numbers whatever the units of features are.
    """

    def __init__(self, problem: Problem, max_cuts: int) -> None:
        self.problem = problem
        self.max_cuts = max_cuts
        self.groups = int(problem.groups.max()) + 1
        zero = np.zeros((self.groups, problem.d))
        self.cuts = Cuts(zero[:, 0], zero, zero)  # the cuts 0 <= R of each group, never dropped
        self.group = np.arange(self.groups)
        self.idle = np.zeros(self.groups, dtype=np.int64)
        """The number of rounds for which each cut has been inactive."""
        self._known = self._keys(self.cuts, self.group)

    @staticmethod
    def _keys(cuts: Cuts, group: Whole) -> set[bytes]:
        return {row.tobytes() for row in np.column_stack([group, cuts.offset, cuts.slope])}

    def add(self, cuts: Cuts) -> None:
        """Add a cut of each group, unless the model has it or it is implied by 0 <= R."""
        keys = np.column_stack([np.arange(self.groups), cuts.offset, cuts.slope])
        says = (cuts.offset > 0.0) | cuts.slope.any(axis=1)
        # Equal cuts would make the multipliers ambiguous, and the programs larger.
        new = says & [row.tobytes() not in self._known for row in keys]
        self._known |= {row.tobytes() for row in keys[new]}
        pairs = zip(self.cuts, cuts.at(new), strict=True)
        self.cuts = Cuts(*(np.concatenate(pair) for pair in pairs))
        self.group = np.concatenate([self.group, np.flatnonzero(new)])
        self.idle = np.concatenate([self.idle, np.zeros(int(new.sum()), dtype=np.int64)])

    def minimise(self) -> tuple[Array | None, float]:
        """Return the minimiser of Ω + m, and a lower bound of min Ω + R.

        The bound comes from the multipliers of the cuts, which are turned into a distribution in
        each group. The value that the solver reports is not used. If the solver fails, the result
        is None and 0.
        """
        found = self.solve()
        if found is None:
            warnings.warn(
                f"Clarabel could not solve a master problem of {self.idle.size} cuts; the run "
                "continues with subgradient steps, and the bounds stay true. A larger strength "
                "helps",
                RuntimeWarning,
                stacklevel=3,
            )
            return None, 0.0
        w, alpha = found
        cut = average(self.cuts, alpha, self.group)
        bound = 0.0 if cut is None else self.problem.lower(cut)
        self._forget(alpha)
        return w, bound

    def solve(self) -> tuple[Array, Array] | None:
        """Return the minimiser of Ω + m, and the multipliers of the cuts, or None.

        Neither array is trusted by callers. None is returned if the solver fails. The variables are
        z = w / (size · unit), then the height of each group's cuts divided by size, and, if signs
        are free and Ω has an l1 part, a y >= |z|.
        """
        problem = self.problem
        unit = 1.0 / problem.rms
        size = self._value_size(unit)
        A, b, costs = self._program(unit, size)
        curved = np.zeros(costs.size)
        square = problem.regulariser.form.square
        curved[: problem.d] = square * size * (problem.scale * unit) ** 2
        x, multipliers = _clarabel(curved, costs, A, b)
        if not (np.isfinite(x).all() and np.isfinite(multipliers).all()):
            return None
        return problem.project(size * unit * x[: problem.d]), multipliers[: self.group.size]

    def _value_size(self, unit: Array) -> float:
        """Return the divisor of values: the largest offset, or else the largest slope, or 1."""
        steep = float(np.abs(self.cuts.slope * unit).max())
        size = float(np.abs(self.cuts.offset).max())
        if size <= 1e-9 * steep:  # the offsets are 0, or rounding errors of 0
            size = steep
        return size if size > 0.0 else 1.0

    def _program(self, unit: Array, size: float) -> tuple[Array, Array, Array]:
        """Return A, b and c of the inequalities A x <= b and of the linear costs <c, x>."""
        problem = self.problem
        _, absolute, radius = self.problem.regulariser.form
        K = self.group.size
        d = problem.d
        m = self.groups
        # With w >= 0 the l1 norm is the sum of w, which needs no further variables.
        split = not problem.nonnegative and (absolute > 0.0 or radius < math.inf)
        n = d + m + (d if split else 0)
        l1 = np.zeros(n)
        l1[slice(d + m, n) if split else slice(d)] = problem.scale * unit
        penalty = absolute * l1
        penalty[d : d + m] = 1.0
        below = np.zeros((K, n))
        below[:, :d] = self.cuts.slope * unit
        below[np.arange(K), d + self.group] = -1.0
        rows = [below]
        b = [-self.cuts.offset / size]
        if problem.nonnegative:
            rows.append(-np.eye(d, n))
            b.append(np.zeros(d))
        for sign in (1.0, -1.0) if split else ():
            rows.append(sign * np.eye(d, n) - np.eye(d, n, d + m))
            b.append(np.zeros(d))
        if radius < math.inf:
            rows.append(l1[None])
            b.append(np.array([radius / size]))
        return np.vstack(rows), np.concatenate(b), penalty

    def _forget(self, alpha: Array) -> None:
        """Drop the cuts that were inactive for the longest time, if there are too many.

        Bounds that they gave stay true, and the minimiser of the model depends on active cuts only.
        """
        # Clarabel is accurate to 1e-10, so that a multiplier above 1e-8 is not a rounding error.
        self.idle = np.where(alpha > 1e-8, 0, self.idle + 1)
        self.idle[: self.groups] = 0
        if self.idle.size > self.max_cuts:
            order = np.argsort(self.idle, kind="stable")
            # A quarter goes at once, so that the keys are not rebuilt in each round.
            few = max(self.groups, 3 * self.max_cuts // 4, int((self.idle == 0).sum()))
            kept = np.sort(order[:few])
            self.cuts = self.cuts.at(kept)
            self.group = self.group[kept]
            self.idle = self.idle[kept]
            self._known = self._keys(self.cuts, self.group)


def _clarabel(P: Array, q: Array, A: Array, b: Array) -> tuple[Array, Array]:
    """Return x and the multipliers of min <x, P x>/2 + <q, x> for A x <= b, with P diagonal.

    They are nan if the solver calls the program infeasible.
    """
    import clarabel

    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = 1e-10
    n = q.size
    # Made of its arrays, the matrix costs a tenth of a conversion by SciPy.
    columns, places = np.nonzero(A.T)
    ends = np.searchsorted(columns, np.arange(n + 1))
    kept = sparse.csc_matrix((A[places, columns], places, ends), A.shape)
    diagonal = sparse.csc_matrix((P, np.arange(n), np.arange(n + 1)), (n, n))
    cones = [clarabel.NonnegativeConeT(b.size)]
    said = clarabel.DefaultSolver(diagonal, q, kept, b, cones, settings).solve()
    nothing = (clarabel.SolverStatus.PrimalInfeasible, clarabel.SolverStatus.DualInfeasible)
    if said.status in nothing:
        return np.full(n, np.nan), np.full(b.size, np.nan)
    return np.array(said.x), np.array(said.z)

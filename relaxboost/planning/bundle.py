"""Bundles of cuts: a query in each round at the least of the model they make, or nearby."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from relaxboost._core.arrays import Array, Whole, doubles
from relaxboost._core.errors import InputError
from relaxboost._core.loop import Clock
from relaxboost.planning.costs import LinearCosts
from relaxboost.planning.cuts import Cuts, mean
from relaxboost.planning.problem import FitPoint, Problem

_STALLED = 60
"""Rounds that changed neither bound after which rounding is to blame."""
_LEVEL = 0.3
"""Where between the lower and the upper bound the level is."""
_MOST = 500
"""Cuts to keep; those that have been inactive for longest go first."""
_INACTIVE = 1e-8
"""Multipliers up to which a cut has no part in the least of the model."""


class FitState(NamedTuple):
    """What a round found."""

    point: FitPoint
    """Where the objective was evaluated."""
    lower: float
    """Not above the least value."""


@dataclass(frozen=True)
class Bundle:
    """Kelley's method, and where it fails the level bundle method.

    The model is a sum of cutting planes, one for each group of demonstrations; its least value is
    the lower bound. While the last query brought at least half of what the model promised, the next
    is the minimiser of the model. Else that jumps about, and the next is the point nearest to the
    best so far where the model is below a level between the bounds.

    Parameters
    ----------
    start : LinearCosts or array of shape (d,), optional
        Where to begin, such as an earlier `Fit`; by default w = 0. It is projected to the set of
        the regulariser.

    References
    ----------
    Kelley (1960), The cutting-plane method for solving convex programs. Lemaréchal, Nemirovskii &
    Nesterov (1995), New variants of bundle methods. Joachims, Finley & Yu (2009), Cutting-plane
    training of structural SVMs.
    """

    start: LinearCosts | ArrayLike | None = field(default=None, repr=False, compare=False)

    def first(self, problem: Problem) -> Array:
        """Return the point of the problem's domain to begin with, shape (d,)."""
        if self.start is None:
            return np.zeros(problem.d)
        given = self.start
        if isinstance(given, LinearCosts):
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


def rounds(master: Master, best: FitPoint, clock: Clock) -> Iterator[FitState]:
    """Yield the steps of a `Bundle`, with the cuts that the master has already."""
    problem, point = master.problem, best
    lower, before, still, level = 0.0, (np.inf, 0.0), 0, -np.inf
    while still < _STALLED:
        master.add(point.cuts)
        w, bound = master.minimise()
        lower = max(lower, bound)
        yield FitState(point, lower)
        # Where the last query brought half of what was promised, the model is believed.
        right = point.value <= 0.5 * (best.value + level) or level == -np.inf
        best = min(best, point, key=lambda one: one.value)
        level = lower if right else lower + _LEVEL * (best.value - lower)
        near = master.solved(best.w, level) if level > lower else None
        w = w if near is None else near[0]
        point = problem.at(_polyak(problem, point, level) if w is None else w, clock=clock)
        still = still + 1 if (best.value, lower) == before else 0
        before = (best.value, lower)


def _polyak(problem: Problem, last: FitPoint, level: float) -> Array:
    """Return a step of Polyak's towards the level, which needs no solver."""
    slope = last.cuts.slope.sum(axis=0)
    square = float(slope @ slope)
    by = (last.value - level) / square if square > 0.0 else 0.0
    return problem.project(last.w - by * slope)


class Master:
    """The model m(w) = Σ over groups of the largest of offset + <slope, w>, which is below R.

    Its programs are posed in w times the root mean squares of features, and in values divided by
    the largest offset, so that units of features do not matter to solvers.
    """

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self.groups = int(problem.groups.max()) + 1
        zero = np.zeros((self.groups, problem.d))
        self.cuts = Cuts(zero[:, 0], zero, zero)  # R >= 0
        self.group = np.arange(self.groups)
        self.idle = np.zeros(self.groups, dtype=np.int64)
        self._known = self._keys(self.cuts, self.group)

    @staticmethod
    def _keys(cuts: Cuts, group: Whole) -> set[bytes]:
        return {row.tobytes() for row in np.column_stack([group, cuts.offset, cuts.slope])}

    def add(self, cuts: Cuts) -> None:
        """Add a cut of each group, but those that are there already or say less than 0 <= R."""
        keys = np.column_stack([np.arange(self.groups), cuts.offset, cuts.slope])
        says = (cuts.offset > 0.0) | cuts.slope.any(axis=1)
        new = says & [row.tobytes() not in self._known for row in keys]
        self._known |= {row.tobytes() for row in keys[new]}
        pairs = zip(self.cuts, cuts.of(new), strict=True)
        self.cuts = Cuts(*(np.concatenate(pair) for pair in pairs))
        self.group = np.concatenate([self.group, np.flatnonzero(new)])
        self.idle = np.concatenate([self.idle, np.zeros(int(new.sum()), dtype=np.int64)])

    def minimise(self) -> tuple[Array | None, float]:
        """Return the w of least Ω + m, and a lower bound of min Ω + R.

        The bound comes from the multipliers of the cuts, made a distribution in each group, not
        from the solver's value. Where it finds none, None and 0.
        """
        found = self.solved()
        if found is None:
            warnings.warn(
                f"Clarabel could not do a master problem of {self.idle.size} cuts; going on with "
                "subgradient steps, and the bounds stay true. A larger strength helps",
                RuntimeWarning,
                stacklevel=3,
            )
            return None, 0.0
        w, alpha = found
        average = mean(self.cuts, alpha, self.group)
        bound = 0.0 if average is None else self.problem.lower(average)
        self._forget(alpha)
        return w, bound

    def solved(
        self, centre: Array | None = None, level: float = math.inf
    ) -> tuple[Array, Array] | None:
        """Return the w of least Ω + m, or the nearest to a centre where it is at most the level.

        With the multipliers of the cuts; both as Clarabel says, and nothing of it is believed.
        Distances are in the units of the programs. The variables are z = w / (size · unit), the
        height of each group's cuts, and where signs are free y >= |z|; values are divided by size.
        Rows are A x + s = b with s >= 0; the last ones, for a square below a level, ‖v‖² <= τ as a
        cone, (τ + 1, τ − 1, 2 v).
        """
        import clarabel

        problem, (square, absolute, radius) = self.problem, self.problem.regulariser.form
        unit = 1.0 / problem.rms
        G, a = self.cuts.slope * unit, self.cuts.offset
        size, steep = float(np.abs(a).max()), float(np.abs(G).max())
        if size <= 1e-9 * steep:  # offsets of 0, or what rounding leaves of them
            size = steep
        size = size if size > 0.0 else 1.0
        (K, d), m = G.shape, self.groups
        r = problem.scale * unit  # Ω is of size · r · z
        split = not problem.nonnegative and (absolute > 0.0 or radius < math.inf)
        n = d + m + (d if split else 0)
        absolutes, penalty = np.zeros(n), np.zeros(n)
        absolutes[slice(d + m, n) if split else slice(d)] = r
        penalty[d : d + m] = 1.0
        penalty += absolute * absolutes
        P, q = np.zeros(n), penalty
        below = np.zeros((K, n))
        below[:, :d] = G
        below[np.arange(K), d + self.group] = -1.0
        rows, b = [below], [-a / size]
        if problem.nonnegative:
            rows.append(-np.eye(d, n))
            b.append(np.zeros(d))
        for sign in (1.0, -1.0) if split else ():
            rows.append(sign * np.eye(d, n) - np.eye(d, n, d + m))
            b.append(np.zeros(d))
        if radius < math.inf:
            rows.append(absolutes[None])
            b.append(np.array([radius / size]))
        curved, level = square * size * r * r, level / size
        cone = centre is not None and square > 0.0
        if centre is None:
            P[:d] = curved
        else:
            P[:d], q = 1.0, np.concatenate([-centre / (size * unit), np.zeros(n - d)])
            if not cone:
                rows.append(penalty[None])
                b.append(np.array([level]))
        cones = [clarabel.NonnegativeConeT(sum(map(len, b)))]
        if cone:
            v = np.eye(d, n) * np.sqrt(2.0 * curved)[:, None]
            rows += [penalty[None], penalty[None], -v]
            b.append(np.concatenate([[level + 1.0, level - 1.0], np.zeros(d)]))
            cones.append(clarabel.SecondOrderConeT(d + 2))
        x, z = _clarabel(P, q, np.vstack(rows), np.concatenate(b), cones)
        if not (np.isfinite(x).all() and np.isfinite(z).all()):
            return None
        return problem.project(size * unit * x[:d]), z[:K]

    def _forget(self, alpha: Array) -> None:
        """Drop cuts that have long been inactive, if there are too many.

        Bounds that they gave stay true, and the active ones alone give the least of the model.
        """
        self.idle = np.where(alpha > _INACTIVE, 0, self.idle + 1)
        self.idle[: self.groups] = 0  # the first are 0 <= R
        if self.idle.size > _MOST:
            order = np.argsort(self.idle, kind="stable")
            few = max(self.groups, 3 * _MOST // 4, int((self.idle == 0).sum()))
            kept = np.sort(order[:few])
            self.cuts, self.group = self.cuts.of(kept), self.group[kept]
            self.idle, self._known = self.idle[kept], self._keys(self.cuts, self.group)


def _clarabel(P: Array, q: Array, A: Array, b: Array, cones: Any) -> tuple[Array, Array]:
    """Return x and the multipliers of min <x, P x>/2 + <q, x>, P diagonal; nan for infeasible."""
    import clarabel

    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = 1e-10
    n = q.size
    columns, places = np.nonzero(A.T)
    ends = np.searchsorted(columns, np.arange(n + 1))
    kept = sparse.csc_matrix((A[places, columns], places, ends), A.shape)
    diagonal = sparse.csc_matrix((P, np.arange(n), np.arange(n + 1)), (n, n))
    said = clarabel.DefaultSolver(diagonal, q, kept, b, cones, settings).solve()
    nothing = (clarabel.SolverStatus.PrimalInfeasible, clarabel.SolverStatus.DualInfeasible)
    if said.status in nothing:
        return np.full(n, np.nan), np.full(b.size, np.nan)
    return np.array(said.x), np.array(said.z)

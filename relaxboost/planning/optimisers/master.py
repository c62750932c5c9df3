"""The small problem of every round of a bundle: the least of Ω + the largest of the cuts."""

from __future__ import annotations

import math
import warnings
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from relaxboost._core.arrays import Array, Whole
from relaxboost._core.lazy import cp
from relaxboost.planning.cuts import Cuts, mean
from relaxboost.planning.problem import Problem
from relaxboost.planning.regularisers import Form

_INACTIVE = 1e-8


class Small(NamedTuple):
    """Ω + max(G z + a) at weights size · unit · z, all divided by size."""

    G: Array
    a: Array
    group: Whole
    size: float
    unit: Array
    problem: Problem

    def weights(self, z: Array) -> Array:
        """Return w."""
        return self.size * self.unit * z


Solved = tuple[Array, Array]
"""z and the multipliers of the cuts, as a solver says them; nothing of it is believed."""


class Master:
    """The model m(w) = Σ over groups of the largest of offset + <slope, w>, which is below R.

    Its programs are posed in w times the root mean squares of features, and in values divided by
    the largest offset, so that units of features do not matter to solvers.
    """

    def __init__(self, problem: Problem, most: int) -> None:
        self.problem, self.most = problem, most
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
        from the solver's value. Where no solver finds any, None and 0.
        """
        small = self._posed()
        found = solved(small)
        if found is None:
            warnings.warn(
                f"no solver could do a master problem of {self.idle.size} cuts; going on with "
                "subgradient steps, and the bounds stay true. A larger strength helps",
                RuntimeWarning,
                stacklevel=3,
            )
            return None, 0.0
        z, alpha = found
        average = mean(self.cuts, alpha, self.group)
        bound = 0.0 if average is None else self.problem.lower(average)
        self._forget(alpha)
        return self.problem.project(small.weights(z)), bound

    def nearest(self, centre: Array, level: float) -> Array | None:
        """Return the w nearest to a centre among those with Ω + m <= level; None if none is found.

        Distances are in the units of the programs.
        """
        small = self._posed()
        found = solved(small, centre / (small.size * small.unit), level / small.size)
        return None if found is None else self.problem.project(small.weights(found[0]))

    def _posed(self) -> Small:
        unit = 1.0 / self.problem.rms
        G = self.cuts.slope * unit
        size, steep = float(np.abs(self.cuts.offset).max()), float(np.abs(G).max())
        if size <= 1e-9 * steep:  # offsets of 0, or what rounding leaves of them
            size = steep
        size = size if size > 0.0 else 1.0
        return Small(G, self.cuts.offset / size, self.group, size, unit, self.problem)

    def _forget(self, alpha: Array) -> None:
        """Drop cuts that have long been inactive, if there are too many.

        Bounds that they gave stay true, and the active ones alone give the least of the model.
        """
        self.idle = np.where(alpha > _INACTIVE, 0, self.idle + 1)
        self.idle[: self.groups] = 0  # the first are 0 <= R
        if self.idle.size > self.most:
            order = np.argsort(self.idle, kind="stable")
            few = max(self.groups, 3 * self.most // 4, int((self.idle == 0).sum()))
            kept = np.sort(order[:few])
            self.cuts, self.group = self.cuts.of(kept), self.group[kept]
            self.idle, self._known = self.idle[kept], self._keys(self.cuts, self.group)


def solved(small: Small, centre: Array | None = None, level: float = math.inf) -> Solved | None:
    """Return the least of Ω + m; or with a centre the nearest z where it is at most the level."""
    form = small.problem.regulariser.form
    found = None if form is None else _direct(small, form, centre, level)
    wanted = found is None and (form is None or centre is None)
    return _modelled(small, centre, level) if wanted else found


def _direct(small: Small, form: Form, centre: Array | None, level: float) -> Solved | None:
    """Hand the quadratic program to Clarabel.

    Its variables are z, the height of the model, and where signs are free y >= |z|. Rows are
    A x + s = b with s >= 0; the last ones, for a square below a level, ‖v‖² <= τ as a cone,
    (τ + 1, τ − 1, 2 v).
    """
    import clarabel

    G, a, group, size, unit, problem = small
    K, d = G.shape
    m = int(group.max()) + 1
    square, absolute, radius = form
    r = problem.scale * unit  # Ω is of size · r · z
    split = not problem.nonnegative and (absolute > 0.0 or radius < math.inf)
    n = d + m + (d if split else 0)
    absolutes = np.zeros(n)
    absolutes[slice(d + m, n) if split else slice(d)] = r
    height = np.zeros(n)
    height[d : d + m] = 1.0
    penalty = height + absolute * absolutes
    P, q = np.zeros(n), penalty
    below = np.zeros((K, n))
    below[:, :d] = G
    below[np.arange(K), d + group] = -1.0
    rows, b = [below], [-a]
    if problem.nonnegative:
        rows.append(-np.eye(d, n))
        b.append(np.zeros(d))
    for sign in (1.0, -1.0) if split else ():
        rows.append(sign * np.eye(d, n) - np.eye(d, n, d + m))
        b.append(np.zeros(d))
    if radius < math.inf:
        rows.append(absolutes[None])
        b.append(np.array([radius / size]))
    curved = square * size * r * r
    cone = centre is not None and square > 0.0
    if centre is None:
        P[:d] = curved
    else:
        P[:d], q = 1.0, np.concatenate([-centre, np.zeros(n - d)])
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
    return (x[:d], z[:K]) if np.isfinite(x).all() and np.isfinite(z).all() else None


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


def _modelled(small: Small, centre: Array | None, level: float) -> Solved | None:
    """Write the program in cvxpy, for a regulariser of the user's and where Clarabel fails."""
    z, height = cp.Variable(small.unit.size), cp.Variable(int(small.group.max()) + 1)
    penalty, rules = small.problem.penalty(cp.multiply(small.size * small.unit, z))
    value, below = (
        cp.sum(height) + penalty / small.size,
        small.G @ z + small.a <= height[small.group],
    )
    goal = value
    if centre is not None:
        goal, rules = cp.sum_squares(z - centre), [*rules, value <= level]
    program = cp.Problem(cp.Minimize(goal), [below, *rules])
    with warnings.catch_warnings():
        # "Solution may be inaccurate": bounds are computed from it, and not believed.
        warnings.simplefilter("ignore")
        for name in ("CLARABEL", "SCS"):
            try:
                program.solve(solver=name)
            except (cp.SolverError, ValueError, ArithmeticError):
                continue
            if z.value is not None and np.isfinite(z.value).all() and below.dual_value is not None:
                return np.asarray(z.value), np.asarray(below.dual_value, dtype=np.float64)
            if program.status in ("infeasible", "unbounded"):
                break
    return None

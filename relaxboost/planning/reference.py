"""The whole learning problem as one convex program for a general solver, and its bracket."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import block_diag, csr_array
from scipy.sparse.csgraph import connected_components

from relaxboost._core.arrays import Array, Whole
from relaxboost._core.errors import InputError
from relaxboost._core.lazy import cp
from relaxboost._core.loop import Clock
from relaxboost._core.rounding import roundoff
from relaxboost.planning.cuts import Cut, Plans
from relaxboost.planning.fitting import Fit, FitRecord, as_problem, bracketed
from relaxboost.planning.graphs import Graph
from relaxboost.planning.oracle import Demonstration
from relaxboost.planning.planners import between, shortest_arcs
from relaxboost.planning.plans import NegativeCycle, NoPath
from relaxboost.planning.problem import FitPoint, Problem
from relaxboost.planning.regularisers import Regulariser
from relaxboost.planning.tasks import Task
from relaxboost.solvers.external import SOLVERS, check_solver

LARGEST = 200_000
"""Arc inequalities of all demonstrations together that `reference` takes on."""

_INSIDE = (0.0, 1e-7, 1e-5, 1e-3)
"""How far, in size of costs, to stay from negative cycles, in tries."""


def reference(
    tasks: Sequence[Task] | Problem,
    regulariser: Regulariser | None = None,
    *,
    solver: str | None = None,
) -> Fit:
    """Solve a small learning problem as one convex program, and bracket its least value.

    A shortest path is a linear program; its dual, node potentials π with π_head <= π_tail + c −
    gain on each arc, makes R_i <= ξ_i a set of linear inequalities. The solver's w is
    evaluated by planning, for the upper bound. The multipliers of the arc inequalities are a flow
    for each demonstration; taken apart into paths, they are a cut, for the lower bound. Nothing
    else of the solver is believed.

    Parameters
    ----------
    tasks, regulariser
        See `fit`; by default `Ridge()`. For ``negative="exact"`` the least value is over the w
        without negative cycles, a convex set; `fit` stops with `NegativeCycle` where it queries
        another w. For ``negative="relaxed"`` each arc has one more variable: what is won by taking
        it for free. ``negative="simple"`` has no such program where a cost less its gain can be
        negative.
    solver : str, optional
        One that cvxpy knows; by default CLARABEL.

    Returns
    -------
    Fit
        With one round; its status is the solver's.

    Raises
    ------
    InputError
        For more than `LARGEST` arcs times demonstrations, negative="simple" where costs may be
        negative, and solvers that are not there or find nothing.

    References
    ----------
    Ratliff, Bagnell & Zinkevich (2006), Sec. 4, the quadratic program.
    """
    problem = as_problem(tasks, regulariser)
    _check(problem)
    clock = Clock()
    about = repr(problem.regulariser) if problem.regulariser.form.square > 0.0 else None
    name = "CLARABEL" if solver is None else check_solver(solver, about)
    best: FitPoint | None = None
    lower, status = 0.0, ""
    for inside in _INSIDE:
        model = _Model(problem, inside)
        said = _solve(model, name)
        status = status or said
        if model.w.value is None or not np.isfinite(model.w.value).all():
            continue
        lower = max(lower, *(problem.lower(model.cut(cycles)) for cycles in (False, True)))
        w = problem.project(np.asarray(model.w.value))
        try:
            best = problem.at(w, prove=True)
        except NegativeCycle:  # by a rounding of the solver's; stay further inside
            continue
        break
    if best is None:
        raise InputError(
            f"{name} found no w without negative cycles ({status}); there may be none: "
            'negative="relaxed" has a finite loss for every w'
        )
    record = FitRecord(1, best.value, lower, best.value, clock.seconds)
    return bracketed(problem, best, lower, status, f"reference ({name})", (record,), clock)


def program(problem: Problem) -> Any:
    """Return the convex program of a problem as an unsolved `cvxpy.Problem`.

    Its variables are named w (d,), potentials, slack (one R_i a demonstration) and, for
    negative="relaxed", free (what is won on each arc). Each demonstration has potentials for the
    nodes on the way from source to target but the source, where it is 0.

    Raises
    ------
    InputError
        As for `reference`.
    """
    if not isinstance(problem, Problem):
        raise InputError(f"program needs a planning.Problem, got {type(problem).__name__}")
    _check(problem)
    return _Model(problem, 0.0).program


def _check(problem: Problem) -> None:
    oracle = problem.oracle
    size = sum(oracle.graphs[row.graph].arcs for row in oracle.rows)
    if size > LARGEST:
        raise InputError(
            f"{len(oracle.rows)} demonstrations have {size:,} arc inequalities, and reference "
            f"takes {LARGEST:,}; use fit, which plans instead"
        )
    if oracle.negative == "simple" and not problem.never_negative:
        raise InputError(
            'paths that visit no node twice (negative="simple") are no linear program where '
            'costs may be negative; use negative="relaxed", or fit'
        )


class _Part(NamedTuple):
    """A demonstration in the program."""

    row: Demonstration
    arcs: Whole
    """Those on a way from source to target; all of them where some may be free."""
    at: slice
    """Where its inequalities are."""


class _Model:
    """The program, and its multipliers as a cut."""

    def __init__(self, problem: Problem, inside: float) -> None:
        self.problem = problem
        self.relaxed = problem.oracle.negative == "relaxed"
        D, targets, self.parts = _incidence(problem)
        p = problem.oracle.weights
        F = np.vstack([problem.arc_features[x.row.graph][x.arcs] for x in self.parts])
        gains = np.concatenate([x.row.gains.at(x.arcs) for x in self.parts])
        rows = [x.row for x in self.parts]
        shown = np.array([problem.arc_features[r.graph][r.path.arcs].sum(axis=0) for r in rows])
        constant = np.array([row.gains.constant for row in rows])
        self.w = cp.Variable(problem.d, name="w")
        potentials = cp.Variable(D.shape[1], name="potentials")
        slack = cp.Variable(p.size, name="slack", nonneg=True)
        penalty, rules = problem.penalty(self.w)
        costs = F @ self.w - gains
        loss = constant + shown @ self.w - potentials[targets]
        self.below = D @ potentials <= costs - inside * max(1.0, float(np.abs(gains).max()))
        self.won = None
        if self.relaxed:
            free = cp.Variable(gains.size, name="free", nonneg=True)
            self.below = D @ potentials <= costs + free
            self.won = -free <= costs
            own = block_diag([np.ones((1, x.arcs.size)) for x in self.parts], format="csr")
            loss = loss + own @ free
            rules.append(self.won)
        rules += [self.below, loss <= slack]
        self.program = cp.Problem(cp.Minimize(penalty + p @ slack), rules)

    def cut(self, around: bool) -> Cut:
        """Return the cut that the multipliers of the arc inequalities make, of real paths.

        A demonstration's flow of amount ρ gives ρ R_i >= Σ θ (ℓ + <., w>) over its paths of
        amounts θ, for ρ <= weight. Where planning is exact, cycles may count too, since no cost
        falls around them where R is finite; that helps where they keep w in its domain, and not
        where they are dirt. Where it is relaxed, arcs that are free count, at most what is left of
        ρ on each.
        """
        plans, rates = Plans(self.problem.arc_features), []
        p = self.problem.oracle.weights
        flow = _multipliers(self.below)
        free = None if self.won is None else _multipliers(self.won)
        γ = roundoff(flow.size + 16)
        for k, part in enumerate(self.parts):
            row, at, graph = part.row, part.at, self.problem.oracle.graphs[part.row.graph]
            paths, cycles = paths_and_cycles(graph, part.arcs, flow[at], row.source, row.target)
            total = sum(amount for _, amount in paths)
            shrink = min(1.0, p[k] / total if total > 0.0 else 1.0) * (1.0 - 4.0 * γ)
            y = np.zeros(graph.arcs)
            for arcs, amount in paths:
                plans.add(row.graph, row.gains, arcs, None, row.path.arcs)
                rates.append(amount * shrink)
                y[arcs] += amount * shrink
            if free is not None:
                room = np.maximum(total * shrink * (1.0 - 4.0 * γ) - y[part.arcs], 0.0)
                # What flows around cycles costs nothing, and is as good as taken for free.
                besides = np.maximum(flow[at] - y[part.arcs], 0.0)
                times = np.minimum(free[at] + besides, room)
                plans.add(row.graph, row.gains, part.arcs, times, None)
                rates.append(1.0)
            elif around and self.problem.oracle.negative == "exact":
                for arcs, amount in cycles:
                    plans.add(row.graph, row.gains, arcs, None, None)
                    rates.append(amount)
        if not rates:
            return Cut(0.0, np.zeros(self.problem.d))
        return Cut(*(x[0] for x in plans.combined(np.array([rates]))))


def _multipliers(constraint: Any) -> Array:
    found = constraint.dual_value
    if found is None or not np.isfinite(found).all():
        return np.zeros(constraint.size)
    return np.maximum(np.asarray(found, dtype=np.float64), 0.0)


def _incidence(problem: Problem) -> tuple[Any, list[int], list[_Part]]:
    """Return π_head − π_tail for each inequality, the place of each π_target, and rows' parts."""
    blocks, parts, targets = [], [], []
    first = potentials = 0
    for row in problem.oracle.rows:
        graph = problem.oracle.graphs[row.graph]
        reached, reaching = between(graph, row.source, row.target)
        inner = reached & reaching
        if problem.oracle.negative == "relaxed":  # all arcs may be free
            inner[:] = True
        arcs = np.flatnonzero(inner[graph.tail] & inner[graph.head])
        inner[row.source] = False
        nodes = np.flatnonzero(inner)
        blocks.append(-graph.incidence[:, arcs].tocsr()[nodes].T)
        targets.append(potentials + int(np.searchsorted(nodes, row.target)))
        parts.append(_Part(row, arcs, slice(first, first + arcs.size)))
        first += arcs.size
        potentials += nodes.size
    return block_diag(blocks, format="csr"), targets, parts


def _solve(model: _Model, name: str) -> str:
    """Run the solver; return what it says."""
    with warnings.catch_warnings():
        # "Solution may be inaccurate": the bracket measures how inaccurate.
        warnings.simplefilter("ignore", UserWarning)
        try:
            model.program.solve(solver=name, **SOLVERS.get(name, {}))
        except (cp.SolverError, ValueError, ArithmeticError) as error:
            return f"failed ({(str(error).strip() or type(error).__name__).splitlines()[0]})"
    return str(model.program.status)


_DIRT = 1e-11
"""Shares of the largest flow that are left out."""

Amounts = list[tuple[Whole, float]]
"""Arcs in order, and how much flows along them."""


def paths_and_cycles(
    graph: Graph, arcs: Whole, flow: Array, source: int, target: int
) -> tuple[Amounts, Amounts]:
    """Return paths from source to target that visit no node twice, cycles, and their amounts.

    Their sum is at most the flow on every arc, up to rounding. The flow may be that of a solver,
    balanced only about: what leads nowhere is dropped. `arcs` are those where something flows.
    """
    left, tail, head = np.zeros(graph.arcs), graph.tail, graph.head
    left[arcs] = flow
    least = _DIRT * left.max()
    paths: Amounts = []
    cycles: Amounts = []
    while True:
        on = np.flatnonzero(left > least)
        flowing = csr_array((left[on], (tail[on], head[on])), shape=(graph.nodes,) * 2)
        part = connected_components(flowing, connection="strong")[1]
        round_ = on[part[tail[on]] == part[head[on]]]
        # Cycles first, since some pass source and target and would be taken for paths.
        last = round_[left[round_].argmax(keepdims=True)] if round_.size else round_
        ends = (head[last[0]], tail[last[0]]) if round_.size else (source, target)
        narrow = np.divide(1.0, left, out=np.full(graph.arcs, np.inf), where=left > least)
        try:
            way = shortest_arcs(graph, narrow[graph.forward.arcs], *ends)[0]
        except NoPath:
            return paths, cycles
        way = np.append(way, last)
        amount = float(left[way].min())
        left[way] -= amount
        (cycles if round_.size else paths).append((way, amount))

"""The learning problem as a single convex program, solved by a general solver, with a bracket."""

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
from relaxboost._core.rounding import down, roundoff
from relaxboost.planning.cuts import PlanFunctions
from relaxboost.planning.fitting import Fit, FitRecord, as_problem, bracketed
from relaxboost.planning.graphs import Graph
from relaxboost.planning.oracle import Demonstration
from relaxboost.planning.planners import between, shortest_arcs
from relaxboost.planning.plans import NegativeCycle, NoPath
from relaxboost.planning.problem import FitPoint, Problem
from relaxboost.planning.regularisers import Regulariser
from relaxboost.planning.tasks import Task
from relaxboost.solvers.bundle.cuts import Cut
from relaxboost.solvers.external import SOLVERS, check_solver

MAX_ARC_INEQUALITIES = 200_000
"""The maximum number of inequalities, one for each arc and demonstration, in the program of
`reference`. A general solver takes too long for larger programs; `fit` has no such limit."""


def reference(
    tasks: Sequence[Task] | Problem,
    regulariser: Regulariser | None = None,
    *,
    solver: str | None = None,
) -> Fit:
    """Solve a small learning problem as a single convex program, and bracket its minimum.

    Finding a shortest path is a linear program. The variables of its dual are node potentials π
    with π_head <= π_tail + c − gain on each arc, which express R_i <= ξ_i as linear inequalities.
    The upper bound is the objective at the solver's w, evaluated by planning. The multipliers of
    the inequalities form a flow for each demonstration. The paths of the flows define a cut, which
    gives the lower bound. Nothing else in the solver's result is used.

    Parameters
    ----------
    tasks, regulariser
        See `fit`. The default regulariser is `Ridge()`. For ``negative="exact"``, the objective is
        minimised over the convex set of all w without negative cycles, whereas `fit` raises
        `NegativeCycle` if it evaluates a w with a negative cycle. For ``negative="relaxed"``, each
        arc has an additional variable: the gain from taking the arc for free. For
        ``negative="simple"``, there is no such program if costs minus gains can be negative.
    solver : str, optional
        The name of a solver that cvxpy supports. The default is CLARABEL.

    Returns
    -------
    Fit
        The result, with a single round and the status of the solver.

    Raises
    ------
    InputError
        If the number of arc inequalities exceeds `MAX_ARC_INEQUALITIES`, if costs may be negative
        and negative="simple", or if the solver is not installed or finds no solution.

    References
    ----------
    Ratliff, Bagnell & Zinkevich (2006), Sec. 4, the quadratic program.
    """
    problem = as_problem(tasks, regulariser)
    _check(problem)
    clock = Clock()
    # Solvers of linear programs cannot take a ridge.
    about = repr(problem.regulariser) if problem.regulariser.form.square > 0.0 else None
    name = "CLARABEL" if solver is None else check_solver(solver, about)
    best: FitPoint | None = None
    lower = problem.floor
    status = ""
    # The optimum may lie where a cycle costs 0, and rounding may make it negative. Later tries
    # therefore stay away from negative cycles by these shares of the size of costs.
    for inside in (0.0, 1e-7, 1e-5, 1e-3):
        program = _Program(problem, inside)
        said = _solve(program, name)
        status = status or said
        if program.w.value is None or not np.isfinite(program.w.value).all():
            continue
        # Cycles may help or harm, so that both cuts are evaluated.
        lower = max(lower, *(problem.lower(program.cut(cycles)) for cycles in (False, True)))
        try:
            best = problem.at(problem.project(np.array(program.w.value)), prove=True)
        except NegativeCycle:
            continue
        break
    if best is None:
        raise InputError(
            f"{name} found no w without negative cycles ({status}), and there may be none; use "
            'negative="relaxed", which has a finite loss for every w'
        )
    record = FitRecord(1, best.value, lower, best.value, clock.seconds)
    return bracketed(problem, best, lower, status, f"reference ({name})", (record,), clock)


def program(problem: Problem) -> Any:
    """Return the convex program of a problem as an unsolved `cvxpy.Problem`.

    The variables of the program are ``w``, shape (d,), ``potentials``, and ``slack``, which is R_i
    for each demonstration. For negative="relaxed", there is also ``free``, the gain from each arc
    that is taken for free. Each demonstration has potentials for the nodes on paths from source to
    target, or for all nodes if relaxed, except for the source, whose potential is 0.
    """
    if not isinstance(problem, Problem):
        raise InputError(f"program takes a planning.Problem, got {type(problem).__name__}")
    _check(problem)
    return _Program(problem, 0.0).program


def _check(problem: Problem) -> None:
    oracle = problem.oracle
    size = sum(oracle.graphs[row.graph].arcs for row in oracle.rows)
    if size > MAX_ARC_INEQUALITIES:
        raise InputError(
            f"{len(oracle.rows)} demonstrations have {size:,} arc inequalities, but reference "
            f"accepts at most {MAX_ARC_INEQUALITIES:,}; use fit, which has no such limit"
        )
    if oracle.negative == "simple" and not problem.never_negative:
        raise InputError(
            'reference cannot be used with negative="simple" if costs may be negative, because the '
            "shortest path that visits no node twice is then not the solution of a linear program; "
            'use negative="relaxed", or fit'
        )


class _Part(NamedTuple):
    row: Demonstration
    arcs: Whole
    at: slice
    """The positions of this demonstration's inequalities in the list of all inequalities. There is
    one inequality for each entry of `arcs`."""


class _Program:
    """The convex program of a problem, and the cut from the multipliers of its solution."""

    def __init__(self, problem: Problem, inside: float) -> None:
        self.problem = problem
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
        if problem.oracle.negative == "relaxed":
            free = cp.Variable(gains.size, name="free", nonneg=True)
            self.below = D @ potentials <= costs + free
            self.won = -free <= costs
            ones = [csr_array(np.ones((1, x.arcs.size))) for x in self.parts]
            own = block_diag(ones, format="csr")
            loss = loss + own @ free
            rules.append(self.won)
        # The demonstration itself may be the best plan, and its loss is 0.
        rules += [self.below, loss <= slack]
        self.program = cp.Problem(cp.Minimize(penalty + p @ slack), rules)

    def cut(self, around: bool) -> Cut:
        """Return the cut that the multipliers of the arc inequalities give.

        If planning is exact, `around` says whether the cut includes the cycles of the flows.
        """
        # The multipliers are a flow for each demonstration. If the amount of the flow is ρ <=
        # weight, then ρ R_i >= Σ θ (ℓ + <f_shown − f_path, w>), summed over the paths of the flow,
        # with amounts θ and feature sums f_path.
        functions = PlanFunctions(self.problem.arc_features)
        rates = []
        p = self.problem.oracle.weights
        flow = _multipliers(self.below)
        free = None if self.won is None else _multipliers(self.won)
        γ = roundoff(flow.size + 16)
        for k, part in enumerate(self.parts):
            row, _, at = part
            graph = self.problem.oracle.graphs[row.graph]
            paths, cycles = paths_and_cycles(graph, part.arcs, flow[at], row.source, row.target)
            total = sum(amount for _, amount in paths)
            # A solver may make a flow exceed the weight of its demonstration.
            shrink = min(1.0, p[k] / total if total > 0.0 else 1.0) * (1.0 - 4.0 * γ)
            taken = np.zeros(graph.arcs)
            for arcs, amount in paths:
                functions.add(row.graph, row.gains, arcs, None, row.path.arcs)
                rates.append(amount * shrink)
                taken[arcs] += amount * shrink
            if free is not None:
                room = np.maximum(total * shrink * (1.0 - 4.0 * γ) - taken[part.arcs], 0.0)
                # An arc that is taken for free uses the part of ρ that the paths do not use. A flow
                # around a cycle costs nothing, and counts as if its arcs were free.
                besides = np.maximum(flow[at] - taken[part.arcs], 0.0)
                times = np.minimum(free[at] + besides, room)
                functions.add(row.graph, row.gains, part.arcs, times, None)
                rates.append(1.0)
            elif around and self.problem.oracle.negative == "exact":
                # No cycle has negative cost if R is finite. Cycles improve the bound if they keep w
                # in its domain, and weaken it if they are only rounding errors.
                for arcs, amount in cycles:
                    functions.add(row.graph, row.gains, arcs, None, None)
                    rates.append(amount)
        floor = self.problem.floor
        if not rates:
            return Cut(floor, np.zeros(self.problem.d))
        cut = Cut(*(x[0] for x in functions.combined(np.array([rates]))))
        # The loss has this lower bound for the weight that the flow of a demonstration leaves.
        return cut._replace(offset=down(cut.offset + floor))


def _multipliers(constraint: Any) -> Array:
    found = constraint.dual_value
    if found is None or not np.isfinite(found).all():
        return np.zeros(constraint.size)
    return np.maximum(np.asarray(found, dtype=np.float64), 0.0)


def _incidence(problem: Problem) -> tuple[Any, list[int], list[_Part]]:
    """Return the matrix that maps π to π_head − π_tail, the index of each π_target, and the parts.

    A part describes the inequalities of one demonstration.
    """
    blocks = []
    parts = []
    targets = []
    first = potentials = 0
    for row in problem.oracle.rows:
        graph = problem.oracle.graphs[row.graph]
        reached, reaching = between(graph, row.source, row.target)
        inner = reached & reaching
        # Any arc of the graph may be taken for free, so that all arcs have inequalities.
        if problem.oracle.negative == "relaxed":
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


def _solve(program: _Program, name: str) -> str:
    with warnings.catch_warnings():
        # The warning "Solution may be inaccurate" says less than the bracket.
        warnings.simplefilter("ignore", UserWarning)
        try:
            program.program.solve(solver=name, **SOLVERS.get(name, {}))
        except (cp.SolverError, ValueError, ArithmeticError) as error:
            return f"failed ({(str(error).strip() or type(error).__name__).splitlines()[0]})"
    return str(program.program.status)


Amounts = list[tuple[Whole, float]]
"""Paths or cycles. Each is given by its arcs, in order, and the amount of flow along it."""


def paths_and_cycles(
    graph: Graph, arcs: Whole, flow: Array, source: int, target: int
) -> tuple[Amounts, Amounts]:
    """Decompose a flow into cycles, and paths from source to target that visit no node twice.

    The amounts sum to at most the flow on every arc, up to rounding. A flow that a solver balances
    only approximately loses the parts that do not end at the target.
    """
    tail = graph.tail
    head = graph.head
    left = np.zeros(graph.arcs)
    left[arcs] = flow
    least = 1e-11 * left.max()  # A smaller flow is a rounding error of the solver.
    paths: Amounts = []
    cycles: Amounts = []
    while True:
        on = np.flatnonzero(left > least)
        flowing = csr_array((left[on], (tail[on], head[on])), shape=(graph.nodes,) * 2)
        part = connected_components(flowing, connection="strong")[1]
        # Cycles are removed before paths, because a cycle through source and target could be
        # mistaken for a path.
        round_ = on[part[tail[on]] == part[head[on]]]
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

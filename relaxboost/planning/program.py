"""The learning problem as a single convex program in cvxpy."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import block_diag, csr_array

from relaxboost._core.arrays import Whole
from relaxboost._core.errors import InputError
from relaxboost._core.lazy import cp
from relaxboost.planning.oracle import Demonstration
from relaxboost.planning.planners import between
from relaxboost.planning.problem import Problem

MAX_ARC_INEQUALITIES = 200_000
"""The maximum number of inequalities of the program, one for each arc and demonstration. General
solvers take too long for larger programs; `fit` has no such limit."""


def program(problem: Problem) -> Any:
    """Write a learning problem as an unsolved `cvxpy.Problem`.

    The dual of the shortest-path problem is a linear program. Its variables are node potentials π,
    with the inequality π_head <= π_tail + c − g for the cost c and the gain g of each arc. Linear
    inequalities can therefore bound the margin loss of each demonstration from above.

    The variables of the program are the weights ``w``, the upper bounds ``slack`` on the margin
    losses, and the potentials ``potentials``. Each demonstration has its own potentials, for all
    nodes on paths from its source to its target. The potential of the source is fixed at 0.

    For negative="relaxed", each demonstration has potentials for all nodes, and the variable
    ``free`` has an entry >= 0 for each inequality. The entry is added to c − g, so that this cost
    is not negative, and also to the margin loss.

    Parameters
    ----------
    problem : Problem
        The problem. For ``negative="exact"``, the program is restricted to weights without negative
        cycles, whereas `fit` raises `NegativeCycle` if it evaluates weights with a negative cycle.

    Raises
    ------
    InputError
        If the number of arc inequalities exceeds `MAX_ARC_INEQUALITIES`, or if costs may be
        negative and negative="simple".

    References
    ----------
    Ratliff, Bagnell & Zinkevich (2006), Sec. 4, the quadratic program.

    Examples
    --------
    >>> import numpy as np
    >>> from relaxboost import planning
    >>> roads = planning.Graph([0, 1, 0], [1, 2, 2], np.array([[1.0, 0.0], [1.0, 0.0], [1.5, 1.0]]))
    >>> trip = planning.Task(roads, 0, 2, [0, 1, 2])
    >>> problem = planning.Problem([trip], planning.Ridge(0.1))
    >>> optimum = planning.program(problem).solve(solver="CLARABEL")
    >>> found = planning.fit(problem)
    >>> bool(found.lower - 1e-6 <= optimum <= found.upper + 1e-6)
    True
    """
    if not isinstance(problem, Problem):
        raise InputError(f"program takes a planning.Problem, got {type(problem).__name__}")
    _check(problem)
    D, targets, parts = _incidence(problem)
    p = problem.oracle.weights
    F = np.vstack([problem.arc_features[part.row.graph][part.arcs] for part in parts])
    gains = np.concatenate([part.row.gains.at(part.arcs) for part in parts])
    rows = [part.row for part in parts]
    shown = np.array([problem.arc_features[row.graph][row.path.arcs].sum(axis=0) for row in rows])
    constant = np.array([row.gains.constant for row in rows])
    w = cp.Variable(problem.d, name="w")
    potentials = cp.Variable(D.shape[1], name="potentials")
    slack = cp.Variable(p.size, name="slack", nonneg=True)
    penalty, rules = problem.penalty(w)
    costs = F @ w - gains
    loss = constant + shown @ w - potentials[targets]
    if problem.oracle.negative == "relaxed":
        free = cp.Variable(gains.size, name="free", nonneg=True)
        below = D @ potentials <= costs + free
        ones = [csr_array(np.ones((1, part.arcs.size))) for part in parts]
        loss = loss + block_diag(ones, format="csr") @ free
        rules.append(-free <= costs)
    else:
        below = D @ potentials <= costs
    # The demonstration itself may be the best plan, and its loss is 0, so that slack is >= 0.
    rules += [below, loss <= slack]
    return cp.Problem(cp.Minimize(penalty + p @ slack), rules)


def _check(problem: Problem) -> None:
    oracle = problem.oracle
    size = sum(oracle.graphs[row.graph].arcs for row in oracle.rows)
    if size > MAX_ARC_INEQUALITIES:
        raise InputError(
            f"{len(oracle.rows)} demonstrations have {size:,} arc inequalities, but program "
            f"accepts at most {MAX_ARC_INEQUALITIES:,}; use fit, which has no such limit"
        )
    if oracle.negative == "simple" and not problem.never_negative:
        raise InputError(
            'program cannot be used with negative="simple" if costs may be negative, because the '
            "shortest path that visits no node twice is then not the solution of a linear program; "
            'use negative="relaxed", or fit'
        )


class _Part(NamedTuple):
    """The inequalities of one demonstration in the convex program."""

    row: Demonstration
    arcs: Whole
    """The indices of the arcs with an inequality for this demonstration."""


def _incidence(problem: Problem) -> tuple[Any, list[int], list[_Part]]:
    """Return a matrix, the indices of the target potentials, and the inequalities of each
    demonstration.

    The matrix maps the concatenated potentials of all demonstrations to the differences π_head −
    π_tail, one for each inequality.
    """
    blocks = []
    parts = []
    targets = []
    potentials = 0
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
        parts.append(_Part(row, arcs))
        potentials += nodes.size
    return block_diag(blocks, format="csr"), targets, parts

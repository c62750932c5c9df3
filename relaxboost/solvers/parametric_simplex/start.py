"""The first simplex basis, computed from a solution that need not be a vertex."""

from __future__ import annotations

import numpy as np
from scipy.linalg import qr

from relaxboost._core.arrays import Array, Whole
from relaxboost.game.solution import Solution
from relaxboost.relaxations import LinearForm
from relaxboost.solvers.parametric_simplex.kernels import TOLERANCES, SimplexState, Tableau
from relaxboost.solvers.parametric_simplex.program import (
    MAX_TABLEAU_ENTRIES,
    GameProgram,
    Lost,
    bound_distances,
    near_vertex,
)


def crash_basis(
    program: GameProgram, form: LinearForm, near: Solution
) -> tuple[SimplexState, Tableau]:
    """Return a first simplex state near a given solution, and its tableau.

    The basic variables are the largest edge v and the weights d_i that are most likely to lie
    strictly between their bounds, at most one for each hypothesis with nonzero weight. The nonbasic
    variables are the sum Σd and one hypothesis slack for each selected example. The state need not
    be feasible.

    Raises
    ------
    Lost
        If the solution is far from every vertex, if the tableau would be too large, or if the
        budget of `program` is used up.
    """
    m = program.m
    total = program.total
    edges = program.edges(near.d)
    weights = program.separate(near.w)
    excess, inside = bound_distances(form, near.d, form.cost + program.margins(weights))
    used = np.where(weights > TOLERANCES.pivot, weights, 0.0)
    # At a vertex, the number of examples between bounds is the number of hypotheses with weight.
    size = max(1, min(int(np.count_nonzero(used)), m))
    if (size + 1) ** 2 > MAX_TABLEAU_ENTRIES or not near_vertex(form, near):
        raise Lost
    # The inversion below costs as much as a pivot for each row.
    program.spend_pivots(size, (size + 1) ** 2)
    # Ties between weights are frequent at 0, and the largest edges are the tightest slacks.
    columns = np.lexsort((-edges, -used))[:size]
    # An example is likely to be basic if it is far from its bounds, and its price is the threshold.
    examples = np.argsort(-inside / (np.abs(excess) + TOLERANCES.feasible), kind="stable")[:size]
    rows, cols = _independent(program.part(examples, columns))
    examples = examples[rows]
    columns = columns[cols]
    # The equations (s, Σd) = M (d, v) of the chosen variables give T as the inverse of M.
    M: Array = np.ones((examples.size + 1, examples.size + 1))
    M[:-1, :-1] = -program.part(examples, columns).T
    M[-1, -1] = 0.0
    state = SimplexState(
        basic=np.append(examples, m),
        nonbasic=np.append(m + 1 + columns, total),
        side=np.append(np.where(excess < 0.0, -1.0, 1.0), np.ones(program.signed + 2)),
        x=np.zeros((2, total + 1)),
        z=np.zeros((2, total + 1)),
        lower=np.zeros((2, total + 1)),
        upper=np.zeros((2, total + 1)),
    )
    # The sum Σd = 1 is fixed, and v is free unless w = 0 is allowed.
    state.side[total] = 0.0
    state.lower[0, m] = 0.0 if program.over.holds_zero else -np.inf
    state.upper[0, m:] = np.inf
    state.lower[0, total] = state.upper[0, total] = 1.0
    state.x[0, examples] = near.d[examples]
    state.z[0, m + 1 + columns] = weights[columns]
    return state, Tableau.of(np.linalg.inv(M).astype(np.float64))


def _independent(entries: Array) -> tuple[Whole, Whole]:
    # Subtracting the first row and the first column eliminates v and Σd from the equations. A QR
    # factorisation with column pivoting then selects independent columns, and a second one selects
    # independent rows of these columns, so that the basis is not singular.
    reduced = entries - entries[0] - entries[:, :1] + entries[0, 0]
    reduced = reduced[1:, 1:]
    cols = _pivot_columns(reduced)
    # If all columns are independent, all rows are used, without a second factorisation.
    is_regular = cols.size == len(reduced)
    rows = np.arange(cols.size) if is_regular else _pivot_columns(reduced[:, cols].T)
    cols = cols[: rows.size]
    return np.append(0, 1 + rows), np.append(0, 1 + cols)


def _pivot_columns(matrix: Array) -> Whole:
    if not matrix.size:
        return np.empty(0, dtype=np.int64)
    # The diagonal entries of R decrease. Entries near 0 show columns that depend on others.
    R, order = qr(matrix, mode="r", pivoting=True, check_finite=False)
    rank = int(np.count_nonzero(np.abs(np.diag(R)) > TOLERANCES.relative))
    return order[:rank].astype(np.int64)

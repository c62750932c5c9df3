"""A polyhedral game as one linear program, written down for general solvers."""

from __future__ import annotations

import resource
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from relaxboost._core.errors import InputError
from relaxboost.game.domains import AtomicSet
from relaxboost.game.game import Game

EDGES = "edges"
"""The shape with the edges as variables and A once; it suits sparse interior points and simplex."""
TWICE = "twice"
"""The shape with A once for each sign and no more variables; it suits first-order methods and
dense interior points, whose equations then have the order of the examples."""


class Program(NamedTuple):
    """min <cost, x> subject to lower <= x <= upper and sides[0] <= rows x <= sides[1]."""

    columns: tuple[Any, Any, Any]
    """cost, lower and upper."""
    rows: Any
    sides: tuple[Any, Any]
    points: Callable[[Any, Any], tuple[Any, Any]]
    """(d, w) of x and the multipliers y >= 0 of rows x <= ..."""


def written(game: Game) -> Any:
    """Return A as an array, sparse if it is stored so.

    Raises
    ------
    MemoryError
        If A and a solver's own copy, 12 bytes an entry each, exceed the memory of the process.
    """
    matrix = game.matrix
    if matrix.n is None:
        raise InputError("only games whose columns are enumerated")
    needed = 24 * (matrix.entries if matrix.stored else game.m * matrix.n)
    if 0 <= resource.getrlimit(resource.RLIMIT_AS)[0] < needed:
        raise MemoryError(f"A and one copy of it are {needed / 1e9:.1f} GB")
    return matrix.tocvxpy() if matrix.stored else matrix.columns(range(matrix.n))


def linear_program(game: Game, shape: str) -> Program:
    """Return min f(d) + v subject to edges <= v, and over an l1 ball −edges <= v."""
    from scipy import sparse

    form, over = game.linear_form, game.over
    if form is None or not isinstance(over, AtomicSet):
        raise InputError("linear programs only")
    A = sparse.csr_array(written(game).T.astype(np.float64))
    (n, m), size, signs = A.shape, form.cost.size, (1, -1) if over.two_sided else (1,)
    edges = n if shape == EDGES else 0
    ones, eye = sparse.csr_array(np.ones((n, 1))), sparse.eye_array(n, format="csr")

    def row(first: Any, middle: Any, last: Any) -> Any:
        """Return rows over (d, z, edges, v), without a part where it is None."""
        parts = ((first, m), (None, size - m), (middle, edges), (last, 1))
        height = next(part.shape[0] for part, _ in parts if part is not None)
        return [sparse.csr_array((height, k)) if x is None else x for x, k in parts if k]

    blocks = [row(A, -eye, None)] if edges else []
    blocks += [row(None, s * eye, -ones) if edges else row(s * A, None, -ones) for s in signs]
    blocks.append(row(sparse.csr_array(np.ones((1, m))), None, None))
    rows = sparse.vstack([sparse.hstack(block) for block in blocks], format="csr")
    tops = len(signs) * n
    low = np.concatenate([np.zeros(edges), np.full(tops, -np.inf), [1.0]])
    high = np.concatenate([np.zeros(edges + tops), [1.0]])
    if form.rows is not None:
        more = sparse.csr_array(form.rows)
        more.resize((more.shape[0], rows.shape[1]))
        rows = sparse.vstack([rows, more], format="csr")
        low, high = np.append(low, form.row_lower), np.append(high, form.row_upper)
    free = np.full(edges, np.inf)
    least = 0.0 if over.holds_zero else -np.inf
    columns = (
        np.concatenate([form.cost, np.zeros(edges), [over.scale]]),
        np.concatenate([form.lower, -free, [least]]),
        np.concatenate([form.upper, free, [np.inf]]),
    )

    def points(x: Any, y: Any) -> tuple[Any, Any]:
        return x[:m], y[:n] - y[n : 2 * n] if not edges and len(signs) == 2 else y[:n]

    return Program(columns, rows, (low, high), points)

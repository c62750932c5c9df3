"""Grid graphs with cell features, blocked cells, and steps to 4 or 8 neighbours."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

import numpy as np
from numpy.typing import ArrayLike

from relaxboost._core.arrays import Array, Flags, Whole, doubles
from relaxboost._core.errors import InputError
from relaxboost.planning.graphs import Graph
from relaxboost.planning.labels import Cells

CORNERS = ("both", "one", "free")
"""The values of `corners` in `grid`: whether both, one or none of the two cells next to a diagonal
step must be passable."""


def grid(
    layers: ArrayLike,
    passable: ArrayLike | None = None,
    *,
    names: Sequence[str] | None = None,
    neighbours: int = 8,
    corners: str = "both",
) -> Graph:
    """Create a grid graph from features of its cells.

    The cells are both the nodes, with the labels (row, column), and the sites, so that learned
    costs form a map. A step costs its length (1, or √2 along a diagonal) times the mean cost of the
    two cells that it joins.

    Parameters
    ----------
    layers : array of shape (L, H, W) or (H, W)
        The cell features, which are ignored for blocked cells. With a layer of ones, linear costs
        can depend on the path length.
    passable : array of bool, shape (H, W), optional
        The mask of the passable cells. Other cells are blocked and have no arcs. By default, all
        cells are passable.
    names : sequence of L str, optional
        The names of the layers, which become the feature names.
    neighbours : {8, 4}
        The number of neighbours of a cell: 8 with diagonal steps, 4 without.
    corners : {"both", "one", "free"}
        How many of the two cells next to a diagonal step must be passable. With ``"both"``, as in
        the MovingAI benchmarks, no step cuts a corner. With ``"one"``, no step passes between two
        blocked cells. With ``"free"``, both cells may be blocked.

    Returns
    -------
    Graph
        The graph, with the cells row by row. `labels.shape` is (H, W), and `position` is (column,
        row). The features of blocked cells are 0.

    Raises
    ------
    InputError
        If a feature of a passable cell is not finite, if shapes do not match, or if there is no
        arc.

    Examples
    --------
    The rows of a MovingAI .map file are strings, in which "@" is a wall.

    >>> import numpy as np
    >>> from relaxboost import planning as pl
    >>> free = np.array([list(row) for row in ["...", ".@.", "..."]]) != "@"
    >>> hall = pl.grid(np.ones((1, *free.shape)), free, names=["step"])
    >>> hall.nodes, hall.arcs
    (9, 16)
    """
    from scipy.sparse import csr_array

    X, free = _checked(layers, passable)
    if neighbours not in (8, 4):
        raise InputError(f"neighbours must be one of 8, 4, got {neighbours!r}")
    if corners not in CORNERS:
        raise InputError(f"corners must be one of {', '.join(CORNERS)}, got {corners!r}")
    H, W = free.shape
    tail, head, length = _arcs(free, neighbours, corners)
    if tail.size == 0:
        raise InputError(
            f"the {H} x {W} grid has no arc, because no two passable cells are neighbours; "
            f"{int(free.sum())} of {free.size} cells are passable"
        )
    # The row of B of an arc has half of the length of the step at each of its two cells.
    half = np.repeat(length / 2.0, 2)
    cells = np.sort(np.stack([tail, head], axis=1)).ravel()
    sites = csr_array((half, cells, 2 * np.arange(tail.size + 1)), (tail.size, H * W))
    return Graph(
        tail,
        head,
        # Features of blocked cells may be nan, which must not reach products.
        np.where(free, X, 0.0).reshape(len(X), H * W).T,
        names=[f"layer {j}" for j in range(len(X))] if names is None else names,
        sites=sites,
        nodes=Cells((H, W)),
        position=np.indices((H, W))[::-1].reshape(2, -1).T,
    )


def _checked(layers: ArrayLike, passable: ArrayLike | None) -> tuple[Array, Flags]:
    """Return the validated cell features (layer, row, column), and the mask of the passable cells
    (row, column)."""
    X = doubles("layers", layers)
    X = X[None] if X.ndim == 2 else X
    if X.ndim != 3 or 0 in X.shape:
        raise InputError(
            f"layers must have shape (L, H, W) or (H, W), with L, H, W >= 1, got {X.shape}"
        )
    free = np.ones(X.shape[1:], dtype=bool)
    if passable is not None:
        given = np.asarray(passable)
        if given.shape != X.shape[1:]:
            raise InputError(
                f"passable must have shape {X.shape[1:]}, like a layer, got {given.shape}"
            )
        if given.dtype.kind not in "biuf" or not np.isin(given, (0, 1)).all():
            raise InputError(
                "passable must be an array of booleans, with True for each cell that can be entered"
            )
        free = given.astype(bool)
    bad = np.argwhere(~np.isfinite(X) & free)
    if bad.size:
        layer, row, column = (int(n) for n in bad[0])
        raise InputError(
            f"layer {layer} is {X[layer, row, column]} at the passable cell ({row}, {column}); "
            "features must be finite: fill in a number, or block the cell with passable="
        )
    return X, free


def _arcs(free: Flags, neighbours: int, corners: str) -> tuple[Whole, Whole, Array]:
    """Return the tails, heads and lengths of all arcs, sorted by tail, then by head."""
    H, W = free.shape
    # The steps are in the order of the numbers of the cells to which they lead.
    around = list(product((-1, 0, 1), repeat=2))
    steps = np.array([step for step in around if any(step) and (neighbours == 8 or 0 in step)])
    # A frame of blocked cells gives every cell eight neighbours.
    framed = np.pad(free, 1)

    def shifted(row: int, column: int) -> Flags:
        return framed[1 + row : 1 + row + H, 1 + column : 1 + column + W]

    allowed = np.empty((H, W, len(steps)), dtype=bool)
    for k, (row, column) in enumerate(steps.tolist()):
        allowed[:, :, k] = free & shifted(row, column)
        if row and column and corners == "both":
            allowed[:, :, k] &= shifted(row, 0) & shifted(0, column)
        elif row and column and corners == "one":
            allowed[:, :, k] &= shifted(row, 0) | shifted(0, column)
    tail, which = np.divmod(np.flatnonzero(allowed), len(steps))
    return tail, tail + (steps @ [W, 1])[which], np.hypot(*steps.T)[which]

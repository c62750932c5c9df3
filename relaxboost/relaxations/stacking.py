"""Two linear forms on the same d as one."""

from __future__ import annotations

import numpy as np

from relaxboost.relaxations.base import LinearForm


def stacked(first: LinearForm, second: LinearForm, m: int) -> LinearForm:
    """Return the program over (d, z1, z2) that has the cost and the constraints of both."""
    from scipy import sparse

    extra = (first.cost.size - m, second.cost.size - m)
    rows = []
    if first.rows is not None:
        given = sparse.csr_array(first.rows)
        rows.append(sparse.hstack([given, sparse.csr_array((given.shape[0], extra[1]))]))
    if second.rows is not None:
        given = sparse.csr_array(second.rows)
        gap = sparse.csr_array((given.shape[0], extra[0]))
        rows.append(sparse.hstack([given[:, :m], gap, given[:, m:]]))
    return LinearForm(
        cost=np.concatenate([first.cost[:m] + second.cost[:m], first.cost[m:], second.cost[m:]]),
        lower=np.concatenate(
            [np.maximum(first.lower[:m], second.lower[:m]), first.lower[m:], second.lower[m:]]
        ),
        upper=np.concatenate(
            [np.minimum(first.upper[:m], second.upper[:m]), first.upper[m:], second.upper[m:]]
        ),
        rows=sparse.csr_array(sparse.vstack(rows)) if rows else None,
        row_lower=np.concatenate(
            [f.row_lower for f in (first, second) if f.rows is not None] or [np.empty(0)]
        ),
        row_upper=np.concatenate(
            [f.row_upper for f in (first, second) if f.rows is not None] or [np.empty(0)]
        ),
    )

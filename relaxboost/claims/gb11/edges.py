"""Edges of finite hypothesis sets, by enumeration."""

import math
from itertools import combinations

import numpy as np

from relaxboost.claims.language import *

_SMALL = 1e-9


def edge(H: Array, scaled: bool = True) -> float:
    """Return the largest γ with max_h <v, h> >= γ‖v‖‖h‖ for every v, or 0 where there is none > 0.

    The polar {v: <v, h> <= ‖h‖ for every h} is largest at a vertex, where d independent constraints
    are tight; γ is 1 over that norm. It is unbounded if some v ≠ 0 has no <v, h> > 0, and then so
    has the normal of d − 1 of the h, up to sign. The h are the columns of H; for functions the
    inner product must be proportional to this one. `scaled`: multiples of the h count as well, so
    that −h does.
    """
    norms = np.sqrt((H * H).sum(axis=0))
    U = (H / np.where(norms > 0.0, norms, 1.0)).T[norms > 0.0]
    U = np.vstack([U, -U]) if scaled else U
    d = H.shape[0]
    if not len(U) or np.linalg.matrix_rank(U, tol=_SMALL) < d:
        return 0.0
    if not scaled and _unbounded(U, d):
        return 0.0
    longest = 0.0
    for chosen in combinations(range(len(U)), d):
        part = U[list(chosen)]
        if abs(np.linalg.det(part)) < _SMALL:
            continue
        v = np.linalg.solve(part, np.ones(d))
        if (U @ v <= 1.0 + _SMALL).all():
            longest = max(longest, math.sqrt(float(v @ v)))
    return min(1.0, 1.0 / longest)


def _unbounded(U: Array, d: int) -> bool:
    """Tell whether a v ≠ 0 has <v, u> <= 0 for all rows u, which span the space."""
    if d == 1:
        return bool((U > 0.0).all() or (U < 0.0).all())
    for chosen in combinations(range(len(U)), d - 1):
        _, values, V = np.linalg.svd(U[list(chosen)])
        if values[-1] < _SMALL:
            continue
        if any((sign * (U @ V[-1]) <= _SMALL).all() for sign in (1.0, -1.0)):
            return True
    return False

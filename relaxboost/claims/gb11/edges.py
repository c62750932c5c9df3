"""Edges of finite hypothesis sets, by enumeration."""

import math
from itertools import combinations

import numpy as np
from scipy.optimize import linprog

from relaxboost.claims.language import *

_SMALL = 1e-9


def edge(H: Array, scaled: bool = True) -> float:
    """Return the largest γ with max_h <v, h> >= γ‖v‖‖h‖ for every v, or 0 where there is none > 0.

    The polar {v: <v, h> <= ‖h‖ for every h} is largest at a vertex, where d independent constraints
    are tight; γ is 1 over that norm. It is unbounded if some v ≠ 0 has no <v, h> > 0, for which a
    linear program searches. The h are the columns of H; for functions the inner product must be
    proportional to this one. `scaled`: multiples of the h count as well, so that −h does.
    """
    norms = np.sqrt((H * H).sum(axis=0))
    U = (H / np.where(norms > 0.0, norms, 1.0)).T[norms > 0.0]
    U = np.vstack([U, -U]) if scaled else U
    d = H.shape[0]
    if not len(U) or np.linalg.matrix_rank(U, tol=_SMALL) < d:
        return 0.0
    if linprog(U.sum(axis=0), A_ub=U, b_ub=np.zeros(len(U)), bounds=(-1.0, 1.0)).fun < -_SMALL:
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

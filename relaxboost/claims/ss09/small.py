"""SS09 on all matrices of −1, 0 and 1 with up to three rows and columns."""

from collections.abc import Iterator
from itertools import combinations_with_replacement, permutations, product
from typing import Any

import numpy as np

from relaxboost.claims.language import *
from relaxboost.claims.ss09.runs import beta
from relaxboost.claims.ss09.smooth import distribution, game, margin
from relaxboost.claims.ss09.source import SOURCE

_WORDS = (
    "a matrix of each of the 221 classes that those of −1, 0, 1 with up to 3 rows and columns "
    "form, up to the order of rows and columns and the signs of columns"
)


def matrices() -> Iterator[list[list[int]]]:
    """Yield one matrix of each class. In a class rows and columns change places, columns signs."""
    for m, n in product((1, 2, 3), repeat=2):
        columns = {_signed(column) for column in product((-1, 0, 1), repeat=m)}
        chosen = combinations_with_replacement(sorted(columns), n)
        for representative in sorted({_representative(each) for each in chosen}):
            yield [list(row) for row in zip(*representative, strict=True)]


def _representative(columns: Any) -> tuple[tuple[int, ...], ...]:
    """Return the columns of the matrix that stands for its class."""
    orders = permutations(range(len(columns[0])))
    return min(
        tuple(sorted(_signed(tuple(column[i] for i in order)) for column in columns))
        for order in orders
    )


def _signed(column: tuple[int, ...]) -> tuple[int, ...]:
    return max(column, tuple(-entry for entry in column))


_WORST = {"1/2": (1.0, 4), "2/5": (1.085, 7)}
"""Bounds of error/ε and of the rounds, by ε."""


def _every() -> Iterator[dict[str, Any]]:
    for A in matrices():
        for k, epsilon in product(range(1, len(A) + 1), _WORST):
            yield {"A": A, "k": k, "epsilon": epsilon}


@SOURCE.claim("T9-small", space=Space(A=Matrix(), k=Whole(1, "m"), epsilon=Real(0.1, 1.0))).checked(
    every=Enumeration(f"{_WORDS}; every k, ε = 1/2, 2/5", _every)
)
def small_runs(x: Instance) -> Slacks:
    m, n = x.A.shape
    assume(m > 1)
    rho, smoothing = float(x.optimum(game(x)).middle), beta(m, x.epsilon)
    share, most = _WORST["1/2" if x.epsilon == 0.5 else "2/5"]
    waiting = [(1, np.zeros(n))]
    while waiting:
        t, w = waiting.pop()
        u = x.A @ w
        d = distribution(u, x.k, smoothing)[0]
        edges = d @ x.A
        for j in np.flatnonzero(np.abs(edges) >= np.abs(edges).max() - 1e-9):
            sign = -1.0 if edges[j] < 0.0 else 1.0
            v = sign * x.A[:, j] - u
            gap = float(d @ v)
            if gap <= x.epsilon:
                yield at_most(rho - float(margin(u, x.k)), share * x.epsilon, "error", t)
                yield at_most(t, most, "rounds", t)
                break
            eta = smoothing * gap / float(np.max(np.abs(v))) ** 2
            waiting.append((t + 1, (1.0 - eta) * w + eta * sign * np.eye(n)[j]))

"""SS09 on all matrices of −1, 0 and 1 with up to three rows and columns."""

import math
from collections.abc import Callable, Iterator
from fractions import Fraction
from itertools import combinations_with_replacement, permutations, product
from typing import Any

import numpy as np

from relaxboost.claims.language import *
from relaxboost.claims.sides import avg_min, in_l1_ball, largest_edge, optimum
from relaxboost.claims.ss09.runs import beta
from relaxboost.claims.ss09.smooth import distribution, game, margin
from relaxboost.claims.ss09.source import SOURCE
from relaxboost.claims.votes import risk
from relaxboost.game.game import Game

_WORDS = (
    "a matrix of each of the 221 classes that those of −1, 0, 1 with up to 3 rows and columns "
    "form, up to the order of rows and columns and the signs of columns"
)


def matrices() -> Iterator[list[list[int]]]:
    """Yield one matrix of each class. In a class rows and columns change places, columns signs."""
    for m, n in product((1, 2, 3), repeat=2):
        columns = {_signed(column) for column in product((-1, 0, 1), repeat=m)}
        chosen = combinations_with_replacement(sorted(columns), n)
        for representative in sorted({representative_of(each) for each in chosen}):
            yield [list(row) for row in zip(*representative, strict=True)]


def representative_of(columns: Any) -> tuple[tuple[int, ...], ...]:
    """Return the columns of the matrix that stands for its class."""
    orders = permutations(range(len(columns[0])))
    return min(
        tuple(sorted(_signed(tuple(column[i] for i in order)) for column in columns))
        for order in orders
    )


def _signed(column: tuple[int, ...]) -> tuple[int, ...]:
    return max(column, tuple(-entry for entry in column))


def _with(**values: list[Any]) -> Callable[[], Iterator[dict[str, Any]]]:
    """Return the matrices with each k in [m], where k is `[]`, and with the values of the rest."""

    def every() -> Iterator[dict[str, Any]]:
        for A in matrices():
            ranges = [each or range(1, len(A) + 1) for each in values.values()]
            for chosen in product(*ranges):
                yield {"A": A, **dict(zip(values, chosen, strict=True))}

    return every


def _chosen(edges: Array) -> list[int]:
    """Return all columns of largest edge."""
    sizes = np.abs(edges)
    found: list[int] = np.flatnonzero(sizes >= sizes.max() - 1e-9).tolist()
    return found


@SOURCE.claim("C5-small", space=Space(A=Matrix(), k=Whole(1, "m"))).checked(
    every=Enumeration(f"{_WORDS}; every k", _with(k=[]))
)
def small_optima(x: Instance) -> Slacks:
    A = exactly(x.A)
    rho, d, w = optimum(x, game(x))
    yield equal(avg_min(A @ in_l1_ball(w), x.k), rho, "average and ρ")
    yield equal(largest_edge(A, d), rho, "edge and ρ")
    yield equal(sum(d), 1, "sum of d")
    yield at_least(min(d), 0, "least weight")
    yield at_most(max(d), Fraction(1, x.k), "largest weight")
    if rho.upper > 0:
        yield at_least(rho, Fraction(1, 9), "ρ")


_WORST = {"1/2": (1.0, 4), "2/5": (1.085, 7)}
"""Bounds of error/ε and of the rounds, by ε."""


@SOURCE.claim("T9-small", space=Space(A=Matrix(), k=Whole(1, "m"), epsilon=Real(0.1, 1.0))).checked(
    every=Enumeration(f"{_WORDS}; every k, ε = 1/2, 2/5", _with(k=[], epsilon=[*_WORST]))
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
        for j in _chosen(edges):
            sign = -1.0 if edges[j] < 0.0 else 1.0
            v = sign * x.A[:, j] - u
            gap = float(d @ v)
            if gap <= x.epsilon:
                yield at_most(rho - float(margin(u, x.k)), share * x.epsilon, "error", t)
                yield at_most(t, most, "rounds", t)
                break
            eta = smoothing * gap / float(np.max(np.abs(v))) ** 2
            waiting.append((t + 1, (1.0 - eta) * w + eta * sign * np.eye(n)[j]))


@SOURCE.claim("remark-adaboost-small", space=Space(A=Matrix())).checked(
    every=Enumeration(_WORDS, _with())
)
def small_votes(x: Instance) -> Slacks:
    gamma = float(x.optimum(Game(x.A)).middle)
    assume(gamma > 0.0)
    waiting = [(0, np.zeros(x.A.shape[1]))]
    found = []
    while waiting:
        t, w = waiting.pop()
        u = x.A @ w
        if t:
            wrong = float(np.mean(u <= 1e-12))
            found.append(at_most(wrong, 0.752 * math.exp(-(gamma**2) * t), "error", t))
            bound = 0.9967 * math.exp(-0.5 * gamma**2 * t)
            found.append(at_most(risk(x.A, w), bound, "loss", t))
        d = np.exp(u.min() - u)
        edges = d @ x.A / d.sum()
        if t < 4 and np.abs(edges).max() < 1.0 - 1e-9:
            steps = [(j, math.atanh(edges[j])) for j in _chosen(edges)]
            waiting += [(t + 1, w + step * np.eye(len(w))[j]) for j, step in steps]
    assume(bool(found))
    yield from found

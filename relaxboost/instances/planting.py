"""Games of any size with a known optimum. An optimal pair (d, w) is planted in the margin matrix.

By complementary slackness, d and w are optimal if two conditions hold. First, the columns with
nonzero weight have the largest edge. Second, there is a number γ such that the margin of an example
is γ if d_i is between 0 and its cap, larger than γ if d_i = 0, and smaller than γ if d_i is at its
cap. In the matrix, each block of b examples and b columns has the same number of entries +1 in
every row and column, so both conditions are proved by counting.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from math import ceil
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from relaxboost._core.errors import InputError
from relaxboost._core.parameters import count, exact, spell
from relaxboost._core.seeds import Rng, accepts_seed, generator
from relaxboost.game.game import Game
from relaxboost.relaxations import Capped, HardMargin

Index = NDArray[np.int64]

MIN_BLOCK_SIZE = 5
"""The smallest block size b. A block has b rows and b columns, and most of its entries are +1."""
MAX_BLOCK_SIZE = 32
"""The largest block size b. It is smaller if the game has few rows or columns."""
ENTRIES_DRAWN_AT_ONCE = 4_000_000
"""The number of random entries drawn or summed at a time, to save memory. It must not change,
because the generated matrices depend on it."""


class _Group(NamedTuple):
    """A group of examples with the same weight d_i and the same margin."""

    rows: Index
    weight: Fraction
    plus: int
    """The number of entries +1 among b entries of a row of the group, where b is the block size. In
    each class of columns, this is the same share of the entries of a row."""


class _Class(NamedTuple):
    """The columns with the same weight in w."""

    columns: Index
    weight: Fraction


class _Layout(NamedTuple):
    """The division of a planted matrix into row groups and column classes."""

    b: int
    """The block size. The number of columns in each class is a multiple of it, and each group of
    examples with nonzero weight has this number of rows."""
    groups: list[_Group]
    classes: list[_Class]
    others: Index
    """The columns whose weight in w is 0."""


@dataclass(frozen=True, eq=False)
class Plant:
    """A margin matrix whose game over the unit l1 ball has a known optimum.

    A distribution d and weights w, chosen before the matrix was made, attain the optimum.
    """

    A: NDArray[Any]
    """The margin matrix of shape (m, n). Its type is int8 for signs and float64 for floats."""
    k: Fraction | None
    """The k of the cap 1/k on the example weights, or None for the hard margin."""
    value: Fraction
    d: tuple[Fraction, ...]
    support: tuple[int, ...]
    w: tuple[Fraction, ...]
    """The optimal weights of the columns in `support`. Their absolute values sum to 1."""
    gamma: Fraction

    def game(self) -> Game:
        """Return the game of this matrix, over the unit l1 ball."""
        return Game(self.A, HardMargin() if self.k is None else Capped(k=self.k))

    def prove(self) -> None:
        """Prove that `value` is the value of the game.

        Both bounds are computed in integers. Raise an AssertionError if one of them differs from
        `value`.
        """
        bits = _bits(*self.A.shape) if self.A.dtype.kind == "f" else 0
        one = 1 << bits
        d = np.array(self.d, dtype=object)
        w = np.zeros(self.A.shape[1], dtype=object)
        w[list(self.support)] = self.w
        assert sum(self.d) == 1
        assert all(x >= 0 and (self.k is None or x * self.k <= 1) for x in set(self.d))
        assert sum(map(abs, self.w)) == 1
        edges = sum(x * _whole(self.A, bits, d == x) for x in set(self.d) if x)
        assert max(map(abs, edges)) == self.value * one
        margins = sum(x * _whole(self.A.T, bits, w == x) for x in set(self.w))
        if self.k is None:
            assert min(margins) == self.value * one
            return
        short = sum((self.gamma * one - u for u in margins if u < self.gamma * one), Fraction(0))
        assert self.gamma * one - short / self.k == self.value * one


@accepts_seed
def plant(m: int, n: int, k: Any = None, rng: Rng = 0, entries: str = "signs") -> Plant:
    """Return a margin matrix with m rows and n columns, whose game has a known optimum.

    An optimal distribution d and optimal weights w are planted in the matrix. The columns with
    nonzero weight have the absolute edge ρ, the value of the game. Their weights are in the ratio
    1:2:3, or 1:2 or equal if there are few columns. All other columns have smaller absolute edges,
    and about half of these edges are only a little smaller. Some weights d_i are between 0 and the
    cap 1/k, and these examples have a common margin γ. If m and k leave room, other weights are
    zero, and these examples have margins above γ. If k > 5, weights may also be at the cap, and
    these examples have margins below γ.

    Parameters
    ----------
    m, n : int
        The number of examples, at least 10, and the number of columns, at least 5.
    k : int, float or Fraction, optional
        The k of `Capped(k)`, at most about m − 10. By default the game has the hard margin.
    rng : int, numpy.random.Generator or None
        A seed (>= 0), a generator, or None for a new seed. Equal seeds give equal games.
    entries : {"signs", "floats"}
        The type of the entries. "signs" are −1 and +1 as int8. "floats" are float64 numbers with so
        few bits that sums of a row or a column are exact in 64-bit integers.

    Returns
    -------
    Plant
        The matrix ``.A``, its game over the unit l1 ball ``.game()``, and its optimum ``.value``.
        Both bounds are verified in integers before `plant` returns.

    Raises
    ------
    InputError
        If the sizes leave no room for a planted pair.

    Examples
    --------
    >>> import relaxboost as rb
    >>> made = rb.instances.plant(20, 8, rng=1)
    >>> made.value
    Fraction(3, 5)
    >>> vote = rb.solve(made.game(), tol=1e-6)
    >>> vote.lower <= made.value <= vote.upper
    True
    """
    m, n = count("m", m), count("n", n)
    if entries not in ("signs", "floats"):
        raise InputError(f"plant needs entries='signs' or 'floats', got {entries!r}")
    k = None if k is None else exact("plant", "k", k)
    rng = generator(rng)
    b, groups = _groups(m, n, k, rng)
    classes = _classes(n, b, rng)
    others = np.setdiff1d(np.arange(n), np.concatenate([c.columns for c in classes]))
    layout = _Layout(b, groups, classes, others)
    gamma = Fraction(2 * max(g.plus for g in groups if g.weight) - b, b)
    value = sum((g.weight * len(g.rows) * Fraction(2 * g.plus - b, b) for g in groups), Fraction(0))
    A = np.empty((m, n), dtype=np.int8)
    _fill_used(A, layout, rng)
    _fill_others(A, layout, rng)
    _keep_inside(A, layout, value, rng)
    result: NDArray[Any] = A
    if entries == "floats":
        result = _blurred(A, layout, rng)
        value /= 2
        gamma /= 2
    signs = rng.choice(np.array([-1, 1], dtype=np.int8), n)
    result *= signs
    w = {int(j): int(signs[j]) * c.weight for c in classes for j in c.columns}
    d = np.full(m, Fraction(0), dtype=object)
    for group in groups:
        d[group.rows] = group.weight
    support = tuple(sorted(w))
    found = Plant(result, k, value, tuple(d), support, tuple(w[j] for j in support), gamma)
    found.prove()
    return found


def _groups(
    m: int, n: int, k: Fraction | None, rng: np.random.Generator
) -> tuple[int, list[_Group]]:
    """Return the block size b, and the groups of examples in random order."""
    cap = f"k={'None' if k is None else spell(k)}"
    if m < 2 * MIN_BLOCK_SIZE or n < MIN_BLOCK_SIZE or (k is not None and k < 1):
        raise InputError(f"plant({m}, {n}, {cap}) needs m >= 10, n >= 5 and k >= 1")
    most = max(MIN_BLOCK_SIZE, min(MAX_BLOCK_SIZE, n // 2, m // 8))
    first = int(rng.integers(MIN_BLOCK_SIZE, most + 1))
    share = float(rng.uniform(0.3, 0.7))
    for b in range(first, MIN_BLOCK_SIZE - 1, -1):
        # `share` sets the number of blocks at the cap; more if other examples are too few.
        full = 0 if k is None else ceil(k / b) - 1
        for capped in range(round(full * share), full + 1):
            least = 2 if k is None else max(2, int((k - b * capped) / b) + 1)
            if (capped + least) * b <= m:
                room = m // b - capped
                between = min(room, max(least, round(1.5 * least), m // (4 * b)))
                return b, _weigh(m, b, k, capped, between, rng)
    raise InputError(
        f"plant({m}, {n}, {cap}) has no room for weights between 0 and the cap 1/k. Use a k of "
        f"at most {max(1, m - 2 * MIN_BLOCK_SIZE)}"
    )


def _weigh(
    m: int, b: int, k: Fraction | None, capped: int, between: int, rng: np.random.Generator
) -> list[_Group]:
    """Return groups of examples with weights at the cap, between 0 and the cap, or 0."""
    order = rng.permutation(m)
    plus = int(rng.integers(b // 2 + 2, min(b - 1, b // 2 + 4) + 1))
    blocks = [order[i * b : (i + 1) * b] for i in range(capped + between)]
    groups = [
        _Group(rows, 1 / Fraction(k or 1), int(rng.integers(b // 2 + 1, plus)))
        for rows in blocks[:capped]
    ]
    rest = Fraction(1) if k is None else 1 - Fraction(b * capped) / k
    shares = rng.integers(1, 3, between).tolist()
    if k is not None and 2 * rest * k >= b * sum(shares):
        shares = [1] * between  # Otherwise the larger weights would reach the cap.
    for rows, part in zip(blocks[capped:], shares, strict=True):
        groups.append(_Group(rows, rest * part / (b * sum(shares)), plus))
    left = order[(capped + between) * b :]
    for more in range(plus + 1, b + 1):
        rows = left[more - plus - 1 :: b - plus]
        if rows.size:
            groups.append(_Group(rows, Fraction(0), more))
    return groups


def _classes(n: int, b: int, rng: np.random.Generator) -> list[_Class]:
    """Return the classes of columns with positive weight in w.

    The columns of a class have the same weight. About an eighth of all columns are in a class.
    """
    order = rng.permutation(n)
    blocks = max(min(n // b, 3), n // (8 * b))
    ratios = [1 + i % 3 for i in range(blocks)]
    total = b * sum(ratios)
    classes = []
    start = 0
    for ratio in sorted(set(ratios)):
        stop = start + b * ratios.count(ratio)
        classes.append(_Class(order[start:stop], Fraction(ratio, total)))
        start = stop
    return classes


def _fill_used(A: NDArray[np.int8], plan: _Layout, rng: np.random.Generator) -> None:
    """Fill the columns of A with positive weight in w.

    All rows of a group get the same number of entries +1 in each class of columns.
    """
    for group, used in product(plan.groups, plan.classes):
        size = used.columns.size
        pattern = (np.arange(size) % plan.b)[None, :] + np.arange(group.rows.size)[:, None]
        block = np.where(pattern % plan.b < group.plus, 1, -1).astype(np.int8)
        block = block[:, rng.permutation(size)] if group.weight else rng.permuted(block, axis=1)
        A[np.ix_(group.rows, used.columns)] = block


def _fill_others(A: NDArray[np.int8], plan: _Layout, rng: np.random.Generator) -> None:
    # They are filled like the used columns, except that some +1 are changed to −1. This makes their
    # edges smaller.
    others = plan.others
    turned = np.where(
        rng.random(others.size) < 0.5, 3.0 / A.shape[0], rng.uniform(0.0, 0.5, others.size)
    ).astype(np.float32)
    step = max(1, ENTRIES_DRAWN_AT_ONCE // max(1, others.size))
    for group in plan.groups:
        for start in range(0, group.rows.size, step):
            rows = group.rows[start : start + step]
            place = rng.permutation(rows.size)[:, None] + rng.integers(0, plan.b, others.size)
            plus = (place % plan.b) < group.plus
            plus &= rng.random((rows.size, others.size), dtype=np.float32) >= turned
            A[np.ix_(rows, others)] = np.where(plus, 1, -1)


def _keep_inside(
    A: NDArray[np.int8], plan: _Layout, value: Fraction, rng: np.random.Generator
) -> None:
    # An unused column whose absolute edge is too large is replaced by a used column in which one +1
    # is negated, in an example with the least weight. This weight is at most 1/(2b), which is half
    # of the least possible value of the game.
    edges = np.zeros(A.shape[1], dtype=object)
    weighed = [g for g in plan.groups if g.weight]
    for weight in {g.weight for g in weighed}:
        rows = np.concatenate([g.rows for g in weighed if g.weight == weight])
        edges = edges + weight * A[rows].sum(axis=0, dtype=np.int64).astype(object)
    lightest = min(weighed, key=lambda g: g.weight).rows
    for j in plan.others:
        if abs(edges[j]) >= value:
            A[:, j] = A[:, rng.choice(plan.classes[0].columns)]
            A[rng.choice(lightest[A[lightest, j] > 0]), j] = -1


def _blurred(A: NDArray[np.int8], plan: _Layout, rng: np.random.Generator) -> NDArray[np.float64]:
    """Return A / 2 plus noise that changes neither the edges for d nor the margins for w."""
    # The noise of an entry is subtracted from a neighbour. The neighbour is in the next row of the
    # group, so that the edges do not change. In used columns, it is also in the next column of the
    # class, so that the margins do not change.
    bits = _bits(*A.shape)
    out: NDArray[np.float64] = np.multiply(A, 0.5, dtype=np.float64)

    def noise(size: tuple[int, int], part: int) -> NDArray[np.float64]:
        return np.ldexp(rng.integers(-(1 << (bits - part)), 1 << (bits - part), size), -bits)

    for group in plan.groups:
        for first in (0, 1):  # The second pass has other neighbours and half the size.
            rows = group.rows[first:]
            one, two = rows[0 : rows.size - 1 : 2], rows[1::2]
            free = noise((one.size, plan.others.size), 2 + first)
            out[np.ix_(one, plan.others)] += free
            out[np.ix_(two, plan.others)] -= free
            for used in plan.classes:
                columns = used.columns[first:]
                left, right = columns[0 : columns.size - 1 : 2], columns[1::2]
                both = noise((one.size, left.size), 2 + first)
                out[np.ix_(one, left)] += both
                out[np.ix_(one, right)] -= both
                out[np.ix_(two, left)] -= both
                out[np.ix_(two, right)] += both
    return out


def _bits(m: int, n: int) -> int:
    """Return the number of bits of an entry for which sums of m or n entries fit in 62 bits."""
    return min(52, 62 - max(m, n).bit_length())


def _whole(A: NDArray[Any], bits: int, rows: NDArray[np.bool_]) -> NDArray[Any]:
    ids = np.flatnonzero(rows)
    total = np.zeros(A.shape[1], dtype=np.int64)
    step = max(1, ENTRIES_DRAWN_AT_ONCE // A.shape[1])
    for start in range(0, ids.size, step):
        block = A[ids[start : start + step]]
        whole = block if bits == 0 else np.ldexp(block, bits).astype(np.int64)
        total += whole.sum(axis=0, dtype=np.int64)
    return total.astype(object)

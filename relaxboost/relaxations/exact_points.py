"""From a distribution in doubles to one in fractions, near it and within caps exactly."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

BITS = 96
"""Bits of the common denominator of an exact point, beside that of its caps."""
_WIDEST = 4096  # bits of a denominator beyond which caps are rounded down to BITS

Groups = tuple[list[list[int]], list[Fraction]]
"""Groups of examples, and the cap of each."""


def within_caps(d: Sequence[float], groups: Sequence[Groups]) -> list[Fraction]:
    """Return a point of the simplex within 2^-90 of `d` / Σd that meets the caps exactly.

    The denominator is a multiple of those of the caps, so that a point that they force (k = m,
    caps that sum to one) is representable.
    """
    below = 1 << BITS
    wider = math.lcm(*(c.denominator for _, caps in groups for c in caps)) if groups else 1
    if wider.bit_length() <= _WIDEST:
        below *= wider
    top, bottom = math.fsum(d).as_integer_ratio()
    shares = [below * bottom * p // (top * q) for p, q in (x.as_integer_ratio() for x in d)]
    at_cap: set[int] = set()
    for members, caps in groups:
        at_cap |= _snap(shares, members, [int(c * below) for c in caps])
    missing = below - sum(shares)
    if missing < 0:
        order = sorted(range(len(d)), key=lambda i: (i in at_cap, -shares[i]))
        missing += _take(shares, order, -missing)
    for members, caps in groups:
        for group, c in zip(members, caps, strict=True):
            order = sorted(group, key=shares.__getitem__, reverse=True)
            missing += _take(shares, order, sum(shares[i] for i in group) - int(c * below))
    missing = _fill(shares, groups, below, missing)
    if missing:  # caps of several terms that leave no simple repair: the caller moves it
        shares[max(range(len(d)), key=shares.__getitem__)] += missing
    return [Fraction(x, below) for x in shares]


def _snap(shares: list[int], members: list[list[int]], limits: list[int]) -> set[int]:
    """Put entries that are a few roundings from a cap of their own there; return which."""
    found = set()
    for group, limit in zip(members, limits, strict=True):
        if len(group) == 1 and abs(limit - shares[group[0]]) <= limit >> 48:
            shares[group[0]] = limit
            found.add(group[0])
    return found


def _take(shares: list[int], order: list[int], excess: int) -> int:
    """Take what is too much, if anything, from the entries in this order; return how much."""
    left = max(0, excess)
    for i in order if left else ():
        taken = min(shares[i], left)
        shares[i], left = shares[i] - taken, left - taken
        if not left:
            break
    return max(0, excess) - left


def _fill(shares: list[int], groups: Sequence[Groups], below: int, missing: int) -> int:
    """Give what is missing to the entries with the most room; return what did not fit."""
    if not groups:
        shares[max(range(len(shares)), key=shares.__getitem__)] += missing
        return 0
    room = [below] * len(shares)
    of: list[list[tuple[int, int]]] = [[] for _ in shares]
    left: list[list[int]] = []
    for place, (members, caps) in enumerate(groups):
        left.append(
            [int(c * below) - sum(shares[i] for i in g) for g, c in zip(members, caps, strict=True)]
        )
        for j, group in enumerate(members):
            for i in group:
                of[i].append((place, j))
                room[i] = min(room[i], left[place][j])
    for i in sorted(range(len(shares)), key=lambda i: (-room[i], i)):
        given = min([missing, *(left[place][j] for place, j in of[i])])
        if given > 0:
            shares[i], missing = shares[i] + given, missing - given
            for place, j in of[i]:
                left[place][j] -= given
        if not missing:
            break
    return missing

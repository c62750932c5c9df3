"""A distribution in fractions near one in doubles, which satisfies caps exactly."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

BITS = 96
"""The bits of the denominator of an exact point, apart from the factor for its caps."""

MAX_CAP_BITS = 4096
"""If a common denominator of the caps is longer, the caps are rounded down to BITS bits instead."""

Groups = tuple[list[list[int]], list[Fraction]]
"""Groups of examples, and the cap of each group."""

_Limits = tuple[list[list[int]], list[int]]
"""Groups of examples, and the cap of each group in units of the denominator."""


def within_caps(d: Sequence[float], groups: Sequence[Groups]) -> list[Fraction]:
    """Return a point of the simplex within 2^-90 of `d` / Σd that satisfies the caps exactly.

    The denominator is a multiple of the denominators of the caps. So if the caps leave only one
    point (k = m, or caps that sum to one), this point is representable. If caps of several terms
    conflict, the result may exceed one of them.
    """
    unit = 1 << BITS
    common = math.lcm(*(c.denominator for _, caps in groups for c in caps)) if groups else 1
    if common.bit_length() <= MAX_CAP_BITS:
        unit *= common
    limits = [(members, [int(c * unit) for c in caps]) for members, caps in groups]
    numerator, denominator = math.fsum(d).as_integer_ratio()
    shares = [
        unit * denominator * p // (numerator * q) for p, q in (x.as_integer_ratio() for x in d)
    ]
    at_cap = _snap_to_caps(shares, limits)
    missing = unit - sum(shares)
    if missing < 0:
        # The entries at their caps lose weight last, and the largest of the others first.
        order = sorted(range(len(d)), key=lambda i: (i in at_cap, -shares[i]))
        missing += _take(shares, order, -missing)
    missing += _cut_to_caps(shares, limits)
    missing = _fill(shares, limits, unit, missing)
    if missing:
        # Caps of several terms leave no simple repair. The caller moves the point.
        shares[max(range(len(d)), key=shares.__getitem__)] += missing
    return [Fraction(x, unit) for x in shares]


def _snap_to_caps(shares: list[int], limits: Sequence[_Limits]) -> set[int]:
    """Move entries within a few roundings of a cap of their own to it; return their indices."""
    found = set()
    for members, caps in limits:
        for group, cap in zip(members, caps, strict=True):
            if len(group) == 1 and abs(cap - shares[group[0]]) <= cap >> 48:
                shares[group[0]] = cap
                found.add(group[0])
    return found


def _take(shares: list[int], order: list[int], excess: int) -> int:
    """Take `excess`, if it is positive, from the entries in this order; return what was taken."""
    left = max(0, excess)
    for i in order if left else ():
        taken = min(shares[i], left)
        shares[i] -= taken
        left -= taken
        if not left:
            break
    return max(0, excess) - left


def _cut_to_caps(shares: list[int], limits: Sequence[_Limits]) -> int:
    """Take from each group what exceeds its cap, largest entries first; return the sum."""
    taken = 0
    for members, caps in limits:
        for group, cap in zip(members, caps, strict=True):
            order = sorted(group, key=shares.__getitem__, reverse=True)
            taken += _take(shares, order, sum(shares[i] for i in group) - cap)
    return taken


def _rooms(shares: list[int], limits: Sequence[_Limits]) -> tuple[list[int], list[list[int]]]:
    """Return the room below the cap of each group, and the indices of the groups of each entry."""
    room: list[int] = []
    groups_of: list[list[int]] = [[] for _ in shares]
    for members, caps in limits:
        for group, cap in zip(members, caps, strict=True):
            for i in group:
                groups_of[i].append(len(room))
            room.append(cap - sum(shares[i] for i in group))
    return room, groups_of


def _fill(shares: list[int], limits: Sequence[_Limits], unit: int, missing: int) -> int:
    """Give `missing` to the entries with the most room; return what did not fit."""
    room, groups_of = _rooms(shares, limits)
    free = [min((room[g] for g in each), default=unit) for each in groups_of]
    # Ties go to the first entry or, without caps, to the largest.
    order = sorted(range(len(shares)), key=lambda i: (-free[i], i if limits else -shares[i]))
    for i in order:
        if not missing:
            break
        given = max(0, min([missing, *(room[g] for g in groups_of[i])]))
        shares[i] += given
        missing -= given
        for g in groups_of[i]:
            room[g] -= given
    return missing

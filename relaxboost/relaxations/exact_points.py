"""Conversion of distributions from doubles to fractions that satisfy caps exactly."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

Groups = tuple[list[list[int]], list[Fraction]]
"""Groups of examples, and the caps on their total weights."""

_Limit = tuple[list[int], int]
"""A group of examples, and the cap on its total weight as an integer multiple of a tiny unit."""


def within_caps(d: Sequence[float], groups: Sequence[Groups]) -> list[Fraction]:
    """Return a point of the simplex near `d` / Σd that satisfies the caps exactly, as fractions.

    If d / Σd exceeds the caps only by rounding errors, the distance is also only rounding errors.
    If caps of overlapping groups conflict, the point may exceed a cap.
    """
    unit = 1 << 96
    common = math.lcm(*(c.denominator for _, caps in groups for c in caps)) if groups else 1
    # Caps may leave only one point (k = m, or caps that sum to one). With their common denominator
    # as a factor, fractions represent this point. If the common denominator is very long, it would
    # make certificates too long, so the caps are rounded down to 96 bits instead.
    if common.bit_length() <= 4096:
        unit *= common
    limits = [
        (group, int(cap * unit))
        for members, caps in groups
        for group, cap in zip(members, caps, strict=True)
    ]
    numerator, denominator = math.fsum(d).as_integer_ratio()
    # Rounding down makes the sum too small rather than too large.
    shares = [
        unit * denominator * p // (numerator * q) for p, q in (x.as_integer_ratio() for x in d)
    ]
    at_cap = _snap_to_caps(shares, limits)
    missing = unit - sum(shares)
    if missing < 0:
        # `fsum` may round down. The entries at their caps lose weight last, to stay at the caps.
        order = sorted(range(len(d)), key=lambda i: (i in at_cap, -shares[i]))
        missing += _take(shares, order, -missing)
    missing += _cut_to_caps(shares, limits)
    missing = _fill(shares, limits, unit, missing)
    if missing:
        # The caps of several terms conflict. The caller moves the point towards a center.
        shares[max(range(len(d)), key=shares.__getitem__)] += missing
    return [Fraction(x, unit) for x in shares]


def _snap_to_caps(shares: list[int], limits: Sequence[_Limit]) -> set[int]:
    """Round weights to their caps if they differ only by rounding errors.

    Return the capped examples. `shares` contains the weights in integer units.
    """
    found = set()
    for group, cap in limits:
        # 2^-48 is 32 roundings of a double.
        if len(group) == 1 and abs(cap - shares[group[0]]) <= cap >> 48:
            shares[group[0]] = cap
            found.add(group[0])
    return found


def _take(shares: list[int], order: list[int], excess: int) -> int:
    """Subtract `excess` from the weights of the examples in `order`, emptying one after the other.

    Return the amount that was subtracted.
    """
    left = max(0, excess)
    for i in order:
        if not left:
            break
        taken = min(shares[i], left)
        shares[i] -= taken
        left -= taken
    return max(0, excess) - left


def _cut_to_caps(shares: list[int], limits: Sequence[_Limit]) -> int:
    """Cut the total weight of each group to its cap, largest weights first.

    Return the amount that was subtracted.
    """
    taken = 0
    for group, cap in limits:
        order = sorted(group, key=shares.__getitem__, reverse=True)
        taken += _take(shares, order, sum(shares[i] for i in group) - cap)
    return taken


def _fill(shares: list[int], limits: Sequence[_Limit], unit: int, missing: int) -> int:
    """Distribute `missing` among the weights furthest below their caps, without exceeding a cap.

    Return the amount that is left.
    """
    room = [cap - sum(shares[i] for i in group) for group, cap in limits]
    groups_of: list[list[int]] = [[] for _ in shares]
    for g, (group, _) in enumerate(limits):
        for i in group:
            groups_of[i].append(g)

    # Of entries with the same room, the first one is filled first. If there are no caps, the
    # largest entry is filled first.
    def rank(i: int) -> tuple[int, int]:
        free = min((room[g] for g in groups_of[i]), default=unit)
        return -free, i if limits else -shares[i]

    for i in sorted(range(len(shares)), key=rank):
        if not missing:
            break
        given = max(0, min([missing, *(room[g] for g in groups_of[i])]))
        shares[i] += given
        missing -= given
        for g in groups_of[i]:
            room[g] -= given
    return missing

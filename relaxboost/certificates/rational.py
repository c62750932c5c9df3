"""From the doubles of a solution to exact points: d over one denominator, w likewise."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from relaxboost.relaxations import BinaryEntropy, Capped, Caps, GroupCaps, Relaxation
from relaxboost.relaxations.calculus import Scaled, Sum

_BITS = 96
_WIDEST = 4096  # bits of a denominator beyond which caps are rounded down to _BITS

Groups = tuple[list[list[int]], list[Fraction]]


def distribution(d: Sequence[float], f: Relaxation) -> list[Fraction]:
    """Return a point of the simplex within 2^-90 of `d` / Σd that meets the caps of f exactly.

    The denominator is a multiple of those of the caps, so that a point that they force (k = m,
    caps that sum to one) is representable. Constraints of f other than caps are not looked at.
    """
    groups = [found for term in _terms(f) if (found := _caps(term, len(d))) is not None]
    below = 1 << _BITS
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


def _terms(f: Relaxation) -> list[Relaxation]:
    if isinstance(f, Scaled):
        return _terms(f.f)
    return [*_terms(f.first), *_terms(f.second)] if isinstance(f, Sum) else [f]


def _caps(f: Any, m: int) -> Groups | None:
    """Return the groups of examples that f caps, and their caps."""
    if isinstance(f, Capped | BinaryEntropy):
        return [[i] for i in range(m)], [1 / Fraction(f.k)] * m
    if isinstance(f, Caps):
        return [[i] for i in range(m)], [Fraction(c) for c in f.caps]
    if isinstance(f, GroupCaps):
        place = {label: j for j, (label, _) in enumerate(f.caps)}
        members: list[list[int]] = [[] for _ in f.caps]
        for i, label in enumerate(f.groups):
            if label != -1:
                members[place[label]].append(i)
        return members, [Fraction(c) for _, c in f.caps]
    return None


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


def _fill(shares: list[int], groups: list[Groups], below: int, missing: int) -> int:
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


def weights(coefficients: Sequence[float], over: Any) -> list[Fraction]:
    """Return weights within 2^-90 of these, relative to their size, in the outer set exactly."""
    from relaxboost import outer

    below = 1 << _BITS
    exact = [int(Fraction(c) * below) for c in coefficients]  # towards zero
    if isinstance(over, outer.Simplex):
        exact = [max(0, c) for c in exact]
        largest = max(range(len(exact)), key=exact.__getitem__)
        exact[largest] += below - sum(exact)
    elif isinstance(over, outer.L1Ball):
        excess = sum(map(abs, exact)) - int(Fraction(over.radius) * below)
        for i in sorted(range(len(exact)), key=lambda i: -abs(exact[i])) if excess > 0 else ():
            taken = min(abs(exact[i]), excess)
            exact[i], excess = exact[i] - (taken if exact[i] > 0 else -taken), excess - taken
    elif isinstance(over, outer.L2Ball):
        limit = (Fraction(over.radius) * below) ** 2
        while (square := sum(c * c for c in exact)) > limit:
            ratio = Fraction(math.sqrt(float(limit / square))) * (1 - Fraction(1, 2**50))
            exact = [int(c * ratio) for c in exact]
    return [Fraction(c, below) for c in exact]

"""A second opinion on certificates: whether d, w and witness prove the claim.

It shares no code with the checker or with what made the certificate: NumPy's object arrays of
Fractions for what is rational, and balls of 400 bits where it is not.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import flint
import numpy as np


class Infinite(Exception):
    """f, f*, g* is infinite, or a comparison is undecided."""


def rational(x: Any) -> flint.fmpq:
    """An exact number that meets balls in arithmetic and comparisons."""
    x = Fraction(x)
    return flint.fmpq(x.numerator, x.denominator)


parse, ZERO = rational, flint.fmpq(0)


def denominator(given: Any) -> flint.fmpq:
    below = rational(given["denominator"])
    certain(below > 0)
    return below


def vector(given: Any, length: int) -> np.ndarray:
    if isinstance(given, str):
        return np.array([rational(given)] * length, dtype=object)
    below = denominator(given)
    return np.array([rational(x) / below for x in given["numerators"]], dtype=object)


def ball(x: Any) -> flint.arb:
    return flint.arb(x)


def rooted(values: Any, p: Any) -> flint.arb:
    total = flint.arb(0)
    for v in values:
        if v:
            total += (ball(abs(v)).log() * ball(p)).exp()
    return (total.log() / ball(p)).exp() if total > 0 else flint.arb(0)


def certain(condition: Any) -> None:
    if not bool(condition):
        raise Infinite


def by_group(spec: Any, m: int) -> list[list[int]]:
    labels = spec.get("groups")
    if labels is None:
        return [[i] for i in range(m)]
    return [[i for i in range(m) if labels[i] == g] for g in range(max(labels) + 1)]


class Polyhedron:
    """A linear program as a table: box and rows are alike, each a combination between two ends."""

    def __init__(self, spec: Any, m: int) -> None:
        size, columns = m + spec["auxiliaries"], spec["columns"]
        self.constant, self.cost = parse(spec["constant"]), vector(spec["cost"], size)
        given = list(vector(spec["coefficients"], sum(map(len, columns))))
        self.table = np.array([[ZERO] * size] * (size + len(columns)), dtype=object)
        self.table[:size] = np.array([[rational(i == j) for j in range(size)] for i in range(size)])
        for row, line in zip(columns, self.table[size:], strict=True):
            for j in row:
                line[j] += given.pop(0)
        self.low = ends(spec["lower"], size) + ends(spec["row_lower"], len(columns))
        self.high = ends(spec["upper"], size) + ends(spec["row_upper"], len(columns))

    def penalty(self, d: np.ndarray, given: Any) -> Any:
        x = np.concatenate([d, vector(given["z"], len(self.cost) - len(d))])
        for value, low, high in zip(self.table @ x, self.low, self.high, strict=True):
            certain(low is None or value >= low)
            certain(high is None or value <= high)
        return self.constant + self.cost @ x

    def below(self, u: np.ndarray, witness: Any) -> Any:
        m, size = len(u), len(self.cost)
        y = vector(witness["multipliers"], len(self.table) - size)
        gamma = parse(witness["gamma"])
        rest = self.cost - y @ self.table[size:]
        rest[:m] += u - gamma
        total = gamma + self.constant
        for k, price in enumerate(np.concatenate([rest, y])):
            low, high = self.low[k], self.high[k]
            if k < m:  # on the simplex
                low = ZERO if low is None else max(low, ZERO)
                high = rational(1) if high is None else min(high, rational(1))
            if price:
                side = low if price > 0 else high
                certain(side is not None)
                total += price * side
        return total


def ends(given: Any, length: int) -> list[Any]:
    if given is None or isinstance(given, str):
        return [None if given is None else rational(given)] * length
    below = denominator(given)
    return [None if x is None else rational(x) / below for x in given["numerators"]]


def penalty(spec: Any, d: np.ndarray, given: Any = None) -> Any:
    """f(d), or a bound on it that the auxiliaries give."""
    kind, m = spec["kind"], len(d)
    if kind == "polyhedral":
        return Polyhedron(spec, m).penalty(d, given)
    if kind == "hard-margin":
        return ZERO
    if kind == "caps":
        groups = by_group(spec, m)
        for g, cap in zip(groups, vector(spec["caps"], len(groups)), strict=True):
            certain(sum(abs(d[i]) for i in g) <= cap)
        return ZERO
    if kind == "sum":
        first, second = ((given or {}).get(name) for name in ("first", "second"))
        return penalty(spec["first"], d, first) + penalty(spec["second"], d, second)
    if kind == "scaled":
        return parse(spec["factor"]) * penalty(spec["of"], d, given)
    if kind == "binary-entropy":
        k, c = parse(spec["k"]), parse(spec["weight"])
        certain(max(d) * k <= 1)
        total = m * flint.arb(2).log()
        for x in [y for t in d for y in (k * t, 1 - k * t) if y]:
            total += ball(x) * ball(x).log()
        return ball(c / k) * total
    size = gauge(spec, d)
    if "weight" in spec:
        return parse(spec["weight"]) * size
    certain(size <= parse(spec["radius"]))
    return ZERO


def gauge(spec: Any, d: np.ndarray) -> Any:
    m = len(d)
    if spec["kind"] == "ellipsoid":
        return rooted([vector(row, m) @ d for row in spec["matrix"]], rational(2))
    if spec["kind"] == "divergence":
        alpha, scale = parse(spec["order"]), parse(spec["scale"])
        prior = vector(spec["prior"], m)
        total = flint.arb(0)
        for x, p in zip(d, prior / prior.sum(), strict=True):
            if p == 0:
                certain(x == 0)
            elif alpha == 1:
                total += (ball(x) * ball(x / p).log() if x else 0) - ball(x) + ball(p)
            else:
                power = (ball(x / p).log() * ball(alpha)).exp() if x else flint.arb(0)
                rest = ball(alpha * x / p - alpha + 1)
                total += ball(p) * (power - rest) / ball(alpha * (alpha - 1))
        return ball(scale) * total
    a = vector(spec["weights"], m)
    if spec["p"] in ("1", "inf"):
        sizes = a * np.abs(d)
        return sizes.sum() if spec["p"] == "1" else sizes.max()
    groups = by_group(spec, m) if "groups" in spec else [list(range(m))]
    factors = vector(spec["factors"], len(groups))
    return sum(
        ball(f) * rooted((a * d)[g], parse(spec["p"])) for g, f in zip(groups, factors, strict=True)
    )


def conjugate(spec: Any, x: np.ndarray, witness: Any) -> Any:
    """f*(x), or a bound on it that the witness gives."""
    kind, m = spec["kind"], len(x)
    if kind == "hard-margin":
        certain(not x.any())
        return ZERO
    if kind == "caps":
        groups = by_group(spec, m)
        free = set(range(m)) - {i for g in groups for i in g}
        certain(not any(x[i] for i in free))
        caps = vector(spec["caps"], len(groups))
        return sum(
            (c * max(abs(x[i]) for i in g) for g, c in zip(groups, caps, strict=True) if g),
            ZERO,
        )
    if kind == "binary-entropy":
        k, c = parse(spec["k"]), parse(spec["weight"])
        terms = sum(((1 + ball(y / c).exp()).log() - flint.arb(2).log() for y in x), flint.arb(0))
        return ball(c / k) * terms
    if kind == "divergence":
        c = parse(spec["weight"] if "weight" in spec else witness["multiplier"])
        if not c:
            prior = vector(spec["prior"], len(x))
            certain(not any(t for t, p in zip(x, prior, strict=True) if p))
            return ZERO
        total = divergence_conjugate(spec, x / c) * ball(c)
        return total if "weight" in spec else total + ball(c * parse(spec["radius"]))
    size = dual(spec, x, witness)
    if "weight" in spec:
        certain(size <= parse(spec["weight"]))
        return ZERO
    return parse(spec["radius"]) * size


def divergence_conjugate(spec: Any, y: np.ndarray) -> flint.arb:
    alpha, scale = parse(spec["order"]), parse(spec["scale"])
    prior = vector(spec["prior"], len(y))
    total = flint.arb(0)
    for t, p in zip(y / scale, prior / prior.sum(), strict=True):
        if p == 0:
            continue
        if alpha == 1:
            total += ball(p) * (ball(t).exp() - 1)
            continue
        base = 1 + (alpha - 1) * t
        if alpha == 2:
            value = ball(base * base)
        elif base > 0:
            value = (ball(base).log() * ball(alpha / (alpha - 1))).exp()
        else:
            certain(alpha > 1)
            value = flint.arb(0)
        total += ball(p) * (value - 1) / ball(alpha)
    return ball(scale) * total


def dual(spec: Any, x: np.ndarray, witness: Any) -> Any:
    m = len(x)
    if spec["kind"] == "ellipsoid":
        v = vector(witness["v"], len(spec["matrix"]))
        Q = np.array([vector(row, m) for row in spec["matrix"]])
        certain((v @ Q == x).all())
        return rooted(v, rational(2))
    sizes = np.abs(x) / vector(spec["weights"], m)
    if spec["p"] in ("1", "inf"):
        return sizes.max() if spec["p"] == "1" else sizes.sum()
    p = parse(spec["p"])
    groups = by_group(spec, m) if "groups" in spec else [list(range(m))]
    factors = vector(spec["factors"], len(groups))
    norms = [rooted(sizes[g], p / (p - 1)) / ball(f) for g, f in zip(groups, factors, strict=True)]
    largest = norms[0]
    for value in norms[1:]:
        largest = largest.max(value)
    return largest


def below(spec: Any, u: np.ndarray, witness: Any) -> Any:
    """The lower bound on F(u) that the witness proves."""
    if spec["kind"] == "polyhedral":
        return Polyhedron(spec, len(u)).below(u, witness)
    if spec["kind"] == "scaled":
        c = parse(spec["factor"])
        return c * below(spec["of"], u / c, witness)
    if spec["kind"] == "sum":
        v = vector(witness["v"], len(u))
        return below(spec["first"], v, witness["first"]) + below(
            spec["second"], u - v, witness["second"]
        )
    gamma = parse(witness["gamma"])
    x = gamma - u
    if "x" in witness:
        given = vector(witness["x"], len(u))
        certain((given >= x).all())
        x = given
    elif "floor" in witness:
        x = np.maximum(x, parse(witness["floor"]))
    return gamma - conjugate(spec, x, witness)


def proves(document: Any, spare: float = 0.0) -> bool:
    """Whether the points of a well-formed document prove its claim, with `spare` to spare."""
    before, flint.ctx.prec = flint.ctx.prec, 400
    try:
        return _proves(document, rational(spare))
    except Infinite:
        return False
    finally:
        flint.ctx.prec = before


def in_range(node: Any) -> None:
    """Hold sizes, wherever they stand, to the sign that makes f convex."""
    for name, value in node.items() if isinstance(node, dict) else ():
        if name in ("weight", "radius", "factor", "size", "order", "scale", "k"):
            certain(parse(value) > 0)
        if name == "multiplier":
            certain(parse(value) >= 0)
        if name in ("weights", "factors", "prior"):
            below = (
                value if isinstance(value, dict) else {"denominator": "1", "numerators": [value]}
            )
            least = min(parse(x) for x in below["numerators"])
            certain(least >= 0 if name == "prior" else least > 0)
            certain(parse(below["denominator"]) > 0)
        in_range(value)


def _proves(document: Any, spare: Any) -> bool:
    game = document["game"]
    in_range(game)
    in_range(document["witness"])
    A = np.array([[rational(float(a)) for a in row.split(",")] for row in game["rows"]])
    m, n = A.shape
    d, w = vector(document["d"], m), np.array([ZERO] * n, dtype=object)
    w[document["columns"]] = vector(document["w"], len(document["columns"]))
    if d.min() < 0 or d.sum() != 1:
        return False
    v, over = d @ A, game["over"]
    size = parse(over.get("size", "1"))
    upper, cost = penalty(game["relaxation"], d, document.get("auxiliaries")), ZERO
    if over["kind"] == "simplex":
        certain(w.min() >= 0 and w.sum() == size)
        upper += size * v.max()
    elif over["kind"] == "full-simplex":
        certain(w.min() >= 0 and w.sum() <= size)
        upper += size * max(v.max(), ZERO)
    elif over["kind"] == "l1":
        certain(np.abs(w).sum() <= size)
        upper += size * np.abs(v).max()
    elif over["kind"] == "l2":
        certain((w * w).sum() <= size * size)
        upper = ball(upper) + ball(size) * rooted(v, rational(2))
    else:
        upper += (v * v).sum() / (4 * size)
        cost = size * (w * w).sum()
    lower = below(game["relaxation"], A @ w, document["witness"]) - cost
    certain(parse(document["lower"]) + spare <= lower)
    certain(upper + spare <= parse(document["upper"]))
    return True

"""The linear program and the multipliers of a polyhedral relaxation, read from a certificate."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from relaxboost._core.errors import InputError
from relaxboost.certificates import check

Sparse = dict[int, Fraction]
"""A row of a linear program, as a dictionary from variable indices to nonzero coefficients."""
Bound = Fraction | None
"""A bound of a row or variable, or None if there is no bound."""


@dataclass
class RelaxationProgram:
    """The linear program of a relaxation f, with the multipliers from a certificate.

    The variables are the distribution d and auxiliary variables z. The value f(d) is the constant
    plus the least cost·(d, z) over all feasible z. The threshold γ and the multipliers prove a
    lower bound on the relaxed margin.
    """

    m: int
    cost: Sparse = field(default_factory=dict)
    constant: Fraction = check.ZERO
    bounds: dict[int, tuple[Bound, Bound]] = field(default_factory=dict)
    """The lower and upper bounds by variable index, in addition to d >= 0. A variable z that is not
    a key is free."""
    rows: list[tuple[Sparse, Bound, Bound]] = field(default_factory=list)
    gamma: Fraction = check.ZERO
    multipliers: list[Fraction] = field(default_factory=list)
    """The multiplier of each row. The multipliers prove the lower bound on the relaxed margin."""
    z: list[Fraction] = field(default_factory=list)
    """The auxiliary variables z with which the certificate proves f(d)."""

    def add_row(self, row: Sparse, high: Bound, multiplier: Fraction) -> None:
        """Add the row row·(d, z) <= high with its multiplier."""
        self.rows.append((row, None, high))
        self.multipliers.append(multiplier)

    def scaled(self, c: Fraction) -> RelaxationProgram:
        """Return the linear program of c · f.

        If γ and the multipliers prove a bound for f at u / c, then c times these numbers prove a
        bound for c · f at u.
        """
        return RelaxationProgram(
            self.m,
            {j: c * v for j, v in self.cost.items()},
            c * self.constant,
            self.bounds,
            self.rows,
            c * self.gamma,
            [c * v for v in self.multipliers],
            self.z,
        )

    def plus(self, other: RelaxationProgram) -> RelaxationProgram:
        """Return the linear program of the sum of two relaxations. The auxiliary variables of
        `other` come last."""

        def moved(j: int) -> int:
            return j if j < self.m else j + len(self.z)

        cost = dict(self.cost)
        for j, v in other.cost.items():
            cost[moved(j)] = cost.get(moved(j), check.ZERO) + v
        bounds = dict(self.bounds)
        for j, (low, high) in other.bounds.items():
            lowest, highest = bounds.get(moved(j), (None, None))
            bounds[moved(j)] = (_tighter(max, lowest, low), _tighter(min, highest, high))
        rows = list(self.rows)
        for row, low, high in other.rows:
            rows.append(({moved(j): v for j, v in row.items()}, low, high))
        return RelaxationProgram(
            self.m,
            cost,
            self.constant + other.constant,
            bounds,
            rows,
            self.gamma + other.gamma,
            self.multipliers + other.multipliers,
            self.z + other.z,
        )


def _tighter(choose: Callable[..., Fraction], one: Bound, other: Bound) -> Bound:
    known = [bound for bound in (one, other) if bound is not None]
    return choose(known) if known else None


def relaxation_program(
    spec: Any, witness: Any, given: Any, d: list[Fraction], u: list[Fraction]
) -> RelaxationProgram:
    """Return the linear program of the relaxation in a certificate, or raise an InputError.

    `spec`, `witness` and `given` are the JSON objects of the relaxation, the witness and the
    auxiliary variables (or None). The witness proves a lower bound on the relaxed margin at `u`.
    """
    kind = spec.take("kind")
    if kind == "scaled":
        c = spec.number("factor", 0)
        inner = spec.take("of", dict)
        return relaxation_program(inner, witness, given, d, [x / c for x in u]).scaled(c)
    if kind == "sum":
        v = witness.vector("v", len(d))
        rest = [x - y for x, y in zip(u, v, strict=True)]
        first, second = (
            relaxation_program(
                spec.take(name, dict), witness.take(name, dict), check.part(given, name), d, share
            )
            for name, share in (("first", v), ("second", rest))
        )
        return first.plus(second)
    if kind not in _KINDS:
        raise InputError(
            f"exports need a linear program, but the relaxation {kind!r} has none. Export a "
            "certificate of a game with a polyhedral relaxation"
        )
    return _KINDS[kind](spec, witness, given, d, u)


def _threshold_and_sizes(witness: Any, u: list[Fraction]) -> tuple[Fraction, list[Fraction]]:
    """Return the threshold γ of a witness, and the absolute values of its vector x >= γ − u."""
    gamma = witness.number("gamma")
    x = [gamma - v for v in u]
    if "x" in witness.left:
        x = witness.vector("x", len(u))
    elif "floor" in witness.left:
        floor = witness.number("floor")
        x = [max(v, floor) for v in x]
    return gamma, [abs(v) for v in x]


def _hard_margin(spec: Any, witness: Any, given: Any, d: Any, u: Any) -> RelaxationProgram:
    return RelaxationProgram(len(d), gamma=_threshold_and_sizes(witness, u)[0])


def _caps(spec: Any, witness: Any, given: Any, d: Any, u: Any) -> RelaxationProgram:
    gamma, x = _threshold_and_sizes(witness, u)
    found = RelaxationProgram(len(d), gamma=gamma)
    *members, _ = spec.groups(len(d))
    for group, cap in zip(members, spec.vector("caps", len(members)), strict=True):
        if group:
            found.add_row(dict.fromkeys(group, check.ONE), cap, -max(x[i] for i in group))
    return found


def _norm(spec: Any, witness: Any, given: Any, d: Any, u: Any) -> RelaxationProgram:
    m = len(d)
    gamma, x = _threshold_and_sizes(witness, u)
    found = RelaxationProgram(m, gamma=gamma)
    p = spec.take("p")
    a = spec.vector("weights", m, 0)
    is_penalty = "weight" in spec.left
    size = spec.number("weight" if is_penalty else "radius", 0)
    ratios = [v / w for v, w in zip(x, a, strict=True)]
    if p == "1" and is_penalty:
        found.cost = {i: size * v for i, v in enumerate(a)}
    elif p == "1":
        found.add_row(dict(enumerate(a)), size, -max(ratios))
    else:
        # The penalty is the size of one auxiliary z, which is at least every a_i d_i.
        for i, v in enumerate(a):
            row = {i: v, m: -check.ONE} if is_penalty else {i: v}
            found.add_row(row, check.ZERO if is_penalty else size, -ratios[i])
        if is_penalty:
            found.cost = {m: size}
            found.bounds = {m: (check.ZERO, None)}
            found.z = [max(v * w for v, w in zip(a, d, strict=True))]
    return found


def _polyhedral(spec: Any, witness: Any, given: Any, d: Any, u: Any) -> RelaxationProgram:
    m = len(d)
    size = m + spec.whole("auxiliaries", 0, check.MAX_AUXILIARIES)
    constant = spec.number("constant")
    cost = spec.vector("cost", size)
    box = _bounds(spec, ("lower", "upper"), size)
    # On the simplex d <= 1 holds, and the witness may use this bound.
    for i, (low, high) in enumerate(box[:m]):
        box[i] = (low, _tighter(min, high, check.ONE))
    rows = [dict(row) for row in spec.rows(size)]
    sides = _bounds(spec, ("row_lower", "row_upper"), len(rows))
    return RelaxationProgram(
        m,
        {j: v for j, v in enumerate(cost) if v},
        constant,
        {j: ends for j, ends in enumerate(box) if ends != (None, None)},
        [(row, *ends) for row, ends in zip(rows, sides, strict=True)],
        witness.number("gamma"),
        witness.vector("multipliers", len(rows)),
        given.vector("z", size - m),
    )


def _bounds(spec: Any, names: tuple[str, str], length: int) -> list[tuple[Bound, Bound]]:
    lower = spec.vector(names[0], length, gap=-math.inf)
    upper = spec.vector(names[1], length, gap=math.inf)
    ends = [[b if math.isfinite(b) else None for b in side] for side in (lower, upper)]
    return list(zip(*ends, strict=True))


_KINDS = {"hard-margin": _hard_margin, "caps": _caps, "norm": _norm, "polyhedral": _polyhedral}

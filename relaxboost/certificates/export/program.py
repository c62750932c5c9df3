"""A polyhedral game as one linear program, read from a certificate, with its two points."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, NamedTuple

from relaxboost._core.errors import InputError
from relaxboost.certificates import check

Sparse = dict[int, Fraction]
"""Coefficients by variable."""
_ZERO, _ONE = Fraction(0), Fraction(1)


@dataclass
class Piece:
    """f as a linear program in (d, z), with what the certificate says of it.

    f(d) = constant + least cost·(d, z) over z with bounds and low <= row·(d, z) <= high. The
    multipliers γ and y prove F(u) >= γ + constant + Σ y·(its side) + Σ prices·(their bounds).
    """

    m: int
    cost: Sparse = field(default_factory=dict)
    constant: Fraction = _ZERO
    bounds: dict[int, tuple[Fraction | None, Fraction | None]] = field(default_factory=dict)
    """Of variables, beside 0 <= d; z without an entry is free."""
    rows: list[tuple[Sparse, Fraction | None, Fraction | None]] = field(default_factory=list)
    gamma: Fraction = _ZERO
    multipliers: list[Fraction] = field(default_factory=list)
    z: list[Fraction] = field(default_factory=list)

    def row(
        self, row: Sparse, low: Fraction | None, high: Fraction | None, multiplier: Fraction
    ) -> None:
        """Add a row with its multiplier."""
        self.rows.append((row, low, high))
        self.multipliers.append(multiplier)

    def scaled(self, c: Fraction) -> Piece:
        """Return c f, whose witness at u is that of f at u/c."""
        cost = {j: c * v for j, v in self.cost.items()}
        y = [c * v for v in self.multipliers]
        return Piece(
            self.m, cost, c * self.constant, self.bounds, self.rows, c * self.gamma, y, self.z
        )

    def plus(self, other: Piece) -> Piece:
        """Return the sum of two pieces, the z of the other one after one's own."""
        behind = len(self.z)

        def moved(j: int) -> int:
            return j if j < self.m else j + behind

        cost = dict(self.cost)
        for j, v in other.cost.items():
            cost[moved(j)] = cost.get(moved(j), _ZERO) + v
        bounds = dict(self.bounds)
        for j, (low, high) in other.bounds.items():
            mine = bounds.get(moved(j), (None, None))
            bounds[moved(j)] = _inner(max, mine[0], low), _inner(min, mine[1], high)
        theirs = [({moved(j): v for j, v in row.items()}, *ends) for row, *ends in other.rows]
        return Piece(
            self.m,
            cost,
            self.constant + other.constant,
            bounds,
            [*self.rows, *theirs],  # type: ignore[list-item]
            self.gamma + other.gamma,
            [*self.multipliers, *other.multipliers],
            [*self.z, *other.z],
        )


def _inner(choose: Any, one: Fraction | None, other: Fraction | None) -> Fraction | None:
    """Return the tighter of two bounds, where None is none."""
    known = [x for x in (one, other) if x is not None]
    return choose(known) if known else None


def piece(spec: Any, witness: Any, given: Any, d: list[Fraction], u: list[Fraction]) -> Piece:
    """Return f as the certificate describes it.

    Parameters
    ----------
    spec, witness, given : check.Fields
        The relaxation, the witness, and the auxiliaries or None.
    d, u : list of Fraction
        The distribution, and the margins that the witness is for.
    """
    kind = spec.take("kind")
    if kind == "scaled":
        c = spec.number("factor", 0)
        inner = spec.take("of", dict)
        return piece(inner, witness, given, d, [x / c for x in u]).scaled(c)
    if kind == "sum":
        v = witness.vector("v", len(d))
        rest = [x - y for x, y in zip(u, v, strict=True)]
        one, two = (
            piece(
                spec.take(name, dict), witness.take(name, dict), check.part(given, name), d, share
            )
            for name, share in (("first", v), ("second", rest))
        )
        return one.plus(two)
    if kind not in _KINDS:
        raise InputError(
            f"a linear program has no place for {kind!r}; exports are for polyhedral relaxations, "
            "whose certificates have the level exact"
        )
    return _KINDS[kind](spec, witness, given, d, u)


def _sizes(witness: Any, u: list[Fraction]) -> tuple[Fraction, list[Fraction]]:
    """Return γ and |x| of a witness: prices that bring every margin up to γ."""
    gamma = witness.number("gamma")
    x = [gamma - v for v in u]
    if "x" in witness.left:
        x = witness.vector("x", len(u))
    elif "floor" in witness.left:
        floor = witness.number("floor")
        x = [max(v, floor) for v in x]
    return gamma, [abs(v) for v in x]


def _hard_margin(spec: Any, witness: Any, given: Any, d: Any, u: Any) -> Piece:
    return Piece(len(d), gamma=_sizes(witness, u)[0])


def _caps(spec: Any, witness: Any, given: Any, d: Any, u: Any) -> Piece:
    gamma, x = _sizes(witness, u)
    found = Piece(len(d), gamma=gamma)
    *members, _ = check.groups(spec, len(d))
    for group, cap in zip(members, spec.vector("caps", len(members)), strict=True):
        if group:
            found.row(dict.fromkeys(group, _ONE), None, cap, -max(x[i] for i in group))
    return found


def _norm(spec: Any, witness: Any, given: Any, d: Any, u: Any) -> Piece:
    """The sum or the maximum of a·d, d >= 0: a cost, or a bound; one z for a maximum that costs."""
    m = len(d)
    gamma, x = _sizes(witness, u)
    found = Piece(m, gamma=gamma)
    p, a = spec.take("p"), spec.vector("weights", m, 0)
    penalty = "weight" in spec.left
    size = spec.number("weight" if penalty else "radius", 0)
    ratios = [v / w for v, w in zip(x, a, strict=True)]
    if p == "1" and penalty:
        found.cost = {i: size * v for i, v in enumerate(a)}
    elif p == "1":
        found.row(dict(enumerate(a)), None, size, -max(ratios))
    else:
        for i, v in enumerate(a):
            row = {i: v, m: -_ONE} if penalty else {i: v}
            found.row(row, None, _ZERO if penalty else size, -ratios[i])
        if penalty:
            found.cost, found.bounds = {m: size}, {m: (_ZERO, None)}
            found.z = [max(v * w for v, w in zip(a, d, strict=True))]
    return found


def _polyhedral(spec: Any, witness: Any, given: Any, d: Any, u: Any) -> Piece:
    m = len(d)
    size = m + spec.whole("auxiliaries", 0, check.AUXILIARIES)
    constant, cost = spec.number("constant"), spec.vector("cost", size)
    box = list(zip(spec.bounds("lower", size), spec.bounds("upper", size), strict=True))
    # In the simplex d <= 1, and the witness may use it.
    box[:m] = [(low, _ONE if high is None else min(high, _ONE)) for low, high in box[:m]]
    columns = spec.take("columns", list)
    entries = iter(spec.vector("coefficients", sum(map(len, columns))))
    rows = [{j: next(entries) for j in row} for row in columns]
    sides = [spec.bounds(name, len(rows)) for name in ("row_lower", "row_upper")]
    return Piece(
        m,
        {j: v for j, v in enumerate(cost) if v},
        constant,
        {j: ends for j, ends in enumerate(box) if ends != (None, None)},
        list(zip(rows, *sides, strict=True)),
        witness.number("gamma"),
        witness.vector("multipliers", len(rows)),
        given.vector("z", size - m),
    )


_KINDS = {"hard-margin": _hard_margin, "caps": _caps, "norm": _norm, "polyhedral": _polyhedral}


class Row(NamedTuple):
    """A row of a linear program, low <= coefficients·x <= high, with its multiplier."""

    name: str
    coefficients: Sparse
    low: Fraction | None
    high: Fraction | None
    multiplier: Fraction
    """Of the low side where positive, of the high side where negative."""


class Variable(NamedTuple):
    """A variable with its value at the point, and its price: its cost less Σ multiplier·row."""

    name: str
    value: Fraction
    cost: Fraction
    low: Fraction | None
    high: Fraction | None
    price: Fraction


@dataclass
class LinearProgram:
    """Least cost·x + constant over rows and bounds; a point and multipliers, which bracket it.

    The point is feasible with a cost of at most `upper`, and the multipliers prove `lower`.
    """

    rows: list[Row]
    variables: list[Variable]
    constant: Fraction
    lower: Fraction
    upper: Fraction


def game_program(document: dict[str, Any], path: str | None = None) -> LinearProgram:
    """Return the game of an exact certificate as the program of d.

    Its variables are d, z of f, the edges e = Aᵀd and t >= g(e); it is least t + cost·(d, z). The
    weights w, γ and the witness of f are the multipliers.

    Parameters
    ----------
    document : dict
        Of a certificate that was accepted.
    path : path, optional
        The matrix, where the certificate has its digest only.

    Raises
    ------
    InputError
        For another level, or a relaxation or a domain without a linear description.
    """
    if document["level"] != "exact":
        raise InputError(
            f"exports are of certificates of the level exact, and this one is {document['level']}"
        )
    doc = check.Fields(document, "the document")
    game = doc.take("game", dict)
    m, n = game.whole("m", 1, check.ENTRIES), game.whole("n", 1, check.ENTRIES)
    A, _ = check.matrix(game, m, n, path)
    d, columns = doc.vector("d", m), doc.take("columns", list)
    w = dict(zip(columns, doc.vector("w", len(columns)), strict=True))
    u, edges = check.products(A, d, w)
    parts = game.take("relaxation", dict), doc.take("witness", dict), check.part(doc, "auxiliaries")
    f = piece(*parts, d, u)
    e, t = m + len(f.z), m + len(f.z) + n
    rows = [Row("simplex", dict.fromkeys(range(m), _ONE), _ONE, _ONE, f.gamma)]
    for j in range(n):
        column = {i: Fraction(line[j]) for i, line in enumerate(A) if line[j]}
        rows.append(Row(f"edge{j}", {**column, e + j: -_ONE}, _ZERO, _ZERO, -w.get(j, _ZERO)))
    size, above = _size_rows(game.take("over", dict), w, edges, e, t)
    rows += above
    for k, (sides, y) in enumerate(zip(f.rows, f.multipliers, strict=True)):
        rows.append(Row(f"f{k}", *sides, y))
    names = [*(f"d{i}" for i in range(m)), *(f"z{i}" for i in range(len(f.z)))]
    names += [*(f"e{j}" for j in range(n)), "t"]
    costs = {**f.cost, t: _ONE}
    prices = [costs.get(j, _ZERO) for j in range(t + 1)]
    for row in rows:
        for j, v in row.coefficients.items() if row.multiplier else ():
            prices[j] -= row.multiplier * v
    bounds = {**f.bounds, **{i: _in_simplex(*f.bounds.get(i, (None, None))) for i in range(m)}}
    variables = [
        Variable(name, value, costs.get(j, _ZERO), *bounds.get(j, (None, None)), prices[j])
        for j, (name, value) in enumerate(zip(names, [*d, *f.z, *edges, size], strict=True))
    ]
    return LinearProgram(rows, variables, f.constant, doc.number("lower"), doc.number("upper"))


def _in_simplex(low: Fraction | None, high: Fraction | None) -> tuple[Fraction, Fraction | None]:
    return max(low or _ZERO, _ZERO), high


def _size_rows(
    over: Any, w: dict[int, Fraction], edges: list[Fraction], e: int, t: int
) -> tuple[Fraction, list[Row]]:
    """Return g(Aᵀd), and the rows t >= g(e) with the multipliers that w is."""
    kind = over.take("kind")
    if kind not in ("l1", "simplex", "full-simplex"):
        raise InputError(f"the domain {kind!r} has no linear description, and exports need one")
    r = over.number("size", 0) if "size" in over.left else _ONE
    spare = _ONE - sum(map(abs, w.values()), _ZERO) / r
    rows = []
    for j in range(len(edges)):
        share = w.get(j, _ZERO) / r
        # What w leaves of the ball goes to t >= 0, of which the first two rows make up a half each.
        half = spare / 2 if kind == "l1" and j == 0 else _ZERO
        for name, sign in (("above", 1), ("below", -1)) if kind == "l1" else (("above", 1),):
            row = {t: _ONE, e + j: -sign * r}
            rows.append(Row(f"{name}{j}", row, _ZERO, None, max(sign * share, _ZERO) + half))
    if kind == "full-simplex":
        rows.append(Row("size", {t: _ONE}, _ZERO, None, spare))
    sizes = map(abs, edges) if kind == "l1" else edges
    return r * max(_ZERO if kind == "full-simplex" else min(edges), *sizes), rows

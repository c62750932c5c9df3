"""Polyhedral relaxations as linear programs with rational data."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any, NamedTuple

from relaxboost.errors import InputError
from relaxboost.relaxations import Capped, Caps, GroupCaps, HardMargin, Relaxation
from relaxboost.relaxations.affine import Dilated, Shifted
from relaxboost.relaxations.calculus import Scaled, Sum
from relaxboost.relaxations.max_norm import MaxPenalty
from relaxboost.relaxations.sum_norm import SumBall, SumPenalty

Bound = Fraction | None
Row = dict[int, Fraction]
ZERO = Fraction(0)


class ExactForm(NamedTuple):
    """A polyhedral f on d >= 0: f(d) = constant + min over z of cost·(d, z).

    subject to ``lower <= (d, z) <= upper`` and ``row_lower <= rows @ (d, z) <= row_upper``, where
    None stands for no bound. It is `Relaxation.linear_form` in rationals, from the parameters as
    they were given and not from their doubles.
    """

    cost: list[Fraction]
    """Length m + (number of z), as `lower` and `upper`."""
    lower: list[Bound]
    upper: list[Bound]
    rows: list[Row]
    """The non-zero coefficients of each row by index into (d, z)."""
    row_lower: list[Bound]
    row_upper: list[Bound]
    constant: Fraction = ZERO


def exact_form(relaxation: Relaxation, m: int) -> ExactForm:
    """Return a polyhedral relaxation on d >= 0 in R^m as a linear program in rationals.

    A relaxation of your own joins in with a method ``exact_form(m)`` that returns an `ExactForm`.

    Parameters
    ----------
    relaxation : Relaxation
        Resolved for m, as `Game.relaxation` is.
    m : int
        Number of examples.

    Raises
    ------
    InputError
        If it is not polyhedral, or its parameters are not known exactly.
    """
    own = getattr(relaxation, "exact_form", None)
    if own is not None:
        return own(m)
    for kind, build in _FORMS:
        if isinstance(relaxation, kind):
            return build(relaxation, m)
    if relaxation.linear_form(m) is not None:
        raise InputError(
            f"{relaxation!r} gives its linear program in doubles only; give it a method "
            "exact_form(m) that returns a relaxboost.certificates.ExactForm"
        )
    raise InputError(
        f"{relaxation!r} is not polyhedral, so its optimum need not be a fraction; bracket it with "
        "reference(game) or solve(game)"
    )


def _free(m: int, more: int = 0) -> ExactForm:
    """Return (d, z) >= 0 without cost."""
    size = m + more
    return ExactForm([ZERO] * size, [ZERO] * size, [None] * size, [], [], [])


def _hard_margin(f: HardMargin, m: int) -> ExactForm:
    return _free(m)


def _capped(f: Capped, m: int) -> ExactForm:
    return _free(m)._replace(upper=[1 / Fraction(f.resolve(m).k)] * m)


def _caps(f: Caps, m: int) -> ExactForm:
    return _free(m)._replace(upper=list(f.resolve(m).caps))


def _group_caps(f: GroupCaps, m: int) -> ExactForm:
    groups: dict[int, Row] = {label: {} for label, _ in f.caps}
    for i, label in enumerate(f.resolve(m).groups):
        if label >= 0:
            groups[label][i] = Fraction(1)
    tops: list[Bound] = [top for _, top in f.caps]
    low: list[Bound] = [None] * len(tops)
    return _free(m)._replace(rows=list(groups.values()), row_lower=low, row_upper=tops)


def _weights(f: Any, m: int) -> list[Fraction]:
    return [Fraction(1)] * m if f.weights is None else list(f.weights)


def _sum_ball(f: SumBall, m: int) -> ExactForm:
    row = dict(enumerate(_weights(f, m)))
    return _free(m)._replace(rows=[row], row_lower=[None], row_upper=[Fraction(f.radius)])


def _sum_penalty(f: SumPenalty, m: int) -> ExactForm:
    return _free(m)._replace(cost=[f.weight * a for a in _weights(f, m)])


def _max_penalty(f: MaxPenalty, m: int) -> ExactForm:
    return _free(m, 1)._replace(
        cost=[ZERO] * m + [Fraction(f.weight)],
        rows=[{i: a, m: Fraction(-1)} for i, a in enumerate(_weights(f, m))],
        row_lower=[None] * m,
        row_upper=[ZERO] * m,
    )


def _scaled(f: Scaled, m: int) -> ExactForm:
    form, c = exact_form(f.f, m), Fraction(f.c)
    return form._replace(cost=[c * x for x in form.cost], constant=c * form.constant)


def _sum(f: Sum, m: int) -> ExactForm:
    """Return both programs on the same d, with the z of one after those of the other."""
    a, b = exact_form(f.first, m), exact_form(f.second, m)
    gap = len(a.cost) - m
    moved = [{j if j < m else j + gap: x for j, x in row.items()} for row in b.rows]
    return ExactForm(
        [p + q for p, q in zip(a.cost[:m], b.cost[:m], strict=True)] + a.cost[m:] + b.cost[m:],
        [_tighter(max, p, q) for p, q in zip(a.lower[:m], b.lower[:m], strict=True)]
        + a.lower[m:]
        + b.lower[m:],
        [_tighter(min, p, q) for p, q in zip(a.upper[:m], b.upper[:m], strict=True)]
        + a.upper[m:]
        + b.upper[m:],
        a.rows + moved,
        a.row_lower + b.row_lower,
        a.row_upper + b.row_upper,
        a.constant + b.constant,
    )


def _tighter(choose: Callable[..., Fraction], p: Bound, q: Bound) -> Bound:
    return q if p is None else p if q is None else choose(p, q)


def _shifted(f: Shifted, m: int) -> ExactForm:
    """Return the form of f at e = d + d0, in terms of d."""
    _check_side(f, f.traits.polyhedral, "f.shifted(d0) with d0 >= 0")
    form = exact_form(f.f, m)
    given = f.d0 if isinstance(f.d0, tuple) else (f.d0,) * m
    d0 = [Fraction(x) for x in given]

    def less(bounds: list[Bound]) -> list[Bound]:
        moved = [None if x is None else x - s for x, s in zip(bounds[:m], d0, strict=True)]
        return [*moved, *bounds[m:]]

    shift = [sum((x * d0[j] for j, x in row.items() if j < m), ZERO) for row in form.rows]
    return form._replace(
        lower=less(form.lower),
        upper=less(form.upper),
        row_lower=[
            None if x is None else x - s for x, s in zip(form.row_lower, shift, strict=True)
        ],
        row_upper=[
            None if x is None else x - s for x, s in zip(form.row_upper, shift, strict=True)
        ],
        constant=form.constant + sum((c * s for c, s in zip(form.cost, d0, strict=False)), ZERO),
    )


def _dilated(f: Dilated, m: int) -> ExactForm:
    """Return the form of f at e = c d, in terms of d."""
    _check_side(f, f.traits.polyhedral, "f.scaled(c) with c > 0")
    form, c = exact_form(f.f, m), Fraction(f.c)

    def less(bounds: list[Bound]) -> list[Bound]:
        return [None if x is None else x / c for x in bounds[:m]] + bounds[m:]

    return form._replace(
        cost=[c * x for x in form.cost[:m]] + form.cost[m:],
        lower=less(form.lower),
        upper=less(form.upper),
        rows=[{j: c * x if j < m else x for j, x in row.items()} for row in form.rows],
    )


def _check_side(f: Shifted | Dilated, polyhedral: bool, remedy: str) -> None:
    """Raise unless d >= 0 stays where the form of f holds; a curved f raises by itself."""
    if not polyhedral and f.f.traits.polyhedral:
        raise InputError(
            f"{f!r} leaves d >= 0, where the linear program of f holds; use {remedy}, or bracket "
            "the optimum with reference(game) or solve(game)"
        )


_FORMS: tuple[tuple[type, Callable[[Any, int], ExactForm]], ...] = (
    (HardMargin, _hard_margin),
    (Capped, _capped),
    (Caps, _caps),
    (GroupCaps, _group_caps),
    (SumBall, _sum_ball),
    (SumPenalty, _sum_penalty),
    (MaxPenalty, _max_penalty),
    (Scaled, _scaled),
    (Sum, _sum),
    (Shifted, _shifted),
    (Dilated, _dilated),
)

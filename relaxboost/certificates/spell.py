"""How numbers, relaxations, outer sets and witnesses are written in a certificate."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from relaxboost import outer
from relaxboost.errors import InputError
from relaxboost.relaxations import (
    BinaryEntropy,
    Capped,
    Caps,
    GroupCaps,
    GroupNormBall,
    GroupNormPenalty,
    HardMargin,
    KLBall,
    KLPenalty,
    MahalanobisBall,
    MahalanobisPenalty,
    NormBall,
    NormPenalty,
    Relaxation,
)
from relaxboost.relaxations.affine import Dilated, Shifted
from relaxboost.relaxations.calculus import Scaled, Sum
from relaxboost.relaxations.max_norm import MaxPenalty
from relaxboost.relaxations.power_divergences import DivergenceBall, PowerDivergence
from relaxboost.relaxations.sum_norm import SumBall, SumPenalty

_CHUNK = 10**4000  # Python limits how many digits str() writes at once


def integer(value: int) -> str:
    """Return the decimal digits of an integer of any size."""
    sign, value, parts = "-" * (value < 0), abs(value), []
    while value >= _CHUNK:
        value, rest = divmod(value, _CHUNK)
        parts.append(f"{rest:04000d}")
    return sign + "".join([str(value), *reversed(parts)])


def number(value: Any) -> str:
    """Return an exact rational as ``"-3/7"``."""
    q = Fraction(value)
    return integer(q.numerator) + (f"/{integer(q.denominator)}" if q.denominator != 1 else "")


def vector(values: Sequence[Any]) -> dict[str, Any] | str:
    """Return integers over one denominator, or one number where all are equal."""
    exact = [Fraction(v) for v in values]
    if exact and all(v == exact[0] for v in exact):
        return number(exact[0])
    below = math.lcm(*(v.denominator for v in exact))
    items = [integer(v.numerator * (below // v.denominator)) for v in exact]
    return {"denominator": integer(below), "numerators": items}


def relaxation(f: Relaxation, m: int) -> dict[str, Any]:
    """Return the description of f for m examples that FORMAT.md defines.

    Raises
    ------
    InputError
        If there is none: for `Custom` and for classes of your own.
    """
    for kinds, describe in _DESCRIPTIONS:
        if isinstance(f, kinds):
            return describe(f, m)
    raise InputError(
        f"{f!r} has no description that a checker could evaluate, so that its certificates are "
        'numerical: use certify(solution, level="numerical")'
    )


def _bounded(f: Any) -> dict[str, str]:
    name = "weight" if hasattr(f, "weight") else "radius"
    return {name: number(getattr(f, name))}


def _weights(given: Any) -> dict[str, Any] | str:
    return "1" if given is None else vector(given)


def _group_caps(f: GroupCaps, m: int) -> dict[str, Any]:
    order = {label: i for i, (label, _) in enumerate(f.caps)}
    labels = [order.get(label, -1) for label in f.groups]
    return {"kind": "caps", "groups": labels, "caps": vector([cap for _, cap in f.caps])}


def _divergence(f: Any, m: int) -> dict[str, Any]:
    power = isinstance(f, PowerDivergence)
    return {
        "kind": "divergence",
        "order": number(f.alpha) if power else "1",
        "scale": number(f.scale) if power else "1",
        "prior": "1" if f.prior is None else vector(f.prior),
        **_bounded(f),
    }


def _ellipsoid(f: Any, m: int) -> dict[str, Any]:
    return {"kind": "ellipsoid", "matrix": [vector(row) for row in f.Q], **_bounded(f)}


def _norm(p: Any, f: Any) -> dict[str, Any]:
    return {"kind": "norm", "p": p, "weights": _weights(f.weights), **_bounded(f)}


def _group_norm(f: Any, m: int) -> dict[str, Any]:
    return {
        "kind": "p-norm",
        "p": number(f.p),
        "groups": list(f.groups),
        "weights": "1",
        "factors": _weights(f.factors),
        **_bounded(f),
    }


def _p_norm(f: Any, m: int) -> dict[str, Any]:
    return {
        "kind": "p-norm",
        "p": number(f.p),
        "weights": _weights(f.weights),
        "factors": "1",
        **_bounded(f),
    }


_DESCRIPTIONS: list[tuple[Any, Any]] = [
    (HardMargin, lambda f, m: {"kind": "hard-margin"}),
    (Capped, lambda f, m: {"kind": "caps", "caps": number(1 / Fraction(f.k))}),
    (Caps, lambda f, m: {"kind": "caps", "caps": vector(f.caps)}),
    (GroupCaps, _group_caps),
    ((SumBall, SumPenalty), lambda f, m: _norm("1", f)),
    (MaxPenalty, lambda f, m: _norm("inf", f)),
    ((NormBall, NormPenalty), _p_norm),
    ((GroupNormBall, GroupNormPenalty), _group_norm),
    ((MahalanobisBall, MahalanobisPenalty), _ellipsoid),
    ((PowerDivergence, KLPenalty, KLBall), _divergence),
    (
        BinaryEntropy,
        lambda f, m: {"kind": "binary-entropy", "k": number(f.k), "weight": number(f.weight)},
    ),
    (
        Scaled,
        lambda f, m: {"kind": "scaled", "factor": number(f.c), "of": relaxation(f.f, m)},
    ),
    (
        Sum,
        lambda f, m: {
            "kind": "sum",
            "first": relaxation(f.first, m),
            "second": relaxation(f.second, m),
        },
    ),
    (
        Shifted,
        lambda f, m: {
            "kind": "shifted",
            "by": vector(np.broadcast_to(f.d0, (m,)).tolist()),
            "of": relaxation(f.f, m),
        },
    ),
    (
        Dilated,
        lambda f, m: {"kind": "dilated", "factor": number(f.c), "of": relaxation(f.f, m)},
    ),
]
"""How each family is described; a family without an entry has numerical certificates only."""


def over(chosen: Any) -> dict[str, str]:
    """Return the description of what w ranges over."""
    if isinstance(chosen, outer.Simplex):
        return {"kind": "simplex"}
    if isinstance(chosen, outer.SquaredNorm):
        return {"kind": "squared-norm", "size": number(chosen.weight)}
    kind = {outer.L1Ball: "l1", outer.L2Ball: "l2"}.get(type(chosen))
    if kind is None:
        raise InputError(f"over={chosen!r} has no description that a checker could evaluate")
    return {"kind": kind, "size": number(chosen.radius)}


def witness(f: Relaxation, found: Any, u: Sequence[Fraction]) -> dict[str, Any]:
    """Return the description of what proves a lower bound on F(u), made exact.

    `found` is what `f.witness` returned at u in doubles. Thresholds that have to meet a constraint
    exactly may need to be lowered afterwards, which `certify` does.
    """
    if isinstance(f, Scaled):
        return witness(f.f, found.inner, [x / Fraction(f.c) for x in u])
    if isinstance(f, Sum):
        v = [Fraction(x) for x in found.v.tolist()]
        rest = [x - y for x, y in zip(u, v, strict=True)]
        return {
            "v": vector(v),
            "first": witness(f.first, found.first, v),
            "second": witness(f.second, found.second, rest),
        }
    gamma = Fraction(found.gamma)
    if isinstance(f, MahalanobisBall | MahalanobisPenalty):
        return _ellipsoid_witness(f, found, u)
    if isinstance(f, Shifted | Dilated):
        x = [Fraction(y) for y in found.x.tolist()]
        gamma = min(a + b for a, b in zip(u, x, strict=True))
        return {"gamma": number(gamma), "x": vector(x)}
    if isinstance(f, BinaryEntropy | KLPenalty):
        return {"gamma": number(gamma)}
    if isinstance(f, KLBall | DivergenceBall):
        multiplier = max(Fraction(found.multiplier), Fraction(1, 2**200))
        floor = _floor(f, multiplier)
        return {"gamma": number(gamma), "multiplier": number(multiplier), **floor}
    if isinstance(f, PowerDivergence):
        return {"gamma": number(gamma), **_floor(f, Fraction(vars(f)["weight"]))}
    if isinstance(f, HardMargin):
        gamma = min(u)
    elif isinstance(f, SumPenalty):
        weights = f.weights or [1] * len(u)
        gamma = min(x + f.weight * a for x, a in zip(u, weights, strict=True))
    elif isinstance(f, MaxPenalty):
        gamma = _water_level(u, f.weights or [Fraction(1)] * len(u), f.weight)
    elif isinstance(f, Capped | Caps | GroupCaps):
        gamma = min(u, key=lambda x: abs(x - gamma))
    return {"gamma": number(gamma), "floor": "0"}


def _floor(f: Any, c: Fraction) -> dict[str, str]:
    """Return the x below which φ* falls again, for the one order whose φ is finite below 0."""
    if isinstance(f, PowerDivergence) and f.alpha == 2:
        return {"floor": number(-c * f.scale)}
    return {}


def _ellipsoid_witness(f: Any, found: Any, u: Sequence[Fraction]) -> dict[str, Any]:
    v = [Fraction(x) for x in np.asarray(found.v).tolist()]
    if isinstance(f, MahalanobisPenalty):
        square, limit = sum(x * x for x in v), Fraction(f.weight)
        if square > limit * limit:
            ratio = Fraction(float(limit) / math.sqrt(square)) * (1 - Fraction(1, 2**48))
            v = [x * ratio for x in v]
    Q = [[Fraction(q) for q in row] for row in f.Q]
    x = [
        sum((q * y for q, y in zip(column, v, strict=True)), Fraction(0))
        for column in zip(*Q, strict=True)
    ]
    gamma = min(a + b for a, b in zip(u, x, strict=True))
    return {"gamma": number(gamma), "x": vector(x), "v": vector(v)}


def _water_level(u: Sequence[Fraction], a: Sequence[Fraction], c: Fraction) -> Fraction:
    """Return the γ with Σ [γ − u_i]_+ / a_i = c."""
    order = sorted(range(len(u)), key=u.__getitem__)
    slope, weighted, level = Fraction(0), Fraction(0), Fraction(0)
    for place, i in enumerate(order):
        slope, weighted = slope + 1 / a[i], weighted + u[i] / a[i]
        level = (c + weighted) / slope
        if place + 1 == len(order) or level <= u[order[place + 1]]:
            break
    return level

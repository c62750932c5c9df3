"""Relaxations with a shifted or dilated argument: d -> f(d + d0) and d -> f(c d).

The rules are those of Shalev-Shwartz & Singer (2009), Appendix B.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from operator import add
from typing import Any

import numpy as np

from relaxboost._core.arrays import Vector
from relaxboost._core.digits import number, vector
from relaxboost._core.errors import InputError
from relaxboost._core.parameters import exact, spell
from relaxboost.relaxations import numerical
from relaxboost.relaxations.base import Relaxation, Traits, fixed_m, makes
from relaxboost.relaxations.bounds import EvaluatedBounds
from relaxboost.relaxations.description import Description, description_of
from relaxboost.relaxations.linear import Bound, ExactForm, LinearForm
from relaxboost.relaxations.vectors import spell_parameter


class _Changed(EvaluatedBounds, Description):
    """The base class of `Shifted`, d -> f(d + d0), and `Dilated`, d -> f(c d).

    The simplex moves relative to the domain of f, so the closed forms of f do not apply, and cvxpy
    solves the problems instead.
    """

    f: Relaxation

    @property
    def _operands(self) -> tuple[Relaxation, ...]:
        return (self.f,)

    def resolve(self, m: int) -> Relaxation:
        bound = self._bind(m)
        bound.center(m)  # This raises the error if f is infinite on the simplex.
        numerical.programs(bound, m).require()
        return bound

    @abstractmethod
    def _changed(self, form: ExactForm, m: int) -> ExactForm:
        """Convert the linear program of f into that of the shifted or dilated f."""

    def exact_form(self, m: int) -> ExactForm | None:
        form = description_of(self.f).exact_form(m) if self.traits.polyhedral else None
        return None if form is None else self._changed(form, m)

    def linear_form(self, m: int) -> LinearForm | None:
        form = description_of(self.f).linear_form(m) if self.traits.polyhedral else None
        return None if form is None else self._changed(form.exactly(), m).doubles()

    @abstractmethod
    def _described(self, m: int) -> dict[str, Any]:
        """Return the certificate entry of the shifted or dilated f."""

    def describe(self, m: int) -> dict[str, Any] | None:
        whole = super().describe(m)
        of = description_of(self.f).describe(m)
        return whole or (None if of is None else self._described(m) | {"of": of})

    def describe_witness(self, found: Any, u: Sequence[Fraction]) -> dict[str, Any]:
        x = [Fraction(y) for y in found.x.tolist()]
        return {"gamma": number(min(map(add, u, x))), "x": vector(x)}


@makes("shifted")
@dataclass(frozen=True, repr=False)
class Shifted(_Changed):
    """The function d -> f(d + d0), written ``f.shifted(d0)``. The conjugate is f*(θ) − <θ, d0>.

    Parameters
    ----------
    f : Relaxation
        The relaxation whose argument d is shifted.
    d0 : array of shape (m,), or a number
        The finite shift. A number is added to every entry of d.
    """

    family = "relaxboost.Shifted"

    f: Relaxation
    d0: Any

    def __post_init__(self) -> None:
        d0 = np.asarray(self.d0)
        if d0.ndim > 1 or d0.dtype.kind not in "iuf" or not np.isfinite(d0).all() or not d0.size:
            raise InputError(
                f"f.shifted(d0) needs d0 to be a number or a vector of finite numbers, "
                f"got {self.d0!r}"
            )
        d0 = d0.astype(np.float64)
        object.__setattr__(self, "d0", tuple(d0.tolist()) if d0.ndim else float(d0))

    def __repr__(self) -> str:
        if isinstance(self.d0, tuple) and len(self.d0) > 8:
            same = len(set(self.d0)) == 1
            d0 = repr(self.d0[0]) if same else f"<{len(self.d0)} numbers>"
        else:
            d0 = repr(list(self.d0) if isinstance(self.d0, tuple) else self.d0)
        return f"{_operand(self.f)}.shifted({d0})"

    def key(self) -> str:
        return f"{self.family}({self.f.key()}, {spell_parameter(np.array(self.d0), self)})"

    @property
    def traits(self) -> Traits:
        traits = self.f.traits
        d0 = np.array(self.d0)
        return Traits(
            # The linear program of f holds for arguments >= 0, and d + d0 must be such a point.
            polyhedral=traits.polyhedral and bool(d0.min() >= 0.0),
            symmetric=traits.symmetric and bool(np.ptp(d0) == 0.0),
            zero_minimum=traits.zero_minimum,
        )

    @property
    def _fixed_m(self) -> int | None:
        return len(self.d0) if isinstance(self.d0, tuple) else fixed_m(self.f)

    def _bind(self, m: int) -> Shifted:
        d0 = np.broadcast_to(self.d0, (m,)) if isinstance(self.d0, float) else np.array(self.d0)
        if d0.size != m:
            raise InputError(
                f"f.shifted(d0) needs one entry in d0 for each example, but d0 has {d0.size} "
                f"entries for m = {m} examples"
            )
        return Shifted(self.f._bind(m), d0)

    def penalty(self, d: Vector) -> float:
        return self.f.penalty(np.asarray(d) + np.array(self.d0))

    def conjugate(self, theta: Vector) -> float:
        theta = np.asarray(theta, dtype=np.float64)
        return self.f.conjugate(theta) - float(theta @ np.broadcast_to(self.d0, theta.shape))

    def cvxpy_penalty(self, d: Any) -> tuple[Any, list[Any]]:
        return self.f.cvxpy_penalty(d + np.array(self.d0))

    def cvxpy_conjugate(self, x: Any) -> tuple[Any, list[Any]]:
        value, constraints = self.f.cvxpy_conjugate(x)
        return value - x @ np.broadcast_to(self.d0, (x.shape[0],)), constraints

    def _described(self, m: int) -> dict[str, Any]:
        return {"kind": "shifted", "by": vector(self.exact_shift(m))}

    def exact_shift(self, m: int) -> list[Fraction]:
        """Return the shift d0 as fractions, one for each example."""
        return [Fraction(x) for x in (self.d0 if isinstance(self.d0, tuple) else [self.d0] * m)]

    def _changed(self, form: ExactForm, m: int) -> ExactForm:
        d0 = self.exact_shift(m)
        cost = sum((c * s for c, s in zip(form.cost, d0, strict=False)), Fraction(0))
        moved = [
            sum((x * d0[j] for j, x in row.items() if j < m), Fraction(0)) for row in form.rows
        ]
        return form._replace(
            lower=[*_minus(form.lower[:m], d0), *form.lower[m:]],
            upper=[*_minus(form.upper[:m], d0), *form.upper[m:]],
            row_lower=_minus(form.row_lower, moved),
            row_upper=_minus(form.row_upper, moved),
            constant=form.constant + cost,
        )


@makes("scaled")
@dataclass(frozen=True, repr=False)
class Dilated(_Changed):
    """The function d -> f(c d), written ``f.scaled(c)``. The conjugate is f*(θ/c).

    Parameters
    ----------
    f : Relaxation
        The relaxation whose argument d is multiplied.
    c : int, float or Fraction
        The factor c != 0, kept exactly.
    """

    family = "relaxboost.Dilated"

    f: Relaxation
    c: Any

    def __post_init__(self) -> None:
        c = exact("f.scaled(c)", "c", self.c)
        if c == 0:
            raise InputError("f.scaled(c) needs c != 0, since d -> f(0 d) is constant")
        object.__setattr__(self, "c", c)

    def __repr__(self) -> str:
        return f"{_operand(self.f)}.scaled({spell(self.c)})"

    def key(self) -> str:
        return f"{self.family}({self.f.key()}, {self.c})"

    @property
    def traits(self) -> Traits:
        traits = self.f.traits
        # f may be strongly convex only on the simplex, and its linear program holds for c d >= 0.
        return traits._replace(smooth=False, polyhedral=traits.polyhedral and self.c > 0)

    def _bind(self, m: int) -> Dilated:
        return Dilated(self.f._bind(m), self.c)

    def penalty(self, d: Vector) -> float:
        return self.f.penalty(float(self.c) * np.asarray(d))

    def conjugate(self, theta: Vector) -> float:
        return self.f.conjugate(np.asarray(theta, dtype=np.float64) / float(self.c))

    def cvxpy_penalty(self, d: Any) -> tuple[Any, list[Any]]:
        return self.f.cvxpy_penalty(float(self.c) * d)

    def cvxpy_conjugate(self, x: Any) -> tuple[Any, list[Any]]:
        return self.f.cvxpy_conjugate(x / float(self.c))

    def _described(self, m: int) -> dict[str, Any]:
        return {"kind": "dilated", "factor": number(self.c)}

    def _changed(self, form: ExactForm, m: int) -> ExactForm:
        # The bounds keep their order, because a polyhedral f.scaled(c) has c > 0.
        c: Fraction = self.c
        return form._replace(
            cost=[c * x for x in form.cost[:m]] + form.cost[m:],
            lower=[None if x is None else x / c for x in form.lower[:m]] + form.lower[m:],
            upper=[None if x is None else x / c for x in form.upper[:m]] + form.upper[m:],
            rows=[{j: c * x if j < m else x for j, x in row.items()} for row in form.rows],
        )


def _minus(bounds: list[Bound], by: list[Fraction]) -> list[Bound]:
    return [None if x is None else x - s for x, s in zip(bounds, by, strict=True)]


def _operand(f: Relaxation) -> str:
    """Return the repr of f, in parentheses if f is a product such as ``2 * g``."""
    text = repr(f)
    return f"({text})" if " * " in text and not text.startswith("(") else text

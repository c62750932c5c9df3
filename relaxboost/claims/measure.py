"""Inequalities and equations between two numbers, with intervals that contain their slack."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from typing import TypeAlias

from relaxboost._core.errors import InputError
from relaxboost._core.parameters import nearest
from relaxboost._core.rounding import RELATIVE_ROUNDING, float_down, float_up

HOLDS, TIGHT, UNDECIDED, REFUTED = "holds", "tight", "undecided", "refuted"


class Vacuous(Exception):
    """An exception for instances that violate the hypotheses of a claim."""


def assume(hypothesis: bool) -> None:
    """Skip the current instance of a claim if a hypothesis is false, by raising `Vacuous`.

    Parameters
    ----------
    hypothesis : bool
        Whether the hypothesis is true for the instance.
    """
    if not hypothesis:
        raise Vacuous


@dataclass(frozen=True)
class Bracket:
    """A real number that is known only to lie in the interval [lower, upper].

    Both ends, floats or fractions, are treated as exact. Intervals are added, multiplied and
    divided in fractions. The function `bracket` replaces a float in a sum by an interval that
    allows for rounding errors. A float in a product or a quotient is treated as exact. A division
    by an interval that contains 0 raises InputError.
    """

    lower: Number
    upper: Number

    def __post_init__(self) -> None:
        if not self.lower <= self.upper:
            raise InputError(
                f"the interval of a Bracket needs lower <= upper, got [{self.lower}, {self.upper}]"
            )

    def __neg__(self) -> Bracket:
        return Bracket(-self.upper, -self.lower)

    def __add__(self, other: Quantity) -> Bracket:
        other = bracket(other)
        return Bracket(
            _sum(self.lower, other.lower, -math.inf), _sum(self.upper, other.upper, math.inf)
        )

    __radd__ = __add__

    def __sub__(self, other: Quantity) -> Bracket:
        return self + -bracket(other)

    def __rsub__(self, other: Quantity) -> Bracket:
        return bracket(other) + -self

    def __mul__(self, other: Quantity) -> Bracket:
        other = exact_bracket(other)
        ends = product((self.lower, self.upper), (other.lower, other.upper))
        products = [_product(a, b) for a, b in ends]
        return Bracket(min(products), max(products))

    __rmul__ = __mul__

    def __truediv__(self, other: Quantity) -> Bracket:
        other = exact_bracket(other)
        if other.lower <= 0 <= other.upper:
            raise InputError(
                f"a Bracket cannot be divided by the interval [{other.lower}, {other.upper}], "
                "which contains 0. Skip such instances with assume(...)"
            )
        return self * Bracket(_inverse(other.upper), _inverse(other.lower))

    def __rtruediv__(self, other: Quantity) -> Bracket:
        return exact_bracket(other) / self

    def _compared(self, other: object) -> bool:
        raise InputError(
            "a Bracket is an interval, which cannot be compared with < or <=. Return at_most(left, "
            "right), at_least(left, right) or equal(left, right), or compare its .lower and .upper"
        )

    __lt__ = __le__ = __gt__ = __ge__ = _compared

    @property
    def middle(self) -> float:
        """A float near the midpoint of the interval.

        If the interval is longer than the largest float, the result is a float near a finite end,
        or 0 if both ends are infinite.
        """
        lower, upper = nearest(self.lower), nearest(self.upper)
        # The midpoint may be infinite or nan. Then the result is the finite end, or 0 if both ends
        # are infinite.
        if math.isinf(upper - lower):
            return next((end for end in (lower, upper) if math.isfinite(end)), 0.0)
        return lower if lower == upper else lower + (upper - lower) / 2.0


Number: TypeAlias = int | float | Fraction
Quantity: TypeAlias = Number | Bracket


def bracket(value: Quantity) -> Bracket:
    """Return an interval that contains the exact value of a quantity.

    For integers and fractions, the interval is a point. A float x is assumed to be the result of a
    short computation with an error of at most 1e-12 · max(1, |x|). If the float is exact, write
    ``Fraction(x)``.
    """
    if isinstance(value, Bracket):
        return value
    if isinstance(value, (int, Fraction)):
        return Bracket(value, value)
    try:
        value = float(value)
    except (TypeError, ValueError):
        kind = type(value).__name__
        raise InputError(f"a quantity of a claim must be one number, got {kind}") from None
    if math.isnan(value):
        raise InputError(
            "a quantity of a claim must be a number, but the check has computed nan. Skip such "
            "instances with assume(...)"
        )
    if math.isinf(value):
        return Bracket(value, value)
    error = RELATIVE_ROUNDING * max(1.0, abs(value))
    return Bracket(value - error, value + error)


def exact_bracket(value: Quantity) -> Bracket:
    """Return the interval [x, x] of a number x, or a `Bracket` unchanged. A float is treated as
    exact.
    """
    return value if isinstance(value, Bracket) else Bracket(value, value)


def _is_finite(a: Number) -> bool:
    # `math.isfinite` fails for fractions beyond the range of floats.
    return not isinstance(a, float) or math.isfinite(a)


def _inverse(a: Number) -> Number:
    return 1 / Fraction(a) if _is_finite(a) else 0


def _product(a: Number, b: Number) -> Number:
    if not (a and b):
        return 0  # Here 0·∞ = 0, because an infinite end bounds finite numbers.
    if not (_is_finite(a) and _is_finite(b)):
        return math.inf if (a > 0) == (b > 0) else -math.inf
    return Fraction(a) * Fraction(b)


def _sum(a: Number, b: Number, unknown: float) -> Number:
    """Return the exact sum a + b, or `unknown` if the sum is ∞ − ∞."""
    if not (_is_finite(a) and _is_finite(b)):
        ends = [end for end in (a, b) if not _is_finite(end)]
        return unknown if len({*ends}) > 1 else float(ends[0])
    return Fraction(a) + Fraction(b)


@dataclass(frozen=True)
class Slack:
    """The slack of an inequality or equation on an instance.

    The slack of left <= right is right − left, and that of left = right is −|left − right|. If the
    slack is negative, the relation fails.
    """

    low: float
    high: float
    """The upper end of an interval that contains the slack. The lower end is `low`. Both are
    rounded outwards."""
    left: float
    right: float
    where: str = ""
    """A label that distinguishes the inequality from others on the same instance."""
    round: int | None = None
    """The round of the algorithm, or None if the inequality belongs to no round."""
    equality: bool = False
    """Whether the relation is left = right, rather than left <= right."""
    rounding: float = 0.0
    """The largest violation that may be a rounding error. It is 0 if both sides are exact."""

    def outcome(self, resolution: float) -> str:
        """Return the outcome: "holds", "tight", "undecided" or "refuted".

        The outcome is "refuted" if the whole interval of the slack is below −`rounding`, and
        "holds" if the interval contains no negative number. If the lower end is negative but at
        least −`resolution`, the two sides are treated as equal, and the outcome is "tight".
        Otherwise it is "undecided".
        """
        if self.is_violation:
            return REFUTED
        if self.low >= 0.0:
            return HOLDS
        return TIGHT if self.low >= -resolution else UNDECIDED

    @property
    def is_violation(self) -> bool:
        """Whether the relation fails by more than rounding errors."""
        return self.high < -self.rounding

    @property
    def relative(self) -> float:
        """The relative slack in [−1, 1]: the midpoint of the slack interval, divided by |left| +
        |right|.

        It is 0 if the interval contains 0, because the two sides may then be equal. However, if
        both sides are 0, it is 1.
        """
        # If the slack may be 0, the midpoint of its interval is only a rounding error.
        if self.low <= 0.0 and not self.is_violation:
            return 0.0 if self.left or self.right else 1.0
        size = abs(self.left) + abs(self.right)
        if size == math.inf:
            return -1.0 if self.high < 0.0 else 1.0
        if self.equality:
            return self.high / size if size else 1.0
        return max(-1.0, min(1.0, (self.low + self.high) / 2.0 / size)) if size else 1.0

    def __str__(self) -> str:
        # A violation shows the relation that is true, so that nobody takes the claim for proved.
        expected, opposite = ("=", "!=") if self.equality else ("<=", ">")
        relation = opposite if self.is_violation else expected
        at = ", ".join(filter(None, (self.where, f"round {self.round}" if self.round else "")))
        left, right = f"{self.left:.6g}", f"{self.right:.6g}"
        # The sides are printed with enough digits to show the difference that refutes the claim.
        if left == right and self.is_violation:
            left, right = repr(self.left), repr(self.right)
        text = f"{left} {relation} {right}"
        # A ratio of two negative sides exceeds 1 if the inequality holds.
        if not self.equality and 0.0 < self.right < math.inf and self.left > 0.0:
            text += f", ratio {self.left / self.right:.4f}"
        return f"{text} ({at})" if at else text


def at_most(left: Quantity, right: Quantity, where: str = "", round: int | None = None) -> Slack:
    """Return the slack of the inequality left <= right. A check returns or yields it.

    Parameters
    ----------
    left, right : int, float, Fraction or Bracket
        The two sides. See `bracket` for the error that is assumed for a float.
    where : str
        A label with the names of the sides or the place in a run.
    round : int, optional
        The round of a booster to which the slack belongs.
    """
    a, b = bracket(left), bracket(right)
    low, high = _end(b.lower, a.upper, float_down), _end(b.upper, a.lower, float_up)
    rounding = _rounding(left) + _rounding(right)
    return Slack(low, high, a.middle, b.middle, where, round, rounding=rounding)


def at_least(left: Quantity, right: Quantity, where: str = "", round: int | None = None) -> Slack:
    """Return the slack of the inequality left >= right.

    The inequality is printed as right <= left, or as right > left if it fails. So a label with both
    sides starts with the right side. For example, the label of γ >= δ/√N is "δ/√N, γ".

    Parameters
    ----------
    left, right : int, float, Fraction or Bracket
        The two sides. See `bracket` for the error that is assumed for a float.
    where : str
        A label with the names of the sides or the place in a run.
    round : int, optional
        The round of a booster to which the slack belongs.
    """
    return at_most(right, left, where, round)


def equal(left: Quantity, right: Quantity, where: str = "", round: int | None = None) -> Slack:
    """Return the slack of the equation left = right. A check returns or yields it.

    Parameters
    ----------
    left, right : int, float, Fraction or Bracket
        The two sides. See `bracket` for the error that is assumed for a float.
    where : str
        A label with the names of the sides or the place in a run.
    round : int, optional
        The round of a booster to which the slack belongs.
    """
    a, b = bracket(left), bracket(right)
    if a == b and (math.isinf(a.middle) or a.lower == a.upper):
        return Slack(0.0, 0.0, a.middle, b.middle, where, round, True)
    most = max(_end(b.upper, a.lower, float_up), _end(a.upper, b.lower, float_up))
    least = max(_end(b.lower, a.upper, float_down), _end(a.lower, b.upper, float_down), 0.0)
    rounding = _rounding(left) + _rounding(right)
    return Slack(-most, -least, a.middle, b.middle, where, round, True, rounding)


def _rounding(value: Quantity) -> float:
    # A `Bracket` may be the proved optimum of a matrix that was itself computed in floats, such as
    # A / 3, and does not account for the rounding errors of the matrix. Other numbers need no
    # allowance, because the function `bracket` has widened floats.
    if not isinstance(value, Bracket) or math.isinf(value.middle):
        return 0.0
    return RELATIVE_ROUNDING * max(1.0, abs(value.middle))


def _end(a: Number, b: Number, rounding: Callable[[Fraction], float]) -> float:
    if not (_is_finite(a) and _is_finite(b)):
        # The difference of two infinities of the same sign is 0.
        return 0.0 if a == b else float(a if not _is_finite(a) else -b)
    return rounding(Fraction(a) - Fraction(b))

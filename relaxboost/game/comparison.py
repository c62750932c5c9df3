"""Comparison of brackets of the same game: whether brackets, or numbers, can all be true."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from numbers import Rational, Real
from typing import Any, ClassVar

from relaxboost._core.errors import InputError
from relaxboost._core.rounding import float_down, float_up, show_bracket


class Bracketed:
    """An object with a bracket lower <= ρ <= upper of one game: a solution or a certified game."""

    lower: Any
    upper: Any
    game_digest: str
    """The digest of the game, `Game.digest`; empty for a number, which belongs to no game."""
    label: str
    """The source of the bracket in a word or two, for messages."""
    verb: ClassVar[str] = "proves"
    """The relation of the source to its bounds, a verb in the message of `compare`."""

    @property
    def learner(self) -> object | None:
        """The matrix of a weak learner, whose columns the digest does not cover; else None."""
        return None

    @property
    def doubt(self) -> float:
        """The largest error of the bounds; 0 if they are proved."""
        return 0.0


class _Given(Bracketed):
    """A number. A double stands for all real numbers that round to it."""

    game_digest = ""
    verb: ClassVar[str] = "says"

    def __init__(self, value: Any) -> None:
        self.label = f"the value {value}"
        exact = isinstance(value, Rational)
        # NumPy's integers count as rational too, but they overflow.
        middle = (
            Fraction(int(value.numerator), int(value.denominator))
            if exact
            else Fraction(float(value))
        )
        slack = 0 if exact else Fraction(math.ulp(float(value))) / 2
        self.lower, self.upper = middle - slack, middle + slack


@dataclass(frozen=True)
class Comparison:
    """The result of `compare`, which is true if the brackets can all be true."""

    agree: bool
    lower: float
    """The largest lower bound."""
    upper: float
    """The smallest upper bound."""
    text: str

    def __bool__(self) -> bool:
        return self.agree

    def __str__(self) -> str:
        return self.text


def compare(*brackets: Bracketed | float | Fraction) -> Comparison:
    """Compare brackets of the same game: valid brackets always overlap.

    Parameters
    ----------
    *brackets : Solution, CertifiedGame, int, float or Fraction
        Two or more, of games with the same digest. A number is a claim to the optimum itself;
        a float is as good as the doubles are.

    Returns
    -------
    Comparison
        `agree` if the largest lower bound is not above the smallest upper bound, the two, and a
        sentence that names the methods. Certified brackets must overlap exactly; those of a
        relaxation whose level is numerical may miss each other by 1e-7.

    Raises
    ------
    InputError
        If fewer than two are given, all are numbers, or they are of different games.

    Examples
    --------
    >>> import relaxboost as rb
    >>> game = rb.Game([[1, 0], [0, 1]])
    >>> rb.compare(rb.solve(game), rb.reference(game), 0.5).agree
    True
    >>> rb.compare(rb.solve(game), 0.75).agree
    False
    """
    given = [_bracketed(each) for each in brackets]
    digests = {each.game_digest for each in given} - {""}
    if len(given) < 2 or not digests:
        raise InputError(
            "compare needs at least two solutions, as solve and reference return them, or one and "
            "a certified game or a number"
        )
    if len(digests) > 1:
        raise InputError("compare needs solutions of one game; these have different digests")
    if len({id(each.learner) for each in given if each.game_digest}) > 1:
        raise InputError(
            "compare cannot tell whether two weak learners are the same; solve one game twice"
        )
    lowest = max(given, key=lambda each: each.lower)
    highest = min(given, key=lambda each: each.upper)
    doubt = max(lowest.doubt, highest.doubt)
    agree = lowest.lower <= highest.upper or lowest.lower - highest.upper <= doubt
    lower, upper = _float(lowest.lower, float_down), _float(highest.upper, float_up)
    if agree:
        low, high = show_bracket(lower, upper)
        text = f"{_and(given)} agree: {low} <= rho <= {high} (width {upper - lower:.2g})"
    else:
        text = (
            f"DISAGREE: {lowest.label} {lowest.verb} rho >= {lower:.12g}, "
            f"{highest.label} {highest.verb} rho <= {upper:.12g}"
        )
    return Comparison(agree, lower, upper, text)


def _float(bound: Any, rounded: Callable[[Fraction], float]) -> float:
    return bound if isinstance(bound, float) else rounded(bound)


def _bracketed(given: Any) -> Bracketed:
    if isinstance(given, Bracketed):
        return given
    if not isinstance(given, bool) and isinstance(given, Real):
        with suppress(OverflowError):  # beyond the range of doubles, as no optimum is
            if math.isfinite(float(given)):
                return _Given(given)
    raise InputError(
        "compare takes solutions, as solve and reference return them, certified games and finite "
        f"numbers, got {given!r:.60}; instances.assert_bracketed takes certificates"
    )


def _and(given: Sequence[Bracketed]) -> str:
    *first, last = (each.label for each in given)
    return f"{', '.join(first)} and {last}"

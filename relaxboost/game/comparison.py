"""Comparison of bounds from different sources, to find out whether all of them can be valid."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from numbers import Rational, Real
from typing import Any, ClassVar

from relaxboost._core.errors import InputError
from relaxboost._core.parameters import exact
from relaxboost._core.rounding import float_down, float_up, show_bracket


class Bracketed:
    """An object with bounds lower <= ρ <= upper on a game value, such as a solution."""

    lower: Any
    """The lower bound on the game value ρ, as a float or a fraction."""
    upper: Any
    """The upper bound on the game value ρ, as a float or a fraction."""
    game_digest: str
    """The digest `Game.digest` of the game that the bounds belong to. It is empty for a plain
    number."""
    label: str
    """The name of the source in messages of `compare`, for example the name of a method."""
    verb: ClassVar[str] = "proves"
    """The verb between the source and its bound in messages of `compare`."""

    @property
    def game_parts(self) -> dict[str, str]:
        """A text for each part of the game: "A", "f" and "over".

        `compare` uses the texts to say how two games differ. Parts may be missing.
        """
        return {}

    @property
    def learner(self) -> object | None:
        """The margin matrix of the game if a weak learner creates its columns, and otherwise None.

        The digest of such a game does not cover the columns, so `compare` also compares the
        matrices.
        """
        return None

    @property
    def doubt(self) -> float:
        """The error that `compare` tolerates in these bounds. It is 0 if the bounds are proved."""
        return 0.0


class _Given(Bracketed):
    # This is a number that a user passes to `compare`. A float stands for all real numbers that
    # round to it.
    game_digest = ""
    verb: ClassVar[str] = "says"

    def __init__(self, value: Any) -> None:
        self.label = f"the value {value}"
        middle = exact("compare", "a value", value)
        outwards = inwards = Fraction(0)
        if not isinstance(value, Rational):
            size = abs(float(value))
            # Towards 0, the next double is nearer if the value is a power of two.
            outwards = Fraction(math.ulp(size)) / 2
            inwards = Fraction(size - math.nextafter(size, -math.inf)) / 2
        below, above = (inwards, outwards) if value >= 0 else (outwards, inwards)
        self.lower, self.upper = middle - below, middle + above


@dataclass(frozen=True)
class Comparison:
    """The result of `compare`. It is true as a condition if all bounds can be valid together."""

    agree: bool
    """Whether all compared bounds can be valid together, up to the error of numerical bounds."""
    lower: float
    """The largest of the compared lower bounds."""
    upper: float
    """The smallest of the compared upper bounds."""
    text: str
    """A sentence that names the sources of the bounds and says whether the bounds agree."""

    def __bool__(self) -> bool:
        return self.agree

    def __str__(self) -> str:
        return self.text


def compare(*brackets: Bracketed | float | Fraction) -> Comparison:
    """Compare bounds on the value of the same game from different sources.

    Parameters
    ----------
    *brackets : Solution, CertifiedGame, int, float or Fraction
        Two or more objects with bounds on the value of the same game. An int or a Fraction claims
        that it is the exact optimum. A float claims that the optimum rounds to it.

    Returns
    -------
    Comparison
        The largest lower bound, the smallest upper bound, and a sentence that names the methods.
        The field `agree` is True if the lower bound does not exceed the upper bound, or exceeds it
        by at most 1e-7 and the level of proof is "numerical". If all brackets agree, the sentence
        shows only the bounds of solutions and certified games, because a plain number proves
        nothing.

    Raises
    ------
    InputError
        If fewer than two brackets are given, if all of them are numbers, or if they belong to
        different games.

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
    _check_same_game(given)
    lowest, highest = _tightest(given)
    doubt = max(lowest.doubt, highest.doubt)
    agree = lowest.lower <= highest.upper or lowest.lower - highest.upper <= doubt
    lower, upper = _float(lowest.lower, float_down), _float(highest.upper, float_up)
    if agree:
        proved = [each for each in given if each.game_digest]
        text = _agreement(given, *_tightest(proved))
        if len(proved) < len(given):
            text += "; these bounds do not use the plain number, which proves nothing"
    else:
        text = (
            f"DISAGREE: {lowest.label} {lowest.verb} rho >= {lower:.12g}, "
            f"{highest.label} {highest.verb} rho <= {upper:.12g}"
        )
    return Comparison(agree, lower, upper, text)


def _check_same_game(given: Sequence[Bracketed]) -> None:
    digests = {each.game_digest for each in given} - {""}
    if len(given) < 2 or not digests:
        raise InputError(
            "compare needs at least two brackets, and at least one of them must not be a number; a "
            "bracket is a solution from solve or reference, a certified game or a number"
        )
    if len(digests) > 1:
        raise _of_different_games(given)
    if len({id(each.learner) for each in given if each.game_digest}) > 1:
        raise InputError(
            "compare cannot determine whether two weak learners are the same; compare solutions of "
            "the same Game object"
        )


def _tightest(given: Sequence[Bracketed]) -> tuple[Bracketed, Bracketed]:
    """Return the objects with the largest lower bound and the smallest upper bound."""
    lowest = max(given, key=lambda each: each.lower)
    return lowest, min(given, key=lambda each: each.upper)


def _agreement(given: Sequence[Bracketed], lowest: Bracketed, highest: Bracketed) -> str:
    lower, upper = _float(lowest.lower, float_down), _float(highest.upper, float_up)
    low, high = show_bracket(lower, upper)
    *first, last = (each.label for each in given)
    names = f"{', '.join(first)} and {last}"
    return f"{names} agree: {low} <= rho <= {high} (width {upper - lower:.2g})"


def _of_different_games(given: Sequence[Bracketed]) -> InputError:
    first, *others = (each for each in given if each.game_digest)
    other = next(each for each in others if each.game_digest != first.game_digest)
    here, there = first.game_parts, other.game_parts
    different = [part for part in here if part in there and here[part] != there[part]]
    # The index of a set of games has no digest of A alone.
    names = " and ".join(different) or "A"
    also = "; two families of f are different even if their values are equal"
    return InputError(
        "compare needs brackets of one game, but these games have different digests, because they "
        f"differ in {names}; declare both games with the same {names}"
        f"{also if 'f' in different else ''}"
    )


def _float(bound: Any, rounded: Callable[[Fraction], float]) -> float:
    return bound if isinstance(bound, float) else rounded(bound)


def _bracketed(given: Any) -> Bracketed:
    if isinstance(given, Bracketed):
        return given
    if not isinstance(given, bool) and isinstance(given, Real):
        # A number beyond the range of doubles cannot be the value of a game.
        with suppress(OverflowError):
            if math.isfinite(float(given)):
                return _Given(given)
    raise InputError(
        "compare needs solutions from solve or reference, certified games or finite numbers, got "
        f"{given!r:.60}; use instances.assert_bracketed for certificates"
    )

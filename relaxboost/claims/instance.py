"""One instance of a claim: its data, and the certified optima that its check asked for."""

from __future__ import annotations

import json
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from relaxboost._core.errors import InputError
from relaxboost.claims.measure import Bracket

if TYPE_CHECKING:
    from relaxboost.certificates import Certificate
    from relaxboost.game.game import Game

_CROSSING = 1e-6
"""Relative crossing of numerical bounds beyond which they say nothing."""

_EXACT_ENTRIES = 20_000
"""Largest game, in entries, whose optimum is computed in fractions."""


@dataclass(frozen=True)
class CertifiedOptimum:
    """A certified optimum that a check has used."""

    game: Game
    d: Any
    w: Any
    """(support, coefficients)."""
    bracket: Bracket

    def certificate(self) -> Certificate:
        """Return the certificate, complete with the matrix, for ``relaxboost check``."""
        from relaxboost.certificates import certify

        return certify(self.game, d=self.d, w=self.w, inline=True)


class Instance:
    """The data of a claim as attributes: ``x.A`` is an array, ``x.epsilon`` a number.

    Parameters
    ----------
    values : mapping
        From name to value, as the claim's `Space` draws and reads it.
    """

    def __init__(self, values: Mapping[str, Any], written: Mapping[str, Any]) -> None:
        self._values = dict(values)
        self._written = written
        self.optima: list[CertifiedOptimum] = []
        """The optima asked for so far."""

    def __getattr__(self, name: str) -> Any:
        try:
            return self.__dict__["_values"][name]
        except KeyError:
            raise AttributeError(
                f"this claim has no {name!r}; its data: {', '.join(self.__dict__['_values'])}"
            ) from None

    @property
    def rng(self) -> np.random.Generator:
        """A generator that depends on the data alone, for checks that try points of their own."""
        return np.random.default_rng(zlib.crc32(json.dumps(self._written).encode()))

    def optimum(self, game: Game) -> Bracket:
        """Return a certified bracket of the optimum of a game, and keep the proof.

        Polyhedral games over the l1 ball or the simplex are solved in fractions, so that the
        bracket is a point; others by `relaxboost.reference`.
        """
        found = _exactly(game) or _numerically(game)
        self.optima.append(found)
        return found.bracket


def _exactly(game: Game) -> CertifiedOptimum | None:
    from relaxboost.certificates import exact_optimum

    if game.m * (game.n or 0) > _EXACT_ENTRIES:
        return None
    try:
        found = exact_optimum(game)
    except InputError:  # not a linear program with rational data
        return None
    return CertifiedOptimum(
        game, found.d, (found.support, found.w), Bracket(found.lower, found.upper)
    )


def _numerically(game: Game) -> CertifiedOptimum:
    from relaxboost.solvers import reference

    found = reference(game)
    if found.status == "interrupted":
        raise KeyboardInterrupt
    lower, upper = found.lower, found.upper
    crossing = lower - upper
    if crossing > 0.0:  # numerical bounds may cross by a little: the truth is about there
        if crossing > _CROSSING * (1.0 + abs(lower)):
            raise ArithmeticError(f"the bounds of {game!r} cross by {crossing:g}; {found.message}")
        lower, upper = upper - crossing, lower + crossing
    return CertifiedOptimum(
        game, found.d, (found.support, found.coefficients), Bracket(lower, upper)
    )

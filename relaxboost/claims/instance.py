"""Instances of claims: their data, and the certified optima that a check has computed."""

from __future__ import annotations

import json
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from relaxboost._core.errors import InputError
from relaxboost._core.rounding import SOLVER_ERROR
from relaxboost.claims.measure import Bracket

if TYPE_CHECKING:
    from relaxboost.certificates import Certificate
    from relaxboost.game.game import Game

MAX_EXACT_ENTRIES = 100_000
"""The maximum number of matrix entries for which `Instance.optimum` solves a game in exact
arithmetic. With this number of random entries, the exact solution takes about five seconds. With
twice the number, it takes minutes."""


@dataclass(frozen=True)
class CertifiedOptimum:
    """The certified optimum of a game that a check has solved."""

    game: Game
    d: Any
    """The distribution that proves the upper bound."""
    w: Any
    """The hypothesis weights that prove the lower bound, as a pair: the column indices and the
    weights."""
    bracket: Bracket
    """The interval that contains the optimum."""
    level: str
    """The level of proof: "exact" (rational arithmetic), "enclosed" (interval arithmetic) or
    "numerical" (floats)."""

    def certificate(self) -> Certificate:
        """Return a certificate of the optimum, with the margin matrix, for ``relaxboost check``."""
        from relaxboost.certificates import certify

        return certify(self.game, d=self.d, w=self.w, inline=True)


class Instance:
    """An instance of a claim. Its data are attributes, such as the array ``x.A``.

    Arrays are read-only. A check that changes an array must copy it first.

    Parameters
    ----------
    values : mapping
        The field values by name, as drawn or read by the `Space` of the claim.
    written : mapping
        The same values in the format of `Space.to_json`.
    """

    def __init__(self, values: Mapping[str, Any], written: Mapping[str, Any]) -> None:
        self._values = {name: _protected(value) for name, value in values.items()}
        self._written = written
        self.optima: list[CertifiedOptimum] = []
        """The certified optima that the check has computed on this instance so far."""

    def __getattr__(self, name: str) -> Any:
        try:
            return self.__dict__["_values"][name]
        except KeyError:
            raise AttributeError(
                f"an instance of this claim has no {name!r}. Its fields are "
                f"{', '.join(self.__dict__['_values'])}"
            ) from None

    @property
    def rng(self) -> np.random.Generator:
        """A random generator for checks that draw points. The seed depends only on the instance
        data.
        """
        return np.random.default_rng(zlib.crc32(json.dumps(self._written).encode()))

    def optimum(self, game: Game) -> Bracket:
        """Return an interval that contains the optimum of a game, and add the optimum to `optima`.

        If the relaxation f is polyhedral, and the weights are in the ℓ1 ball or the simplex, the
        game is solved in exact arithmetic, so that the interval is a point. All other games, and
        games whose matrix has more than 100 000 entries, are solved by `relaxboost.reference` in
        floats.
        """
        from relaxboost.game.game import Game

        if not isinstance(game, Game):
            raise InputError(
                f"optimum needs a game, got {type(game).__name__}. Write x.optimum(rb.Game(x.A))"
            )
        found = _exactly(game) or _numerically(game)
        self.optima.append(found)
        return found.bracket


def _protected(value: Any) -> Any:
    """Return a read-only view of an array, or any other value unchanged."""
    # A check that changed x.A would measure one instance, and the verdict would name another one.
    if not isinstance(value, np.ndarray):
        return value
    view = value.view()
    view.flags.writeable = False
    return view


def _exactly(game: Game) -> CertifiedOptimum | None:
    from relaxboost.certificates import exact_optimum

    if game.m * (game.n or 0) > MAX_EXACT_ENTRIES:
        return None
    try:
        found = exact_optimum(game)
    except InputError:  # The game is not a linear program with rational data.
        return None
    return CertifiedOptimum(
        game, found.d, (found.support, found.w), Bracket(found.lower, found.upper), "exact"
    )


def _numerically(game: Game) -> CertifiedOptimum:
    from relaxboost.solvers import reference

    found = reference(game)
    if found.status == "interrupted":
        raise KeyboardInterrupt
    lower, upper = found.lower, found.upper
    crossing = lower - upper
    if crossing > 0.0:
        if crossing > SOLVER_ERROR * (1.0 + abs(lower)):
            raise ArithmeticError(
                f"the lower bound of {game!r} must not exceed its upper bound, but is larger by "
                f"{crossing:g}. {found.message}"
            )
        # The optimum is near the bounds, so the interval becomes three times as wide.
        lower, upper = upper - crossing, lower + crossing
    return CertifiedOptimum(
        game, found.d, (found.support, found.coefficients), Bracket(lower, upper), game.level
    )

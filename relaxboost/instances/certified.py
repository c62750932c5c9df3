"""Certified games: games with proved bounds on their optima. A set of them has an index."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from relaxboost._core.arrays import Matrix
from relaxboost._core.errors import InputError
from relaxboost.certificates import Certificate, Verdict, check_certificate
from relaxboost.game import Game
from relaxboost.game.comparison import Bracketed
from relaxboost.game.domains import Domain
from relaxboost.instances.entries import relaxation_of
from relaxboost.instances.sources import FILES, Sources, read_over
from relaxboost.matrices import as_matrix, stumps
from relaxboost.relaxations import Relaxation


@dataclass(frozen=True)
class CertifiedGame(Bracketed):
    """A game with certified bounds on its optimum, from the index of a set of games.

    ``compare(solution, certified)`` compares a solution of the same game with the bounds.
    `assert_bracketed` compares any number with the bounds.
    """

    name: str
    level: str
    """The level of proof: "exact" (rational arithmetic) or "enclosed" (interval arithmetic)."""
    lower: Fraction
    upper: Fraction
    relaxation_text: str
    """The relaxation as text in the specification. `relaxation` is the object."""
    over_text: str
    """The domain as text in the specification. `over` is the object."""
    m: int
    n: int
    source: dict[str, Any] = field(repr=False)
    """The origin of the margin matrix: a generator with its seed, a built-in game, or a file."""
    game_digest: str = field(repr=False)
    """The digest `Game.digest` of the matrix, relaxation and domain."""
    sha256: str = field(repr=False)
    """The SHA-256 digest of the certificate file."""
    path: Path = field(repr=False)
    """The path of the certificate file."""

    @property
    def gap(self) -> Fraction:
        """The difference upper − lower of the certified bounds.

        It is 0 if the optimum is known exactly.
        """
        return self.upper - self.lower

    @cached_property
    def relaxation(self) -> Relaxation:
        """The relaxation, resolved for the m examples of this game."""
        return relaxation_of(self.relaxation_text).resolve(self.m)

    @cached_property
    def over(self) -> Domain:
        """The domain of the hypothesis weights."""
        return read_over(self.over_text)

    @property
    def game_parts(self) -> dict[str, str]:
        """The texts that identify the relaxation and the domain.

        The margin matrix is missing, because the index contains only a digest of the whole game.
        """
        return {"f": self.relaxation.key(), "over": self.over.key()}

    @property
    def label(self) -> str:  # type: ignore[override]
        """The game's name in messages of `compare`."""
        return f"the certificate of {self.name}"

    @property
    def description(self) -> str:
        """A short description: size, relaxation, domain and source."""
        source = ", ".join(f"{key} {value}" for key, value in self.source.items())
        return f"{self.m} x {self.n}, {self.relaxation_text} over {self.over_text} ({source})"

    def certificate(self) -> Certificate:
        """Read the certificate of this game from its file.

        Raises
        ------
        InputError
            If the SHA-256 digest of the file differs from the one in the index.
        """
        try:
            content = self.path.read_bytes()
        except OSError as error:
            raise InputError(f"{self.path} cannot be read: {error}. Make the set again") from None
        if hashlib.sha256(content).hexdigest() != self.sha256:
            raise InputError(
                f"{self.path} differs from the file that the index describes. Make the set again"
            )
        return Certificate.load(self.path)

    def check(self) -> Verdict:
        """Check whether the certificate proves the bounds, and return the verdict.

        The checker recomputes everything.
        """
        inline = "rows" in self.certificate().document["game"]
        return check_certificate(self.path, None if inline else self._matrix())

    @cached_property
    def A(self) -> Matrix:
        """The margin matrix as a read-only array."""
        array: Matrix = self.game().matrix.toarray()
        array.flags.writeable = False
        return array

    def game(self) -> Game:
        """Return the game, rebuilt from its certificate or generator.

        Raise an InputError if its digest differs from the one in the index.
        """
        game = Game(self._matrix(), self.relaxation, over=self.over)
        if game.digest != self.game_digest:
            raise InputError(
                f"the index and the certificate of {self.name!r} describe different games"
            )
        return game

    def _matrix(self) -> Any:
        described = self.certificate().document["game"]
        if "rows" not in described:
            if any(kind in self.source for kind in FILES):
                raise InputError(
                    f"the certificate of {self.name!r} must contain the matrix, because the matrix "
                    "comes from a file"
                )
            return Sources(self.path.parent).matrix(self.source)
        rows = np.array([[float(x) for x in row.split(",")] for row in described["rows"]])
        if "stumps" not in described:
            return as_matrix(rows)
        return stumps(rows[:, 1:], rows[:, 0], max_cuts=described["stumps"]["max_cuts"])

"""Games whose optimum has certified bounds, as the index of a set of games stores them."""

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
    """A game with certified bounds on its optimum, as the index of a set of games stores it.

    ``compare(solution, certified)`` compares a solution of the same game with the bounds.
    `assert_bracketed` compares any number with the bounds.
    """

    name: str
    level: str
    """The level of proof of the game's certificate.

    "exact" means rational arithmetic, and "enclosed" means interval arithmetic.
    """
    lower: Fraction
    upper: Fraction
    relaxation_text: str
    """The text of this game's relaxation in the specification. The attribute `relaxation` is the
    relaxation itself."""
    over_text: str
    """The text of this game's domain in the specification. The attribute `over` is the domain
    itself."""
    m: int
    n: int
    source: dict[str, Any] = field(repr=False)
    """The origin of the game's margin matrix.

    It is a generator with its seed, a built-in game, or a file.
    """
    game_digest: str = field(repr=False)
    """The digest of this game's matrix, relaxation and domain, as in `Game.digest`."""
    sha256: str = field(repr=False)
    """The SHA-256 digest that the certificate file of this game must have."""
    path: Path = field(repr=False)
    """The path of the file with the certificate of this game."""

    @property
    def gap(self) -> Fraction:
        """The difference upper − lower of the certified bounds on the optimum of this game.

        It is 0 if the optimum is known exactly.
        """
        return self.upper - self.lower

    @cached_property
    def relaxation(self) -> Relaxation:
        """The relaxation of this game, with parameters for its m examples."""
        return relaxation_of(self.relaxation_text).resolve(self.m)

    @cached_property
    def over(self) -> Domain:
        """The set to which the weights w of the hypotheses in this game belong."""
        return read_over(self.over_text)

    @property
    def game_parts(self) -> dict[str, str]:
        """The strings that identify the relaxation f and the domain `over` of this game.

        The margin matrix A is missing, because the index contains only a digest of the whole game.
        """
        return {"f": self.relaxation.key(), "over": self.over.key()}

    @property
    def label(self) -> str:  # type: ignore[override]
        """The name of the game in messages of `compare`."""
        return f"the certificate of {self.name}"

    @property
    def description(self) -> str:
        """A short description of the game: its size, relaxation, domain and source."""
        source = ", ".join(f"{key} {value}" for key, value in self.source.items())
        return f"{self.m} x {self.n}, {self.relaxation_text} over {self.over_text} ({source})"

    def certificate(self) -> Certificate:
        """Return the certificate of this game, which is read from a file.

        Raises
        ------
        InputError
            If the SHA-256 of the file is not the one that the index of the set contains.
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
        """Check whether the certificate of this game proves the bounds, and return the verdict.

        The checker recomputes everything.
        """
        inline = "rows" in self.certificate().document["game"]
        return check_certificate(self.path, None if inline else self._matrix())

    @cached_property
    def A(self) -> Matrix:
        """The margin matrix A of this game as a read-only array."""
        array: Matrix = self.game().matrix.toarray()
        array.flags.writeable = False
        return array

    def game(self) -> Game:
        """Return the game, rebuilt from its certificate or from its generator.

        If its digest differs from the digest in the index, an InputError is raised.
        """
        game = Game(self._matrix(), self.relaxation, over=self.over)
        if game.digest != self.game_digest:
            raise InputError(
                f"the index and the certificate of {self.name!r} are about different games"
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

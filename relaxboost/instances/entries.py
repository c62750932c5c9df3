"""Games in a specification: their names, matrix sources, relaxations and domains."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from relaxboost._core.errors import InputError, error_prefix
from relaxboost.certificates.proof import describe_relaxation
from relaxboost.game.domains import Domain
from relaxboost.game.game import Game
from relaxboost.instances.expressions import read_relaxation
from relaxboost.instances.sources import FILES, read_over
from relaxboost.matrices import MarginMatrix
from relaxboost.relaxations import Relaxation
from relaxboost.relaxations.bounds import LEVELS, level_of

NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,119}")
PLAIN = ("HardMargin()", "L1Ball(1)")

# Large sets use the same relaxation a thousand times; relaxations and domains are immutable.
relaxation_of = lru_cache(256)(read_relaxation)


@dataclass(frozen=True)
class Entry:
    """A game in a specification, for which `make` writes a certificate."""

    name: str
    """The name of the game. The certificate file is named NAME.json."""
    source: dict[str, Any]
    """The description from which `Sources` makes the margin matrix."""
    relaxation: str
    over: str
    level: str | None
    """The requested level of proof: "exact", "enclosed", or None for the strongest possible one."""
    tol: float
    """The requested gap between the bounds. It is 0 if the optimum must be exact."""

    @property
    def inline(self) -> bool | None:
        """Whether the certificate must contain the margin matrix.

        It is True for a matrix from a file. Otherwise it is None, and `certify` chooses.
        """
        return True if any(kind in self.source for kind in FILES) else None

    def game(self, matrix: MarginMatrix) -> Game:
        """Return the game, given its margin matrix."""
        return Game(matrix, relaxation_of(self.relaxation), over=read_over(self.over))

    def resolved(self, m: int) -> tuple[Relaxation, Domain, str]:
        """Return the relaxation, the domain and the level for m examples.

        If the relaxation is undefined for m, or the level is impossible, raise an InputError that
        names the game.
        """
        with error_prefix(f"game {self.name!r}: "):
            f = relaxation_of(self.relaxation).resolve(m)
            g = read_over(self.over)
            strongest = min((level_of(f), g.level), key=LEVELS.index)
            if strongest == "numerical":
                raise InputError(
                    f"{self.relaxation} over {self.over} has only numerical bounds, which prove "
                    "nothing. A set of certified games needs relaxations with exact or enclosed "
                    "certificates"
                )
            if self.level == "exact" and strongest == "enclosed":
                raise InputError(
                    f"{self.relaxation} over {self.over} allows enclosed certificates, but no "
                    'exact ones. Leave out level = "exact", or use only caps, l1 norms and l-inf '
                    "norms"
                )
            describe_relaxation(f, m)  # This raises an error if the checker cannot evaluate f.
            return f, g, self.level or strongest


def slug(label: str) -> str:
    """Return an expression in a form that suits file names.

    For example, ``Capped(k=3/2)`` becomes ``capped-k-3-2``.
    """
    return re.sub(r"[^a-z0-9.]+", "-", label.lower()).strip("-.")


def is_about(document: dict[str, Any], game: Game, level: str) -> bool:
    """Return whether a certificate is about this game and has this level."""
    described = document.get("game")
    if not isinstance(described, dict) or document.get("level") != level:
        return False
    matrix = game.matrix
    expected = {
        "m": game.m,
        "n": game.n,
        "sha256": matrix.digest(),
        "relaxation": describe_relaxation(game.relaxation, game.m),
        "over": game.over.describe(),
    }
    same = all(described.get(key) == value for key, value in expected.items())
    return same and described.get("stumps") == matrix.recipe().get("stumps")

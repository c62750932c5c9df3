"""Games of a margin matrix and a relaxation, their weight domains, and their solutions."""

from relaxboost.game import bounds, domains
from relaxboost.game.comparison import Bracketed, Comparison, compare
from relaxboost.game.domains import FullSimplex, L1Ball, L2Ball, Simplex, SquaredNorm
from relaxboost.game.game import Game
from relaxboost.game.solution import RoundRecord, Solution

__all__ = [
    "Bracketed",
    "Comparison",
    "FullSimplex",
    "Game",
    "L1Ball",
    "L2Ball",
    "RoundRecord",
    "Simplex",
    "Solution",
    "SquaredNorm",
    "bounds",
    "compare",
    "domains",
]

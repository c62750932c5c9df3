"""Weight domains of a game: compact sets and superlinear penalties.

`Game` accepts their instances as the argument `over`.
"""

from relaxboost.game.domains.atoms import AtomicSet, L1Ball
from relaxboost.game.domains.base import Dense, Domain
from relaxboost.game.domains.euclidean import L2Ball, SquaredNorm
from relaxboost.game.domains.l1_penalty import L1Penalty
from relaxboost.game.domains.simplex import FullSimplex, Simplex

__all__ = [
    "AtomicSet",
    "Dense",
    "Domain",
    "FullSimplex",
    "L1Ball",
    "L1Penalty",
    "L2Ball",
    "Simplex",
    "SquaredNorm",
]

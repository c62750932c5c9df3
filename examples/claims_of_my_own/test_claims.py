"""Two claims about hard margins: what more examples do to them, and what more hypotheses do.

Run them as tests, from the command line, or attack them::

    pytest
    relaxboost claims check --file test_claims.py
    relaxboost claims attack --file test_claims.py MINE-beside
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

import numpy as np

from relaxboost import Game
from relaxboost.claims import Bracket, Instance, Matrix, Slack, Source, Space, at_least, at_most

MINE = Source("MINE", "Notes on hard margins, not published")


@MINE.claim(
    "stacked",
    "Remark 1",
    "With more examples the margin is at most the smaller of the two margins.",
    formula="ρ([A; B]) ≤ min(ρ(A), ρ(B))",
    given="A and B have the same hypotheses as columns; w in the unit l1 ball",
    space=Space(A=Matrix(), B=Matrix(axes=("k", "n"))),
)
def stacked(x: Instance) -> Iterator[Slack]:
    """The same w is worth no more on more rows. Tight where one of the two decides."""
    rho = x.optimum(Game(np.vstack([x.A, x.B])))
    yield at_most(rho, x.optimum(Game(x.A)), "ρ(A)")
    yield at_most(rho, x.optimum(Game(x.B)), "ρ(B)")


@MINE.claim(
    "beside",
    "Remark 2",
    "With more hypotheses the margin is at most the larger of the two margins.",
    formula="ρ([A B]) ≤ max(ρ(A), ρ(B))",
    given="A and B have the same examples as rows; w in the unit l1 ball",
    space=Space(A=Matrix(), B=Matrix(axes=("m", "k"))),
    counterexamples=[{"A": [[0], [1]], "B": [[1], [0]]}],
)
def beside(x: Instance) -> Slack:
    """Two sets, each wrong where the other one is right, do better together."""
    rho = x.optimum(Game(np.hstack([x.A, x.B])))
    return at_most(rho, _larger(x), "ρ([A B])")


@beside.corrected(
    "It is at least the larger of the two, and at most that of A or the largest |b_ij|.",
    "max(ρ(A), ρ(B)) ≤ ρ([A B]) ≤ max(ρ(A), max |b_ij|)",
)
def beside_corrected(x: Instance) -> Iterator[Slack]:
    """Of w = (u, v), u brings ρ(A) ‖u‖_1 at most on the worst row, and v max |b_ij| ‖v‖_1."""
    rho = x.optimum(Game(np.hstack([x.A, x.B])))
    yield at_least(rho, _larger(x), "at least")
    alone = x.optimum(Game(x.A)).upper
    yield at_most(rho, max(alone, Fraction(np.abs(x.B).max())), "at most")


def _larger(x: Instance) -> Bracket:
    """Return the larger of two optima, which are brackets of one point each."""
    return max((x.optimum(Game(x.A)), x.optimum(Game(x.B))), key=lambda rho: rho.lower)

"""Errors planted in the claims on refitted leaves."""

from __future__ import annotations

from tests.claims.mutants.mutant import Mutant

MUTANTS = (
    Mutant("GB11-leaves", "constant", "- x.eta * (start", "- 1.1 * x.eta * (start"),
    Mutant(
        "GB11-leaves",
        "hypothesis",
        "minimisers(x.f, risk.y, x.p, leaf, 3)",
        "refitted(x.f, risk.y, x.p, leaf, 3)",
    ),
    Mutant("GB11-leaves-damped", "constant", "(G + H) *", "1.1 * (G + H) *"),
    Mutant("GB11-leaves-stuck", "constant", "(2.0 * risk", "(1.8 * risk"),
)

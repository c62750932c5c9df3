"""Errors planted in claims of SS09."""

from __future__ import annotations

from tests.claims.mutants.mutant import Mutant

MUTANTS = (
    Mutant("SS09-remark-sparsity", "index", "now.number - 1", "now.number - 2"),
    Mutant("SS09-remark-adaboost-loss", "constant", "0.5", "0.6", correction=1),
)

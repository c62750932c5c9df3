"""Errors planted in true statements: texts are there, steps of proofs bite, a sample is refuted.

``make mutants`` plants them all.
"""

from __future__ import annotations

import pytest

from relaxboost import claims
from relaxboost.claims.publishing.measuring import on_file
from tests.claims.mutants.mutant import KINDS
from tests.claims.mutants.planted import MUTANTS

OF_STEPS = [mutant for mutant in MUTANTS if mutant.step and not mutant.survives]
SAMPLE = [m for m in MUTANTS if not (m.step or m.survives)][::25]


@pytest.mark.parametrize("mutant", MUTANTS, ids=str)
def test_the_text_is_there_and_the_kind_is_known(mutant):
    assert mutant.kind in KINDS
    assert mutant.old != mutant.new
    with mutant.planted() as claim:
        assert claim.stated.words


def test_every_step_of_every_proof_has_an_error_that_is_refuted():
    """Of worst cases those that are tight; others may be far below their bounds."""
    found = on_file()
    planted = {(m.id, m.correction, m.step) for m in OF_STEPS}
    steps = {
        (claim.id, correction, number)
        for claim in claims.all()
        for correction, statement in enumerate(claim.statements)
        for number, step in enumerate(statement.steps, 1)
        if not isinstance(step.every, claims.WorstCases) or found[step.id][0].tight
    }
    assert steps - planted == set()


@pytest.mark.parametrize("mutant", [*OF_STEPS, *SAMPLE], ids=str)
def test_refuted(mutant):
    with mutant.planted() as claim:
        verdict = claim.check()
    assert verdict.stated.status == "refuted", verdict

"""Errors planted in true statements: texts are there, steps of proofs bite, a sample is refuted.

``make mutants`` plants them all.
"""

from __future__ import annotations

import pytest

from relaxboost import claims
from relaxboost.claims.measure import TIGHT
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
    """Of worst cases those that are tight for their first parameters; others may be far below."""
    planted = {(m.id, m.correction, m.step) for m in OF_STEPS}
    steps = {
        (claim.id, correction, number): step
        for claim in claims.all()
        for correction, statement in enumerate(claim.statements)
        for number, step in enumerate(statement.steps, 1)
    }
    for place in steps.keys() - planted:
        step = steps[place]
        assert isinstance(step.every, claims.WorstCases), place
        first = step.space.from_json(next(iter(step.every.instances())))
        evidence = step.examine(step.stated, first, "the first worst case")
        assert evidence is None or evidence.outcome != TIGHT, place


@pytest.mark.parametrize("mutant", [*OF_STEPS, *SAMPLE], ids=str)
def test_refuted(mutant):
    with mutant.planted() as claim:
        verdict = claim.check()
    assert verdict.stated.status == "refuted", verdict

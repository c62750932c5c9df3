"""Every claim on record has the status it is on record with; a new claim is found here."""

from __future__ import annotations

import pytest

from relaxboost import claims

CLAIMS = claims.all()
FAILING = [claim for claim in CLAIMS if claim.counterexamples]


COSTLY = (
    "GB11-T2", "GB11-T2-all-gradients", "RW05-T", "SS09-E2",
    "SS09-Eq13-accuracy", "SS09-Eq13-rounds", "SS09-Eq13-sharper", "SS09-L11",
    "SS09-Sec5.1-soft-max", "SS09-T9", "SS09-T9-family", "SS09-T9-rounds",
)  # fmt: skip
"""Claims with slow trials, of which 8 find every one of the 37 errors planted in them."""


def name(claim):
    return claim.id


@pytest.mark.parametrize("claim", CLAIMS, ids=name)
def test_the_status_is_that_on_record(claim):
    # With 8 trials, 25 of the 430 errors planted in claims that 20 trials find would be missed.
    enough = 8 if claim.id in COSTLY else 20
    verdict = claim.check(trials=min(claim.trials, enough), seed=1)
    assert verdict.agrees, str(verdict)
    assert verdict.stated.tried
    assert all(correction.tried for correction in verdict.corrections)
    assert not any(part.status == "refuted" for part in verdict.corrections)


@pytest.mark.parametrize("claim", FAILING, ids=name)
def test_counterexamples_on_record_refute(claim):
    for written in claim.counterexamples:
        evidence = claim.examine(claim.stated, claim.space.from_json(written), "")
        assert evidence.outcome == "refuted"

"""What verdicts rest on: printed formulas, rulings, proofs by steps, enumerations."""

from __future__ import annotations

import re

import pytest

from relaxboost import InputError, claims
from relaxboost.claims import Enumeration, Real, Source, Space, WorstCases, assume, at_most
from relaxboost.claims.latex import as_latex
from relaxboost.claims.record import ILLEGIBLE

COMPLETE: tuple[str, ...] = ("DEK11", "GB11", "JNTV05", "RDS04", "RW05", "SS09", "TEL")
"""Sources whose claims all show what is printed, and where."""

UNIT = Space(x=Real(0, 1))


def test_each_claim_shows_what_is_printed_and_where():
    for claim in (claim for claim in claims.all() if claim.source.key in COMPLETE):
        assert claim.page, claim.id
        own = claim.page == "not in the paper"
        assert bool(claim.printed) != own, claim.id
        assert not (own and claim.counterexamples), f"{claim.id}: a charge shows what is printed"


def test_a_proof_is_written_where_it_has_steps():
    for claim in claims.all():
        for statement in claim.statements:
            written = any(line.startswith("Proof.") for line in statement.note.splitlines())
            proved = any(not isinstance(step.every, WorstCases) for step in statement.steps)
            assert written == proved, (claim.id, statement.words)


def made(check=lambda x: at_most(x.x, 1), **record):
    return Source("S", "a source").claim("a", "p. 1", "x ≤ 1", formula="", space=UNIT, **record)(
        check
    )


def test_steps_count_for_the_verdict():
    claim = made()
    assert claim.evidence(claim.stated) == "instances"

    @claim.step("x² ≤ x")
    def square(x):
        return at_most(x.x**2, x.x)

    assert claim.evidence(claim.stated) == "proof"
    verdict = claim.check(20)
    assert verdict.agrees
    assert [step.id for step in verdict.stated.steps] == ["S-a/1"]
    assert "proof: 1 step, each checked" in str(verdict)

    @claim.step("x ≤ x²")
    def root(x):
        return at_most(x.x, x.x**2)

    verdict = claim.check(20)
    assert (verdict.status, verdict.agrees) == ("undecided", False)
    proof = str(verdict).splitlines()[-2]
    assert re.fullmatch(r"    proof: S-a/2 refuted, 0\S+ > 0\S+, .*instance \d+: x = 0\S+", proof)

    @claim.step("x > 1")
    def beyond(x):
        assume(x.x > 1)

    assert str(claim.check(20)).splitlines()[-2].endswith("; S-a/3 undecided, on no instance")
    again = [step.repeat for step in claim.check(60).stated.steps]
    assert again == ["relaxboost claims check S-a --file FILE --trials 60 --seed 0"] * 3
    assert square.check().repeat == "relaxboost claims check S-a --file FILE --seed 0"


def test_an_enumeration_is_taken_whole():
    all_of_them = Enumeration("x = 0, 1/2, 1", lambda: [{"x": x} for x in (0, "1/2", 1)])
    source = Source("S", "a source")
    declared = source.claim("a", "p. 1", "x ≤ 1", formula="", space=UNIT)
    claim = declared.checked(every=all_of_them)(lambda x: at_most(x.x, 1))
    assert claim.evidence(claim.stated) == "exact"
    assert claim.check(1).stated.tried == 3


@pytest.mark.parametrize(
    ("record", "words"),
    [
        ({"ruling": "misprint"}, "needs a counterexample"),
        ({"ruling": "open", "counterexamples": [{"x": 1}]}, "must not have a counterexample"),
        ({"ruling": "wrong"}, "the ruling must be"),
        ({"pages": "3"}, "a claim has no entry pages"),
        ({"every": None}, r"no entry every.* Pass trials, resolution and every to checked\(\)"),
        ({"printed": ILLEGIBLE, "counterexamples": [{"x": 1}]}, "must not have counterexamples"),
    ],
)
def test_a_record_that_contradicts_itself_is_refused(record, words):
    with pytest.raises(InputError, match=words):
        made(**record)


@pytest.mark.parametrize("text", ["$2$", r"\rho", "\rho"])
def test_latex_is_no_text_of_a_claim(text):
    for words, formula in (("x", text), (text, "x")):
        with pytest.raises(InputError, match=r"must be Unicode text, not LaTeX, got .* Write, for"):
            Source("S", "a source").claim("a", "p. 1", words, formula=formula, space=UNIT)
    with pytest.raises(InputError, match="not LaTeX"):
        made().corrected("x", text)(lambda x: at_most(x.x, 1))


@pytest.mark.parametrize("text", ["A \\ B", "A\\B", "(A ∪ B)\\C", "A_1\\{a}", "A∖B"])
def test_a_difference_of_sets_is_no_latex(text):
    Source("S", "a source").claim("a", "p. 1", text, formula=text, space=UNIT)
    assert r"\setminus" in as_latex(text, formula=True)


def test_open_claims_stay_open():
    claim = made(ruling="open")
    assert claim.check(5).status == claim.status == "open"
    refuted = made(lambda x: at_most(x.x, -1), ruling="open").check(5)
    assert (refuted.status, refuted.agrees) == ("false as stated", False)

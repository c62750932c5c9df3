"""A source in TOML: the texts of its claims, its misprints, and the names that went elsewhere."""

from __future__ import annotations

import pytest

from relaxboost import InputError, claims
from relaxboost.claims import Real, Source, Space, at_most
from relaxboost.claims.source import Misprint
from tests.command import refused

TEXT = """
key = "P"
reference = "A. Author (2026), A paper"
lines = '''
Eq. 1 | A sum. | Eq1
Lemma 1 | A bound. | L1
'''

[moved]
L2 = "L1"
Eq1 = "errata"

[claim.L1]
location = "Lemma 1"
words = "x is at most 1/2."
formula = "x ≤ 1/2"
note = "Nothing holds it down."
counterexamples = [{ x = 1 }]

[[claim.L1.corrected]]
words = "It is at most 1."
formula = "x ≤ 1"
note = "Proof. By its range (1)."

[[claim.L1.corrected.step]]
words = "The range ends at 1."

[misprint.Eq1]
place = "Eq. 1"
printed = "1 + 1 = 3"
read = "1 + 1 = 2"
harm = "None: nothing uses it."
"""


@pytest.fixture
def source(tmp_path):
    path = tmp_path / "statements.toml"
    path.write_text(TEXT, encoding="utf-8")
    return Source.read(path)


def declare(source, step=True):
    claim = source.claim("L1", space=Space(x=Real(0, 1)))(lambda x: at_most(x.x, 0.5))
    corrected = claim.corrected()(lambda x: at_most(x.x, 1.0))
    if step:

        @corrected.step()
        def _(x):
            """Measure x, which is no note."""
            return at_most(x.x, 1.0)

    return claim


def test_texts_of_corrections_and_steps_come_from_the_file(source):
    claim = declare(source)
    source.complete()
    (correction,) = claim.corrections
    assert (claim.stated.note, correction.words) == ("Nothing holds it down.", "It is at most 1.")
    assert (correction.formula, correction.note) == ("x ≤ 1", "Proof. By its range (1).")
    assert [step.stated.words for step in correction.steps] == ["The range ends at 1."]
    assert correction.steps[0].stated.note == ""
    assert claim.check(trials=5).agrees


def test_a_text_without_a_check_is_refused(source):
    declare(source, step=False)
    with pytest.raises(
        InputError, match="P-L1: the TOML file of the source has a correction or a step without a"
    ):
        source.complete()


def test_a_step_without_a_text_is_refused(source):
    claim = declare(source)
    with pytest.raises(InputError, match="P-L1: a correction or a step needs words"):
        claim.step()(claim.stated.check)


def test_misprints_are_in_the_order_of_the_text(source):
    declare(source)
    source.complete()
    source.complete()
    row = Misprint("P-Eq1", "Eq. 1", "1 + 1 = 3", "1 + 1 = 2", "None: nothing uses it.")
    assert source.misprints == [row]
    assert [line.ids for line in source.lines] == [("P-Eq1",), ("P-L1",)]


def test_a_name_moves_to_a_claim_that_is_there(source):
    source.moved["L3"] = "L4"
    declare(source)
    with pytest.raises(InputError, match="P: L3 cannot have moved to L4"):
        source.complete()


def test_what_moved_is_answered_with_where_it_went(capsys, monkeypatch):
    ss09 = next(source for source in claims.sources() if source.key == "SS09")
    monkeypatch.setitem(ss09.moved, "old", "T9")
    monkeypatch.setitem(ss09.moved, "slip", "errata")
    with pytest.raises(InputError, match="SS09-old is now part of SS09-T9; run `relaxboost "):
        claims.get("SS09-old")
    moved = "SS09-slip is now in the errata of SS09"
    refused(capsys, moved, "claims", "show", "SS09-slip")
    monkeypatch.setitem(ss09.moved, "older", "displays")
    moved = "show SS09-T9` to see it. The pattern 'SS09-ol*' matches 1 more claim"
    refused(capsys, moved, "claims", "list", "SS09-ol*")
    refused(capsys, "SS09-older is now a line of the table on", "claims", "check", "SS09-older")

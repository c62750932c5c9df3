"""The page of findings: commands print what it shows, numbers and quotes are those on record."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from docs.hooks.claim_pages import ledger
from docs.hooks.claim_pages.prose import as_markdown
from relaxboost import claims
from relaxboost.commands.cli import main
from tests.claims import made

PAGE = (Path(__file__).parents[2] / "docs" / ledger.FINDINGS).read_text(encoding="utf-8")
HEAD, *FINDINGS = re.split(r"^(?=## \d+\. )", PAGE, flags=re.MULTILINE)
DECIMAL = re.compile(r"\d+\.\d+(?!\d*\.)")


def one_line(text):
    return " ".join(text.split())


def parts(finding):
    """Return the claim, the quote, the prose, the command and what is shown of its output."""
    id, quote, prose, block = re.search(
        r"^[^\n]*\[([\w.-]+)\]\(claims/\S+\)\):\n\n> (.*?)\n\n(.*?)```\n(.*?)\n```$",
        finding,
        re.MULTILINE | re.DOTALL,
    ).groups()
    command, *shown = block.splitlines()
    return claims.get(id), quote, prose, command.removeprefix("$ relaxboost ").split(), shown


def test_there_are_ten_short_sections():
    assert [int(re.match(r"## (\d+)", finding)[1]) for finding in FINDINGS] == list(range(1, 11))
    prose = re.sub(r"```.*?```|\]\(\S+\)", "", PAGE, flags=re.DOTALL)
    assert len(prose.split()) < 1900
    home = (Path(__file__).parents[2] / "docs" / "index.md").read_text()
    assert "](findings.md)" in home


@pytest.mark.parametrize("finding", FINDINGS, ids=lambda text: text.splitlines()[0][3:])
def test_a_finding_is_what_its_command_prints(finding, capfd):
    claim, _, prose, command, shown = parts(finding)
    assert claim.counterexamples
    assert command[:3] == ["claims", "check", claim.id]
    main([*command, "--jobs", "1"])  # which ends with a status if the verdict is not that on record
    printed = one_line(capfd.readouterr().out)
    assert shown
    for line in shown:
        assert one_line(line) in printed
    known = {*DECIMAL.findall(f"{printed} {claim.counterexamples}"), "0.3"}  # which is 3/10 there
    for number in DECIMAL.findall(re.sub(r"\]\(\S+\)", "", prose)):
        assert number in known, f"{number} is not in what {claim.id} prints"


def test_the_numbers_and_quotes_are_those_of_the_registry():
    assert ledger.renewed(PAGE, claims.sources()) == PAGE, "run make claims"
    for finding in FINDINGS:
        claim, quote, *_ = parts(finding)
        assert quote == as_markdown(claim.printed)
        assert claim.status in ("false as stated", "misprint", "ambiguous")


def test_numbers_are_counted(monkeypatch):
    text = "a\n<!-- numbers -->\nold\n<!-- end -->\nb\n"
    found = ledger.renewed(text, [made.MADE])
    assert found.startswith("a\n<!-- numbers -->\nWe read 7 statements of 1 papers and lectures: ")
    assert found.endswith("\n<!-- end -->\nb\n")
    words = one_line(found)
    assert (
        "**4 hold**, **2 are false** as stated, 0 are ambiguous, 0 are misprints and 0 are" in words
    )
    assert "has a counterexample, and 1 of them have a corrected statement that is true." in words
    assert (
        "Of the other 1, 0 are misprints that need no program, and 1 are statements that no "
        "computation can decide." in words
    )
    assert ledger.renewed(found, [made.MADE]) == found
    monkeypatch.setattr(made.few, "page", "not in the paper")
    assert "We read 6 statements" in ledger.numbers([made.MADE])

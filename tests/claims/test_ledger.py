"""The page of all claims is what the registry gives, and its Markdown is sound."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import relaxboost as rb
from relaxboost.claims import registry
from relaxboost.claims.publishing import ledger, prose
from tests.claims import made

DOCS = Path(__file__).parents[2] / "docs"


def test_the_page_is_the_one_of_the_registry():
    not_checked = [one for source in registry.sources() for one in source.not_checked]
    page = ledger.page(registry.all(), not_checked)
    shown = (DOCS / ledger.PAGE).read_text(encoding="utf-8")
    assert shown == page, "docs/claims.md is out of date; run make claims"
    pictures = set(re.findall(r"\]\((images/claims/[^)]+)\)", page))
    assert pictures == {
        f"{ledger.PICTURES}/{claim.id}.svg" for claim in registry.all() if claim.counterexamples
    }
    there = {f"{ledger.PICTURES}/{path.name}" for path in (DOCS / ledger.PICTURES).iterdir()}
    assert there == pictures, "run make claims"


def test_links_within_the_page_lead_to_sections():
    page = ledger.page(made.MADE.claims.values(), made.MADE.not_checked)
    sections = {title.lower() for title in re.findall(r"^###? (.*)$", page, re.MULTILINE)}
    assert set(re.findall(r"\]\(#([^)]+)\)", page)) == sections
    assert len(sections) == len(made.MADE.claims) + 1  # and the source


def test_the_page_says_what_is_on_record():
    page = ledger.page(made.MADE.claims.values(), made.MADE.not_checked)
    assert "Claims: 6 (holds: 4, false as stated: 2, misprint: 0, ambiguous: 0, open: 0)." in page
    assert "Statements not checked: 1." in page
    assert (
        "| [MADE](#made) | 4 | 2 | 0 | 0 | 0 | 1 |\n\n"
        "Refuted as stated: [MADE-trace](#made-trace), " in page
    )
    assert r"| Theorem 1 \| rate | The loss is &lt;at most> its bound & `falls`. |" in page
    assert r"| MADE-U1 | Sec. 9 | It is &lt;nice> \| `good`. | a matter of *taste*: f\*(x)," in page
    assert "Refuted by: `0.25 <= -0.5 (square)`\n\n```\nt = -1/2, k = 1, loss = hinge\n```" in page
    assert "```\nA = [1/3  1]\n    [ -1  0]\nd = [1/3  2/3]\nepsilon = 1/10\n```" in page
    assert "**Corrected:** It is at most 1.\n\n`L_t ≤ 1`\n\nSince it falls." in page
    assert re.search(r"Check: `\S*made.py`\.", page)
    assert page.count("![") == 2
    assert "<script" not in page


def test_lines_of_a_source_lead_to_claims_or_give_a_reason(monkeypatch):
    monkeypatch.setattr(made.MADE, "lines", [])
    made.MADE.line("Eq. 1", "It is | small.", "many", "U1")
    made.MADE.line("Eq. 2", "A <word>.", reason="a definition")
    page = ledger.page(made.MADE.claims.values(), made.MADE.not_checked)
    assert r"| Eq. 1 | It is \| small. | [MADE-many](#made-many), MADE-U1 |" in page
    assert "| Eq. 2 | A &lt;word>. | a definition |" in page
    for names, reason in ((("gone",), "why"), ((), "")):
        with pytest.raises(rb.InputError, match="needs claims declared before, or a reason"):
            made.MADE.line("Eq. 3", "It is.", *names, reason=reason)


def test_a_counterexample_that_refutes_nothing_is_not_printed(monkeypatch):
    monkeypatch.setattr(made.few, "counterexamples", [{"t": "1/2", "k": 1, "loss": "hinge"}])
    with pytest.raises(rb.InputError, match="counterexample 1 of MADE-few does not refute it"):
        ledger.page([made.few])


def test_the_page_and_its_pictures_are_written(tmp_path, monkeypatch):
    monkeypatch.setattr(ledger, "built_in", lambda: [made.trace, made.few])
    monkeypatch.setattr(ledger, "sources", lambda: (made.MADE,))
    old = tmp_path / "images" / "claims" / "MADE-gone.svg"
    old.parent.mkdir(parents=True)
    old.write_text("")
    paths = ledger.write(tmp_path)
    assert [path.name for path in paths] == ["claims.md", "MADE-trace.svg", "MADE-few.svg"]
    assert not old.exists()
    first = [path.read_bytes() for path in paths]
    assert first == [path.read_bytes() for path in ledger.write(tmp_path)]
    with pytest.raises(rb.InputError, match="no folder"):
        ledger.write(tmp_path / "nowhere")


@pytest.mark.parametrize(
    ("text", "markdown", "html"),
    [
        ("the *smoothed* problem", "the *smoothed* problem", "the <em>smoothed</em> problem"),
        ("f*(u) and g*(u)", r"f\*(u) and g\*(u)", "f*(u) and g*(u)"),
        ("``a < b`` & `c`", "`a < b` & `c`", "<code>a &lt; b</code> &amp; <code>c</code>"),
        ("[a]_+ and w_t", r"[a]\_+ and w_t", "[a]_+ and w_t"),
        ("A[i](w)", r"A[i]\(w)", "A[i](w)"),
        ("a\x00b", "a\x00b", "a\ufffdb"),
    ],
)
def test_prose(text, markdown, html):
    assert prose.as_markdown(text) == markdown
    assert prose.as_html(text) == html


def test_formulas_and_large_instances():
    assert prose.formula("a `b`") == "`` a `b` ``"
    shown = prose.columns({"A": [[0.5] * 30] * 20, "w": [1, -0.25], "k": 2})
    assert shown == "A = (20 × 30 matrix)\nw = [1  -0.25]\nk = 2"

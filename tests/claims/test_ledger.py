"""The pages of the claims are what the registry gives, and their Markdown is sound."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest

import relaxboost as rb
from relaxboost.claims import Enumeration, Real, Source, Space, at_most, registry
from relaxboost.claims.publishing import ledger, measuring, pages, prose
from relaxboost.claims.record import ILLEGIBLE
from tests.claims import made

DOCS = Path(__file__).parents[2] / "docs"

BAD = "counterexample 1 of MADE-few does not refute it"


@pytest.fixture(scope="module")
def record():
    """Return what the claims made for tests rest on."""
    return measuring.measure(claim.check() for claim in made.MADE.claims.values())


def test_the_pages_are_those_of_the_registry():
    found = ledger.built(pictures=False)
    names = {"index.md", *(pages.file_of(source) for source in registry.sources())}
    assert found.keys() == {f"{ledger.FOLDER}/{name}" for name in names}
    text = b"".join(found.values()).decode()
    linked = set(re.findall(rf"\]\(\.\./{pages.PICTURES}/([^)]+)\)", text))
    assert linked == {f"{claim.id}.svg" for claim in registry.all() if claim.counterexamples}
    nav = (DOCS.parent / "mkdocs.yml").read_text("utf-8")
    assert all(f": {path}\n" in nav for path in found)


def test_what_verdicts_rest_on_is_on_file():
    """Of every claim; and of some, what a check gives now."""
    found = measuring.on_file()
    of_steps = [step for c in registry.all() for s in c.statements for step in s.steps]
    assert found.keys() == {claim.id for claim in (*registry.all(), *of_steps)}
    for claim in registry.all():
        stated, *corrections = measuring.lookup(found, claim)
        assert bool(stated.refuted) == bool(claim.counterexamples), claim.id
        assert stated.tried <= claim.trials + len(claim.counterexamples) or claim.every, claim.id
        if claim.status != "ambiguous":
            assert not any(part.refuted for part in corrections), claim.id
    for id in ("JNTV05-conjecture", "JNTV05-norms", "DEK11-projection", "TEL-gradient", "GB11-D1"):
        verdict = registry.get(id).check(seed=measuring.SEED)
        assert measuring.of_verdict(verdict)[id] == found[id]


def test_what_was_measured():
    def x_at_most(bound):
        return Source("S", "").claim("a", "", "", formula="", space=Space(x=Real(0, 1)))(
            lambda x: at_most(x.x, bound)
        )

    (holds,) = measuring.of_verdict(x_at_most(2).check(30))["S-a"]
    assert (holds.tried, holds.refuted, holds.tight, holds.least) == (30, 0, 0, "0.33")
    (refuted,) = measuring.of_verdict(x_at_most(-1).check(5))["S-a"]
    assert (refuted.tried, refuted.refuted, refuted.least) == (5, 5, "")
    assert pages.instances(holds) == "30 instances, least relative slack 0.33"
    assert pages.instances(measuring.Measured(7, 0, 7, "0")).endswith("all of which it holds")
    assert pages.instances(measuring.Measured(1, 0, 0, "")) == "1 instance"
    assert [measuring.two_digits(x) for x in (1e-15, -0.0123, 1.0)] == ["0", "-0.012", "1"]


def test_links_within_the_page_lead_to_sections(record):
    page = pages.page(made.MADE, record)
    sections = {title.lower() for title in re.findall(r"^### (.*)$", page, re.MULTILINE)}
    assert set(re.findall(r"\]\(#([^)]+)\)", page)) == sections
    assert len(sections) == len(made.MADE.claims)


def test_the_overview_counts():
    text = ledger.index([made.MADE])
    assert "| [MADE](made.md) | 4 | 2 | 0 | 0 | 0 | 1 |\n| all | 4 | 2 | 0 | 0 | 0 | 1 |" in text
    assert "that is 7 verdicts: 2 on counterexamples, 5 on instances tried." in text
    assert (
        "\nMADE, false as stated: [MADE-trace](made.md#made-trace), [MADE-few](made.md#made-few)."
        in text
    )


def test_the_page_says_what_is_on_record(record):
    page = pages.page(made.MADE, record)
    assert "Statements: 7. Holds: 4, false as stated: 2, not decidable here: 1. [What" in page
    assert (
        r"| [MADE-trace](#made-trace) | false as stated | Theorem 1 \| rate: The loss is &lt;at "
        "most> its bound & `falls`. | It is at most 1. | counterexample |  |"
    ) in page
    assert r"| MADE-U1 | not decidable here | Sec. 9: It is &lt;nice> \| `good`. | a matter" in page
    assert "**False as stated.** Theorem 1 | rate." in page
    assert re.search(
        r"Rests on a counterexample on record; of \d+ instances \d+ refutes? it\.", page
    )
    assert "Refuted by `0.25 <= -0.5 (square)` at\n\n```\nt = -1/2, k = 1, loss = hinge" in page
    assert "```\nA = [1/3  1]\n    [ -1  0]\nd = [1/3  2/3]\nepsilon = 1/10\n```" in page
    assert "**True instead:** It is at most 1.\n\n`L_t ≤ 1`\n\nRests on 13 instances, " in page
    assert "On “It is at most 1.”:\n\nSince it falls." in page
    assert re.search(r"Check: `\S*made.py`\. Again: `relaxboost claims check MADE-few`", page)
    assert page.count("![") == 2
    assert page.count("<details") == page.count("</details>") == 6
    assert "<script" not in page


def test_readings_proofs_enumerations_and_what_is_illegible():
    """All that the claims made for tests have not."""
    source, space = Source("S", "a source"), Space(x=Real(0, 1))
    options = {"space": space, "formula": "f"}
    vague = source.claim(
        "vague", ("Eq. 1", "p. 2"), "x is small.", printed="x_{i} ≪ 1", ruling="ambiguous",
        counterexamples=[{"x": 1}], **options,
    )(lambda x: at_most(x.x, 0.5))  # fmt: skip
    vague.corrected("reading: at most 1.")(lambda x: at_most(x.x, 1))
    vague.corrected("At most 1/4.")(lambda x: at_most(x.x, 0.25))
    values = Enumeration("x = 0 and 1", lambda: [{"x": 0}, {"x": 1}])
    source.claim("all", "Eq. 2", "x ≤ 1", printed=ILLEGIBLE, **options).checked(every=values)(
        lambda x: at_most(x.x, 1)
    )
    own = "Eq. 3", "not in the paper"
    proved = source.claim("proved", own, "x ≤ 1", **options)(lambda x: at_most(x.x, 1))

    @proved.step("A step.", "x² ≤ x", trials=9)
    def _(x):
        """Since x ≤ 1,

        x² ≤ x.
        """
        return at_most(x.x**2, x.x)

    text = pages.page(source, measuring.measure(c.check() for c in source.claims.values()))
    assert "**Ambiguous.** Eq. 1 (p. 2)." in text
    assert "As printed:\n\n> x\\_{i} ≪ 1\n\nAs checked:\n\n`f`\n" in text
    assert "**Another reading, which holds:** At most 1.\n" in text
    assert "**Another reading, refuted as well:** At most 1/4.\n" in text
    assert "illegible in our copy, and nothing is charged" in text
    assert "Rests on enumeration: x = 0 and 1; 2 instances, " in text
    assert "Rests on a proof, each step checked; and on 100 instances, on " in text
    step = r"^1\. A step\. `x² ≤ x` \(9 instances, [^)]*\) Since x ≤ 1, x² ≤ x\.$"
    assert re.search(step, text, re.MULTILINE)
    assert text.count("Not in the paper") == 1


def test_lines_of_a_source_lead_to_claims_or_give_a_reason(monkeypatch, record):
    monkeypatch.setattr(made.MADE, "lines", [])
    made.MADE.outline("""
Eq. 1 | It is |small|. | many, U1
| A <word> of two
    lines. | - | a definition
""")
    page = pages.page(made.MADE, record)
    assert r"| Eq. 1 | It is \|small\|. | [MADE-many](#made-many), MADE-U1 |" in page
    assert "| Eq. 1 | A &lt;word> of two lines. | a definition |" in page
    for wrong in ("gone | why", "-"):
        with pytest.raises(rb.InputError, match="needs claims declared before, or a reason"):
            made.MADE.outline(f"Eq. 3 | It is. | {wrong}")
    with pytest.raises(rb.InputError, match="a row is place"):
        made.MADE.outline("Eq. 3 | It is.")


def test_a_counterexample_that_refutes_nothing_is_not_printed(monkeypatch, record):
    monkeypatch.setattr(made.few, "counterexamples", [{"t": "1/2", "k": 1, "loss": "hinge"}])
    with pytest.raises(rb.InputError, match=BAD):
        pages.page(made.MADE, record)


def test_a_claim_that_was_not_measured_is_named(record):
    with pytest.raises(rb.InputError, match="MADE-trace rests on was not measured; run make"):
        pages.page(made.MADE, {**record, "MADE-trace": record["MADE-trace"][:1]})


@pytest.fixture
def only_made(tmp_path, monkeypatch):
    """Let the registry have the claims made for tests, and no record."""
    monkeypatch.setattr(ledger, "sources", lambda: (made.MADE,))
    monkeypatch.setattr(measuring, "FILE", tmp_path / "measured.json")
    yield tmp_path
    measuring.on_file.cache_clear()


def test_the_record_is_written(only_made, monkeypatch):
    with pytest.raises(rb.InputError, match="not as recorded:\nMADE-never: undecided, not holds"):
        ledger.write(only_made)
    monkeypatch.delitem(made.MADE.claims, "MADE-never")
    (path,) = ledger.write(only_made)
    first = path.read_bytes()
    assert measuring.on_file().keys() == made.MADE.claims.keys()
    assert [one.read_bytes() for one in ledger.write(only_made, ["MADE-few"])] == [first]
    verdict = replace(made.MADE.claims["MADE-few"].check(2), interrupted=True)
    with monkeypatch.context() as patch:
        patch.setattr(ledger, "check_all", lambda *_, **__: [(None, verdict)])
        with pytest.raises(rb.InputError, match=r"nothing .*: interrupted after 0 of 1 claim;"):
            ledger.write(only_made, ["MADE-few"])
    assert path.read_bytes() == first
    measuring.write({})
    with pytest.raises(rb.InputError, match="MADE-trace rests on was not measured"):
        ledger.write(only_made, ["MADE-few"])
    with pytest.raises(rb.InputError, match="no folder"):
        ledger.write(only_made / "nowhere")


def test_the_pages_and_pictures_are_built(only_made, monkeypatch):
    monkeypatch.delitem(made.MADE.claims, "MADE-never")
    ledger.write(only_made)
    found = ledger.built()
    pictures = [f"{pages.PICTURES}/{name}.svg" for name in ("MADE-trace", "MADE-few")]
    assert [*found] == ["claims/index.md", "claims/made.md", *pictures]
    assert all(found[path].startswith(b"<?xml") for path in pictures)
    assert found == ledger.built()


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


@pytest.mark.parametrize(
    ("words", "read"),
    [
        ("reading: the product.", "The product."),
        ("a prediction of 0 is an error.", "A prediction of 0 is an error."),
        *((one, one) for one in ("ρ_k is at most ρ_m.", "k ρ_k is convex.", "f is convex.")),
        *((one, one) for one in ("kρ_k is convex.", "max_γ is reached.", "sign(0) = 1.", "a ≤ b.")),
    ],
)
def test_a_symbol_that_begins_a_sentence_is_not_capitalised(words, read):
    assert prose.reading(words) == read


def test_formulas_and_large_instances():
    assert prose.formula("a `b`") == "`` a `b` ``"
    shown = prose.columns({"A": [[0.5] * 30] * 20, "w": [1, -0.25], "k": 2})
    assert shown == "A = (20 × 30 matrix)\nw = [1  -0.25]\nk = 2"

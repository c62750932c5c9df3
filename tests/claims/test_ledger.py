"""The pages of the claims are what the registry gives, and their Markdown is sound."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import relaxboost as rb
from docs.hooks.claim_pages import ledger, pages, prose
from relaxboost.claims import Enumeration, Real, Source, Space, WorstCases, at_most, registry
from relaxboost.claims.record import ILLEGIBLE, reading
from tests.claims import made

DOCS = Path(__file__).parents[2] / "docs"

MOST_WORDS_PER_CLAIM = 380
"""The limit of the words of all pages, divided by the number of claims."""
MOST_WORDS_PER_FIRST_PAGE = 1000
"""The limit of the mean number of words of the index and of the first pages of sources."""
MOST_WORDS_OF_INDEX, MOST_WORDS_PER_ROW = 420, 22
"""The limits of the words of the index: without its table, and of each row of the table."""

BAD = "no recorded counterexample of MADE-few refutes the claim"


@pytest.fixture(scope="module")
def built():
    """Return the pages of the registry, without pictures."""
    return ledger.built(pictures=False)


@pytest.fixture
def two_pages(monkeypatch):
    """Give every source a page of details."""
    monkeypatch.setattr(pages, "MAX_DETAILED_CLAIMS", 0)


def page_of(source):
    """Return the text of the only page of a source."""
    (text,) = pages.pages(source).values()
    return text


def test_the_pages_are_those_of_the_registry(built):
    names = {"index.md"}
    for source in registry.sources():
        names |= {pages.file_of(source), pages.details_of(source)}
    assert built.keys() == {f"{ledger.FOLDER}/{name}" for name in names}
    text = b"".join(built.values()).decode()
    linked = set(re.findall(rf"\]\(\.\./{pages.PICTURES}/([^)]+)\)", text))
    assert linked == {f"{claim.id}.svg" for claim in registry.all() if claim.counterexamples}
    nav = (DOCS.parent / "mkdocs.yml").read_text("utf-8")
    assert all(f": {path}\n" in nav for path in built if not path.endswith("-details.md"))
    for path, content in built.items():
        for name, part in re.findall(r"\]\(([\w-]+\.md)#([^)]+)\)", content.decode()):
            there = built[f"{ledger.FOLDER}/{name}"].decode()
            headings = map(pages.anchor, re.findall(r"^## (\S+)$", there, re.MULTILINE))
            named = f'id="{part}"' in there or f"{{#{part}}}" in there
            assert named or part in headings, f"{path}: {name}#{part}"


def test_the_pages_are_short(built):
    """Nothing is printed twice, and the first page of a source can be read at one sitting."""
    words = {path: len(text.split()) for path, text in built.items()}
    first = [path for path in words if not path.endswith("-details.md")]
    limits = {
        "all pages of claims": (sum(words.values()), MOST_WORDS_PER_CLAIM * len(registry.all())),
        "the first pages": (
            sum(words[path] for path in first),
            MOST_WORDS_PER_FIRST_PAGE * len(first),
        ),
        "the index": (
            words["claims/index.md"],
            MOST_WORDS_OF_INDEX + MOST_WORDS_PER_ROW * len(registry.sources()),
        ),
    }
    for what, (many, most) in limits.items():
        assert many <= most, f"{what} have {many} words, the limit is {most:.0f}; shorten the notes"


def test_the_first_page_has_results_and_errata(two_pages, monkeypatch):
    monkeypatch.setattr(made.many, "part_of", "trace")
    monkeypatch.setattr(made.few, "part_of", "trace")
    monkeypatch.setattr(made.few, "ruling", "ambiguous")
    monkeypatch.setattr(made.MADE, "moved", {"old": "many", "slip": "errata"})
    found = pages.pages(made.MADE)
    assert [*found] == ["made.md", "made-details.md"]
    first, details = found.values()
    assert "on 7 statements: holds (4), false as stated (1), ambiguous (1), not che" in first
    assert (
        r"| [MADE-trace](made-details.md#made-trace) | false as stated (counterexample) | "
        r"Theorem 1 \| rate: The loss is &lt;at most> its bound & `falls`.<br>*True instead:* "
        "It is at most 1. |"
    ) in first
    assert first.index("## Results not true as printed") < first.index("## Results that hold")
    few = made.MADE.claims["MADE-few"].stated.words
    linked = f"* [MADE-few](made-details.md#made-few): {prose.as_markdown(few)}\n"
    assert f"\nOther statements that are ambiguous:\n\n{linked}\n" in first
    assert "\nNot checkable:\n\n* [MADE-U1](made-details.md#made-u1): " in first
    assert (
        "(MADE): details\n\nThis page is for readers who want to see why a verdict is right."
        in details
    )
    assert '<details id="made-many" markdown="1">\n<summary><b>MADE-many</b> (holds' in details


def test_misprints_are_in_the_errata_alone():
    source, space = Source("S", "a source"), Space(x=Real(0, 1))
    wrong = source.claim(
        "wrong", ("Eq. 1", "p. 2"), "x is small.", printed="x ≤ 1/2", ruling="misprint",
        harm="None.", formula="x ≤ 1/2", space=space, counterexamples=[{"x": 1}, {"x": "3/4"}],
    )(lambda x: at_most(x.x, 0.5))  # fmt: skip
    wrong.corrected("At most 1.")(lambda x: at_most(x.x, 1))
    text = page_of(source)
    assert "* [p. 2](s.md#s-wrong): x ≤ 1/2<br>*Read:* At most 1.<br>*Consequence:* None." in text
    assert text.count("x ≤ 1/2") == text.count("At most 1.") == 1
    assert "**Read instead (instances):** See the errata." in text
    assert text.count("**Refuted by an instance with this relation:**") == 1


def test_a_misprint_in_a_table_of_results_has_its_words_there(two_pages):
    source, space = Source("S", "a source"), Space(x=Real(0, 1))
    wrong = source.claim(
        "wrong", ("Eq. 1", "p. 2"), "x is small.", printed="x ≤ 1/2", ruling="misprint",
        harm="None.", formula="x ≤ 1/2", space=space, counterexamples=[{"x": 1}],
    )(lambda x: at_most(x.x, 0.5))  # fmt: skip
    wrong.corrected("x is at most 1.", "x ≤ 1")(lambda x: at_most(x.x, 1))
    first, details = pages.pages(source).values()
    assert "| Eq. 1: x is small.<br>*Read instead:* x is at most 1. |" in first
    assert "x ≤ 1/2<br>*Read:* x ≤ 1<br>*Consequence:* None." in first
    assert "**Read instead (instances):** x is at most 1.\n" in details


def test_the_overview_counts():
    text = ledger.index([made.MADE])
    assert "(MADE)](made.md) | 4 | 2 | – | – | – | 1 |\n| all | 4 | 2 | 0 | 0 | 0 | 1 |" in text
    assert "Of all 7 verdicts, 2 rest on a counterexample, 0 on a proof, " in text
    assert "0 on an exact enumeration and 5 on instances." in text


def test_the_page_says_what_is_on_record():
    page = page_of(made.MADE)
    assert r"**MADE-U1** not checkable. Sec. 9: It is &lt;nice> | `good`. Reason: A matter" in page
    assert (
        "(MADE-trace) {#made-trace}\n\n**Statement (false as stated, counterexample):** The loss"
        in page
    )
    found = "**True instead (instances):** It is at most 1.\n\n**Place:** Theorem 1 | rate.\n\n"
    assert f"{found}**In symbols:** `L_t ≤ e^{{−t/30}} [1](2) < ‖d‖_1`\n\n**Given:** ε > 0" in page
    false = "**Refuted by an instance with this relation:** `0.25 > -0.5 (square)`"
    assert f"{false}\n\n```\nt = -1/2, k = 1, loss = hin" in page
    assert "```\nA = [1/3  1]\n    [ -1  0]\nd = [1/3  2/3]\nepsilon = 1/10\n```" in page
    assert "\n\n**The correction in symbols:** `L_t ≤ 1`\n\nSince it falls." in page
    assert page.count("![") == 2
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
    proved.step("A worst case.", every=WorstCases.grid("x = 1", x=[1]))(lambda x: at_most(x.x, 1))

    @proved.step("A step.", "x² ≤ x", trials=9)
    def _(x):
        """Since x ≤ 1,

        x² ≤ x.
        """
        return at_most(x.x**2, x.x)

    text = page_of(source)
    assert (
        "**Statement (ambiguous, counterexample):** x is small.\n\n"
        "**Read as follows, it holds (instances):** At most 1.\n\n"
        "**Read as follows, it is refuted as well:** At most 1/4.\n\n"
        "**Place:** P. 2.\n\n> x\\_{i} ≪ 1\n"
    ) in text
    assert (
        "**Statement (holds, exact):** x ≤ 1\n\n**Place:** Eq. 2.\n\n**In symbols:** `f`\n\n"
        "Illegible in our copy."
    ) in text
    steps = "\n\n1. A worst case. Computed for x = 1.\n2. A step: `x² ≤ x`. Since x ≤ 1, x² ≤ x.\n"
    steps = f'\n\n<details markdown="1">\n<summary>Proof</summary>{steps}\n</details>\n'
    place = "**Place:** Not in the paper.\n\n**In symbols:** `f`"
    assert f"**Statement (holds, proof):** x ≤ 1\n\n{place}{steps}" in text


def test_titles_name_the_authors_and_the_year():
    titles = {source.key: pages.title_of(source) for source in registry.sources()}
    assert titles["SS09"] == "Shalev-Shwartz & Singer 2009 (SS09)"
    assert titles["TEL"] == "Telgarsky (TEL)"
    assert titles["REGK14"] == "de Rooij, van Erven, Grünwald & Koolen 2014 (REGK14)"
    assert pages.title_of(Source("NOTES", "Reading notes, on games")) == "NOTES"


def test_names_of_claims_in_notes_are_links(two_pages):
    source, space = Source("S", "a source"), Space(x=Real(0, 1))
    source.notation = "x is a number.\n\nf* is the conjugate."

    def claim(name):
        options = {"space": space, "formula": "E1 ≤ 1"}
        return source.claim(name, "Eq. 1", f"It is S-{name}.", **options)

    claim("plain")(lambda x: at_most(x.x, 1))

    @claim("E1")
    def _(x):
        """By `plain`, S-plain and SS09-T9; E1 is plain, E12 and `x` are no claims.

        Proof. It is plain.
        """
        return at_most(x.x, 1)

    first, details = pages.pages(source).values()
    folded = "\n\nx is a number.\n\nf\\* is the conjugate.\n\n</details>\n"
    assert f'<details id="notation" markdown="1">\n{pages._NOTATION}{folded}' in first
    assert first.index(folded) < first.index("## Results that hold")
    assert "x is a number." not in details
    assert "See [notation](s.md#notation), [results and errata](s.md)." in details
    link = "[S-plain](s-details.md#s-plain)"
    nine = "[SS09-T9](ss09-details.md#ss09-t9)"
    assert f"By {link}, {link} and {nine}; S-E1 is plain, E12 and `x` are no claims." in details
    assert "`E1 ≤ 1`" in details
    folded = '<details markdown="1">\n<summary>Proof</summary>\n\nIt is plain.\n\n</details>\n'
    assert f"\n\n{folded}" in details


def test_lines_of_a_source_lead_to_claims_or_give_a_reason(monkeypatch):
    monkeypatch.setattr(made.MADE, "lines", [])
    made.MADE.outline("""
Eq. 1 | It is |small|. | many, U1
| A <word> of two
    lines. | - | a definition
Eq. 2 | It is small. | many, U1
""")
    page = page_of(made.MADE)
    assert (
        "\nEq. 1; Eq. 2: [MADE-many](made.md#made-many), [MADE-U1](made.md#made-u1)<br>\n" in page
    )
    reasons = "These passages have no claim, for the reason that follows each:"
    assert f"\n{reasons}\n\nEq. 1: a definition<br>\n" in page
    for wrong in ("gone | why", "-"):
        with pytest.raises(rb.InputError, match="must name claims that are already declared"):
            made.MADE.outline(f"Eq. 3 | It is. | {wrong}")
    with pytest.raises(rb.InputError, match="a row must have the form place"):
        made.MADE.outline("Eq. 3 | It is.")


def test_a_counterexample_that_refutes_nothing_is_not_printed(monkeypatch):
    monkeypatch.setattr(made.few, "counterexamples", [{"t": "1/2", "k": 1, "loss": "hinge"}])
    with pytest.raises(rb.InputError, match=BAD):
        pages.pages(made.MADE)


def test_the_pages_and_pictures_are_built(monkeypatch):
    monkeypatch.setattr(ledger, "sources", lambda: (made.MADE,))
    found = ledger.built()
    pictures = [f"{pages.PICTURES}/{name}.svg" for name in ("MADE-trace", "MADE-few")]
    assert [*found] == ["claims/index.md", "claims/made.md", *pictures]
    assert all(found[path].startswith(b"<?xml") for path in pictures)
    assert found == ledger.built()


def test_the_numbers_of_the_findings_are_renewed(tmp_path, monkeypatch):
    page = tmp_path / ledger.FINDINGS
    page.write_text("<!-- numbers -->\nstale\n<!-- end -->\n")
    monkeypatch.setattr("sys.argv", ["ledger", str(tmp_path)])
    ledger.main()
    assert page.read_text() == ledger.renewed(page.read_text(), registry.sources())
    assert "stale" not in page.read_text()
    monkeypatch.setattr("sys.argv", ["ledger", str(tmp_path / "nowhere")])
    with pytest.raises(SystemExit, match="usage"):
        ledger.main()


@pytest.mark.parametrize(
    ("text", "markdown", "html"),
    [
        ("the *smoothed* problem", "the *smoothed* problem", "the <em>smoothed</em> problem"),
        ("f*(u) and g*(u)", r"f\*(u) and g\*(u)", "f*(u) and g*(u)"),
        ("``a < b`` & `c`", "`a < b` & `c`", "<code>a &lt; b</code> &amp; <code>c</code>"),
        ("[a]_+ and w_t", r"[a]\_+ and w_t", "[a]_+ and w_t"),
        ("A[i](w)", r"A[i]\(w)", "A[i](w)"),
        ("a\x00b", "a\x00b", "a\ufffdb"),
        ("0 < x, <d, u> > 1", "0 &lt; x, ⟨d,\xa0u⟩ > 1", "0 &lt; x, ⟨d,\xa0u⟩ &gt; 1"),
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
    assert reading(words) == read


def test_formulas_and_large_instances():
    assert prose.formula("a `b`") == "`` a `b` ``"
    shown = prose.columns({"A": [[0.5] * 30] * 20, "w": [1, -0.25], "k": 2})
    assert shown == "A = (20 × 30 matrix)\nw = [1  -0.25]\nk = 2"

"""The page of papers, which is made from the bibliography."""

import re
from pathlib import Path

import pytest

import relaxboost as rb
from docs.hooks import papers
from docs.hooks.claim_pages.pages import file_of

DOCS = Path(__file__).parents[1] / "docs"


def test_the_page_lists_every_source_of_claims_and_its_links_lead_somewhere():
    text = papers.page()
    generated = {"paper.bib", "api.md", "claims/index.md"}
    for source in rb.claims.sources():
        assert f"| [{source.key}](claims/{file_of(source)}) |" in text, (
            f"add {source.key} to paper.bib"
        )
        generated.add(f"claims/{file_of(source)}")
    for target in re.findall(r"\]\(([^)#<]+)", text):
        assert target in generated or (DOCS / target).exists(), target


ENTRY = """
@article{Doe2001,
  author  = {Doe, Jane-Ann and van Roe, R. and others},
  title   = {On {LPBoost} \\& Hedge},
  journal = {Annals},
  volume  = {3},
  year    = {2001},
  doi     = {10.1/x(1)},
  claims  = {SS09},
  takes   = {[`LPBoost`](methods.md)}
}
"""


def test_an_entry_of_the_bibliography_becomes_a_row():
    (entry,) = papers.read(ENTRY).values()
    assert papers.row(entry) == (
        "| J.-A. Doe, R. van Roe et al. (2001), [*On LPBoost & Hedge*](<https://doi.org/10.1/x(1)>),"
        " Annals 3 | [`LPBoost`](methods.md) | [SS09](claims/ss09.md) |\n"
    )


@pytest.mark.parametrize(
    ("line", "instead", "message"),
    [
        ("  journal = {Annals},\n", "", "the entry Doe2001 of paper.bib needs the field journal"),
        (
            "  takes   = {[`LPBoost`](methods.md)}\n",
            "",
            "Doe2001 of paper.bib needs the field takes",
        ),
        ("  year    = {2001}", "  year    = 2001", "each field of Doe2001 .* in braces"),
        ("@article", "@paper", "Doe2001 in paper.bib is of the kind paper"),
        ("\n}\n", "}\n", "an entry of paper.bib does not end"),
        ("\n}\n", f"\n}}\n{ENTRY}", "paper.bib has two entries Doe2001"),
    ],
)
def test_an_incomplete_entry_of_the_bibliography_is_named(line, instead, message):
    with pytest.raises(ValueError, match=message):
        papers.read(ENTRY.replace(line, instead))

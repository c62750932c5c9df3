"""Counterexamples as LaTeX: the instance on record, both sides, and text that TeX can read."""

from __future__ import annotations

import json
import re
from fractions import Fraction

import pytest

import relaxboost as rb
from relaxboost.claims import Real, Source, Space, at_most
from relaxboost.claims.publishing.latex import as_latex, errata, in_a_paper
from relaxboost.commands.cli import main
from tests.certificates.latex_reader import balanced

IDS = ["SS09-T9", "SS09-remark-noise", "SS09-F2", "TEL-gradient", "GB11-T5-h", "DEK11-T1-regret"]


def test_every_claim_can_be_written():
    """No character of a statement is without a place, and what comes out is for pdflatex."""
    for claim in rb.claims.all():
        texts = [claim.id, claim.location, claim.given, claim.source.reference]
        for statement in (claim.stated, *claim.corrections):
            texts += [statement.words, statement.formula]
        for text in texts:
            for formula in (False, True):
                written = as_latex(text, formula)
                assert written.isascii(), claim.id
                assert "$$" not in written
                balanced(written)
    with pytest.raises(rb.InputError, match="no LaTeX is known for the character '字'"):
        as_latex("字")


def as_fraction(text):
    text = text.removeprefix(r"\approx ")
    found = re.fullmatch(r"(-?)(?:\\tfrac\{(\d+)\}\{(\d+)\}|([\d.]+)(?:\\cdot10\^\{(.*)\})?)", text)
    sign, above, below, digits, power = found.groups()
    size = (
        Fraction(int(above), int(below))
        if above
        else Fraction(digits) * Fraction(10) ** int(power or 0)
    )
    return -size if sign else size


@pytest.mark.parametrize("id", IDS)
def test_the_page_has_the_counterexample(id):
    claim = rb.claims.get(id)
    text = in_a_paper(claim)
    balanced(text)
    data = re.search(r"\\\[ (.*)\. \\\]", text)[1].split(",\\quad ")
    instance = claim.space.to_json(claim.space.from_json(claim.counterexamples[0]))
    assert len(data) == len(instance)
    for shown, value in zip(data, instance.values(), strict=True):
        matrix = re.search(r"\\begin\{pmatrix\} (.*) \\end\{pmatrix\}", shown)
        vector = re.search(r"=(?:\\tfrac\{1\}\{(\d+)\})?\((.*)\)", shown)
        if matrix:
            rows = [[as_fraction(x) for x in row.split(" & ")] for row in matrix[1].split(r"\\ ")]
            assert rows == [[Fraction(x) for x in row] for row in value]
        elif vector:
            below = int(vector[1] or 1)
            assert [as_fraction(x) / below for x in vector[2].split(",")] == [*map(Fraction, value)]
        elif r"\text{" not in shown:
            assert as_fraction(shown.split("=")[1]) == Fraction(value)
        else:
            assert value in shown
    found = claim.examine(claim.stated, claim.space.from_json(instance), "here")
    sides = re.search(r"There (.*) is \$(.*?)\$, and the other \$(.*?)\$", text)
    left, right = as_fraction(sides[2]), as_fraction(sides[3])
    assert (left != right) if found.slack.equality else (left > right)
    assert ("at most" in sides[1]) != found.slack.equality
    assert float(left) == pytest.approx(found.slack.left, rel=1e-5)
    assert float(right) == pytest.approx(found.slack.right, rel=1e-5)
    assert text.count("What is true") == len(claim.corrections)


def test_sides_that_hardly_differ_are_told_apart():
    claimed = Source("S", "a source").claim(
        "a", "p. 1", "x is below 1.", formula="x < 1", space=Space(x=Real(0, 1)),
        counterexamples=[{"x": 1}],
    )  # fmt: skip
    text = in_a_paper(claimed(lambda x: at_most(x.x + 1e-9, 1)))
    assert "other is $\\approx 1.000000001$, and the other $1$" in text


def test_on_the_command_line(capsys):
    main(["claims", "show", "TEL-gradient", "--latex"])
    assert capsys.readouterr().out == in_a_paper(rb.claims.get("TEL-gradient"))
    main(["claims", "show", "SS09-T4", "--latex"])
    assert r"\emph{On record:} holds; this rests on: proof." in capsys.readouterr().out
    main(["claims", "show", "GB11", "--latex"])
    assert capsys.readouterr().out == errata(rb.claims.get("GB11-T3").source)
    main(["claims", "show", "GB11", "--json"])
    found = json.loads(capsys.readouterr().out)
    assert {"id", "place", "printed", "read", "harm"} == set(found[0])
    main(["claims", "show", "GB11"])
    shown = capsys.readouterr().out
    assert "Appendix B, third display [GB11-T3-edge]\n  printed:  applying the edge" in shown


def test_errata_can_be_written():
    for source in rb.claims.sources():
        text = errata(source)
        assert text.isascii()
        balanced(text)
        assert text.count("\\\\\n") == len(source.misprints) + 1
        assert all(one.read and one.harm for one in source.misprints)

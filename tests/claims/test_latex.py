"""Counterexamples as LaTeX: the instance on record, both sides, and text that TeX can read."""

from __future__ import annotations

import json
import re
from fractions import Fraction

import pytest

import relaxboost as rb
from relaxboost import Capped, Game
from relaxboost.claims import Matrix, Real, Source, Space, Whole, assume, at_least, at_most
from relaxboost.claims.latex import as_latex, errata, in_a_paper
from relaxboost.commands.cli import main
from tests.certificates.latex_reader import balanced

VECTOR = r"(?:\\tfrac\{1\}\{(\d+)\})?\((.*)\)"
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
                assert not formula or written.count("$") == 2 * bool(written), claim.id
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
        vector = re.search(f"={VECTOR}", shown)
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


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("2 ρ_{k+1} >= ρ_k", r"$2 \rho _{k + 1} \ge \rho _{k}$"),
        ("ρ([A, a₁]) = 2c", r"$\rho([A, a {}_1]) = 2c$"),
        ("‖x_i‖² < x_i²", r"$\| x _{i} \| {}^2 < x _{i} {}^2$"),
        ("{log(λa1)} if it is é", r"$\{\log(\lambda a1)\}\text{ if it is \'e}$"),
    ],
)
def test_a_formula_is_one_formula_of_latex(text, written):
    assert as_latex(text, formula=True) == written


def concave(**record):
    source = Source("S", "a source")
    space = Space(sizes={"m": (3, 4), "n": (1, 2)}, A=Matrix(), k=Whole(1, "m"))

    @source.claim(
        "c", "p. 1", "It is concave.", formula="2 ρ_{k+1} ≥ ρ_k + ρ_{k+2}", space=space, **record
    )
    def concave(x):
        assume(x.k + 2 <= len(x.A))
        rho = [x.optimum(Game(x.A, Capped(x.k + i))) for i in range(3)]
        return at_least(2 * rho[1], rho[0] + rho[2])

    return concave


def test_without_a_record_no_verdict_is_printed():
    claim = concave()
    claim.corrected("It is linear.")(claim)
    assert claim.attack(budget=50).status == "false as stated"
    text = in_a_paper(claim)
    assert "Not checked here.} Its author expects that the claim holds." in text
    assert r"\emph{Correction, not checked here:}" in text
    for word in ("On record", "rests on", "What is true"):
        assert word not in text
    assert repr(claim) == "<Claim S-c: expected to hold>"


def test_the_points_of_exact_optima_prove_them():
    A = [[Fraction(1), Fraction(0)], [Fraction(1, 10), Fraction(-1, 2)], [Fraction(0), Fraction(0)]]
    claim = concave(counterexamples=[{"A": [[1, 0], ["1/10", "-1/2"], [0, 0]], "k": 1}])
    number = r"\$(\S+?)\$"
    found = re.findall(
        rf"The optimum of .*?\(k =(\d)\).*? with the \$3\\times2\$ matrix is {number}: "
        rf"\$d=(.*?)\$ proves .*? and \$w=(.*?)\$ proves",
        in_a_paper(claim),
    )
    assert [int(k) for k, *_ in found] == [1, 2, 3]
    for k, value, *points in found:
        vectors = []
        for below, entries in (re.fullmatch(VECTOR, point).groups() for point in points):
            vectors.append([as_fraction(x) / int(below or 1) for x in entries.split(",")])
        d, w = vectors
        assert sum(d) == 1
        assert all(0 <= x <= Fraction(1, int(k)) for x in d)
        assert sum(map(abs, w)) <= 1
        edges = [sum(x * row[j] for x, row in zip(d, A, strict=True)) for j in range(2)]
        margins = sorted(sum(x * a for x, a in zip(w, row, strict=True)) for row in A)
        assert max(map(abs, edges)) == as_fraction(value) == sum(margins[: int(k)]) / int(k)


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

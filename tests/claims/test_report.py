"""The report: well-formed, self-contained, escaped, complete."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from dataclasses import replace

import pytest

import relaxboost as rb
from relaxboost.claims import Real, Source, Space, at_most
from relaxboost.claims.publishing.report import write_report
from tests.claims import made
from tests.pages import Page


@pytest.fixture(scope="module")
def verdicts():
    return [claim.check() for claim in made.MADE.claims.values()]


@pytest.fixture(scope="module")
def text(verdicts, tmp_path_factory):
    path = tmp_path_factory.mktemp("report") / "report.html"
    write_report(verdicts, path, made.MADE.claims, made.MADE.not_checked)
    return path.read_text(encoding="utf-8")


def test_the_page_is_well_formed(text):
    page, root = Page(text), ET.fromstring(text)
    assert root.tag == "html"
    ids = [value for key, value in page.attributes if key == "id"]
    assert len(set(ids)) == len(ids)
    links = {value for key, value in page.attributes if key == "href"}
    assert {link.removeprefix("#") for link in links} <= set(ids)


def test_the_page_needs_nothing_else(text):
    outside = [value for key, value in Page(text).attributes if key in ("src", "href")]
    assert all(link.startswith(("#", "data:image/svg+xml;base64,")) for link in outside)
    assert "script" not in re.findall(r"<(\w+)", text)
    assert "@import" not in text
    assert "url(" not in text
    assert len(text) / len(made.MADE.claims) < 80_000


def test_the_page_has_everything(text, verdicts):
    words = "".join(ET.fromstring(text).itertext())
    for claim, verdict in zip(made.MADE.claims.values(), verdicts, strict=True):
        assert claim.id in words
        assert claim.location in words
        assert claim.stated.formula in words
        assert claim.stated.code in words
        assert verdict.repeat in words
        assert verdict.status in words
    assert made.MADE.reference.replace("*emphasis*", "emphasis") in words
    assert "f*(x) and g*(x) stay" in words
    assert "<em>thirty</em>" in text
    assert "<code>t &lt;= 30</code>" in text
    assert '<script>alert("no")</script>' in words
    assert "It is at most 1." in words
    assert "a matter of taste: f*(x), g*(y)" in words
    assert "No instance met the hypotheses." in words
    assert re.search(r"A = \([34]\d × \d+ matrix\)", words)
    assert "Every verdict" not in words
    assert "Not the expected status: MADE-never." in words


def test_claims_built_in_are_known(tmp_path):
    claim = rb.claims.get("SS09-T9")
    verdict = claim.check(trials=2)
    write_report([verdict], tmp_path / "r.html")
    text = (tmp_path / "r.html").read_text(encoding="utf-8")
    assert verdict.counterexample.optima[0].digest in text
    assert "0.337499999999" in text  # 27/80 of entries that are doubles, as decimals that hold
    assert "Every verdict is the status on record." in text
    write_report([replace(verdict, interrupted=True)], tmp_path / "r.html")
    text = (tmp_path / "r.html").read_text(encoding="utf-8")
    assert "Interrupted, with less tried than was asked: SS09-T9." in text
    assert "status on record" not in text


def test_an_attack_is_reported(tmp_path):
    verdict = made.trace.attack(20)
    write_report([verdict], tmp_path / "r.html", [made.few, made.trace])
    assert "shrunk" in (tmp_path / "r.html").read_text(encoding="utf-8")


def test_the_page_of_the_same_verdicts_is_the_same(tmp_path, verdicts, text):
    write_report(verdicts, tmp_path / "again.html", made.MADE.claims, made.MADE.not_checked)
    assert (tmp_path / "again.html").read_text(encoding="utf-8") == text


def test_nothing_is_written_where_something_is_wrong(tmp_path):
    with pytest.raises(rb.InputError, match=r"`claims` must contain MADE-never"):
        write_report([made.never.check()], tmp_path / "r.html")
    with pytest.raises(rb.InputError, match=r"\.html"):
        write_report([made.never.check()], tmp_path / "r.pdf", made.MADE.claims)
    with pytest.raises(rb.InputError, match="does not exist"):
        write_report([], tmp_path / "no" / "r.html")
    assert not list(tmp_path.iterdir())


def test_a_report_without_matplotlib_says_so(tmp_path, monkeypatch, verdicts):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    write_report(verdicts, tmp_path / "r.html", made.MADE.claims)
    text = (tmp_path / "r.html").read_text(encoding="utf-8")
    assert "pip install &#x27;matplotlib&gt;=" in text
    assert "<img" not in text


def test_what_is_printed_readings_and_proofs_are_shown(tmp_path):
    source, space = Source("S", "a source"), Space(x=Real(0, 1))
    vague = source.claim(
        "vague", ("Eq. 1", "p. 2"), "x is small.", printed="x ≪ <1>", ruling="ambiguous",
        formula="f", space=space, counterexamples=[{"x": 1}],
    )(lambda x: at_most(x.x, 0.5))  # fmt: skip
    vague.corrected("reading: at most 1.")(lambda x: at_most(x.x, 1))
    vague.step("A step.", correction=1)(lambda x: at_most(x.x**2, x.x))
    write_report([vague.check(5)], tmp_path / "report.html", [vague])
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "<blockquote>x ≪ &lt;1&gt;</blockquote>" in page
    assert "<p>P. 2. <code>f</code></p>" in page
    assert "<td>counterexample</td>" in page
    assert '<strong>As stated: </strong><span class="chip refuted">refuted</span>' in page
    assert '<strong>“reading: at most 1.”: </strong><span class="chip holds">holds' in page
    assert "Read as follows, it holds (proof):</strong> At most 1." in page
    assert "Steps of the proof: S-vague/1.1 holds" in page


def test_a_counterexample_that_refutes_nothing_is_left_out(tmp_path, monkeypatch):
    monkeypatch.setattr(made.few, "counterexamples", [{"t": "1/2", "k": 1, "loss": "hinge"}])
    write_report([made.few.check(5)], tmp_path / "r.html", [made.few])
    assert "<strong>Refuted. The statement would require:</strong>" not in (
        tmp_path / "r.html"
    ).read_text(encoding="utf-8")

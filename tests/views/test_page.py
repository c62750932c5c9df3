"""Pages of HTML on solutions, and how objects show themselves in notebooks."""

from __future__ import annotations

import re
import shutil
import subprocess
from dataclasses import replace
from fractions import Fraction

import cvxpy as cp
import numpy as np
import pandas as pd
import pytest

import relaxboost as rb
from relaxboost.certificates import Verdict
from relaxboost.commands.cli import main
from relaxboost.relaxations.bounds import level_of
from relaxboost.views import page as page_module
from relaxboost.views.report import text as report_text
from tests.command import refused
from tests.pages import Page

EVIL = "<script>document.title='taken'</script>"


def alone(page):
    """Return whether a page runs nothing and loads nothing from elsewhere."""
    links = [v for k, v in page.attributes if k in ("src", "href", "xlink:href", "data", "action")]
    handlers = [k for k, _ in page.attributes if k.startswith("on")]
    active = {"script", "iframe", "object", "embed", "link", "img"} & set(page.tags)
    return not handlers and not active and all(v.startswith("#") for v in links)


@pytest.fixture(scope="module")
def solution():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 3))
    y = np.where(X[:, 0] + rng.normal(size=40) / 2 > 0, 1, -1)
    names = (EVIL, "a & b", "$x_1$ \" ' --> ]]>")
    return rb.solve(rb.Game(rb.matrices.stumps(X, y, names), rb.Capped(k=8)), 1e-3)


def test_a_page_says_what_is_known(solution, tmp_path, monkeypatch):
    monkeypatch.setattr(page_module, "MAX_LISTED", 2)
    path = rb.report(solution, tmp_path / "out.html", title=EVIL)
    text = path.read_text(encoding="utf-8")
    page = Page(text)
    assert alone(page)
    assert "@import" not in text
    assert "url(http" not in text
    words = " ".join(page.words)
    lower = str(solution).removeprefix("gap reached: ").split(" <= ")[0]
    for said in (
        f"{lower} ≤ ρ ≤ ",
        "largest mean of the 8 lowest margins, 20.0% of 40 examples",
        "The strongest certificate of this bracket is",
        'rb.check_certificate("proof.json")',
        solution.game.digest,
        f"{len(solution.support)} with a weight; the largest 2.",
        EVIL,
        "a & b",
    ):
        assert said in words
    hardest = np.argsort(solution.margins, kind="stable")[0]
    first = page.words.index("row")
    assert page.words[first:].index(str(hardest)) < page.words[first:].index(
        f"{solution.margins[hardest]:.4g}"
    )
    assert page.tags.count("svg") == 1
    again = rb.report(solution, tmp_path / "again.html", title=EVIL)
    assert again.read_bytes() == path.read_bytes()


def test_rows_are_those_of_the_caller(solution, tmp_path):
    names = pd.DataFrame({"patient": [f"p{i} <i>" for i in range(40)]})
    page = Page(rb.report(solution, tmp_path / "a.html", rows=names).read_text(encoding="utf-8"))
    assert f"p{np.argmin(solution.margins)} <i>" in page.words
    game = rb.Game(np.array([[1.0, -1.0], [-1.0, 1.0]]))
    none = rb.solve(game)
    said = rb.report(none, tmp_path / "b.html").read_text(encoding="utf-8")
    assert "No weights were found that are better than w = 0" in said
    assert "rounded outwards, and do not depend on what a solver" in said
    free = rb.solve(rb.Game(np.eye(2), rb.Custom(f=lambda d: 0.0 * cp.sum(d))))
    said = rb.report(free, tmp_path / "d.html").read_text(encoding="utf-8")
    assert level_of(free.game.relaxation) == "numerical"
    assert "in floating point" in said
    assert "outwards" not in said
    for rows in (names[:-1], np.zeros(40)):
        with pytest.raises(
            rb.InputError, match=r"rows must have shape \(40, columns\), one row per"
        ):
            rb.report(solution, tmp_path / "c.html", rows=rows)
    with pytest.raises(
        rb.InputError, match=r"report needs a Solution, as returned by rb\.solve, got Game"
    ):
        rb.report(game, tmp_path / "c.html")
    with pytest.raises(rb.InputError, match=r"ends in \.html"):
        rb.report(solution, tmp_path / "c.txt")


def test_the_command_writes_a_page(tmp_path, capsys):
    table = tmp_path / "d.csv"
    X = np.random.default_rng(1).normal(size=(30, 2)).round(2)
    frame = pd.DataFrame(X, columns=["<b>u", "v"]).assign(y=np.where(X[:, 0] > 0.2, "in", "out"))
    frame.to_csv(table, index=False)
    out, proof = tmp_path / "r.html", tmp_path / "my proof.json"
    given = ["solve", table, "--label", "y", "--fraction", "0.2", "--report", out]
    main([*map(str, given), "--certificate", str(proof)])
    assert f"report:     {out}" in capsys.readouterr().out
    page = Page(out.read_text(encoding="utf-8"))
    assert alone(page)
    assert f"relaxboost check '{proof}'" in page.words
    refused(capsys, "ends in .html", *given[:-1], tmp_path / "r.pdf")


@pytest.mark.skipif(shutil.which("chromium") is None, reason="needs Chromium")
def test_a_browser_shows_the_page(solution, tmp_path):
    path, picture = rb.report(solution, tmp_path / "out.html", title=EVIL), tmp_path / "out.png"
    common = [
        "chromium",
        "--headless",
        "--no-sandbox",
        "--disable-gpu",
        f"--user-data-dir={tmp_path}",
    ]
    done = subprocess.run(
        [*common, "--window-size=900,3000", f"--screenshot={picture}", "--dump-dom", path.as_uri()],
        capture_output=True,
        timeout=120,
        check=True,
    )
    page = Page(done.stdout.decode())
    assert EVIL in page.words  # as text, in the title too: nothing ran
    assert "taken" not in page.words
    assert picture.read_bytes().startswith(b"\x89PNG")


def test_tables_of_a_report_scroll_and_know_how_small_they_are_on_paper(solution, tmp_path):
    page = rb.report(solution, tmp_path / "out.html").read_text()
    tables = re.findall(r'<div class="wide" style="--columns:(\d+)"><table>\n<tr>(.*?)</tr>', page)
    assert [int(columns) for columns, _ in tables] == [head.count("<th>") for _, head in tables]
    assert len(tables) == page.count("<table>") == 3


def test_numbers_of_a_card_stand_by_their_names(solution):
    assert "text-align:right" not in solution.game._repr_html_()


def test_objects_show_themselves_in_notebooks(solution):
    H = np.array([[1.0, 1.0], [-1.0, 1.0], [1.0, -1.0]])
    learner = rb.online.MirrorDescent("hinge", rb.Simplex(1), "entropy", "growing").start(2)
    unseen = repr(learner.method)
    learner.update(H, np.array([1.0, -1.0, 1.0]))
    data = rb.matrices.datasets.Dataset(
        EVIL, H, np.array([1.0, -1.0, 1.0]), (EVIL, "b"), ("n", "y")
    )
    shown = {
        "<= rho <=": solution,
        "Game, Capped(k=8)": solution.game,
        "proved: 0.5": Verdict(True, "exact", Fraction(1, 2), Fraction(1, 2), ""),
        "Certificate, exact: 1/3 <= rho <= 1/3": rb.certify(rb.solve(rb.Game(np.eye(3)))),
        f"Learner, {unseen}": learner,
        "2 of 2 average weights, from 0.": learner,
        "risk of f = 0 1": rb.functional.Hinge().bind(["a", EVIL]),
        "risk of a constant f from 1 to 3: 0.3333 at the least": rb.functional.Squared().bind(
            [1, 2, 3]
        ),
        f"Data set {EVIL}": data,
        "+1 is 'y' 2": data,
        "not proved": Verdict(False, None, None, None, EVIL),
        "(H, weights): 2 hypotheses": rb.certify_ensemble(
            (H, [1, 1]), None, [EVIL, "a", "b"][:1] * 2 + ["b"]
        ),
    }
    for said, one in shown.items():
        page = Page(one._repr_html_())
        assert said in " ".join(page.words)
        assert alone(page)


def test_cards_have_a_short_digest(solution):
    for one in (solution.game, rb.certify(solution)):
        digest = one.digest
        assert digest[:12] in Page(one._repr_html_()).words
        assert digest[:13] not in one._repr_html_()


def test_a_certificate_from_elsewhere_has_a_card():
    document = {"lower": "0", "upper": "1/2", "level": "exact", "game": EVIL}
    assert "0 <= rho <= 0.5" in Page(rb.Certificate(document)._repr_html_()).words[0]


def test_a_coarse_gap_is_reached_and_not_optimal(solution):
    coarse = replace(solution, upper=solution.lower + 1e-4)
    fine = replace(solution, upper=solution.lower + 1e-7)
    limited = replace(coarse, status="time_limit")
    assert coarse.status == fine.status == "optimal"
    for one, said in ((coarse, "gap reached"), (fine, "optimal"), (limited, "time_limit")):
        assert Page(one._repr_html_()).words[0].startswith(f"{said}: ")
        assert f": {said})" in report_text(one)
        assert f", {said}, " in repr(one)
        assert "needs at most" not in report_text(one)

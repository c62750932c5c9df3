"""How objects show themselves in notebooks."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

import relaxboost as rb
from relaxboost.certificates import Verdict
from relaxboost.views.report import text as report_text
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
        "average weights 2, from 0.": learner,
        "risk of f = 0 1": rb.functional.Hinge().bind(["a", EVIL]),
        "risk of f = 0 2.333": rb.functional.Squared().bind([1, 2, 3]),
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

"""SS09, Sections 2 to 4: the numbers that claims are known by."""

from __future__ import annotations

import math

import numpy as np
import pytest

import relaxboost as rb
from relaxboost.claims.measure import REFUTED
from relaxboost.claims.ss09 import examples, relaxing
from tests.claims.figures import source

SOURCE = source("SS09")
NUMBERS = {
    ("SS09-T3-exclusion", 0): (0, 1),
    ("SS09-remark-noise", 0): (-1, -2.5),
    ("SS09-T7", 0): (1, 2),
    ("SS09-E1", 0): (0, 1 / 4),
    ("SS09-E1", 1): (1 - 5 / math.sqrt(39), 1 / 4),
    ("SS09-E2", 0): (4 / 5, 7 / 8),
    ("SS09-E2", 1): (-math.inf, 4 / 5),
    ("SS09-L8", 0): (-1, 0),
}
"""Left and right side of recorded counterexamples."""


@pytest.mark.parametrize(("id", "number"), NUMBERS)
def test_recorded_counterexamples(id, number):
    claim = rb.claims.get(id)
    slacks = claim.stated.measure(claim.instance(claim.counterexamples[number]))
    refuted = next(s for s in slacks if s.outcome(claim.resolution) == REFUTED)
    assert (refuted.left, refuted.right) == pytest.approx(NUMBERS[id, number], abs=1e-7)


def test_the_table_has_every_number_of_the_paper_and_every_claim():
    """In the order of the text."""
    places = [line.place for line in SOURCE.lines]
    numbered = ["Definition 1", "Definition 2", "Eq. 1", "Theorem 3", "Theorem 4", "Eq. 2", "Eq. 3"]
    numbered += ["Corollary 5", "Eq. 4", "Definition 6", "Theorem 7", "Example 1", "Example 2"]
    numbered += ["Lemma 8", "Eq. 5", "Eq. 6", "Theorem 9", "Definition 10", "Eq. 7", "Eq. 8"]
    numbered += ["Lemma 11", "Lemma 12", "Eq. 9", "Eq. 10", "Eqs. 11, 12", "Eq. 13", "Fig. 2"]
    numbered += ["Lemma 13", "Corollary 14", "Eq. 14", "Lemma 15", "Lemma 16", "Sec. 6"]
    numbered += ["Lemma 17", "Lemma 18", "Lemma 19", "Lemma 20", "Eq. 15"]
    numbered += [f"Appendix B, row {row}" for row in range(1, 8)]
    firsts = [places.index(number) for number in numbered]
    assert firsts == sorted(firsts)
    assert len(places) == 192
    named = {id for line in SOURCE.lines for id in line.ids}
    assert named == {
        one.id for one in [*SOURCE.claims.values(), *SOURCE.misprints, *SOURCE.not_checked]
    }


def test_the_lines_that_are_printed():
    line = str(rb.claims.get("SS09-E1").check(trials=1))
    assert "refuted: 0 != 0.25 (paired)" in line
    claim = rb.claims.get("SS09-E1")
    (slack,) = claim.stated.measure(claim.instance(claim.counterexamples[1]))
    assert str(slack).startswith("0.199359 != 0.25")
    assert "refuted: 0.8 != 0.875" in str(rb.claims.get("SS09-E2").check(trials=1))


def test_the_margin_side_of_a_linear_program():
    """The third margin is 0, so γ is at most the bound 2/5 on the largest loss."""
    claim = rb.claims.get("SS09-E2")
    written = {"A": [[1, 0], [0, 1], [0, 0]], "norm": "sum", "c": 0, "nu": "2/5"}
    x = claim.instance(written)
    assert examples.hinge_side(x, True) == pytest.approx(0.4)
    assert examples.edge_side(x, True) == pytest.approx(0.4)


@pytest.mark.parametrize("name", examples.NORMS)
@pytest.mark.parametrize("m", [1, 2, 3])
def test_norms_and_duals(name, m, rng):
    """<d, θ> <= ‖d‖ ‖θ‖_*, with equality for some d; and only some norms are monotone."""
    norm = examples.Norm(name, m, -0.6)
    for _ in range(20):
        theta, d = rng.normal(size=m), rng.normal(size=m)
        assert d @ theta <= norm.size(d) * norm.dual(theta) + 1e-12
        best = max(e @ theta / norm.size(e) for e in rng.normal(size=(500, m)))
        assert best <= norm.dual(theta) * (1 + 1e-12)
        assert best >= 0.8 * norm.dual(theta)
        if name in examples.MONOTONE:
            assert norm.size(d * (np.arange(m) > 0)) <= norm.size(d) + 1e-15


@pytest.mark.parametrize("name", relaxing.PENALTIES)
def test_conjugates_written_by_hand(name, rng):
    """<d, θ> <= f(d) + f*(θ) everywhere, and (for closed f too) a grid comes near to f*."""
    f = relaxing.PENALTIES[name]
    grid = [np.array(d) for d in np.ndindex(61, 61)]
    points = [(d - 30.0) / 30.0 * 1.5 for d in grid]
    for _ in range(5):
        theta, s = rng.normal(size=2), float(rng.random())
        star = f.f_star(theta, s)
        best = max(float(d @ theta) - f.f(d, s) for d in points)
        assert best <= star + 1e-9
        if math.isfinite(star) and star < 1.5:  # else the best d may be beyond the grid
            assert best >= star - 0.15

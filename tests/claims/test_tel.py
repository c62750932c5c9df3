"""The lecture on AdaBoost as descent: claims show the right figures."""

from __future__ import annotations

import numpy as np
import pytest

from relaxboost.claims import registry
from relaxboost.claims.tel.closing import LOSSES
from relaxboost.claims.tel.theorem import turning
from tests.claims.figures import complete, refuted, source

SOURCE = source("TEL")

FIGURES = {
    "TEL-gradient": [(2.0, 0.3679)],
    "TEL-algorithm": [(2.718, 0.6065)],
    "TEL-bad-set": [(2 / 3, 1 / 3)],
    "TEL-accuracy": [(0.75, 0.5), (0.725, 0.5)],
    "TEL-rate-product": [(0.942892, 0.942809)],
    "TEL-step-classical": [(1 / 3, 0.34657)],
}
"""Left and right side of the decisive inequality of each counterexample on record."""


@pytest.mark.parametrize("id", FIGURES)
def test_counterexamples_refute_with_the_figures_of_the_record(id):
    claim = SOURCE.claims[id]
    mended = [c for c in claim.corrections if id != "TEL-bad-set" and "{−1, 1}" not in c.words]
    refuted(claim, FIGURES[id], mended, rel=2e-3, abs=1e-6)


def test_no_loss_refutes_the_bad_set_from_a_half_on():
    """The points (1, +1) and (1, −1) serve every convex loss, the linear one too."""
    claim = registry.get("TEL-bad-set")
    for loss in LOSSES:
        for epsilon in ("1/2", "3/4"):
            slacks = claim.stated.measure(claim.instance({"epsilon": epsilon, "loss": loss}))
            assert not any(slack.outcome == "refuted" for slack in slacks)


def test_each_line_of_the_lecture_that_says_something_has_an_entry():
    """Of its 40 lines those left out are headings, ends of proofs, promises and references."""
    silent = {1, 2, 4, 12, 15, 20, 24, 26, 30, 33, 35, 36, 39, 40}
    numbers = [int(line.place.removeprefix("Line ")) for line in SOURCE.lines]
    assert numbers == sorted(numbers)
    assert set(numbers) == set(range(1, 41)) - silent
    assert len(numbers) == 50
    named = {id for line in SOURCE.lines for id in line.ids}
    assert named == {*SOURCE.claims, *(one.id for one in SOURCE.not_checked + SOURCE.misprints)}


def test_turning_matrices_have_the_edge_that_is_said():
    for k in (1, 2, 5):
        A, m = turning(k), 2 * k + 1
        uniform = np.full(m, 1.0 / m)
        assert A.T @ uniform == pytest.approx(uniform)
        assert A @ uniform == pytest.approx(uniform)


def test_every_claim_that_fails_has_its_figures():
    complete(SOURCE, FIGURES)


def test_what_is_not_checked_has_a_reason():
    assert [u.id for u in SOURCE.not_checked] == ["TEL-growing-class"]
    assert "classification calibration" in SOURCE.not_checked[0].reason

"""Grubb & Bagnell: claims show the right figures, and are what they say."""

from __future__ import annotations

import math
import re

import numpy as np
import pytest

from relaxboost.claims import registry
from relaxboost.claims.gb11.problems import Bowl, Descent, Kinks, edge
from relaxboost.claims.gb11.repeated import bound4
from relaxboost.claims.gb11.smooth import example
from relaxboost.functional import Naive, Repeated, Residual
from tests.claims.figures import complete, refuted, source

SOURCE = source("GB11")

FIGURES = {
    "GB11-subgradients-emp": [(0.3, -0.2)],
    "GB11-Eq3": [(0.5, -(0.5**0.5))],
    "GB11-D1": [(81.0, 0.0)],
    "GB11-T1": [(1.0, 0.0)],
    "GB11-T2-all-gradients": [(1e-9, 0.0)],
    "GB11-T3-edge": [(0.25, 0.146447)],
    "GB11-example-select": [(1.0, 0.0)],
    "GB11-Alg2": [(0.2065, 0.1937)],
    "GB11-T5-h": [(1.1460, 1.0)],
    "GB11-T5": [(0.875, 0.5303)],
    "GB11-T6-h": [(1.8, 1.3454)],
    "GB11-T7": [(0.4028, 0.3466)],
}
"""Left and right side of the decisive inequality of each counterexample on record."""


@pytest.mark.parametrize("id", FIGURES)
def test_counterexamples_refute_with_the_figures_of_the_record(id):
    refuted(SOURCE.claims[id], FIGURES[id], rel=3e-4, abs=1e-8)


def test_it_is_listed_after_the_margins():
    assert [source.key for source in registry.sources()][:5] == [
        "SS09",
        "TEL",
        "RDS04",
        "RW05",
        "GB11",
    ]
    assert {one.id for one in SOURCE.not_checked} == {"GB11-rates", "GB11-experiments"}


def test_every_line_of_the_paper_has_claims_or_a_reason():
    """112 lines: Eqs. 1 to 4, Definition 1, Algorithms 1 to 3, Theorems 1 to 7, 40 displays."""
    assert len(SOURCE.lines) == 112
    places = [line.place for line in SOURCE.lines]
    numbered = [f"Eq. {n}" for n in range(1, 5)] + [f"Algorithm {n}" for n in (1, 2, 3)]
    numbered += ["Definition 1", *(f"Theorem {n}" for n in range(1, 8))]
    assert all(places.count(place) == 1 for place in numbered)
    displays = {"Sec. 2": range(2, 9), "Sec. 4.1": (1, 2), "Appendix B": range(1, 5)}
    for part, count in {1: 6, 2: 8, 4: 4, 5: 2, 6: 3, 7: 2}.items():
        name = f"Appendix {'A' if part < 3 else 'C'}, Theorem {part}"
        displays[name] = range(1, count + 1)
    found: dict[str, list[int]] = {}
    for place in places:
        if match := re.fullmatch(r"(.*), displays? (\d)(?: (?:to|and) (\d))?", place):
            first, last = int(match[2]), int(match[3] or match[2])
            found.setdefault(match[1], []).extend(range(first, last + 1))
    assert found.pop("Sec. 3") == [4, 5]
    assert found == {name: list(numbers) for name, numbers in displays.items()}
    named = {id for line in SOURCE.lines for id in line.ids}
    own = {id for id in SOURCE.claims if id.startswith("GB11-leaves")}  # of no line of the paper
    assert all(SOURCE.claims[id].page == "not in the paper" for id in own)
    others = {one.id for one in (*SOURCE.not_checked, *SOURCE.misprints)}
    assert named == {*SOURCE.claims, *others} - own


def test_theorems_5_and_7_fail_for_both_averages():
    for id in ("GB11-T5", "GB11-T7"):
        claim = SOURCE.claims[id]
        slacks = claim.stated.measure(claim.instance(claim.counterexamples[0]))
        assert [s.high < 0.0 for s in slacks] == [True, True]


def test_every_failing_claim_has_figures_and_a_correction():
    complete(SOURCE, FIGURES)


def test_edges_of_sets_known_in_closed_form():
    assert edge(np.array([[1.0]])) == 1.0
    assert edge(np.array([[1.0]]), scaled=False) == 0.0
    assert edge(np.array([[1.0, -1.0]]), scaled=False) == 1.0
    for size in (1, 2, 3, 4):
        assert edge(3.0 * np.eye(size)) == pytest.approx(1.0 / math.sqrt(size))
        assert edge(np.eye(size)[:, : size - 1]) == 0.0
    for sides in (2, 3, 4, 5):
        angles = np.pi * np.arange(sides) / sides
        polygon = np.vstack([np.cos(angles), np.sin(angles)])
        assert edge(polygon) == pytest.approx(math.cos(math.pi / (2 * sides)))
        both = np.hstack([polygon, -polygon])
        assert edge(both, scaled=False) == pytest.approx(math.cos(math.pi / (2 * sides)))
    three = np.array([[1.0, -0.5, -0.5], [0.0, 0.75**0.5, -(0.75**0.5)]])
    assert edge(three, scaled=False) == pytest.approx(0.5)
    assert edge(three[:, :2], scaled=False) == 0.0


@pytest.mark.parametrize("scaled", [True, False])
def test_edges_are_least_cosines(scaled):
    rng = np.random.default_rng(3)
    for _ in range(40):
        d = int(rng.integers(1, 4))
        H = rng.normal(size=(d, int(rng.integers(d + 1, 8))))
        gamma = edge(H, scaled)
        V = rng.normal(size=(d, 20_000))
        cosines = (H / np.linalg.norm(H, axis=0)).T @ (V / np.linalg.norm(V, axis=0))
        least = (np.abs(cosines) if scaled else cosines).max(axis=0).min()
        assert gamma <= max(least, 0.0) + 1e-9
        assert max(least, 0.0) - gamma < 0.05


@pytest.mark.parametrize("made", [Kinks, Bowl])
def test_the_problems_are_what_they_are_said_to_be(made):
    """Subgradients, λ, Λ, and the minimiser."""
    rng = np.random.default_rng(4)
    for _ in range(60):
        m = int(rng.integers(1, 4))
        A, y, lam = rng.normal(size=(2, m)), rng.normal(size=m), float(rng.uniform(0.1, 2))
        risk = made(A, y, lam)
        f, g = rng.normal(size=m), rng.normal(size=m)
        (at, v), (there, _) = risk.evaluate(f), risk.evaluate(g)
        rise = there - at - risk.measure.inner(v, g - f)
        square = risk.measure.inner(g - f, g - f)
        assert rise >= lam / 2.0 * square - 1e-12
        if isinstance(risk, Bowl):
            assert rise <= risk.smoothness / 2.0 * square + 1e-12
        assert risk.evaluate(y)[0] == pytest.approx(0.0, abs=1e-15)


def test_the_example_stays_at_five_and_the_others_leave_it():
    assert example(1.0, 5.0, Naive(), 3000, 0.0).states[-1].value == pytest.approx(5.0, abs=0.05)
    assert example(2.0, 5.0, Naive(), 4000, 0.0).states[-1].value < 0.1
    assert example(1.0, 5.0, Repeated(), 4000, 0.0).gaps[-1] == pytest.approx(0.0158, abs=1e-4)
    assert example(1.0, 5.0, Residual(), 4000, 0.0).gaps[-1] == pytest.approx(0.1739, abs=1e-4)


def test_the_sharp_form_of_theorem_6_is_attained():
    claim = registry.get("GB11-T6-sharp")
    x = claim.instance({"H": [[1]], "A": [[0]], "y": [0], "f0": [1], "lam": 1, "T": 3})
    slack = [s for s in claim.stated.measure(x) if s.round == 1][-1]
    assert slack.left / slack.right == pytest.approx(1.0, abs=1e-6)


def test_theorem_4_is_not_loose_by_more_than_two():
    """.5906 of the bound after two rounds; T <= 5 by gap <= G²/(2λ) alone."""
    verdict = registry.get("GB11-T4").check()
    best = verdict.stated.least.slack.left / verdict.stated.least.slack.right
    assert 0.55 < best < 1.0
    run = Descent(
        Kinks(np.zeros((1, 1)), np.zeros(1), 1.0),
        np.array([[1.0]]),
        np.array([1.0]),
        Repeated(),
        lambda t, *_: 2.0 / t,
        2,
    )
    bound = bound4(1.0, 2, run.gamma(2), run.gradients(1))
    assert run.mean(2, True) / bound == pytest.approx(0.5906, abs=1e-4)

"""Mirror descent with averaging: claims show the right figures, and the table has every line."""

from __future__ import annotations

import math
import re

import numpy as np
import pytest

from relaxboost.claims.jntv05.formulas import MIRRORS, VALUES, FiniteLaw, growing, modulus
from relaxboost.claims.jntv05.ratios import _largest_normal
from relaxboost.claims.jntv05.theorems import bayes
from relaxboost.game.domains import Simplex
from relaxboost.online import Growing, MirrorDescent, MirrorSteps
from tests.claims.figures import complete, refuted, source

SOURCE = source("JNTV05")

FIGURES = {
    "JNTV05-R2": [(2.23607, 2.0)],
    "JNTV05-P1-1": [(1.0, 0.0)],
    "JNTV05-P1-2ii": [(-1.0, 0.0)],
    "JNTV05-P2": [(0.0, -1.0)],
    "JNTV05-P2-start": [(0.5, 0.25)],
    "JNTV05-P3": [(1.0, 0.0)],
    "JNTV05-R4": [(1.0, 0.0)],
    "JNTV05-T2": [(0.25, math.sqrt(0.032))],
    "JNTV05-R5-proof": [(4 / 3, 1.0)],
    "JNTV05-Eq35": [(0.25, 0.124984)],
    "JNTV05-conjecture": [(0.693147, 0.5), (1.098612, 0.924196), (1.098612, 0.988214)],
    "JNTV05-ratio-others": [(13.5, 4 * math.log(28))],
}
"""Left and right side of the decisive inequality of each counterexample on record."""


@pytest.mark.parametrize("id", FIGURES)
def test_counterexamples_refute_with_the_figures_of_the_record(id):
    refuted(SOURCE.claims[id], FIGURES[id], rel=1e-5, abs=1e-9)


def test_every_failing_claim_has_figures_and_a_correction():
    complete(SOURCE, FIGURES)


def test_the_table_has_every_number_of_the_paper_and_every_claim():
    """Eqs. 1 to 43, Theorems 1 and 2, Propositions 1 to 3, Definitions 1 and 2, Remarks 1 to 5."""
    found: dict[str, set[int]] = {}
    for line in SOURCE.lines:
        for kind, numbers in re.findall(
            r"(Eq|Theorem|Proposition|Definition|Remark)\w*\.? ([\d, ]+)", line.place
        ):
            if not line.place.startswith(("After", "Proof")):
                found.setdefault(kind, set()).update(map(int, re.findall(r"\d+", numbers)))
    assert found["Eq"] == set(range(1, 44))
    assert (found["Theorem"], found["Proposition"]) == ({1, 2}, {1, 2, 3})
    assert (found["Definition"], found["Remark"]) == ({1, 2}, {1, 2, 3, 4, 5})
    assert len(SOURCE.lines) == 83
    named = {id for line in SOURCE.lines for id in line.ids}
    others = {one.id for one in (*SOURCE.not_checked, *SOURCE.misprints)}
    assert named == set(SOURCE.claims) | others


def test_growing_temperatures_set_the_two_schemes_apart():
    """Eqs. 11 and 22 on one stream of three gradients; the same averages of nothing in common."""
    stream = np.array([[1, 0, 1, -1], [-1, 0, 1, -1], [0, -1, 0, 1.0]])
    found = []
    for kind in (MirrorDescent, MirrorSteps):
        learner = kind("inner", over=Simplex(1), proxy="entropy", schedule=Growing(1)).start(4)
        learner.update(stream)
        found.append(learner.w)
    assert found[0] == pytest.approx([0.2143, 0.3534, 0.0789, 0.3534], abs=1e-4)
    assert found[1] == pytest.approx([0.1286, 0.3069, 0.0313, 0.5333], abs=1e-4)


def test_ratios_that_beat_the_entropy():
    """.924 < 1.099 for M = 3, 2.225 < 2.303 for M = 10, 1/2 < .693 for M = 2."""
    for size, expected in ((2, 0.5), (3, 0.9242), (10, 2.2247)):
        value = VALUES["tilted"](np.eye(size)[0], 1.0) / modulus("tilted", size, 1.0)
        assert value == pytest.approx(expected, abs=1e-4)
        assert value < math.log(size)
    for size in range(3, 2000):
        assert (size - 1) ** 2 * math.log(size - 1) / (size * (size - 2)) < math.log(size)


@pytest.mark.parametrize("proxy", VALUES)
def test_moduli_are_below_the_least_curvature_on_the_simplex(proxy):
    """Second differences along directions of sum 0, at many points; near the claimed ones."""
    rng = np.random.default_rng(0)
    for size in (2, 3, 4, 5):
        if proxy == "p-norm" and size == 2:
            continue
        least = math.inf
        for _ in range(400):
            h = rng.choice([-1.0, 1.0], size) * rng.choice([0.2, 1.0, 1.0], size)
            if h.max() < 0.0 or h.min() > 0.0:
                continue
            h = np.where(h > 0.0, h / h[h > 0.0].sum(), h / -h[h < 0.0].sum())
            theta = np.abs(h) if rng.random() < 0.3 else rng.dirichlet(np.full(size, 2.0))
            theta = 0.98 * theta / theta.sum() + 0.02 / size
            step = 1e-4
            values = [VALUES[proxy](theta + s * h, 1.0) for s in (-step, 0.0, step)]
            least = min(least, (values[0] - 2.0 * values[1] + values[2]) / step**2 / 4.0)
        assert modulus(proxy, size, 1.0) <= least * (1.0 + 1e-4)
        if proxy != "p-norm":
            assert least < 1.3 * modulus(proxy, size, 1.0)


def test_the_largest_of_normal_numbers():
    known = {1: 0.0, 2: 1.0 / math.sqrt(math.pi), 3: 1.5 / math.sqrt(math.pi), 10: 1.5387527}
    for count, mean in known.items():
        assert _largest_normal(count) == pytest.approx(mean, abs=1e-5)


def test_the_bayes_excess_is_that_of_enumeration():
    """Two experts, two rounds: all sixteen outcomes, ties shared."""
    shift, excess = 0.2, 0.0
    for outcome in np.ndindex(2, 2, 2, 2):
        right, other = sum(outcome[:2]), sum(outcome[2:])
        share = np.prod([0.7 if one else 0.3 for one in outcome[:2]]) / 4.0
        excess += share * 2.0 * shift * {1: 0.0, 0: 0.5, -1: 1.0}[int(np.sign(right - other))]
    assert bayes(math.log(2.0), 2, shift) == pytest.approx(excess)


def test_samples_are_all_samples():
    """Against the runs one by one, by the paper's recursion."""
    rng = np.random.default_rng(1)
    law = FiniteLaw(rng.dirichlet([1, 1, 1]), 1.5, rng.uniform(-1, 1, (3, 4)), "logit")
    beta, gamma = growing(0.7, 3), np.array([1.0, 0.5, 2.0])
    P, means = law.samples(gamma, beta, lambda Z, b: MIRRORS["entropy"](Z, b, 1.5))
    assert P.sum() == pytest.approx(1.0)
    for number, (first, second) in enumerate(np.ndindex(3, 3)):
        z, points = np.zeros(4), [np.full(4, 1.5 / 4)]
        for i, atom in enumerate((first, second)):
            v = law.S[atom] @ points[-1]
            z = z - gamma[i] * law.S[atom] / (1.0 + math.exp(v)) / math.log(2.0)
            heights = np.exp(-z / beta[i + 1])
            points.append(1.5 * heights / heights.sum())
        assert P[number] == pytest.approx(law.p[first] * law.p[second])
        assert means[number] == pytest.approx(gamma @ points / 3.5)

"""The lecture on online to batch conversion: claims show the right figures."""

from __future__ import annotations

import math
import zlib
from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from relaxboost.claims.dek11.derandomised import errors, vote_errors
from relaxboost.claims.dek11.runs import LAWS, Samples, never_more
from relaxboost.claims.dek11.validation import memory
from relaxboost.claims.instance import Instance
from relaxboost.online import ExponentiatedGradient, Horizon
from tests.claims.figures import complete, refuted, source

SOURCE = source("DEK11")

FIGURES = {
    "DEK11-projection": [(0.5, 0.0)],
    "DEK11-T1": [(1.99, math.sqrt(2.0))],
    "DEK11-T1-regret": [(2.0 - math.sqrt(0.5), 1.0)],
    "DEK11-T2-order": [(0.6865, 0.16205)],
    "DEK11-mean-risk": [(0.5, 0.0), (0.98, 0.0)],
    "DEK11-majority-zero": [(0.8, 8 / 15)],
    "DEK11-radius": [(1.0, math.exp(-0.5))],
    "DEK11-as-good": [(1.0, 0.01)],
    "DEK11-half": [(0.874021, 0.5), (0.996304, 0.2)],
    "DEK11-T3": [(1.0, 0.0), (6.4307, 3.8413)],
}
"""Left and right side of the decisive inequality of each counterexample on record."""


@pytest.mark.parametrize("id", FIGURES)
def test_counterexamples_refute_with_the_figures_of_the_record(id):
    claim = SOURCE.claims[id]
    refuted(claim, FIGURES[id], claim.corrections, rel=2e-3, abs=1e-6)


def test_every_claim_that_fails_has_its_figures_and_every_claim_a_line():
    complete(SOURCE, FIGURES)
    named = {id for line in SOURCE.lines for id in line.ids}
    assert named == {*SOURCE.claims, *(one.id for one in SOURCE.not_checked + SOURCE.misprints)}


DISPLAYS = {
    *(13, 19, 38, 43, 47, 51, 55, 59, 63, 67, 75, 79, 83, 87, 91, 95, 99, 108, 114, 118, 122, 126),
    *(130, 134, 138, 150, 154, 158, 160, 164, 168, 172, 176, 180, 184),
}
"""The lines of the text that are displays."""


def test_every_display_has_an_entry_in_the_order_of_the_text():
    numbers = [int(line.place.rpartition("line ")[2]) for line in SOURCE.lines]
    assert numbers == sorted(numbers)
    assert set(numbers) >= DISPLAYS
    assert (len(DISPLAYS), len(numbers)) == (35, 63)


def drawn(learner="GD", **ranges):
    rng = np.random.default_rng(zlib.crc32(learner.encode()))
    for number in range(12):
        values = LAWS.but(**ranges).draw(rng, number)
        if np.abs(values["A"]).max() > 0.1:
            yield Instance({**values, "learner": learner}, {})


@pytest.mark.parametrize("learner", ["GD", "EG"])
def test_all_samples_are_those_of_the_law_one_by_one(learner):
    """The runs of all samples at once, against loops over examples as the lecture has them."""
    for x in drawn(learner):
        law, k = Samples(x), len(x.p)
        run = law.run()
        assert law.chances.sum() == pytest.approx(1.0)
        for row, atoms in list(enumerate(product(range(k), repeat=x.m)))[:: 1 + k**x.m // 20]:
            assert tuple(law.samples[row]) == atoms
            assert law.chances[row] == pytest.approx(math.prod(x.p[a] for a in atoms))
            n = x.A.shape[1]
            w = np.full(n, 1.0 / n) if law.experts else np.zeros(n)
            for i, a in enumerate(atoms):
                np.testing.assert_allclose(run.w[row, i], w, atol=1e-12)
                value, slope = LOSS[x.loss](float(w @ x.A[a]), -1.0 if x.y[a] < 0 else 1.0)
                assert run.losses[row, i] == pytest.approx(value)
                if law.experts:
                    w = w * np.exp(-law.eta * slope * x.A[a])
                    w = w / w.sum()
                else:
                    w = w - law.eta * slope * x.A[a]
                    w = w / max(1.0, float(np.linalg.norm(w)) / x.B)
            np.testing.assert_allclose(run.w[row, x.m], w, atol=1e-12)


LOSS = {
    "hinge": lambda u, y: (max(0.0, 1.0 - y * u), -y if y * u < 1.0 else 0.0),
    "absolute": lambda u, y: (abs(u - y), float(np.sign(u - y))),
    "logistic": lambda u, y: (math.log1p(math.exp(-y * u)), -y / (1.0 + math.exp(y * u))),
    "exponential": lambda u, y: (math.exp(-y * u), -y * math.exp(-y * u)),
}


def test_the_best_weight_of_the_line_is_the_best_of_a_grid():
    for x in drawn(sizes={"k": (1, 3), "n": (1, 1)}):
        law = Samples(x)
        grid = np.linspace(-x.B, x.B, 4001)[:, None]
        least = float(law.risk(grid).min())
        found = float(law.risk(law.best()))
        assert least - law.lam * law.X * x.B / 2000.0 <= found <= least + 1e-12
        assert abs(law.best()[0]) <= x.B


def test_votes_are_counted_as_by_hand():
    values = {"A": np.array([[0.6], [-1.0]]), "y": np.array([1.0, 1.0]), "p": np.array([0.3, 0.7])}
    x = Instance({**values, "m": 2, "B": 1.0, "loss": "hinge"}, {})
    law = Samples(x)
    w = np.array([[[0.0] * x.A.shape[1], x.A[0]]])
    for cost in (0.0, 0.5, 1.0):
        wrong, voted = 0.0, 0.0
        for a in range(len(x.p)):
            signs = [float(np.sign(v @ x.A[a])) * law.y[a] for v in w[0]]
            price = {-1.0: 1.0, 0.0: cost, 1.0: 0.0}
            wrong += x.p[a] * sum(price[s] for s in signs) / 2.0
            voted += x.p[a] * price[float(np.sign(sum(signs)))]
        assert errors(law, w, cost)[0] == pytest.approx(wrong)
        assert vote_errors(law, w, cost)[0] == pytest.approx(voted)


def test_the_worst_tail_is_found():
    """P(ε >= .3) = .75 is allowed .7 only; nothing else is too much."""
    deviation, chances = np.array([0.1, 0.3, -1.0, 0.3]), np.array([0.05, 0.5, 0.2, 0.25])
    slack = never_more(deviation, chances, lambda e: np.where(e > 0.2, 0.7, 0.9), "")
    assert (slack.left, slack.right) == (0.75, 0.7)
    assert slack.high < 0.0
    assert never_more(-deviation, chances, lambda e: 0.21 + 0.0 * e, "").low >= 0.0


def test_regret_within_two_parts_in_a_hundred_of_the_bound_of_theorem_3():
    m = 10_000
    turns = np.concatenate([np.tile([1.0, -1.0], (m - 240) // 2), np.ones(240)])
    costs = np.stack([turns, -turns], axis=1)
    learner = ExponentiatedGradient("inner", schedule=Horizon(m)).start(2)
    learner.update(costs)
    regret = learner.loss - costs.sum(axis=0).min()
    assert regret == pytest.approx(116.525, abs=1e-3)
    assert math.sqrt(4.0 * math.log(m)) < 6.07
    assert 0.98 * math.sqrt(2.0 * m * math.log(2.0)) < regret < math.sqrt(2.0 * m * math.log(2.0))


def test_the_coin_that_sorts_itself_in_fractions():
    """m = 1 and h_0 = 1: the loss is off by half its range whatever the coin shows."""
    losses = {1: Fraction(0), -1: Fraction(2)}
    risk = sum(Fraction(1, 2) * loss for loss in losses.values())
    assert all(abs(loss - risk) == 1 for loss in losses.values())
    assert 2.0 * math.sqrt(math.log(1 / 0.7) / 2.0) < 1.0 < 2.0 * math.sqrt(math.log(2 / 0.7) / 2)


def test_the_printed_radii_fail_for_two_examples():
    """z = (a, b), P(b = 1) = .58; h_0 has the loss a, h_1 the loss 1 if a_2 ≠ a_1 and b_2 = 1."""
    chance = {(a, b): Fraction(29 if b else 21, 100) for a, b in product((0, 1), repeat=2)}
    radii = [math.sqrt(math.log(2 / 0.74) / (2 * n)) for n in (2, 1)]
    assert radii == pytest.approx([0.49856, 0.70507], abs=1e-5)
    fails = Fraction(0)
    for first, second in product(chance, repeat=2):
        losses = Fraction(first[0] + second[0], 2), int(second == (1 - first[0], 1))
        risks = Fraction(1, 2), chance[1 - first[0], 1]
        off = [abs(x - y) > r for x, y, r in zip(losses, risks, radii, strict=True)]
        fails += any(off) * chance[first] * chance[second]
    assert fails == Fraction(79, 100) > Fraction(74, 100)


def test_experts_that_learn_by_heart():
    """Algorithm 2 on the 2^6 experts of DEK11-half, N = 4 atoms, example by example."""
    labelings = np.array(list(product([1.0, -1.0], repeat=4))).T
    rows = np.hstack([np.ones_like(labelings), labelings])
    labels, m = np.array([1.0, -1.0, -1.0]), 8
    learner = ExponentiatedGradient("hinge", schedule=Horizon(m), bound=1.0).start(rows.shape[1])
    for j in range(4):
        g, t = memory(2, m, j, int((labels[:j] < 0.0).sum()))
        expected = np.full(4, g)
        expected[:j] += (1.0 - g) * t * labels[:j]
        np.testing.assert_allclose(rows @ learner.w, expected, atol=1e-12)
        if j < 3:
            learner.update(rows[j], labels[j])


def test_gradient_descent_fails_where_the_first_half_is_trusted_with_probability_delta():
    """Hinge loss, x = 1, P(y = 1) = 1/10, B = 2, m = 4, δ = .99: P(not so) = .1 > 1 − δ."""
    values = {"A": np.array([[1.0], [1.0]]), "y": np.array([1.0, -1.0]), "p": np.array([0.1, 0.9])}
    law = Samples(Instance({**values, "m": 4, "B": 2.0, "loss": "hinge", "learner": "GD"}, {}))
    assert (law.eta, law.c) == (1.0, 3.0)
    losses = law.atoms(law.run().before[:, :2])
    seen = losses[np.arange(16)[:, None], np.arange(2), law.samples[:, :1]]
    at = seen.argmin(axis=1)[:, None]
    over = np.take_along_axis(losses @ law.p - seen, at, axis=1)[:, 0]
    bad = law.chances[over > law.c * math.sqrt(math.log(4.0 / 0.99) / 4.0)].sum()
    assert bad == pytest.approx(0.1)

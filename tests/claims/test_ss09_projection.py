"""SS09 Sec. 5.1 and 5.3, Appendices A and B: the recorded figures."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from scipy.special import softmax

from relaxboost.claims import Instance, get
from relaxboost.claims.ss09 import appendix, exact, projection
from relaxboost.relaxations._projections.capped import capped_distribution

FAILING = {
    "L13": ("0 != 0.5",),
    "C14": ("0 != 0.5",),
    "F2": ("0.75 != 1", "0 != 1"),
}


@pytest.mark.parametrize("id", FAILING)
def test_recorded_counterexamples(id):
    claim, shown = get(f"SS09-{id}"), FAILING[id]
    for written, text in zip(claim.counterexamples, shown, strict=True):
        evidence = claim.examine(claim.stated, claim.space.from_json(written), "")
        assert evidence is not None
        assert evidence.outcome == "refuted"
        assert str(evidence.slack).startswith(text)


@pytest.mark.parametrize(
    ("theta", "k", "weights"),
    [
        ([0, -40, -41], 2, [0, 0, 0]),
        ([0, -34, -35, -36.5], 2, [0.5, 0.35085, 0.12907, 0.02880]),
        ([0, -37, -8], 3, [-3.13775e15, -0.267746, -1.05260e12]),
        ([0, -800, -801], 2, [np.nan] * 3),
    ],
)
def test_what_the_figure_returns_in_doubles(theta, k, weights):
    theta = np.array(theta, dtype=float)
    with np.errstate(all="ignore"):
        d = projection.fig2(list(softmax(theta)), 1.0 / k)
    np.testing.assert_allclose(d, weights, rtol=1e-4)
    mended = capped_distribution(-theta, 1.0, k)
    np.testing.assert_allclose(mended, exact.projected_softmax(theta, 1.0 / k), rtol=1e-9)


def test_the_figure_beyond_its_domain():
    """A cap below 1/m gives the mass mν; the strict test never passes at ν = 1/m."""
    d0 = [Fraction(1, 3)] * 3
    assert sum(projection.fig2(d0, Fraction(1, 4))) == Fraction(3, 4)
    with pytest.raises(ZeroDivisionError):
        projection.fig2([Fraction(1), Fraction(0)], Fraction(1, 2))
    assert projection.fig2([Fraction(9, 10), Fraction(1, 10), Fraction(0)], Fraction(1, 2)) == [
        Fraction(1, 2),
        Fraction(1, 2),
        0,
    ]


def test_exact_projection_is_optimal():
    """`projected` against points that satisfy the constraints."""
    rng = np.random.default_rng(0)
    for _ in range(50):
        m = int(rng.integers(2, 7))
        theta, k = rng.normal(size=m), int(rng.integers(1, m + 1))
        d0 = exact.distribution(softmax(theta))
        d = exact.projected(d0, Fraction(1, k))
        assert d is not None
        least = exact.divergence(np.array(d, float), np.array(d0, float))
        for _ in range(20):
            other = exact.projected_softmax(rng.normal(size=m), 1.0 / k)
            assert exact.divergence(other, np.array(d0, float)) >= least - 1e-12


def test_where_lemma_20_needs_its_hypotheses():
    """r < 1/2 and 1 >= ε_1 serve t = 1 alone; from t = 2 on even 1/(r(t+2)) bounds ε_t."""
    for r in (0.3, 0.5, 1.0, 5.0):
        for first in (0.1, 0.5, 1.0, 5.0):
            x = Instance({"first": first, "r": r, "less": np.zeros(1)}, {})
            terms = enumerate(appendix.sequence(x, 8), 1)
            above = [t for t, epsilon in terms if epsilon > 1 / (Fraction(r) * (t + 1))]
            assert above == ([1] if 2 * Fraction(r) * Fraction(first) > 1 else [])
            later = list(enumerate(appendix.sequence(x, 8), 1))[1:]
            assert all(epsilon <= 1 / (Fraction(r) * (t + 2)) for t, epsilon in later)


def test_corollary_14_holds_on_a_line():
    """Projections onto nested intervals compose, which is why its counterexample has m = 2."""
    rng = np.random.default_rng(1)
    claim = get("SS09-C14")
    for theta, p, q in rng.uniform([-1, 0, 0], [2, 1, 1], (50, 3)):
        x = claim.make({"theta": np.array([theta]), "p": np.array([p]), "q": np.array([q])})
        assert claim.stated.measure(x)[0].outcome(0.0) == "holds"

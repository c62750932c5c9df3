"""TotalVariationBall against optima by hand, cvxpy, and certificates that were tampered with."""

from __future__ import annotations

import doctest
import math
from fractions import Fraction

import numpy as np
import pytest

import relaxboost as rb
from relaxboost.certificates import check
from relaxboost.relaxations import TotalVariationBall, total_variation

GAME = np.array([[1.0, 0.0], [0.0, 0.5]])


@pytest.mark.parametrize(
    ("radius", "prior", "value"),
    [
        # d_1 is within the radius of the prior, and max{d_1, d_2 / 2} is least at d_1 = 1/3.
        (Fraction(1, 10), None, Fraction(2, 5)),
        (Fraction(1, 4), None, Fraction(1, 3)),
        (Fraction(1, 5), [1, 0], Fraction(4, 5)),
        (Fraction(1, 5), [0, 1], Fraction(2, 5)),
        (1, [0, 1], Fraction(1, 3)),
        (Fraction(1, 10), [0.75, Fraction(1, 4)], Fraction(13, 20)),
    ],
)
def test_optima_by_hand(radius, prior, value):
    game = rb.Game(GAME, TotalVariationBall(radius, prior), over=rb.Simplex())
    assert rb.exact_value(game) == value
    solution = rb.solve(game, tol=1e-9)
    assert solution.lower <= value <= solution.upper


def random_balls(rng, count):
    """Yield a ball and the number of examples; priors have zeros, and radii reach to one."""
    for case in range(count):
        m = int(rng.integers(1, 8))
        prior = rng.dirichlet(np.full(m, 0.5)) * (rng.random(m) < 0.7)
        radius = float(rng.choice([1e-6, 0.1, 0.3, 0.6, 1.0]))
        given = prior / prior.sum() if case % 3 and prior.sum() else None
        yield TotalVariationBall(radius, given).resolve(m), m


def test_exact_multipliers_reach_the_exact_margin(rng):
    for f, m in random_balls(rng, 40):
        u = [Fraction(int(x), 4) for x in rng.integers(-4, 5, m)]
        form = f.exact_form(m)
        gamma, y = f.exact_multipliers(u)
        assert all(x - y[i] - y[m] >= gamma for i, x in enumerate(u))
        assert all(y[i] >= 0 >= y[i] + 2 * y[m] for i in range(m))
        sides = [*form.row_lower[:m], form.row_upper[m]]
        proved = gamma + sum(a * b for a, b in zip(y, sides, strict=True))
        assert float(proved) == pytest.approx(f.relaxed_margin(list(map(float, u)))[0], abs=1e-14)


@pytest.mark.parametrize("beta", [5e-324, 1e-9, 1e300])
@pytest.mark.parametrize("prior", [None, [0, 0.5, 0.5], [1, 0, 0]])
@pytest.mark.parametrize("radius", [1e-9, 0.2, 1])
def test_extreme_margins_and_temperatures(beta, prior, radius):
    f = TotalVariationBall(radius, prior)
    for u in ([1e308, -1e308, 0.0], [5e-324, 0.0, 1e-320], [0.0, 0.0, 0.0]):
        d = f.distribution(u, beta)
        assert f.penalty(d) == 0.0
        assert d.sum() == pytest.approx(1.0, abs=1e-14)


def test_traits():
    """The origin is ½ away from every prior; and no ball on two examples or more is monotone."""
    balls = [(0.4, None), (0.9, None), (1, [0, 0.5, 0.5]), (1, [1, 0, 0])]
    for radius, prior in balls:
        f = TotalVariationBall(radius, prior)
        verdicts = [c.verdict for c in rb.check_conditions(f, 3)]
        assert verdicts == ["holds", "holds" if radius > 0.5 else "fails", "fails"]
        d, i = f.center(3), int(np.argmin(f.center(3)))
        other = (i + 1) % 3 if d[(i + 1) % 3] > 0.0 else (i + 2) % 3
        d[i] += 2 * radius
        assert f.penalty(d) == 0.0
        d[other] = 0.0
        assert f.penalty(d) == math.inf
    assert not TotalVariationBall(0.5).traits.zero_in_core  # it is on the boundary then
    assert not TotalVariationBall(0.5, [0.25, 0.75]).traits.symmetric


def test_a_certificate_is_accepted_and_a_mutated_one_is_refused(rng):
    prior = [Fraction(1, 3), 0, 0.5, Fraction(1, 6)]
    game = rb.Game(rng.uniform(-1, 1, (4, 3)), TotalVariationBall(Fraction(1, 5), prior))
    certificate = rb.certify(rb.solve(game, tol=1e-6))
    assert certificate.level == "exact"
    assert certificate.check()
    document = certificate.document
    f = document["game"]["relaxation"]
    sides = f["row_upper"]["numerators"]
    assert Fraction(sides[-1]) / Fraction(f["row_upper"]["denominator"]) == Fraction(7, 5)
    smaller = {**f["row_upper"], "numerators": [*sides[:-1], str(int(sides[-1]) - 1)]}
    tampered = {**document["game"], "relaxation": {**f, "row_upper": smaller}}
    with pytest.raises(check.Rejected):
        check.check({**document, "game": tampered})


@pytest.mark.parametrize(
    ("radius", "prior", "message"),
    [
        (0, None, r"TotalVariationBall needs 1e-09 <= radius <= 1, got 0"),
        (-0.5, None, "got -0.5"),
        (1.5, None, "got 1.5"),
        (Fraction(1, 10**12), None, "radius <= 1, got"),
        (math.nan, None, "radius to be a finite real number, got nan"),
        ("1", None, "radius to be a finite real number"),
        (0.5, [0.5, 0.25], "priors must sum to one"),
        (0.5, [1.5, -0.5], r"prior\[1\] >= 0"),
        (0.5, 1, "prior to be a vector"),
        (0.5, [0.5, 0.5], "2 entries in prior, but this game has m = 4 examples; pass one"),
    ],
)
def test_wrong_parameters(radius, prior, message):
    with pytest.raises(rb.InputError, match=message):
        rb.Game(np.eye(4), TotalVariationBall(radius, prior))


def test_parameters_are_kept_exactly():
    f = TotalVariationBall(0.1, [0.5, Fraction(1, 3), Fraction(1, 6)])
    assert f.radius == Fraction(0.1)
    assert f.prior == (0.5, Fraction(1, 3), Fraction(1, 6))
    assert eval(repr(f), {"TotalVariationBall": TotalVariationBall, "Fraction": Fraction}) == f


def test_the_example_of_the_docstring():
    result = doctest.testmod(total_variation)
    assert result.attempted == 2
    assert result.failed == 0

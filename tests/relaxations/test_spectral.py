"""SpectralRisk against its parts, and against its definition in fractions."""

from __future__ import annotations

import hashlib
import itertools
import json
import math
from fractions import Fraction
from itertools import pairwise

import cvxpy as cp
import numpy as np
import pytest

import relaxboost as rb
from relaxboost._core.rounding import sum_bounds
from relaxboost.certificates import check
from relaxboost.relaxations import SpectralRisk, numerical
from relaxboost.testing import check_relaxation


def mixtures(rng, count):
    """Yield (f, m) with one to three k, whole or not, some of them equal, some of weight 0."""
    for number in range(count):
        m, parts = int(rng.integers(1, 9)), int(rng.integers(1, 4))
        ks = [Fraction(int(k), 4) for k in rng.integers(4, 4 * m + 1, parts)]
        shares = rng.integers(0, 4, parts)
        shares[number % parts] += 1
        weights = [Fraction(int(p), int(shares.sum())) for p in shares]
        yield SpectralRisk(ks, weights).resolve(m), m


def solved(problem):
    problem.solve(solver="CLARABEL")
    return problem.value


def test_it_is_the_mixture_of_its_parts(rng):
    for number, (f, m) in enumerate(mixtures(rng, 200)):
        u = rng.normal(size=m).round(1 if number % 2 else 9)
        pairs = zip(f.ks, f.weights, strict=True)
        expected = sum(float(p) * rb.Capped(k).relaxed_margin(u)[0] for k, p in pairs)
        value, d = f.relaxed_margin(u)
        assert value == pytest.approx(expected, abs=1e-14)
        assert f.penalty(d) == 0.0
        assert expected - 1e-14 <= f.lower_bound(u, f.witness(u)) + 1e-14 <= value + 2e-14


def test_one_k_is_a_cap(rng):
    for k in (1, Fraction(5, 2), 6):
        f, cap, u = SpectralRisk([k], [1]), rb.Capped(k), rng.normal(size=6)
        assert f.relaxed_margin(u)[0] == pytest.approx(cap.relaxed_margin(u)[0], abs=1e-15)
        assert np.allclose(f.distribution(u, 0.2), cap.distribution(u, 0.2), rtol=0, atol=1e-15)
        largest = np.sort(np.abs(u))[::-1]  # f also bounds Σ |d|, which the cap leaves to the game
        shares = np.clip(float(k) - np.arange(6), 0.0, 1.0) / float(k)
        assert f.conjugate(u) == pytest.approx(float(shares @ largest), abs=1e-15)
        assert f.entropy_range(6) <= cap.entropy_range(6) + 1e-15


def test_it_is_no_cap_when_there_are_two():
    """With p = (1/2, 1/2) and k = (1, 3) one cap of 2/3 would let two examples have it."""
    f, cap = SpectralRisk([1, 3], [0.5, 0.5]), rb.Caps([2 / 3] * 3)
    assert f.relaxed_margin([0.0, 0.0, 3.0])[0] == pytest.approx(0.5)
    assert cap.relaxed_margin([0.0, 0.0, 3.0])[0] == pytest.approx(0.0)
    assert f.penalty(np.array([2 / 3, 1 / 3, 0.0])) == math.inf
    assert f.penalty(np.array([2 / 3, 1 / 6, 1 / 6])) == 0.0


def test_equal_ks_and_weights_of_zero_conform():
    assert check_relaxation(SpectralRisk([1, 2.5, 2.5, 4], [0.25, 0.25, 0, 0.5]), (5,))


def test_membership_and_the_parts_of_a_point(rng):
    inside = 0
    for f, m in mixtures(rng, 60):
        d = rng.dirichlet(np.full(m, 0.6)) * rng.choice([1, -1], m)
        z = cp.Variable(m)
        apart = solved(cp.Problem(cp.Minimize(cp.norm1(z - d)), f.cvxpy_penalty(z)[1]))
        assert (apart < 1e-6) == (f.penalty(d) == 0.0)
        inside += apart < 1e-6
        assert f.penalty(f.repair(np.abs(d))) == 0.0
        point = f.exact_point(np.abs(d).tolist())
        assert min(point) >= 0
        assert sum(point) == 1
        mixture, parts = f._mixture(m), np.reshape(f.exact_auxiliaries(point), (-1, m))
        assert (parts.sum(axis=0) == point).all()
        for (k, p), part in zip(mixture, parts, strict=True):
            assert min(part) >= 0
            assert max(part) <= p / k
            assert sum(part) == p
    assert 10 < inside < 50


@pytest.mark.parametrize("beta", [1e-9, 1e-3, 1e6])
def test_extreme_margins_and_temperatures(beta, rng):
    f = SpectralRisk([1, 2.5, 6], [0.25, 0.25, 0.5]).resolve(6)
    for u in (rng.normal(size=6) * 1e6, np.zeros(6), np.array([0, 0, 1, 1, 1e300, 1e300])):
        d = f.distribution(u, beta)
        assert f.penalty(d) == 0.0
        assert d.sum() == pytest.approx(1.0, abs=1e-14)
        order = np.argsort(u, kind="stable")
        assert (np.diff(d[order]) <= 1e-16).all()
        assert f.penalty_bound(d, (1.0 - 1e-15, 1.0 + 1e-15))[1] < 1e-12


def test_certificates_and_exact_values(rng):
    for f, m in mixtures(rng, 12):
        A = rng.choice([-1.0, 1.0], size=(m, 4))
        game = rb.Game(A, f, over=rb.Simplex() if m % 2 else rb.L1Ball(Fraction(1, 3)))
        solution = rb.solve(game, tol=1e-6)
        certificate = rb.certify(solution)
        assert certificate.level == "exact"
        verdict = certificate.check()
        assert verdict, verdict.reason
        value = rb.exact_value(game)
        assert certificate.lower <= value <= certificate.upper
        assert solution.lower <= value <= solution.upper


def test_wrong_parameters():
    for ks, weights, reason in (
        ([1, 2], [1], "one weight for each k"),
        ([0.5], [1], "ks >= 1"),
        ([1, 2], [1.5, -0.5], "weights >= 0"),
        ([1, 2], [0.5, 0.4], "sum to one"),
        ([], [], "at least|entry|an entry"),
        (3, [1], "vector"),
    ):
        with pytest.raises(rb.InputError, match=reason):
            SpectralRisk(ks, weights)
    with pytest.raises(rb.InputError, match="m = 3 examples"):
        rb.Game(np.eye(3), SpectralRisk([1, 4], [0.5, 0.5]))


def spectra(m):
    """Return a risk of every constructor, with its spectrum by the definition in fractions."""
    shares = [Fraction(j, m) for j in range(m + 1)]
    integrals = {
        SpectralRisk.gini(): lambda t: 1 - (1 - t) ** 2,
        SpectralRisk.from_spectrum(lambda t: 1 - (1 - t) ** 2): lambda t: 1 - (1 - t) ** 2,
        SpectralRisk.extremile(3): lambda t: 1 - (1 - t) ** 3,
        SpectralRisk.extremile(2.5): lambda t: 1 - (1 - float(t)) ** 2.5,
        SpectralRisk.power(0.3): lambda t: float(t) ** 0.3,
        SpectralRisk.power(1): lambda t: t,
        SpectralRisk.exponential(4): lambda t: math.expm1(-4 * float(t)) / math.expm1(-4),
        SpectralRisk.exponential(1e-6): lambda t: t * (1 + 5e-7 * (1 - t)),
        SpectralRisk.mean_cvar(0.25, 0.3): lambda t: 0.75 * t + min(1, t / Fraction(3, 10)) / 4,
    }
    for f, phi in integrals.items():
        yield f, [float(phi(b) - phi(a)) for a, b in pairwise(shares)]


@pytest.mark.parametrize("m", [1, 2, 7, 40])
def test_named_spectra_are_those_of_the_literature(m, rng):
    u = rng.normal(size=m)
    for f, weights in spectra(m):
        assert f.relaxed_margin(u)[0] == pytest.approx(float(np.sort(u) @ weights), abs=1e-12)
        exact = f._spectrum(m).fractions()
        assert [float(s) for s in exact] == pytest.approx(weights, abs=1e-12)
        assert sum(exact) == 1
        assert all(a >= b >= 0 for a, b in pairwise([*exact, 0]))
        assert f.resolve(m).resolve(m) == f.resolve(m)
        assert repr(f.resolve(m)) == repr(f)


def test_identities(rng):
    u = rng.normal(size=6)
    draws = [min(t) for t in itertools.product(u.tolist(), repeat=3)]
    assert SpectralRisk.extremile(3).relaxed_margin(u)[0] == pytest.approx(np.mean(draws))
    apart = np.abs(u[:, None] - u[None, :]).mean()
    gini = SpectralRisk.gini()
    assert gini.relaxed_margin(u)[0] == pytest.approx(u.mean() - apart / 2)
    assert gini.resolve(6) == SpectralRisk.extremile(2).resolve(6)
    assert gini.resolve(6).key() == SpectralRisk.extremile(2).resolve(6).key()
    weights = [Fraction(11 - 2 * j, 36) for j in range(6)]
    assert gini.resolve(6).key() == SpectralRisk.from_spectrum(weights).key()
    assert gini.resolve(6).key() != gini.resolve(7).key()
    assert SpectralRisk.exponential(1e9).relaxed_margin(u)[0] == u.min()
    assert SpectralRisk.extremile(1e9).relaxed_margin(u)[0] == u.min()
    assert SpectralRisk.power(1).resolve(6) == SpectralRisk.extremile(1).resolve(6)
    cvar = SpectralRisk.mean_cvar(1, Fraction(1, 3)).relaxed_margin(u)[0]
    assert cvar == pytest.approx(rb.Capped(2).relaxed_margin(u)[0])
    # A mixture and its own weights are one function, although their keys differ.
    mixture = SpectralRisk([2, 6], [0.5, 0.5])
    assert mixture._spectrum(6) == SpectralRisk.mean_cvar(0.5, Fraction(1, 3))._spectrum(6)
    assert mixture.key() == "relaxboost.SpectralRisk(ks=[2, 6], weights=[1/2, 1/2])"


def test_by_hand():
    """Gini on two examples has the weights 3/4 and 1/4, and two hypotheses that mirror each other
    are best in equal parts."""
    game = rb.Game([[1, -1], [-1, 1]], SpectralRisk.gini(), over=rb.Simplex())
    solution = rb.solve(game, tol=1e-9)
    assert solution.lower <= 0 <= solution.upper
    assert SpectralRisk.gini().relaxed_margin([1.0, -1.0])[0] == -0.5
    assert np.allclose(SpectralRisk.gini().relaxed_margin([1.0, -1.0])[1], [0.25, 0.75])
    assert rb.exact_value(game) == 0
    skewed = rb.Game([[1, 0], [-1, 1]], SpectralRisk.gini(), over=rb.Simplex())
    assert rb.exact_value(skewed) == Fraction(1, 3)  # where both margins are equal


def test_a_full_spectrum_has_certificates_with_its_weights(tmp_path, rng):
    """The checker, which stands alone, accepts them, and rejects spectra that increase."""
    game = rb.Game(rng.uniform(-1, 1, size=(300, 4)), SpectralRisk.gini(), over=rb.Simplex())
    certificate = rb.certify(rb.solve(game, tol=1e-3))
    document = json.loads(json.dumps(certificate.document))
    weights = document["game"]["relaxation"]
    assert weights["kind"] == "spectral"
    assert len(weights["spectrum"]["numerators"]) == 300
    assert check.check(document) == ("exact", certificate.lower, certificate.upper)
    with pytest.raises(rb.InputError, match="the relaxation 'spectral' has none"):
        certificate.export("vipr")
    numerators = weights["spectrum"]["numerators"]
    for spoil, reason in (
        (numerators.reverse, "negative or increases"),
        (lambda: numerators.__setitem__(-1, "-1"), "negative or increases"),
        (lambda: numerators.__setitem__(0, "700"), "the lower bound is above"),
        (lambda: numerators.__setitem__(slice(20, None), ["0"] * 280), "d exceeds the spectrum"),
    ):
        kept = list(numerators)
        spoil()
        content = {k: v for k, v in document.items() if k not in ("digest", "comments")}
        text = json.dumps(content, sort_keys=True, separators=(",", ":"))
        document["digest"] = hashlib.sha256(text.encode()).hexdigest()
        with pytest.raises(check.Rejected, match=reason):
            check.check(document)
        numerators[:] = kept


def test_roundings_of_a_function_are_no_increase():
    """The differences of j/m in floats are not equal, although those of the function are."""
    f = SpectralRisk.from_spectrum(float).resolve(49)
    weights = f._spectrum(49).fractions()
    assert sum(weights) == 1
    assert all(a >= b for a, b in pairwise(weights))
    assert float(weights[0] - weights[-1]) < 1e-15


@pytest.mark.parametrize(("m", "r"), [(4, 1365), (2, 2048), (7, 1365)])
def test_how_long_the_exact_weights_of_an_extremile_are(m, r):
    """The docstring promised exact weights for m = 2 and r = 4000, which are rounded."""
    for order, exact in ((r, True), (r + 1, False)):
        weights = SpectralRisk.extremile(order).resolve(m)._spectrum(m).fractions()
        assert (weights[-1] == Fraction(1, m**order)) == exact


@pytest.mark.parametrize(
    "f", [SpectralRisk.gini(), SpectralRisk([2, 5], [0.5, 0.5]), SpectralRisk([1], [1])], ids=repr
)
def test_the_bound_in_a_neighbourhood_is_0_only_if_all_of_it_is_allowed(f, rng):
    m = 7
    f = f.resolve(m)
    verdicts = set()
    for _ in range(200):
        d = f.repair(rng.dirichlet(np.full(m, 3.0)))
        distance = 10.0 ** rng.uniform(-9, 0)
        bound = f.penalty_near(d, sum_bounds(d), distance)
        verdicts.add(bound)
        # No neighbour has larger sums of its largest entries.
        moved = np.sort(d / d.sum())[::-1]
        shift = min(0.5 * distance, 1.0 - moved[0])
        moved[0] += shift
        for j in range(m - 1, 0, -1):
            taken = min(shift, moved[j])
            moved[j] -= taken
            shift -= taken
        assert bound == math.inf or f.penalty(moved) == 0.0
    assert 0.0 in verdicts
    assert math.inf in verdicts or f.ks == (1,)


def test_a_sum_with_a_spectral_risk_needs_no_solver_to_find_its_center(monkeypatch):
    """A game of 200 examples took 18 seconds to declare."""
    monkeypatch.setattr(numerical.Programs, "inside", property(lambda self: pytest.fail("solver")))
    f = SpectralRisk.gini() + rb.NormBall(1.5, 0.5)
    assert f.resolve(30).center(30) == pytest.approx(np.full(30, 1 / 30))


def test_a_multiple_has_a_cone_program_only_if_the_risk_has_one():
    """The interior point method took 26 seconds on the multiple, and `auto` took 6 on the risk."""
    A = np.random.default_rng(0).uniform(-1, 1, (40, 3))
    for f in (SpectralRisk.gini(), SpectralRisk([2, 5], [0.5, 0.5])):
        forms = [rb.Game(A, g).cone_form for g in (f, 0.5 * f)]
        assert (forms[0] is None) == (forms[1] is None)

"""Proxies: their closed forms, and mirrors that are exact wherever doubles can be."""

import math
from decimal import Decimal, localcontext

import numpy as np
import pytest

from relaxboost import InputError
from relaxboost.game.domains import FullSimplex, L1Ball, L2Ball, Simplex
from relaxboost.online import (
    Constant,
    Entropy,
    Horizon,
    MirrorDescent,
    MirrorSteps,
    PNorm,
    Power,
    SquaredL2,
    Tilted,
)
from relaxboost.online.proxies import PROXIES
from relaxboost.testing import check_proxy

PROXIES_TO_TRY = [
    Entropy(),
    SquaredL2(),
    PNorm(),
    PNorm(1.3),
    PNorm(2),
    Power(),
    Power(0.3),
    Power(1),
    Power(-0.5),
    Tilted(),
    Tilted(0.2),
    Tilted(1),
]


@pytest.mark.parametrize("proxy", PROXIES_TO_TRY, ids=repr)
def test_conformance(proxy):
    refused = (2,) if proxy in (PNorm(), Power()) else ()
    sizes = (2, 5, 30) if proxy == type(proxy)() else (4,)
    domains = [kind(2.5) for kind in proxy.domains]
    check_proxy(proxy, domains, sizes=sizes, inadmissible=refused)


def test_every_proxy_is_tried():
    assert {type(proxy) for proxy in PROXIES_TO_TRY} == set(PROXIES.values())


# Optimality ---------------------------------------------------------------------------------


def residual(proxy, z, beta, domain):
    """By how much w violates the conditions of Karush, Kuhn & Tucker, against what they add."""
    w = proxy.mirror(z, beta, domain)
    tiny, radius = np.abs(w) < 1e-290, float(domain.radius)  # or less, where powers still are not
    slope = proxy.gradient(np.where(tiny, np.copysign(1e-290, w), w), domain)
    assert np.isfinite(w).all()
    size = float(np.abs(w).sum())
    assert size <= radius * (1.0 + 1e-12)
    assert isinstance(domain, L1Ball) or w.min() >= 0.0
    full = size >= radius * (1.0 - 1e-12)
    assert full or not isinstance(domain, Simplex)
    scale = np.abs(z).max() + beta * (np.abs(slope).max() + proxy.largest(domain, z.size) / radius)
    g = (z + beta * slope) / scale
    if isinstance(domain, L1Ball):
        g = np.copysign(1.0, w) * g
    nu = float(g @ np.abs(w)) / radius if full else 0.0  # g is ν on the support, and above it off
    assert nu <= 1e-12 or isinstance(domain, Simplex)
    return max(np.abs(g - nu)[~tiny].max(initial=0.0), (nu - g)[tiny].max(initial=0.0))


NARROW = [PNorm(), PNorm(1.01), PNorm(2), Power(), Power(0.01), Power(1), Power(-0.9)]


@pytest.mark.parametrize("proxy", [*NARROW, Tilted(), Tilted(1), Tilted(1e-3)], ids=repr)
def test_mirrors_are_exact_at_every_scale(proxy):
    """With z/β from 1e-12 to 1e12, ties, a few huge entries, and a large constant in common."""
    rng = np.random.default_rng(0)
    for domain in (kind(r) for kind in proxy.domains for r in (1, 0.3)):
        for size in (3, 40, 1000):
            for trial in range(24):
                unit = 10.0 ** rng.uniform(-12.0, 12.0)
                z = rng.normal(size=size) * unit
                if trial % 3 == 0:
                    z = np.round(z / unit) * unit
                if trial % 5 == 0:
                    z *= 10.0 ** rng.uniform(-6.0, 6.0, size)
                if trial % 7 == 0:
                    z += 1e3 * unit
                beta = 1.0 if trial % 2 else unit * 10.0 ** rng.uniform(-3.0, 3.0)
                assert residual(proxy, z, beta, domain) <= 1e-12, (z, beta)


@pytest.mark.parametrize("proxy", [PNorm(), Power(), Tilted()], ids=repr)
def test_very_many_weights(proxy):
    size = 1_000_000 if proxy == PNorm() else 100_000
    z = np.random.default_rng(1).normal(size=size)
    assert residual(proxy, z, 0.3, Simplex(1)) <= 1e-12


def slow_mirror(proxy, z, beta, radius):
    """The mirror on the simplex by bisection of ν, at 60 digits."""
    size, share, beta = z.size, Decimal(radius), Decimal(beta)
    exact = [Decimal(x) for x in z.tolist()]

    def weights(reach):
        gaps = [min(exact) + reach - x for x in exact]
        if isinstance(proxy, Tilted):
            a = 1 - (Decimal(1) / (size - 1) if proxy.c is None else Decimal(proxy.c))
            raw = [1 + (((a * y / beta).exp() - 1) / a if a else y / beta) for y in gaps]
            return [max(Decimal(0), share / size * x) for x in raw]
        s = 1 / Decimal(size).ln() if proxy.s is None else Decimal(proxy.s)
        return [share * max(Decimal(0), s * y / (share * beta)) ** (1 / s) for y in gaps]

    with localcontext(prec=60):
        low, high = Decimal(0), Decimal(1)
        while sum(weights(high)) < radius:
            high *= 2
        for _ in range(180):
            middle = (low + high) / 2
            low, high = (middle, high) if sum(weights(middle)) < radius else (low, middle)
        return np.array([float(x) for x in weights(low)])


@pytest.mark.parametrize("proxy", [Power(), Power(1), Power(1e-2), Tilted(), Tilted(1)], ids=repr)
@pytest.mark.parametrize("beta", [0.3, 1e-4])
def test_mirrors_are_those_of_a_bisection_with_sixty_digits(proxy, beta):
    z = np.array([0.7, -0.2, -0.19, 0.1, -0.2, 0.4])
    want = slow_mirror(proxy, z, beta, 2.0)
    np.testing.assert_allclose(proxy.mirror(z, beta, Simplex(2)), want, rtol=1e-12, atol=1e-300)


def test_mirrors_between_the_entropy_and_the_square():
    """Power(1), PNorm(2) and Tilted(1) are the square, Power(0+) and Tilted(0+) the entropy."""
    z = np.array([0.3, -0.5, 0.2, -0.45])
    for over in (Simplex(2), FullSimplex(2), L1Ball(2)):
        square = SquaredL2().mirror(z, 0.3, over)
        np.testing.assert_allclose(Power(1).mirror(z, 0.3, over), square, rtol=1e-13, atol=1e-15)
        half = PNorm(2).mirror(z, 0.3 * 4.0, over)  # V is ‖w‖²/(2λ²)
        np.testing.assert_allclose(half, square, rtol=1e-13, atol=1e-15)
    over = Simplex(2)
    tilted = Tilted(1).mirror(z, 0.3 / 2.0, over)  # V is M‖w‖²/(2λ)
    np.testing.assert_allclose(tilted, SquaredL2().mirror(z, 0.3, over), rtol=1e-13, atol=1e-15)
    gibbs = Entropy().mirror(z, 0.3, over)
    np.testing.assert_allclose(Tilted(1e-9).mirror(z, 0.3, over), gibbs, rtol=1e-8)
    for s in (1e-9, -1e-9):
        np.testing.assert_allclose(Power(s).mirror(z, 0.3 / 2.0, over), gibbs, rtol=1e-7)


# Constants ----------------------------------------------------------------------------------


@pytest.mark.parametrize(("size", "ratio"), [(3, 0.9241962), (10, 2.2246899), (2, 0.5)])
def test_the_entropy_is_not_the_best_proxy(size, ratio):
    """JNTV05, Sec. 6.1 conjectures that no V has less V*/α."""
    for over in (Simplex(1), Simplex(3)):
        found = Tilted().largest(over, size) / Tilted().modulus(over, size)
        assert found == pytest.approx(ratio * float(over.radius) ** 2, rel=1e-7)
        assert found < Entropy().largest(over, size) / Entropy().modulus(over, size)
    best = min(Tilted(c).largest(Simplex(1), size) for c in np.linspace(0.001, 1.0, 2000))
    assert ratio <= best * (1.0 + 1e-7) <= ratio * (1.0 + 1e-4)


@pytest.mark.parametrize("size", [3, 7, 100, 10**6])
def test_the_ratios_are_of_order_log_m(size):
    over, log = Simplex(2), 4.0 * math.log(size)
    for proxy, bound in ((PNorm(), math.e**2 / 2.0), (Power(), math.e - 1.0)):
        assert proxy.largest(over, size) / proxy.modulus(over, size) <= bound * log
    for proxy in (PNorm(1.0 + 1e-7), Power(1e-7), Tilted(1e-7)):  # the limits are the entropy's
        ratio = proxy.largest(over, size) / proxy.modulus(over, size)
        assert ratio == pytest.approx(log, rel=1e-4)


def test_small_powers_beat_the_entropy_up_to_seven_weights():
    for size in range(2, 12):
        ratios = [
            Power(s).largest(Simplex(1), size) / Power(s).modulus(Simplex(1), size)
            for s in np.linspace(0.001, 1.0, 400)
        ]
        assert (min(ratios) < math.log(size)) == (size <= 7)


# What is refused ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: PNorm(1), "1 < p <= 2"),
        (lambda: PNorm(2.5), "1 < p <= 2"),
        (lambda: PNorm(math.nan), "finite"),
        (lambda: Power(0), r"Entropy\(\)"),
        (lambda: Power(-1), "-1 < s"),
        (lambda: Power(1.01), "s <= 1"),
        (lambda: Power("1"), "finite"),
        (lambda: Tilted(0), r"Entropy\(\)"),
        (lambda: Tilted(1.5), "c <= 1"),
        (lambda: PNorm().check(Simplex(1), 2), r"use PNorm\(2\)"),
        (lambda: Power().check(Simplex(1), 2), r"use Power\(1\)"),
        (lambda: Power(-0.5).check(L1Ball(1), 3), r"over=Simplex\(radius\)"),
        (lambda: Tilted().check(FullSimplex(1), 3), r"over=Simplex\(radius\)"),
        (lambda: PNorm().check(L2Ball(1), 3), "L1Ball"),
        (lambda: MirrorDescent("hinge", Simplex(1), "p-norm").start(2), "M = 2"),
    ],
)
def test_what_is_no_proxy_is_refused(make, said):
    with pytest.raises(InputError, match=said):
        make()


@pytest.mark.parametrize("proxy", [PNorm(), Power(), Power(-0.5), Tilted()], ids=repr)
@pytest.mark.parametrize("kind", [MirrorDescent, MirrorSteps])
def test_regret_is_at_most_its_bound(proxy, kind):
    rng = np.random.default_rng(4)
    for over in (domain(2) for domain in proxy.domains):
        learner = kind("hinge", over, proxy, "growing").start(5)
        H, y = rng.uniform(-1.0, 1.0, (60, 5)), rng.choice([-1.0, 1.0], 60)
        learner.update(H, y)
        for w in (over.repair(c * np.eye(5)[j]) for j in range(5) for c in (2.0, 0.7)):
            regret = learner.loss - np.maximum(0.0, 1.0 - y * (H @ w)).sum()
            assert regret <= learner.regret_bound(w) <= learner.regret_bound()
        bounded = kind is MirrorDescent or not proxy.steep
        assert math.isfinite(learner.regret_bound()) == bounded


NEAR_LIMITS = [Power(1e-17), Power(1e-9), PNorm(1 + 1e-13), Tilted(1 - 1e-13), Tilted(1 - 1e-9)]


@pytest.mark.parametrize("proxy", NEAR_LIMITS, ids=repr)
def test_greedy_regret_is_at_most_its_bound_for_proxies_near_their_limits(proxy):
    # With ∇V itself Power(1e-17) forgot every gradient: regret 3000, bound 74.5.
    t = 2000
    method = MirrorSteps("inner", Simplex(1), proxy=proxy, schedule=Horizon(t))
    learner = method.start(4)
    learner.update(np.tile([1.0, -1.0, 1.0, 1.0], (t, 1)))
    assert learner.loss + t <= learner.regret_bound(np.eye(4)[1]) * (1 + 1e-9)


@pytest.mark.parametrize("proxy", [*PROXIES_TO_TRY, *NEAR_LIMITS], ids=repr)
@pytest.mark.parametrize("far", [1e-12, 1e-9, 1e-6, 1e-3, 0.1])
def test_values_near_equal_weights_are_strongly_convex(proxy, far):
    for radius in (1e-60, 1.0, 1e60):
        domain, x = Simplex(radius), np.array([1.0, -1.0, 1.0, -1.0])
        w = radius * (0.25 + far * x)
        x = w - radius * 0.25
        norm = np.linalg.norm(x, 2 if proxy.norm == "l2" else 1)
        least = proxy.modulus(domain, 4) / 2.0 * norm**2
        assert least * (1 - 1e-6 - 1e-15 / far) <= proxy.value(w, domain)


@pytest.mark.parametrize("proxy", [Entropy(), SquaredL2(), Tilted(), PNorm(), Power()], ids=repr)
def test_regret_against_weights_next_to_the_first_is_at_most_its_bound(proxy):
    # Where V(w) was a difference of numbers near log M it was 0 here, and the bound 29 times less.
    learner = MirrorDescent("inner", Simplex(1), proxy, schedule=Constant(1e9)).start(4)
    h = np.array([-0.5, 0.5, -0.5, 0.5])
    learner.update(h)
    for far in 10.0 ** np.linspace(-10, -6, 60):
        w = 0.25 - far * np.sign(h)
        assert learner.loss - float(w @ h) <= learner.regret_bound(w) * (1 + 1e-6)


def test_tilted_proxies_near_the_square_are_near_it():
    w = np.array([0.4, 0.3, 0.2, 0.1])
    for c in (1 - 1e-9, 1 - 1e-12, 1 - 1e-15):
        assert Tilted(c).largest(Simplex(1), 4) == pytest.approx(1.5, rel=1e-8)
        assert Tilted(c).value(w, Simplex(1)) == pytest.approx(0.1, rel=1e-8)
        assert Tilted(c).gradient(w, Simplex(1)) == pytest.approx(4 * w - 1.0, rel=1e-8)
        z = np.array([0.3, 0.1, -0.2, 5.0])
        near = Tilted(1).mirror(z, 1.0, Simplex(1))
        assert Tilted(c).mirror(z, 1.0, Simplex(1)) == pytest.approx(near, abs=1e-8)

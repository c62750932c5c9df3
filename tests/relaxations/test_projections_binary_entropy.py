"""Logistic weights: the vector instructions against NumPy, the kernel against plain bisection."""

from __future__ import annotations

import numba
import numpy as np
import pytest

from relaxboost.relaxations._projections import logits, vectorised
from relaxboost.relaxations._projections.binary_entropy import logistic_distribution


@numba.njit
def over(x):
    """Return the three functions of each entry of x."""
    y = np.empty((3, x.size))
    for i in range(x.size):
        y[0, i] = vectorised.exp(-x[i])
        y[1, i] = vectorised.log1p(min(1.0, x[i]))
        y[2, i] = vectorised.rough_log(x[i])
    return y


def test_exponentials_and_logarithms(rng):
    x = np.append(10.0 ** rng.uniform(-300, np.log10(700), 100_000), [1.0, 0.3, 0.3000001, 1e-30])
    exp, log1p, rough = over(x)
    assert exp == pytest.approx(np.exp(-x), rel=1e-15, abs=0)
    assert log1p == pytest.approx(np.log1p(np.minimum(1.0, x)), rel=1e-15, abs=0)
    assert rough == pytest.approx(np.log(x), abs=0.06)
    assert over(np.array([800.0]))[0, 0] == 0.0


@pytest.mark.parametrize("a", [1 - 1e-15, 0.9, 0.51, 0.5, 0.3, 1e-3, 1e-9, 1e-13, 1e-300])
def test_three_steps_find_every_logit(a):
    sizes = np.logspace(-25, np.log10(650), 20_000)
    w = np.concatenate([-sizes, a * sizes, -a * sizes])
    found = np.empty(w.size)
    logits._first(w, a, found)
    logits._refine(w, a, 3, found)
    exact = found.copy()
    logits._refine(w, a, 5, exact)
    assert np.abs(found - exact).max() <= 3e-16 * 650


def weigh(u, gamma, T, a):
    """Return x for a level γ by bisection of the logits, until no double is left between."""
    w = (gamma - u) / T
    low, high = np.full(u.size, -750.0), np.full(u.size, 750.0)
    x = 0.5 * (low + high)
    while ((low < x) & (x < high)).any():
        above = x - (1 - a) * np.logaddexp(0.0, x) > w
        low, high = np.where(above, low, x), np.where(above, x, high)
        x = 0.5 * (low + high)
    return np.exp(-np.logaddexp(0.0, -x))


def test_the_kernel_equals_bisection(rng):
    for case in range(60):
        m = int(rng.integers(2, 40))
        u = rng.normal(size=m) if case % 2 else rng.integers(0, 3, m) / 2
        T, k = 10 ** rng.uniform(-2, 2), float(rng.uniform(1, m))
        a = float(rng.choice([1.0, 0.9, 0.5, 0.1, 1e-3]))
        d, gamma = logistic_distribution(u, T, k, a)
        low, high = u.min() - 800 * T, u.max() + 800 * T
        middle = 0.5 * (low + high)
        while low < middle < high:
            if weigh(u, middle, T, a).sum() > k:
                high = middle
            else:
                low = middle
            middle = 0.5 * (low + high)
        assert np.abs(d - weigh(u, middle, T, a) / k).sum() <= 1e-11
        if k < m - 0.5:
            assert gamma == pytest.approx(middle, abs=1e-11 * (T / a + np.abs(u).max()))

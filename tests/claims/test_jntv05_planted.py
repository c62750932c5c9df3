"""Wrong variants of true statements about mirror descent with averaging: each must be found out."""

from __future__ import annotations

import math

import numpy as np
import pytest

from relaxboost.claims import Choice, Source, assume, at_least, at_most, equal
from relaxboost.claims.fields import Real
from relaxboost.claims.jntv05.appendix import CUBES, _spread
from relaxboost.claims.jntv05.choices import RATIOS, _largest_normal, _ratio
from relaxboost.claims.jntv05.formulas import (
    RUNS,
    entropy,
    free_energy,
    gibbs,
    growing,
    iterates,
    powers,
)
from relaxboost.claims.jntv05.proofs import TRACES
from relaxboost.claims.jntv05.proxy import DUALS, PAIRS
from relaxboost.claims.jntv05.scheme import STREAMS
from relaxboost.claims.jntv05.setting import POINTS, law
from relaxboost.claims.jntv05.theorems import CONSTANTS, _bounded, _risk
from relaxboost.claims.sides import exactly, on_simplex

X = Source("X", "errors planted")


def planted(name, space, **options):
    return X.claim(name, "", name, formula="", space=space, **options)


@planted("Theorem 1 with half of the constant", RUNS)
def half_of_theorem_1(x):
    found, L, log, best = _bounded(x)
    excess = _risk(x, found, growing(L / math.sqrt(log), x.t)) - best
    return at_most(excess, x.radius * L * math.sqrt(log * (x.t + 1)) / x.t)


@planted("L_φ(λ) with φ' for |φ'|", POINTS)
def no_absolute_value(x):
    found = law(x)
    sizes = np.abs(found.slopes(x.radius * x.theta)).max()
    K = float(np.abs(found.S).max())
    return at_most(sizes, -K / (1.0 + math.exp(-K * x.radius)))


@planted("the entropy with α = 2/λ", PAIRS)
def twice_the_modulus(x):
    a, b = x.radius * x.x, x.radius * x.y
    bend = x.s * (1.0 - x.s) / x.radius * float(np.abs(a - b).sum()) ** 2
    ends = x.s * entropy(a, x.radius) + (1.0 - x.s) * entropy(b, x.radius)
    return at_most(entropy(x.s * a + (1.0 - x.s) * b, x.radius), ends - bend)


@planted("(9) without 1/M", DUALS)
def no_mean(x):
    best = gibbs(x.z, x.beta, x.radius)
    value = free_energy(x.z, x.beta, x.radius) + x.radius * x.beta * math.log(x.z.size)
    return equal(-float(x.z @ best) - x.beta * entropy(best, x.radius), value)


@planted("(10) with λ lost in the exponent", DUALS)
def scaled_temperature(x):
    theta = gibbs(x.z, x.beta * x.radius, x.radius)
    value = -float(x.z @ theta) - x.beta * entropy(theta, x.radius)
    return at_least(value, free_energy(x.z, x.beta, x.radius))


@planted("the Kullback divergence of the uniform distribution from θ", DUALS)
def other_divergence(x):
    assume(x.theta.min() > 1e-6)
    return equal(entropy(x.theta, 1.0), -float(np.log(x.theta * x.theta.size).mean()))


@planted("(21) with the sign of the step", STREAMS)
def other_sign(x):
    theta = iterates(x.U, x.gamma, growing(x.beta, len(x.U)), lambda z, b: gibbs(z, b, x.radius))
    mean = theta[0]
    for i in range(1, len(theta)):
        mean = mean + (mean - theta[i - 1]) / i
        yield equal(float(np.abs(mean - theta[:i].mean(axis=0)).max()), 0.0, round=i)


@planted("(11) is (23) with steps γ_i/β_{i−1}, for growing temperatures", STREAMS)
def same_scheme(x):
    beta = growing(x.beta, len(x.U))
    averaged = gibbs(x.gamma @ x.U, beta[-1], x.radius)
    steps = gibbs((x.gamma / beta[:-1]) @ x.U, 1.0, x.radius)
    return equal(float(np.abs(averaged - steps).max()), 0.0)


def regret(x, beta, last):
    """Measure Prop. 2 with any temperatures and β_last before V."""
    found = iterates(x.U, x.gamma, beta, lambda z, b: gibbs(z, b, x.radius))
    theta = x.radius * x.theta
    left = float(x.gamma @ ((found[:-1] - theta) * x.U).sum(axis=1))
    squares = float((x.gamma**2 * np.abs(x.U).max(axis=1) ** 2 / beta[:-1]).sum())
    return at_most(left, beta[last] * entropy(theta, x.radius) + x.radius / 2.0 * squares)


@planted("Proposition 2 with falling temperatures", TRACES)
def falling_temperatures(x):
    return regret(x, x.beta / np.sqrt(np.arange(1.0, len(x.U) + 2.0)) ** 3, -1)


@planted("Proposition 2 with β_0 V(θ) for β_t V(θ)", TRACES.but(sizes={"t": (1, 12), "n": (2, 3)}))
def first_temperature(x):
    return regret(x, x.beta * np.arange(1.0, len(x.U) + 2.0) ** 2, 0)


@planted("Proposition 2 with 1/(8αβ)", TRACES)
def quarter_of_the_squares(x):
    found = iterates(
        x.U, x.gamma, np.full(len(x.U) + 1, x.beta), lambda z, b: gibbs(z, b, x.radius)
    )
    theta = x.radius * x.theta
    left = float(x.gamma @ ((found[:-1] - theta) * x.U).sum(axis=1))
    squares = float((x.gamma**2 * np.abs(x.U).max(axis=1) ** 2).sum()) / x.beta
    return at_most(left, x.beta * entropy(theta, x.radius) + x.radius / 8.0 * squares)


@planted("(28) with √t for √(t + 1) throughout", CONSTANTS)
def no_one_more(x):
    log, first = math.log(x.theta.size), x.scale
    beta = growing(first, x.t)
    left = beta[-1] * log + float((1.0 / (2.0 * beta[:-1])).sum())
    return at_most(left, math.sqrt(x.t) * (first * log + 0.5 / first))


@planted("β_0 = L √(αV*)", CONSTANTS)
def inverse_balance(x):
    log = math.log(x.theta.size)
    best = x.L * math.sqrt(log)
    return at_most(best * log + x.L**2 / best, 2.0 * x.L * math.sqrt(log))


@planted("V* = ln M for every λ", CONSTANTS)
def no_radius(x):
    return equal(entropy(x.radius * np.eye(x.theta.size)[0], x.radius), math.log(x.theta.size))


@planted("(38) with 1/t for 2/t", RUNS.but(loss=Choice("hinge"), radius=Real(0.25, 1)))
def half_of_38(x):
    found, L, log, best = _bounded(x)
    beta = np.full(x.t + 1, L * math.sqrt(x.t / (2.0 * log)))
    bound = x.radius * L * math.sqrt(log / x.t) / 1.5
    return at_most(_risk(x, found, beta) - best, bound)


@planted("(36) with C_0 = −λ²/(s(s + 1))", PAIRS)
def no_e(x):
    s = 1.0 / math.log(x.x.size)
    more = x.radius**2 * (1.0 / math.e - 1.0) / (s * (s + 1.0))
    return at_least(powers(x.radius * x.x, x.radius) + more, 0)


@planted("(36) with α = 1", PAIRS)
def modulus_one(x):
    a, b = x.radius * x.x, x.radius * x.y
    bend = x.s * (1.0 - x.s) / 2.0 * float(np.abs(a - b).sum()) ** 2
    ends = x.s * powers(a, x.radius) + (1.0 - x.s) * powers(b, x.radius)
    return at_most(powers(x.s * a + (1.0 - x.s) * b, x.radius), ends - bend)


@planted("ratios of at least λ² g_M²", RATIOS)
def no_half(x):
    return at_least(_ratio(x), x.radius**2 * _largest_normal(x.x.size) ** 2)


@planted("(39) bounded by 1/2", CUBES)
def half_of_39(x):
    return at_most(_spread(on_simplex(exactly(x.a)), exactly(x.y)), 0.5)


@pytest.mark.parametrize("claim", X.claims.values(), ids=lambda c: c.id)
def test_an_error_is_found_out(claim):
    verdict = claim.attack(budget=400)
    assert verdict.status == "false as stated", str(verdict)
    instance = verdict.counterexample.instance
    length = claim.space.complexity(claim.space.from_json(instance))
    assert length <= 60.0, instance

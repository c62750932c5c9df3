"""TEL, line 18: the rate, the steps and the iterates, compared with those of classical AdaBoost."""

import math

import numpy as np

from relaxboost.claims.language import *
from relaxboost.claims.tel import SOURCE
from relaxboost.claims.votes import RUNS, adaboost, reweighting, risk, short_of_one


@SOURCE.claim("rate-product", space=RUNS)
def rate_product(x: Instance, step: str = "lecture") -> Slacks:
    bound = 1.0
    for vote in adaboost(x.A, x.t, step):
        bound *= math.sqrt(max(0.0, 1.0 - vote.edge**2))
        # If the edge is 1, the package makes a large step instead of an infinite one.
        if bound < 1e-6:
            return
        yield at_most(risk(x.A, vote.w), bound, "L(−A w_t), Π sqrt(1 − γ_i²)", vote.number)


@rate_product.corrected()
def rate_exponential(x: Instance) -> Slacks:
    for step in ("lecture", "classical"):
        total = 0.0
        for vote in adaboost(x.A, x.t, step):
            total += vote.edge**2
            bound = math.exp(-total / 2.0)
            yield at_most(risk(x.A, vote.w), bound, "L, exp(−Σ γ_i²/2)", vote.number)


@rate_exponential.step(space=Space(gamma=Real(0.0, 1.0)))
def _(x: Instance) -> Slacks:
    # Near γ = 0, both sides are compared in units of γ², so that their constants matter.
    gamma = max(x.gamma, 1e-3)
    size = max(x.gamma, 1e-3) ** 2
    bound = -math.expm1(-size / 2.0) / size
    drop = gamma * math.sinh(gamma) - 2.0 * math.sinh(gamma / 2.0) ** 2
    yield at_least(drop / size, 0.5, "1/2, (1 − cosh γ + γ sinh γ)/γ²")
    yield at_most(drop / size, 0.5 + size / 6.0, "(1 − cosh γ + γ sinh γ)/γ², 1/2 + γ²/6")
    yield at_least(1.0 / (1.0 + math.sqrt(1.0 - size)), bound, "1 − exp, 1 − sqrt(1 − γ²)")


rate_product_classical = rate_product.corrected()(lambda x: rate_product(x, "classical"))


@rate_product_classical.step(space=Space(gamma=Real(0.0, 0.99), other=Real(-3, 3)))
def _(x: Instance) -> Slacks:
    least = math.sqrt(1.0 - x.gamma**2)
    for eta in (math.atanh(x.gamma), x.other, x.gamma):
        found = math.cosh(eta) - x.gamma * math.sinh(eta)
        yield at_least(found, least, "sqrt(1 − γ²), cosh η − γ sinh η")
    eta = math.atanh(x.gamma)
    yield equal(math.cosh(eta) - x.gamma * math.sinh(eta), least, "at artanh γ")


@SOURCE.claim("step-classical", space=RUNS)
def step_classical(x: Instance, corrected: bool = False) -> Slacks:
    for vote in short_of_one(adaboost(x.A, x.t, "classical")):
        phi = reweighting(x.A, vote.before)
        edge = float(np.abs(x.A.T @ phi).max() / phi.sum())
        step = math.tanh(vote.step) if corrected else vote.step
        yield equal(edge, step, "‖Aᵀ∇L‖_∞/‖∇L‖_1, the step or its tanh", vote.number)


step_classical_corrected = step_classical.corrected()(lambda x: step_classical(x, True))


@step_classical_corrected.step(space=Space(gamma=Real(0.0, 0.99)))
def _(x: Instance) -> Slacks:
    eta = math.log((1.0 + x.gamma) / (1.0 - x.gamma)) / 2.0
    yield equal(math.tanh(eta), x.gamma, "tanh η, γ")
    yield at_most(math.tanh(eta), eta, "tanh η, η")

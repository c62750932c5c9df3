"""TEL: the two facts at the end of the lecture, on convex risks and classification error."""

import math
from collections.abc import Callable

import numpy as np

from relaxboost.claims.language import *
from relaxboost.claims.tel import SOURCE

LOSSES: dict[str, tuple[Callable[[float], float], float]] = {
    "exponential": (lambda z: math.exp(min(z, 500.0)), 1.0),
    "logistic": (lambda z: float(np.logaddexp(0.0, z)), 0.5),
    "hinge": (lambda z: max(0.0, 1.0 + z), 1.0),
    "squared": (lambda z: (1.0 + z) ** 2, 2.0),
    "squared hinge": (lambda z: max(0.0, 1.0 + z) ** 2, 2.0),
    "perceptron": (lambda z: max(0.0, z), 1.0),
    "skew": (lambda z: abs(1.0 + z) + 2.0 * max(0.0, z), 2.0),
    "linear": (lambda z: z, 1.0),
}
"""Convex losses ℓ by name, as functions of −y f(x), each with a positive subgradient at zero."""

AT_A_POINT = Space(
    epsilon=Real(0.02, 2.0, log=True), loss=Choice(*LOSSES), w=Real(1e-3, 10, log=True)
)


@SOURCE.claim("bad-set", space=Space(epsilon=Real(0.02, 2.0, log=True), loss=Choice(*LOSSES)))
def bad_set(x: Instance, bounded: bool = False) -> Slacks:
    if x.loss == "linear" and x.epsilon < 0.5:
        assume(not bounded)
        yield at_least(x.epsilon, 1.0 - x.epsilon, "1 − ε, error of the best w, a minimiser")
        return
    loss, s = LOSSES[x.loss]
    products = _products(x.epsilon)

    def risk(w: float) -> float:
        return float(np.mean([loss(-w * product) for product in products]))

    for w in (1e-3, 1e-2, 0.1, 1.0, 10.0):
        least = loss(0.0) - s * w * float(products.mean())
        yield at_least(risk(w), least, f"ℓ(0) − sw (1/k) Σ y_i x_i, risk at w = {w:g}")
    best = _minimiser(risk)
    yield at_most(risk(best), loss(0.0), "least risk, risk at 0")
    for w in (-100.0, -200.0, 100.0, 200.0):
        yield at_least(risk(w), risk(best), f"least on [−50, 50], risk at w = {w:g}")
    yield at_least(_error(best, products), 1.0 - x.epsilon, "1 − ε, error of the minimiser")
    yield at_most(_error(1.0, products), x.epsilon, "error of w = 1, ε")


bad_set_bounded = bad_set.corrected()(lambda x: bad_set(x, True))


@bad_set_bounded.step(space=AT_A_POINT)
def _(x: Instance) -> Slack:
    loss, s = LOSSES[x.loss]
    k = max(2, math.ceil(1.0 / x.epsilon))
    found = ((k - 1) * loss(-x.w) + loss(k * x.w)) / k
    return at_least(found, loss(0.0) + s * x.w / k, "ℓ(0) + sw/k, R(w)")


@bad_set_bounded.step(space=AT_A_POINT)
def _(x: Instance) -> Slack:
    loss, s = LOSSES[x.loss]
    assume(x.loss != "linear")
    k = max(2, math.ceil(1.0 / x.epsilon))
    found = ((k - 1) * loss(x.w) + loss(-k * x.w)) / k
    return at_least(found, (k - 1) * (loss(0.0) + s * x.w) / k, "R(−w), with inf ℓ = 0")


def _products(epsilon: float) -> Array:
    # The result has the products y_i x_i of the training set.
    if epsilon >= 0.5:
        return np.array([1.0, -1.0])
    k = math.ceil(1.0 / epsilon)
    return np.array([1.0] * (k - 1) + [-float(k)])


def _minimiser(risk: Callable[[float], float]) -> float:
    from scipy.optimize import minimize_scalar  # It loads slowly.

    found = minimize_scalar(risk, bounds=(-50.0, 50.0), method="bounded").x
    return 0.0 if risk(0.0) <= risk(found) else float(found)


def _error(w: float, products: Array) -> float:
    return float(np.mean(w * products <= 0.0))

"""TEL, the two facts announced at the end: convex risks and classification error."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator

import numpy as np

from relaxboost._core.arrays import Array
from relaxboost.claims import Choice, Instance, Real, Slack, Space, at_least, at_most
from relaxboost.claims.tel.source import SOURCE

LOSSES: dict[str, tuple[Callable[[float], float], float]] = {
    "exponential": (lambda z: math.exp(min(z, 500.0)), 1.0),
    "logistic": (lambda z: float(np.logaddexp(0.0, z)), 0.5),
    "hinge": (lambda z: max(0.0, 1.0 + z), 1.0),
    "squared": (lambda z: (1.0 + z) ** 2, 2.0),
    "squared hinge": (lambda z: max(0.0, 1.0 + z) ** 2, 2.0),
    "perceptron": (lambda z: max(0.0, z), 1.0),
    "skew": (lambda z: abs(1.0 + z) + 2.0 * max(0.0, z), 2.0),
}
"""Convex losses of −y f(x), bounded below, with a positive subgradient at zero."""


@SOURCE.claim(
    "bad-set",
    "Closing, first fact",
    "One training set makes the convex risk minimiser err on 1 − ε, whatever the loss.",
    formula="∀ε ∃ set ∀ convex ℓ with 0 < s in ∂ℓ(0): error of argmin Σ ℓ(−y_i w x_i) ≥ 1 − ε",
    given="linear predictors w x; ℓ bounded below, so that there is a minimiser; a prediction of 0 "
    "is an error",
    space=Space(epsilon=Real(0.02, 0.5, log=True), loss=Choice(*LOSSES)),
)
def bad_set(x: Instance) -> Iterator[Slack]:
    """k = ceil(1/ε) points: k − 1 at x = 1 and one at −k, all labelled 1.

    Risk at w > 0 is at least ℓ(0) + s w (k − (k − 1))/k > ℓ(0), so that the minimiser is w ≤ 0 and
    wrong on the k − 1, while w = 1 is wrong on one. Where 0 is also a subgradient w = 0 minimises.
    """
    loss, s = LOSSES[x.loss]
    k = math.ceil(1.0 / x.epsilon)
    points = np.array([1.0] * (k - 1) + [-float(k)])

    def risk(w: float) -> float:
        return ((k - 1) * loss(-w) + loss(k * w)) / k

    for w in (1e-3, 1e-2, 0.1, 1.0, 10.0):
        yield at_least(risk(w), loss(0.0) + s * w / k, f"risk at w = {w:g}, ℓ(0) + sw/k")
    best = _minimiser(risk)
    yield at_most(risk(best), loss(0.0), "least risk, risk at 0")
    yield at_least(_error(best, points), 1.0 - x.epsilon, "error of the minimiser, 1 − ε")
    yield at_most(_error(1.0, points), x.epsilon, "error of w = 1, ε")


def _minimiser(risk: Callable[[float], float]) -> float:
    """Return a minimiser on [−50, 50] by sections; an exact 0 if that is as good."""
    low, high = -50.0, 50.0
    for _ in range(200):
        left, right = low + (high - low) / 3.0, high - (high - low) / 3.0
        low, high = (low, right) if risk(left) <= risk(right) else (left, high)
    found = (low + high) / 2.0
    return 0.0 if risk(0.0) <= risk(found) else found


def _error(w: float, points: Array) -> float:
    return float(np.mean(w * points <= 0.0))


SOURCE.unchecked(
    "growing-class",
    "Closing, second fact",
    "As the class of predictors grows, the convex risk minimiser comes arbitrarily close to the "
    "optimal classification error.",
    "a limit over classes and samples that are not specified, so that no finite instance can "
    "contradict it; it also needs a condition on the loss, classification calibration, that is not "
    "stated, and the lecture defers it to the next one",
)

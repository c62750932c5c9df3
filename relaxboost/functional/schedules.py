"""Step sizes: those of the theorems, a line search, or the user's own."""

from __future__ import annotations

import math
from collections.abc import Callable
from numbers import Real
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from relaxboost.errors import InputError
from relaxboost.functional.losses import Risk
from relaxboost.functional.measure import Objective

Array = NDArray[np.float64]
Schedule: TypeAlias = Callable[[int, Array, Array], float]
"""η_t of round t, f_{t−1} and the direction."""

STEPS = ("1/Lambda", "2/(lambda t)", "1/(lambda t)", "1/sqrt(t)", "line-search")
"""GB11's Theorem 3; Theorem 4; Theorem 6; Theorems 5 and 7; the best step along the direction."""


def make(step: str | float | Callable[[int], float], risk: Risk, scale: float = 1.0) -> Schedule:
    """Return the schedule of a name, a number or a function of t, times `scale`.

    Raises
    ------
    InputError
        If the risk lacks the constant the schedule needs.
    """
    if isinstance(step, Real) and not isinstance(step, bool):
        eta = float(step)
        if not 0.0 < eta < math.inf:
            raise InputError(f"a step size must be positive, got {step!r}")
        return lambda t, F, direction: scale * eta
    if callable(step):
        return lambda t, F, direction: scale * _checked(step(t), t)
    if step not in STEPS:
        raise InputError(
            f"step must be one of {', '.join(STEPS)}, a number or a function of t, got {step!r}"
        )
    convex, smooth = risk.strong_convexity, risk.smoothness
    if "lambda" in step and not convex > 0.0:
        raise InputError(
            f'step={step!r} needs the strong convexity λ, and this risk has none; "1/sqrt(t)" '
            "needs no constant"
        )
    if step == "1/Lambda" and not smooth < math.inf:
        raise InputError(
            'step="1/Lambda" needs the smoothness Λ, and this risk has none; "1/sqrt(t)" needs no '
            "constant"
        )
    if step == "line-search":
        return lambda t, F, direction: scale * line_search(risk, F, direction)
    rules: dict[str, Callable[[int], float]] = {
        "1/Lambda": lambda t: 1.0 / smooth,
        "2/(lambda t)": lambda t: 2.0 / (convex * t),
        "1/(lambda t)": lambda t: 1.0 / (convex * t),
        "1/sqrt(t)": lambda t: 1.0 / math.sqrt(t),
    }
    rule = rules[step]
    return lambda t, F, direction: scale * rule(t)


def default(algorithm: str, risk: Risk) -> str:
    """Return the schedule of the theorem that covers an algorithm on this risk."""
    if algorithm == "naive" and risk.smoothness < math.inf:
        return "1/Lambda"
    if algorithm != "naive" and risk.strong_convexity > 0.0:
        return "2/(lambda t)" if algorithm == "repeated" else "1/(lambda t)"
    return "1/sqrt(t)"


def line_search(risk: Objective, F: Array, direction: Array) -> float:
    """Return the η >= 0 of least R[f − η·direction], by bisection on the slope; at most 2^40."""
    inner = risk.measure.inner

    def rises(eta: float) -> bool:
        return inner(risk.evaluate(F - eta * direction)[1], direction) <= 0.0

    if rises(0.0):
        return 0.0
    low, high = 0.0, 1.0
    while not rises(high):
        low, high = high, 2.0 * high
        if high > 2.0**40:
            return low
    for _ in range(50):
        middle = (low + high) / 2.0
        low, high = (low, middle) if rises(middle) else (middle, high)
    return high


def _checked(eta: float, t: int) -> float:
    if not (isinstance(eta, Real) and 0.0 <= float(eta) < math.inf):
        raise InputError(f"the step function gave {eta!r} at t = {t}; steps are finite and >= 0")
    return float(eta)

"""Friedman's TreeBoost: where the leaves are is projected, what they hold is fitted to the loss."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from relaxboost._core.arrays import Array
from relaxboost._core.errors import InputError
from relaxboost.functional.algorithms.base import Direction
from relaxboost.functional.algorithms.naive import Naive
from relaxboost.functional.learners import Pool, WeakLearner
from relaxboost.functional.losses import Risk
from relaxboost.functional.schedules import line_search


@dataclass(kw_only=True, eq=False, repr=False)
class Refitted(Naive):
    """Project the gradient as `Naive` does, then give each leaf a number fitted to the loss.

    f_t = f_{t−1} + η Σ_j v_j [x in leaf j]. For regression v_j minimises the loss of the examples
    of leaf j over all numbers: a weighted mean, median, quantile, Huber's estimate. For logistic
    and exponential losses, which need not have a minimum, it is a damped Newton step, class by
    class. With these R never rises if η <= 1 (1/K for K classes). Hinges have their corners
    rounded at the temperature τ = 1/2: what is projected and what is fitted is the risk R' with
    R <= R' <= R + τ log K, which never rises. For ranking it is the balance of the violated pairs;
    R may rise. For risks without a rule it is the projection, taken as far as R falls. It is none
    of GB11's algorithms, and no step depends on a constant of the risk.

    Parameters
    ----------
    step : optional
        As for `Algorithm`; by default the shrinkage η: 0.1, for stumps 0.3 but in ranking.
    scale, projection, iterate
        See `Algorithm`.

    References
    ----------
    Friedman (2001), Greedy function approximation, Sec. 4 (TreeBoost) and 5 (shrinkage).
    """

    name = "refitted"

    def default_step(self, risk: Risk, learner: WeakLearner) -> float:  # type: ignore[override]
        return risk.shrinkage or learner.shrinkage

    def wanted(self, gradient: Array, risk: Any, F: Array) -> Array:
        """Return the gradient, where the risk is a hinge that of a smooth one near it."""
        return risk.softened(F, gradient)

    def projection_for(self, learner: WeakLearner) -> str:
        """Return the projection to ask of a learner, or raise where it has no leaves."""
        if not learner.leafy:
            raise InputError(
                f"algorithm='refitted' gives new values to leaves, and {learner!r} has none to "
                "give; use stumps or trees, or algorithm='residual'"
            )
        return super().projection_for(learner)

    def refit(self, direction: Direction, pool: Pool, risk: Any, F: Array) -> Direction:
        """Return the direction with the leaves' values in place of the projection's."""
        if not direction.parts:
            return direction
        (part,) = direction.parts
        leaf, leaves = pool.leaves(part.hypothesis)
        values = risk.refitted(F, leaf, leaves)
        if values is None:
            eta = line_search(risk, F, part.point)
            part = part._replace(coefficient=eta * part.coefficient, point=eta * part.point)
            return Direction((part,), part.point)
        values = pool.allowed(part.hypothesis, values)
        outputs = (
            values.take(leaf, axis=0)
            if leaf.ndim == 1
            else np.take_along_axis(values, leaf, axis=0)
        )
        h = part.hypothesis.with_leaves(values)
        part = part._replace(hypothesis=h, coefficient=-1.0, point=-outputs)
        return Direction((part,), part.point)

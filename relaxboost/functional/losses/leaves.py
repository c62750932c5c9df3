"""The computation of leaf values, which are added to the predictions in each leaf."""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import count

import numpy as np

from relaxboost._core.arrays import Array, Whole
from relaxboost._core.rounding import RELATIVE_ROUNDING


def sums(leaf: Whole, values: Array, leaves: int) -> Array:
    """Return the sum of the values in each leaf."""
    return np.bincount(leaf, values, leaves).astype(np.float64, copy=False)


def means(leaf: Whole, weights: Array, values: Array, leaves: int) -> Array:
    """Return the weighted mean of the values in each leaf, or 0 for a leaf of weight 0."""
    weight = sums(leaf, weights, leaves)
    total = sums(leaf, weights * values, leaves)
    return np.divide(total, weight, out=np.zeros(leaves), where=weight > 0.0)


def quantiles(kinks: Array, weights: Array, low: Array, leaf: Whole) -> Array:
    """Return the weighted q-quantile of the numbers `kinks` in each leaf.

    The quantile minimises Σ w max(q (k − v), (q − 1)(k − v)) over v. Ties go to the minimiser
    nearest to 0, and a leaf of weight 0 has the value 0. The array `low` contains q Σ w for each
    leaf.
    """
    order = np.argsort(leaf, kind="stable")
    ends = np.bincount(leaf, minlength=low.size).cumsum()
    values = np.zeros(low.size)
    for i, rows in enumerate(np.split(order, ends[:-1])):
        held = rows[weights[rows] > 0.0]
        if held.size:
            held = held[np.argsort(kinks[held])]
            values[i] = _quantile(kinks[held], weights[held].cumsum(), low[i])
    return values


def _quantile(k: Array, below: Array, low: float) -> float:
    # The corners k are sorted, and `below` contains their cumulative weights.
    total = below[-1]
    # Sums of weights have rounding errors, which must not move v past a flat stretch.
    slack = RELATIVE_ROUNDING * total
    if low <= slack:
        # Every v up to the first corner is a minimiser.
        return min(0.0, k[np.searchsorted(below, slack)])
    goal = min(low, total) - slack
    v = k[np.searchsorted(below, goal)]
    # `following` is the index of the first corner to the right of v.
    following = np.searchsorted(k, v, side="right")
    if below[following - 1] - goal > 2.0 * slack:
        return v
    # The sum is flat from v to the next corner.
    return min(max(v, 0.0), k[following] if following < k.size else math.inf)


def damped(gradient: Array, curvature: Array) -> Array:
    """Return the damped Newton step −sign(G) log(1 + |G|/H) of each leaf.

    G and H are the weighted sums of the first and second derivatives of the losses.
    """
    # If |φ'''| <= φ'', as for exp and log(1 + exp), then φ(v) <= φ(0) + φ'(0) v + φ''(0) (e^|v| − 1
    # − |v|). The result v minimises this bound, so that φ(v) <= φ(0). It is at most as long as
    # Newton's step, and exists even if a leaf of one class has no minimiser. If H underflows to 0,
    # a larger H only makes v shorter.
    size = np.abs(gradient)
    # A positive H keeps the ratio |G|/H finite.
    least = np.finfo(float).tiny * np.maximum(size, 1.0)
    return -np.sign(gradient) * np.log1p(size / np.maximum(curvature, least))


def roots(
    slopes: Callable[[Array], tuple[Array, Array | None]],
    weights: Array,
    leaf: Whole,
    leaves: int,
    far: float = 1e100,
) -> Array:
    """Return the value v of each leaf that minimises its weighted sum of convex losses.

    If there is no minimum between −`far` and `far`, the value is one of these ends. The function
    `slopes` maps the values v of all examples to the first and second derivatives of the losses;
    unknown second derivatives are None.
    """
    # The method is Newton's, safeguarded by a bracket. If there are no derivatives, or if Newton's
    # step leaves the bracket, steps double until the sign changes, and bisection follows.
    newton_steps = 100
    low = np.full(leaves, -math.inf)
    high = np.full(leaves, math.inf)
    v = np.zeros(leaves)
    reach = np.ones(leaves)
    size = reach
    lost = np.zeros(leaves, dtype=bool)
    # With far = 1e100 the loop ends within 1100 turns: after the Newton steps, steps double beyond
    # 1e100 within 334 turns, and bisection shortens a bracket from 2e100 to 1e-100 in 667 turns.
    for turn in count():
        slope, bend = slopes(np.where(lost, 0.0, v)[leaf])
        g = sums(leaf, weights * slope, leaves)
        if turn == 0:
            size = sums(leaf, weights * np.abs(slope), leaves)
        # A sum within the rounding errors of its terms counts as 0.
        flat = np.abs(g) <= RELATIVE_ROUNDING * size
        low = np.where((g <= 0.0) | flat, v, low)
        high = np.where((g >= 0.0) | flat, v, high)
        inside = np.isfinite(low) & np.isfinite(high)
        with np.errstate(all="ignore"):
            fine = 1e-13 * np.maximum(np.abs(low), np.abs(high))
            closed = inside & (high - low <= np.maximum(fine, 1.0 / far))
            open_ = ~(lost | flat | closed)
            if not open_.any():
                return v
            other = np.where(inside, low / 2.0 + high / 2.0, v - np.sign(g) * reach)
            reach = np.where(inside, reach, 2.0 * reach)
            step = v
            if bend is not None and turn < newton_steps:
                step = v - g / sums(leaf, weights * bend, leaves)
            # Newton's step is taken only inside the bracket.
            good = (np.abs(step) < far) & (step > low) & (step < high)
        v = np.where(open_, np.where(good, step, other), v)
        lost |= ~(np.abs(v) < far)  # The negation also finds nan.
        v = np.clip(v, -far, far)
    raise AssertionError("unreachable code: the loop above always returns")

"""GB11, Sec. 2: the subgradients of the risk on the training set."""

from typing import Any

import numpy as np

from relaxboost.claims.gb11 import SOURCE
from relaxboost.claims.language import *


def loss(name: str, f: Array, y: Array) -> Array:
    """Return the square loss or the absolute loss l(f, y), entry by entry."""
    return (f - y) ** 2 / 2.0 if name == "square" else np.abs(f - y)


def slopes(name: str, f: Array, y: Array) -> tuple[Array, Array]:
    """Return the smallest and the largest subgradient in f of the loss l(f, y), for each entry."""
    if name == "square":
        return f - y, f - y
    kink = np.where(f == y, 1.0, 0.0)
    return np.sign(f - y) - kink, np.sign(f - y) + kink


@SOURCE.claim(
    "subgradients-emp",
    space=Space(
        sizes={"m": (1, 4)},
        f=Vector("m", -3, 3),
        g=Vector("m", -3, 3),
        y=Vector("m", -2, 2),
        loss=Choice("square", "absolute"),
        at=Choice("apart", "together"),
        share=Real(0, 1),
        off=Real(0.01, 1, log=True),
    ),
)
def empirical(x: Instance) -> Slacks:
    low, high = slopes(x.loss, x.f[_points(x)], x.y)
    for n, v in enumerate(_at_points(x)):
        yield at_least(v, float(low[n]), f"least subgradient of l, g(x_{n + 1})")
        yield at_most(v, float(high[n]), f"g(x_{n + 1}), largest subgradient of l")


@empirical.corrected()
def empirical_means(x: Instance) -> Slack:
    f, g = (values[_points(x)] for values in (x.f, x.g))
    tangent = loss(x.loss, f, x.y).mean() + (g - f) @ _at_points(x) / x.y.size
    return at_least(loss(x.loss, g, x.y).mean(), tangent, "R[f] + <g − f, ∇R[f]>, R[g]")


@empirical_means.step()
def _(x: Instance) -> Slacks:
    points = _points(x)
    f = x.f[points]
    low, high = slopes(x.loss, f, x.y)
    at = loss(x.loss, f, x.y)
    for point in np.unique(points):
        here = points == point
        for ends, sign in ((high, 1.0), (low, -1.0)):
            reach = min(_reach(x.loss, a, b, sign) for a, b in zip(f[here], x.y[here], strict=True))
            step = sign * min(reach, x.off)
            rise = (loss(x.loss, f + step * here, x.y) - at).mean()
            bound = step * (ends[here].mean() + sign * x.off)
            bound = (bound - abs(step) * x.off / 2.0) * here.mean()
            yield at_most(rise, bound, "R[f + s e] − R[f] for one that is off")


def _points(x: Instance) -> Any:
    # The result is the index of the point x_n of each example. All examples may share one point.
    return np.arange(x.y.size) * (x.at == "apart")


def _at_points(x: Instance) -> Array:
    points = _points(x)
    low, high = slopes(x.loss, x.f[points], x.y)
    v = low + x.share * (high - low)
    # A subgradient of the risk at x_n is the mean of subgradients of the loss over its examples.
    return np.array([v[points == point].mean() for point in points])


def _reach(name: str, f: float, y: float, sign: float) -> float:
    # In the direction `sign`, |f − y| is linear up to the kink at y.
    ahead = sign * (y - f)
    return min(1.0, ahead) if name == "absolute" and ahead > 0.0 else 1.0

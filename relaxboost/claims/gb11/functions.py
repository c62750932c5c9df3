"""GB11, Sec. 2: the subgradients on the training set."""

import numpy as np

from relaxboost.claims.fields import Rng, Sizes
from relaxboost.claims.gb11.source import SOURCE
from relaxboost.claims.language import *


class Places(Vector):
    """Where the examples are: numbers of points, 1, 2, ...; some may be at the same one."""

    def _clipped(self, value: Array) -> Array:
        return np.clip(np.round(value), self.low, self.high) + 0.0

    def structured(self, rng: Rng, sizes: Sizes) -> Array:
        return self._clipped(np.arange(1.0, self._shape(sizes)[0] + 1.0))


def loss(name: str, f: Array, y: Array) -> Array:
    """Return l(f, y) of each entry."""
    return (f - y) ** 2 / 2.0 if name == "square" else np.abs(f - y)


def slopes(name: str, f: Array, y: Array) -> tuple[Array, Array]:
    """Return the least and the largest subgradient in f of each entry."""
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
        at=Places("m", 1, 4),
        share=Real(0, 1),
        off=Real(0.01, 1, log=True),
    ),
)
def empirical(x: Instance) -> Slacks:
    low, high = slopes(x.loss, _values(x.f, x.at), x.y)
    for n, v in enumerate(_at_points(x)):
        yield at_least(v, float(low[n]), f"least subgradient of l, g(x_{n + 1})")
        yield at_most(v, float(high[n]), f"g(x_{n + 1}), largest subgradient of l")


@empirical.corrected()
def empirical_means(x: Instance) -> Slack:
    f, g = _values(x.f, x.at), _values(x.g, x.at)
    at, there = loss(x.loss, f, x.y).mean(), loss(x.loss, g, x.y).mean()
    tangent = at + (g - f) @ _at_points(x) / x.y.size
    return at_least(there, tangent, "R[g], R[f] + <g − f, ∇R[f]>")


@empirical_means.step()
def _(x: Instance) -> Slacks:
    f = _values(x.f, x.at)
    low, high = slopes(x.loss, f, x.y)
    at = loss(x.loss, f, x.y)
    for point in np.unique(x.at):
        here = x.at == point
        for ends, sign in ((high, 1.0), (low, -1.0)):
            reach = min(_reach(x.loss, a, b, sign) for a, b in zip(f[here], x.y[here], strict=True))
            step = sign * min(reach, x.off)
            rise = (loss(x.loss, f + step * here, x.y) - at).mean()
            bound = step * (ends[here].mean() + sign * x.off)
            bound = (bound - abs(step) * x.off / 2.0) * here.mean()
            yield at_most(rise, bound, "R[f + s e] − R[f] for one that is off")


def _values(f: Array, at: Array) -> Array:
    """Return f(x_n) for the examples: f has a value at each of the points 1, ..., m."""
    return np.asarray(f[(at.astype(int) - 1) % f.size])


def _at_points(x: Instance) -> Array:
    """Return g(x_n): the mean over the examples at x_n of subgradients of l, `share` of the way."""
    low, high = slopes(x.loss, _values(x.f, x.at), x.y)
    v = low + x.share * (high - low)
    return np.array([v[x.at == point].mean() for point in x.at])


def _reach(name: str, f: float, y: float, sign: float) -> float:
    """Return how far |f − y| is linear from f on in a direction; 1 for the square."""
    ahead = sign * (y - f)
    return min(1.0, ahead) if name == "absolute" and ahead > 0.0 else 1.0

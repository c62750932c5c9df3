"""GB11, Sec. 2: the space of functions, and subgradients on the training set."""

from fractions import Fraction

import numpy as np

from relaxboost.claims.fields import Rng, Sizes
from relaxboost.claims.gb11.source import SOURCE
from relaxboost.claims.language import *
from relaxboost.functional.measure import Empirical

LOSSES = ("square", "absolute", "hinge")


class Places(Vector):
    """Where the examples are: numbers of points, 1, 2, ...; some may be at the same one."""

    def _clipped(self, value: Array) -> Array:
        return np.clip(np.round(value), self.low, self.high) + 0.0

    def structured(self, rng: Rng, sizes: Sizes) -> Array:
        return self._clipped(np.arange(1.0, self._shape(sizes)[0] + 1.0))


POINTS = Space(
    sizes={"m": (1, 4)},
    f=Vector("m", -3, 3),
    g=Vector("m", -3, 3),
    y=Vector("m", -2, 2),
    loss=Choice(*LOSSES),
)
MOVES = {"share": Real(0, 1), "off": Real(0.01, 1, log=True)}
PLACES = POINTS.but(at=Places("m", 1, 4), share=MOVES["share"], off=MOVES["off"])
OUTPUTS = Space(
    sizes={"m": (1, 4), "k": (1, 3)},
    p=Distribution("m"),
    f=Matrix(-3, 3, axes=("m", "k")),
    g=Matrix(-3, 3, axes=("m", "k")),
)


@SOURCE.claim("Eq1", space=OUTPUTS)
def integral(x: Instance) -> Slack:
    p, f, g = exactly(x.p), exactly(x.f), exactly(x.g)
    total = sum(p)
    over_x = over_u = Fraction(0)
    for density, start, end in zip(p, f, g, strict=True):
        middle = (start + end) / 2
        ends = (sum(start**2) + 4 * sum(middle**2) + sum(end**2)) / 6
        over_x += ends * density  # the width is 1, the density p_i
        if density:  # the width is p_i, the density 1; x moves by (u − u_i)/p_i
            half = start + (end - start) * (density / 2 / density)
            over_u += density * (sum(start**2) + 4 * sum(half**2) + sum(end**2)) / 6
    return equal(over_x, over_u, f"∫ ‖f‖² p, E ‖f‖², P(X) = {float(total):g}")


@SOURCE.claim("inner", space=OUTPUTS)
def inner_product(x: Instance) -> Slacks:
    measure = Empirical(len(x.p), x.p)
    product, f, g = measure.inner(x.f, x.g), measure.norm(x.f), measure.norm(x.g)
    yield equal(product, float(x.p @ (x.f * x.g).sum(axis=1)), "<f, g>, E <f(x), g(x)>")
    yield equal(f**2, float(x.p @ (x.f * x.f).sum(axis=1)), "‖f‖², E ‖f(x)‖²")
    yield at_most(product**2, f**2 * g**2, "<f, g>², ‖f‖²‖g‖²")
    around = measure.norm(x.f + x.g) ** 2 + measure.norm(x.f - x.g) ** 2
    yield equal(around, 2.0 * f**2 + 2.0 * g**2, "‖f + g‖² + ‖f − g‖², 2‖f‖² + 2‖g‖²")


@SOURCE.claim("inner-empirical", space=PLACES)
def empirical_product(x: Instance) -> Slack:
    f, g = exactly(_values(x.f, x.at)), exactly(_values(x.g, x.at))
    points, counts = np.unique(x.at, return_counts=True)
    by_point = Fraction(0)
    for point, count in zip(points, counts.tolist(), strict=True):
        n = int(np.flatnonzero(x.at == point)[0])
        by_point += Fraction(count, x.at.size) * f[n] * g[n]
    return equal(by_point, sum(f * g) / x.at.size, "E_P̂ of the product, mean of the examples")


def _values(f: Array, at: Array) -> Array:
    """Return f(x_n) for the examples: f has a value at each of the points 1, ..., m."""
    return np.asarray(f[(at.astype(int) - 1) % f.size])


def loss(name: str, f: Array, y: Array) -> Array:
    """Return l(f, y) of each entry."""
    if name == "square":
        return (f - y) ** 2 / 2.0
    return np.abs(f - y) if name == "absolute" else np.maximum(0.0, 1.0 - y * f)


def slopes(name: str, f: Array, y: Array) -> tuple[Array, Array]:
    """Return the least and the largest subgradient in f of each entry."""
    if name == "square":
        return f - y, f - y
    if name == "absolute":
        kink = np.where(f == y, 1.0, 0.0)
        return np.sign(f - y) - kink, np.sign(f - y) + kink
    beside = np.where(y * f < 1.0, -y, 0.0)
    low, high = (np.where(y * f == 1.0, end(0.0, -y), beside) for end in (np.minimum, np.maximum))
    return low, high


@SOURCE.claim("subgradient", space=POINTS)
def definition(x: Instance) -> Slack:
    low, _ = slopes(x.loss, x.f, x.y)
    at, there = loss(x.loss, x.f, x.y).mean(), loss(x.loss, x.g, x.y).mean()
    return at_least(at, there + (x.f - x.g) @ low / x.y.size, "R[f], R[g] + <f − g, ∇R[f]>")


@definition.corrected()
def definition_corrected(x: Instance) -> Slacks:
    at, there = loss(x.loss, x.f, x.y).mean(), loss(x.loss, x.g, x.y).mean()
    for v in slopes(x.loss, x.f, x.y):
        tangent = at + (x.g - x.f) @ v / x.y.size
        yield at_least(there, tangent, "R[g], R[f] + <g − f, ∇R[f]>")


@definition_corrected.step()
def _(x: Instance) -> Slacks:
    for f in (x.f, x.y):  # with the kinks
        at, there = loss(x.loss, f, x.y), loss(x.loss, x.g, x.y)
        for v in slopes(x.loss, f, x.y):
            over = there - at - (x.g - f) * v
            yield at_least(float(over.min()), 0.0, "l(g, y) − l(f, y) − (g − f)v")


@SOURCE.claim(
    "subgradients-emp",
    space=PLACES,
    counterexamples=[
        {"f": [0.3, 0], "g": [0, 0], "y": [0, 1], "loss": loss_, "at": [1, 1], "share": 0, "off": 1}
        for loss_ in ("square", "absolute")
    ],
)
def empirical(x: Instance) -> Slacks:
    for n, v in enumerate(_at_points(x)):
        low, high = slopes(x.loss, _values(x.f, x.at)[n : n + 1], x.y[n : n + 1])
        yield at_least(v, float(low[0]), f"least subgradient of l, g(x_{n + 1})")
        yield at_most(v, float(high[0]), f"g(x_{n + 1}), largest subgradient of l")
    yield from _supports(x)


@empirical.corrected()
def empirical_apart(x: Instance) -> Slacks:
    assume(len(set(x.at.tolist())) == x.at.size)
    yield from empirical(x)
    yield from _nothing_else(x)


@empirical.corrected()
def empirical_means(x: Instance) -> Slacks:
    yield from _supports(x)
    yield from _nothing_else(x)


def _at_points(x: Instance) -> Array:
    """Return g(x_n): the mean over the examples at x_n of subgradients of l, `share` of the way."""
    low, high = slopes(x.loss, _values(x.f, x.at), x.y)
    v = low + x.share * (high - low)
    return np.array([v[x.at == point].mean() for point in x.at])


def _supports(x: Instance) -> Slacks:
    """R[g] >= R[f] + <g − f, v> for v of `_at_points`."""
    f, g = _values(x.f, x.at), _values(x.g, x.at)
    at, there = loss(x.loss, f, x.y).mean(), loss(x.loss, g, x.y).mean()
    tangent = at + (g - f) @ _at_points(x) / x.y.size
    yield at_least(there, tangent, "R[g], R[f] + <g − f, ∇R[f]>")


def _nothing_else(x: Instance) -> Slacks:
    """What is `off` beyond the means of subgradients at a point is no subgradient.

    For a short step s there, R[f + s e] − R[f] falls below s (l' + off/2) times the share.
    """
    f = _values(x.f, x.at)
    low, high = slopes(x.loss, f, x.y)
    at = loss(x.loss, f, x.y)
    for point in np.unique(x.at):
        here = x.at == point
        for ends, sign in ((high, 1.0), (low, -1.0)):
            reach = min(_reach(x.loss, a, b, sign) for a, b in zip(f[here], x.y[here], strict=True))
            step = sign * min(reach, x.off)
            rise = (loss(x.loss, f + step * here, x.y) - at).mean()
            share = here.mean()
            bound = step * (ends[here].mean() + sign * x.off) * share
            less = abs(step) * x.off / 2.0 * share
            yield at_most(rise, bound - less, "R[f + s e] − R[f] for one that is off")


def _reach(name: str, f: float, y: float, sign: float) -> float:
    """Return how far l is linear from f on in a direction, if it is not the square."""
    if name == "square" or (name == "hinge" and y == 0.0):
        return 1.0
    ahead = sign * ((y if name == "absolute" else 1.0 / y) - f)
    return float(min(1.0, ahead)) if ahead > 0.0 else 1.0


@SOURCE.claim(
    "subgradients-expected",
    space=Space(
        sizes={"m": (1, 4)},
        p=Distribution("m"),
        f=Vector("m", -3, 3),
        g=Vector("m", -3, 3),
        y=Vector("m", -2, 2),
        z=Vector("m", -2, 2),
        loss=Choice(*LOSSES),
        **MOVES,
    ),
)
def expected(x: Instance) -> Slacks:
    pairs = [slopes(x.loss, x.f, y) for y in (x.y, x.z)]
    low, high = ((pairs[0][end] + pairs[1][end]) / 2.0 for end in (0, 1))
    v, h = low + x.share * (high - low), x.g - x.f
    at, there = (_expectation(x, at) for at in (x.f, x.g))
    yield at_least(float(x.p @ there), float(x.p @ (at + h * v)), "R[h], R[f] + <h − f, g>")
    if x.loss == "square":
        yield equal(float(x.p @ (there - at - h * v)), x.p @ (h * h) / 2.0, "defect, ‖h − f‖²/2")
    for ends, sign in ((high, 1.0), (low, -1.0)):
        for n in np.flatnonzero(x.p > 1e-6):
            reach = min(_reach(x.loss, x.f[n], y[n], sign) for y in (x.y, x.z))
            step = sign * min(reach, x.off)
            rise = float((_expectation(x, x.f + step) - at)[n])  # times p_n, as R
            bound = step * (ends[n] + sign * x.off) - abs(step) * x.off / 2.0
            yield at_most(rise, bound, "(R[f + s e_n] − R[f])/p_n for one that is off")


def _expectation(x: Instance, f: Array) -> Array:
    """Return E_Y[l(f(x), y)] at each point."""
    return (loss(x.loss, f, x.y) + loss(x.loss, f, x.z)) / 2.0

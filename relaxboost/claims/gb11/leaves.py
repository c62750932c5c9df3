"""Leaves refitted to the loss (Friedman 2001) beside GB11's projections: what remains provable."""

import math
from functools import partial
from typing import Any

import numpy as np

from relaxboost import functional as fn
from relaxboost.claims.gb11.functions import Places
from relaxboost.claims.gb11.source import SOURCE
from relaxboost.claims.language import *
from relaxboost.functional.losses.leaves import roots, sums
from relaxboost.functional.schedules import line_search

LOSSES: dict[str, Any] = {
    "squared": fn.Squared(),
    "absolute": fn.Absolute(),
    "quantile": fn.Quantile(0.25),
    "huber": fn.Huber(0.5),
    "hinge": fn.Hinge(),
    "smooth hinge": fn.SmoothHinge(0.5),
    "logistic": fn.Logistic(),
    "exponential": fn.Exponential(),
}
_SMOOTH = ("squared", "huber", "smooth hinge")
ATTAINED = tuple(LOSSES)[:-2]
EXAMPLES = Space(
    sizes={"m": (1, 6)},
    p=Distribution("m"),
    f=Vector("m", -3, 3),
    y=Vector("m", -2, 2),
    leaf=Places("m", 1, 3),
    loss=Choice(*ATTAINED),
    eta=Real(0, 1),
)


def bound(x: Instance) -> Any:
    """Return the risk; of a loss of two classes the labels are the signs of y."""
    loss = LOSSES[x.loss]
    y = x.y if loss.task == "regression" else np.where(x.y < 0.0, -1.0, 1.0)
    return fn.losses.PointwiseRisk(loss, y, fn.Empirical(y.size, x.p), None)


def means(p: Array, values: Array, leaf: Any) -> Array:
    """Return the projection on the functions constant on leaves: the means in each."""
    leaves = int(leaf.max()) + 1
    weight = sums(leaf, p, leaves)
    return np.divide(sums(leaf, p * values, leaves), weight, out=np.zeros(leaves), where=weight > 0)


@SOURCE.claim("leaves", space=EXAMPLES)
def never_rises(x: Instance) -> Slacks:
    risk, leaf = bound(x), x.leaf.astype(int) - 1
    v = risk.loss.minimisers(x.f, risk.y, x.p, leaf, 3)[leaf]
    h = means(risk.measure.p, risk.evaluate(x.f)[1], leaf)[leaf]
    start = risk.value(x.f)
    best = risk.value(x.f - line_search(risk, x.f, h) * h)
    yield at_most(risk.value(x.f + x.eta * v), start - x.eta * (start - best), "R[f + ηv]")


def curved(z: Array, lam: float) -> tuple[Array, Array]:
    """Return λz²/2 + log cosh z, λ-strongly convex and (λ + 1)-smooth, and its slopes."""
    return lam * z * z / 2.0 + np.logaddexp(z, -z) - math.log(2.0), lam * z + np.tanh(z)


STUMPS = Space(
    sizes={"m": (2, 6)},
    f=Vector("m", -3, 3),
    y=Vector("m", -2, 2),
    lam=Real(0.05, 4.0, log=True),
    eta=Real(0.05, 1.0),
    T=Whole(1, 10),
)


@SOURCE.claim("leaves-rate", space=STUMPS).checked(trials=60)
def rate(x: Instance) -> Slacks:
    z, factor = x.f - x.y, 1.0
    p = np.full(z.size, 1.0 / z.size)
    start = float(p @ curved(z, x.lam)[0])
    assume(start > 1e-6)
    for t in range(1, x.T + 1):
        gradient = curved(z, x.lam)[1]
        length = math.sqrt(p @ gradient**2)
        if length**2 < 1e-16:
            return
        splits = [(np.arange(z.size) >= cut).astype(int) for cut in range(1, z.size)]
        found = [means(p, gradient, leaf)[leaf] for leaf in splits]
        lengths = [math.sqrt(p @ h**2) for h in found]
        best = int(np.argmax(lengths))
        factor *= 1.0 - x.eta * (lengths[best] / length) ** 2 * x.lam / (x.lam + 1.0)
        slopes = partial(_shifted, z, x.lam)
        z = z + x.eta * roots(slopes, p, splits[best], 2)[splits[best]]
        left = float(p @ curved(z, x.lam)[0])
        yield at_most(left / start, factor, "(R[f_T] − R*)/(R[f_0] − R*)", t)


def _shifted(z: Array, lam: float, v: Array) -> tuple[Array, None]:
    """Return the slopes at f + v for `roots`, which asks for second derivatives too."""
    return curved(z + v, lam)[1], None


@SOURCE.claim("leaves-damped", space=EXAMPLES.but(loss=Choice("logistic", "exponential")))
def damped(x: Instance) -> Slacks:
    risk, one = bound(x), np.zeros(x.y.size, dtype=int)
    v = float(risk.refitted(x.f, one, 1)[0])
    slope, bend = risk.loss.derivatives(x.f, risk.y)
    G, H = abs(float(x.p @ slope)), float(x.p @ bend)
    gain = (G + H) * math.log1p(G / H) - G
    yield at_least(gain, 0.0, "(|G| + H) log(1 + |G|/H) − |G|")
    yield at_least(risk.value(x.f) - risk.value(x.f + v), gain, "φ(0) − φ(v)")


@SOURCE.claim("leaves-stuck", space=EXAMPLES.but(loss=Choice(*_SMOOTH)))
def moves(x: Instance) -> Slacks:
    stuck = {**_STUCK, "f": np.ones(3), "leaf": np.ones(3), "loss": "hinge", "eta": 1.0}
    hinge, level, least = _lowest(Instance(stuck, {}))
    yield equal(least, level, "hinge: least R[f + v], R[f]")
    yield at_least(level, hinge.value(_minimiser(hinge)) + 0.3, "hinge: R[f], R[f*] + .3")
    risk, start, lowest = _lowest(x)
    gradient = risk.evaluate(x.f)[1]
    longest = max(risk.measure.norm(means(x.p, gradient, leaf)[leaf]) for leaf in _splits(x))
    yield at_most(lowest, start - longest**2 / (2.0 * risk.smoothness), "least R[f + v]")


_STUCK = {"p": np.array([0.4, 0.2, 0.4]), "y": np.array([1.0, -1.0, 1.0])}


def _splits(x: Instance) -> list[Any]:
    """Return both leaves of all stumps on a line, and the constant."""
    return [(np.arange(x.y.size) >= cut).astype(int) for cut in range(x.y.size)]


def _lowest(x: Instance) -> tuple[Any, float, float]:
    """Return the risk, R[f] and the least R[f + v] over all stumps."""
    risk = bound(x)
    values = [
        risk.value(x.f + risk.loss.minimisers(x.f, risk.y, x.p, leaf, 2)[leaf])
        for leaf in _splits(x)
    ]
    return risk, risk.value(x.f), min(values)


def _minimiser(risk: Any) -> Array:
    """Return f*: y itself, also for the hinge."""
    return np.asarray(risk.y)

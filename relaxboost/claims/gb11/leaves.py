"""Leaves refitted to the loss (Friedman 2001) beside GB11's projections: what remains provable."""

import math
from typing import Any

import numpy as np

from relaxboost import functional as fn
from relaxboost.claims.gb11.functions import Places
from relaxboost.claims.gb11.source import SOURCE
from relaxboost.claims.language import *
from relaxboost.functional.losses.leaves import sums
from relaxboost.functional.schedules import line_search

EXAMPLES = Space(
    sizes={"m": (1, 6)},
    p=Distribution("m"),
    f=Vector("m", -3, 3),
    y=Vector("m", -2, 2),
    leaf=Places("m", 1, 3),
    loss=Choice("Squared", "Absolute", "Quantile", "Huber", "Hinge", "SmoothHinge"),
    eta=Real(0, 1),
)


def bound(x: Instance) -> Any:
    """Return the risk; of a loss of two classes the labels are the signs of y."""
    loss = getattr(fn, x.loss)()
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


@SOURCE.claim("leaves-damped", space=EXAMPLES.but(loss=Choice("Logistic", "Exponential")))
def damped(x: Instance) -> Slacks:
    risk, one = bound(x), np.zeros(x.y.size, dtype=int)
    v = float(risk.refitted(x.f, one, 1)[0])
    slope, bend = risk.loss.derivatives(x.f, risk.y)
    G, H = abs(float(x.p @ slope)), float(x.p @ bend)
    gain = (G + H) * math.log1p(G / H) - G
    yield at_least(gain, 0.0, "(|G| + H) log(1 + |G|/H) − |G|")
    yield at_least(risk.value(x.f) - risk.value(x.f + v), gain, "φ(0) − φ(v)")


@SOURCE.claim("leaves-stuck", space=EXAMPLES.but(loss=Choice("Squared", "Huber", "SmoothHinge")))
def moves(x: Instance) -> Slacks:
    one = {"p": np.array([0.4, 0.2, 0.4]), "y": np.array([1.0, -1.0, 1.0]), "f": np.ones(3)}
    hinge, least = _lowest(Instance({**one, "loss": "Hinge"}, {}))
    yield equal(least, hinge.value(one["f"]), "hinge: least R[f + v], R[f]")
    yield at_least(hinge.value(one["f"]), hinge.value(one["y"]) + 0.3, "hinge: R[f], R[f*] + .3")
    risk, least = _lowest(x)
    gradient = risk.evaluate(x.f)[1]
    longest = max(risk.measure.norm(means(x.p, gradient, leaf)[leaf]) for leaf in _splits(x))
    most = risk.value(x.f) - longest**2 / (2.0 * risk.smoothness)
    yield at_most(least, most, "least R[f + v]")


def _splits(x: Instance) -> list[Any]:
    """Return both leaves of all stumps on a line, and the constant."""
    return [(np.arange(x.y.size) >= cut).astype(int) for cut in range(x.y.size)]


def _lowest(x: Instance) -> tuple[Any, float]:
    """Return the risk, and the least R[f + v] over all stumps."""
    risk = bound(x)
    refitted = (risk.loss.minimisers(x.f, risk.y, x.p, leaf, 2)[leaf] for leaf in _splits(x))
    return risk, min(risk.value(x.f + v) for v in refitted)

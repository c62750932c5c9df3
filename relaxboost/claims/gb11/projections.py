"""GB11, Sec. 3: the edge (Definition 1), and the projections of a gradient onto a hypothesis.

Projections by least squares and by inner products are checked, the latter also for classifiers.
"""

import math
from fractions import Fraction

import numpy as np

from relaxboost.claims.gb11 import SOURCE
from relaxboost.claims.gb11.problems import Hypotheses
from relaxboost.claims.language import *
from relaxboost.functional.learners import FiniteSet
from relaxboost.functional.measure import Empirical

PAIR = Space(sizes={"m": (1, 4)}, v=Vector("m", -3, 3), h=Vector("m", -10, 10))
CLASSES = Space(sizes={"m": (1, 4), "n": (1, 5)}, H=Hypotheses(), v=Vector("m", -3, 3))


def mean(f: Array, g: Array) -> Fraction:
    """Return the inner product <f, g> = (1/N) Σ f(x_n) g(x_n) as a fraction."""
    return sum(exactly(f) * exactly(g), Fraction(0)) / f.size


def left_over(v: Array, h: Array) -> Fraction:
    """Return the minimum of ‖v − αh‖² over α, which is ‖v‖² − <v, h>²/‖h‖², as a fraction."""
    return mean(v, v) - mean(v, h) ** 2 / mean(h, h)


def at_best(x: Instance) -> Slacks:
    """Check the Pythagorean theorem for v and its projection, which is the best multiple of h."""
    assume(bool(x.h.any()))
    best = mean(x.v, x.h) / mean(x.h, x.h)
    taken = best**2 * mean(x.h, x.h)
    square = mean(x.v, x.v) - 2 * best * mean(x.v, x.h) + taken
    yield equal(square, left_over(x.v, x.h), "‖∇ − h'‖², ‖∇‖² − <∇, h>²/‖h‖²")
    yield equal(square + taken, mean(x.v, x.v), "‖∇ − h'‖² + ‖h'‖², ‖∇‖²")


def _chosen(H: Array, v: Array, projection: str) -> Array:
    pool = FiniteSet().prepare(H, Empirical(v.size), None, projection, np.random.default_rng(0))
    return pool.nearest(v)[1]


def _columns(x: Instance) -> list[Array]:
    columns = [h for h in x.H.T if h.any()]
    assume(bool(columns) and bool(x.v.any()))
    return columns


def _length(v: Array, h: Array) -> float:
    return float(mean(v, h)) / math.sqrt(float(mean(h, h)))  # This is <v, h>/‖h‖.


@SOURCE.claim("Eq3", space=CLASSES)
def inner(x: Instance) -> Slacks:
    columns = _columns(x)
    h = _chosen(x.H, x.v, "least-squares")
    for other in columns:
        yield at_least(_length(x.v, h) + 1e-9, _length(x.v, other), "<∇, h>/‖h‖, <∇, h*>/‖h*‖")


@inner.corrected()
def inner_corrected(x: Instance) -> Slacks:
    columns = _columns(x)
    both = np.hstack([x.H, -x.H])
    rounding = mean(x.v, x.v) / 10**12  # The learner compares two h in floats.
    for found in (_chosen(x.H, x.v, "least-squares"), _chosen(both, x.v, "inner")):
        for other in columns:
            yield at_least(abs(_length(x.v, found)) + 1e-9, _length(x.v, other), "|<∇, h>|/‖h‖")
            yield at_most(left_over(x.v, found), left_over(x.v, other) + rounding, "‖∇ − h'‖²")


inner_corrected.step(space=PAIR)(at_best)


@SOURCE.claim("D1", space=PAIR)
def forms(x: Instance) -> Slack:
    assume(bool(x.v.any() and x.h.any()) and mean(x.v, x.h) >= 0)
    off = x.v - x.h
    return at_most(mean(off, off), left_over(x.v, x.h), "‖∇ − h‖², (1 − γ²)‖∇‖²")


@forms.corrected()
def forms_rescaled(x: Instance) -> Slack:
    assume(bool(x.v.any() and x.h.any()))
    gamma = float(mean(x.v, x.h)) / math.sqrt(float(mean(x.v, x.v) * mean(x.h, x.h)))
    right = (1.0 - gamma**2) * float(mean(x.v, x.v))
    return equal(float(left_over(x.v, x.h)), right, "‖∇ − h'‖², (1 − γ²)‖∇‖²")


forms_rescaled.step(space=PAIR)(at_best)


@SOURCE.claim(
    "classification",
    space=Space(sizes={"m": (1, 6), "n": (1, 6)}, H=Matrix(), v=Vector("m", -3, 3)),
)
def classification(x: Instance) -> Slacks:
    H = np.where(x.H >= 0.0, 1.0, -1.0)
    w = abs(exactly(x.v))
    labels = np.sign(x.v)
    errors = [sum(w[h != labels], Fraction(0)) for h in H.T]
    h = _chosen(H, x.v, "inner")
    taken = sum(w[h != labels], Fraction(0))
    yield equal(mean(x.v, h), (sum(w) - 2 * taken) / x.v.size, "<∇, h>")
    yield at_most(taken, min(errors) + sum(w) / 10**12, "weighted error, the least")


@classification.step()
def _(x: Instance) -> Slacks:
    for v in x.v.tolist():
        for h in (-1, 1):
            size = abs(Fraction(v))
            wrong = h * v < 0.0
            yield equal(Fraction(v) * h, size - 2 * wrong * size, "∇(x_n) h(x_n)")

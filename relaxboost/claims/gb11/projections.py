"""GB11, Sec. 3: the two projections, Definition 1, and what they are for classifiers."""

import math
from fractions import Fraction

import numpy as np

from relaxboost.claims.gb11.problems import Hypotheses
from relaxboost.claims.gb11.source import SOURCE
from relaxboost.claims.language import *
from relaxboost.functional.learners import FiniteSet
from relaxboost.functional.measure import Empirical

PAIR = Space(
    sizes={"m": (1, 4)}, v=Vector("m", -3, 3), h=Vector("m", -10, 10), alpha=Real(-3.0, 3.0)
)
CLASSES = Space(sizes={"m": (1, 4), "n": (1, 5)}, H=Hypotheses(), v=Vector("m", -3, 3))


def mean(f: Array, g: Array) -> Fraction:
    """Return <f, g> = (1/N) Σ f(x_n) g(x_n), exactly."""
    return sum(exactly(f) * exactly(g), Fraction(0)) / f.size


def left_over(v: Array, h: Array) -> Fraction:
    """Return min over α of ‖v − αh‖² = ‖v‖² − <v, h>²/‖h‖², exactly."""
    return mean(v, v) - mean(v, h) ** 2 / mean(h, h)


@SOURCE.claim("Eq2", space=PAIR)
def nearest(x: Instance) -> Slacks:
    assume(bool(x.h.any()))
    best = mean(x.v, x.h) / mean(x.h, x.h)
    for alpha in (Fraction(x.alpha), best + Fraction(x.alpha) / 1000, Fraction(0)):
        square = mean(x.v, x.v) - 2 * alpha * mean(x.v, x.h) + alpha**2 * mean(x.h, x.h)
        yield at_most(left_over(x.v, x.h), square, "‖∇ − h'‖², ‖∇ − αh‖²")
        rest = (alpha - best) ** 2 * mean(x.h, x.h)
        yield equal(square, left_over(x.v, x.h) + rest, "‖∇ − αh‖², ‖∇ − h'‖² + ‖h' − αh‖²")


@nearest.step()
def _(x: Instance) -> Slack:
    assume(bool(x.h.any()))
    best = mean(x.v, x.h) / mean(x.h, x.h)
    return equal(mean(x.v, x.h) - best * mean(x.h, x.h), 0, "<∇ − h', h>")


def at_best(x: Instance) -> Slacks:
    """Measure Pythagoras' theorem for the best multiple of h."""
    assume(bool(x.h.any()))
    best = mean(x.v, x.h) / mean(x.h, x.h)
    taken = best**2 * mean(x.h, x.h)
    square = mean(x.v, x.v) - 2 * best * mean(x.v, x.h) + taken
    yield equal(square, left_over(x.v, x.h), "‖∇ − h'‖², ‖∇‖² − <∇, h>²/‖h‖²")
    yield equal(square + taken, mean(x.v, x.v), "‖∇ − h'‖² + ‖h'‖², ‖∇‖²")


def nothing_left(x: Instance) -> Slack:
    """Measure what a projection on all of the space leaves over, which is nothing."""
    assume(bool(x.h.any()))
    return equal(left_over(x.v, x.h), 0, "‖∇ − h'‖²")


def _chosen(H: Array, v: Array, projection: str) -> Array:
    """Return the h that the package's learner takes."""
    pool = FiniteSet().prepare(H, Empirical(v.size), None, projection, np.random.default_rng(0))
    return pool.nearest(v)[1]


def _columns(x: Instance) -> list[Array]:
    columns = [h for h in x.H.T if h.any()]
    assume(bool(columns) and bool(x.v.any()))
    return columns


@SOURCE.claim("Eq3", space=CLASSES)
def inner(x: Instance) -> Slacks:
    columns, h = _columns(x), _chosen(x.H, x.v, "inner")
    assume(bool(h.any()))
    for other in columns:
        yield at_most(left_over(x.v, h), left_over(x.v, other) + _rounding(x), "‖∇ − h'‖²")
    yield from _longest(x, x.H)


def _longest(x: Instance, H: Array) -> Slacks:
    """Compare <∇, h>/‖h‖ of the h of least error with those of all h. Of ±h the first counts."""
    h = _chosen(x.H, x.v, "least-squares")
    sign = 1.0 if H is x.H or mean(x.v, h) >= 0 else -1.0
    length = sign * float(mean(x.v, h)) / math.sqrt(float(mean(h, h)))
    for other in H.T:
        if other.any():
            rest = float(mean(x.v, other)) / math.sqrt(float(mean(other, other)))
            yield at_least(length + 1e-9, rest, "<∇, h*>/‖h*‖, <∇, h>/‖h‖")


@inner.corrected()
def inner_corrected(x: Instance) -> Slacks:
    columns, both = _columns(x), np.hstack([x.H, -x.H])
    yield from _longest(x, both)
    for found in (_chosen(x.H, x.v, "least-squares"), _chosen(both, x.v, "inner")):
        for other in columns:
            yield at_most(left_over(x.v, found), left_over(x.v, other) + _rounding(x), "‖∇ − h'‖²")


inner_corrected.step(space=PAIR)(at_best)


def _rounding(x: Instance) -> Fraction:
    """Of the learner's comparison of two h that are as good, which is made in doubles."""
    return Fraction(1, 10**12) * mean(x.v, x.v)


@SOURCE.claim("Eq4", space=CLASSES)
def least_squares(x: Instance) -> Slacks:
    columns = _columns(x)
    v, unit = x.v, [h / math.sqrt(float(mean(h, h))) for h in columns]
    length = max(abs(float(mean(v, u))) for u in unit)
    best = min(left_over(v, h) for h in columns)
    yield equal(float(best), float(mean(v, v)) - length**2, "min ‖∇ − αh‖², ‖∇‖² − <∇, h*>²/‖h*‖²")
    h = _chosen(x.H, x.v, "least-squares")
    yield at_most(left_over(v, h), best + _rounding(x), "‖∇ − h'‖² of the learner")
    for alpha in x.rng.normal(size=40) * 3.0:
        for other in columns:
            off = v - alpha * other
            yield at_least(float(mean(off, off)), float(best), "‖∇ − αh‖², min")


least_squares.step(space=PAIR)(at_best)


@SOURCE.claim("D1", space=Space(sizes={"m": (1, 4)}, v=Vector("m", -3, 3), h=Vector("m", -10, 10)))
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


@forms.corrected()
def second_implies_first(x: Instance) -> Slacks:
    assume(bool(x.v.any() and x.h.any()))
    best = mean(x.v, x.h) / mean(x.h, x.h)
    for share in (Fraction(1, 4), Fraction(1, 1), Fraction(3, 2)):
        inner, length = best * share * mean(x.v, x.h), (best * share) ** 2 * mean(x.h, x.h)
        square = mean(x.v, x.v)
        gamma = max(1 - (square - 2 * inner + length) / square, Fraction(0))
        yield at_least(inner**2, gamma * square * length, "<∇, h>², γ²‖∇‖²‖h‖²")
        yield at_least(inner, 0, "<∇, h>")


@second_implies_first.step(space=Space(a=Real(0, 9), b=Real(0, 9)))
def _(x: Instance) -> Slacks:
    for b in (x.b, x.a):
        a, b = Fraction(x.a), Fraction(b)
        yield at_least(a**2 + b**2, 2 * a * b, "a² + b², 2ab")


@SOURCE.claim(
    "classification",
    space=Space(sizes={"m": (1, 6), "n": (1, 6)}, H=Matrix(), v=Vector("m", -3, 3)),
)
def classification(x: Instance) -> Slacks:
    H = np.where(x.H >= 0.0, 1.0, -1.0)
    weights, labels = [abs(Fraction(v)) for v in x.v.tolist()], np.sign(x.v)
    errors = []
    for h in H.T:
        wrong = sum((w for w, a, b in zip(weights, h, labels, strict=True) if a != b), Fraction(0))
        yield equal(mean(x.v, h), (sum(weights) - 2 * wrong) / x.v.size, "<∇, h>")
        errors.append(wrong)
    h = _chosen(H, x.v, "inner")
    taken = sum((w for w, a, b in zip(weights, h, labels, strict=True) if a != b), Fraction(0))
    yield at_most(taken, min(errors) + sum(weights) / 10**12, "weighted error, the least")


@classification.step()
def _(x: Instance) -> Slacks:
    for v in x.v.tolist():
        for h in (-1, 1):
            size, wrong = abs(Fraction(v)), h * v < 0.0
            yield equal(Fraction(v) * h, size - 2 * wrong * size, "∇(x_n) h(x_n)")


@SOURCE.claim(
    "regression",
    space=Space(
        sizes={"m": (1, 5)},
        v=Matrix(-2, 2, axes=("m", "k")),
        h=Matrix(-2, 2, axes=("m", "k")),
        alpha=Real(-3, 3),
    ),
)
def regression(x: Instance) -> Slack:
    measure, best = Empirical(len(x.v)), _regressed(x)
    least = measure.norm(x.v - best * x.h)
    return at_most(measure.norm(x.v - x.alpha * x.h), least, "‖∇ − h*‖ for h* = αh, least")


@regression.corrected()
def regression_corrected(x: Instance) -> Slacks:
    measure, alpha = Empirical(len(x.v)), _regressed(x)
    yield equal(alpha, measure.inner(x.v, x.h) / measure.inner(x.h, x.h), "coefficient")
    for size in (alpha, x.alpha):
        loss = float(sum(((a - size * b) ** 2).sum() for a, b in zip(x.v, x.h, strict=True)))
        norm = measure.norm(x.v - size * x.h)
        yield equal(norm**2, loss / len(x.v), "‖∇ − h‖², (1/N) Σ ‖∇(x_n) − h(x_n)‖²")


regression_corrected.step(space=PAIR)(at_best)


def _regressed(x: Instance) -> float:
    assume(bool((np.abs(x.h) > 1e-3).any()))
    return float(np.linalg.lstsq(x.h.reshape(-1, 1), x.v.ravel(), rcond=None)[0][0])

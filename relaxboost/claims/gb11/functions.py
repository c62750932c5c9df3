"""GB11, Sec. 2: subgradients in the space of functions on the training set."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from relaxboost._core.arrays import Array
from relaxboost.claims import (
    Choice,
    Distribution,
    Instance,
    Real,
    Slack,
    Space,
    Vector,
    at_least,
    at_most,
    equal,
)
from relaxboost.claims.gb11.source import SOURCE

LOSSES = ("square", "absolute", "hinge")
POINTS = Space(
    sizes={"m": (1, 4)},
    f=Vector("m", -3, 3),
    g=Vector("m", -3, 3),
    y=Vector("m", -2, 2),
    loss=Choice(*LOSSES),
)


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


@SOURCE.claim(
    "subgradient",
    "Sec. 2, definition of a subgradient",
    "∇R[f] is a subgradient iff R[f] ≥ R[g] + <f − g, ∇R[f]>.",
    formula="R[f] ≥ R[g] + <f − g, ∇R[f]> for every g",
    given="R[f] = (1/N) Σ l(f(x_n), y_n) and its gradient",
    space=POINTS,
    counterexamples=[{"f": [0], "g": [1], "y": [0], "loss": "square"}],
)
def definition(x: Instance) -> Slack:
    """Reversed: convexity has R[g] >= R[f] + <g − f, ∇R[f]>. As printed ∇ would be one at g.

    The proofs use it the right way round.
    """
    low, _ = slopes(x.loss, x.f, x.y)
    at, there = loss(x.loss, x.f, x.y).mean(), loss(x.loss, x.g, x.y).mean()
    return at_least(at, there + (x.f - x.g) @ low / x.y.size, "R[f], R[g] + <f − g, ∇R[f]>")


@definition.corrected(
    "∇R[f] is one iff R[g] ≥ R[f] + <g − f, ∇R[f]>.", "R[g] ≥ R[f] + <g − f, ∇R[f]> for every g"
)
def definition_corrected(x: Instance) -> Iterator[Slack]:
    """The usual definition."""
    yield from _supports(x, 0.0)
    yield from _supports(x, 1.0)


def _supports(x: Instance, share: float) -> Iterator[Slack]:
    low, high = slopes(x.loss, x.f, x.y)
    v = low + share * (high - low)
    at, there = loss(x.loss, x.f, x.y).mean(), loss(x.loss, x.g, x.y).mean()
    yield at_least(there, at + (x.g - x.f) @ v / x.y.size, "R[g], R[f] + <g − f, ∇R[f]>")


@SOURCE.claim(
    "subgradients-emp",
    "Sec. 2, subgradients of the empirical risk",
    "The subgradients of R_emp in L²(P̂) are the functions of subgradients of l, without 1/N.",
    formula="∇R_emp[f] = {g | g(x_n) ∈ ∇_1 l(f(x_n), y_n)}",
    given="l the squared, absolute or hinge loss",
    space=POINTS.but(share=Real(0, 1), off=Real(0.01, 1, log=True)),
)
def empirical(x: Instance) -> Iterator[Slack]:
    """1/N is in <g, h> as it is in R. One that is `off` at a point is none, as a move there shows.

    For s small enough R[f + s e_n] − R[f] falls below s (l' + off)/N, at s = off for the square.
    """
    yield from _supports(x, x.share)
    low, high = slopes(x.loss, x.f, x.y)
    at, size = loss(x.loss, x.f, x.y), x.y.size
    for n in range(size):
        for v, s in ((high[n] + x.off, 1.0), (low[n] - x.off, -1.0)):
            step = s * min(_reach(x, n, s), x.off)
            moved = loss(x.loss, x.f + step * np.eye(size)[n], x.y)
            rise, bound = (moved - at).mean(), step * v / size
            less = abs(step) * x.off / (2.0 * size)
            yield at_most(rise, bound - less, "R[f + s e_n] − R[f] for one that is off")


def _reach(x: Instance, n: int, sign: float) -> float:
    """Return how far l is linear from f(x_n) on in a direction, if it is not the square."""
    f, y = float(x.f[n]), float(x.y[n])
    if x.loss == "square" or (x.loss == "hinge" and y == 0.0):
        return 1.0
    ahead = sign * ((y if x.loss == "absolute" else 1.0 / y) - f)
    return min(1.0, ahead) if ahead > 0.0 else 1.0


@SOURCE.claim(
    "subgradients-expected",
    "Sec. 2, subgradients of the expected loss",
    "Expectations over y of subgradients of l are subgradients of the expected risk.",
    formula="g(x) ∈ E_Y[∇_1 l(f(x), y)] ⇒ R[h] ≥ R[f] + <h − f, g>_P",
    given="a finite law: x by P, y uniform on two values",
    space=Space(
        sizes={"m": (1, 4)},
        p=Distribution("m"),
        f=Vector("m", -3, 3),
        g=Vector("m", -3, 3),
        y=Vector("m", -2, 2),
        z=Vector("m", -2, 2),
        loss=Choice(*LOSSES),
        share=Real(0, 1),
    ),
)
def expected(x: Instance) -> Iterator[Slack]:
    """Subgradients add up. For the squared loss the defect is exactly ‖h − f‖²/2."""
    v, at, there = np.zeros_like(x.f), 0.0, 0.0
    for y in (x.y, x.z):
        low, high = slopes(x.loss, x.f, y)
        v = v + (low + x.share * (high - low)) / 2.0
        at += float(x.p @ loss(x.loss, x.f, y)) / 2.0
        there += float(x.p @ loss(x.loss, x.g, y)) / 2.0
    h = x.g - x.f
    yield at_least(there, at + x.p @ (h * v), "R[h], R[f] + <h − f, g>")
    if x.loss == "square":
        yield equal(there - at - x.p @ (h * v), x.p @ (h * h) / 2.0, "defect, ‖h − f‖²/2")

"""DEK11, Sec. 2 and Theorem 1: constrained gradient descent, its projection and its regret."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator

import numpy as np

from relaxboost._core.arrays import Array
from relaxboost.claims import (
    Choice,
    Instance,
    Real,
    Slack,
    Space,
    Vector,
    Whole,
    assume,
    at_least,
    at_most,
    equal,
)
from relaxboost.claims.dek11.runs import (
    LOSSES,
    STREAMS,
    Passed,
    highest,
    longest,
    one,
    project,
    rescale,
    signs,
    steepest,
)
from relaxboost.claims.dek11.source import SOURCE
from relaxboost.game.domains import L2Ball
from relaxboost.online import GradientDescent, Horizon

POINTS = Space(
    sizes={"n": (1, 4)}, v=Vector("n", -3, 3), w=Vector("n", -3, 3), B=Real(0.25, 4.0, log=True)
)


def learned(x: Instance) -> Passed:
    """Return the run of the package's gradient descent on the stream of an instance."""
    X, y = longest(x.A), signs(x.y)
    method = GradientDescent(
        x.loss, over=L2Ball(x.B), schedule=Horizon(len(x.A)), bound=X * (1.0 + 1e-12), targets=1.0
    )
    learner = method.start(x.A.shape[1])
    weights = [learner.w]
    for h, target in zip(x.A, y, strict=True):
        learner.update(h, float(target))
        weights.append(learner.w)
    w = np.array(weights)[None]
    return Passed(w, *one(x).of(w[:, :-1]))


def step(x: Instance) -> tuple[float, float]:
    """Return λX and η = B/(λX√m)."""
    X = longest(x.A)
    steep = steepest(x.loss, x.B * X) * X
    return steep, x.B / (steep * math.sqrt(len(x.A)))


@SOURCE.claim(
    "projection",
    "Sec. 2",
    "Π[w] = B w/‖w‖ is the projection onto the ball of radius B.",
    formula="‖Π[v] − v‖ ≤ ‖w − v‖ for every w in H, Π[v] = (B/‖v‖) v",
    given="H = {w : ‖w‖_2 ≤ B}; v ≠ 0",
    space=POINTS,
    counterexamples=[{"v": ["1/2"], "w": ["1/2"], "B": 1}],
)
def projection(x: Instance, onto: Callable[[Array, float], Array] = rescale) -> Slack:
    """Only outside of the ball. Points within are moved to its boundary, and 0 has no image."""
    assume(bool(x.v.any()))
    w = project(x.w, x.B)
    left, right = np.linalg.norm(onto(x.v, x.B) - x.v), np.linalg.norm(w - x.v)
    return at_most(float(left), float(right), "‖Π[v] − v‖, ‖w − v‖")


@projection.corrected("Π[w] = w/max(1, ‖w‖/B) is.", "‖Π[v] − v‖ ≤ ‖w − v‖ for every w in H")
def projection_corrected(x: Instance) -> Iterator[Slack]:
    """v within stays where it is; else ‖w − v‖ ≥ ‖v‖ − ‖w‖ ≥ ‖v‖ − B."""
    yield projection(x, project)[0]
    yield at_most(float(np.linalg.norm(project(x.v, x.B))), x.B, "‖Π[v]‖, B")


@SOURCE.claim(
    "class",
    "Sec. 2",
    "A λ-Lipschitz convex loss has values in [0, c] and subgradients of norm λX at most.",
    formula="0 ≤ l(w; z) ≤ c, ‖∇l(w; z)‖ ≤ λ‖x‖ ≤ λX for w in H, x in X",
    given="l(w; (x, y)) = φ(<w, x>, y) with φ λ-Lipschitz and at most c for |<w, x>| ≤ BX, y = ±1",
    space=STREAMS,
).checked(trials=60)
def lipschitz(x: Instance) -> Iterator[Slack]:
    """Where predictions range over all numbers, a convex φ that is bounded is constant.

    So c, and for the exponential loss λ, belong to the predictions of the class: the hinge loss
    has λ = 1 and c = 1 + BX, the exponential loss λ = c = e^(BX).
    """
    X, w = longest(x.A), project(10.0 * x.w, x.B)
    steep, c = steepest(x.loss, x.B * X), highest(x.loss, x.B * X)
    values, slopes = one(x).of(w)
    yield at_least(float(values.min()), 0.0, "l, 0")
    yield at_most(float(values.max()), c, "l, c")
    sizes = np.linalg.norm(x.A, axis=1)
    excess = np.linalg.norm(slopes[0], axis=1) - steep * sizes
    yield at_most(float(excess.max()), 0.0, "‖∇l‖ − λ‖x‖")
    yield at_most(float(sizes.max()), X, "‖x‖, X")


@SOURCE.claim(
    "A1",
    "Algorithm 1",
    "Constrained gradient descent starts at 0 and projects each step; the package does so.",
    formula="w_0 = 0, w_i = Π[w_{i−1} − η∇l_i(w_{i−1})]",
    given="Π the nearest point; η = B/(λX√m); printed <w_{i−1}, x> for <w_{i−1}, x_i>",
    space=STREAMS,
).checked(trials=40)
def algorithm(x: Instance) -> Iterator[Slack]:
    """`GradientDescent` with `Horizon(m)` on `L2Ball(B)`, against the pseudocode in NumPy."""
    _, eta = step(x)
    found, expected = learned(x), one(x).descended(x.B, eta)
    off = np.abs(found.w - expected.w).max()
    yield equal(float(off) / x.B, 0.0, "distance of the two runs, over B")
    yield at_most(float(np.linalg.norm(found.w[0], axis=1).max()), x.B, "‖w_i‖, B")


@SOURCE.claim(
    "T1",
    "Theorem 1",
    "The regret of constrained gradient descent is at most λXB√m.",
    formula="Σ l_i(w_{i−1}) ≤ Σ l_i(w*) + λXB√m",
    given="any w* in H and any stream, in any order; η = B/(λX√m); Π[w] = B w/‖w‖ as in Sec. 2",
    space=STREAMS,
    counterexamples=[
        {"A": [["1/100"], [1]], "y": [1, -1], "w": [-1], "B": 1, "loss": "hinge"},
        {
            "A": [["1/100"], *[[1]] * 99],
            "y": [1, *[-1] * 99],
            "w": [-1],
            "B": 1,
            "loss": "hinge",
        },
    ],
)
def theorem_1(x: Instance, onto: Callable[..., Array] | None = rescale) -> Iterator[Slack]:
    """With that projection every w_i is on the boundary, and may stay at the wrong end for ever.

    Measured as Σ <∇l_i(w_{i−1}), w_{i−1} − w>, which is at least the regret against every w.
    """
    steep, eta = step(x)
    run = learned(x) if onto is None else one(x).descended(x.B, eta, onto)
    right = steep * x.B * math.sqrt(len(x.A))
    w = project(x.w, x.B)
    left = float((run.losses - one(x).of(w)[0]).sum())
    yield at_most(left, right, "regret against w")
    far = x.B * float(np.linalg.norm(run.slopes.sum(axis=(0, 1))))
    yield at_most(left, float(run.linear()[0]) + far, "regret against w, linearised regret")
    if onto is None:
        yield at_most(float(run.linear()[0]) + far, right, "linearised regret")


@theorem_1.corrected("It is, with Π[w] = w/max(1, ‖w‖/B).", "Σ l_i(w_{i−1}) ≤ Σ l_i(w*) + λXB√m")
def theorem_1_corrected(x: Instance) -> Iterator[Slack]:
    """The claims below. Attained for every square m: DEK11-T1-rate."""
    yield from theorem_1(x, None)


@SOURCE.claim(
    "T1-regret",
    "Theorem 1, last display",
    "The regret is at most λBX√n.",
    formula="Regret ≤ λBX√n",
    given="Π the nearest point; w* the best of H in hindsight",
    space=STREAMS,
    counterexamples=[{"A": [[1], [1]], "y": [-1, -1], "w": [-1], "B": 1, "loss": "hinge"}],
)
def root_of_n(x: Instance, rounds: bool = False) -> Slack:
    """n is the dimension, here 1: 2 − 1/√2 > 1. The theorem has √m three lines above."""
    steep, _ = step(x)
    run, (m, n) = learned(x), x.A.shape
    left = float((run.losses - one(x).of(project(x.w, x.B))[0]).sum())
    return at_most(left, steep * x.B * math.sqrt(m if rounds else n), "regret")


@root_of_n.corrected("It is at most λBX√m.", "Regret ≤ λBX√m")
def root_of_m(x: Instance) -> Iterator[Slack]:
    """As the theorem begins."""
    yield root_of_n(x, True)[0]


@SOURCE.claim(
    "T1-rate",
    "After the proof of Theorem 1",
    "The regret grows sub-linearly, and per example goes to 0 at the rate 1/√m.",
    formula="Regret/m ≤ λXB/√m",
    given="hinge loss with BX = 1, m = r²: here x = X, labels +1 and −1 by turns and at last r "
    "times +1",
    space=Space(r=Whole(1, 12), B=Real(0.25, 4.0, log=True), first=Choice("up", "down")),
)
def rate(x: Instance) -> Iterator[Slack]:
    """Equal, so that neither the constant nor the rate can be better.

    The weights move by η along the partial sums of the labels and never leave the class, which
    makes every step of the proof an equality.
    """
    r, m = x.r, x.r**2
    pair = (1.0, -1.0) if x.first == "up" else (-1.0, 1.0)
    y = np.array([*pair * ((m - r) // 2), *[1.0] * r])
    method = GradientDescent("hinge", over=L2Ball(x.B), schedule=Horizon(m), bound=1.0 / x.B)
    learner = method.start(1)
    learner.update(np.full((m, 1), 1.0 / x.B), y)
    best = min(float(LOSSES["hinge"].pointwise(np.full(m, s), y)[0].sum()) for s in (1.0, -1.0))
    regret = (learner.loss - best) / m
    yield equal(regret, 1.0 / math.sqrt(m), "Regret/m, λXB/√m")

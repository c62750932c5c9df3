"""DEK11, Sec. 2 and Theorem 1: constrained gradient descent, its projection and its regret."""

import math
from collections.abc import Callable

import numpy as np

from relaxboost.claims.dek11.runs import (
    LOSSES,
    STREAMS,
    Passed,
    Sequences,
    highest,
    longest,
    one,
    project,
    rescale,
    signs,
    steepest,
)
from relaxboost.claims.dek11.source import SOURCE
from relaxboost.claims.language import *
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


@SOURCE.claim("projection", space=POINTS)
def projection(x: Instance, onto: Callable[[Array, float], Array] = rescale) -> Slack:
    assume(bool(x.v.any()))
    w = project(x.w, x.B)
    left, right = np.linalg.norm(onto(x.v, x.B) - x.v), np.linalg.norm(w - x.v)
    return at_most(float(left), float(right), "‖Π[v] − v‖, ‖w − v‖")


@projection.corrected()
def projection_corrected(x: Instance) -> Slacks:
    yield projection(x, project)[0]
    yield at_most(float(np.linalg.norm(project(x.v, x.B))), x.B, "‖Π[v]‖, B")


@projection_corrected.step()
def _(x: Instance) -> Slacks:
    for w in (project(x.w, x.B), project(x.v, x.B)):
        far = float(np.linalg.norm(w - x.v))
        yield at_least(far, float(np.linalg.norm(x.v)) - x.B, "‖w − v‖, ‖v‖ − B")


@SOURCE.claim("class", space=STREAMS).checked(trials=60)
def lipschitz(x: Instance) -> Slacks:
    X, w = longest(x.A), project(10.0 * x.w, x.B)
    steep, c = steepest(x.loss, x.B * X), highest(x.loss, x.B * X)
    values, slopes = one(x).of(w)
    yield at_least(float(values.min()), 0.0, "l, 0")
    yield at_most(float(values.max()), c, "l, c")
    sizes = np.linalg.norm(x.A, axis=1)
    excess = np.linalg.norm(slopes[0], axis=1) - steep * sizes
    yield at_most(float(excess.max()), 0.0, "‖∇l‖ − λ‖x‖")
    yield at_most(float(sizes.max()), X, "‖x‖, X")


@lipschitz.step(space=Space(loss=Choice(*LOSSES), u=Real(-1, 1), r=Real(0.1, 4, log=True)))
def _(x: Instance) -> Slacks:
    at = x.r * np.array([-1.0, 1.0, x.u])
    for y in (-1.0, 1.0):
        value, slope = (np.abs(v) for v in LOSSES[x.loss].pointwise(at, np.full(3, y)))
        yield at_most(float(value[2]), float(value[:2].max()), "φ(u), at an end")
        yield at_most(float(slope[2]), float(slope[:2].max()), "|φ'(u)|, at an end")


@SOURCE.claim("A1", space=STREAMS).checked(trials=40)
def algorithm(x: Instance) -> Slacks:
    _, eta = step(x)
    found, expected = learned(x), one(x).descended(x.B, eta)
    off = np.abs(found.w - expected.w).max()
    yield equal(float(off) / x.B, 0.0, "distance of the two runs, over B")
    yield at_most(float(np.linalg.norm(found.w[0], axis=1).max()), x.B, "‖w_i‖, B")


@SOURCE.claim(
    "T1",
    space=STREAMS,
    counterexamples=[
        {"A": [["1/100"], [1]], "y": [1, -1], "w": [-1], "B": 1, "loss": "hinge"},
        {"A": [["1/100"], *[[1]] * 99], "y": [1, *[-1] * 99], "w": [-1], "B": 1, "loss": "hinge"},
    ],
)
def theorem_1(x: Instance, onto: Callable[..., Array] | None = rescale) -> Slacks:
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


@theorem_1.corrected()
def theorem_1_corrected(x: Instance) -> Slacks:
    yield from theorem_1(x, None)


@theorem_1_corrected.step()
def _(x: Instance) -> Slack:
    steep, eta = step(x)
    run, w = one(x).descended(x.B, eta), project(x.w, x.B)
    distance = ((run.w[0] - w) ** 2).sum(axis=1) / 2.0
    gain = run.losses[0] - one(x).of(w)[0][0]
    least = (distance[:-1] - distance[1:] - eta * gain) / (eta * steep) ** 2
    return at_least(float(least.min()), -0.5, "(α_i − η gain)/(ηλX)², −1/2")


@theorem_1_corrected.step()
def _(x: Instance) -> Slacks:
    _, eta = step(x)
    run, w = one(x).descended(x.B, eta), x.B * x.w / max(1e-9, float(np.linalg.norm(x.w)))
    half = ((run.w[0] - w) ** 2).sum(axis=1) / 2.0 / x.B**2
    yield equal(float((half[:-1] - half[1:]).sum()), float(half[0] - half[-1]), "Σ α_i/B²")
    yield at_most(float(half[0]), 0.5, "½‖w_0 − w*‖²/B², 1/2")


@SOURCE.claim("T1-regret", space=STREAMS)
def root_of_n(x: Instance, rounds: bool = False) -> Slacks:
    steep, _ = step(x)
    run, (m, n) = learned(x), x.A.shape
    left = float((run.losses - one(x).of(project(x.w, x.B))[0]).sum())
    cases = [(left, steep * x.B, m, n)] + [(worst(m), 1.0, m**2, 1)] * rounds
    for regret, size, total, dimension in cases:
        yield at_most(regret, size * math.sqrt(total if rounds else dimension), "regret")


@root_of_n.corrected()
def root_of_m(x: Instance) -> Slacks:
    yield from root_of_n(x, True)


for _step in theorem_1.corrections[0].steps:
    root_of_m.step()(_step.stated.check)


def worst(r: int) -> float:
    """Return the regret of GD on the r² hinge losses of DEK11-T1-rate with B = X = 1; it is r."""
    y = np.array([*(1.0, -1.0) * ((r**2 - r) // 2), *[1.0] * r])[None]
    run = Sequences(np.ones((1, r**2, 1)), y, "hinge").descended(1.0, 1.0 / r)
    best = min(float((1.0 - s * y).sum()) for s in (1.0, -1.0))
    return float(run.losses.sum()) - best


@SOURCE.claim(
    "T1-rate", space=Space(r=Whole(1, 12), B=Real(0.25, 4.0, log=True), first=Choice("up", "down"))
)
def rate(x: Instance) -> Slacks:
    r, m = x.r, x.r**2
    pair = (1.0, -1.0) if x.first == "up" else (-1.0, 1.0)
    y = np.array([*pair * ((m - r) // 2), *[1.0] * r])
    method = GradientDescent("hinge", over=L2Ball(x.B), schedule=Horizon(m), bound=1.0 / x.B)
    learner = method.start(1)
    learner.update(np.full((m, 1), 1.0 / x.B), y)
    best = min(float(LOSSES["hinge"].pointwise(np.full(m, s), y)[0].sum()) for s in (1.0, -1.0))
    regret = (learner.loss - best) / m
    yield equal(regret, 1.0 / math.sqrt(m), "Regret/m, λXB/√m")


@rate.step()
def _(x: Instance) -> Slacks:
    r, m = x.r, x.r**2
    pair = (1, -1) if x.first == "up" else (-1, 1)
    sums = np.cumsum([*pair * ((m - r) // 2), *[1] * r])
    yield at_most(int(sums.max()), r, "largest partial sum, r")
    yield at_least(int(sums.min()), -1, "least partial sum, −1")
    yield equal(int(sums[-1]), r, "the last sum, r")

"""DEK11, Eq. 1 and Theorem 1: the projection and the regret of constrained gradient descent."""

import math
from collections.abc import Callable

import numpy as np

from relaxboost.claims.dek11 import SOURCE
from relaxboost.claims.dek11.runs import (
    LAWS,
    STREAMS,
    Passed,
    Samples,
    azuma,
    lipschitz,
    longest,
    never_more,
    one,
    online,
    project,
    rescale,
    tossed,
)
from relaxboost.claims.language import *
from relaxboost.game.domains import L2Ball
from relaxboost.online import GradientDescent, Horizon


def deviations(law: Samples, run: Passed) -> Array:
    """Return l(Q; D) minus the mean loss (1/m) Σ l(w_{i−1}; z_i), for each sample.

    D is the law of the examples, and Q is the uniform distribution on the learner's weights w_0,
    ..., w_{m−1}.
    """
    return np.asarray(law.risk(run.before).mean(axis=1) - run.losses.mean(axis=1))


@SOURCE.claim("E1", space=LAWS.but(learner=Choice("GD", "EG"))).checked(trials=60)
def equation_1(x: Instance) -> Slacks:
    law = Samples(x)
    off = deviations(law, law.run())
    yield never_more(off, law.chances, azuma(law.c, law.m), "P(deviation ≥ ε), δ")
    yield tossed(x.m)


@equation_1.step(trials=60)
def _(x: Instance) -> Slacks:
    law = Samples(x)
    run = law.run()
    k = len(law.p)
    change = law.risk(run.before) - run.losses
    for i in range(law.m):
        # Samples with the same past are a block of rows.
        w = run.before[:, i].reshape(k**i, -1, run.before.shape[2])
        yield equal(float(np.ptp(w, axis=1).max()), 0.0, "range of h_{i−1} given the past", i + 1)
        parts = (law.chances * change[:, i]).reshape(k**i, -1).sum(axis=1)
        yield equal(float(np.abs(parts).max()), 0.0, "E[Δ_i | past]", i + 1)
    atoms = law.atoms(run.before)
    yield at_most(float(np.ptp(atoms, axis=2).max()), law.c, "length of the interval, c")


POINTS = Space(
    sizes={"n": (1, 4)}, v=Vector("n", -3, 3), w=Vector("n", -3, 3), B=Real(0.25, 4.0, log=True)
)


def learned(x: Instance) -> Passed:
    """Run `relaxboost.online` gradient descent on an instance.

    Return the weights, losses and gradients of its rounds.
    """
    bound = longest(x.A) * (1.0 + 1e-12)
    schedule = Horizon(len(x.A))
    method = GradientDescent(x.loss, over=L2Ball(x.B), schedule=schedule, bound=bound, targets=1.0)
    return online(x, method)


def step(x: Instance) -> tuple[float, float]:
    """Return λX and the step size η = B/(λX√m) of Theorem 1, for m examples and the radius B.

    λ is the Lipschitz constant of the loss, and X is the largest norm of an example.
    """
    X = longest(x.A)
    steep = lipschitz(x.loss, x.B * X)[0] * X
    return steep, x.B / (steep * math.sqrt(len(x.A)))


@SOURCE.claim("projection", space=POINTS)
def projection(x: Instance, onto: Callable[[Array, float], Array] = rescale) -> Slacks:
    assume(bool(x.v.any()))
    w = project(x.w, x.B)
    image = onto(x.v, x.B)
    right = float(np.linalg.norm(w - x.v))
    yield at_most(float(np.linalg.norm(image - x.v)), right, "‖Π[v] − v‖, ‖w − v‖")
    yield at_most(float(np.linalg.norm(image - w)), right, "‖Π[v] − w‖, ‖v − w‖")


@projection.corrected()
def projection_corrected(x: Instance) -> Slacks:
    yield from projection(x, project)
    yield at_most(float(np.linalg.norm(project(x.v, x.B))), x.B, "‖Π[v]‖, B")


@projection_corrected.step()
def _(x: Instance) -> Slacks:
    near = project(x.v, x.B)
    for w in (project(x.w, x.B), near * 0.9):
        angle = float((x.v - near) @ (w - near)) / (1.0 + float(x.v @ x.v))
        yield at_most(angle, 0.0, "<v − Π[v], w − Π[v]>")


@SOURCE.claim("A1", space=STREAMS).checked(trials=40)
def algorithm(x: Instance) -> Slacks:
    found = learned(x)
    off = np.abs(found.w - one(x).descended(x.B, step(x)[1]).w).max()
    yield equal(float(off) / x.B, 0.0, "distance of the two runs, over B")
    yield at_most(float(np.linalg.norm(found.w[0], axis=1).max()), x.B, "‖w_i‖, B")


@SOURCE.claim("T1", space=STREAMS)
def theorem_1(x: Instance, onto: Callable[..., Array] | None = rescale) -> Slacks:
    steep, eta = step(x)
    run = learned(x) if onto is None else one(x).descended(x.B, eta, onto)
    right = steep * x.B * math.sqrt(len(x.A))
    left = float((run.losses - one(x).of(project(x.w, x.B))[0]).sum())
    yield at_most(left, right, "regret against w")
    linear = float(run.linear()[0]) + x.B * float(np.linalg.norm(run.slopes.sum(axis=(0, 1))))
    yield at_most(left, linear, "regret against w, linearised regret")
    if onto is None:
        yield at_most(linear, right, "linearised regret")


theorem_1_corrected = theorem_1.corrected()(lambda x: theorem_1(x, None))


@theorem_1_corrected.step()
def nearer(x: Instance) -> Slack:
    steep, eta = step(x)
    run = one(x).descended(x.B, eta)
    w = project(x.w, x.B)
    distance = ((run.w[0] - w) ** 2).sum(axis=1) / 2.0
    gain = run.losses[0] - one(x).of(w)[0][0]
    least = (distance[:-1] - distance[1:] - eta * gain) / (eta * steep) ** 2
    return at_least(float(least.min()), -0.5, "−1/2, (α_i − η gain)/(ηλX)²")


@SOURCE.claim("T1-regret", space=STREAMS)
def root_of_n(x: Instance) -> Slack:
    regret = float((learned(x).losses - one(x).of(project(x.w, x.B))[0]).sum())
    return at_most(regret, step(x)[0] * x.B * math.sqrt(x.A.shape[1]), "regret")


root_of_m = root_of_n.corrected()(lambda x: theorem_1(x, None))


root_of_m.step()(nearer.stated.check)

"""JNTV05, Sec. 4: Propositions 2 (regret) and 3 (expected risk), and Remark 4 (rescaling)."""

import math

import numpy as np

from relaxboost.claims.jntv05 import SOURCE
from relaxboost.claims.jntv05.formulas import (
    LAWS,
    STREAMS,
    VALUES,
    free_energy,
    gibbs,
    growing,
    iterates,
    law,
    mirror_of,
    modulus,
)
from relaxboost.claims.jntv05.proxy import DUALS
from relaxboost.claims.language import *
from relaxboost.game.domains import Simplex
from relaxboost.online import Constant, MirrorDescent

TRACES = STREAMS.but(
    growth=Vector("t", 0, 1),
    theta=Distribution("n"),
    proxy=Choice("entropy", "squared"),
    shift=Real(-1, 1),
)
"""The space of linear losses, with the increases of the temperatures β_i, a point θ for comparison,
the proxy function V, and the constant `shift` that is added to V."""


def temperatures(x: Instance) -> Array:
    """Return the temperatures β_0 ≤ β_1 ≤ ... ≤ β_t of an instance."""
    return x.beta + np.append(0.0, np.cumsum(x.growth))


def _regret(
    x: Instance, shift: float, least: float, first: Array | None = None, last: bool = False
) -> Slack:
    """Return the slack of the regret bound of Proposition 2 for the proxy function V + `shift`.

    The regret is measured against the point θ of the instance, or against the last iterate θ_t if
    `last` is true. In the bound, `least` replaces V(θ_*), the minimum of the proxy function.
    `first` replaces the first iterate θ_0.
    """
    beta = temperatures(x)
    found = iterates(x.U, x.gamma, beta, mirror_of(x.proxy, x.radius))
    theta = found[-1] if last else x.radius * x.theta
    if first is not None:
        found[0] = first
    left = float(x.gamma @ ((found[:-1] - theta) * x.U).sum(axis=1))
    alpha = modulus(x.proxy, theta.size, x.radius)
    squares = float((x.gamma**2 * np.abs(x.U).max(axis=1) ** 2 / beta[:-1]).sum()) / (2.0 * alpha)
    value = VALUES[x.proxy](theta, x.radius) + shift
    return at_most(left, beta[-1] * value - beta[0] * least + squares, "regret, its bound")


@SOURCE.claim("P2", space=TRACES).checked(trials=200)
def proposition_2(x: Instance) -> Slack:
    return _regret(x, x.shift, x.shift)


@proposition_2.corrected()
def proposition_2_corrected(x: Instance) -> Slacks:
    yield _regret(x, abs(x.shift), abs(x.shift))
    yield _regret(x, 0.0, 0.0)
    yield _regret(x, 0.0, 0.0, last=True)


@proposition_2_corrected.step(space=DUALS.but(gamma=Real(0.1, 3)))
def _(x: Instance) -> Slacks:
    signs = np.where(np.arange(x.z.size) % 2 == 0, 1.0, -1.0)
    for z, u in ((x.z, x.v), (0.0 * x.z, 0.1 * x.beta / x.gamma * signs)):
        before, after = (free_energy(y, x.beta, x.radius) for y in (z, z + x.gamma * u))
        linear = before - x.gamma * float(gibbs(z, x.beta, x.radius) @ u)
        square = x.radius * (x.gamma * float(np.abs(u).max())) ** 2 / (2.0 * x.beta)
        yield at_most(after, linear + square, "W_β(ζ + γu)")


@proposition_2_corrected.step(space=DUALS.but(more=Real(0, 2)))
def _(x: Instance) -> Slack:
    before, after = (free_energy(x.z, b, x.radius) for b in (x.beta, x.beta + x.more))
    return at_most(after, before, "W_β'(z), W_β(z)")


@SOURCE.claim("P2-start", space=TRACES.but(first=Distribution("n")))
def any_start(x: Instance) -> Slack:
    return _regret(x, 0.0, 0.0, x.radius * x.first)


@any_start.corrected()
def any_start_corrected(x: Instance) -> Slack:
    return _regret(x, 0.0, 0.0)


@any_start_corrected.step()
def _(x: Instance) -> Slack:
    first = x.radius * x.first
    at = np.full(x.first.size, x.radius / x.first.size)
    more = x.gamma[0] * float((first - at) @ x.U[0])
    slack = _regret(x, 0.0, 0.0, first)
    other = _regret(x, 0.0, 0.0)
    return equal(slack.left - more, other.left, "regret from θ_0, less the term, and from θ_*")


EXPECTED = LAWS.but(
    gamma=Vector("t", 0.1, 2),
    growth=Vector("t", 0, 1),
    beta=Real(0.1, 3),
    proxy=Choice("entropy", "squared"),
    shift=Real(-1, 1),
    theta=Distribution("n"),
    sizes={"k": (1, 3), "n": (2, 4), "t": (1, 5)},
)
"""The space of probability laws, with the step sizes γ_i, the temperatures β_i, the proxy function
V, the constant `shift` that is added to V, and a point θ for comparison."""


def _excess(x: Instance, shift: float) -> Slacks:
    """Yield the slacks of the inequalities (25) and (26) on the expected risk, for the proxy
    function V + `shift`.

    Inequality (25) compares the risk with that of the point θ of the instance, and (26) compares it
    with the least risk.
    """
    found = law(x)
    beta = temperatures(x)
    P, means = found.samples(x.gamma, beta, mirror_of(x.proxy, x.radius))
    risk = float(P @ found.risk(means))
    alpha = modulus(x.proxy, x.theta.size, x.radius)
    noise = found.lipschitz**2 * float((x.gamma**2 / beta[:-1]).sum()) / (2.0 * alpha)
    for theta, name in ((x.radius * x.theta, "(25) at a θ"), (found.least()[0], "(26)")):
        value = beta[-1] * (VALUES[x.proxy](theta, x.radius) + shift) - beta[0] * shift
        bound = float(found.risk(theta)) + (value + noise) / float(x.gamma.sum())
        yield at_most(risk, bound, f"E A(θ̂_t), {name}")


@SOURCE.claim("P3", space=EXPECTED)
def proposition_3(x: Instance) -> Slacks:
    yield from _excess(x, x.shift)


@proposition_3.corrected()
def proposition_3_corrected(x: Instance) -> Slacks:
    yield from _excess(x, abs(x.shift))
    yield from _excess(x, 0.0)


@proposition_3_corrected.step()
def _(x: Instance) -> Slacks:
    found = law(x)
    point = x.radius * x.rng.dirichlet(np.ones(x.theta.size))
    u = found.slopes(point[None, :])[0]
    inner = (u - x.p @ u) @ (point - x.radius * x.theta)
    yield equal(float(x.p @ inner), 0.0, "E (θ_{i−1} − θ)ᵀξ")
    yield at_most(float(x.p @ np.abs(u).max(axis=1) ** 2), found.lipschitz**2, "E ‖u‖_∞², L²")


@SOURCE.claim("R4", space=STREAMS.but(factor=Real(0.1, 10, log=True)))
def scaled(x: Instance) -> Slack:
    assume(abs(math.log(x.factor)) > 0.1)
    return at_least(int((_changes(x) > 1e-9).sum()), 1, "1, number of estimates that change")


@scaled.corrected()
def scaled_corrected(x: Instance) -> Slacks:
    yield equal(float(_changes(x).max()), 0.0, "change of the estimates, 0")
    means = []
    for c in (1.0, min(x.factor, 1.0 / x.factor)):
        method = MirrorDescent("inner", over=Simplex(x.radius), schedule=Constant(c * x.beta))
        learner = method.start(x.U.shape[1])
        learner.update(x.U, weight=c * x.gamma)
        means.append(np.append(learner.w, learner.average))
    yield equal(float(np.abs(means[0] - means[1]).max()), 0.0, "change of the learner, 0")


@scaled_corrected.step()
def _(x: Instance) -> Slacks:
    z = x.gamma @ x.U
    for proxy in ("entropy", "squared"):
        mirror = mirror_of(proxy, x.radius)
        change = mirror(x.factor * z, x.factor * x.beta) - mirror(z, x.beta)
        yield equal(float(np.abs(change).max()), 0.0, f"change of ∇W, {proxy}")


def _changes(x: Instance) -> Array:
    """Return how far the iterates move if all γ_i and β_i are multiplied by `factor`.

    The last entry is the distance by which their weighted mean moves. Distances are in ‖·‖_∞.
    """
    beta = growing(x.beta, len(x.U))
    found = []
    for c in (1.0, x.factor):
        theta = iterates(x.U, c * x.gamma, c * beta, mirror_of("entropy", x.radius))
        found.append(np.vstack([theta, x.gamma @ theta[:-1] / x.gamma.sum()]))
    return np.asarray(np.abs(found[0] - found[1]).max(axis=1))

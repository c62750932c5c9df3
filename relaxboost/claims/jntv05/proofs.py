"""JNTV05, Sec. 4: Proposition 2 and the steps of its proof."""

import numpy as np

from relaxboost.claims.jntv05.formulas import (
    VALUES,
    free_energy,
    gibbs,
    iterates,
    mirror_of,
    modulus,
)
from relaxboost.claims.jntv05.proxy import DUALS
from relaxboost.claims.jntv05.scheme import STREAMS
from relaxboost.claims.jntv05.source import SOURCE
from relaxboost.claims.language import *

TRACES = STREAMS.but(
    growth=Vector("t", 0, 1),
    theta=Distribution("n"),
    proxy=Choice("entropy", "squared"),
    shift=Real(-1, 1),
)
"""β_i − β_{i−1} in `growth`; `shift` is added to V, so that it is min V."""
FALLS = DUALS.but(more=Real(0, 2), shift=Real(-1, 1))
"""β and how much it grows, and what is added to V."""
SIGN = (
    "our copy has “V : Θ → R, proxy function” in Definition 2, on p. 9: R, or R_+, which it "
    "also shows as “R,” in φ : R → R_+. Here R"
)
"""What we cannot see of Definition 2, and how it is read first."""
_FLAT = {"growth": [1], "theta": ["1/2", "1/2"], "proxy": "entropy", "shift": -1}
_NOTHING = {"U": [[0, 0]], "gamma": [1], "radius": 1, "beta": 1, **_FLAT}


def temperatures(x: Instance) -> Array:
    """Return β_0 ≤ β_1 ≤ ... ≤ β_t."""
    return x.beta + np.append(0.0, np.cumsum(x.growth))


@SOURCE.claim(
    "P2",
    given=f"u_i = ∇A + ξ_i, so that the terms in ξ_i make u_i of ∇A; θ_0 = θ_*; {SIGN}",
    space=TRACES,
    counterexamples=[_NOTHING],
).checked(trials=200)
def proposition_2(x: Instance) -> Slack:
    return _regret(x, x.shift, x.shift)


@proposition_2.corrected()
def proposition_2_corrected(x: Instance) -> Slack:
    return _regret(x, abs(x.shift), abs(x.shift))


@proposition_2_corrected.step()
def _(x: Instance) -> Slack:
    beta, least = temperatures(x), abs(x.shift)
    value = VALUES[x.proxy](x.radius * x.theta, x.radius) + least
    left = beta[-1] * value - beta[0] * least
    return at_least(left, beta[-1] * (value - least), "β_t V(θ) − β_0 V(θ_*)")


@proposition_2.corrected()
def proposition_2_sharper(x: Instance) -> Slacks:
    yield _regret(x, 0.0, 0.0)
    yield _regret(x, 0.0, 0.0, last=True)


@proposition_2_sharper.step(space=DUALS.but(gamma=Real(0.1, 3)))
def _(x: Instance) -> Slacks:
    signs = np.where(np.arange(x.z.size) % 2 == 0, 1.0, -1.0)
    for z, u in ((x.z, x.v), (0.0 * x.z, 0.1 * x.beta / x.gamma * signs)):
        before, after = (free_energy(y, x.beta, x.radius) for y in (z, z + x.gamma * u))
        linear = before - x.gamma * float(gibbs(z, x.beta, x.radius) @ u)
        square = x.radius * (x.gamma * float(np.abs(u).max())) ** 2 / (2.0 * x.beta)
        yield at_most(after, linear + square, "W_β(ζ + γu)")


@proposition_2_sharper.step(space=FALLS)
def _(x: Instance) -> Slack:
    before, after = (free_energy(x.z, b, x.radius) for b in (x.beta, x.beta + x.more))
    return at_most(after, before, "W_β'(z), W_β(z)")


@proposition_2_sharper.step(space=DUALS)
def _(x: Instance) -> Slacks:
    for theta in (x.radius * x.theta, gibbs(x.z, x.beta, x.radius)):
        value = -free_energy(x.z, x.beta, x.radius) - float(x.z @ theta)
        yield at_most(value, x.beta * VALUES["entropy"](theta, x.radius), "−W_β(ζ) − ζᵀθ, βV(θ)")


def _regret(
    x: Instance, shift: float, least: float, first: Array | None = None, last: bool = False
) -> Slack:
    """Measure Prop. 2 with V + `shift`, V(θ_*) = `least`, θ_0 = `first` or θ_*; at θ or at θ_t."""
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


@SOURCE.claim(
    "P2-start",
    space=TRACES.but(first=Distribution("n")),
    counterexamples=[
        {**_NOTHING, "U": [[1, 0]], "beta": 2, "shift": 0, "growth": [0], "first": [1, 0]}
    ],
).checked(trials=100)
def any_start(x: Instance) -> Slack:
    return _regret(x, 0.0, 0.0, x.radius * x.first)


@any_start.corrected()
def any_start_corrected(x: Instance) -> Slacks:
    yield _regret(x, 0.0, 0.0)
    first, at = x.radius * x.first, np.full(x.first.size, x.radius / x.first.size)
    more = x.gamma[0] * float((first - at) @ x.U[0])
    slack, other = _regret(x, 0.0, 0.0, first), _regret(x, 0.0, 0.0)
    yield equal(slack.left - more, other.left, "regret from θ_0, less the term, and from θ_*")


@any_start_corrected.step()
def _(x: Instance) -> Slack:
    first, theta = x.radius * x.first, x.radius * x.theta
    at, u = np.full(theta.size, x.radius / theta.size), x.gamma[0] * x.U[0]
    parts = float((at - theta) @ u) + float((first - at) @ u)
    return equal(float((first - theta) @ u), parts, "γ_1 (θ_0 − θ)ᵀu_1")


@SOURCE.claim("P2-proof", space=DUALS.but(gamma=Real(0.1, 3)))
def descent_lemma(x: Instance) -> Slacks:
    after = x.z + x.gamma * x.v
    nodes, shares = np.polynomial.legendre.leggauss(20)
    middles = x.z + np.multiply.outer((nodes + 1.0) / 2.0, after - x.z)
    slopes = -gibbs(middles, x.beta, x.radius) @ (after - x.z)
    before, found = (free_energy(z, x.beta, x.radius) for z in (x.z, after))
    if float(np.abs(after - x.z).max()) < 4.0 * x.beta:
        integral = before + float(shares @ slopes) / 2.0
        yield at_most(abs(found - integral), 1e-6, "W_β(ζ_i), the integral")
    linear = before - x.gamma * float(gibbs(x.z, x.beta, x.radius) @ x.v)
    square = x.radius * (x.gamma * float(np.abs(x.v).max())) ** 2 / (2.0 * x.beta)
    yield at_most(found, linear + square, "W_β(ζ_i), the bound")


@descent_lemma.step(space=DUALS.but(gamma=Real(0.1, 3), tau=Real(0, 1)))
def _(x: Instance) -> Slacks:
    signs = 0.1 * x.beta / x.gamma * np.where(np.arange(x.z.size) % 2 == 0, 1.0, -1.0)
    for z, v in ((x.z, x.v), (0.0 * x.z, signs)):
        moved = gibbs(z, x.beta, x.radius) - gibbs(z + x.tau * x.gamma * v, x.beta, x.radius)
        most = x.tau * (x.gamma * float(np.abs(v).max())) ** 2 * x.radius / x.beta
        yield at_most(x.gamma * float(v @ moved), most, "γvᵀ(∇W_β(ζ + τγv) − ∇W_β(ζ))")


@SOURCE.claim("P2-falling", given=f"V the entropy and a constant; {SIGN}", space=FALLS)
def falling(x: Instance) -> Slack:
    return _falling(x, x.shift)


@falling.corrected()
def falling_corrected(x: Instance) -> Slack:
    return _falling(x, abs(x.shift))


@falling_corrected.step()
def _(x: Instance) -> Slack:
    theta = x.radius * x.theta
    value = VALUES["entropy"](theta, x.radius) + abs(x.shift)
    linear = -float(x.z @ theta)
    return at_most(linear - (x.beta + x.more) * value, linear - x.beta * value, "at β', at β")


def _falling(x: Instance, shift: float) -> Slack:
    large = x.beta + x.more
    before, after = (free_energy(x.z, b, x.radius) - b * shift for b in (x.beta, large))
    return at_most(after, before, "W_β'(z), W_β(z)")


@SOURCE.claim("P2-end", space=DUALS)
def proof_end(x: Instance) -> Slacks:
    zero = free_energy(0.0 * x.z, x.beta, x.radius)
    yield equal(zero, 0, "W_β(0), −βV(θ_*)")
    theta = x.radius * x.theta
    bound = x.beta * VALUES["entropy"](theta, x.radius)
    value = -free_energy(x.z, x.beta, x.radius) - float(x.z @ theta)
    yield at_most(value, bound, "−W_β(ζ) − ζᵀθ, βV(θ)")


proof_end.step()(proposition_2.corrections[1].steps[2].stated.check)

"""JNTV05, Sec. 4: Proposition 3, the steps of its proof, Remark 4."""

import math

import numpy as np

from relaxboost.claims.jntv05.formulas import LAWS, VALUES, iterates, law, mirror_of, modulus
from relaxboost.claims.jntv05.proofs import SIGN, temperatures
from relaxboost.claims.jntv05.scheme import STREAMS
from relaxboost.claims.jntv05.source import SOURCE
from relaxboost.claims.language import *
from relaxboost.game.domains import Simplex
from relaxboost.online import Constant, MirrorDescent

EXPECTED = LAWS.but(
    gamma=Vector("t", 0.1, 2),
    growth=Vector("t", 0, 1),
    beta=Real(0.1, 3),
    proxy=Choice("entropy", "squared"),
    shift=Real(-1, 1),
    theta=Distribution("n"),
    sizes={"k": (1, 3), "n": (2, 4), "t": (1, 5)},
)
"""Laws, γ_i and β_i, and what is added to V."""


def _excess(x: Instance, shift: float) -> Slacks:
    """Measure (25) at a few θ and (26) at the minimiser, with V + `shift`."""
    found, beta = law(x), temperatures(x)
    P, means = found.samples(x.gamma, beta, mirror_of(x.proxy, x.radius))
    risk = float(P @ found.risk(means))
    alpha = modulus(x.proxy, x.theta.size, x.radius)
    noise = found.lipschitz**2 * float((x.gamma**2 / beta[:-1]).sum()) / (2.0 * alpha)
    for theta, name in ((x.radius * x.theta, "(25) at a θ"), (found.least()[0], "(26)")):
        value = beta[-1] * (VALUES[x.proxy](theta, x.radius) + shift) - beta[0] * shift
        bound = float(found.risk(theta)) + (value + noise) / float(x.gamma.sum())
        yield at_most(risk, bound, f"E A(θ̂_t), {name}")


@SOURCE.claim("P3", given=f"θ_0 = θ_*; finite laws, all samples; {SIGN}", space=EXPECTED)
def proposition_3(x: Instance) -> Slacks:
    yield from _excess(x, x.shift)


@proposition_3.corrected()
def proposition_3_corrected(x: Instance) -> Slacks:
    yield from _excess(x, abs(x.shift))
    yield from _excess(x, 0.0)


@proposition_3_corrected.step()
def _(x: Instance) -> Slack:
    found, point = law(x), x.radius * x.rng.dirichlet(np.ones(x.theta.size))
    u = found.slopes(point[None, :])[0]
    inner = (u - x.p @ u) @ (point - x.radius * x.theta)
    return equal(float(x.p @ inner), 0.0, "E (θ_{i−1} − θ)ᵀξ")


@proposition_3_corrected.step()
def _(x: Instance) -> Slack:
    found, point = law(x), x.radius * x.rng.dirichlet(np.ones(x.theta.size))
    square = float(x.p @ np.abs(found.slopes(point[None, :])[0]).max(axis=1) ** 2)
    return at_most(square, found.lipschitz**2, "E ‖u‖², L²")


@SOURCE.claim("Eq27", space=EXPECTED)
def jensen(x: Instance) -> Slack:
    found = law(x)
    points = _points(x)
    theta, share = x.radius * x.theta, x.gamma / x.gamma.sum()
    slopes = np.einsum("k,tkn->tn", x.p, found.slopes(points))
    right = float(share @ ((points - theta) * slopes).sum(axis=1))
    return at_most(float(found.risk(share @ points) - found.risk(theta)), right, "A(θ̂) − A(θ)")


def _points(x: Instance) -> Array:
    points: Array = x.radius * x.rng.dirichlet(np.ones(x.theta.size), x.gamma.size)
    return points


@jensen.step()
def _(x: Instance) -> Slack:
    found, points, share = law(x), _points(x), x.gamma / x.gamma.sum()
    mean = float(share @ found.risk(points))
    return at_most(float(found.risk(share @ points)), mean, "A of the mean, the mean of A")


@jensen.step()
def _(x: Instance) -> Slacks:
    found, points, theta = law(x), _points(x), x.radius * x.theta
    slopes = np.einsum("k,tkn->tn", x.p, found.slopes(points))
    for point, slope in zip(points, slopes, strict=True):
        fall = float(found.risk(point) - found.risk(theta))
        yield at_most(fall, float((point - theta) @ slope), "A(θ_{i−1}) − A(θ)")


@SOURCE.claim("noise", space=EXPECTED)
def noise(x: Instance) -> Slacks:
    found, beta = law(x), temperatures(x)
    P, points = found.samples(x.gamma, beta, mirror_of(x.proxy, x.radius))
    u = found.slopes(points)
    xi = u - np.einsum("k,akn->an", x.p, u)[:, None, :]
    inner = ((points - x.radius * x.theta)[:, None, :] * xi).sum(axis=2)
    yield equal(float(P @ inner @ x.p), 0.0, "E (θ̂ − θ)ᵀξ")
    square = float(P @ np.abs(u).max(axis=2) ** 2 @ x.p)
    yield at_most(square, found.lipschitz**2, "E ‖u(θ̂)‖², L²")


for _step in proposition_3.corrections[0].steps:
    noise.step()(_step.stated.check)


@SOURCE.claim("R4-bounds", space=EXPECTED.but(factor=Real(0.1, 10, log=True)))
def scaled_bounds(x: Instance) -> Slack:
    beta, found = temperatures(x), law(x)
    alpha = modulus(x.proxy, x.theta.size, x.radius)
    value = VALUES[x.proxy](x.radius * x.theta, x.radius)

    def bound(gamma: Array, beta: Array) -> float:
        squares = found.lipschitz**2 * float((gamma**2 / beta[:-1]).sum()) / (2.0 * alpha)
        return (beta[-1] * value + squares) / float(gamma.sum())

    return equal(bound(x.gamma, beta), bound(x.factor * x.gamma, x.factor * beta), "the bounds")


_SCALED = STREAMS.but(factor=Real(0.1, 10, log=True))


@SOURCE.claim("R4", space=_SCALED)
def scaled(x: Instance) -> Slack:
    assume(abs(math.log(x.factor)) > 0.1)
    changed = int((_changes(x) > 1e-9).sum())
    return at_least(changed, 1, "1, number of estimates that change")


@scaled.corrected()
def scaled_corrected(x: Instance) -> Slacks:
    yield equal(float(_changes(x).max()), 0.0, "change of the estimates, 0")
    shrunk = min(x.factor, 1.0 / x.factor)
    means = []
    for c in (1.0, shrunk):
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
    """Return by how much each estimate changes."""
    t = len(x.U)
    beta = x.beta * np.sqrt(np.arange(1.0, t + 2.0))
    found = []
    for c in (1.0, x.factor):
        theta = iterates(x.U, c * x.gamma, c * beta, mirror_of("entropy", x.radius))
        found.append(np.vstack([theta, x.gamma @ theta[:-1] / x.gamma.sum()]))
    return np.asarray(np.abs(found[0] - found[1]).max(axis=1))

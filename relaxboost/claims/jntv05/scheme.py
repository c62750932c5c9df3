"""JNTV05, Secs. 3.2 to 3.4: the algorithm, its heuristics, and the instance of Theorem 1."""

import math
from itertools import pairwise

import numpy as np

from relaxboost.claims.jntv05.formulas import VALUES, gibbs, growing, iterates, mirror_of
from relaxboost.claims.jntv05.source import SOURCE
from relaxboost.claims.language import *
from relaxboost.game.domains import Simplex
from relaxboost.online import Growing, Learner, MirrorDescent

STREAMS = Space(
    sizes={"t": (1, 6), "n": (2, 5)},
    U=Matrix(axes=("t", "n")),
    gamma=Vector("t", 0.1, 1),
    radius=Real(0.25, 2),
    beta=Real(0.1, 3),
)
"""Gradients of linear losses, steps γ_i, λ and β_0."""


def _learner(x: Instance) -> Learner:
    """Return a learner of the package that sees linear losses, β_i = β_0 √(i + 1)."""
    method = MirrorDescent("inner", over=Simplex(x.radius), schedule=Growing(x.beta))
    return method.start(x.U.shape[1])


def _distance(a: Array, b: Array) -> float:
    return float(np.abs(a - b).max())


@SOURCE.claim(
    "Eq11", space=STREAMS.but(theta=Distribution("n"), proxy=Choice("entropy", "squared"))
)
def scheme(x: Instance) -> Slacks:
    value, beta = VALUES[x.proxy], growing(x.beta, len(x.U))
    found = iterates(x.U, x.gamma, beta, mirror_of(x.proxy, x.radius))
    zeta = np.vstack([0.0 * x.U[:1], np.cumsum(x.gamma[:, None] * x.U, axis=0)])
    other = x.radius * x.theta
    for i, (z, b, theta) in enumerate(zip(zeta, beta, found, strict=True)):
        least = float(z @ theta) + b * value(theta, x.radius)
        yield at_most(least, float(z @ other) + b * value(other, x.radius), "θ_i, θ", i or None)


@SOURCE.claim("Eq13", space=STREAMS)
def components(x: Instance) -> Slacks:
    learner, beta = _learner(x), growing(x.beta, len(x.U))
    for i, theta in enumerate(iterates(x.U, x.gamma, beta, lambda z, b: gibbs(z, b, x.radius))):
        yield equal(_distance(learner.w, theta), 0.0, "θ_i of the learner, (13)", i or None)
        if i < len(x.U):
            learner.update(x.U[i], weight=x.gamma[i])


@SOURCE.claim("Eq12", space=STREAMS.but(first=Distribution("n")))
def average(x: Instance) -> Slacks:
    learner, beta = _learner(x), growing(x.beta, len(x.U))
    theta = iterates(x.U, np.ones(len(x.U)), beta, lambda z, b: gibbs(z, b, x.radius))
    recursive = x.first
    for i in range(1, len(theta)):
        recursive = recursive - (recursive - theta[i - 1]) / i
        learner.update(x.U[i - 1])
        yield equal(_distance(recursive, theta[:i].mean(axis=0)), 0.0, "(21), (12)", i)
        yield equal(_distance(learner.average, recursive), 0.0, "the learner's, (21)", i)
    learner = _learner(x)
    learner.update(x.U, weight=x.gamma)
    theta = iterates(x.U, x.gamma, beta, lambda z, b: gibbs(z, b, x.radius))
    mean = x.gamma @ theta[:-1] / x.gamma.sum()
    yield equal(_distance(learner.average, mean), 0.0, "the learner's, (12)")


@average.step(space=Space(sizes={"m": (2, 9)}, theta=Vector("m", -3, 3)))
def _(x: Instance) -> Slack:
    theta = exactly(x.theta)
    before = sum(theta[:-1]) / (len(theta) - 1)
    return equal(before - (before - theta[-1]) / len(theta), sum(theta) / len(theta), "the mean")


@SOURCE.claim(
    "measurable",
    space=Space(
        sizes={"t": (3, 3)},
        c=Real(0, 2),
        u=Real(-1, 1),
        beta=Real(0.1, 3),
        growth=Vector("t", 0, 1),
    ),
)
def measurable(x: Instance) -> Slacks:
    (before, after), _ = _two_runs(x)
    assume(before < 1e-12)
    yield equal(after, 0.0, "change of θ̂_4, θ̂_3 the same")
    yield equal(_exchanged(x), 0.0, "change of θ̂_4, θ_3 the same")


def _exchanged(x: Instance) -> float:
    """Return how θ̂_4 changes if gradients (cβ_1, 0), (0, 0), (u, 0) come in the order 2, 1, 3."""
    beta = x.beta + np.append(0.0, np.cumsum(x.growth))
    U = np.array([[x.c * beta[1], 0.0], [0.0, 0.0], [x.u, 0.0]])
    runs = [
        iterates(rows, np.ones(3), beta, lambda z, b: gibbs(z, b, 1.0))
        for rows in (U, U[[1, 0, 2]])
    ]
    assert np.array_equal(runs[0][3], runs[1][3])
    return _distance(runs[0].mean(axis=0), runs[1].mean(axis=0))


def _two_runs(x: Instance) -> tuple[tuple[float, float], float]:
    """Return how the two runs differ in θ̂_3, in θ̂_4, and in ζ_2/β_3 by its difference."""
    beta = x.beta + np.append(0.0, np.cumsum(x.growth))
    first = np.array([[0.0, 0.0], [0.0, 0.0], [x.u, 0.0]])
    second = first.copy()
    second[:2, 0] = x.c * beta[1], -x.c * (beta[1] + beta[2])
    runs = [iterates(U, np.ones(3), beta, lambda z, b: gibbs(z, b, 1.0)) for U in (first, second)]
    means = [(run[:3].mean(axis=0), run.mean(axis=0)) for run in runs]
    found = _distance(means[0][0], means[1][0]), _distance(means[0][1], means[1][1])
    last = np.array([x.u, x.u - x.c * beta[2]]) / beta[3]
    shares = 1.0 / (1.0 + np.exp(last))
    return found, float(abs(shares[0] - shares[1])) / 4.0


@measurable.corrected()
def measurable_corrected(x: Instance) -> Slacks:
    (before, after), expected = _two_runs(x)
    yield equal(before, 0.0, "change of θ̂_3, 0")
    yield equal(after, expected, "change of θ̂_4, that of θ_3 over 4")


@SOURCE.claim("affine", space=STREAMS.but(theta=Distribution("n")))
def affine(x: Instance) -> Slacks:
    t = len(x.U)
    points = x.radius * x.rng.dirichlet(np.ones(x.theta.size), t)
    theta = x.radius * x.theta
    risk = float(np.abs(x.U @ theta).sum())
    below = [float(np.abs(x.U @ p).sum() + (theta - p) @ (np.sign(x.U @ p) @ x.U)) for p in points]
    for i, value in enumerate(below, 1):
        yield at_most(value, risk, "φ_i(θ), A(θ)", i)
    yield at_most(float(x.gamma @ below / x.gamma.sum()), risk, "their average, A(θ)")


@affine.step(space=Space(a=Real(-3, 3), b=Real(-3, 3)))
def _(x: Instance) -> Slacks:
    for b in (x.b, x.a):
        yield at_least(abs(b), float(np.sign(x.a)) * b, "|b|, sgn(a) b")


@SOURCE.claim(
    "Eq14",
    space=Space(
        sizes={"n": (2, 6)},
        c=Distribution("n"),
        beta=Real(0.2, 4, log=True),
        kind=Choice("absolute", "square", "largest"),
    ),
)
def follow_the_leader(x: Instance) -> Slacks:
    size, t = x.c.size, 40
    assume(x.c.max() < 0.99)
    best = min(_tilt(x, vertex)[0] for vertex in np.eye(size))
    yield at_least(best, 1e-6, "min_j A(e_j), min A = 0")
    for leads in (True, False):
        total, bound = _descended(x, t, leads)
        if leads:
            yield at_least(min(total), best, "A(θ_t) of (14), min_j A(e_j)")
        else:
            yield at_most(sum(total), bound, "Σ A(θ_{i−1}) of (16), its bound")


def _tilt(x: Instance, theta: Array) -> tuple[float, Array]:
    """Return A(θ), which is least at c, where it is 0, and a sub-gradient."""
    off = theta - x.c
    if x.kind == "absolute":
        return float(np.abs(off).sum()), np.sign(off)
    if x.kind == "square":
        return float(off @ off) / 2.0, off
    return float(off.max()), np.eye(off.size)[int(off.argmax())]


def _descended(x: Instance, t: int, leads: bool) -> tuple[list[float], float]:
    """Return A(θ_i), i = 1, ..., t, for (14), or A(θ_{i−1}) for (16), and the bound of (16)."""
    size, beta = x.c.size, growing(x.beta, t)
    theta, zeta = np.full(size, 1.0 / size), np.zeros(size)
    found, squares = [], 0.0
    for i in range(t + leads):
        value, slope = _tilt(x, theta)
        if i or not leads:
            found.append(value)
        zeta = zeta + slope
        squares += float(np.abs(slope).max()) ** 2 / (2.0 * beta[min(i, t)])
        if leads:
            theta = np.eye(size)[int(zeta.argmin())]
        elif i < t:
            theta = gibbs(zeta, beta[i + 1], 1.0)
    return found, beta[t] * math.log(size) + squares


@follow_the_leader.step()
def _(x: Instance) -> Slacks:
    zeta = np.sum([_tilt(x, vertex)[1] for vertex in np.eye(x.c.size)], axis=0)
    yield at_least(float(zeta @ x.c), float(zeta.min()), "ζᵀc, min ζ_j")
    at = np.eye(x.c.size)[int(zeta.argmin())]
    yield equal(float(zeta @ at), float(zeta.min()), "ζᵀθ at a vertex, min ζ_j")


@follow_the_leader.step()
def _(x: Instance) -> Slacks:
    for vertex in np.eye(x.c.size):
        for theta in (vertex, 0.3 * vertex + 0.7 / x.c.size):
            value, slope = _tilt(x, theta)
            yield at_most(value, float((theta - x.c) @ slope), "A(θ), (θ − c)ᵀ∇A(θ)")


@SOURCE.claim("Eq17", space=STREAMS.but(K=Real(0.2, 3)))
def schedule(x: Instance) -> Slacks:
    method = MirrorDescent("hinge", over=Simplex(x.radius), bound=x.K)
    learner = method.start(x.U.shape[1])
    first = x.K / math.sqrt(math.log(x.U.shape[1]))
    for i, beta in enumerate(growing(first, len(x.U))):
        yield equal(learner.beta, float(beta), "β_i of the learner, (17)", i or None)
        if i < len(x.U):
            learner.update(x.K * x.U[i], 1.0)
    for before, after in pairwise(growing(first, len(x.U)).tolist()):
        yield at_most(before, after, "β_{i−1}, β_i")

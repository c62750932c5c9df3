"""JNTV05, Theorem 1, the end of its proof, and the sequences of Sec. 6.3."""

import math

import numpy as np

from relaxboost.claims.jntv05.formulas import RUNS, LabelledLaw, entropy, growing, law, mirror_of
from relaxboost.claims.jntv05.source import SOURCE
from relaxboost.claims.language import *
from relaxboost.game.domains import Simplex
from relaxboost.online import Horizon, MirrorDescent


def _risk(x: Instance, found: LabelledLaw, beta: Array, start: Array | None = None) -> float:
    """Return E A(θ̂_t) of the entropy with γ_i = 1."""
    P, means = found.samples(np.ones(x.t), beta, mirror_of("entropy", x.radius), start)
    return float(P @ found.risk(means))


def _bounded(x: Instance) -> tuple[LabelledLaw, float, float, float]:
    """Return the law, L, ln M and a certified lower bound of min A; leave empty laws out."""
    found = law(x)
    assume(found.lipschitz > 1e-6)
    return found, found.lipschitz, math.log(found.S.shape[1]), found.least()[1]


@SOURCE.claim("T1", space=RUNS.but(sizes={"k": (1, 4), "n": (2, 4)}, t=Whole(1, 6)))
def theorem_1(x: Instance) -> Slacks:
    found, L, log, best = _bounded(x)
    excess = _risk(x, found, growing(L / math.sqrt(log), x.t)) - best
    bound = 2.0 * x.radius * L * math.sqrt(log * (x.t + 1)) / x.t
    yield at_most(excess, bound, "E A(θ̂_t) − min A", x.t)


@SOURCE.claim(
    "T1-learner",
    space=RUNS.but(
        sizes={"k": (1, 2), "n": (2, 3)}, t=Whole(1, 4), loss=Choice("hinge", "exponential")
    ),
)
def learner(x: Instance) -> Slacks:
    found, L, log, best = _bounded(x)
    K = float(np.abs(x.H).max())
    method = MirrorDescent(x.loss, over=Simplex(x.radius), bound=K)
    k, labels = x.p.size, np.where(x.y >= 0.0, 1.0, -1.0)
    expected = 0.0
    for sample in np.ndindex(*(k,) * (x.t - 1)):
        rows = [*sample, 0]  # θ̂_t does not depend on example t
        run = method.start(x.H.shape[1])
        run.update(x.H[rows], labels[rows])
        expected += float(np.prod(x.p[list(sample)])) * float(found.risk(run.average))
    yield equal(expected, _risk(x, found, growing(L / math.sqrt(log), x.t)), "E A, the formulas")
    bound = 2.0 * x.radius * L * math.sqrt(log * (x.t + 1)) / x.t
    yield at_most(expected - best, bound, "E A(θ̂_t) − min A", x.t)


@SOURCE.claim("T1-start", space=RUNS.but(first=Distribution("n")))
def theorem_1_start(x: Instance) -> Slack:
    found, L, log, best = _bounded(x)
    beta = growing(L / math.sqrt(log), x.t)
    excess = _risk(x, found, beta, x.radius * x.first) - best
    bound = 2.0 * x.radius * L * math.sqrt(log * (x.t + 1)) / x.t
    return at_most(excess, bound, "E A(θ̂_t) − min A", x.t)


CONSTANTS = Space(
    sizes={"n": (2, 8)},
    theta=Distribution("n"),
    radius=Real(0.25, 3, log=True),
    L=Real(0.1, 4, log=True),
    scale=Real(0.2, 5, log=True),
    t=Whole(1, 60),
)
"""M by the size of θ, λ, L, β_0 over its best value, and t."""


def _known(x: Instance) -> tuple[float, float]:
    """Return α and V* of the entropy."""
    return 1.0 / x.radius, x.radius * math.log(x.theta.size)


@theorem_1.step(space=CONSTANTS)
def _(x: Instance) -> Slack:
    alpha, most = _known(x)
    log = math.log(x.theta.size)
    first = x.L / math.sqrt(log)
    value = first * most + x.L**2 / (alpha * first)
    return equal(value, 2.0 * x.radius * x.L * math.sqrt(log), "β_0 V* + L²/(αβ_0), 2λL √(ln M)")


@SOURCE.claim("Eq28", space=CONSTANTS)
def eq28(x: Instance) -> Slack:
    alpha, most = _known(x)
    first = x.scale * x.L / math.sqrt(alpha * most)
    beta = growing(first, x.t)
    left = (beta[-1] * most + float((x.L**2 / (2.0 * alpha * beta[:-1])).sum())) / x.t
    right = math.sqrt(x.t + 1) / x.t * (first * most + x.L**2 / (alpha * first))
    return at_most(left, right, "(26), (28)", x.t)


@eq28.step(space=CONSTANTS)
def _(x: Instance) -> Slack:
    rise = math.sqrt(x.t) - math.sqrt(x.t - 1)
    return at_most(1.0 / math.sqrt(x.t), 2.0 * rise, "1/√i, the difference")


@SOURCE.claim("Eq29", space=CONSTANTS)
def eq29(x: Instance) -> Slacks:
    alpha, most = _known(x)
    best = x.L / math.sqrt(alpha * most)
    least = 2.0 * x.L * math.sqrt(most / alpha)
    yield equal(best * most + x.L**2 / (alpha * best), least, "at the best β_0")
    other = x.scale * best
    yield at_least(other * most + x.L**2 / (alpha * other), least, "at another β_0")
    yield equal(best, x.L / math.sqrt(math.log(x.theta.size)), "β_0, L (ln M)^(−1/2)")


@eq29.step()
def _(x: Instance) -> Slack:
    alpha, most = _known(x)
    first = x.scale * x.L / math.sqrt(alpha * most)
    left = first * most + x.L**2 / (alpha * first) - 2.0 * x.L * math.sqrt(most / alpha)
    root = math.sqrt(first * most) - x.L / math.sqrt(alpha * first)
    return equal(left, root**2, "the difference, the square")


@SOURCE.claim("Eq30", space=CONSTANTS)
def eq30(x: Instance) -> Slacks:
    most = x.radius * math.log(x.theta.size)
    yield at_most(entropy(x.radius * x.theta, x.radius), most, "V(θ), V*")
    for vertex in np.eye(x.theta.size):
        yield equal(entropy(x.radius * vertex, x.radius), most, "V(λe_j), λ ln M")


@eq30.step()
def _(x: Instance) -> Slack:
    ends = [entropy(x.radius * vertex, x.radius) for vertex in np.eye(x.theta.size)]
    return at_most(entropy(x.radius * x.theta, x.radius), float(x.theta @ ends), "V(θ), the mean")


@SOURCE.claim(
    "Eq37",
    space=CONSTANTS.but(
        sizes={"n": (2, 8), "t": (1, 12)}, gamma=Vector("t", 0.05, 2), growth=Vector("t", 0, 1)
    ),
)
def eq37(x: Instance) -> Slacks:
    alpha, most = _known(x)
    t = x.gamma.size
    least = x.L * math.sqrt(2.0 * most / (alpha * t))

    def bound(gamma: Array, beta: Array) -> float:
        squares = x.L**2 * float((gamma**2 / beta[:-1]).sum()) / (2.0 * alpha)
        return (beta[-1] * most + squares) / float(gamma.sum())

    constant = np.full(t, t**-0.5), np.full(t + 1, x.L / math.sqrt(2.0 * alpha * most))
    yield equal(bound(*constant), least, "at (37)")
    ratio = x.L * math.sqrt(t / (2.0 * alpha * most))
    yield equal(constant[1][0] / constant[0][0], ratio, "β_i/γ_i, L √(t/(2αV*))")
    beta = x.scale * (1.0 + np.append(0.0, np.cumsum(x.growth)))
    yield at_least(bound(x.gamma, beta), least, "at other sequences")


@eq37.step()
def _(x: Instance) -> Slack:
    beta = x.scale * (1.0 + np.append(0.0, np.cumsum(x.growth)))
    least = float(x.gamma.sum()) ** 2 / (x.gamma.size * beta[-1])
    return at_least(float((x.gamma**2 / beta[:-1]).sum()), least, "Σ γ_i²/β_{i−1}, (Σ γ_i)²/(tβ_t)")


@eq37.step()
def _(x: Instance) -> Slacks:
    alpha, most = _known(x)
    best = x.L / math.sqrt(2.0 * alpha * x.t * most)
    least = x.L * math.sqrt(2.0 * most / (alpha * x.t))
    for b in (best, x.scale * best):
        yield at_least(b * most + x.L**2 / (2.0 * alpha * x.t * b), least, "bV* + L²/(2αtb)")


@SOURCE.claim("Sec6.3", space=CONSTANTS)
def close(x: Instance) -> Slacks:
    alpha, most = _known(x)
    best = x.L * math.sqrt(2.0 * most / (alpha * x.t))
    log = math.log(x.theta.size)
    yield equal(best, x.radius * x.L * math.sqrt(2.0 * log / x.t), "L √(2V*/(αt)), (38)")
    theorem = 2.0 * x.radius * x.L * math.sqrt(log * (x.t + 1)) / x.t
    yield equal(theorem, math.sqrt(2.0 * (1.0 + 1.0 / x.t)) * best, "(5), √2 √(1 + 1/t) (38)")
    yield at_most(theorem, 2.0 * best, "(5), twice (38)")


@close.step()
def _(x: Instance) -> Slacks:
    left, best = 2.0 * math.sqrt(x.t + 1) / x.t, math.sqrt(2.0 / x.t)
    yield equal(left, math.sqrt(2.0 * (1.0 + 1.0 / x.t)) * best, "2√(t + 1)/t, the product")
    yield at_most(left, 2.0 * best, "2√(t + 1)/t, 2√(2/t)")


@SOURCE.claim("Eq38", space=RUNS)
def eq38(x: Instance) -> Slacks:
    found, L, log, best = _bounded(x)
    beta = np.full(x.t + 1, L * math.sqrt(x.t / (2.0 * log)))
    bound = x.radius * L * math.sqrt(2.0 * log / x.t)
    yield at_most(_risk(x, found, beta) - best, bound, "E A(θ̂_t) − min A", x.t)
    method = MirrorDescent("inner", over=Simplex(x.radius), schedule=Horizon(x.t), bound=L)
    yield equal(method.start(found.S.shape[1]).beta, float(beta[0]), "β of Horizon(t), (37)")


@eq38.step(space=CONSTANTS)
def _(x: Instance) -> Slack:
    alpha, most = _known(x)
    left = x.L * math.sqrt(2.0 * most / (alpha * x.t))
    right = x.radius * x.L * math.sqrt(2.0 * math.log(x.theta.size) / x.t)
    return equal(left, right, "L √(2V*/(αt)), λL √(2 ln M/t)")

"""JNTV05, Theorems 1 and 2, the remarks on them, and the sequences γ_i and β_i of Sec. 6.3."""

import math
from fractions import Fraction

import numpy as np
from scipy.stats import binom

from relaxboost.claims.jntv05 import SOURCE
from relaxboost.claims.jntv05.formulas import (
    RUNS,
    VALUES,
    FiniteLaw,
    growing,
    law,
    mirror_of,
    modulus,
)
from relaxboost.claims.language import *
from relaxboost.game.domains import Simplex
from relaxboost.online import Horizon, MirrorDescent


def _risk(x: Instance, found: FiniteLaw, beta: Array, start: Array | None = None) -> float:
    P, means = found.samples(np.ones(x.t), beta, mirror_of("entropy", x.radius), start)
    return float(P @ found.risk(means))


def _bounded(x: Instance) -> tuple[FiniteLaw, float, float, float]:
    """Return four results: the probability law, the bound L, ln M, and a bound on the least risk.

    L is the bound on the gradients of the law, M is the number of entries of θ, and the bound on
    the least risk is a certified lower bound. Skip instances with L <= 1e-6.
    """
    found = law(x)
    assume(found.lipschitz > 1e-6)
    return found, found.lipschitz, math.log(found.S.shape[1]), found.least()[1]


def _theorem_1(x: Instance, start: Array | None = None) -> Slack:
    found, L, log, best = _bounded(x)
    excess = _risk(x, found, growing(L / math.sqrt(log), x.t), start) - best
    bound = 2.0 * x.radius * L * math.sqrt(log * (x.t + 1)) / x.t
    return at_most(excess, bound, "E A(θ̂_t) − min A", x.t)


@SOURCE.claim("T1", space=RUNS.but(sizes={"k": (1, 4), "n": (2, 4)}, t=Whole(1, 6)))
def theorem_1(x: Instance) -> Slack:
    return _theorem_1(x)


RATES = Space(
    alpha=Real(0.1, 3, log=True),
    most=Real(0.1, 5, log=True),
    L=Real(0.1, 4, log=True),
    scale=Real(0.2, 5, log=True),
    t=Whole(1, 60),
)
"""The constants of a rate: the modulus α of strong convexity, the maximum V* of the proxy function,
the Lipschitz constant L, the number t of rounds, and the ratio of β_0 to its best value."""


@theorem_1.step(space=RATES)
def rate(x: Instance) -> Slacks:
    best = x.L / math.sqrt(x.alpha * x.most)
    for first in (best, x.scale * best):
        beta = growing(first, x.t)
        left = beta[-1] * x.most + float((x.L**2 / (2.0 * x.alpha * beta[:-1])).sum())
        right = first * x.most + x.L**2 / (x.alpha * first)
        yield at_most(left / x.t, math.sqrt(x.t + 1) / x.t * right, "(26), (28)", x.t)
    least = 2.0 * x.L * math.sqrt(x.most / x.alpha)
    yield equal(best * x.most + x.L**2 / (x.alpha * best), least, "at the best β_0")


@SOURCE.claim("T1-start", space=RUNS.but(first=Distribution("n")))
def theorem_1_start(x: Instance) -> Slack:
    return _theorem_1(x, x.radius * x.first)


def bayes(experts: float, t: int, shift: float) -> float:
    """Return the least expected excess risk that any estimator can have after t rounds.

    The number of experts is M = exp(experts). One random expert is right with probability
    1/2 + shift, and the others with probability 1/2.
    """
    # The best estimator chooses the expert that was right most often, and breaks ties at random.
    counts = np.arange(t + 1)
    right = binom.pmf(counts, t, 0.5 + shift)
    usual = binom.pmf(counts, t, 0.5)
    upto = np.minimum(np.cumsum(usual), 1.0)
    M = math.exp(experts)
    shared = (upto**M - (upto - usual).clip(0.0) ** M) / (M * usual)
    return 2.0 * shift * (1.0 - float(right @ shared))


@SOURCE.claim(
    "R2", space=Space(t=Whole(1, 60), experts=Real(0.7, 500, log=True), c=Real(0.01, 1, log=True))
)
def lower_bound(x: Instance) -> Slack:
    return at_least(2.0, x.c * math.sqrt(x.experts / x.t), "c √(ln M/t), the largest excess risk")


@lower_bound.corrected()
def lower_bound_corrected(x: Instance) -> Slack:
    assume(x.experts <= 12.0)
    rate = min(1.0, math.sqrt(x.experts / x.t))
    excess = bayes(x.experts, x.t, min(0.4, rate / 2.0) / 2.0)
    return at_least(excess, rate / 6.0, "min {1, √(ln M/t)}/6, Bayes excess risk")


@SOURCE.claim("Eq38", space=RUNS)
def eq38(x: Instance) -> Slacks:
    found, L, log, best = _bounded(x)
    beta = np.full(x.t + 1, L * math.sqrt(x.t / (2.0 * log)))
    bound = x.radius * L * math.sqrt(2.0 * log / x.t)
    yield at_most(_risk(x, found, beta) - best, bound, "E A(θ̂_t) − min A", x.t)
    method = MirrorDescent("inner", over=Simplex(x.radius), schedule=Horizon(x.t), bound=L)
    yield equal(method.start(found.S.shape[1]).beta, float(beta[0]), "β of Horizon(t), (37)")


@eq38.step(
    space=RATES.but(sizes={"t": (1, 12)}, gamma=Vector("t", 0.05, 2), growth=Vector("t", 0, 1))
)
def _(x: Instance) -> Slacks:
    t = x.gamma.size
    least = x.L * math.sqrt(2.0 * x.most / (x.alpha * t))

    def bound(gamma: Array, beta: Array) -> float:
        squares = x.L**2 * float((gamma**2 / beta[:-1]).sum()) / (2.0 * x.alpha)
        return (beta[-1] * x.most + squares) / float(gamma.sum())

    constant = np.full(t + 1, x.L / math.sqrt(2.0 * x.alpha * x.most))
    yield equal(bound(np.full(t, t**-0.5), constant), least, "at (37)")
    beta = x.scale * (1.0 + np.append(0.0, np.cumsum(x.growth)))
    yield at_least(bound(x.gamma, beta), least, "at other sequences")


GENERAL = Space(
    sizes={"k": (1, 3), "n": (2, 4)},
    H=Matrix(axes=("k", "n")),
    y=Vector("k", -2, 2),
    p=Distribution("k"),
    radius=Real(0.25, 2),
    scale=Real(0.2, 5, log=True),
    proxy=Choice("entropy", "squared"),
    shift=Real(-1, 1),
    roof=Real(0.001, 2, log=True),
    t=Whole(1, 4),
)
"""The space of regression problems with the squared loss. The number `shift` is added to the proxy
function V. The upper bound V̄ on V(θ*) is the larger of the number `roof` and V(θ*)."""


def _minimiser(x: Instance) -> tuple[FiniteLaw, Array, bool]:
    """Return a triple: the probability law, a point θ of the simplex, and a Boolean.

    The point θ has the least risk among the vertices and the centre. The Boolean is true if θ
    minimises the risk over the simplex, and the constant L of the law is at least 0.01.
    """
    found = FiniteLaw(x.p, x.radius, x.H, "squared", x.y)
    size = x.H.shape[1]
    points = x.radius * np.vstack([np.full(size, 1.0 / size), np.eye(size)])
    theta = points[int(np.argmin(found.risk(points)))]
    slope = x.p @ found.slopes(theta[None, :])[0]
    is_least = float(((points - theta) @ slope).min()) >= -1e-9 and found.lipschitz >= 0.01
    return found, theta, is_least


def _above(x: Instance, found: FiniteLaw, theta: Array, first: float) -> float:
    P, means = found.samples(np.ones(x.t), growing(first, x.t), mirror_of(x.proxy, x.radius))
    return float(P @ found.risk(means) - found.risk(theta))


def _below_roof(x: Instance, found: FiniteLaw, theta: Array, shift: float) -> Slack:
    """Return the slack of inequality (34) for the proxy function V + `shift`.

    The inequality has an upper bound V̄ on the value of the proxy function at θ*. V̄ is the larger
    of `roof` and this value.
    """
    alpha = modulus(x.proxy, theta.size, x.radius)
    L = found.lipschitz
    roof = max(x.roof, VALUES[x.proxy](theta, x.radius) + shift)
    bound = 2.0 * L * math.sqrt(roof / alpha) * math.sqrt(x.t + 1) / x.t
    excess = _above(x, found, theta, L / math.sqrt(alpha * roof))
    return at_most(excess, bound, "E A(θ̂_t) − min A, (34)", x.t)


@SOURCE.claim("T2", space=GENERAL)
def theorem_2(x: Instance) -> Slack:
    found, theta, is_least = _minimiser(x)
    assume(is_least)
    return _below_roof(x, found, theta, x.shift)


@theorem_2.corrected()
def theorem_2_corrected(x: Instance) -> Slacks:
    found, theta, is_least = _minimiser(x)
    value = x.scale * VALUES[x.proxy](theta, x.radius)
    more = found.lipschitz**2 / (modulus(x.proxy, theta.size, x.radius) * x.scale)
    excess = _above(x, found, theta, x.scale)
    yield at_most(excess, (value + more) * math.sqrt(x.t + 1) / x.t, "E A(θ̂_t) − A(θ), (33)", x.t)
    if is_least:
        yield _below_roof(x, found, theta, abs(x.shift))


theorem_2_corrected.step(space=RATES)(rate.stated.check)


CHAIN = Space(steep=Real(0.25, 4), flat=Real(0.25, 4), scale=Real(0.2, 5, log=True))
"""The space of Markov chains for Remark 5. The loss is Q(θ, Z) = R[±(θ_1 − 1/2)]_+, where the state
Z of the chain determines the sign, and whether the slope R is `steep` or `flat`. The first
temperature β_0 is `scale`."""


@SOURCE.claim("R5", space=CHAIN)
def dependent(x: Instance) -> Slack:
    _, most = _chain(x)
    return at_most(_after_two(x), float(most) / x.scale * 2.0 / 3.0, "E A(θ̂_3) − min A, (33)", 3)


@SOURCE.claim("R5-proof", space=CHAIN)
def second_moment(x: Instance) -> Slack:
    squares, most = _chain(x)
    return at_most(squares, most, "E ‖u_2(θ_1)‖_∞², L²")


def _chain(x: Instance) -> tuple[Fraction, Fraction]:
    """Return a pair: E ‖u_2(θ_1)‖_∞² for the second gradient u_2, and L² = sup E ‖u(θ, Z)‖_∞² over
    all θ. Assert that the chain satisfies the conditions of Remark 5."""
    # For each sign, Z is steep with probability p and flat with probability q, where p + q = 1/2.
    # If Z_1 has the sign +, then θ_1 < 1/2, where losses of the sign − have the slope −R. In this
    # case Z_2 is steep and has the sign − with probability 2p, and otherwise it is flat and has the
    # sign +. The case of Z_1 with the sign − is symmetric.
    steep, flat = Fraction(x.steep), Fraction(x.flat)
    p, q = flat / (steep + flat) / 2, steep / (steep + flat) / 2
    assert (1 - 2 * p) / 2 == q  # For either sign, Z_2 is flat as often as Z_1.
    assert 2 * p * steep == p * steep + q * flat  # E (u_2 | θ_1) is the slope of A there.
    return 2 * p * steep**2, p * steep**2 + q * flat**2


@second_moment.corrected()
def second_moment_corrected(x: Instance) -> Slacks:
    squares, _ = _chain(x)
    L = max(x.steep, x.flat)
    yield at_most(squares, Fraction(L) ** 2, "E ‖u_2(θ_1)‖_∞², L²")
    yield at_most(_after_two(x), L**2 / x.scale * 2.0 / 3.0, "E A(θ̂_3) − min A, (33)", 3)


def _after_two(x: Instance) -> float:
    p, q = x.flat / (x.steep + x.flat) / 2.0, x.steep / (x.steep + x.flat) / 2.0
    beta = growing(x.scale, 3)
    total = 0.0
    for share, first in ((p, x.steep), (q, x.flat)):  # The sign − is the mirror image.
        one = 1.0 / (1.0 + math.exp(first / 2.0 / beta[1]))
        for again, second in ((2.0 * p, -x.steep), (1.0 - 2.0 * p, 0.0)):
            two = 1.0 / (1.0 + math.exp((first / 2.0 + second) / beta[2]))
            total += 2.0 * share * again * abs((0.5 + one + two) / 3.0 - 0.5)
    return (p * x.steep + q * x.flat) * total

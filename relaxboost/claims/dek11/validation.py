"""DEK11, Secs. 2.3 and 3: dynamic validation, which selects an iterate by its later losses."""

import math

import numpy as np
from scipy.special import bdtr, bdtrc

from relaxboost.claims.dek11 import SOURCE
from relaxboost.claims.dek11.runs import LAWS, LOSSES, Samples, azuma, never_more, tossed
from relaxboost.claims.language import *

RUNS = LAWS.but(learner=Choice("GD", "EG"))

LATER = RUNS.but(delta=Real(0.01, 0.99))


def later(law: Samples) -> tuple[Array, Array, Array]:
    """Return the later losses, the risks, and the numbers of later examples.

    The later loss of w_{i−1} is its mean loss on the m − i + 1 examples z_i, ..., z_m. The losses
    and the risks have a row for each sample and a column for each i.
    """
    before = law.run().before
    streams = law.drawn()
    u = np.einsum("sin,skn->sik", before, streams.x)
    y = np.broadcast_to(streams.y[:, None, :], u.shape)
    values = LOSSES[law.loss].pointwise(u.ravel(), y.ravel())[0].reshape(u.shape)
    rest = np.arange(law.m, 0, -1)
    return np.triu(values).sum(axis=2) / rest, law.risk(before), rest


@SOURCE.claim("radius", space=RUNS).checked(trials=40)
def radius(x: Instance, sides: float = 1.0, both: bool = True) -> Slack:
    law = Samples(x)
    seen, risk, rest = later(law)
    off = np.abs(risk - seen) if both else risk - seen
    worst = (2.0 * rest * np.maximum(off / law.c, 0.0) ** 2).max(axis=1)
    return never_more(
        worst, law.chances, lambda t: sides * law.m * np.exp(-t), "P(one is off by more), δ"
    )


@radius.corrected()
def radius_corrected(x: Instance) -> Slacks:
    yield radius(x, 2.0)[0]
    yield radius(x, 1.0, False)[0]


@radius_corrected.step()
def _(x: Instance) -> Slacks:
    law = Samples(x)
    seen, risk, rest = later(law)
    for i, count in enumerate(rest):
        for off in (risk[:, i] - seen[:, i], seen[:, i] - risk[:, i]):
            yield never_more(off, law.chances, azuma(law.c, count), "P(deviation ≥ ε), δ")
    yield tossed(x.m)


@SOURCE.claim("as-good", space=LATER).checked(trials=40)
def as_good(x: Instance) -> Slack:
    assume(x.m >= 4 and x.m % 2 == 0)
    law = Samples(x)
    seen, risk, rest = later(law)
    bound = seen + law.c * np.sqrt(math.log(x.m / x.delta) / (2.0 * rest))
    losses = law.atoms(law.run().before[:, : x.m // 2])
    first = law.samples[:, None, : x.m // 2 - 1]
    found = np.take_along_axis(losses, first.astype(np.intp).repeat(x.m // 2, axis=1), axis=2)
    rows = np.arange(len(bound))
    ours, theirs = (risk[rows, u.argmin(axis=1)] for u in (bound, found.mean(axis=2)))
    worse = float(law.chances[ours > theirs + 1e-9].sum())
    return at_most(worse, x.delta, "P(l(h̃; D) > l(h̃̃; D)), δ")


@as_good.corrected()
def as_good_corrected(x: Instance) -> Slack:
    seen, risk, rest = later(Samples(x))
    needed = (2.0 * rest * (risk - seen) ** 2).max(axis=1, keepdims=True)
    bounds = seen + np.sqrt(needed / (2.0 * rest))
    chosen = np.take_along_axis(risk, bounds.argmin(axis=1)[:, None], axis=1)[:, 0]
    return at_most(float((chosen - bounds.min(axis=1)).max()), 0.0, "l(h̃; D) − least bound")


COINS = Space(
    h=Whole(7, 100),
    place=Real(0, 1),
    q=Real(0, 0.4),
    over=Real(1.0001, 1.3),
    delta=Real(0.01, 0.99),
)
"""The instances with m = 2h fixed hypotheses, whose errors are independent. One hypothesis of the
first half, selected by `place`, errs with probability q. All others err with probability q + 2 ·
`over` · √(log(2m/δ)/m)."""


@SOURCE.claim("chosen", space=COINS).checked(trials=40)
def chosen_is_good(x: Instance) -> Slack:
    m = 2 * x.h
    best = min(x.h - 1, math.floor(x.place * x.h))
    worse = x.q + 2.0 * x.over * math.sqrt(math.log(2 * m / x.delta) / m)
    assume(worse <= 1.0)
    rest = np.arange(m, 0, -1)
    radii = np.sqrt(math.log(m / x.delta) / (2.0 * rest))
    errors = np.arange(rest[best] + 1.0)
    bounds = errors[:, None] / rest[best] + radii[best]
    misses = np.floor(rest * (bounds - radii) + 1e-9)  # With as many, another is preferred.
    above = np.where(misses < 0.0, 1.0, bdtrc(np.clip(misses, 0.0, rest), rest, worse))
    above[:, best] = 1.0
    likely = np.diff(bdtr(errors, rest[best], x.q), prepend=0.0)
    return at_most(1.0 - float(likely @ above.prod(axis=1)), x.delta, "P(not so), δ")


@chosen_is_good.step(space=LATER)
def at_most_any_bound(x: Instance) -> Slack:
    law = Samples(x)
    seen, risk, rest = later(law)
    radii = law.c * np.sqrt(math.log(x.m / x.delta) / (2.0 * rest))
    at = np.argmin(seen + radii, axis=1)[:, None]
    excess = np.maximum(risk - seen - radii, 0.0).max(axis=1, keepdims=True)
    over = np.take_along_axis(risk, at, axis=1) - seen - radii - excess
    return at_most(float(over.max()), 0.0, "l(h̃; D), the bound of another and the excess")


as_good_corrected.step()(at_most_any_bound.stated.check)

TAILS = Space(m=Whole(2, 400), delta=Real(0.001, 0.999))


@chosen_is_good.step(space=TAILS)
def _(x: Instance) -> Slacks:
    a, L = math.log(x.m / x.delta), math.log(2 * x.m / x.delta)
    n = np.arange(1.0, x.m + 1.0)
    y = (math.sqrt(L) - math.sqrt(a)) / math.sqrt(x.m)
    total = float(np.exp(a - 2.0 * n * (np.sqrt(a / (2.0 * n)) + y) ** 2).sum())
    yield at_most(total / x.m, 0.6, "Σ exp(...)/δ, 3/5")
    yield at_least(y * math.sqrt(8.0 * x.m * a), 0.81, ".81, y√(8ma)")


@chosen_is_good.step(space=TAILS)
def _(x: Instance) -> Slacks:
    L = math.log(2 * x.m / x.delta)
    n = np.arange(x.m // 2 + 1.0, x.m + 1.0)
    total = float(np.exp(L - 2.0 * n * L / x.m).sum()) / (2.0 * x.m)
    yield at_most(total, 1.0 / (4.0 * L), "Σ exp(...)/δ, 1/(4L)")
    yield at_most(1.0 / (4.0 * L), 0.2, "1/(4L), 1/5")


HALVES = Space(h=Whole(2, 500), bits=Whole(0, 27), q=Real(0.01, 0.5), delta=Real(0.01, 0.99))
"""The space of instances with m = 2h examples. The examples are drawn from 2^bits equally likely
points, and each has the label −1 with probability q."""


def within(successes: int, trials: int, p: float) -> float:
    """Return the probability of at most `successes` in `trials` independent trials with success
    probability p.
    """
    return float(bdtr(min(successes, trials), trials, p)) if successes >= 0 else 0.0


def half_radius(x: Instance) -> float:
    """Return √(log(m/δ)/m), the confidence radius for a mean loss over half of the examples.

    Skip instances whose examples are drawn from at most m/2 points.
    """
    assume(x.h < 2**x.bits)
    return math.sqrt(math.log(2 * x.h / x.delta) / (2 * x.h))


def memory(bits: int, m: int, seen: int, minus: int) -> tuple[float, float]:
    """Return two numbers g and t, from which the predictions of the weighted experts follow.

    The examples are drawn from 2^bits points. At a point that the learner has not seen, the experts
    predict g. At a point that it has seen with the label y, they predict g + (1 − g)ty. It has seen
    `seen` distinct points, and `minus` of them had the label y = −1.
    """
    # The experts that always predict 1 have the weight 2^N exp(η Σ y), and the others have 2^N
    # cosh(η)^seen.
    eta = math.sqrt(2.0 * (2.0**bits + 1.0) * math.log(2.0) / m)
    odds = seen * (math.log1p(math.exp(-2.0 * eta)) - math.log(2.0)) + 2.0 * eta * minus
    return 1.0 / (1.0 + math.exp(min(odds, 700.0))), math.tanh(eta)


def over(x: Instance, rise: float, best: bool) -> float:
    """Return a lower bound on the probability that the selected hypothesis has a risk above b +
    `rise`.

    If `best` is true, b is the risk of h_0. Otherwise it is the mean loss of the selected
    hypothesis on the examples that selected it.
    """
    # Only samples are counted whose atoms in S' are distinct and whose labels contain a −1. In
    # these samples h̃̃ is the last hypothesis, because all others have seen less of S'.
    N = 2.0**x.bits
    last = x.h - 1
    total = 0.0
    for k in range(1, last + 1):
        g, t = memory(x.bits, 2 * x.h, last, k)
        met = g * (1.0 - 2.0 * k / last) + (1.0 - g) * t
        if met <= max(1.0 - 2.0 * k / last, t * (last - 1.0) / last):
            continue
        risk = 1.0 - (1.0 - 2.0 * x.q) * (g + (1.0 - g) * t * (last - 2.0 * k) / N)
        if risk > (0.5 + x.q if best else 1.0 - met) + rise:
            total += within(k, last, x.q) - within(k - 1, last, x.q)
    return total * float(np.prod(1.0 - np.arange(last) / N))


@SOURCE.claim("half", space=HALVES).checked(trials=30)
def half(x: Instance) -> Slacks:
    r = half_radius(x)
    yield at_most(over(x, 2.0 * r, False), max(x.delta, 1.0 - x.delta), "P(not so), max {δ, 1 − δ}")
    yield at_most(over(x, 4.0 * r, True), 2.0 * x.delta, "P(not so near to h*), 2δ")


@half.corrected()
def second_half(x: Instance) -> Slacks:
    r = half_radius(x)
    K = x.h + 1
    N = 2**x.bits
    risks = [x.q, *(1.0 - d / N for d in range(1, x.h))]
    bad = sum(within(math.ceil(K * (p - r)) - 1, K, p) for p in risks)
    yield at_most(bad, x.delta, "P(not so), δ")
    # A bad h_j knows at most d atoms. It is selected if its error rate is at most that of h_0.
    d = min(x.h - 1, math.ceil(N * (1.0 - x.q - 2.0 * r)) - 1)
    if d >= 1 and x.q < 1.0 - (x.h - 1) / N:
        errs = np.diff([within(k, K, x.q) for k in range(-1, K + 1)])
        others = np.array([within(k, K, 1.0 - d / N) for k in range(K + 1)])
        yield at_most(float(errs @ others), 2.0 * x.delta, "P(not so near to h*), 2δ")


@second_half.step()
def _(x: Instance) -> Slack:
    r = half_radius(x)
    K = x.h + 1
    return at_most(x.h * math.exp(-2.0 * K * r**2), x.delta, "(m/2) e^(−2Kr²), δ")

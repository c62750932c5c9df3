"""DEK11, Sec. 2.3, 3: dynamic validation, which picks the iterate that later examples favour."""

import math

import numpy as np
from scipy.special import bdtr, bdtrc

from relaxboost.claims.dek11.runs import LAWS, LOSSES, Samples, azuma, never_more, tossed
from relaxboost.claims.dek11.source import SOURCE
from relaxboost.claims.language import *

RUNS = LAWS.but(learner=Choice("GD", "EG"))
"""Laws, and the algorithm that learns."""


def later(law: Samples) -> tuple[Array, Array, Array]:
    """Return l(w_{i−1}; z_i, ..., z_m) and l(w_{i−1}; D) of each sample, (S, m), and m − i + 1."""
    before = law.run().before
    streams = law.drawn()
    u = np.einsum("sin,skn->sik", before, streams.x)
    y = np.broadcast_to(streams.y[:, None, :], u.shape)
    values = LOSSES[law.loss].pointwise(u.ravel(), y.ravel())[0].reshape(u.shape)
    rest = np.arange(law.m, 0, -1)
    return np.triu(values).sum(axis=2) / rest, law.risk(before), rest


@SOURCE.claim("independence", space=RUNS).checked(trials=40)
def independence(x: Instance) -> Slacks:
    law = Samples(x)
    before, k = law.run().before, len(law.p)
    for i in range(law.m):
        w = before[:, i].reshape(k**i, -1, before.shape[2])
        yield equal(float(np.ptp(w, axis=1).max()), 0.0, "range of w_{i−1} given the past", i + 1)
        joint = law.chances.reshape(k**i, -1)
        off = joint - joint.sum(axis=1, keepdims=True) * joint.sum(axis=0)
        yield equal(float(np.abs(off).max()), 0.0, "joint law − product", i + 1)


@independence.step()
def _(x: Instance) -> Slacks:
    assume(x.m >= 2)
    law = Samples(x)
    p, half = law.p, law.m // 2
    past, rest = (np.indices((len(p),) * n).reshape(n, -1).T for n in (half, law.m - half))
    product = np.outer(p[past].prod(axis=1), p[rest].prod(axis=1)).ravel()
    yield equal(float(np.abs(law.chances - product).max()), 0.0, "P(past, rest) − P(past) P(rest)")


@SOURCE.claim("radius", space=RUNS).checked(trials=40)
def radius(x: Instance, sides: float = 1.0, both: bool = True) -> Slack:
    law = Samples(x)
    seen, risk, rest = later(law)
    off = np.abs(risk - seen) if both else risk - seen
    worst = (2.0 * rest * np.maximum(off / law.c, 0.0) ** 2).max(axis=1)
    allowed = lambda t: sides * law.m * np.exp(-t)  # noqa: E731
    return never_more(worst, law.chances, allowed, "P(one is off by more), δ")


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


LATER = RUNS.but(delta=Real(0.01, 0.99))


def on_first(law: Samples, losses: Array) -> Array:
    """Return the losses on S' = {z_1, ..., z_{m/2−1}}, (S, h), of losses on atoms, (S, h, k)."""
    shown = law.samples[:, None, : law.m // 2 - 1].repeat(losses.shape[1], axis=1)
    return np.asarray(np.take_along_axis(losses, shown.astype(np.intp), axis=2).mean(axis=2))


@SOURCE.claim("as-good", space=LATER).checked(trials=40)
def as_good(x: Instance) -> Slack:
    assume(x.m >= 4 and x.m % 2 == 0)
    law = Samples(x)
    seen, risk, rest = later(law)
    bound = seen + law.c * np.sqrt(math.log(x.m / x.delta) / (2.0 * rest))
    rows = np.arange(len(bound))
    found = on_first(law, law.atoms(law.run().before[:, : x.m // 2]))
    ours, theirs = risk[rows, bound.argmin(axis=1)], risk[rows, found.argmin(axis=1)]
    worse = float(law.chances[ours > theirs + 1e-9].sum())
    return at_most(worse, x.delta, "P(l(h̃; D) > l(h̃̃; D)), δ")


@as_good.corrected()
def as_good_corrected(x: Instance) -> Slack:
    bounds, risk = _that_hold(x)
    chosen = np.take_along_axis(risk, bounds.argmin(axis=1)[:, None], axis=1)[:, 0]
    return at_most(float((chosen - bounds.min(axis=1)).max()), 0.0, "l(h̃; D) − least bound")


@as_good_corrected.step()
def _(x: Instance) -> Slack:
    bounds, risk = _that_hold(x)
    return at_most(float((risk - bounds).max()), 0.0, "l(h_{i−1}; D) − bound_i")


def _that_hold(x: Instance) -> tuple[Array, Array]:
    """Return losses on later examples with the least radii that hold, and risks, (S, m)."""
    seen, risk, rest = later(Samples(x))
    needed = (2.0 * rest * (risk - seen) ** 2).max(axis=1, keepdims=True)
    return seen + np.sqrt(needed / (2.0 * rest)), risk


COINS = Space(
    h=Whole(7, 100),
    place=Real(0, 1),
    q=Real(0, 0.4),
    over=Real(1.0001, 1.3),
    delta=Real(0.01, 0.99),
)
"""m = 2h hypotheses that are fixed beforehand, each wrong where a coin of its own shows 1: one of
the first half with probability q, and the others more often, by `over` times what is allowed.
"""


@SOURCE.claim("chosen", space=COINS).checked(trials=40)
def chosen_is_good(x: Instance) -> Slack:
    m, best = 2 * x.h, min(x.h - 1, math.floor(x.place * x.h))
    worse = x.q + 2.0 * x.over * math.sqrt(math.log(2 * m / x.delta) / m)
    assume(worse <= 1.0)
    rest = np.arange(m, 0, -1)
    radii = np.sqrt(math.log(m / x.delta) / (2.0 * rest))
    errors = np.arange(rest[best] + 1.0)
    bounds = errors[:, None] / rest[best] + radii[best]
    misses = np.floor(rest * (bounds - radii) + 1e-9)  # with as many another is preferred
    above = np.where(misses < 0.0, 1.0, bdtrc(np.clip(misses, 0.0, rest), rest, worse))
    above[:, best] = 1.0
    likely = np.diff(bdtr(errors, rest[best], x.q), prepend=0.0)
    return at_most(1.0 - float(likely @ above.prod(axis=1)), x.delta, "P(not so), δ")


@chosen_is_good.step(space=LATER)
def _(x: Instance) -> Slack:
    law = Samples(x)
    seen, risk, rest = later(law)
    radii = law.c * np.sqrt(math.log(x.m / x.delta) / (2.0 * rest))
    at = np.argmin(seen + radii, axis=1)[:, None]
    excess = np.maximum(risk - seen - radii, 0.0).max(axis=1, keepdims=True)
    over = np.take_along_axis(risk, at, axis=1) - seen - radii - excess
    return at_most(float(over.max()), 0.0, "l(h̃; D), the bound of another and the excess")


TAILS = Space(m=Whole(2, 400), delta=Real(0.001, 0.999))


@chosen_is_good.step(space=TAILS)
def _(x: Instance) -> Slacks:
    a, L = math.log(x.m / x.delta), math.log(2 * x.m / x.delta)
    n, y = np.arange(1.0, x.m + 1.0), (math.sqrt(L) - math.sqrt(a)) / math.sqrt(x.m)
    total = float(np.exp(a - 2.0 * n * (np.sqrt(a / (2.0 * n)) + y) ** 2).sum())
    yield at_most(total / x.m, 0.6, "Σ exp(...)/δ, 3/5")
    yield at_least(y * math.sqrt(8.0 * x.m * a), 0.81, "y√(8ma), .81")


@chosen_is_good.step(space=TAILS)
def _(x: Instance) -> Slacks:
    L = math.log(2 * x.m / x.delta)
    n = np.arange(x.m // 2 + 1.0, x.m + 1.0)
    total = float(np.exp(L - 2.0 * n * L / x.m).sum()) / (2.0 * x.m)
    yield at_most(total, 1.0 / (4.0 * L), "Σ exp(...)/δ, 1/(4L)")
    yield at_most(1.0 / (4.0 * L), 0.2, "1/(4L), 1/5")

"""DEK11, Sec. 2.3, 3: the empirical risk minimiser of the first half, and the best hypothesis."""

import math

import numpy as np
from scipy.special import bdtr

from relaxboost.claims.dek11.runs import Samples, tossed
from relaxboost.claims.dek11.source import SOURCE
from relaxboost.claims.dek11.validation import RUNS, on_first
from relaxboost.claims.language import *

HALVES = Space(h=Whole(2, 500), bits=Whole(0, 27), q=Real(0.01, 0.5), delta=Real(0.01, 0.99))
"""m = 2h examples: one of N = 2^bits atoms of equal weight, and the label −1 with probability q."""

EXPERTS = (
    "Algorithm 2 with the hinge loss, X = 1, c = 2, on 2^(N+1) experts: 2^N say 1 always, and one "
    "has each of the labelings of N atoms; an example is one of the atoms, all equally likely, "
    "with the label −1 with probability q"
)


def within(successes: int, trials: int, p: float) -> float:
    """Return P(X <= successes) for X binomial."""
    return float(bdtr(min(successes, trials), trials, p)) if successes >= 0 else 0.0


def half_radius(x: Instance) -> float:
    """Return √(log(m/δ)/(2(m/2))); m, δ as in `HALVES`, and N larger than the first half."""
    assume(x.h < 2**x.bits)
    return math.sqrt(math.log(2 * x.h / x.delta) / (2 * x.h))


def memory(bits: int, m: int, seen: int, minus: int) -> tuple[float, float]:
    """Return g and t: `EXPERTS` predict g on new atoms and g + (1 − g)ty on `seen` ones.

    The atoms seen are distinct, and `minus` of them had the label y = −1. Those who say 1 always
    have the weight exp(η Σ y), the others cosh(η) to the number of atoms, both times 2^N.
    """
    eta = math.sqrt(2.0 * (2.0**bits + 1.0) * math.log(2.0) / m)
    odds = seen * (math.log1p(math.exp(-2.0 * eta)) - math.log(2.0)) + 2.0 * eta * minus
    return 1.0 / (1.0 + math.exp(min(odds, 700.0))), math.tanh(eta)


def over(x: Instance, rise: float, best: bool) -> float:
    """Return a lower bound of P(l(h̃̃; D) > l(h̃̃; S') + rise) for `EXPERTS`; or of l(h_0; D) + rise.

    Only samples with distinct atoms in S' and some labels −1 count, of which h̃̃ is the last
    hypothesis; of the others the largest part of S' that is met, by the first or the second kind
    of experts, is less.
    """
    N, last, total = 2.0**x.bits, x.h - 1, 0.0
    for k in range(1, last + 1):
        g, t = memory(x.bits, 2 * x.h, last, k)
        met = g * (1.0 - 2.0 * k / last) + (1.0 - g) * t
        if met <= max(1.0 - 2.0 * k / last, t * (last - 1.0) / last):
            continue
        risk = 1.0 - (1.0 - 2.0 * x.q) * (g + (1.0 - g) * t * (last - 2.0 * k) / N)
        less = 0.5 + x.q if best else 1.0 - met
        if risk > less + rise:
            total += within(k, last, x.q) - within(k - 1, last, x.q)
    return total * float(np.prod(1.0 - np.arange(last) / N))


@SOURCE.claim(
    "half",
    given=f"h̃̃ of least loss on S' among h_0, ..., h_{{m/2−1}} of {EXPERTS}; the second half is "
    "measured for 0-1 losses, c = 1, and risks q, 1 − 1/N, ..., 1 − (m/2 − 1)/N",
    space=HALVES,
).checked(trials=30)
def half(x: Instance) -> Slack:
    bad = over(x, 2.0 * half_radius(x), False)
    return at_most(bad, max(x.delta, 1.0 - x.delta), "P(not so), max {δ, 1 − δ}")


@half.corrected()
def second_half(x: Instance) -> Slack:
    r, K = half_radius(x), x.h + 1
    risks = [x.q, *(1.0 - d / 2.0**x.bits for d in range(1, x.h))]
    bad = sum(within(math.ceil(K * (p - r)) - 1, K, p) for p in risks)
    return at_most(bad, x.delta, "P(not so), δ")


@second_half.step()
def _(x: Instance) -> Slacks:
    r, K = half_radius(x), x.h + 1
    tail = within(math.floor(K * (x.q - r)), K, x.q)
    yield at_most(tail, math.exp(-2.0 * K * r**2), "P(X ≤ K(p − r)), e^(−2Kr²)")
    yield tossed(5)


@second_half.step()
def _(x: Instance) -> Slack:
    r, K = half_radius(x), x.h + 1
    return at_most(x.h * math.exp(-2.0 * K * r**2), x.delta, "(m/2) e^(−2Kr²), δ")


DRAWS = RUNS.but(learner=Choice("GD", "EG", "contrary"), m=Whole(4, 6), delta=Real(0.01, 0.99))
_THREE = {"A": [[1], [1], [1]], "y": [1, 1, 1], "p": ["1/3", "1/3", "1/3"], "B": 1}


@SOURCE.claim(
    "best",
    space=DRAWS,
    counterexamples=[
        {**_THREE, "m": 4, "loss": "hinge", "learner": "contrary", "delta": "3/4"},
    ],
).checked(trials=40)
def best(x: Instance, second: bool = False, contrary: bool = True) -> Slack:
    assume(x.m % 2 == 0)
    law, h = Samples(x), x.m // 2
    if contrary and x.learner == "contrary":
        seen = law.samples[:, : h - 1, None] == np.arange(len(law.p))
        met = np.logical_or.accumulate(seen, axis=1).astype(float)
        losses, c = np.concatenate([np.ones_like(met[:, :1]), met], axis=1), 1.0
    else:
        losses, c = law.atoms(law.run().before[:, :h]), law.c
    risks, rows = losses @ law.p, np.arange(len(losses))
    chosen = risks.argmin(axis=1)
    if second:
        shown = law.samples[:, h - 1 :]
        found = np.take_along_axis(losses[rows, chosen], shown.astype(np.intp), axis=1).mean(axis=1)
    else:
        found = on_first(law, losses)[rows, chosen]
    r = c * math.sqrt(math.log((1 if second else x.m) / x.delta) / x.m)
    bad = float(law.chances[found > risks[rows, chosen] + r + 1e-9].sum())
    return at_most(bad, x.delta, "P(not so), δ")


@best.corrected()
def best_of_descent(x: Instance) -> Slacks:
    yield best(x, False, False)[0]


@best.corrected()
def best_corrected(x: Instance) -> Slacks:
    yield best(x, True)[0]


@best_corrected.step(space=HALVES)
def _(x: Instance) -> Slack:
    r2, K = math.log(1.0 / x.delta) / (2 * x.h), x.h + 1
    return at_most(-2.0 * K * r2, math.log(x.delta), "log of the tail, log δ")


@SOURCE.claim(
    "ERM",
    given=f"h̃̃ of least loss on S' = {{z_1, ..., z_{{m/2−1}}}}; {EXPERTS}; the second half is "
    "measured for 0-1 losses, c = 1: h_0 errs on labels −1, others on all atoms but those seen",
    space=HALVES,
).checked(trials=30)
def erm(x: Instance) -> Slack:
    bad = over(x, 4.0 * half_radius(x), True)
    return at_most(bad, 2.0 * x.delta, "P(not so), 2δ")


@erm.corrected()
def erm_corrected(x: Instance) -> Slack:
    r, last, K, N = 2.0 * half_radius(x), x.h - 1, x.h + 1, 2**x.bits
    assume(x.q < 1.0 - last / N)
    # a bad h_j knows d atoms at most; it is chosen if it errs no more often than h_0
    d = min(last, math.ceil(N * (1.0 - x.q - r)) - 1)
    if d < 1:
        return at_most(0, 1, "P(not so), 2δ")
    errs = np.diff([within(k, K, x.q) for k in range(-1, K + 1)])
    others = np.array([within(k, K, 1.0 - d / N) for k in range(K + 1)])
    return at_most(float(errs @ others), 2.0 * x.delta, "P(not so), 2δ")


@erm_corrected.step(
    space=Space(sizes={"n": (1, 6)}, risks=Vector("n", 0, 1), off=Vector("n"), r=Real(0.01, 1))
)
def _(x: Instance) -> Slacks:
    tied = np.array([2.0 * x.r, 0.0]), np.array([-1.0, 1.0])  # both have the loss r
    for risks, off in ((x.risks, x.off), tied):
        chosen = int(np.argmin(risks + x.r * off))
        over = float(risks[chosen] - risks.min()) / x.r
        yield at_most(over, 2.0, "(l(h̃; D) − l(h*; D))/r, 2")

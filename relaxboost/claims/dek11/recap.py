"""DEK11, Sec. 1: the randomised hypothesis, its martingale, and Eq. 1."""

import numpy as np
from scipy.special import logsumexp

from relaxboost.claims.dek11.runs import (
    LAWS,
    LEMMA,
    Passed,
    Samples,
    azuma,
    fair,
    hoeffdings_lemma,
    never_more,
    tossed,
)
from relaxboost.claims.dek11.source import SOURCE
from relaxboost.claims.language import *


def deviations(law: Samples, run: Passed) -> Array:
    """Return l(Q; D) − (1/m) Σ l(w_{i−1}; z_i) of each sample, Q uniform on w_0, ..., w_{m−1}."""
    return np.asarray(law.risk(run.before).mean(axis=1) - run.losses.mean(axis=1))


@SOURCE.claim("martingale", space=LAWS).checked(trials=60)
def martingale(x: Instance) -> Slacks:
    law = Samples(x)
    run = law.run()
    change = law.risk(run.before) - run.losses
    k = len(law.p)
    for i in range(law.m):
        # the past comes first in the order of the samples, so that each is a block of rows
        parts = (law.chances * change[:, i]).reshape(k**i, -1).sum(axis=1)
        yield equal(float(np.abs(parts).max()), 0.0, "E[difference | past]", i + 1)
    atoms = law.atoms(run.before)
    yield at_most(float(np.ptp(atoms, axis=2).max()), law.c, "length of the interval, c")


@martingale.step()
def _(x: Instance) -> Slacks:
    law = Samples(x)
    before, k = law.run().before, len(law.p)
    for i in range(law.m):
        w = before[:, i].reshape(k**i, -1, before.shape[2])
        yield equal(float(np.ptp(w, axis=1).max()), 0.0, "range of h_{i−1} given the past", i + 1)


@SOURCE.claim("E1", space=LAWS.but(learner=Choice("GD", "EG"))).checked(trials=60)
def equation_1(x: Instance) -> Slacks:
    law = Samples(x)
    off = deviations(law, law.run())
    yield never_more(off, law.chances, azuma(law.c, law.m), "P(deviation ≥ ε), δ")
    yield tossed(x.m)


equation_1.step(space=LEMMA)(hoeffdings_lemma)


@equation_1.step(space=LAWS.but(s=Real(0.05, 5.0, log=True)))
def _(x: Instance) -> Slacks:
    for law, s in ((Samples(x), x.s), (fair(x.m), x.s / 20.0)):
        total = law.m * deviations(law, law.run()) / law.c
        logs = float(logsumexp(s * total, b=law.chances))
        yield at_most(logs / law.m, s**2 / 8.0, "(1/m) log E exp(s Σ Δ_i/c), s²/8")


@SOURCE.claim("E1-order", space=LAWS.but(sizes={"k": (1, 2), "n": (1, 2)}, m=Whole(1, 12))).checked(
    trials=60
)
def any_order(x: Instance, rearranged: bool = True) -> Slack:
    law = Samples(x)
    samples = law.sorted_by_label() if rearranged else law.samples[:, ::-1]
    run = law.run(samples)
    return never_more(deviations(law, run), law.chances, azuma(law.c, law.m), "P(deviation ≥ ε), δ")


@any_order.corrected()
def order_fixed(x: Instance) -> Slacks:
    yield any_order(x, False)[0]


@order_fixed.step()
def _(x: Instance) -> Slack:
    law = Samples(x)
    reversed_ = law.p[law.samples[:, ::-1]].prod(axis=1)
    return equal(float(np.abs(reversed_ - law.chances).max()), 0.0, "difference of the chances")

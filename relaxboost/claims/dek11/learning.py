"""DEK11, Sec. 2.2: the excess risk of gradient descent on a sample."""

from types import SimpleNamespace

import numpy as np
from scipy.special import gammaln, xlog1py, xlogy

from relaxboost.claims.dek11.runs import (
    LEMMA,
    LINES,
    Samples,
    azuma,
    hoeffdings_lemma,
    never_more,
    tossed,
)
from relaxboost.claims.dek11.source import SOURCE
from relaxboost.claims.language import *


def excess(law: Samples, samples: Array | None = None) -> Array:
    """Return l(Q; D) − min l(w; D) − λXB/√m of each sample, in the order given."""
    run = law.run(samples)
    least = float(law.risk(law.best()))
    return np.asarray(law.risk(run.before).mean(axis=1) - least - law.regret / law.m)


@SOURCE.claim("T2", space=LINES).checked(trials=60)
def theorem_2(x: Instance) -> Slacks:
    law = Samples(x)
    allowed = azuma(2.0 * law.c, law.m)
    yield never_more(excess(law), law.chances, lambda e: 2.0 * allowed(e), "P(excess ≥ ε), δ")


@theorem_2.step()
def _(x: Instance) -> Slack:
    law = Samples(x)
    run, best = law.run(), law.best()
    seen = law.drawn().of(best)[0].mean(axis=1) - float(law.risk(best))
    other = law.risk(run.before).mean(axis=1) - run.losses.mean(axis=1)
    return at_most(float((excess(law) - other - seen).max()), 0.0, "excess − deviations − λXB/√m")


COINS = Space(p=Real(0.5, 0.95), a=Real(0.1, 1.0), m=Whole(1, 500))
"""(1, +1) with probability p, else (a, −1)."""


@SOURCE.claim("T2-order", space=COINS).checked(trials=12)
def sorted_labels(x: Instance, rearranged: bool = True) -> Slack:
    law = Samples(
        SimpleNamespace(
            A=np.array([[1.0], [x.a]]),
            y=np.array([1.0, -1.0]),
            p=np.array([x.p, 1.0 - x.p]),
            m=x.m if rearranged else min(x.m, 12),
            B=1.0,
            loss="hinge",
        )
    )
    heads = np.arange(x.m + 1)
    if rearranged:
        samples = (np.arange(x.m) >= heads[:, None]).astype(int)
        logs = gammaln(x.m + 1) - gammaln(heads + 1) - gammaln(x.m - heads + 1)
        chances = np.exp(logs + xlogy(heads, x.p) + xlog1py(x.m - heads, -x.p))
    else:
        samples, chances = law.samples, law.chances
    allowed = azuma(2.0 * law.c, law.m)
    return never_more(excess(law, samples), chances, lambda e: 2.0 * allowed(e), "P(excess ≥ ε), δ")


@sorted_labels.corrected()
def order_of_arrival(x: Instance) -> Slacks:
    yield sorted_labels(x, False)[0]


@order_of_arrival.step(space=LINES)
def _(x: Instance) -> Slack:
    law = Samples(x)
    turned = law.p[law.samples[:, ::-1]].prod(axis=1)
    return equal(float(np.abs(turned - law.chances).max()), 0.0, "difference of the chances")


@SOURCE.claim("T2-regret", space=LINES).checked(trials=60)
def compared(x: Instance) -> Slack:
    law = Samples(x)
    streams = law.drawn()
    run = streams.descended(law.B, law.eta)
    regret = run.losses.sum(axis=1) - streams.of(law.best())[0].sum(axis=1)
    return at_most(float(regret.max()), law.regret, "regret against w*, λXB√m")


@compared.step()
def _(x: Instance) -> Slack:
    law = Samples(x)
    run, best = law.run(), law.best()
    regret = run.losses.sum(axis=1) - law.drawn().of(best)[0].sum(axis=1)
    linear = run.linear() - run.slopes.sum(axis=1) @ best
    return at_most(float((regret - linear).max()), 0.0, "regret − linearised regret")


@compared.step()
def _(x: Instance) -> Slack:
    law = Samples(x)
    run = law.run()
    linear = run.linear() + law.B * np.linalg.norm(run.slopes.sum(axis=1), axis=1)
    return at_most(float(linear.max()) / law.regret, 1.0, "linearised regret/(λXB√m), 1")


@SOURCE.claim("T2-middle", space=LINES).checked(trials=60)
def middle(x: Instance) -> Slack:
    law = Samples(x)
    streams = law.drawn()
    risk = law.risk(streams.descended(law.B, law.eta).before).mean(axis=1)
    left = risk - streams.of(law.best())[0].mean(axis=1) - law.regret / law.m
    return never_more(left, law.chances, azuma(law.c, law.m), "P(deviation ≥ ε), δ")


@middle.step()
def _(x: Instance) -> Slack:
    law = Samples(x)
    way, best = law.run().losses.mean(axis=1), law.drawn().of(law.best())[0].mean(axis=1)
    over = (way - best) / (law.regret / law.m)
    return at_most(float(over.max()), 1.0, "(mean loss − l(w*; S))/(λXB/√m), 1")


@SOURCE.claim("T2-Hoeffding", space=LINES).checked(trials=60)
def hoeffding(x: Instance) -> Slacks:
    law = Samples(x)
    best = law.best()
    left = law.drawn().of(best)[0].mean(axis=1) - float(law.risk(best))
    yield never_more(left, law.chances, azuma(law.c, law.m), "P(deviation ≥ ε), δ")
    yield tossed(x.m)


hoeffding.step(space=LEMMA)(hoeffdings_lemma)

"""DEK11, Sec. 2.2: the excess risk of gradient descent on a sample."""

from types import SimpleNamespace

import numpy as np
from scipy.special import bdtr

from relaxboost.claims.dek11 import SOURCE
from relaxboost.claims.dek11.descent import deviations
from relaxboost.claims.dek11.runs import LINES, Samples, azuma, never_more
from relaxboost.claims.language import *


def excess(law: Samples, samples: Array | None = None) -> Array:
    """Return the excess risk l(Q; D) − min l(w; D) minus λXB/√m, for each sample.

    D is the law of the examples, and Q is the uniform distribution on the learner's weights w_0,
    ..., w_{m−1}. By default, the samples are all possible samples from D.
    """
    mean = law.risk(law.run(samples).before).mean(axis=1)
    return np.asarray(mean - float(law.risk(law.best())) - law.regret / law.m)


def rarely(law: Samples, off: Array, chances: Array) -> Slack:
    """Return the slack of P(excess ≥ ε) ≤ δ for the δ with the least relative slack.

    Here ε = 2c √(log(2/δ)/(2m)), and the losses lie in an interval of length c. `off` contains the
    excess of each sample, and `chances` its probability.
    """
    allowed = azuma(2.0 * law.c, law.m)
    return never_more(off, chances, lambda e: 2.0 * allowed(e), "P(excess ≥ ε), δ")


@SOURCE.claim("T2", space=LINES).checked(trials=60)
def theorem_2(x: Instance) -> Slack:
    law = Samples(x)
    return rarely(law, excess(law), law.chances)


@theorem_2.step()
def _(x: Instance) -> Slack:
    law = Samples(x)
    best = law.best()
    seen = law.drawn().of(best)[0].mean(axis=1) - float(law.risk(best))
    over = excess(law) - deviations(law, law.run()) - seen
    return at_most(float(over.max()), 0.0, "excess − deviations − λXB/√m")


COINS = Space(p=Real(0.5, 0.95), a=Real(0.1, 1.0), m=Whole(1, 500))
"""The space of instances with two examples: x = 1 has the label +1 and the probability p, and x = a
has the label −1 and the probability 1 − p. A sample has m examples."""


def tossed_coins(x: Instance, most: int = 500) -> Samples:
    """Return the probability law of the two examples of a `COINS` instance.

    Samples from the law have the size m of the instance, but at most `most` examples.
    """
    A, y, p = np.array([[1.0], [x.a]]), np.array([1.0, -1.0]), np.array([x.p, 1.0 - x.p])
    return Samples(SimpleNamespace(A=A, y=y, p=p, m=min(x.m, most), B=1.0, loss="hinge"))


@SOURCE.claim("T2-order", space=COINS).checked(trials=12)
def sorted_labels(x: Instance) -> Slack:
    law = tossed_coins(x)
    heads = np.arange(x.m + 1)
    samples = (np.arange(x.m) >= heads[:, None]).astype(int)
    return rarely(law, excess(law, samples), np.diff(bdtr(heads, x.m, x.p), prepend=0.0))


@sorted_labels.corrected()
def order_of_arrival(x: Instance) -> Slack:
    law = tossed_coins(x, 12)
    return rarely(law, excess(law, law.samples[:, ::-1]), law.chances)


@order_of_arrival.step(space=LINES)
def _(x: Instance) -> Slack:
    law = Samples(x)
    turned = law.p[law.samples[:, ::-1]].prod(axis=1)
    return equal(float(np.abs(turned - law.chances).max()), 0.0, "difference of the chances")

"""DEK11, Sec. 2.2: the excess risk of gradient descent on a sample."""

from __future__ import annotations

from collections.abc import Iterator
from types import SimpleNamespace

import numpy as np
from scipy.special import gammaln, xlog1py, xlogy

from relaxboost._core.arrays import Array
from relaxboost.claims import Instance, Real, Slack, Space, Whole, at_most
from relaxboost.claims.dek11.runs import LINES, Samples, azuma, never_more
from relaxboost.claims.dek11.source import SOURCE


def excess(law: Samples, samples: Array | None = None) -> Array:
    """Return l(Q; D) − min l(w; D) − λXB/√m of each sample, in the order given."""
    run = law.run(samples)
    least = float(law.risk(law.best()))
    return np.asarray(law.risk(run.before).mean(axis=1) - least - law.regret / law.m)


@SOURCE.claim(
    "T2",
    "Theorem 2 and Eq. 3",
    "The excess risk of the randomised hypothesis of gradient descent.",
    formula="l(Q; D) − l(w*; D) ≤ λXB/√m + 2c √(log(2/δ)/(2m)) with probability ≥ 1 − δ",
    given="an i.i.d. sample in the order of arrival; w* of least risk in H; for every δ",
    space=LINES,
).checked(trials=60)
def theorem_2(x: Instance) -> Iterator[Slack]:
    """All samples of laws on the line, where w* has a closed form.

    It is the union of Eq. 1 and DEK11-T2-Hoeffding, with δ/2 each: the same as the display before
    it, probability ≥ 1 − 2δ with log(1/δ).
    """
    law = Samples(x)
    allowed = azuma(2.0 * law.c, law.m)
    yield never_more(excess(law), law.chances, lambda e: 2.0 * allowed(e), "P(excess ≥ ε), δ")


COINS = Space(p=Real(0.5, 0.95), a=Real(0.1, 1.0), m=Whole(1, 500))
"""(1, +1) with probability p, else (a, −1)."""


@SOURCE.claim(
    "T2-order",
    "Theorem 2",
    "The sample may be given to gradient descent in any arbitrary order.",
    formula="l(Q; D) − l(w*; D) ≤ λXB/√m + 2c √(log(2/δ)/(2m)) with probability ≥ 1 − δ",
    given="an i.i.d. sample, sorted by its labels, those of +1 first; hinge loss, B = X = 1; "
    "for every δ",
    space=COINS,
    counterexamples=[{"p": "2/3", "a": "1/2", "m": 500}],
).checked(trials=12)
def sorted_labels(x: Instance, rearranged: bool = True) -> Slack:
    """Sorted, a sample is the number of its labels +1: the probabilities are binomial.

    GD ends with what the last labels taught it. Theorem 1 holds for the order, Eq. 1 does not.
    """
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


@sorted_labels.corrected(
    "In the order of arrival, or in one fixed beforehand.",
    "l(Q; D) − l(w*; D) ≤ λXB/√m + 2c √(log(2/δ)/(2m)) with probability ≥ 1 − δ",
)
def order_of_arrival(x: Instance) -> Iterator[Slack]:
    """DEK11-T2. All samples of 12 at most are looked at."""
    yield sorted_labels(x, False)[0]


@SOURCE.claim(
    "T2-regret",
    "Proof of Theorem 2, second display",
    "Theorem 1 bounds the losses on the way by those of w*, whatever the sample.",
    formula="Σ l(w_{i−1}; z_i) ≤ m l(w*; S) + λXB√m",
    given="w* of least risk in H, l(w; S) the mean over S",
    space=LINES,
).checked(trials=60)
def compared(x: Instance) -> Slack:
    """Theorem 1 holds for any w* in H, and so for one that the sample does not show."""
    law = Samples(x)
    streams = law.drawn()
    run = streams.descended(law.B, law.eta)
    regret = run.losses.sum(axis=1) - streams.of(law.best())[0].sum(axis=1)
    return at_most(float(regret.max()), law.regret, "regret against w*, λXB√m")


@SOURCE.claim(
    "T2-middle",
    "Proof of Theorem 2, third display",
    "Eq. 1 and Theorem 1 bound the risk of Q by the loss of w* on the sample.",
    formula="l(Q; D) ≤ l(w*; S) + λXB/√m + c √(log(1/δ)/(2m)) with probability ≥ 1 − δ",
    given="an i.i.d. sample in the order of arrival; for every δ",
    space=LINES,
).checked(trials=60)
def middle(x: Instance) -> Slack:
    """DEK11-E1 and DEK11-T2-regret."""
    law = Samples(x)
    streams = law.drawn()
    risk = law.risk(streams.descended(law.B, law.eta).before).mean(axis=1)
    left = risk - streams.of(law.best())[0].mean(axis=1) - law.regret / law.m
    return never_more(left, law.chances, azuma(law.c, law.m), "P(deviation ≥ ε), δ")


@SOURCE.claim(
    "T2-Hoeffding",
    "Proof of Theorem 2, fourth display",
    "The loss of w* on the sample is near its risk.",
    formula="l(w*; S) ≤ l(w*; D) + c √(log(1/δ)/(2m)) with probability ≥ 1 − δ",
    given="an i.i.d. sample, w* of least risk; for every δ",
    space=LINES,
).checked(trials=60)
def hoeffding(x: Instance) -> Slack:
    """Hoeffding's inequality: w* does not depend on the sample."""
    law = Samples(x)
    best = law.best()
    left = law.drawn().of(best)[0].mean(axis=1) - float(law.risk(best))
    return never_more(left, law.chances, azuma(law.c, law.m), "P(deviation ≥ ε), δ")

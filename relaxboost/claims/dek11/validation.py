"""DEK11, Sec. 2.3, 3: dynamic validation, which picks the iterate that later examples favour."""

import math
from fractions import Fraction

import numpy as np
from scipy.special import bdtr

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


@SOURCE.claim(
    "independence",
    ("Sec. 2.3, 3, first line", "line 120 of the text"),
    "w_{i−1} is independent of the examples from the i-th on.",
    formula="P(w_{i−1} ∈ ·, (z_k)_{k≥i} ∈ ·) = P(w_{i−1} ∈ ·) P((z_k)_{k≥i} ∈ ·)",
    printed="Note that w_{i−1} is independent of {(x_k, y_k)}_{k=i}^m.",
    given="z_1, ..., z_m i.i.d., in the order of arrival",
    space=RUNS,
).checked(trials=40)
def independence(x: Instance) -> Slacks:
    """Proof. w_{i−1} is a function of z_1, ..., z_{i−1}, which the later examples are independent
    of (1).

    Sorted by labels they are not, as in DEK11-E1-order.
    """
    law = Samples(x)
    before, k = law.run().before, len(law.p)
    for i in range(law.m):
        w = before[:, i].reshape(k**i, -1, before.shape[2])
        yield equal(float(np.ptp(w, axis=1).max()), 0.0, "range of w_{i−1} given the past", i + 1)
        joint = law.chances.reshape(k**i, -1)
        off = joint - joint.sum(axis=1, keepdims=True) * joint.sum(axis=0)
        yield equal(float(np.abs(off).max()), 0.0, "joint law − product", i + 1)


@independence.step(
    "The parts of an i.i.d. sample are independent.", "P(past, rest) = P(past) P(rest)"
)
def _(x: Instance) -> Slacks:
    assume(x.m >= 2)
    law = Samples(x)
    p, half = law.p, law.m // 2
    past, rest = (np.indices((len(p),) * n).reshape(n, -1).T for n in (half, law.m - half))
    product = np.outer(p[past].prod(axis=1), p[rest].prod(axis=1)).ravel()
    yield equal(float(np.abs(law.chances - product).max()), 0.0, "P(past, rest) − P(past) P(rest)")


@SOURCE.claim(
    "radius",
    ("Sec. 2.3, 3, first display", "lines 120 and 122 of the text"),
    "All losses on the later examples are within c √(log(m/δ)/(2(m − i + 1))) of their risks.",
    formula="∀i |l(h_{i−1}; z_i, ..., z_m) − l(h_{i−1}; D)| ≤ c √(log(m/δ)/(2(m − i + 1))) with "
    "probability ≥ 1 − δ",
    printed="Using a Hoeffding+Union bound, w.p. at least 1 − δ, ∀i |l(h_{i−1}; {x_k, "
    "y_k}_{k=i}^m) − l(h_{i−1}; D)| ≤ c √(log(m/δ)/(2(m − i + 1)))",
    given="z_1, ..., z_m i.i.d., in the order of arrival; for every δ",
    space=RUNS,
    counterexamples=[
        {
            "A": [[1], [1]],
            "y": [1, -1],
            "p": ["1/2", "1/2"],
            "m": 1,
            "B": 1,
            "loss": "hinge",
            "learner": "EG",
        }
    ],
).checked(trials=40)
def radius(x: Instance, sides: float = 1.0, both: bool = True) -> Slack:
    """A union over m bounds of two sides each needs log(2m/δ).

    A fair coin is off by 1/2 whatever it shows: m = 1 and δ = .7 fail with probability 1. The
    instance needs δ > e^{−1/2}; a fair coin with one fixed hypothesis gives none for m = 2 to 12.
    """
    law = Samples(x)
    seen, risk, rest = later(law)
    off = np.abs(risk - seen) if both else risk - seen
    worst = (2.0 * rest * np.maximum(off / law.c, 0.0) ** 2).max(axis=1)
    allowed = lambda t: sides * law.m * np.exp(-t)  # noqa: E731
    return never_more(worst, law.chances, allowed, "P(one is off by more), δ")


@radius.corrected(
    "Within c √(log(2m/δ)/(2(m − i + 1))); with log(m/δ) no risk is larger by more.",
    "∀i |l(h_{i−1}; z_i, ..., z_m) − l(h_{i−1}; D)| ≤ c √(log(2m/δ)/(2(m − i + 1))), "
    "∀i l(h_{i−1}; D) − l(h_{i−1}; z_i, ..., z_m) ≤ c √(log(m/δ)/(2(m − i + 1)))",
)
def radius_corrected(x: Instance) -> Slacks:
    """Proof. Given z_1, ..., z_{i−1} the loss on the m − i + 1 later examples is a mean of so many
    independent ones (DEK11-independence), which is off by ε on one side with probability
    exp(−2(m − i + 1)ε²/c²) at most (1): Hoeffding's inequality. A union of 2m, and of m of these.
    """
    yield radius(x, 2.0)[0]
    yield radius(x, 1.0, False)[0]


@radius_corrected.step(
    "Hoeffding's inequality, given the past.",
    "P(l(h_{i−1}; D) − l(h_{i−1}; z_i, ..., z_m) ≥ ε) ≤ exp(−2(m − i + 1)ε²/c²), for each i",
)
def _(x: Instance) -> Slacks:
    law = Samples(x)
    seen, risk, rest = later(law)
    for i, count in enumerate(rest):
        for off in (risk[:, i] - seen[:, i], seen[:, i] - risk[:, i]):
            yield never_more(off, law.chances, azuma(law.c, count), "P(deviation ≥ ε), δ")
    yield tossed(x.m)


class Validated:
    """What dynamic validation chooses on each sample, with the least radii that hold on it.

    Attributes
    ----------
    bounds : array of shape (S, m)
        Losses on later examples, and radii.
    risk : array of shape (S, m)
    needed : array of shape (S,)
        What must stand for log(2m/δ).
    chosen : array of shape (S,)
        The risk of the hypothesis of the least bound.
    """

    def __init__(self, x: Instance) -> None:
        self.law = Samples(x)
        seen, self.risk, rest = later(self.law)
        c = self.law.c
        self.needed = (2.0 * rest * ((self.risk - seen) / c) ** 2).max(axis=1)
        self.bounds = seen + c * np.sqrt(self.needed[:, None] / (2.0 * rest))
        at = np.argmin(self.bounds, axis=1)[:, None]
        self.chosen = np.take_along_axis(self.risk, at, axis=1)[:, 0]

    def over(self) -> Array:
        """Return l(h̃; D) − l(h*; D), h* the best of h_0, ..., h_{m/2−1}."""
        return np.asarray(self.chosen - self.risk[:, : self.law.m // 2].min(axis=1))


@SOURCE.claim(
    "as-good",
    ("Sec. 2.3, 3, after the second display", "lines 126 and 128 of the text"),
    "The hypothesis chosen is at least as good as the ERM of the first half.",
    formula="l(h̃; D) ≤ l(h̃̃; D), here with probability ≥ 1 − δ at least",
    printed="h̃ = argmin_{h_0, h_1, …, h_{m−1}} l(h_{i−1}; {x_k, y_k}_{k=i}^m) + "
    "c √(log(m/δ)/(2(m − i + 1))) … We know that h̃ is at least as good as h̃̃.",
    given="h̃̃ of least loss on S' = {z_1, ..., z_{m/2−1}} among h_0, ..., h_{m/2−1}; m ≥ 4 and "
    "even; ties go to the first",
    space=RUNS.but(delta=Real(0.01, 0.99)),
    counterexamples=[
        {
            "A": [[1]],
            "y": [1],
            "p": [1],
            "m": 4,
            "B": "1/4",
            "loss": "hinge",
            "learner": "GD",
            "delta": "1/100",
        }
    ],
).checked(trials=40)
def as_good(x: Instance) -> Slack:
    """Early hypotheses have shorter radii, and are preferred to better ones that have longer ones.

    In the counterexample all examples are the same one: h̃ is h_0, with the loss 1, and h̃̃ is h_1,
    with the loss 7/8, whatever is drawn.
    """
    assume(x.m >= 4 and x.m % 2 == 0)
    law = Samples(x)
    seen, risk, rest = later(law)
    bound = seen + law.c * np.sqrt(math.log(x.m / x.delta) / (2.0 * rest))
    half, rows = x.m // 2, np.arange(len(bound))
    atoms, shown = law.atoms(law.run().before[:, :half]), law.samples[:, None, : half - 1]
    on_first = np.take_along_axis(atoms, shown.repeat(half, axis=1).astype(np.intp), axis=2)
    ours, theirs = (
        risk[rows, bound.argmin(axis=1)],
        risk[rows, on_first.mean(axis=2).argmin(axis=1)],
    )
    worse = float(law.chances[ours > theirs + 1e-9].sum())
    return at_most(worse, x.delta, "P(l(h̃; D) > l(h̃̃; D)), δ")


@as_good.corrected(
    "Its risk is at most the bound of any other, where the radii hold.",
    "l(h̃; D) ≤ l(h_{i−1}; z_i, ..., z_m) + radius_i for every i",
)
def as_good_corrected(x: Instance) -> Slack:
    """Here with the least radii that hold. It is all that the conclusion needs: DEK11-chosen.

    Proof. The risk of each is at most its bound (1), and that of h̃ is the least bound.
    """
    found = Validated(x)
    over = float((found.chosen - found.bounds.min(axis=1)).max())
    return at_most(over, 0.0, "l(h̃; D) − least bound")


@as_good_corrected.step("Where the radii hold, risks are at most bounds.", "l(h; D) ≤ bound")
def _(x: Instance) -> Slack:
    found = Validated(x)
    return at_most(float((found.risk - found.bounds).max()), 0.0, "l(h_{i−1}; D) − bound_i")


@SOURCE.claim(
    "chosen",
    ("Sec. 2.3, 3, last display", "lines 136 and 138 of the text"),
    "The hypothesis chosen is nearly as good as the best of the first half.",
    formula="l(h̃; D) ≤ l(h*; D) + 2c √(log(2m/δ)/m) with probability ≥ 1 − δ",
    printed="so that with probability at least 1 − δ, l(h̃; D) ≤ l(h*; D) + 2c √(log(2m/δ)/m)",
    given="h̃ with radii for log(2m/δ); h* the best of h_0, ..., h_{m/2−1}; i.i.d. examples in the "
    "order of arrival; m ≥ 2",
    space=RUNS,
).checked(trials=40)
def chosen_is_good(x: Instance) -> Slacks:
    """True, though not by the proof printed (DEK11-half, -best, -ERM), which is not needed.
    Measured on every sample with the least radii that hold on it.

    Proof. With probability ≥ 1 − δ all radii hold (DEK11-radius). Then l(h̃; D) ≤ its bound ≤ that
    of h* = h_{i−1} ≤ l(h*; D) + 2 radius_i (1), where m − i + 1 ≥ m/2 + 1 (2).
    """
    assume(x.m >= 2)
    found = Validated(x)
    law, needed = found.law, found.needed
    over = found.over() - 2.0 * law.c * np.sqrt(needed / law.m)
    yield at_most(float(over.max()), 0.0, "l(h̃; D) − l(h*; D) − 2c √(log(2m/δ)/m)")
    twice = lambda t: 2.0 * law.m * np.exp(-t)  # noqa: E731
    yield never_more(needed, law.chances, twice, "P(a larger radius is needed), δ")


@chosen_is_good.step("Two radii.", "l(h̃; D) ≤ l(h_{i−1}; D) + 2 radius_i for every i")
def _(x: Instance) -> Slack:
    found = Validated(x)
    rest = np.arange(found.law.m, 0, -1)
    radii = found.law.c * np.sqrt(found.needed[:, None] / (2.0 * rest))
    over = found.chosen[:, None] - found.risk - 2.0 * radii
    return at_most(float(over.max()), 0.0, "l(h̃; D) − l(h_{i−1}; D) − 2 radius_i")


@chosen_is_good.step(
    "Hypotheses of the first half have seen half at most.",
    "m − i + 1 ≥ m/2 + 1 for h_{i−1} among h_0, ..., h_{m/2−1}, m even",
    space=Space(h=Whole(1, 60)),
)
def _(x: Instance) -> Slacks:
    m = 2 * x.h
    for j in range(m // 2):  # h_j = h_{i−1}
        yield at_least(m - (j + 1) + 1, Fraction(m, 2) + 1, "m − i + 1, m/2 + 1")


HALVES = Space(h=Whole(2, 60), N=Whole(1, 2000), q=Real(0.05, 0.5), delta=Real(0.01, 0.99))
"""m = 2h examples: one of N atoms of equal weight, and a bit that is 1 with probability q.

Losses are 0 or 1. h_0 errs where the bit is 1. After that, hypotheses know the atoms so far: they
err on all others, or on them only.
"""


def within(successes: int, trials: int, p: float) -> float:
    """Return P(X <= successes) for X binomial."""
    return float(bdtr(min(successes, trials), trials, p)) if successes >= 0 else 0.0


def half_radius(x: Instance) -> float:
    """Return √(log(m/δ)/(2(m/2))); m, δ as in `HALVES`, and N larger than the first half."""
    assume(x.h < x.N)
    return math.sqrt(math.log(2 * x.h / x.delta) / (2 * x.h))


@SOURCE.claim(
    "half",
    ("Sec. 2.3, 3, third display", "lines 128 to 132 of the text"),
    "The ERM of the first half has a risk near its loss there, with probability at least δ.",
    formula="l(h̃̃; D) ≤ l(h̃̃; S') + c √(log(m/δ)/(2(m/2))) with probability ≥ δ, "
    "S' = {z_1, ..., z_{m/2−1}}",
    printed="Define h̃̃ to be the output of ERM run on the first half of the dataset S' = {(x_i, "
    "y_i)}_{i=1}^{m/2−1}. … l(h̃̃; D) ≤ l(h̃̃; S') + c √(log m/δ/(2(m/2))) with probability at "
    "least δ.",
    given="h̃̃ of least loss on S' among h_0, ..., h_{m/2−1}, any online learner: here h_0 errs "
    "where a bit is 1 and h_j on all atoms but those of z_1, ..., z_j; ties go to the "
    "first; 0-1 loss, c = 1",
    space=HALVES,
    counterexamples=[{"h": 5, "N": 40, "q": "1/2", "delta": "19/20"}],
).checked(trials=30)
def half(x: Instance, printed: bool = True) -> Slack:
    """S' has taught the hypotheses, which is what validation is to avoid; it has m/2 − 1 examples,
    none for m = 2; and "at least δ" is a slip for 1 − δ.

    If S' meets a bit 1, an h_j without error on S' is chosen, whose risk is 1 − (m/2 − 1)/N
    at least. For gradient descent, which changes little in a round, no case is known: there is none
    among all samples of 1 500 laws drawn, m = 4 or 6, of this, of DEK11-best, nor of DEK11-ERM.
    """
    r, last = half_radius(x), x.h - 1
    if printed:
        missed = (1.0 - x.q) ** last
        bad = (1.0 - missed) * (1.0 - last / x.N > r) + missed * (x.q > r)
        return at_most(bad, 1.0 - x.delta, "P(not so), 1 − δ")
    K = x.h + 1
    risks = [x.q, *(1.0 - d / x.N for d in range(1, x.h))]
    bad = sum(within(math.ceil(K * (p - r)) - 1, K, p) for p in risks)
    return at_most(bad, x.delta, "P(not so), δ")


@half.corrected(
    "Of the second half, z_{m/2}, ..., z_m, with probability at least 1 − δ.",
    "l(h̃̃; D) ≤ l(h̃̃; S'') + c √(log(m/δ)/(2(m/2))) with probability ≥ 1 − δ, "
    "S'' = {z_{m/2}, ..., z_m}",
)
def second_half(x: Instance) -> Slacks:
    """Proof. Given the first half, each of its m/2 hypotheses is off by r on the K = m/2 + 1 later
    examples with probability e^(−2Kr²) at most (1), and (m/2) e^(−2Kr²) ≤ δ for the r given (2).
    """
    yield half(x, False)[0]


@second_half.step(
    "Hoeffding's inequality for 0-1 losses.", "P(X ≤ K(p − r)) ≤ e^(−2Kr²), X binomial"
)
def _(x: Instance) -> Slacks:
    r, K = half_radius(x), x.h + 1
    tail = within(math.floor(K * (x.q - r)), K, x.q)
    yield at_most(tail, math.exp(-2.0 * K * r**2), "P(X ≤ K(p − r)), e^(−2Kr²)")
    yield tossed(5)


@second_half.step("The radius pays for a union.", "(m/2) e^(−2Kr²) ≤ δ for r² = log(m/δ)/m")
def _(x: Instance) -> Slack:
    r, K = half_radius(x), x.h + 1
    return at_most(x.h * math.exp(-2.0 * K * r**2), x.delta, "(m/2) e^(−2Kr²), δ")


@SOURCE.claim(
    "best",
    ("Sec. 2.3, 3, after the third display", "line 132 of the text"),
    "The loss on S' of the best hypothesis is near its risk.",
    formula="l(h*; S') ≤ l(h*; D) + c √(log(m/δ)/(2(m/2))) with probability ≥ 1 − δ",
    printed="by a Hoeffding bound l(h*; S') ≤ l(h*; D) + c √(log(m/δ)/(2(m/2))) with probability "
    "at least 1 − δ",
    given="h* of least risk among h_0, ..., h_{m/2−1}, any online learner: here h_{m/2−1} errs on "
    "the atoms of z_1, ..., z_{m/2−1} only, the others where a bit is 1; 0-1 loss, c = 1",
    space=HALVES,
    counterexamples=[{"h": 5, "N": 40, "q": "1/2", "delta": "1/2"}],
).checked(trials=30)
def best(x: Instance, printed: bool = True) -> Slack:
    """Again S' is what taught it: all of S' is lost, with probability 1."""
    r, last, K = half_radius(x), x.h - 1, x.h + 1
    assume(last / x.N < x.q)
    if printed:
        return at_most(float(1.0 - last / x.N > r), x.delta, "P(not so), δ")
    tails = [1.0 - within(math.floor(K * (d / x.N + r)), K, d / x.N) for d in range(1, x.h)]
    return at_most(max(tails), x.delta / (2 * x.h), "P(not so), δ/m")


@best.corrected(
    "On the second half, and with log(1/δ), as h* is chosen by the first half and the law.",
    "l(h*; S'') ≤ l(h*; D) + c √(log(1/δ)/(2(m/2))) with probability ≥ 1 − δ, "
    "S'' = {z_{m/2}, ..., z_m}",
)
def best_corrected(x: Instance) -> Slacks:
    """The radius of the data is that of δ/m.

    Proof. Given the first half, h* is fixed, and Hoeffding's inequality on m/2 + 1 later examples
    gives e^(−2(m/2 + 1)r²) ≤ δ for r² = log(1/δ)/m (1).
    """
    yield best(x, False)[0]


@best_corrected.step("The radius pays for one tail.", "e^(−2Kr²) ≤ δ for r² = log(1/δ)/m")
def _(x: Instance) -> Slack:
    r2, K = math.log(1.0 / x.delta) / (2 * x.h), x.h + 1
    return at_most(-2.0 * K * r2, math.log(x.delta), "log of the tail, log δ")


@SOURCE.claim(
    "ERM",
    ("Sec. 2.3, 3, fourth display", "lines 132 and 134 of the text"),
    "The ERM of the first half is nearly as good as the best of its hypotheses.",
    formula="l(h̃̃; D) ≤ l(h*; D) + 2c √(log(m/δ)/m) with probability ≥ 1 − 2δ",
    printed="by definition l(h̃̃; S') ≤ l(h*; S') … with probability at least 1 − 2δ l(h̃̃; D) ≤ "
    "l(h*; D) + 2c √(log(m/δ)/m)",
    given="h̃̃ of least loss on S' = {z_1, ..., z_{m/2−1}}; the learner of DEK11-half",
    space=HALVES,
    counterexamples=[{"h": 16, "N": 1000, "q": "1/10", "delta": "1/10"}],
).checked(trials=30)
def erm(x: Instance, printed: bool = True) -> Slack:
    """Where S' meets a bit 1, its ERM is a hypothesis that knows S' and nothing else.

    The step l(h̃̃; S') ≤ l(h*; S') is right, as is 2(m/2) = m.
    """
    r, last, K = 2.0 * half_radius(x), x.h - 1, x.h + 1
    least = 1.0 - last / x.N
    assume(x.q < least)
    met = 1.0 - (1.0 - x.q) ** last
    if printed:
        return at_most(met * (least - x.q > r), 2.0 * x.delta, "P(not so), 2δ")
    # a bad h_j knows d atoms at most; it is chosen if it errs no more often than h_0
    d = min(last, math.ceil(x.N * (1.0 - x.q - r)) - 1)
    if d < 1:
        return at_most(0, 1, "P(not so), 2δ")
    errs = np.diff([within(k, K, x.q) for k in range(-1, K + 1)])
    others = np.array([within(k, K, 1.0 - d / x.N) for k in range(K + 1)])
    return at_most(float(errs @ others), 2.0 * x.delta, "P(not so), 2δ")


@erm.corrected(
    "That of the second half, z_{m/2}, ..., z_m.",
    "l(h̃̃; D) ≤ l(h*; D) + 2c √(log(m/δ)/m) with probability ≥ 1 − 2δ",
)
def erm_corrected(x: Instance) -> Slacks:
    """Here a bound of the probability.

    Proof. l(h̃̃; D) ≤ l(h̃̃; S'') + r ≤ l(h*; S'') + r ≤ l(h*; D) + 2r (1), by DEK11-half and
    DEK11-best as corrected, each with probability 1 − δ.
    """
    yield erm(x, False)[0]


@erm_corrected.step(
    "Who is best on the sample is nearly best.",
    "l(h̃; D) ≤ l(h*; D) + 2r if all losses on a sample are within r of risks",
    space=Space(sizes={"n": (1, 6)}, risks=Vector("n", 0, 1), off=Vector("n"), r=Real(0.01, 1)),
)
def _(x: Instance) -> Slacks:
    tied = np.array([2.0 * x.r, 0.0]), np.array([-1.0, 1.0])  # both have the loss r
    for risks, off in ((x.risks, x.off), tied):
        chosen = int(np.argmin(risks + x.r * off))
        over = float(risks[chosen] - risks.min()) / x.r
        yield at_most(over, 2.0, "(l(h̃; D) − l(h*; D))/r, 2")

"""DEK11, Sec. 2.3: one hypothesis in place of a random one: mean and majority vote."""

import numpy as np

from relaxboost.claims.dek11.descent import learned
from relaxboost.claims.dek11.runs import LAWS, LOSSES, STREAMS, Samples
from relaxboost.claims.dek11.source import SOURCE
from relaxboost.claims.language import *

COIN = {"A": [[1], [1]], "y": [1, -1], "p": ["1/4", "3/4"], "m": 1, "B": 1, "loss": "hinge"}
"""One example of a coin that shows −1 three times in four: where it shows +1, w_1 is bad."""


@SOURCE.claim("mean", space=STREAMS).checked(trials=40)
def mean(x: Instance, first: int = 1) -> Slacks:
    """One index too far: w_0, which predicts the first example, is left out and w_m comes in."""
    run = learned(x)
    m = len(x.A)
    found = run.w[0, first : first + m].mean(axis=0)
    expected = run.before[0].mean(axis=0)
    off = float(np.linalg.norm(found - expected))
    yield equal(off / x.B, 0.0, "distance of the means, over B")
    yield at_most(float(np.linalg.norm(found)), x.B, "‖mean‖, B")


@mean.corrected(
    "The mean of w_0, ..., w_{m−1} is the expectation of w under Q.",
    "(1/m) Σ_{i=1}^m w_{i−1} = Exp_Q[w] ∈ H",
)
def mean_corrected(x: Instance) -> Slacks:
    """Proof. Q gives the weight 1/m to each of w_0, ..., w_{m−1}. They are in a convex set (1)."""
    yield from mean(x, 0)


@mean_corrected.step("All iterates are in H.", "‖w_i‖ ≤ B")
def _(x: Instance) -> Slack:
    return at_most(float(np.linalg.norm(learned(x).w[0], axis=1).max()) / x.B, 1.0, "‖w_i‖/B, 1")


@SOURCE.claim(
    "mean-risk", space=LAWS, counterexamples=[COIN, {**COIN, "p": ["1/100", "99/100"]}]
).checked(trials=40)
def jensen(x: Instance, first: int = 1, extra: float = 0.0) -> Slack:
    """Jensen's inequality is for the mean under Q, which has w_0 and not w_m (DEK11-mean)."""
    law = Samples(x)
    run = law.run()
    means = run.w[:, first : first + law.m].mean(axis=1)
    over = law.risk(means) - law.risk(run.before).mean(axis=1)
    return at_most(float(over.max()), extra * law.regret / law.m**1.5, "l(mean; D) − l(Q; D)")


@jensen.corrected(
    "The risk of the mean of w_0, ..., w_{m−1} is at most that of Q.", "l(Exp_Q[w]; D) ≤ l(Q; D)"
)
def jensen_corrected(x: Instance) -> Slacks:
    """It is what JNTV05's Eq. 12 averages, too.

    Proof. Jensen's inequality: l(·; z) is convex for each z (1), and so is its mean over D.
    """
    yield jensen(x, 0)[0]


@jensen_corrected.step(
    "Losses are convex in the prediction.",
    "φ((1 − r)u + rv, y) ≤ (1 − r) φ(u, y) + r φ(v, y)",
    space=Space(loss=Choice(*LOSSES), u=Real(-3, 3), v=Real(-3, 3), r=Real(0, 1)),
)
def _(x: Instance) -> Slacks:
    for y in (-1.0, 1.0):
        at = np.array([(1.0 - x.r) * x.u + x.r * x.v, x.u, x.v])
        between, one, other = LOSSES[x.loss].pointwise(at, np.full(3, y))[0]
        right = (1.0 - x.r) * float(one) + x.r * float(other)
        yield at_most(float(between), right, "φ between, the chord")


@jensen.corrected(
    "That of the printed mean is larger by λXB/m at most.",
    "l((1/m) Σ_{i=1}^m w_i; D) ≤ l(Q; D) + λXB/m",
)
def jensen_shifted(x: Instance) -> Slacks:
    """Nearly equal in the second counterexample.

    Proof. The means differ by (w_m − w_0)/m, of norm B/m at most (1), and l is λX-Lipschitz in
    w (DEK11-class).
    """
    yield jensen(x, 1, 1.0)[0]


@jensen_shifted.step("The two means are near.", "‖(1/m) Σ w_i − (1/m) Σ w_{i−1}‖ ≤ B/m")
def _(x: Instance) -> Slack:
    law = Samples(x)
    w = law.run().w
    apart = np.linalg.norm(w[:, 1:].mean(axis=1) - w[:, :-1].mean(axis=1), axis=1)
    return at_most(float(apart.max()), law.B / law.m, "distance of the means, B/m")


def errors(law: Samples, w: Array, at_zero: float) -> Array:
    """Return Exp_Q of the 0-1 risk of w, shape (S, m, n): a prediction of 0 costs `at_zero`."""
    margins = np.sign(w @ law.A.T) * law.y
    lost = np.where(margins < 0.0, 1.0, np.where(margins > 0.0, 0.0, at_zero))
    return np.asarray((lost @ law.p).mean(axis=1))


def vote_errors(law: Samples, w: Array, at_zero: float) -> Array:
    """Return the 0-1 risk of the majority vote of w, shape (S, m, n); a tie costs `at_zero`."""
    margins = np.sign(w @ law.A.T).sum(axis=1) * law.y
    return np.asarray(np.where(margins < 0.0, 1.0, np.where(margins > 0.0, 0.0, at_zero)) @ law.p)


@SOURCE.claim("majority", space=LAWS).checked(trials=40)
def majority(x: Instance, first: int = 1, costs: tuple[float, ...] = (1.0, 0.5)) -> Slacks:
    """Equal where the vote ties. It is true of w_0, ..., w_{m−1} and, as printed, of w_1, ..., w_m.

    Proof. Where the vote costs b, the votes of those m cost mb/2 at least (1). Taken over D, its
    risk is at most twice that of its voters. Q has w_0 = 0, which costs c, for w_m. That is no
    less, unless w_m is wrong and c = 1/2. Of w_1, ..., w_m let n₋ be wrong, n₊ right and n₀ be 0:
    Q's cost n₋ + n₀/2 − 1/2 is m/2 at least if the vote is wrong, as n₋ ≥ n₊ + 1, and m/4 if it
    ties, as n₋ = n₊ ≥ 1 (2).
    """
    law = Samples(x)
    run = law.run()
    for index in range(first + 1):
        for cost in costs:
            vote = vote_errors(law, run.w[:, index : index + law.m], cost)
            twice = 2.0 * errors(law, run.before, cost)
            at = int(np.argmax(vote - twice))
            where = f"risk of the vote from w_{index} on, 2 l_{{0-1}}(Q; D), 0 costs {cost:g}"
            yield at_most(float(vote[at]), float(twice[at]), where)


@majority.step(
    "The cost of a vote is at most twice the mean cost of its voters.",
    "cost(Σ s_i) ≤ (2/m) Σ cost(s_i), cost(s) = 1 for s < 0, c for s = 0, 0 for s > 0; c = 1/2 or "
    "1",
    space=Space(sizes={"m": (1, 9)}, s=Vector("m", -1, 1)),
)
def _(x: Instance) -> Slacks:
    for zero in (0.5, 1.0):
        cost, costs = _costs(np.round(x.s), zero)
        yield at_most(cost, 2.0 * float(costs.mean()), f"cost of the vote, 0 costs {zero:g}")


@majority.step(
    "It is also if a 0 takes the place of the last voter.",
    "cost(Σ s_i) ≤ (2/m) (c + Σ_{i<m} cost(s_i)); c = 1/2 or 1",
    space=Space(sizes={"m": (1, 9)}, s=Vector("m", -1, 1)).including({"s": [1, -1, -1]}),
)
def _(x: Instance) -> Slacks:
    for zero in (0.5, 1.0):
        cost, costs = _costs(np.round(x.s), zero)
        most = 2.0 * (zero + float(costs[:-1].sum())) / len(costs)
        yield at_most(cost, most, f"cost of the vote, 0 costs {zero:g}")


def _costs(votes: Array, zero: float) -> tuple[float, Array]:
    """Return what the majority costs, and each vote."""
    signs = np.sign(np.append(votes, votes.sum()))
    costs = np.where(signs < 0.0, 1.0, np.where(signs > 0.0, 0.0, zero))
    return float(costs[-1]), costs[:-1]


@SOURCE.claim("majority-zero", space=LAWS).checked(trials=40)
def abstaining(x: Instance) -> Slacks:
    """Those who abstain neither vote nor err: one error among many abstentions decides the vote.
    On the sample of rows 1, 2, 3, in this order, w_0, w_1, w_2 say 0, 0, −1 at x = e_2. With risks
    of 0, 0, .8 their mean is .267, and the vote has .8. That of w_1, w_2, w_3 has .8 as well.

    It comes up: w_0 = 0 abstains everywhere, and w_i on what is orthogonal to x_1, ..., x_i.
    """
    yield from majority(x, 0, (0.0,))


@abstaining.corrected(
    "reading: a prediction of 0 is an error, or half of one.",
    "l_{0-1}(h_maj; D) ≤ 2 l_{0-1}(Q; D), l_{0-1} = [y sign(<w, x>) ≤ 0]",
)
def abstaining_corrected(x: Instance) -> Slacks:
    """Proof. That of DEK11-majority, by (1) and (2)."""
    yield from majority(x)


for _step in majority.stated.steps:
    abstaining_corrected.step(_step.stated.words, _step.stated.formula, space=_step.space)(
        _step.stated.check
    )


@abstaining.corrected(
    "reading: sign(0) = 1, and the vote of w_0, ..., w_{m−1}, which Q is on.",
    "l_{0-1}(sign Σ_{i=1}^m sign <w_{i−1}, x>; D) ≤ 2 l_{0-1}(Q; D), sign(0) = 1",
)
def positive_zero(x: Instance) -> Slack:
    """Proof. Where the vote errs, half of the voters, which Q is on, do (1). Taken over D."""
    return _as_one(x, 0)


@positive_zero.step(
    "A vote that errs has half of its voters wrong.",
    "[sign Σ s_i ≠ y] ≤ (2/m) Σ [s_i ≠ y], s_i = ±1, sign(0) = 1",
    space=Space(sizes={"m": (1, 9)}, s=Vector("m", -1, 1)).including({"s": [1, -1]}),
)
def _(x: Instance) -> Slacks:
    votes = np.where(x.s >= 0.0, 1.0, -1.0)
    for y in (-1.0, 1.0):
        wrong = float((1.0 if votes.sum() >= 0.0 else -1.0) != y)
        yield at_most(wrong, 2.0 * float((votes != y).mean()), f"[the vote errs], y = {y:g}")


@abstaining.corrected(
    "reading: sign(0) = 1, and the vote of w_1, ..., w_m as printed.",
    "l_{0-1}(sign Σ_{i=1}^m sign <w_i, x>; D) ≤ 2 l_{0-1}(Q; D), sign(0) = 1",
)
def positive_zero_printed(x: Instance) -> Slack:
    """False: w_0 = 0 then says 1, which may be right where w_m is wrong. One example of a coin that
    shows +1 three times in four: where it shows −1, w_1 errs on 3/4 and Q, which is w_0, on 1/4.
    """
    return _as_one(x, 1)


def _as_one(x: Instance, first: int) -> Slack:
    law = Samples(x)
    run = law.run()
    voters = np.where(run.w @ law.A.T >= 0.0, 1.0, -1.0)
    vote = np.where(voters[:, first : first + law.m].sum(axis=1) >= 0.0, 1.0, -1.0)
    twice = 2.0 * (voters[:, : law.m] != law.y).mean(axis=1) @ law.p
    return at_most(float(((vote != law.y) @ law.p - twice).max()), 0.0, "vote − 2 l_{0-1}(Q)")


SURROGATES = {name: LOSSES[name] for name in ("hinge", "exponential", "absolute")}


@SOURCE.claim("surrogate", space=LAWS.but(loss=Choice(*SURROGATES), u=Real(-3, 3))).checked(
    trials=40
)
def surrogate(x: Instance) -> Slacks:
    """φ(u, y) ≥ [yu ≤ 0]: equal for the hinge loss at 0. The absolute loss is one, too.

    The logistic loss is none, as log 2 < 1; over log 2 it is.

    Proof. DEK11-majority, and φ(u, y) ≥ [yu ≤ 0] (1), taken over D and Q.
    """
    law = Samples(x)
    for y in (-1.0, 1.0):
        value = float(SURROGATES[x.loss].pointwise(np.array([x.u]), np.array([y]))[0][0])
        yield at_most(float(y * x.u <= 0.0), value, "[yu ≤ 0], φ(u, y)")
    before = law.run().before
    middle, right = 2.0 * errors(law, before, 1.0), 2.0 * law.risk(before).mean(axis=1)
    yield at_most(float((vote_errors(law, before, 1.0) - middle).max()), 0.0, "vote − 2 l_{0-1}(Q)")
    yield at_most(float((middle - right).max()), 0.0, "2 l_{0-1}(Q) − 2 l(Q)")


@surrogate.step(
    "Hinge, exponential and absolute loss are above the 0-1 loss.",
    "φ(u, y) ≥ [yu ≤ 0]",
    space=Space(loss=Choice(*SURROGATES), u=Real(-3, 3)),
)
def _(x: Instance) -> Slacks:
    for u in (x.u, 0.0, -abs(x.u) / 30.0):
        value = float(SURROGATES[x.loss].pointwise(np.array([u]), np.array([1.0]))[0][0])
        yield at_most(float(u <= 0.0), value, "[u ≤ 0], φ(u, 1)")

"""DEK11, Sec. 2.3: the mean hypothesis and the majority vote, which replace a random draw."""

import numpy as np

from relaxboost.claims.dek11 import SOURCE
from relaxboost.claims.dek11.runs import LAWS, LOSSES, Samples
from relaxboost.claims.language import *


@SOURCE.claim("mean-risk", space=LAWS).checked(trials=40)
def jensen(x: Instance, first: int = 1, extra: float = 0.0) -> Slack:
    law = Samples(x)
    run = law.run()
    means = run.w[:, first : first + law.m].mean(axis=1)
    over = law.risk(means) - law.risk(run.before).mean(axis=1)
    return at_most(float(over.max()), extra * law.regret / law.m**1.5, "l(mean; D) − l(Q; D)")


jensen_corrected = jensen.corrected()(lambda x: jensen(x, 0))


@jensen_corrected.step(
    space=Space(loss=Choice(*LOSSES), u=Real(-3, 3), v=Real(-3, 3), r=Real(0, 1))
)
def _(x: Instance) -> Slacks:
    for y in (-1.0, 1.0):
        at = np.array([(1.0 - x.r) * x.u + x.r * x.v, x.u, x.v])
        between, one, other = LOSSES[x.loss].pointwise(at, np.full(3, y))[0]
        right = (1.0 - x.r) * float(one) + x.r * float(other)
        yield at_most(float(between), right, "φ between, the chord")


@jensen.corrected()
def jensen_shifted(x: Instance) -> Slacks:
    yield jensen(x, 1, 1.0)[0]


@jensen_shifted.step()
def _(x: Instance) -> Slack:
    law = Samples(x)
    w = law.run().w
    apart = np.linalg.norm(w[:, 1:].mean(axis=1) - w[:, :-1].mean(axis=1), axis=1)
    return at_most(float(apart.max()), law.B / law.m, "distance of the means, B/m")


def cost(margins: Array, at_zero: float) -> Array:
    """Return the 0-1 loss of margins. A margin of 0 has the loss `at_zero`."""
    return np.where(margins < 0.0, 1.0, np.where(margins > 0.0, 0.0, at_zero))


def errors(law: Samples, w: Array, at_zero: float) -> Array:
    """Return the mean 0-1 risk of m hypotheses, for each run of an online learner.

    The array w contains the hypothesis weights, in the shape (runs, m, n).
    """
    return np.asarray((cost((w @ law.A.T) * law.y, at_zero) @ law.p).mean(axis=1))


def vote_errors(law: Samples, w: Array, at_zero: float) -> Array:
    """Return the 0-1 risk of the majority vote of m hypotheses, for each run of an online learner.

    The array w contains the hypothesis weights, in the shape (runs, m, n).
    """
    return np.asarray(cost(np.sign(w @ law.A.T).sum(axis=1) * law.y, at_zero) @ law.p)


@SOURCE.claim("majority", space=LAWS).checked(trials=40)
def majority(x: Instance, first: int = 1, costs: tuple[float, ...] = (1.0, 0.5)) -> Slacks:
    law = Samples(x)
    run = law.run()
    for index in range(first + 1):
        for zero in costs:
            vote = vote_errors(law, run.w[:, index : index + law.m], zero)
            twice = 2.0 * errors(law, run.before, zero)
            at = int(np.argmax(vote - twice))
            where = f"risk of the vote from w_{index} on, 2 l_{{0-1}}(Q; D), 0 costs {zero:g}"
            yield at_most(float(vote[at]), float(twice[at]), where)


@majority.step(space=Space(sizes={"m": (1, 9)}, s=Vector("m", -1, 1)).including({"s": [1, -1, -1]}))
def _(x: Instance) -> Slacks:
    votes = np.round(x.s)
    for zero in (0.5, 1.0):
        left = float(cost(votes.sum(), zero))
        each = cost(votes, zero)
        where = f"cost of the vote, 0 costs {zero:g}"
        yield at_most(left, 2.0 * float(each.mean()), where)
        yield at_most(left, 2.0 * (zero + float(each[:-1].sum())) / len(each), where)


@SOURCE.claim("majority-zero", space=LAWS).checked(trials=40)
def abstaining(x: Instance) -> Slacks:
    yield from majority(x, 0, (0.0,))


@abstaining.corrected()
def positive_zero(x: Instance) -> Slack:
    law = Samples(x)
    voters = np.where(law.run().before @ law.A.T >= 0.0, 1.0, -1.0)
    vote = np.where(voters.sum(axis=1) >= 0.0, 1.0, -1.0)
    twice = 2.0 * (voters != law.y).mean(axis=1) @ law.p
    return at_most(float(((vote != law.y) @ law.p - twice).max()), 0.0, "vote − 2 l_{0-1}(Q)")


@positive_zero.step(
    space=Space(sizes={"m": (1, 9)}, s=Vector("m", -1, 1)).including({"s": [1, -1]})
)
def _(x: Instance) -> Slacks:
    votes = np.where(x.s >= 0.0, 1.0, -1.0)
    for y in (-1.0, 1.0):
        wrong = float((1.0 if votes.sum() >= 0.0 else -1.0) != y)
        yield at_most(wrong, 2.0 * float((votes != y).mean()), f"[the vote errs], y = {y:g}")


SURROGATES = ("hinge", "exponential", "absolute")


@SOURCE.claim("surrogate", space=LAWS.but(loss=Choice(*SURROGATES))).checked(trials=40)
def surrogate(x: Instance) -> Slacks:
    law = Samples(x)
    before = law.run().before
    middle = 2.0 * errors(law, before, 1.0)
    right = 2.0 * law.risk(before).mean(axis=1)
    yield at_most(float((vote_errors(law, before, 1.0) - middle).max()), 0.0, "vote − 2 l_{0-1}(Q)")
    yield at_most(float((middle - right).max()), 0.0, "2 l_{0-1}(Q) − 2 l(Q)")


@surrogate.step(space=Space(loss=Choice(*SURROGATES), u=Real(-3, 3)))
def _(x: Instance) -> Slacks:
    for u in (x.u, 0.0, -abs(x.u) / 30.0):
        value = float(LOSSES[x.loss].pointwise(np.array([u]), np.array([1.0]))[0][0])
        yield at_most(float(u <= 0.0), value, "[u ≤ 0], φ(u, 1)")

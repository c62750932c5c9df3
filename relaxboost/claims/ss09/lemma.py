"""SS09, Sec. 4.2: Lemma 8, and the hard margin under the conditions of Theorem 7."""

from fractions import Fraction

import numpy as np

from relaxboost.claims.language import *
from relaxboost.claims.sides import on_simplex
from relaxboost.claims.ss09.penalties import CLOSED, PENALTIES, STRENGTH, hinge_side
from relaxboost.claims.ss09.source import SOURCE
from relaxboost.relaxations.bounds import bounds_of

PRIMAL = Space(theta=Vector("m"), x=Vector("m", -2.0, 2.0), d=Vector("m", 0.0, 1.0))


@SOURCE.claim("L8-conjugate", space=PRIMAL)
def shifted_simplex(x: Instance) -> Slacks:
    theta, at, d = exactly(x.theta), exactly(x.x), on_simplex(exactly(x.d))
    values = [sum(e * at) + sum(theta * e) for e in np.eye(len(theta), dtype=int)]
    yield equal(max(values), max(theta + at), "vertices")
    yield at_most(d @ at + theta @ d, max(theta + at), "the d drawn")


@shifted_simplex.step()
def _(x: Instance) -> Slack:
    both = exactly(x.theta) + exactly(x.x)
    return at_most(on_simplex(exactly(x.d)) @ both, max(both))


@shifted_simplex.step()
def _(x: Instance) -> Slack:
    both = exactly(x.theta) + exactly(x.x)
    best = int(np.argmax(both))
    return equal(np.eye(len(both), dtype=int)[best] @ both, max(both))


@SOURCE.claim("L8-core", space=Space(v=Vector("m"), nu=Real(0.05, 2.0)))
def touching(x: Instance) -> Slack:
    return at_least(Fraction(x.nu) - Fraction(1, len(x.v)), Fraction(1, 2**60), "the greatest τ")


@touching.corrected()
def meeting(x: Instance) -> Slack:
    uniform, room = Fraction(1, len(x.v)), Fraction(x.nu) - Fraction(1, len(x.v))
    assume(room > 0)
    return at_most(max(abs(uniform + room * v) for v in exactly(x.v)), Fraction(x.nu), "in dom f")


@SOURCE.claim(
    "L8-dual", space=PRIMAL.but(f=Choice(*CLOSED), s=STRENGTH, share=Real(0.0, 1.0))
).checked(trials=300)
def fenchel_of_simplex(x: Instance) -> Slack:
    f, at = PENALTIES[x.f], x.share * x.x
    d = on_simplex(exactly(x.d)).astype(np.float64)
    left = -f.f_star(at, x.s) - float((x.theta - at).max())
    return at_most(left, f.f(d, x.s) - float(x.theta @ d), x.f)


@fenchel_of_simplex.step()
def _(x: Instance) -> Slack:
    f, at = PENALTIES[x.f], x.share * x.x
    d = on_simplex(exactly(x.d)).astype(np.float64)
    return at_most(float(d @ at), f.f(d, x.s) + f.f_star(at, x.s), x.f)


@fenchel_of_simplex.step()
def _(x: Instance) -> Slack:
    rest = exactly(x.theta) - exactly(x.x)
    return at_most(on_simplex(exactly(x.d)) @ rest, max(rest))


@SOURCE.claim(
    "L8",
    space=Space(
        theta=Vector("m"), f=Choice("open cube", *CLOSED), s=STRENGTH, d=Vector("m", 0.0, 1.0)
    ),
).checked(trials=50, resolution=1e-6)
def hinge_conjugate(x: Instance) -> Slacks:
    f, theta = PENALTIES[x.f], x.theta
    m = theta.size
    relaxation = f.relaxation(m, x.s).resolve(m)
    best = relaxation.relaxed_margin(-theta)[1]
    value = float(theta @ best) - f.f(best, x.s)
    proof = bounds_of(relaxation)
    bound = proof.lower_bound(-theta, proof.witness(-theta)) + f.constant(m, x.s)
    left = Bracket(value, max(value, -bound)) + solved(0.0)
    right = -hinge_side(-theta, f, x.s)
    yield equal(left, right, f"conjugate and thresholds, {x.f}")
    drawn = on_simplex(exactly(x.d)).astype(np.float64)
    yield at_most(float(theta @ drawn) - f.f(drawn, x.s), right, f"the d drawn, {x.f}")


@hinge_conjugate.corrected()
def hinge_conjugate_closed(x: Instance) -> Slacks:
    assume(PENALTIES[x.f].closed)
    yield from hinge_conjugate(x)


@hinge_conjugate_closed.step(space=PRIMAL.but(f=Choice(*CLOSED), s=STRENGTH, share=Real(0.0, 1.0)))
def _(x: Instance) -> Slack:
    f, at = PENALTIES[x.f], x.share * x.x
    gamma = float((at - x.theta).min())
    left = -f.f_star(at, x.s) - float((x.theta - at).max())
    return at_most(left, gamma - f.f_star(np.maximum(x.theta + gamma, 0.0), x.s), x.f)


@hinge_conjugate_closed.step(space=Space(theta=Vector("m"), gamma=Real(-1.5, 1.5)))
def _(x: Instance) -> Slack:
    theta, gamma = exactly(x.theta), Fraction(x.gamma)
    return at_most(max(t - max(t + gamma, Fraction(0)) for t in theta), -gamma)


@SOURCE.claim(
    "L8-minimiser",
    space=Space(
        theta=Vector("m"),
        gamma=Real(-1.0, 1.0),
        more=Vector("m", 0.0, 1.0),
        f=Choice(*CLOSED),
        s=STRENGTH,
    ),
).checked(trials=300)
def minimiser(x: Instance) -> Slack:
    f, least = PENALTIES[x.f], x.theta + x.gamma
    left = f.f_star(np.maximum(least, 0.0), x.s)
    return at_most(left, f.f_star(least + x.more, x.s), x.f)


@minimiser.step()
def _(x: Instance) -> Slacks:
    least = exactly(x.theta) + Fraction(x.gamma)
    for low, at in zip(least, least + exactly(x.more), strict=True):
        target = max(low, Fraction(0))
        alpha = (at - target) / at if at else Fraction(0)
        yield equal(at - alpha * at, target, "the entry moved")
        yield at_most(abs(alpha - Fraction(1, 2)), Fraction(1, 2), "α in [0, 1]")


@minimiser.step()
def _(x: Instance) -> Slacks:
    f, at = PENALTIES[x.f], x.theta + x.gamma + x.more
    for i, target in enumerate(np.maximum(x.theta + x.gamma, 0.0)):
        before = f.f_star(at, x.s)
        at[i] = target
        yield at_most(f.f_star(at, x.s), before, x.f)


@SOURCE.claim(
    "remark-hard-margin", space=Space(theta=Vector("m"), i=Whole(1, "m"), alpha=Real(0.0, 1.0))
)
def hard_margin(x: Instance) -> Slacks:
    theta = exactly(x.theta)
    less = theta.copy()
    less[x.i - 1] *= 1 - Fraction(x.alpha)
    yield at_most(max(less), max(theta), "condition (iii)")


@hard_margin.corrected()
def hard_margin_conclusion(x: Instance) -> Slack:
    u = -exactly(x.theta)
    return equal(max(g - max(max(g - v, 0) for v in u) for g in u), min(u), "soft and hard margin")


@hard_margin_conclusion.step()
def _(x: Instance) -> Slack:
    u, gamma = -exactly(x.theta), 2 * Fraction(x.alpha) - 1
    return equal(gamma - max(max(gamma - v, Fraction(0)) for v in u), min(gamma, *u))


@hard_margin.corrected()
def no_penalty(x: Instance) -> Slacks:
    u = -exactly(x.theta)
    less = x.theta.copy()
    less[x.i - 1] *= 1.0 - x.alpha
    f = PENALTIES["nothing"]
    yield equal(max(g for g in u if all(g <= v for v in u)), min(u), "soft and hard margin")
    yield at_most(f.f_star(less, 0.0), f.f_star(x.theta, 0.0), "condition (iii)")

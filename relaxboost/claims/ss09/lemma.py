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
    """In fractions: every vertex, and the d drawn.

    Proof. g*(x) = max_{d in S} <d, x> + <θ, d> = max_{d in S} <d, θ + x>; a mean of the entries of
    θ + x is at most the greatest, and a vertex attains it.
    """
    theta, at, d = exactly(x.theta), exactly(x.x), on_simplex(exactly(x.d))
    values = [sum(e * at) + sum(theta * e) for e in np.eye(len(theta), dtype=int)]
    yield equal(max(values), max(theta + at), "vertices")
    yield at_most(d @ at + theta @ d, max(theta + at), "the d drawn")


@shifted_simplex.step("A mean is at most the greatest entry.", "<d, θ + x> ≤ max_i (θ_i + x_i)")
def _(x: Instance) -> Slack:
    both = exactly(x.theta) + exactly(x.x)
    return at_most(on_simplex(exactly(x.d)) @ both, max(both))


@shifted_simplex.step("A vertex attains it.", "<e_i, θ + x> = θ_i + x_i")
def _(x: Instance) -> Slack:
    both = exactly(x.theta) + exactly(x.x)
    best = int(np.argmax(both))
    return equal(np.eye(len(both), dtype=int)[best] @ both, max(both))


@SOURCE.claim("L8-core", space=Space(v=Vector("m"), nu=Real(0.05, 2.0)))
def touching(x: Instance) -> Slack:
    """Theorem 3 asks for 0 in core(S − dom f): dom f must meet the simplex, and do more than touch.

    S − dom f has sums of at least 1 − mν, and −τ(1, ..., 1) has −mτ: τ ≤ ν − 1/m. Doubles that
    make this positive make it 2⁻⁶⁰ at least. It would follow with − as the exclusion of sets, since
    no point of S is near 0; but then Theorem 3 is false (T3-exclusion).
    """
    return at_least(Fraction(x.nu) - Fraction(1, len(x.v)), Fraction(1, 2**60), "the greatest τ")


@touching.corrected(
    "0 is in core(S − dom f) if dom f holds a ball about some distribution.",
    "ν > 1/m ⇒ −τv in S − dom f for ‖v‖_∞ ≤ 1, τ ≤ ν − 1/m",
)
def meeting(x: Instance) -> Slack:
    """−τv = d − (d + τv) for the uniform d. Where dom f only touches S, f must be closed: L8."""
    uniform, room = Fraction(1, len(x.v)), Fraction(x.nu) - Fraction(1, len(x.v))
    assume(room > 0)
    return at_most(max(abs(uniform + room * v) for v in exactly(x.v)), Fraction(x.nu), "in dom f")


@SOURCE.claim(
    "L8-dual", space=PRIMAL.but(f=Choice(*CLOSED), s=STRENGTH, share=Real(0.0, 1.0))
).checked(trials=300)
def fenchel_of_simplex(x: Instance) -> Slack:
    """x is scaled by a share, so that norms have a finite conjugate more often.

    Proof. f*(x) ≥ <d, x> − f(d), and max_i (θ_i − x_i) ≥ <d, θ − x> for every d in S. The sum of
    the two is at least <d, θ> − f(d).
    """
    f, at = PENALTIES[x.f], x.share * x.x
    d = on_simplex(exactly(x.d)).astype(np.float64)
    left = -f.f_star(at, x.s) - float((x.theta - at).max())
    return at_most(left, f.f(d, x.s) - float(x.theta @ d), x.f)


@fenchel_of_simplex.step("The definition of f*.", "<d, x> ≤ f(d) + f*(x)")
def _(x: Instance) -> Slack:
    f, at = PENALTIES[x.f], x.share * x.x
    d = on_simplex(exactly(x.d)).astype(np.float64)
    return at_most(float(d @ at), f.f(d, x.s) + f.f_star(at, x.s), x.f)


@fenchel_of_simplex.step("A mean is at most the greatest entry.", "<d, θ − x> ≤ max_i (θ_i − x_i)")
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
    """The open cube of Theorem 7 again: f̃*(0) = −1, and −max_γ (...) = 0.

    The left side is at least <θ, d> − f(d) for every d, which is evaluated by hand; that it is no
    more is a bound of the package, proved by a threshold.
    """
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


@hinge_conjugate.corrected(
    "The formula holds for closed f, with a supremum over γ.", "f̃*(θ) = −sup_γ (γ − f*([γ + θ]_+))"
)
def hinge_conjugate_closed(x: Instance) -> Slacks:
    """The proof takes (ii) for what Theorem 3 asks for (L8-core). The supremum: T7-max.

    Proof. g(d) = I_S(d) − <θ, d> has the finite g*(−x) = max_i (θ_i − x_i). So the infimal
    convolution of f* and g* is finite everywhere or −∞ everywhere; it is convex, so continuous, and
    equal to the conjugate of f + g for closed f. Thus −f̃*(θ) is the supremum of −f*(x) − max_i
    (θ_i − x_i) over all x. Each x gives no more than γ − f*([θ + γ]_+) with γ = min_i (x_i − θ_i),
    by L8-minimiser, and x = [θ + γ]_+ gives at least that.
    """
    assume(PENALTIES[x.f].closed)
    yield from hinge_conjugate(x)


@hinge_conjugate_closed.step(
    "An x gives no more than its threshold.",
    "−f*(x) − max_i (θ_i − x_i) ≤ γ − f*([θ + γ]_+), γ = min_i (x_i − θ_i)",
    space=PRIMAL.but(f=Choice(*CLOSED), s=STRENGTH, share=Real(0.0, 1.0)),
)
def _(x: Instance) -> Slack:
    f, at = PENALTIES[x.f], x.share * x.x
    gamma = float((at - x.theta).min())
    left = -f.f_star(at, x.s) - float((x.theta - at).max())
    return at_most(left, gamma - f.f_star(np.maximum(x.theta + gamma, 0.0), x.s), x.f)


@hinge_conjugate_closed.step(
    "x = [θ + γ]_+ gives no less.",
    "max_i (θ_i − [θ_i + γ]_+) ≤ −γ",
    space=Space(theta=Vector("m"), gamma=Real(-1.5, 1.5)),
)
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
    """x = θ + γ + more.

    Proof. Take the entries of x one by one. One above [θ_i + γ]_+ is moved down to it, by α =
    (x_i − [θ_i + γ]_+)/x_i; one below is negative, as then [θ_i + γ]_+ = 0, and is moved to 0 by
    α = 1. By (iii) f* does not increase, and the last x is [θ + γ]_+.
    """
    f, least = PENALTIES[x.f], x.theta + x.gamma
    left = f.f_star(np.maximum(least, 0.0), x.s)
    return at_most(left, f.f_star(least + x.more, x.s), x.f)


@minimiser.step("Each α is in [0, 1].", "x_i ≥ θ_i + γ ⇒ x_i − α x_i = [θ_i + γ]_+, 0 ≤ α ≤ 1")
def _(x: Instance) -> Slacks:
    least = exactly(x.theta) + Fraction(x.gamma)
    for low, at in zip(least, least + exactly(x.more), strict=True):
        target = max(low, Fraction(0))
        alpha = (at - target) / at if at else Fraction(0)
        yield equal(at - alpha * at, target, "the entry moved")
        yield at_most(abs(alpha - Fraction(1, 2)), Fraction(1, 2), "α in [0, 1]")


@minimiser.step("No move increases f*.", "f*(x − α x_i e_i) ≤ f*(x)")
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
    """(iii) fails where all of θ is negative, e.g. f*(−1) = −1 < f*(0) = 0.

    So does (ii), 0 in core(dom f): 0 is not in the simplex at all.
    """
    theta = exactly(x.theta)
    less = theta.copy()
    less[x.i - 1] *= 1 - Fraction(x.alpha)
    yield at_most(max(less), max(theta), "condition (iii)")


@hard_margin.corrected(
    "reading: Eq. 5 becomes the non-relaxed problem, whatever the conditions.",
    "max_γ (γ − max_i [γ − u_i]_+) = min_i u_i",
)
def hard_margin_conclusion(x: Instance) -> Slack:
    """Here u = −θ, and each γ = u_i is tried.

    Proof. For γ ≤ min u no example has a loss, and γ is left. For γ ≥ min u the greatest loss is
    γ − min u, and min u is left.
    """
    u = -exactly(x.theta)
    return equal(max(g - max(max(g - v, 0) for v in u) for g in u), min(u), "soft and hard margin")


@hard_margin_conclusion.step("The value at γ.", "γ − max_i [γ − u_i]_+ = min(γ, min u)")
def _(x: Instance) -> Slack:
    u, gamma = -exactly(x.theta), 2 * Fraction(x.alpha) - 1
    return equal(gamma - max(max(gamma - v, Fraction(0)) for v in u), min(gamma, *u))


@hard_margin.corrected(
    "reading: it is a case of Theorem 7, by f = 0 with f* the indicator of {0}.",
    "max {γ: [γ − u]_+ = 0} = min_i u_i, and I_{0}(θ) ≥ I_{0}(θ − α θ_i e_i)",
)
def no_penalty(x: Instance) -> Slacks:
    """min f = 0, dom f = R^m, and what is not zero costs ∞ already."""
    u = -exactly(x.theta)
    less = x.theta.copy()
    less[x.i - 1] *= 1.0 - x.alpha
    f = PENALTIES["nothing"]
    yield equal(max(g for g in u if all(g <= v for v in u)), min(u), "soft and hard margin")
    yield at_most(f.f_star(less, 0.0), f.f_star(x.theta, 0.0), "condition (iii)")

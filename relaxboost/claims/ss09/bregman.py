"""SS09, Sec. 5.3: Lemma 13, Corollary 14 and the projection of Eq. 14."""

from fractions import Fraction
from typing import Any

import numpy as np

from relaxboost.claims.language import *
from relaxboost.claims.ss09.exact import divergence, least_divergence, projected_softmax, softmax
from relaxboost.claims.ss09.source import SOURCE
from relaxboost.relaxations._projections import capped_distribution

BOX = Space(sizes={"m": (1, 3)}, theta=Vector("m"), slope=Vector("m"))


def _clipped(values: Exact) -> Exact:
    """Return the nearest point of [0, 1]^m, which maximises <d, θ> − ‖d‖²/2 there."""
    return np.minimum(np.maximum(values, 0), 1)


@SOURCE.claim("L13", space=BOX)
def bregman(x: Instance) -> Slacks:
    """Where d0 is on the boundary of S, ∇h(d0) is not θ, and the proof's third line is wrong.

    Both sides are in closed form: [θ − slope] and [d0 − slope], clipped to the box. The relative
    entropy on the simplex, for which the lemma is used, is not affected: see L13-entropy.
    """
    theta, slope = exactly(x.theta), exactly(x.slope)
    for left, right in zip(_clipped(theta - slope), _clipped(_clipped(theta) - slope), strict=True):
        yield equal(left, right, "∇f̂*(θ) and the argmin")


@bregman.corrected(
    "The identity holds for closed f̂ where ∇h(d0) = θ, as at every d0 in the interior of S.",
    "f̂ closed, ∇h(d0) = θ ⇒ ∇f̂*(θ) = argmin_d B_h(d ‖ d0) + f(d)",
)
def bregman_inside(x: Instance) -> Slacks:
    """Proof. As f̂ is closed and strongly convex, ∇f̂*(θ) is the maximiser of <d, θ> − h(d) − f(d)
    (Lemma 18). B_h(d ‖ d0) + f(d) is minus that, but for a constant, if ∇h(d0) = θ (step 1).
    Without "closed" there may be no maximiser, even with d0 in the interior: L13-closed.
    """
    theta = exactly(x.theta)
    assume(bool((_clipped(theta) == theta).all()))
    yield from bregman(x)


@bregman_inside.step(
    "B_h(d ‖ d0) and h(d) − <d, θ> differ by a constant where ∇h(d0) = θ.",
    "B_h(d ‖ d0) − h(d) + <d, θ> = B_h(e ‖ d0) − h(e) + <e, θ>",
    space=Space(
        sizes={"m": (1, 3)},
        theta=Vector("m", -0.5, 1.5),
        d=Vector("m", 0.0, 1.0),
        e=Vector("m", 0.0, 1.0),
    ).including({"theta": ["1/2"], "d": [0], "e": [1]}, {"theta": [-1], "d": [0], "e": [1]}),
)
def _(x: Instance) -> Slack:
    theta = exactly(x.theta)
    d0 = _clipped(theta)
    assume(bool((d0 == theta).all()))

    def difference(d: Exact) -> Any:
        return ((d - d0) @ (d - d0) - d @ d) / 2 + d @ theta

    return equal(difference(exactly(x.d)), difference(exactly(x.e)), "at d and at e")


@SOURCE.claim("L13-proof", space=Space(sizes={"m": (1, 3)}, theta=Vector("m", -1.0, 2.0)))
def gradient_is_theta(x: Instance) -> Slacks:
    """θ is one of many subgradients at d0: on the boundary ∇h(d0) and θ differ by a normal of S."""
    theta = exactly(x.theta)
    for left, right in zip(_clipped(theta), theta, strict=True):
        yield equal(left, right, "∇h(d0) and θ")


@gradient_is_theta.corrected(
    "θ − ∇h(d0) is normal to S at d0, and 0 if d0 is in the interior.",
    "<θ − ∇h(d0), d − d0> ≤ 0 for all d in S",
)
def gradient_and_normal(x: Instance) -> Slacks:
    """At the vertices of the box, hence on it; at an inner d0 both signs of d − d0 occur."""
    theta = exactly(x.theta)
    d0 = _clipped(theta)
    for t, d in zip(theta, d0, strict=True):
        for end in (0, 1):
            yield at_most((t - d) * (end - d), 0, "<θ − ∇h(d0), d − d0>")
        if 0 < d < 1:
            yield equal(d, t, "∇h(d0) and θ inside")


@SOURCE.claim(
    "L13-closed",
    space=Space(
        theta=Real(-1.0, 1.0), a=Real(-1.0, 1.0), jump=Real(0.0, 1.0), away=Real(0.001, 1.0)
    ),
)
def attained(x: Instance) -> Slack:
    """f is convex but not closed, and at θ ≤ a nothing attains the minimum.

    f̂* does not see the jump, as it is a supremum; its gradient is max(θ, a). The same lack of
    "closed" as in Theorem 7 and Lemma 8.
    """
    theta, a = Fraction(x.theta), Fraction(x.a)
    p = max(theta, a)
    q = p + Fraction(x.away)
    at_p = (p - theta) ** 2 / 2 + (Fraction(x.jump) if p == a else 0)
    return at_most(at_p, (q - theta) ** 2 / 2, "at ∇f̂*(θ) and at another point")


@attained.corrected("The point attains the minimum for a closed convex f.", "jump = 0")
def attained_closed(x: Instance) -> Slacks:
    """A closed strongly convex function attains its minimum, and once only."""
    assume(x.jump == 0.0 or x.theta > x.a)
    yield from attained(x)


@SOURCE.claim(
    "L13-entropy",
    space=Space(
        sizes={"m": (1, 7)},
        theta=Vector("m", -5.0, 5.0),
        slope=Vector("m", -2.0, 2.0),
        k=Whole(1, "m"),
    ),
)
def bregman_of_entropy(x: Instance) -> Slacks:
    """∇h(d0) = log(m d0) + 1 is θ plus a constant, and a constant does not matter on the simplex.

    The left side is a point of `capped_distribution`; on the right is the value of the minimum,
    between the value at that point and the Lagrangian dual.
    """
    d0, m = softmax(x.theta), len(x.theta)
    gradient = np.log(m * d0) + 1.0 - x.theta
    yield equal(near(gradient.max()), near(gradient.min()), "∇h(d0) − θ is constant")
    d = capped_distribution(x.slope - x.theta, 1.0, x.k)
    value = divergence(d, d0) + float(d @ x.slope)
    tilted = x.theta - x.slope
    shift = np.logaddexp.reduce(x.theta) - np.logaddexp.reduce(tilted)
    least = least_divergence(tilted, 1.0 / x.k) + float(shift)
    yield equal(near(value), near(least), "B_h + f at ∇f̂*(θ), and its minimum")


@SOURCE.claim(
    "C14",
    space=Space(
        sizes={"m": (2, 3)}, theta=Vector("m"), p=Vector("m", 0.0, 1.0), q=Vector("m", 0.0, 1.0)
    ),
).checked(trials=300)
def bregman_projection(x: Instance) -> Slack:
    """To project onto S and then onto C is not to project onto C.

    It takes two dimensions: on a line, projections onto nested intervals do compose, for every h.
    """
    theta, p, q = exactly(x.theta), exactly(x.p), exactly(x.q)
    right = _along(_clipped(theta), p, q)
    return equal(_along(theta, p, q), right, "position between p and q")


@bregman_projection.corrected(
    "The identity holds for closed h and C where ∇h(d0) = θ, as at every d0 in the interior of S.",
    "h and C closed, ∇h(d0) = θ ⇒ ∇(h + I_C)*(θ) = argmin_{d in C} B_h(d ‖ d0)",
)
def bregman_projection_inside(x: Instance) -> Slacks:
    """As for Lemma 13: h + I_C is closed with h and C."""
    theta = exactly(x.theta)
    assume(bool((_clipped(theta) == theta).all()))
    yield from bregman_projection(x)


def _along(point: Exact, p: Exact, q: Exact) -> Fraction:
    """Return the t in [0, 1] for which p + t(q − p) is nearest to a point."""
    way = q - p
    assume(bool(way.any()))
    return min(max(way @ (point - p) / Fraction(way @ way), Fraction(0)), Fraction(1))


@SOURCE.claim(
    "Eq14",
    space=Space(
        sizes={"m": (1, 7), "n": (1, 4)},
        A=Matrix(),
        w=Weights(),
        beta=Real(0.01, 1.0, log=True),
        k=Whole(1, "m"),
    ),
)
def projection(x: Instance) -> Slacks:
    """Corollary 14 for the entropy. d_t is from the package, the projection found by bisection.

    The divergence of d_t is the least that Lagrangian duality allows.
    """
    u, nu = x.A @ x.w, 1.0 / x.k
    d = capped_distribution(u, x.beta, x.k)
    theta = -u / x.beta
    for left, right in zip(d, projected_softmax(theta, nu), strict=True):
        yield equal(near(left), near(right), "d_t and the projection")
    log_d0 = theta - np.logaddexp.reduce(theta)
    own = float(np.sum(d * (np.log(np.maximum(d, 1e-300)) - log_d0)))
    least = least_divergence(theta, nu)
    yield equal(near(own, 1e-11), near(least, 1e-11), "B_h(d_t ‖ d0) and its minimum")

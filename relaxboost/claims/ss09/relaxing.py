"""SS09, Sec. 4.2: penalties on distributions in place of caps, and Theorem 7."""

import math
from fractions import Fraction

import numpy as np

from relaxboost.claims.language import *
from relaxboost.claims.sides import avg_min, in_l1_ball, largest_edge, on_simplex, optimum
from relaxboost.claims.ss09.penalties import CLOSED, PENALTIES, STRENGTH, hinge_side, learnability
from relaxboost.claims.ss09.source import SOURCE
from relaxboost.game.game import Game
from relaxboost.relaxations import Capped, NormBall


@SOURCE.claim("Eq4", space=Space(A=Matrix(), k=Whole(1, "m"))).checked(trials=60)
def ball_of_caps(x: Instance) -> Slacks:
    """Over all of the ball, in fractions: its d has no weight above 1/k and the value of Eq. 2."""
    rho, d, _ = optimum(x, Game(x.A, NormBall(math.inf, Fraction(1, x.k))))
    capped, _, w = optimum(x, Game(x.A, Capped(x.k)))
    yield equal(largest_edge(exactly(x.A), on_simplex(d)), rho, "edge of d and ρ")
    yield equal(avg_min(exactly(x.A) @ in_l1_ball(w), x.k), rho, "average margin and ρ")
    yield equal(capped, rho, "Eq. 2 and Eq. 4")
    yield at_most(max(d), Fraction(1, x.k), "largest weight")


@SOURCE.claim(
    "D6", space=Space(A=Matrix(), f=Choice("jump", *CLOSED), s=STRENGTH, d=Vector("m", 0.0, 1.0))
).checked(trials=40)
def relaxed_learnability(x: Instance) -> Slacks:
    """A definition; the question is whether it gives every A a ρ for an arbitrary f.

    Not so: here the sum is d_1 for d_1 > 0 and 1 for d_1 = 0, so that 0 is not attained.
    """
    if x.f == "jump":
        yield _attained_across(*exactly(x.A)[[0, -1], 0])
        return
    f = PENALTIES[x.f]
    rho, best, _ = learnability(x, f)
    drawn = on_simplex(exactly(x.d)).astype(np.float64)
    uniform = np.full(len(x.A), 1.0 / len(x.A))

    def value(d: np.ndarray) -> float:
        return float(np.abs(d @ x.A).max()) + f.f(d, x.s)

    yield equal(solved(value(best)), rho, f"attained, {x.f}")
    for name, d in (("the d drawn", drawn), ("uniform d", uniform)):
        yield at_least(value(d), rho, f"{name}, {x.f}")


def _attained_across(a: Fraction, b: Fraction) -> Slack:
    """Measure, for one hypothesis, whether a d with d_1 > 0 has the infimum of the edge.

    The edge |d_1 a + (1 − d_1) b| is least at 1, at 0, or where it is zero; of several such d_1 the
    greatest is taken.
    """
    shares = [Fraction(1), Fraction(0)] + ([b / (b - a)] if a * b < 0 else [])
    found: list[tuple[Fraction, Fraction]] = [(abs(s * a + (1 - s) * b), -s) for s in shares]
    edge, d = min(found)
    return equal(edge + (d == 0), edge, "attained, jump")


@relaxed_learnability.corrected(
    "reading: ρ is defined for those f whose minimum exists, as it does for closed f.",
    "ρ = min_{d in S} (max_j |(dᵀA)_j| + f(d)), f closed",
)
def closed_learnability(x: Instance) -> Slacks:
    """The simplex is compact; f is evaluated by hand, at the d of the optimum and at others."""
    assume(x.f != "jump")
    yield from relaxed_learnability(x)


@relaxed_learnability.corrected(
    "reading: ρ is the infimum, for any f.", "ρ = inf_{d in S} (max_j |(dᵀA)_j| + f(d))"
)
def infimum(x: Instance) -> Slacks:
    """For the jump: a d_1 > 0 as small as one likes gives the edge at 0 but for as little."""
    assume(x.f == "jump")
    a, b = exactly(x.A)[[0, -1], 0]
    least = 0 if a * b <= 0 else min(abs(a), abs(b))
    shares = [Fraction(1, 1000), Fraction(1)] + ([b / (b - a)] if a * b < 0 else [])
    nearest = min(abs(s * a + (1 - s) * b) for s in shares)
    yield at_most(nearest, least + Fraction(2, 1000), "nearly attained by a d_1 > 0")
    first = min(Fraction(1), Fraction(x.d[0]))
    yield at_least(abs(first * a + (1 - first) * b) + (first == 0), least, "the d drawn")


GAMES = Space(
    sizes={"m": (1, 6), "n": (1, 5)},
    A=Matrix(),
    f=Choice("open cube", *CLOSED),
    s=STRENGTH,
    w=Weights(),
)


@SOURCE.claim("T7", space=GAMES).checked(trials=40, resolution=1e-6)
def general_relaxation(x: Instance) -> Slacks:
    """A convex f that is not closed can be greater than f** on the simplex, and f* cannot tell.

    The open cube, f = 0 for ‖d‖_∞ < 1/m and 1 where ‖d‖_∞ = 1/m, meets (i)–(iii) and is 1 at the
    only distribution it admits: ρ = 1 + 1, but f* = ‖θ‖_1/m leaves a margin of 1.
    """
    f = PENALTIES[x.f]
    rho, _, w = learnability(x, f)
    w /= max(1.0, float(np.abs(w).sum()))
    yield equal(hinge_side(x.A @ w, f, x.s), rho, f"margin and edge, {x.f}")
    drawn = in_l1_ball(exactly(x.w)).astype(np.float64)
    yield at_most(hinge_side(x.A @ drawn, f, x.s), rho, f"the w drawn, {x.f}")


@general_relaxation.corrected(
    "The two sides are equal for closed f, if the left one is a supremum.",
    "sup_{w in B_1, γ} (γ − f*([γ − Aw]_+)) = ρ, f closed",
)
def general_relaxation_closed(x: Instance) -> Slacks:
    """(i) and (ii) are not needed. The supremum over γ need not be attained: T7-max.

    Proof. γ − f*([γ − Aw]_+) ≤ <d, Aw> + f(d) ≤ ‖dᵀA‖_∞ + f(d) by Fenchel's inequality. For
    equality apply Theorem 3 to f̃ and ‖·‖_∞: f̃ is closed with f, and the domain of the norm is
    ℝⁿ. By the corrected Lemma 8 −f̃*(−Aw) is the supremum over γ.
    """
    assume(PENALTIES[x.f].closed)
    yield from general_relaxation(x)


@general_relaxation_closed.step(
    "No w has more than a d allows.",
    "γ − f*([γ − Aw]_+) ≤ ‖dᵀA‖_∞ + f(d)",
    space=GAMES.but(d=Vector("m", 0.0, 1.0), gamma=Real(-1.0, 1.0)).including(
        {"A": [[1], [-1]], "f": "caps", "s": 1, "w": [1], "d": ["1/2", "1/2"], "gamma": 1}
    ),
    trials=80,
)
def _(x: Instance) -> Slack:
    f, d = PENALTIES[x.f], on_simplex(exactly(x.d)).astype(np.float64)
    u = x.A @ in_l1_ball(exactly(x.w)).astype(np.float64)
    left = x.gamma - f.f_star(np.maximum(x.gamma - u, 0.0), x.s)
    return at_most(left, float(np.abs(d @ x.A).max()) + f.f(d, x.s), x.f)


@SOURCE.claim("T7-max", space=Space(u=Vector("m"), gamma=Real(1.0, 1e6, log=True)))
def attained_threshold(x: Instance) -> Slack:
    """The ball touches the simplex at the uniform d only, so that the supremum is mean u.

    For γ ≥ max u, with V the variance of u, γ falls short of it by √((γ − mean u)² + V) − (γ −
    mean u), which is positive if V is and tends to 0. Squared, in fractions: V ≤ 0 is asked.
    """
    u, gamma = exactly(x.u), Fraction(x.gamma)
    mean = sum(u) / len(u)
    losses = sum((gamma - v) ** 2 for v in u) / len(u)
    return at_most(losses, (gamma - mean) ** 2, "f*² and (γ − mean)²")


@attained_threshold.corrected(
    "The left side is a supremum over γ, which need not be attained.",
    "sup_γ (γ − ‖[γ − u]_+‖_2/√m) = mean u",
)
def least_threshold(x: Instance) -> Slacks:
    """Compared squared, in fractions.

    Proof. For γ ≥ max u the mean of (γ − u_i)² is s² + V with s = γ − mean u (step 1). s² ≤ s² + V
    ≤ (s + V/(2s))², so that γ − f* falls short of mean u by at least 0 and at most V/(2s) → 0. For
    γ < max u it is at most mean min(γ, u_i) < mean u, as ‖x‖_2/√m ≥ mean x (step 2).
    """
    u, gamma = exactly(x.u), Fraction(x.gamma)
    mean = sum(u) / len(u)
    gap, losses = gamma - mean, sum((gamma - v) ** 2 for v in u) / len(u)
    variance = sum((v - mean) ** 2 for v in u) / len(u)
    yield at_least(losses, gap**2, "never above mean u")
    if gap > 0:
        yield at_most(losses, (gap + variance / (2 * gap)) ** 2, "nearly attained")


@least_threshold.step("The mean square.", "mean (γ − u_i)² = (γ − mean u)² + V")
def _(x: Instance) -> Slack:
    u, gamma = exactly(x.u), Fraction(x.gamma)
    mean = sum(u) / len(u)
    variance = sum(v**2 for v in u) / len(u) - mean**2
    return equal(sum((gamma - v) ** 2 for v in u) / len(u), (gamma - mean) ** 2 + variance)


@least_threshold.step(
    "Below max u it stays below mean u.",
    "mean [γ − u_i]_+² ≥ (γ − mean min(γ, u_i))²",
    space=Space(u=Vector("m"), gamma=Real(-1.0, 1.0)).including({"u": [0, 0], "gamma": 1}),
)
def _(x: Instance) -> Slack:
    u, gamma = exactly(x.u), Fraction(x.gamma)
    losses = sum(max(gamma - v, Fraction(0)) ** 2 for v in u) / len(u)
    return at_least(losses, (gamma - sum(min(gamma, v) for v in u) / len(u)) ** 2)


@SOURCE.claim("T7-zero", space=GAMES)
def no_edge(x: Instance) -> Slacks:
    """The uniform d has no edge and f = 0 for the caps, the balls and f = 0: so ρ = 0.

    Proof. f*(0) = sup −f = −min f = 0. With γ = 0 and w = 0 the margin side is −f*(0) = 0. It is at
    most ρ by Fenchel's inequality: γ − f*([γ − Aw]_+) ≤ γ − <d, γ − Aw> + f(d) = <d, Aw> + f(d).
    """
    f, m = PENALTIES[x.f], len(x.A)
    yield equal(f.f_star(np.zeros(m), x.s), 0, f"f*(0), {x.f}")
    both = np.vstack([x.A, -x.A])
    if f.f(np.full(2 * m, 0.5 / m), x.s) == 0.0:
        u = both @ in_l1_ball(exactly(x.w)).astype(np.float64)
        yield at_most(hinge_side(u, f, x.s), solved(0.0), f"margins where ρ = 0, {x.f}")
        yield equal(hinge_side(0.0 * u, f, x.s), solved(0.0), f"w = 0 attains ρ = 0, {x.f}")


@no_edge.step("f*(0) = −min f.", "f*(0) = 0 ≥ −f(d)", space=GAMES.but(d=Vector("m")))
def _(x: Instance) -> Slacks:
    f = PENALTIES[x.f]
    yield equal(f.f_star(0.0 * x.d, x.s), 0, x.f)
    yield at_least(0, -f.f(x.d, x.s), x.f)


@no_edge.step(
    "Fenchel's inequality.",
    "γ − f*([γ − u]_+) ≤ <d, u> + f(d)",
    space=GAMES.but(d=Vector("m", 0.0, 1.0), gamma=Real(-1.0, 1.0)),
    trials=80,
)
def _(x: Instance) -> Slack:
    f, d = PENALTIES[x.f], on_simplex(exactly(x.d)).astype(np.float64)
    u = x.A @ in_l1_ball(exactly(x.w)).astype(np.float64)
    left = x.gamma - f.f_star(np.maximum(x.gamma - u, 0.0), x.s)
    return at_most(left, float(d @ u) + f.f(d, x.s), x.f)


@SOURCE.claim(
    "T7-positive",
    space=Space(
        sizes={"m": (1, 5), "n": (1, 4)},
        A=Matrix(),
        f=Choice("max norm", "caps", "nothing"),
        s=STRENGTH,
        d=Vector("m", 0.0, 1.0),
    ),
).checked(trials=40)
def edges_stay_away(x: Instance) -> Slack:
    """ρ can come from f alone: no edge and f(d) = .1 here. For indicators the argument is right.

    Nor is it to the point: it reads the − of Theorem 3 as the exclusion of sets (T4-end).
    """
    edge, value, rho = _relaxed_edge(x)
    assume(rho.lower > 0 and value < math.inf)
    return at_least(edge, rho, x.f)


@edges_stay_away.corrected(
    "Only the sum of edge and f stays away from 0. dom(‖·‖_∞) = ℝⁿ is what the condition for "
    "equality needs.",
    "‖Aᵀd‖_∞ + f(d) ≥ ρ; v = (v + Aᵀd) − Aᵀd is in dom(g) − Aᵀdom(f̃) for every v",
)
def sums_stay_away(x: Instance) -> Slack:
    """By Definition 6. With the difference of vectors the core of ℝⁿ is asked for, which has 0."""
    edge, value, rho = _relaxed_edge(x)
    assume(rho.lower > 0)
    return at_least(edge + value, rho, x.f)


def _relaxed_edge(x: Instance) -> tuple[float, float, Bracket]:
    """Return the largest edge of the d drawn, f there, and ρ."""
    f, d = PENALTIES[x.f], on_simplex(exactly(x.d)).astype(np.float64)
    rho, _, _ = learnability(x, f)
    return float(np.abs(d @ x.A).max()), f.f(d, x.s), rho

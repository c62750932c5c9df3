"""GB11, Theorems 6 and 7: Algorithm 3, which keeps what a projection leaves over."""

import math

import numpy as np

from relaxboost.claims.fields import Rng, Sizes
from relaxboost.claims.gb11.algebra import EDGES
from relaxboost.claims.gb11.convex import AVERAGES, LAST, one_more, paid, roots
from relaxboost.claims.gb11.problems import RUNS, STRONG, Descent
from relaxboost.claims.gb11.projections import PAIR, PYTHAGORAS, at_best
from relaxboost.claims.gb11.repeated import strongly, wasted, weakly
from relaxboost.claims.gb11.source import SOURCE
from relaxboost.claims.language import *
from relaxboost.functional.algorithms import Residual


class NoPieces(Matrix):
    """The pieces of a risk; structured, there are none, and R[f] = λ‖f − y‖²/2."""

    def structured(self, rng: Rng, sizes: Sizes) -> Array:
        return np.zeros(self._shape(sizes))


SMOOTHER = STRONG.but(A=NoPieces(-2.0, 2.0, axes=("k", "m")))
"""On one point, and in the first round, Theorem 6 in its sharp form is then an equality."""


def residuals(run: Descent) -> list[tuple[int, Array, Array, Array]]:
    """Return t, Δ_t + ∇_t, h_t and Δ_{t+1} for every round, recomputed from the trace."""
    found, left = [], np.zeros_like(run.risk.y)
    for before, after, direction in run.moves():
        total = left + before.gradient
        left = total - direction.values
        found.append((after.round, total, direction.values, left))
    return found


@SOURCE.claim("T6", space=STRONG)
def strong(x: Instance) -> Slacks:
    """Very loose: T6-sharp has the order 1/γ² for 1/γ⁴.

    Proof. By GB11-T6-sharp it is (G²/(2λT))(1 + q)²/γ² (1 + ln T) at most for f_0..f_{T−1}. For
    f_1..f_T its proof has one round more, without a residual: 1 + ln(T + 1). Both are less (1).

    Of this bound a part of (1 + q)²γ²/16 is left there, .106 at most. It cannot be less than 1/48
    for γ = 1: for f²/2, T = 1, the gap is G²/(2λ). For f_1..f_T one round more is to be counted.
    """
    run = strongly(x, Residual(), 1.0)
    for t in range(1, run.last + 1):
        c = 2.0 / run.gamma(t) ** 2
        for proof, points in ((True, "f_0..f_{T−1}"), (False, "f_1..f_T")):
            right = 2.0 * (c * run.gradients(t - proof)) ** 2 / (x.lam * t)
            right *= 1.0 + math.log(t) + 2.0 / t
            yield at_most(run.mean(t, proof), right, f"mean gap of {points}", t)


@strong.step(
    "The factors.",
    "(1 + q)²/(2γ²) (1 + ln(T + 1)) ≤ (8/γ⁴)(1 + ln T + 2/T)",
    space=EDGES.but(T=Whole(1, 200)),
)
def _(x: Instance) -> Slack:
    left = (1.0 + wasted(x.gamma)) ** 2 / (2.0 * x.gamma**2) * (1.0 + math.log(x.T + 1))
    right = 8.0 / x.gamma**4 * (1.0 + math.log(x.T) + 2.0 / x.T)
    return at_most(left, right, "(1 + q)²/(2γ²) (1 + ln(T + 1))")


@SOURCE.claim("T6-sharp", space=SMOOTHER)
def strong_sharp(x: Instance) -> Slacks:
    """Equal for f²/2, T = 1. Here z_t = f_{t−1} − f*.

    Proof. Σ <∇_t, z_t> = Σ <h_t, z_t> + <Δ_{T+1}, z_{T+1}>, as <Δ_{t+1}, h_t> = 0. A gap is
    <∇_t, z_t> − λ‖z_t‖²/2 at most; <h_t, z_t> telescopes, and of that −λT‖z_{T+1}‖²/2 is left,
    where <Δ, z> − λT‖z‖²/2 <= ‖Δ‖²/(2λT). Now ‖h_t‖² = ‖Δ_t + ∇_t‖² − ‖Δ_{t+1}‖², and the
    squares of the residuals, over t, telescope to −‖Δ_{T+1}‖²/T or less, which pays for the last
    term. What is left is ‖∇_t‖² + 2<Δ_t, ∇_t>, with ‖Δ_t‖ <= qG/(1 − q).
    """
    run, total = strongly(x, Residual(), 1.0), 0.0
    for (t, whole, h, left), state in zip(residuals(run), run.states, strict=False):
        inner, v = run.risk.measure.inner, state.gradient
        size = inner(whole, whole) + 1e-300
        yield equal(inner(left, h) / size, 0.0, "<Δ_{t+1}, h_t>", t)
        total += (2.0 * inner(whole, v) - inner(v, v)) / t
        q, G = wasted(run.gamma(t)), run.gradients(t - 1)
        yield at_most(run.mean(t, True), total / (2.0 * x.lam * t), "mean gap of f_0..f_{T−1}", t)
        right = G**2 / (2.0 * x.lam * t) * (1.0 + q) / (1.0 - q) * (1.0 + math.log(t))
        yield at_most(total / (2.0 * x.lam * t), right * (1.0 + 1e-7), "by G and γ", t)


@strong_sharp.step(
    "errors are paid for in the end", "Σ_{t≤T} <∇_t, z_t> = Σ <h_t, z_t> + <Δ_{T+1}, z_{T+1}>"
)
def _(x: Instance) -> Slacks:
    left = right = size = 0.0
    run = strongly(x, Residual(), 1.0)
    for (t, _, h, rest), (before, after, _) in zip(residuals(run), run.moves(), strict=True):
        inner, z = run.risk.measure.inner, before.F - x.y
        left, right = left + inner(before.gradient, z), right + inner(h, z)
        size += 1.0 + abs(inner(h, z))
        end = right + inner(rest, after.F - x.y)
        yield equal(left / size, end / size, "Σ <∇_t, z_t>", t)


@strong_sharp.step(
    "<h_t, z_t> telescopes with η_t = 1/(λt)",
    "Σ_{t≤T} <h_t, z_t> = Σ ‖h_t‖²/(2λt) + (λ/2) Σ ‖z_t‖² − (λT/2)‖z_{T+1}‖²",
)
def _(x: Instance) -> Slacks:
    left = right = size = 0.0
    run = strongly(x, Residual(), 1.0)
    for before, after, direction in run.moves():
        inner, h, z, t = run.risk.measure.inner, direction.values, before.F - x.y, after.round
        left += inner(h, z)
        right += inner(h, h) / (2.0 * x.lam * t) + x.lam / 2.0 * inner(z, z)
        size += 1.0 + inner(h, h) / x.lam
        rest = x.lam * t / 2.0 * run.norm(after.F - x.y) ** 2
        yield equal(left / size, (right - rest) / size, "Σ <h_t, z_t>", t)


@strong_sharp.step("a gap is below its tangent", "R[f_{t−1}] − R[f*] ≤ <∇_t, z_t> − (λ/2)‖z_t‖²")
def _(x: Instance) -> Slacks:
    run = strongly(x, Residual(), 1.0)
    for before, after, _ in run.moves():
        inner, z = run.risk.measure.inner, before.F - x.y
        right = inner(before.gradient, z) - x.lam / 2.0 * inner(z, z)
        yield at_most(before.value, right, "gap", after.round)


@strong_sharp.step(
    "the lengths of the h_t, over t", "Σ_{t≤T} ‖h_t‖²/t ≤ Σ (‖∇_t‖² + 2<Δ_t, ∇_t>)/t − ‖Δ_{T+1}‖²/T"
)
def _(x: Instance) -> Slacks:
    left = right = 0.0
    run = strongly(x, Residual(), 1.0)
    for (t, whole, h, rest), state in zip(residuals(run), run.states, strict=False):
        inner, v = run.risk.measure.inner, state.gradient
        left, right = left + inner(h, h) / t, right + (2.0 * inner(whole, v) - inner(v, v)) / t
        size = 1.0 + inner(whole, whole)
        yield at_most(left / size, (right - inner(rest, rest) / t) / size, "Σ ‖h_t‖²/t", t)


@strong_sharp.step("Δ_t is bounded", "‖Δ_{t+1}‖ ≤ qG(1 − q^t)/(1 − q)", space=AVERAGES)
def _(x: Instance) -> Slacks:
    run = weakly(x, Residual())
    q = wasted(run.gamma(run.last))
    for t, _, _, left in residuals(run):
        G = run.gradients(t - 1)
        most = q * G * (1.0 - q**t) / (1.0 - q)
        yield at_most(run.norm(left), most + 1e-7 * G, "‖Δ_{t+1}‖", t)


@strong_sharp.step(
    "completing the square",
    "<Δ, z> − (λT/2)‖z‖² ≤ ‖Δ‖²/(2λT)",
    space=Space(d=Vector("m", -3, 3), lam=Real(0.05, 4.0, log=True), T=Whole(1, 25)),
)
def _(x: Instance) -> Slacks:
    """At the z that is worst, and near it."""
    for share in (1.0, 0.8, 1.3):
        z = share * x.d / (x.lam * x.T)
        left = x.d @ z - x.lam * x.T / 2.0 * (z @ z)
        yield at_most(left, x.d @ x.d / (2.0 * x.lam * x.T), "<Δ, z> − (λT/2)‖z‖²")


@SOURCE.claim("T6-end", space=STRONG).checked(trials=60)
def strong_end(x: Instance) -> Slacks:
    """Over T it has 1/T for the 2/T of the theorem.

    Proof. GB11-T6-sharp, as (1 + q)²/(2γ²) <= 2c², c = 2/γ² (1).
    """
    run = strongly(x, Residual(), 1.0)
    for t in range(1, run.last + 1):
        scale = (2.0 / run.gamma(t) ** 2 * run.gradients(t - 1)) ** 2 / x.lam
        right = scale * (1.0 + math.log(t)) + 2.0 * scale / t + scale * (1.0 + math.log(t))
        yield at_most(float(run.gaps[:t].sum()), right, "Σ gaps of f_0..f_{T−1}", t)


@strong_end.step("The factors.", "(1 + q)²/(2γ²) ≤ 8/γ⁴", space=EDGES)
def _(x: Instance) -> Slack:
    left = (1.0 + wasted(x.gamma)) ** 2 / (2.0 * x.gamma**2)
    return at_most(left, 8.0 / x.gamma**4, "(1 + q)²/(2γ²), 2c²")


@SOURCE.claim("T6-residual", space=STRONG).checked(trials=60)
def shrinking(x: Instance, corrected: bool = False) -> Slacks:
    """1 − γ² is for the square, Definition 1: .7071 > .5 for (1, 1) along the axes."""
    run = strongly(x, Residual(), 1.0)
    for t, total, _, left in residuals(run):
        size = run.norm(total)
        if size > 1e-9:
            ratio, most = run.norm(left) / size, 1.0 - run.gamma(run.last) ** 2
            if corrected:  # squares, as a root of a rounded 1 − γ² is off by 1e-8 near γ = 1
                yield at_most(ratio**2, most, "‖Δ_{t+1}‖²/‖Δ_t + ∇_t‖²", t)
            else:
                yield at_most(ratio, most, "‖Δ_{t+1}‖/‖Δ_t + ∇_t‖", t)


@shrinking.corrected(
    "A projection multiplies the residual by sqrt(1 − γ²) at most.",
    "‖Δ_{t+1}‖ ≤ sqrt(1 − γ²) ‖Δ_t + ∇_t‖",
)
def shrinking_corrected(x: Instance) -> Slacks:
    """The paper goes on with this factor, in its c.

    Proof. ‖∇ − h'‖² = ‖∇‖² − <∇, h>²/‖h‖² (1) for ∇ = Δ_t + ∇_t, and <∇, h>² >= γ²‖∇‖²‖h‖².
    """
    yield from shrinking(x, True)


shrinking_corrected.step(*PYTHAGORAS, space=PAIR)(at_best)


@SOURCE.claim(
    "T6-h",
    space=STRONG,
    counterexamples=[
        {
            "H": [[1, 0], [0, 1]],
            "A": [[0, 0]],
            "y": [0, 0],
            "f0": [1, "9/10"],
            "lam": 1,
            "T": 2,
        }
    ],
).checked(trials=60)
def lengths(x: Instance, corrected: bool = False) -> Slacks:
    """h_t is the projection of Δ_t + ∇_t, and may be longer than every ∇_t.

    For R[f] = ‖f‖²/2 from (1, .9) along the axes h_1 = (1, 0) leaves Δ_2 = (0, .9). As f_1 =
    (0, .9) = ∇_2, h_2 = (0, 1.8), and 1.8 > sqrt(1.81).
    """
    run, root = strongly(x, Residual(), 1.0), math.sqrt(x.y.size)
    q = wasted(run.gamma(run.last)) if corrected else 0.0
    for t, _, h, _ in residuals(run):
        G = run.gradients(run.last - 1)
        yield at_most(root * run.norm(h), root * G / (1.0 - q), "‖h_t‖, G", t)


@lengths.corrected("‖h_t‖ ≤ G/(1 − q).", "‖h_t‖ ≤ ‖Δ_t + ∇_t‖ ≤ G/(1 − q), q = sqrt(1 − γ²)")
def lengths_corrected(x: Instance) -> Slacks:
    """Proof. h_t is the projection of Δ_t + ∇_t, and no longer than that (1). ‖Δ_t‖ <= qG/(1 − q)
    (GB11-T6-c), and q/(1 − q) + 1 = 1/(1 − q).
    """
    yield from lengths(x, True)


lengths_corrected.step(*PYTHAGORAS, space=PAIR)(at_best)


@SOURCE.claim("T6-c", space=AVERAGES)
def residual_bound(x: Instance) -> Slacks:
    """Met in the first round. 1e-7 G is granted, as q is known to 1e-8 only near γ = 1.

    Proof. ‖Δ_{t+1}‖ <= q‖Δ_t + ∇_t‖ <= q(‖Δ_t‖ + G), which from 0 gives qG(1 − q^t)/(1 − q) at
    most. And q/(1 − q) = q(1 + q)/γ² < 2/γ².
    """
    run = weakly(x, Residual())
    q = wasted(run.gamma(run.last))
    for t, _, _, left in residuals(run):
        G = run.gradients(t - 1)
        most = q * G * (1.0 - q**t) / (1.0 - q)
        yield at_most(run.norm(left), most + 1e-7 * G, "‖Δ_{t+1}‖, qG(1 − q^t)/(1 − q)", t)
    yield at_most(q / (1.0 - q), 2.0 / run.gamma(run.last) ** 2, "c, 2/γ²")


@SOURCE.claim("T7", space=AVERAGES).checked(trials=60)
def convex(x: Instance) -> Slacks:
    """As in Theorem 5, ‖f_t − f*‖ is up to 2F, so that the first term is 2F²/sqrt(T).

    False without any projection error, when F is much larger than G: R = |f − 1|/4 from −1.
    """
    run, proof = weakly(x, Residual()), x.index != "f_1..f_T"
    t = run.last
    c, F, G = 2.0 / run.gamma(t) ** 2, run.radius(t), run.gradients(t)
    right = (F**2 / 2.0 + (c * G) ** 2 + (c * G) ** 2 / (2.0 * t)) / math.sqrt(t)
    yield at_most(run.mean(t, proof), right, f"mean gap of {x.index}", t)


@convex.corrected(
    "The mean gap is at most 2F²/√T + G²(1+q)/((1−q)√T), of the order 1/γ² and not 1/γ⁴.",
    "(1/T) Σ [R[f_t] − R[f*]] ≤ 2F²/sqrt(T) + G²(1 + q)/((1 − q) sqrt(T)), q = sqrt(1 − γ²)",
)
def convex_corrected(x: Instance, centre: Array | None = None) -> Slacks:
    """(1 + q)/(1 − q) = (1 + q)²/γ² <= c² = 4/γ⁴, so that only F²/2 is wrong.

    Proof. With D for max ‖z_t‖, Σ gaps <= (sqrt(T)/2)(D² − ‖z_{T+1}‖²) + Σ (η_t/2)‖h_t‖² +
    <Δ_{T+1}, z_{T+1}>, and Σ η_t‖h_t‖² <= Σ η_t (‖∇_t‖² + 2<Δ_t, ∇_t>) − η_T‖Δ_{T+1}‖², where the
    last term pays for the product. ‖Δ_t‖ <= qG/(1 − q), Σ η_t <= 2 sqrt(T). For f_1..f_T the gap
    of f_0, which is >= 0, goes, and <∇_{T+1}, z_{T+1}> comes in. <Δ_{T+1} + ∇_{T+1}, z_{T+1}> <=
    (sqrt(T)/2)‖z_{T+1}‖² + (η_T/2)‖Δ_{T+1} + ∇_{T+1}‖², where the first is there to spare and
    ‖Δ_{T+1}‖² cancels. Of (G²/2)(1 + q)/(1 − q) there are Σ η_t + 1/sqrt(T) <= 2 sqrt(T).
    """
    run, proof = weakly(x, Residual()), x.index != "f_1..f_T"
    for t in range(1, run.last + 1):
        q, G = wasted(run.gamma(t)), run.gradients(t)
        D = run.radius(t, centre) * (2.0 if centre is None else 1.0)
        right = (D**2 / 2.0 + G**2 * (1.0 + q) / (1.0 - q)) / math.sqrt(t)
        yield at_most(run.mean(t, proof), right * (1.0 + 1e-7), f"mean gap of {x.index}", t)


@convex.corrected(
    "With F for ‖f − f*‖ it holds.",
    "‖f_t − f*‖ ≤ F ⇒ (1/T) Σ [R[f_t] − R[f*]] ≤ F²/(2 sqrt(T)) + G²(1 + q)/((1 − q) sqrt(T))",
)
def convex_distance(x: Instance) -> Slacks:
    """It is less than what is printed, as (1 + q)/(1 − q) <= c².

    Proof. That of the first, where F enters as half of a bound D of ‖z_t‖ only, in (1).
    """
    yield from convex_corrected(x, x.y)


residual_bound.step("a projection leaves q", "‖Δ_{t+1}‖ ≤ q ‖Δ_t + ∇_t‖", space=STRONG)(
    shrinking_corrected.check
)


@convex_corrected.step(
    "the potential, and the error in the end",
    "Σ gaps ≤ (sqrt(T)/2)(max ‖z_t‖² − ‖z_{T+1}‖²) + Σ (η_t/2)‖h_t‖² + <Δ_{T+1}, z_{T+1}>",
    space=RUNS,
)
def _(x: Instance) -> Slacks:
    run, lengths, D = weakly(x, Residual()), 0.0, 0.0
    for (t, _, h, rest), (before, after, _) in zip(residuals(run), run.moves(), strict=True):
        inner, then = run.risk.measure.inner, after.F - x.y
        D = max(D, run.norm(before.F - x.y))
        lengths += after.step / 2.0 * inner(h, h)
        right = math.sqrt(t) / 2.0 * (D**2 - inner(then, then)) + lengths + inner(rest, then)
        size = 1.0 + D**2 + lengths
        yield at_most(float(run.gaps[:t].sum()) / size, right / size, "Σ gaps", t)


@convex_corrected.step(
    "the lengths of the h_t, over sqrt(t)",
    "Σ η_t‖h_t‖² ≤ Σ η_t (‖∇_t‖² + 2<Δ_t, ∇_t>) − η_T‖Δ_{T+1}‖²",
    space=RUNS,
)
def _(x: Instance) -> Slacks:
    left = right = 0.0
    run = weakly(x, Residual())
    for (t, whole, h, rest), state in zip(residuals(run), run.states, strict=False):
        inner, v, eta = run.risk.measure.inner, state.gradient, t**-0.5
        left, right = left + eta * inner(h, h), right + eta * (2.0 * inner(whole, v) - inner(v, v))
        size = 1.0 + inner(whole, whole)
        yield at_most(left / size, (right - eta * inner(rest, rest)) / size, "Σ η_t‖h_t‖²", t)


convex_corrected.step("Δ_t is bounded", "‖Δ_{t+1}‖ ≤ qG(1 − q^t)/(1 − q)")(
    residual_bound.stated.check
)
convex_corrected.step("Σ 1/sqrt(t) + 1/sqrt(T) ≤ 2 sqrt(T)", space=roots.space)(one_more)
convex_corrected.step(
    "the last distance pays for one more gap",
    "<v, z> ≤ (sqrt(T)/2)‖z‖² + ‖v‖²/(2 sqrt(T)), v = Δ_{T+1} + ∇_{T+1}",
    space=LAST,
)(paid)
_bounded = convex.corrections[0].steps[0]
convex_distance.step(_bounded.stated.words, _bounded.stated.formula, space=RUNS)(
    _bounded.stated.check
)

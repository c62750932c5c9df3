"""GB11, Theorems 6 and 7: Algorithm 3, which keeps what a projection leaves over."""

import math

import numpy as np

from relaxboost.claims.fields import Rng, Sizes
from relaxboost.claims.gb11.algebra import EDGES
from relaxboost.claims.gb11.convex import AVERAGES, LAST, one_more, paid, roots
from relaxboost.claims.gb11.problems import RUNS, STRONG, Descent
from relaxboost.claims.gb11.projections import PAIR, at_best
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
    run = strongly(x, Residual(), 1.0)
    for t in range(1, run.last + 1):
        c = 2.0 / run.gamma(t) ** 2
        for proof, points in ((True, "f_0..f_{T−1}"), (False, "f_1..f_T")):
            right = 2.0 * (c * run.gradients(t - proof)) ** 2 / (x.lam * t)
            right *= 1.0 + math.log(t) + 2.0 / t
            yield at_most(run.mean(t, proof), right, f"mean gap of {points}", t)


@strong.step(space=EDGES.but(T=Whole(1, 200)))
def _(x: Instance) -> Slack:
    left = (1.0 + wasted(x.gamma)) ** 2 / (2.0 * x.gamma**2) * (1.0 + math.log(x.T + 1))
    right = 8.0 / x.gamma**4 * (1.0 + math.log(x.T) + 2.0 / x.T)
    return at_most(left, right, "(1 + q)²/(2γ²) (1 + ln(T + 1))")


@SOURCE.claim("T6-sharp", space=SMOOTHER)
def strong_sharp(x: Instance) -> Slacks:
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


@strong_sharp.step()
def _(x: Instance) -> Slacks:
    left = right = size = 0.0
    run = strongly(x, Residual(), 1.0)
    for (t, _, h, rest), (before, after, _) in zip(residuals(run), run.moves(), strict=True):
        inner, z = run.risk.measure.inner, before.F - x.y
        left, right = left + inner(before.gradient, z), right + inner(h, z)
        size += 1.0 + abs(inner(h, z))
        end = right + inner(rest, after.F - x.y)
        yield equal(left / size, end / size, "Σ <∇_t, z_t>", t)


@strong_sharp.step()
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


@strong_sharp.step()
def _(x: Instance) -> Slacks:
    run = strongly(x, Residual(), 1.0)
    for before, after, _ in run.moves():
        inner, z = run.risk.measure.inner, before.F - x.y
        right = inner(before.gradient, z) - x.lam / 2.0 * inner(z, z)
        yield at_most(before.value, right, "gap", after.round)


@strong_sharp.step()
def _(x: Instance) -> Slacks:
    left = right = 0.0
    run = strongly(x, Residual(), 1.0)
    for (t, whole, h, rest), state in zip(residuals(run), run.states, strict=False):
        inner, v = run.risk.measure.inner, state.gradient
        left, right = left + inner(h, h) / t, right + (2.0 * inner(whole, v) - inner(v, v)) / t
        size = 1.0 + inner(whole, whole)
        yield at_most(left / size, (right - inner(rest, rest) / t) / size, "Σ ‖h_t‖²/t", t)


@strong_sharp.step(space=AVERAGES)
def _(x: Instance) -> Slacks:
    run = weakly(x, Residual())
    q = wasted(run.gamma(run.last))
    for t, _, _, left in residuals(run):
        G = run.gradients(t - 1)
        most = q * G * (1.0 - q**t) / (1.0 - q)
        yield at_most(run.norm(left), most + 1e-7 * G, "‖Δ_{t+1}‖", t)


@strong_sharp.step(space=Space(d=Vector("m", -3, 3), lam=Real(0.05, 4.0, log=True), T=Whole(1, 25)))
def _(x: Instance) -> Slacks:
    for share in (1.0, 0.8, 1.3):
        z = share * x.d / (x.lam * x.T)
        left = x.d @ z - x.lam * x.T / 2.0 * (z @ z)
        yield at_most(left, x.d @ x.d / (2.0 * x.lam * x.T), "<Δ, z> − (λT/2)‖z‖²")


@SOURCE.claim("T6-end", space=STRONG).checked(trials=60)
def strong_end(x: Instance) -> Slacks:
    run = strongly(x, Residual(), 1.0)
    for t in range(1, run.last + 1):
        scale = (2.0 / run.gamma(t) ** 2 * run.gradients(t - 1)) ** 2 / x.lam
        right = scale * (1.0 + math.log(t)) + 2.0 * scale / t + scale * (1.0 + math.log(t))
        yield at_most(float(run.gaps[:t].sum()), right, "Σ gaps of f_0..f_{T−1}", t)


@strong_end.step(space=EDGES)
def _(x: Instance) -> Slack:
    left = (1.0 + wasted(x.gamma)) ** 2 / (2.0 * x.gamma**2)
    return at_most(left, 8.0 / x.gamma**4, "(1 + q)²/(2γ²), 2c²")


@SOURCE.claim("T6-residual", space=STRONG).checked(trials=60)
def shrinking(x: Instance, corrected: bool = False) -> Slacks:
    run = strongly(x, Residual(), 1.0)
    for t, total, _, left in residuals(run):
        size = run.norm(total)
        if size > 1e-9:
            ratio, most = run.norm(left) / size, 1.0 - run.gamma(run.last) ** 2
            if corrected:  # squares, as a root of a rounded 1 − γ² is off by 1e-8 near γ = 1
                yield at_most(ratio**2, most, "‖Δ_{t+1}‖²/‖Δ_t + ∇_t‖²", t)
            else:
                yield at_most(ratio, most, "‖Δ_{t+1}‖/‖Δ_t + ∇_t‖", t)


@shrinking.corrected()
def shrinking_corrected(x: Instance) -> Slacks:
    yield from shrinking(x, True)


shrinking_corrected.step(space=PAIR)(at_best)


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
    run, root = strongly(x, Residual(), 1.0), math.sqrt(x.y.size)
    q = wasted(run.gamma(run.last)) if corrected else 0.0
    for t, _, h, _ in residuals(run):
        G = run.gradients(run.last - 1)
        yield at_most(root * run.norm(h), root * G / (1.0 - q), "‖h_t‖, G", t)


@lengths.corrected()
def lengths_corrected(x: Instance) -> Slacks:
    yield from lengths(x, True)


lengths_corrected.step(space=PAIR)(at_best)


@SOURCE.claim("T6-c", space=AVERAGES)
def residual_bound(x: Instance) -> Slacks:
    run = weakly(x, Residual())
    q = wasted(run.gamma(run.last))
    for t, _, _, left in residuals(run):
        G = run.gradients(t - 1)
        most = q * G * (1.0 - q**t) / (1.0 - q)
        yield at_most(run.norm(left), most + 1e-7 * G, "‖Δ_{t+1}‖, qG(1 − q^t)/(1 − q)", t)
    yield at_most(q / (1.0 - q), 2.0 / run.gamma(run.last) ** 2, "c, 2/γ²")


@SOURCE.claim("T7", space=AVERAGES).checked(trials=60)
def convex(x: Instance) -> Slacks:
    run, proof = weakly(x, Residual()), x.index != "f_1..f_T"
    t = run.last
    c, F, G = 2.0 / run.gamma(t) ** 2, run.radius(t), run.gradients(t)
    right = (F**2 / 2.0 + (c * G) ** 2 + (c * G) ** 2 / (2.0 * t)) / math.sqrt(t)
    yield at_most(run.mean(t, proof), right, f"mean gap of {x.index}", t)


@convex.corrected()
def convex_corrected(x: Instance, centre: Array | None = None) -> Slacks:
    run, proof = weakly(x, Residual()), x.index != "f_1..f_T"
    for t in range(1, run.last + 1):
        q, G = wasted(run.gamma(t)), run.gradients(t)
        D = run.radius(t, centre) * (2.0 if centre is None else 1.0)
        right = (D**2 / 2.0 + G**2 * (1.0 + q) / (1.0 - q)) / math.sqrt(t)
        yield at_most(run.mean(t, proof), right * (1.0 + 1e-7), f"mean gap of {x.index}", t)


@convex.corrected()
def convex_distance(x: Instance) -> Slacks:
    yield from convex_corrected(x, x.y)


residual_bound.step(space=STRONG)(shrinking_corrected.check)


@convex_corrected.step(space=RUNS)
def _(x: Instance) -> Slacks:
    run, lengths, D = weakly(x, Residual()), 0.0, 0.0
    for (t, _, h, rest), (before, after, _) in zip(residuals(run), run.moves(), strict=True):
        inner, then = run.risk.measure.inner, after.F - x.y
        D = max(D, run.norm(before.F - x.y))
        lengths += after.step / 2.0 * inner(h, h)
        right = math.sqrt(t) / 2.0 * (D**2 - inner(then, then)) + lengths + inner(rest, then)
        size = 1.0 + D**2 + lengths
        yield at_most(float(run.gaps[:t].sum()) / size, right / size, "Σ gaps", t)


@convex_corrected.step(space=RUNS)
def _(x: Instance) -> Slacks:
    left = right = 0.0
    run = weakly(x, Residual())
    for (t, whole, h, rest), state in zip(residuals(run), run.states, strict=False):
        inner, v, eta = run.risk.measure.inner, state.gradient, t**-0.5
        left, right = left + eta * inner(h, h), right + eta * (2.0 * inner(whole, v) - inner(v, v))
        size = 1.0 + inner(whole, whole)
        yield at_most(left / size, (right - eta * inner(rest, rest)) / size, "Σ η_t‖h_t‖²", t)


convex_corrected.step()(residual_bound.stated.check)
convex_corrected.step(space=roots.space)(one_more)
convex_corrected.step(space=LAST)(paid)
_bounded = convex.corrections[0].steps[0]
convex_distance.step(space=RUNS)(_bounded.stated.check)

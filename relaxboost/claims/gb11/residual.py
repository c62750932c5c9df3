"""GB11, Theorems 6 and 7: Algorithm 3, which adds the residual of a round to the next gradient."""

import math

from relaxboost.claims.gb11 import SOURCE
from relaxboost.claims.gb11.problems import RUNS, STRONG, Descent
from relaxboost.claims.gb11.projections import PAIR, at_best
from relaxboost.claims.gb11.repeated import means, strongly, wasted, weakly
from relaxboost.claims.language import *
from relaxboost.functional.algorithms import Residual


def residuals(run: Descent) -> list[tuple[int, Array, Array, Array]]:
    """Return a tuple (t, Δ_t + ∇_t, h_t, Δ_{t+1}) for each round of a run of Algorithm 3.

    ∇_t is the gradient, Δ_t is the residual before the round, Δ_t + ∇_t is the projected vector,
    and h_t is the direction.
    """
    found = []
    left = 0.0 * run.risk.y
    for before, after, direction in run.moves():
        total = left + before.gradient
        left = total - direction.values
        found.append((after.round, total, direction.values, left))
    return found


@SOURCE.claim("T6", space=STRONG)
def strong(x: Instance) -> Slacks:
    def bound(t: int, gamma: float, G: float) -> float:
        c = 2.0 / gamma**2
        return 2.0 * (c * G) ** 2 / (x.lam * t) * (1.0 + math.log(t) + 2.0 / t)

    yield from means(strongly(x, Residual(), 1.0), bound)


@strong.step(space=Space(gamma=Real(0.05, 1), T=Whole(1, 200)))
def _(x: Instance) -> Slack:
    left = (1.0 + wasted(x.gamma)) ** 2 / (2.0 * x.gamma**2) * (1.0 + math.log(x.T + 1))
    right = 8.0 / x.gamma**4 * (1.0 + math.log(x.T) + 2.0 / x.T)
    return at_most(left, right, "(1 + q)²/(2γ²) (1 + ln(T + 1))")


_ONE = {"H": [[1]], "A": [[0]], "y": [0], "f0": [1], "lam": 1, "T": 1}
"""The functional f²/2 with the start f_0 = 1, for which the inequality of GB11-T6-sharp is tight.
"""


@SOURCE.claim("T6-sharp", space=STRONG.including(_ONE))
def strong_sharp(x: Instance) -> Slacks:
    run = strongly(x, Residual(), 1.0)
    inner = run.risk.measure.inner
    total = 0.0
    for (t, whole, h, left), state in zip(residuals(run), run.states, strict=False):
        v = state.gradient
        size = inner(whole, whole) + 1e-300
        yield equal(inner(left, h) / size, 0.0, "<Δ_{t+1}, h_t>", t)
        total += (2.0 * inner(whole, v) - inner(v, v)) / t
        q = wasted(run.gamma(t))
        G = run.gradients(t - 1)
        yield at_most(run.mean(t, True), total / (2.0 * x.lam * t), "mean gap of f_0..f_{T−1}", t)
        right = G**2 / (2.0 * x.lam * t) * (1.0 + q) / (1.0 - q) * (1.0 + math.log(t))
        yield at_most(total / (2.0 * x.lam * t), right * (1.0 + 1e-7), "by G and γ", t)


@strong_sharp.step()
def in_the_end(x: Instance) -> Slacks:
    left = right = size = 0.0
    run = strongly(x, Residual(), 1.0)
    inner = run.risk.measure.inner
    for (t, _, h, rest), (before, after, _) in zip(residuals(run), run.moves(), strict=True):
        z = before.F - x.y
        left, right = left + inner(before.gradient, z), right + inner(h, z)
        size += 1.0 + abs(inner(h, z))
        end = right + inner(rest, after.F - x.y)
        yield equal(left / size, end / size, "Σ <∇_t, z_t>", t)


@strong_sharp.step()
def lengths_paid(x: Instance) -> Slacks:
    run = strongly(x, Residual(), 1.0)
    inner = run.risk.measure.inner
    last = 0.0
    for (t, whole, h, rest), state in zip(residuals(run), run.states, strict=False):
        v = state.gradient
        size = 1.0 + inner(whole, whole)
        square = inner(rest, rest)
        right = 2.0 * inner(whole, v) - inner(v, v) + last - square
        yield equal(inner(h, h) / size, right / size, "‖h_t‖²", t)
        last = square


@SOURCE.claim("T6-h", space=STRONG).checked(trials=60)
def lengths(x: Instance) -> Slacks:
    run = strongly(x, Residual(), 1.0)
    root = math.sqrt(x.y.size)
    for t, _, h, _ in residuals(run):
        yield at_most(root * run.norm(h), root * run.gradients(run.last - 1), "‖h_t‖, G", t)


@lengths.corrected()
def lengths_corrected(x: Instance) -> Slacks:
    run = strongly(x, Residual(), 1.0)
    q = wasted(run.gamma(run.last))
    for t, _, h, left in residuals(run):
        G = run.gradients(t - 1) * (1.0 + 1e-7)
        yield at_most(run.norm(left), q * G * (1.0 - q**t) / (1.0 - q), "‖Δ_{t+1}‖", t)
        yield at_most(run.norm(h), G / (1.0 - q), "‖h_t‖", t)
    yield at_most(q / (1.0 - q), 2.0 / run.gamma(run.last) ** 2, "q/(1 − q), 2/γ²")


lengths_corrected.step(space=PAIR)(at_best)


@SOURCE.claim("T7", space=RUNS).checked(trials=60)
def convex(x: Instance) -> Slacks:
    run = weakly(x, Residual())
    F = run.radius(run.last)

    def bound(t: int, gamma: float, G: float) -> float:
        c = 2.0 / gamma**2
        return (F**2 / 2.0 + (c * G) ** 2 * (1.0 + 0.5 / t)) / math.sqrt(t)

    yield from list(means(run, bound))[-2:]


@convex.corrected()
def convex_corrected(x: Instance) -> Slacks:
    run = weakly(x, Residual())

    def bound(t: int, gamma: float, G: float) -> float:
        q = wasted(gamma)
        D = 2.0 * run.radius(t)
        return (D**2 / 2.0 + G**2 * (1.0 + q) / (1.0 - q)) / math.sqrt(t) * (1.0 + 1e-7)

    yield from means(run, bound)


convex_corrected.step(space=STRONG)(in_the_end.stated.check)
convex_corrected.step(space=STRONG)(lengths_paid.stated.check)

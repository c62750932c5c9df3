"""DEK11, the proof of Theorem 1, display by display."""

import math

import numpy as np

from relaxboost.claims.dek11.descent import POINTS, step, worst
from relaxboost.claims.dek11.runs import STREAMS, Passed, one, project, rescale
from relaxboost.claims.dek11.source import SOURCE
from relaxboost.claims.language import *

STEPS = STREAMS.but(eta=Real(0.05, 20.0, log=True))
"""Sequences with any step η > 0."""


def alphas(run: Passed, w: Array) -> Array:
    """Return α_i = ½‖w_{i−1} − w*‖² − ½‖w_i − w*‖²."""
    distance = ((run.w[0] - w) ** 2).sum(axis=1) / 2.0
    return np.asarray(distance[:-1] - distance[1:])


@SOURCE.claim("T1-closer", space=POINTS)
def closer(x: Instance, printed: bool = True) -> Slack:
    """The projection as printed moves points of the ball away from others."""
    w = project(x.w, x.B)
    image = rescale(x.v, x.B) if printed else project(x.v, x.B)
    left, right = np.linalg.norm(image - w), np.linalg.norm(x.v - w)
    return at_most(float(left), float(right), "‖Π[v] − w*‖, ‖v − w*‖")


@closer.corrected("reading: Π as in the words, the nearest point of H.", "‖Π[v] − w*‖ ≤ ‖v − w*‖")
def closer_corrected(x: Instance) -> Slacks:
    """Equal within the ball.

    Proof. v − Π[v] and w* − Π[v] do not form an acute angle (1), so that ‖v − w*‖² ≥ ‖v − Π[v]‖² +
    ‖Π[v] − w*‖².
    """
    yield closer(x, False)[0]


@closer_corrected.step("The angle at the nearest point.", "<v − Π[v], w* − Π[v]> ≤ 0 for w* in H")
def _(x: Instance) -> Slacks:
    near = project(x.v, x.B)
    for w in (project(x.w, x.B), near * 0.9):
        angle = float((x.v - near) @ (w - near))
        yield at_most(angle / (1.0 + float(x.v @ x.v)), 0.0, "<v − Π[v], w* − Π[v]>")


@SOURCE.claim("T1-alpha-1", space=STEPS)
def first_line(x: Instance, power: int = 1) -> Slacks:
    """The square is missing: .195 ≥ 1.05."""
    run, w = one(x).descended(x.B, x.eta), _comparator(x)
    away = np.linalg.norm(run.before[0] - x.eta * run.slopes[0] - w, axis=1)
    before = ((run.before[0] - w) ** 2).sum(axis=1) / 2.0
    scale = 1.0 + before.max()
    for i, alpha in enumerate(alphas(run, w)):
        right = before[i] - away[i] ** power / 2.0
        yield at_least(float(alpha / scale), float(right / scale), "α_i", i + 1)


@first_line.corrected(
    "α_i is bounded by half of the square of this distance.",
    "α_i ≥ ½‖w_{i−1} − w*‖² − ½‖w_{i−1} − η∇l_i(w_{i−1}) − w*‖²",
)
def first_line_corrected(x: Instance) -> Slacks:
    """Proof. α_i is that with ½‖w_i − w*‖² at the end, and ‖w_i − w*‖² is no more (1), as in
    DEK11-T1-closer.
    """
    yield from first_line(x, 2)


@first_line_corrected.step(
    "The projected point is no farther.", "‖w_i − w*‖² ≤ ‖w_{i−1} − η∇l_i(w_{i−1}) − w*‖²"
)
def _(x: Instance) -> Slack:
    run, w = one(x).descended(x.B, x.eta), _comparator(x)
    before = ((run.before[0] - x.eta * run.slopes[0] - w) ** 2).sum(axis=1)
    after = ((run.w[0, 1:] - w) ** 2).sum(axis=1)
    return at_most(float(((after - before) / (1.0 + before)).max()), 0.0, "after − before")


def _comparator(x: Instance) -> Array:
    """Return w* in H: x.w, which is in [−1, 1], as a share of B in each direction."""
    return project(x.B * x.w, x.B)


@SOURCE.claim("T1-alpha-2-4", space=STEPS).checked(trials=60)
def other_lines(x: Instance) -> Slacks:
    """Over 1 + η²λ²X² + 4B².

    Proof. The square of a difference, the subgradient inequality (1), and ‖∇‖ ≤ λX (2).
    """
    steep, _ = step(x)
    run, w = one(x).descended(x.B, x.eta), _comparator(x)
    a, g = run.before[0] - w, run.slopes[0]
    size, squares = 1.0 + (x.eta * steep) ** 2 + 4.0 * x.B**2, (g * g).sum(axis=1)
    first = ((a * a).sum(axis=1) - ((a - x.eta * g) ** 2).sum(axis=1)) / 2.0
    second = -(x.eta**2) / 2.0 * squares + x.eta * (a * g).sum(axis=1)
    gain = run.losses[0] - one(x).of(w)[0][0]
    third = -(x.eta**2) / 2.0 * squares + x.eta * gain
    fourth = -(x.eta**2) * steep**2 / 2.0 + x.eta * gain
    yield equal(float(np.abs(first - second).max()) / size, 0.0, "lines 1 and 2")
    yield at_least(float((second - third).min()) / size, 0.0, "line 2 − line 3")
    yield at_least(float((third - fourth).min()) / size, 0.0, "line 3 − line 4")
    yield at_least(float((alphas(run, w) - fourth).min()) / size, 0.0, "α_i − line 4")


@other_lines.step("A convex loss is above its tangent.", "l_i(w*) ≥ l_i(w) + <∇l_i(w), w* − w>")
def _(x: Instance) -> Slack:
    run, w = one(x).descended(x.B, x.eta), _comparator(x)
    values, tangent = one(x).of(w)[0][0], ((w - run.before[0]) * run.slopes[0]).sum(axis=1)
    rise = (values - run.losses[0] - tangent) / (1.0 + np.abs(values) + np.abs(tangent))
    return at_least(float(rise.min()), 0.0, "l_i(w*) − l_i(w) − <∇, w* − w>")


@other_lines.step("Subgradients are no longer than λX.", "‖∇l_i(w)‖ ≤ λX")
def _(x: Instance) -> Slack:
    run = one(x).descended(x.B, x.eta)
    longest = float(np.linalg.norm(run.slopes[0], axis=1).max())
    return at_most(longest / step(x)[0], 1.0, "‖∇‖/(λX), 1")


@SOURCE.claim("T1-sum", space=STEPS).checked(trials=60)
def summed(x: Instance) -> Slacks:
    """Relative to B² and to the right sides.

    Proof. A sum of differences telescopes (1), w_0 = 0, and DEK11-T1-alpha-2-4.
    """
    steep, _ = step(x)
    run, w = one(x).descended(x.B, x.eta), _comparator(x)
    total, m = float(alphas(run, w).sum()) / x.B**2, len(x.A)
    ends = [float(((v - w) ** 2).sum()) / 2.0 / x.B**2 for v in (run.w[0, 0], run.w[0, -1])]
    yield equal(total, ends[0] - ends[1], "Σ α_i")
    yield at_most(total, ends[0], "Σ α_i, ½‖w_0 − w*‖²")
    yield equal(ends[0], float(w @ w) / 2.0 / x.B**2, "½‖w_0 − w*‖², ½‖w*‖²")
    yield at_most(ends[0], 0.5, "½‖w*‖², B²/2")
    regret = float((run.losses - one(x).of(w)[0]).sum())
    right = x.eta * regret - x.eta**2 * steep**2 * m / 2.0
    size = x.B**2 + abs(right)
    yield at_least(total * x.B**2 / size, right / size, "Σ α_i")


@summed.step("A sum of differences telescopes.", "Σ (a_{i−1} − a_i) = a_0 − a_m")
def _(x: Instance) -> Slack:
    run, w = one(x).descended(x.B, x.eta), _comparator(x)
    first, last = (float(((v - w) ** 2).sum()) / 2.0 for v in run.w[0, [0, -1]])
    return equal(float(alphas(run, w).sum()) / x.B**2, (first - last) / x.B**2, "Σ α_i")


@SOURCE.claim("T1-divided", space=STEPS)
def divided(x: Instance, printed: bool = True) -> Slacks:
    """The second η in the denominator is a slip, and matters for η > 1."""
    steep, _ = step(x)
    run, w = one(x).descended(x.B, x.eta), _comparator(x)
    regret = float((run.losses - one(x).of(w)[0]).sum())
    m = len(x.A)
    cases = [(regret, x.eta, steep, m, x.B)]
    if not printed:
        cases.append((worst(m), 1.0 / m, 1.0, m**2, 1.0))
    for left, eta, slope, rounds, B in cases:
        rest = slope**2 * rounds / 2.0 * (1.0 if printed else eta)
        yield at_most(left, B**2 / (2.0 * eta) + rest, "regret")


@divided.corrected(
    "The two bounds give ηλ²X²m/2 as the last term.",
    "Σ l_i(w_{i−1}) − Σ l_i(w*) ≤ B²/(2η) + ηλ²X²m/2",
)
def divided_corrected(x: Instance) -> Slacks:
    """The streams of DEK11-T1-rate, which attain it, are tried.

    Proof. B²/2 ≥ Σ α_i ≥ η Regret − mη²λ²X²/2 (1), which is DEK11-T1-sum, over η.
    """
    yield from divided(x, False)


@divided_corrected.step(
    "What the α_i say of the regret.", "B²/2 ≥ η Σ (l_i(w_{i−1}) − l_i(w*)) − mη²λ²X²/2"
)
def _(x: Instance) -> Slacks:
    steep, _ = step(x)
    run, w = one(x).descended(x.B, x.eta), _comparator(x)
    regret = float((run.losses - one(x).of(w)[0]).sum())
    m = len(x.A)
    for left, size in (
        (x.eta * regret - m * (x.eta * steep) ** 2 / 2.0, x.B),
        (worst(m) / m - 0.5, 1.0),
    ):
        yield at_most(left / size**2, 0.5, "(η Regret − mη²λ²X²/2)/B², 1/2")


@SOURCE.claim(
    "T1-eta",
    space=Space(
        B=Real(0.25, 4.0, log=True),
        lam=Real(0.1, 4.0, log=True),
        m=Whole(1, 100),
        eta=Real(0.01, 20.0, log=True),
    ),
)
def chosen(x: Instance, printed: bool = True) -> Slacks:
    """As printed its second term does not depend on η: for m = 100 it comes to 55, and not to 10.

    There is no least value then; it falls towards λ²X²m/2 as η grows.
    """

    def right(eta: float) -> float:
        rest = x.lam**2 * x.m / 2.0
        return x.B**2 / (2.0 * eta) + (rest if printed else eta * rest)

    best, value = x.B / (x.lam * math.sqrt(x.m)), x.lam * x.B * math.sqrt(x.m)
    yield equal(right(best), value, "right side at η, λXB√m")
    yield at_most(value, right(x.eta), "λXB√m, right side elsewhere")


@chosen.corrected(
    "This η minimises the right side with ηλ²X²m/2.", "min_η B²/(2η) + ηλ²X²m/2 = λXB√m"
)
def chosen_corrected(x: Instance) -> Slacks:
    """Proof. a + b ≥ 2√(ab), equal where a = b (1): here a = B²/(2η), b = ηλ²m/2, ab = B²λ²m/4."""
    yield from chosen(x, False)


@chosen_corrected.step(
    "The mean of two numbers is at least the root of their product.", "a + b ≥ 2√(ab)"
)
def _(x: Instance) -> Slacks:
    for eta in (x.eta, x.B / (x.lam * math.sqrt(x.m))):
        a, b = x.B**2 / (2.0 * eta), eta * x.lam**2 * x.m / 2.0
        yield at_least(a + b, 2.0 * math.sqrt(a * b), "a + b, 2√(ab)")
    yield equal(math.sqrt(a * b), x.B * x.lam * math.sqrt(x.m) / 2.0, "√(ab), Bλ√m/2")

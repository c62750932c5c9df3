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
    w = project(x.w, x.B)
    image = rescale(x.v, x.B) if printed else project(x.v, x.B)
    left, right = np.linalg.norm(image - w), np.linalg.norm(x.v - w)
    return at_most(float(left), float(right), "‖Π[v] − w*‖, ‖v − w*‖")


@closer.corrected()
def closer_corrected(x: Instance) -> Slacks:
    yield closer(x, False)[0]


@closer_corrected.step()
def _(x: Instance) -> Slacks:
    near = project(x.v, x.B)
    for w in (project(x.w, x.B), near * 0.9):
        angle = float((x.v - near) @ (w - near))
        yield at_most(angle / (1.0 + float(x.v @ x.v)), 0.0, "<v − Π[v], w* − Π[v]>")


@SOURCE.claim("T1-alpha-1", space=STEPS)
def first_line(x: Instance, power: int = 1) -> Slacks:
    run, w = one(x).descended(x.B, x.eta), _comparator(x)
    away = np.linalg.norm(run.before[0] - x.eta * run.slopes[0] - w, axis=1)
    before = ((run.before[0] - w) ** 2).sum(axis=1) / 2.0
    scale = 1.0 + before.max()
    for i, alpha in enumerate(alphas(run, w)):
        right = before[i] - away[i] ** power / 2.0
        yield at_least(float(alpha / scale), float(right / scale), "α_i", i + 1)


@first_line.corrected()
def first_line_corrected(x: Instance) -> Slacks:
    yield from first_line(x, 2)


@first_line_corrected.step()
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


@other_lines.step()
def _(x: Instance) -> Slack:
    run, w = one(x).descended(x.B, x.eta), _comparator(x)
    values, tangent = one(x).of(w)[0][0], ((w - run.before[0]) * run.slopes[0]).sum(axis=1)
    rise = (values - run.losses[0] - tangent) / (1.0 + np.abs(values) + np.abs(tangent))
    return at_least(float(rise.min()), 0.0, "l_i(w*) − l_i(w) − <∇, w* − w>")


@other_lines.step()
def _(x: Instance) -> Slack:
    run = one(x).descended(x.B, x.eta)
    longest = float(np.linalg.norm(run.slopes[0], axis=1).max())
    return at_most(longest / step(x)[0], 1.0, "‖∇‖/(λX), 1")


@SOURCE.claim("T1-sum", space=STEPS).checked(trials=60)
def summed(x: Instance) -> Slacks:
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


@summed.step()
def _(x: Instance) -> Slack:
    run, w = one(x).descended(x.B, x.eta), _comparator(x)
    first, last = (float(((v - w) ** 2).sum()) / 2.0 for v in run.w[0, [0, -1]])
    return equal(float(alphas(run, w).sum()) / x.B**2, (first - last) / x.B**2, "Σ α_i")


@SOURCE.claim("T1-divided", space=STEPS)
def divided(x: Instance, printed: bool = True) -> Slacks:
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


@divided.corrected()
def divided_corrected(x: Instance) -> Slacks:
    yield from divided(x, False)


@divided_corrected.step()
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
    def right(eta: float) -> float:
        rest = x.lam**2 * x.m / 2.0
        return x.B**2 / (2.0 * eta) + (rest if printed else eta * rest)

    best, value = x.B / (x.lam * math.sqrt(x.m)), x.lam * x.B * math.sqrt(x.m)
    yield equal(right(best), value, "right side at η, λXB√m")
    yield at_most(value, right(x.eta), "λXB√m, right side elsewhere")


@chosen.corrected()
def chosen_corrected(x: Instance) -> Slacks:
    yield from chosen(x, False)


@chosen_corrected.step()
def _(x: Instance) -> Slacks:
    for eta in (x.eta, x.B / (x.lam * math.sqrt(x.m))):
        a, b = x.B**2 / (2.0 * eta), eta * x.lam**2 * x.m / 2.0
        yield at_least(a + b, 2.0 * math.sqrt(a * b), "a + b, 2√(ab)")
    yield equal(math.sqrt(a * b), x.B * x.lam * math.sqrt(x.m) / 2.0, "√(ab), Bλ√m/2")

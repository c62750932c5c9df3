"""GB11, Appendix C: hypotheses of Theorem 4, and the displays and step sizes of its proof."""

import math
from collections.abc import Iterator
from fractions import Fraction

from relaxboost.claims.gb11.algebra import (
    GEOMETRIC,
    PARTS,
    VECTORS,
    by_parts,
    geometric,
)
from relaxboost.claims.gb11.problems import STRONG, Kinks
from relaxboost.claims.gb11.projections import PAIR, nothing_left
from relaxboost.claims.gb11.repeated import LINE, bound4, pieces, strongly
from relaxboost.claims.gb11.source import SOURCE
from relaxboost.claims.language import *


@SOURCE.claim(
    "T4-G",
    space=Space(
        sizes={"m": (1, 3), "k": (1, 3)},
        A=Matrix(-2, 2, axes=("k", "m")),
        y=Vector("m", -2, 2),
        f=Vector("m", -2, 2),
        lam=Real(0.05, 4.0, log=True),
        G=Real(0.1, 10.0, log=True),
    ),
)
def bounded(x: Instance) -> Slack:
    v, _ = _gradient(x)
    return at_most(v, x.G, "‖∇R[f]‖, G")


@bounded.corrected()
def bounded_corrected(x: Instance) -> Slack:
    v, distance = _gradient(x)
    return at_least(v, x.lam * distance, "‖∇R[f]‖, λ‖f − f*‖")


@bounded_corrected.step()
def _(x: Instance) -> Slack:
    risk, away = Kinks(x.A, x.y, x.lam), x.f - x.y
    left = risk.measure.inner(risk.evaluate(x.f)[1], away)
    return at_least(left, x.lam * risk.measure.inner(away, away), "<∇R[f], f − f*>")


def _gradient(x: Instance) -> tuple[float, float]:
    risk = Kinks(x.A, x.y, x.lam)
    away = x.f - x.y
    size = risk.measure.norm(away)
    assume(size > 1e-6)
    z = away / size * (x.G / x.lam + 1.0)
    return risk.measure.norm(risk.evaluate(x.y + z)[1]), risk.measure.norm(z)


@SOURCE.claim("T4-potential", space=STRONG).checked(trials=60)
def potential(x: Instance) -> Slacks:
    for before, t, h, z, then, run in pieces(x):
        inner, eta = run.risk.measure.inner, 2.0 / (x.lam * t)
        left = -inner(z, before.gradient)
        right = (inner(then, then) - inner(z, z)) / (2.0 * eta) - eta / 2.0 * inner(h, h)
        right += inner(z, h - before.gradient)
        size = 1.0 + abs(left) + abs(right) + eta * inner(h, h) + 1.0 / eta
        yield equal(left / size, right / size, "<f* − f_t, ∇_t>", t)


@potential.step(space=VECTORS)
def _(x: Instance) -> Slack:
    z, h, eta = exactly(x.z), exactly(x.v), Fraction(x.eta)
    right = sum(z * z) - 2 * eta * sum(z * h) + eta**2 * sum(h * h)
    return equal(sum((z - eta * h) ** 2), right, "‖z − ηh‖²")


@SOURCE.claim("T4-sum", space=STRONG).checked(trials=60)
def summed(x: Instance) -> Slacks:
    total = middle = 0.0
    eta, first = 2.0 / x.lam, x.lam / 2.0
    for before, t, h, z, then, run in pieces(x):
        inner, last, eta = run.risk.measure.inner, eta, 2.0 / (x.lam * t)
        start = run.norm(x.f0 - x.y) ** 2
        if t > 1:
            total += inner(z, z) / 2.0 * (1.0 / last - 1.0 / eta + x.lam)
        total += before.value - eta / 2.0 * inner(h, h) + inner(z, h - before.gradient)
        middle += before.value - inner(z, before.gradient) + x.lam / 2.0 * inner(z, z)
        size = 1.0 + abs(total) + abs(middle) + first * start
        yield at_most(middle / size, 0.0, "the first right side", t)
        kept = total - first * start / 2.0
        for right, name in ((kept - first * start / 2.0, "1/η_1"), (kept, "1/(2η_1)")):
            yield at_most(right / size, middle / size, f"second right side with {name}, first", t)
        rest = x.lam / 2.0 * start + inner(then, then) / (2.0 * eta)
        yield equal((kept + rest) / size, middle / size, "with what is left out, the first", t)


@summed.step()
def below(x: Instance) -> Slack:
    risk, z = Kinks(x.A, x.y, x.lam), x.f0 - x.y
    value, gradient = risk.evaluate(x.f0)
    inner = risk.measure.inner
    right = inner(gradient, z) - x.lam / 2.0 * inner(z, z)
    return at_most(value, right, "R[f] − R[f*]")


summed.step(space=PARTS)(by_parts)


@SOURCE.claim(
    "T4-eta",
    space=STRONG.but(sizes={"m": (1, 1), "n": (1, 1), "k": (1, 1)}, T=Whole(1, 60)),
    counterexamples=[{**LINE, "f0": [1], "T": 30, "lam": "1/20"}],
).checked(trials=60)
def step_size(x: Instance, factor: float | None = None) -> Slack:
    assume(bool(x.H.any()) and x.f0[0] != x.y[0])
    run = strongly(x, factor=2.0 * x.lam if factor is None else factor)
    bound = bound4(run, x.lam, run.last, True)
    return at_most(run.mean(run.last, True), bound, "mean gap of f_0..f_{T−1}", run.last)


@step_size.corrected()
def step_size_corrected(x: Instance) -> Slacks:
    yield from step_size(x, 2.0)


step_size_corrected.step(space=PAIR.but(sizes={"m": (1, 1)}))(nothing_left)


def _third(x: Instance) -> Iterator[tuple[int, float, float, float, float]]:
    """Yield t, Σ gaps, 2G² Σ 2/(λs), Σ ‖f_s − f*‖² and Σ <f* − f_s, h_s − ∇_s> up to t."""
    gaps = harmonic = squares = errors = 0.0
    for before, t, h, z, _, run in pieces(x):
        inner = run.risk.measure.inner
        gaps, harmonic = gaps + before.value, harmonic + 2.0 / (x.lam * t)
        squares, errors = squares + inner(z, z), errors - inner(z, h - before.gradient)
        yield t, gaps, 2.0 * run.gradients(t - 1) ** 2 * harmonic, squares, errors


@SOURCE.claim("T4-display", space=STRONG).checked(trials=60)
def third(x: Instance) -> Slacks:
    for t, gaps, lengths, squares, errors in _third(x):
        right = lengths + x.lam / 4.0 * (squares - t * errors)
        yield at_most(gaps, right, "Σ gaps, what is subtracted", t)


@third.corrected()
def third_corrected(x: Instance) -> Slacks:
    for t, gaps, lengths, squares, errors in _third(x):
        right = lengths - x.lam / 4.0 * squares + errors
        yield at_most(gaps, right, "Σ gaps, what is subtracted", t)


@third_corrected.step(space=Space(t=Whole(1, 200), lam=Real(0.05, 4.0, log=True)))
def _(x: Instance) -> Slacks:
    lam = Fraction(x.lam)
    falls = lam * x.t / 2 - lam * (x.t + 1) / 2
    yield equal((falls + lam) / 2, lam / 4, "½(1/η_t − 1/η_{t+1} + λ)")
    yield equal(lam / 2 - lam / 4, lam / 4, "λ/2 − 1/(2η_1)")


@SOURCE.claim("T4-completed", space=STRONG).checked(trials=60)
def completed(x: Instance) -> Slacks:
    errors = 0.0
    for before, t, h, _, _, run in pieces(x):
        errors += run.norm(h - before.gradient) ** 2
        scale = 4.0 * run.gradients(t - 1) ** 2 / x.lam
        right = scale * (1.0 + math.log(t)) + errors / x.lam
        yield at_most(float(run.gaps[:t].sum()), right, "Σ gaps, what is subtracted", t)


@completed.step(space=VECTORS)
def _(x: Instance) -> Slacks:
    e, lam = exactly(x.v), Fraction(x.eta)
    for z in (exactly(x.z), -2 / lam * e):
        left = lam / 4 * sum(z * z) + sum(z * e)
        yield at_least(left, -sum(e * e) / lam, "(λ/4)‖z‖² + <z, e>")


@completed.step(space=Space(T=Whole(1, 500)))
def _(x: Instance) -> Slack:
    total = math.fsum(1.0 / t for t in range(1, x.T + 1))
    return at_most(total, 1.0 + math.log(x.T), "Σ 1/t, 1 + ln T")


@SOURCE.claim("T4-series", space=Space(gamma=Real(0.1, 0.999)))
def series(x: Instance) -> Slacks:
    rest = 1.0 - x.gamma**2
    total = math.fsum(rest**t for t in range(1, 4001))
    yield at_most(total, rest / x.gamma**2, "Σ (1 − γ²)^t, (1 − γ²)/γ²")
    yield equal(total, rest / x.gamma**2, "the limit")


series.step(space=GEOMETRIC)(geometric)

"""GB11, Theorem 5: Algorithm 2 without strong convexity."""

import math
from collections.abc import Iterator
from fractions import Fraction

from relaxboost.claims.gb11.algebra import (
    EDGES,
    GEOMETRIC,
    PARTS,
    by_parts,
    factors,
    geometric,
)
from relaxboost.claims.gb11.problems import RUNS, STRONG, Descent, Kinks, space
from relaxboost.claims.gb11.repeated import error, lengths_double, strongly, wasted, weakly
from relaxboost.claims.gb11.source import SOURCE
from relaxboost.claims.language import *

_TAN = 0.5773502691896257
"""tan 30°."""


@SOURCE.claim(
    "T5-h",
    space=STRONG,
    counterexamples=[
        {"H": [[7, 7], [4, -4]], "A": [[0, 0]], "y": [0, 0], "f0": [-33, -56], "lam": 1, "T": 2},
        {
            "H": [[1, 1], [_TAN, -_TAN]],
            "A": [[0, 0]],
            "y": [0, 0],
            "f0": [-1, -3 * _TAN],
            "lam": 1,
            "T": 2,
        },
    ],
).checked(trials=60)
def double(x: Instance) -> Slacks:
    yield from lengths_double(x, 1.0)


@double.corrected()
def lengths_corrected(x: Instance) -> Slacks:
    run = strongly(x)
    for before, after, direction in run.moves():
        size, t = run.norm(before.gradient), after.round
        if size > 1e-9:
            ratio = run.norm(direction.values) / size
            most = 1.0 if t == 1 else 1.0 + wasted(min(map(abs, direction.edges))) ** t
            yield at_most(ratio, most, "‖h_t‖/‖∇_t‖", t)


@lengths_corrected.step()
def _(x: Instance) -> Slacks:
    run = strongly(x)
    for before, after, direction in run.moves():
        size, t = run.norm(before.gradient), after.round
        if size > 1e-9:
            rest = run.norm(before.gradient - direction.values) / size
            yield at_most(rest, wasted(min(map(abs, direction.edges))) ** t + 1e-8, "‖r_t‖", t)
            if t == 1:
                square = (run.norm(direction.values) / size) ** 2 + rest**2
                yield equal(square, 1.0, "(‖h_1‖² + ‖r_1‖²)/‖∇_1‖²", t)


AVERAGES = space(index=Choice("f_1..f_T", "f_0..f_{T−1}"))


@SOURCE.claim("T5", space=AVERAGES).checked(trials=60)
def convex(x: Instance) -> Slack:
    run = weakly(x)
    t = run.last
    gamma, F, G = run.gamma(t), run.radius(t), run.gradients(t)
    right = F**2 / 2.0 / math.sqrt(t) + G**2 / math.sqrt(t)
    right += 2.0 * F * G * (1.0 - gamma**2) / gamma**2
    return at_most(run.mean(t, x.index != "f_1..f_T"), right, f"mean gap of {x.index}", t)


@convex.corrected()
def convex_corrected(x: Instance, centre: Array | None = None) -> Slacks:
    run, proof = weakly(x), x.index != "f_1..f_T"
    for t in range(1, run.last + 1):
        q, G = wasted(run.gamma(t)), run.gradients(t)
        D = run.radius(t, centre) * (2.0 if centre is None else 1.0)
        right = (D**2 / 2.0 + G**2) / math.sqrt(t) + D * G * q / ((1.0 - q) * t)
        yield at_most(run.mean(t, proof), right, f"mean gap of {x.index}", t)


@convex.corrected()
def convex_looser(x: Instance) -> Slacks:
    run, proof = weakly(x), x.index != "f_1..f_T"
    for t in range(1, run.last + 1):
        gamma, F, G = run.gamma(t), run.radius(t), run.gradients(t)
        right = (2.0 * F**2 + 4.0 * G**2) / math.sqrt(t)
        right += 4.0 * F * G * wasted(gamma) / (gamma**2 * t)
        yield at_most(run.mean(t, proof), right, f"mean gap of {x.index}", t)


convex_looser.step(space=EDGES)(factors)


@convex.corrected()
def convex_distance(x: Instance) -> Slacks:
    yield from convex_corrected(x, x.y)


@SOURCE.claim("T5-series", space=Space(gamma=Real(0.05, 0.999)))
def series(x: Instance) -> Slack:
    q = wasted(x.gamma)
    return at_most(_powers(q), 2.0 * q * q / (1.0 - q * q), "Σ q^t, 2(1 − γ²)/γ²")


@series.corrected()
def series_corrected(x: Instance) -> Slack:
    q = wasted(x.gamma)
    return at_most(_powers(q), 2.0 * q / (1.0 - q * q), "Σ q^t, 2 sqrt(1 − γ²)/γ²")


series_corrected.step(space=GEOMETRIC)(geometric)


def _powers(q: float) -> float:
    """Return Σ_{t<=4000} q^t, term by term."""
    return math.fsum(q**t for t in range(1, 4001))


def _sums(x: Instance, run: Descent) -> Iterator[tuple[int, float, float, float, list[float]]]:
    """Yield t and up to it Σ gaps, Σ (η_s/2)‖h_s‖², −Σ <f* − f_s, h_s − ∇_s> and ‖f_s − f*‖²."""
    gaps = lengths = errors = 0.0
    squares: list[float] = []
    for before, after, direction in run.moves():
        h, z, inner = direction.values, before.F - x.y, run.risk.measure.inner
        gaps, lengths = gaps + before.value, lengths + after.step / 2.0 * inner(h, h)
        errors += inner(z, h - before.gradient)
        squares.append(inner(z, z))
        yield after.round, gaps, lengths, errors, squares


def parts(squares: list[float]) -> float:
    """Return −(1/η_1)‖f_1 − f*‖² + Σ_{t<T} ½‖f_{t+1} − f*‖²(1/η_t − 1/η_{t+1}), η_t = 1/√t."""
    rises = (math.sqrt(t) - math.sqrt(t + 1) for t in range(1, len(squares)))
    return sum(s * r / 2.0 for s, r in zip(squares[1:], rises, strict=True)) - squares[0]


@SOURCE.claim("T5-sum", space=RUNS).checked(trials=60)
def summed(x: Instance) -> Slacks:
    run = weakly(x)
    for t, gaps, lengths, errors, squares in _sums(x, run):
        right = lengths - errors - parts(squares)
        size = 1.0 + gaps + lengths + abs(errors)
        yield at_most(gaps / size, (right - squares[0] / 2.0) / size, "Σ gaps, subtracted", t)


@summed.step()
def _(x: Instance) -> Slack:
    risk, z = Kinks(x.A, x.y), x.f0 - x.y
    value, gradient = risk.evaluate(x.f0)
    return at_most(value, risk.measure.inner(gradient, z), "R[f] − R[f*]")


summed.step(space=PARTS)(by_parts)


@SOURCE.claim("T5-display", space=RUNS).checked(trials=60)
def telescoped(x: Instance) -> Slack:
    run = weakly(x)
    *_, (t, gaps, _, errors, squares) = _sums(x, run)
    last = max(squares[-1], run.norm(run.states[-1].F - x.y) ** 2)
    right = math.sqrt(t) * last - errors
    right += (
        run.gradients(t - 1) ** 2 / 2.0 * math.fsum(1.0 / math.sqrt(s) for s in range(1, t + 1))
    )
    return at_most(gaps, right, "Σ gaps, what is subtracted", t)


@telescoped.corrected()
def telescoped_corrected(x: Instance) -> Slacks:
    run = weakly(x)
    for t, gaps, lengths, errors, squares in _sums(x, run):
        right = math.sqrt(t) / 2.0 * max(squares) + lengths - errors
        yield at_most(gaps, right, "Σ gaps, what is subtracted", t)


@telescoped_corrected.step(
    space=Space(sizes={"m": (1, 9)}, squares=Vector("m", 0, 3), rises=Vector("m", 0, 1))
)
def _(x: Instance) -> Slacks:
    rises = [Fraction(1, 10) + r for r in exactly(x.rises)]
    for a in (exactly(x.squares), exactly(0.0 * x.squares + 1.0)):
        total = sum(each * rise / 2 for each, rise in zip(a, rises, strict=True))
        yield at_most(total, max(a) * sum(rises) / 2, "the squares, max a_t/(2η_T)")


@SOURCE.claim("T5-roots", space=Space(T=Whole(1, 2000)))
def roots(x: Instance) -> Slacks:
    total = math.fsum(1.0 / math.sqrt(t) for t in range(1, x.T + 1))
    yield at_most(total, 2.0 * math.sqrt(x.T), "Σ 1/√t, 2√T")
    yield at_most(2.0 * math.sqrt(x.T) - 2.0, total, "2√T − 2, Σ 1/√t")


@roots.step()
def _(x: Instance) -> Slacks:
    t = x.T
    yield at_most(2.0 * (math.sqrt(t + 1) - math.sqrt(t)), t**-0.5, "the next difference")
    yield at_most(t**-0.5, 2.0 * (math.sqrt(t) - math.sqrt(t - 1)), "the last difference")


@convex_corrected.step(space=RUNS)
def _(x: Instance) -> Slacks:
    run = weakly(x)
    for sums, (_, after, _) in zip(_sums(x, run), run.moves(), strict=True):
        t, gaps, lengths, errors, squares = sums
        right = math.sqrt(t) / 2.0 * (max(squares) - run.norm(after.F - x.y) ** 2)
        size = 1.0 + lengths + max(squares)
        yield at_most(gaps / size, (right + lengths - errors) / size, "Σ gaps", t)


@convex_corrected.step(space=RUNS)
def _(x: Instance) -> Slacks:
    run = weakly(x)
    for before, after, direction in run.moves():
        inner, h, v, eta = run.risk.measure.inner, direction.values, before.gradient, after.step
        z, then = before.F - x.y, after.F - x.y
        left = eta * inner(h, h) / 2.0 + inner(v - h, z)
        right = eta * (inner(v, v) - inner(v - h, v - h)) / 2.0 + inner(v - h, then)
        size = 1.0 + abs(left) + inner(v, v)
        yield equal(left / size, right / size, "with z_t, with z_{t+1}", after.round)


def one_more(x: Instance) -> Slack:
    """Measure that one more inverse root fits below the bound of their sum."""
    total = math.fsum(1.0 / math.sqrt(t) for t in range(1, x.T + 1))
    return at_most(total + 1.0 / math.sqrt(x.T), 2.0 * math.sqrt(x.T), "Σ 1/√t + 1/√T, 2√T")


convex_corrected.step(space=roots.space)(one_more)
convex_corrected.step(space=STRONG)(error.stated.check)


def paid(x: Instance) -> Slacks:
    """Measure Fenchel–Young for the square of a distance."""
    root = math.sqrt(x.T)
    for share in (1.0, 0.8, 1.3):
        z = share * x.v / root
        right = root / 2.0 * (z @ z) + x.v @ x.v / (2.0 * root)
        yield at_most(float(x.v @ z), float(right), "<v, z>")


LAST = Space(v=Vector("m", -3, 3), T=Whole(1, 25))
convex_corrected.step(space=LAST)(paid)
_bounded = convex.corrections[0].steps[0]
convex_distance.step(space=RUNS)(_bounded.stated.check)

"""GB11, Theorems 6 and 7: the displays and step sizes of their proofs."""

import math
from collections.abc import Iterator
from fractions import Fraction

from relaxboost.claims.gb11.algebra import EDGES, VECTORS, factors, moved
from relaxboost.claims.gb11.convex import AVERAGES, parts
from relaxboost.claims.gb11.problems import RUNS, STRONG, Descent
from relaxboost.claims.gb11.projections import PAIR, nothing_left
from relaxboost.claims.gb11.repeated import LINE, strongly, weakly
from relaxboost.claims.gb11.residual import residuals
from relaxboost.claims.gb11.source import SOURCE
from relaxboost.claims.language import *
from relaxboost.functional.algorithms import Residual

_CROSS = {"H": [[1, 0], [0, 1]], "A": [[0, 0]], "y": [0, 0], "f0": [1, 1]}


@SOURCE.claim("T6-parts", space=STRONG).checked(trials=60)
def by_parts(x: Instance) -> Slacks:
    run, left, right, last = strongly(x, Residual(), 1.0), 0.0, 0.0, 0.0 * x.y
    for (t, total, h, rest), (before, after, _) in zip(residuals(run), run.moves(), strict=True):
        inner, z, then = run.risk.measure.inner, before.F - x.y, after.F - x.y
        left -= inner(z, h - before.gradient)
        right -= inner(z, h - total) + inner(z, last)
        size = 1.0 + abs(left) + abs(right) + inner(total, total) / x.lam + inner(z, z) * x.lam
        yield equal(left / size, right / size, "Σ <f* − f_t, h_t − ∇_t>", t)
        moved = -inner(z, rest) + after.step * inner(h, rest)
        yield equal(-inner(then, rest) / size, moved / size, "<f* − f_{t+1}, Δ_{t+1}>", t)
        last = rest


by_parts.step(space=VECTORS)(moved)


@SOURCE.claim(
    "T6-eta",
    space=STRONG.but(sizes={"m": (1, 1), "n": (1, 1), "k": (1, 1)}, T=Whole(1, 200)),
    counterexamples=[{**LINE, "f0": [1], "T": 200, "lam": "1/100"}],
).checked(trials=30)
def step_size(x: Instance, factor: float | None = None) -> Slack:
    assume(bool(x.H.any()) and x.f0[0] != x.y[0])
    run = strongly(x, Residual(), x.lam if factor is None else factor)
    t = run.last
    right = 8.0 * run.gradients(t - 1) ** 2 / (x.lam * t) * (1.0 + math.log(t) + 2.0 / t)
    return at_most(run.mean(t, True), right, "mean gap of f_0..f_{T−1}", t)


@step_size.corrected()
def step_size_corrected(x: Instance) -> Slacks:
    yield from step_size(x, 1.0)


step_size_corrected.step(space=PAIR.but(sizes={"m": (1, 1)}))(nothing_left)


def _sums(x: Instance, run: Descent) -> Iterator[tuple[int, float, float, float, float, float]]:
    """Yield t, and up to it Σ gaps, Σ (η_s/2)‖h_s‖² and Σ <η_s h_s, Δ_{s+1}>.

    Then <f* − f_{t+1}, Δ_{t+1}> and ‖f* − f_{t+1}‖².
    """
    gaps = lengths = crossed = 0.0
    for (t, _, h, rest), (before, after, _) in zip(residuals(run), run.moves(), strict=True):
        inner, then = run.risk.measure.inner, after.F - x.y
        gaps, lengths = gaps + before.value, lengths + after.step / 2.0 * inner(h, h)
        crossed += after.step * inner(h, rest)
        yield t, gaps, lengths, crossed, -inner(then, rest), inner(then, then)


@SOURCE.claim("T6-display", space=STRONG, counterexamples=[{**_CROSS, "lam": 1, "T": 1}]).checked(
    trials=60
)
def third(x: Instance) -> Slacks:
    for t, gaps, lengths, crossed, last, square in _sums(x, strongly(x, Residual(), 1.0)):
        right = gaps * lengths - (last - x.lam * t / 2.0 * square) - crossed
        yield at_most(right, 0.0, "the right side, Σ R[f*]", t)


@third.corrected()
def third_corrected(x: Instance) -> Slacks:
    for t, gaps, lengths, crossed, last, square in _sums(x, strongly(x, Residual(), 1.0)):
        right = gaps - lengths + last + x.lam * t / 2.0 * square - crossed
        yield at_most(right, 0.0, "the right side, Σ R[f*]", t)


@third_corrected.step(space=Space(t=Whole(1, 200), lam=Real(0.05, 4.0, log=True)))
def _(x: Instance) -> Slack:
    lam = Fraction(x.lam)
    return equal(lam * x.t - lam * (x.t + 1) + lam, 0, "1/η_t − 1/η_{t+1} + λ")


@SOURCE.claim(
    "T7-display", space=RUNS, counterexamples=[{**_CROSS, "A": [[5, 4]], "T": 1}]
).checked(trials=60)
def seventh(x: Instance, sign: float = -1.0, share: float = 1.0) -> Slacks:
    run, squares = weakly(x, Residual()), []
    for (before, _, _), sums in zip(run.moves(), _sums(x, run), strict=True):
        t, gaps, lengths, crossed, last, square = sums
        squares.append(run.norm(before.F - x.y) ** 2)
        right = gaps + parts(squares) + (1.0 - share) * squares[0]
        right += sign * last + math.sqrt(t) / 2.0 * square - lengths - crossed
        size = 1.0 + gaps + lengths + abs(last)
        yield at_most(right / size, 0.0, "the right side, Σ R[f*]", t)


@seventh.corrected()
def seventh_corrected(x: Instance) -> Slacks:
    yield from seventh(x, 1.0, 0.5)


seventh_corrected.step(space=VECTORS)(moved)


@SOURCE.claim(
    "T7-c",
    space=AVERAGES,
    counterexamples=[{**_CROSS, "A": [[20, 16]], "index": "f_1..f_T", "T": 1}],
).checked(trials=60)
def lengths_of_residuals(x: Instance, factor: float | None = None) -> Slacks:
    run = weakly(x, Residual())
    c = 2.0 / run.gamma(run.last) ** 2
    for t, _, _, left in residuals(run):
        G = 1.0 if factor is None else factor * run.gradients(t - 1)
        yield at_most(run.norm(left), c * G, "‖Δ_{t+1}‖, c", t)


@lengths_of_residuals.corrected()
def lengths_of_residuals_corrected(x: Instance) -> Slacks:
    yield from lengths_of_residuals(x, 1.0)


lengths_of_residuals_corrected.step(space=EDGES)(factors)

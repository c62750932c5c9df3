"""GB11, Theorem 4: Algorithm 2, which projects the gradient t times in round t."""

import math
from collections.abc import Iterator

import numpy as np

from relaxboost.claims.gb11.problems import STRONG, Descent, Kinks, spans
from relaxboost.claims.gb11.projections import PAIR, at_best
from relaxboost.claims.gb11.source import SOURCE
from relaxboost.claims.language import *
from relaxboost.functional.algorithms import Algorithm, Direction, Repeated
from relaxboost.functional.rounds import BoostState

LINE = {"H": [[1]], "y": [0], "A": [[0]], "lam": 1}
"""R[f] = f²/2 on one point."""


def strongly(x: Instance, algorithm: Algorithm | None = None, factor: float = 2.0) -> Descent:
    """Run Algorithm 2, or another, with η_t = 2/(λt), or another factor."""
    spans(x)
    step = lambda t: factor / (x.lam * t)  # noqa: E731
    run = Descent(Kinks(x.A, x.y, x.lam), x.H, x.f0, algorithm or Repeated(), step, x.T)
    assume(run.last > 0)
    return run


def weakly(
    x: Instance, algorithm: Algorithm | None = None, first: float = 1.0, power: float = 0.5
) -> Descent:
    """Run Algorithm 2, or another, with η_t = first/t^power, without strong convexity."""
    spans(x)
    step = lambda t: first / t**power  # noqa: E731
    run = Descent(Kinks(x.A, x.y), x.H, x.f0, algorithm or Repeated(), step, x.T)
    assume(run.last > 0)
    return run


def wasted(gamma: float) -> float:
    """Return q = sqrt(1 − γ²), what a projection leaves over."""
    return math.sqrt(max(0.0, 1.0 - gamma * gamma))


class Printed(Algorithm):
    """Algorithm 2 as printed: the residual loses h_k, whatever multiple of it is taken."""

    def __init__(self, H: Array) -> None:
        self.H = H

    def direction(self, gradient, project, t):  # type: ignore[no-untyped-def]
        """Return Σ_k (<h_k, ∇'>/‖h_k‖²) h_k for ∇' ← ∇' − h_k."""
        left, parts = gradient.copy(), []
        for _ in range(t):
            found = project(left)
            if found is None:
                break
            parts.append(found)
            left = left - self.H[:, found.hypothesis.index] * (
                1.0 if found.coefficient >= 0 else -1.0
            )
        values = sum((part.point for part in parts), np.zeros_like(gradient))
        return Direction(tuple(parts), values)


def _bound(G: float, gamma: float, lam: float, T: int) -> float:
    """Return G²/(λT) (1 + ln T + (1 − γ²)/γ²), the bound of Theorem 4."""
    return G**2 / (lam * T) * (1.0 + math.log(T) + (1.0 - gamma**2) / gamma**2)


def bound4(run: Descent, lam: float, upto: int, proof: bool = False) -> float:
    """Return the bound of Theorem 4 for the first rounds of a run.

    G is over f_0..f_T, or, for the average of f_0..f_{T−1}, without the last of them.
    """
    return _bound(run.gradients(upto - proof), run.gamma(upto), lam, upto)


@SOURCE.claim("Alg2", space=STRONG, counterexamples=[{**LINE, "f0": ["3/4"], "T": 20}]).checked(
    trials=60
)
def printed(x: Instance) -> Slacks:
    run = strongly(x, Printed(x.H))
    gamma = spans(x)
    for t in range(1, run.last + 1):
        bound = _bound(run.gradients(t), gamma, x.lam, t)
        if not (math.isfinite(bound) and np.isfinite(run.gaps[t])):
            return
        if t == run.last:
            yield at_most(run.mean(t, False), bound, "mean gap of f_1..f_T", t)


@printed.corrected()
def printed_corrected(x: Instance) -> Slacks:
    run = strongly(x)
    bound = bound4(run, x.lam, run.last)
    yield at_most(run.mean(run.last, False), bound, "mean gap of f_1..f_T", run.last)
    inner = run.risk.measure.inner
    for before, _, direction in run.moves():
        left = before.gradient
        for part in direction.parts:
            size = inner(before.gradient, before.gradient)
            off = (inner(part.point, left) - inner(part.point, part.point)) / size
            yield equal(off, 0.0, "<h_k, ∇'> − ‖h_k‖² for the nearest point", before.round + 1)
            left = left - part.point


printed_corrected.step(space=PAIR)(at_best)


@SOURCE.claim("T4", space=STRONG).checked(trials=150)
def strong(x: Instance) -> Slacks:
    run = strongly(x)
    for t in range(1, run.last + 1):
        for proof, points in ((True, "f_0..f_{T−1}"), (False, "f_1..f_T")):
            bound = bound4(run, x.lam, t, proof)
            yield at_most(run.mean(t, proof), bound, f"mean gap of {points}", t)


def pieces(x: Instance) -> Iterator[tuple[BoostState, int, Array, Array, Array, Descent]]:
    """Yield the state before each round, t, h_t, z_t, z_{t+1}, and the run."""
    run = strongly(x)
    for before, after, direction in run.moves():
        z, then = before.F - x.y, after.F - x.y
        yield before, after.round, direction.values, z, then, run


@strong.step()
def _(x: Instance) -> Slacks:
    for before, t, h, z, then, run in pieces(x):
        inner, r, v = run.risk.measure.inner, before.gradient - h, before.gradient
        left = inner(h, h) / (x.lam * t) + inner(r, z)
        right = (inner(v, v) - inner(r, r)) / (x.lam * t) + inner(r, then)
        size = 1.0 + inner(v, v) / x.lam + abs(left)
        yield equal(left / size, right / size, "with z_t, with z_{t+1}", t)


@strong.step()
def _(x: Instance) -> Slacks:
    for before, t, h, _, then, run in pieces(x):
        inner, r = run.risk.measure.inner, before.gradient - h
        yield at_most(inner(r, then), x.lam / 4.0 * inner(then, then) + inner(r, r) / x.lam, "", t)
        tight = 2.0 / x.lam * r  # where it is an equality
        right = x.lam / 4.0 * inner(tight, tight) + inner(r, r) / x.lam
        yield at_most(inner(r, tight), right, "at z = 2r/λ", t)


@strong.step()
def _(x: Instance) -> Slacks:
    for before, t, _, z, _, run in pieces(x):
        inner = run.risk.measure.inner
        right = inner(before.gradient, z) - x.lam / 2.0 * inner(z, z)
        yield at_most(before.value, right, "gap", t)


@strong.step()
def _(x: Instance) -> Slacks:
    left = right = size = 0.0
    for _, t, h, z, then, run in pieces(x):
        inner = run.risk.measure.inner
        left += inner(h, z)
        right += inner(h, h) / (x.lam * t) + x.lam / 4.0 * inner(z, z)
        size += 1.0 + inner(h, h) / x.lam
        rest = x.lam * t / 4.0 * inner(then, then)
        yield equal(left / size, (right - rest) / size, "Σ <h_t, z_t>", t)


@strong.step()
def _(x: Instance) -> Slacks:
    yield from _left_over(strongly(x))


@strong.step(space=Space(T=Whole(1, 200)))
def _(x: Instance) -> Slack:
    if x.T < 3:
        return at_most(x.T / 2.0, 1.0 + math.log(x.T), "T gaps of G²/(2λ)")
    harmonic = math.fsum(1.0 / t for t in range(1, x.T + 2))
    return at_most(harmonic, 1.0 + math.log(x.T), "Σ_{t≤T+1} 1/t")


def _left_over(run: Descent) -> Slacks:
    """Compare ‖∇_t − h_t‖² with (1 − γ²)^t ‖∇_t‖², γ the least edge of the round."""
    for before, after, direction in run.moves():
        size = run.norm(before.gradient) ** 2
        if size > 1e-18:
            rest = run.norm(before.gradient - direction.values) ** 2
            least = min(1.0, *map(abs, direction.edges))
            power = (1.0 - least**2) ** after.round
            yield at_most(rest / size, power, "‖∇_t − h_t‖²/‖∇_t‖²", after.round)


@SOURCE.claim("T4-sharp", space=STRONG)
def strong_sharp(x: Instance) -> Slacks:
    run, total, harmonic, powers = strongly(x), 0.0, 0.0, 0.0
    q = wasted(run.gamma(run.last))
    first = x.lam / 4.0 * run.norm(x.f0 - x.y) ** 2
    for before, after, direction in run.moves():
        t = after.round
        rest = run.norm(before.gradient - direction.values) ** 2
        total += run.norm(before.gradient) ** 2 / t + (1.0 - 1.0 / t) * rest
        gaps = float(run.gaps[:t].sum())
        yield at_most(gaps, total / x.lam - first, "Σ gaps of f_0..f_{T−1}", t)
        harmonic, powers = harmonic + 1.0 / t, powers + (1.0 - 1.0 / t) * q ** (2 * t)
        G = run.gradients(t - 1)
        right = G**2 * (harmonic + powers)
        yield at_most(total, right * (1.0 + 1e-12), "Σ ‖∇‖²/t + ..., by G and γ", t)


for _step in strong.stated.steps[:5]:
    strong_sharp.step()(_step.stated.check)


@SOURCE.claim("T4-proof", space=STRONG).checked(trials=60)
def strong_proof(x: Instance) -> Slacks:
    run = strongly(x)
    for t in range(1, run.last + 1):
        q = wasted(run.gamma(t))
        yield at_most(run.mean(t, True), 4.0 * bound4(run, x.lam, t, True), "mean gap, 4G²", t)
        more = -math.log((1.0 - q) ** 2 * (1.0 - q * q)) * run.gradients(t) ** 2 / (x.lam * t)
        yield at_most(run.mean(t, True), bound4(run, x.lam, t) + more, "mean gap, G² and ln", t)


@strong_proof.step(space=Space(q=Real(0, 0.999)))
def _(x: Instance) -> Slack:
    return at_most((1.0 - x.q) ** 2 * (1.0 - x.q**2), 1.0, "(1 − q)²(1 − q²), 1")


@SOURCE.claim("T4-h", space=STRONG).checked(trials=60)
def lengths_double(x: Instance, factor: float = 2.0) -> Slacks:
    run = strongly(x)
    for before, after, direction in run.moves():
        size = run.norm(before.gradient)
        if size > 1e-9:
            ratio = run.norm(direction.values) / size
            yield at_most(ratio, factor, "‖h_t‖/‖∇_t‖", after.round)


lengths_double.step()(strong.stated.steps[4].stated.check)


@SOURCE.claim("T4-error", space=STRONG).checked(trials=60)
def error(x: Instance) -> Slacks:
    yield from _left_over(strongly(x))


@error.step()
def _(x: Instance) -> Slacks:
    run = strongly(x)
    for before, after, direction in run.moves():
        left, first = before.gradient, run.norm(before.gradient) ** 2
        for part in direction.parts:
            share = 1.0 - part.edge**2
            square, left = run.norm(left) ** 2, left - part.point
            name = "‖∇' − h'_k‖², (1 − g²)‖∇'‖²"
            yield equal(run.norm(left) ** 2 / first, share * square / first, name, after.round)


PLANE = STRONG.but(sizes={"m": (2, 2), "n": (1, 2), "k": (1, 2)}, T=Whole(40, 100))


@SOURCE.claim("D1-gradients", space=PLANE).checked(trials=12)
def gradients_only(x: Instance, residuals: bool = False) -> Slack:
    assume(bool(np.abs(x.H).sum(axis=0).all()))
    step = lambda t: 2.0 / (x.lam * t)  # noqa: E731
    run = Descent(Kinks(x.A, x.y, x.lam), x.H, x.f0, Repeated(), step, x.T)
    assume(run.last == x.T)
    gamma = 1.0
    for before, after, direction in run.moves():
        edges = direction.edges
        if residuals:
            rest = run.norm(before.gradient - direction.values)
            stopped = len(edges) < after.round and rest > 1e-9
            gamma = min(gamma, *map(abs, edges), 0.0 if stopped else 1.0)
        else:
            gamma = min(gamma, abs(edges[0]))
    assume(gamma > 0.05)
    right = _bound(run.gradients(x.T), gamma, x.lam, x.T)
    return at_most(run.mean(x.T, True), right, "mean gap of f_0..f_{T−1}", x.T)


@gradients_only.corrected()
def gradients_and_residuals(x: Instance) -> Slacks:
    yield from gradients_only(x, True)

"""GB11, Theorem 4: Algorithm 2, which projects the gradient t times in round t."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from relaxboost.claims.gb11.problems import STRONG, Descent, Kinks, Step, spans
from relaxboost.claims.gb11.projections import PAIR, at_best
from relaxboost.claims.gb11.source import SOURCE
from relaxboost.claims.language import *
from relaxboost.functional.algorithms import Algorithm, Direction, Repeated


def strongly(x: Instance, algorithm: Algorithm | None = None, factor: float = 2.0) -> Descent:
    """Run Algorithm 2, or another, with η_t = 2/(λt), or another factor."""
    return _run(x, x.lam, algorithm, lambda t, *_: factor / (x.lam * t))


def weakly(
    x: Instance, algorithm: Algorithm | None = None, first: float = 1.0, power: float = 0.5
) -> Descent:
    """Run Algorithm 2, or another, with η_t = first/t^power, without strong convexity."""
    return _run(x, 0.0, algorithm, lambda t, *_: first / t**power)


def _run(x: Instance, lam: float, algorithm: Algorithm | None, step: Step) -> Descent:
    spans(x)
    run = Descent(Kinks(x.A, x.y, lam), x.H, x.f0, algorithm or Repeated(), step, x.T)
    assume(run.last > 0)
    return run


def wasted(gamma: float) -> float:
    """Return q = sqrt(1 − γ²), what a projection leaves over."""
    return math.sqrt(max(0.0, 1.0 - gamma * gamma))


def means(run: Descent, bound: Callable[[int, bool], float]) -> Slacks:
    """Compare the mean gaps of f_0..f_{t−1} and of f_1..f_t with a bound, in every round."""
    for t in range(1, run.last + 1):
        for proof, points in ((True, "f_0..f_{T−1}"), (False, "f_1..f_T")):
            yield at_most(run.mean(t, proof), bound(t, proof), f"mean gap of {points}", t)


class _Printed(Algorithm):
    """Algorithm 2 as printed: the residual loses h_k, whatever multiple of it is taken."""

    def __init__(self, H: Array) -> None:
        self.H = H

    def direction(self, gradient, project, t):  # type: ignore[no-untyped-def]
        left = gradient.copy()
        parts: list[Any] = []
        while len(parts) < t and (found := project(left)) is not None:
            parts.append(found)
            left = left - self.H[:, found.hypothesis.index] * math.copysign(1.0, found.coefficient)
        return Direction(tuple(parts), sum((part.point for part in parts), 0.0 * gradient))


def bound4(
    run: Descent, lam: float, T: int, proof: bool = False, gamma: float | None = None
) -> float:
    """Return G²/(λT) (1 + ln T + (1 − γ²)/γ²), the bound of Theorem 4.

    G is over f_0..f_T, or, for the average of f_0..f_{T−1}, without the last of them.
    """
    G, gamma = run.gradients(T - proof), gamma or run.gamma(T)
    return G**2 / (lam * T) * (1.0 + math.log(T) + (1.0 - gamma**2) / gamma**2)


@SOURCE.claim("Alg2", space=STRONG).checked(trials=60)
def printed(x: Instance) -> Slack:
    run = strongly(x, _Printed(x.H))
    bound = bound4(run, x.lam, run.last, gamma=spans(x))
    assume(math.isfinite(bound) and bool(np.isfinite(run.gaps[-1])))
    return at_most(run.mean(run.last, False), bound, "mean gap of f_1..f_T", run.last)


@printed.corrected()
def printed_corrected(x: Instance) -> Slacks:
    yield from strong(x)


printed_corrected.step(space=PAIR)(at_best)


@SOURCE.claim("T4", space=STRONG).checked(trials=150)
def strong(x: Instance) -> Slacks:
    run = strongly(x)
    yield from means(run, lambda t, proof: bound4(run, x.lam, t, proof))


@strong.step()
def paired(x: Instance) -> Slacks:
    run = strongly(x)
    for before, after, direction in run.moves():
        inner, h, v, eta = run.risk.measure.inner, direction.values, before.gradient, after.step
        z, then, r = before.F - x.y, after.F - x.y, v - h
        left = eta * inner(h, h) / 2.0 + inner(r, z)
        right = eta * (inner(v, v) - inner(r, r)) / 2.0 + inner(r, then)
        size = 1.0 + inner(v, v) / x.lam + abs(left)
        yield equal(left / size, right / size, "with z_t, with z_{t+1}", after.round)


@strong.step(space=Space(T=Whole(1, 200)))
def _(x: Instance) -> Slack:
    if x.T < 3:
        return at_most(x.T / 2.0, 1.0 + math.log(x.T), "T gaps of G²/(2λ)")
    harmonic = math.fsum(1.0 / t for t in range(1, x.T + 2))
    return at_most(harmonic, 1.0 + math.log(x.T), "Σ_{t≤T+1} 1/t")


@SOURCE.claim("T4-sharp", space=STRONG)
def strong_sharp(x: Instance) -> Slacks:
    run, total, harmonic, powers = strongly(x), 0.0, 0.0, 0.0
    q = wasted(run.gamma(run.last))
    first = x.lam / 4.0 * run.norm(x.f0 - x.y) ** 2
    for before, after, direction in run.moves():
        t = after.round
        rest = run.norm(before.gradient - direction.values) ** 2
        total += run.norm(before.gradient) ** 2 / t + (1.0 - 1.0 / t) * rest
        yield at_most(float(run.gaps[:t].sum()), total / x.lam - first, "Σ gaps of f_0..", t)
        harmonic, powers = harmonic + 1.0 / t, powers + (1.0 - 1.0 / t) * q ** (2 * t)
        right = run.gradients(t - 1) ** 2 * (harmonic + powers)
        yield at_most(total, right * (1.0 + 1e-12), "Σ ‖∇‖²/t + ..., by G and γ", t)


strong_sharp.step()(paired.stated.check)


PLANE = STRONG.but(sizes={"m": (2, 2), "n": (1, 2), "k": (1, 2)}, T=Whole(40, 100))


@SOURCE.claim("D1-gradients", space=PLANE).checked(trials=12)
def gradients_only(x: Instance) -> Slack:
    assume(bool(np.abs(x.H).sum(axis=0).all()))
    step = lambda t, *_: 2.0 / (x.lam * t)  # noqa: E731
    run = Descent(Kinks(x.A, x.y, x.lam), x.H, x.f0, Repeated(), step, x.T)
    assume(run.last == x.T)
    gamma = min(abs(direction.edges[0]) for _, _, direction in run.moves())
    assume(gamma > 0.05)
    right = bound4(run, x.lam, x.T, gamma=gamma)
    return at_most(run.mean(x.T, True), right, "mean gap of f_0..f_{T−1}", x.T)


@gradients_only.corrected()
def gradients_and_residuals(x: Instance) -> Slacks:
    yield from strong(x)


gradients_and_residuals.step(space=STRONG)(paired.stated.check)


@SOURCE.claim("T4-G", space=STRONG.but(G=Real(0.1, 10.0, log=True)))
def bounded(x: Instance) -> Slack:
    risk = Kinks(x.A, x.y, x.lam)
    return at_most(risk.measure.norm(risk.evaluate(x.f0)[1]), x.G, "‖∇R[f]‖, G")


@bounded.corrected()
def bounded_corrected(x: Instance) -> Slack:
    risk = Kinks(x.A, x.y, x.lam)
    right = x.lam * risk.measure.norm(x.f0 - x.y)
    return at_least(risk.measure.norm(risk.evaluate(x.f0)[1]), right, "‖∇R[f]‖, λ‖f − f*‖")


@bounded_corrected.step()
def _(x: Instance) -> Slack:
    risk, away = Kinks(x.A, x.y, x.lam), x.f0 - x.y
    left = risk.measure.inner(risk.evaluate(x.f0)[1], away)
    return at_least(left, x.lam * risk.measure.inner(away, away), "<∇R[f], f − f*>")

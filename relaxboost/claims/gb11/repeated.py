"""GB11, Theorem 4: Algorithm 2, which makes t projections of the gradient in round t."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from relaxboost.claims.gb11 import SOURCE
from relaxboost.claims.gb11.problems import STRONG, Descent, Kinks, Step, spans
from relaxboost.claims.gb11.projections import PAIR, at_best
from relaxboost.claims.language import *
from relaxboost.functional.algorithms import Algorithm, Direction, Repeated


def strongly(x: Instance, algorithm: Algorithm | None = None, factor: float = 2.0) -> Descent:
    """Run an algorithm, by default Algorithm 2, with the step sizes η_t = factor/(λt)."""
    return _run(x, x.lam, algorithm, lambda t, *_: factor / (x.lam * t))


def weakly(
    x: Instance, algorithm: Algorithm | None = None, first: float = 1.0, power: float = 0.5
) -> Descent:
    """Run an algorithm, by default Algorithm 2, on a functional with λ = 0.

    The step size in round t is `first` / t^`power`.
    """
    return _run(x, 0.0, algorithm, lambda t, *_: first / t**power)


def _run(x: Instance, lam: float, algorithm: Algorithm | None, step: Step) -> Descent:
    spans(x)
    run = Descent(Kinks(x.A, x.y, lam), x.H, x.f0, algorithm or Repeated(), step, x.T)
    assume(run.last > 0)
    return run


def wasted(gamma: float) -> float:
    """Return q = sqrt(1 − γ²), which bounds ‖residual‖/‖gradient‖ for a projection with edge γ."""
    return math.sqrt(max(0.0, 1.0 - gamma * gamma))


def means(run: Descent, bound: Callable[[int, float, float], float]) -> Slacks:
    """Yield, for each round t, the slacks of a bound on two mean gaps R[f] − R[f*].

    The first mean is over f_0, ..., f_{t−1}, and the second over f_1, ..., f_t. `bound` is a
    function of t, the least edge γ of the rounds up to t, and the largest gradient norm G at the
    functions from f_0 to f_{t−1} or f_t, respectively.
    """
    for t in range(1, run.last + 1):
        for proof, points in ((True, "f_0..f_{T−1}"), (False, "f_1..f_T")):
            most = bound(t, run.gamma(t), run.gradients(t - proof))
            yield at_most(run.mean(t, proof), most, f"mean gap of {points}", t)


class _Printed(Algorithm):
    """Algorithm 2 as printed, which subtracts h_k from the residual without its coefficient."""

    def __init__(self, H: Array) -> None:
        self.H = H

    def direction(self, gradient, project, t):  # type: ignore[no-untyped-def]
        left = gradient.copy()
        parts: list[Any] = []
        while len(parts) < t and (found := project(left)) is not None:
            parts.append(found)
            left = left - self.H[:, found.hypothesis.index] * math.copysign(1.0, found.coefficient)
        return Direction(tuple(parts), sum((part.point for part in parts), 0.0 * gradient))


def bound4(lam: float, T: int, gamma: float, G: float) -> float:
    """Return G²/(λT) (1 + ln T + (1 − γ²)/γ²), the bound of Theorem 4 on the mean gap.

    The functional is λ-strongly convex, T is the number of rounds, γ is the edge, and G is the
    largest gradient norm.
    """
    return G**2 / (lam * T) * (1.0 + math.log(T) + (1.0 - gamma**2) / gamma**2)


@SOURCE.claim("Alg2", space=STRONG).checked(trials=60)
def printed(x: Instance) -> Slack:
    run = strongly(x, _Printed(x.H))
    bound = bound4(x.lam, run.last, spans(x), run.gradients(run.last))
    assume(math.isfinite(bound) and bool(np.isfinite(run.gaps[-1])))
    return at_most(run.mean(run.last, False), bound, "mean gap of f_1..f_T", run.last)


@SOURCE.claim("T4", space=STRONG).checked(trials=150)
def strong(x: Instance) -> Slacks:
    yield from means(strongly(x), lambda *at: bound4(x.lam, *at))


printed_corrected = printed.corrected()(strong.stated.check)
printed_corrected.step(space=PAIR)(at_best)


@strong.step()
def paired(x: Instance) -> Slacks:
    run = strongly(x)
    inner = run.risk.measure.inner
    for before, after, direction in run.moves():
        h = direction.values
        v = before.gradient
        eta = after.step
        z = before.F - x.y
        then = after.F - x.y
        r = v - h
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
    run = strongly(x)
    total = harmonic = powers = 0.0
    q = wasted(run.gamma(run.last))
    first = x.lam / 4.0 * run.norm(x.f0 - x.y) ** 2
    for before, after, direction in run.moves():
        t = after.round
        rest = run.norm(before.gradient - direction.values) ** 2
        total += run.norm(before.gradient) ** 2 / t + (1.0 - 1.0 / t) * rest
        yield at_most(float(run.gaps[:t].sum()), total / x.lam - first, "Σ gaps of f_0..", t)
        harmonic += 1.0 / t
        powers += (1.0 - 1.0 / t) * q ** (2 * t)
        right = run.gradients(t - 1) ** 2 * (harmonic + powers)
        yield at_most(total, right * (1.0 + 1e-12), "Σ ‖∇‖²/t + ..., by G and γ", t)


strong_sharp.step()(paired.stated.check)

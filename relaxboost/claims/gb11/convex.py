"""GB11, Theorem 5: the rate of Algorithm 2 on functionals that are not strongly convex."""

import math

from relaxboost.claims.gb11 import SOURCE
from relaxboost.claims.gb11.problems import RUNS, STRONG
from relaxboost.claims.gb11.repeated import means, paired, strongly, wasted, weakly
from relaxboost.claims.language import *


@SOURCE.claim("T5-h", space=STRONG).checked(trials=60)
def double(x: Instance) -> Slacks:
    run = strongly(x)
    for before, after, direction in run.moves():
        ratio = run.norm(direction.values) / run.norm(before.gradient)
        yield at_most(ratio, 1.0, "‖h_t‖/‖∇_t‖", after.round)


@double.corrected()
def lengths_corrected(x: Instance) -> Slacks:
    run = strongly(x)
    for before, after, direction in run.moves():
        size = run.norm(before.gradient)
        t = after.round
        if size > 1e-9:
            power = (1.0 - min(1.0, *map(abs, direction.edges)) ** 2) ** t
            rest = run.norm(before.gradient - direction.values) / size
            yield at_most(rest**2, power, "‖∇_t − h_t‖²/‖∇_t‖²", t)
            most = 1.0 if t == 1 else 1.0 + math.sqrt(power)
            yield at_most(run.norm(direction.values) / size, most, "‖h_t‖/‖∇_t‖", t)


@lengths_corrected.step()
def _(x: Instance) -> Slacks:
    run = strongly(x)
    for before, after, direction in run.moves():
        left = before.gradient
        first = run.norm(before.gradient) ** 2
        for part in direction.parts:
            share = 1.0 - part.edge**2
            square = run.norm(left) ** 2
            left = left - part.point
            yield equal(run.norm(left) ** 2 / first, share * square / first, "", after.round)


@SOURCE.claim("T5", space=RUNS).checked(trials=60)
def convex(x: Instance) -> Slacks:
    run = weakly(x)
    F = run.radius(run.last)

    def bound(t: int, gamma: float, G: float) -> float:
        return (F**2 / 2.0 + G**2) / math.sqrt(t) + 2.0 * F * G * (1.0 - gamma**2) / gamma**2

    yield from list(means(run, bound))[-2:]


@convex.corrected()
def convex_corrected(x: Instance) -> Slacks:
    run = weakly(x)

    def bound(t: int, gamma: float, G: float) -> float:
        q = wasted(gamma)
        D = 2.0 * run.radius(t)
        return (D**2 / 2.0 + G**2) / math.sqrt(t) + D * G * q / ((1.0 - q) * t)

    yield from means(run, bound)


@convex_corrected.step()
def _(x: Instance) -> Slacks:
    run = weakly(x)
    gaps = others = most = 0.0
    inner = run.risk.measure.inner
    for before, after, direction in run.moves():
        h = direction.values
        z = before.F - x.y
        gaps += before.value
        most = max(most, inner(z, z))
        others += after.step / 2.0 * inner(h, h) + inner(z, before.gradient - h)
        size = 1.0 + abs(others) + most
        gain = most - run.norm(after.F - x.y) ** 2
        right = math.sqrt(after.round) / 2.0 * gain + others
        yield at_most(gaps / size, right / size, "Σ gaps", after.round)


convex_corrected.step(space=STRONG)(paired.stated.check)


@convex_corrected.step(space=Space(T=Whole(1, 2000)))
def _(x: Instance) -> Slack:
    total = math.fsum(1.0 / math.sqrt(t) for t in range(1, x.T + 1))
    return at_most(total + 1.0 / math.sqrt(x.T), 2.0 * math.sqrt(x.T), "Σ 1/√t + 1/√T, 2√T")

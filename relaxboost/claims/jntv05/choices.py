"""JNTV05, Sec. 6.1: other proxies, and what they are."""

import math

import numpy as np

from relaxboost.claims.jntv05.formulas import VALUES, modulus, p_norm, powers
from relaxboost.claims.jntv05.proxy import PAIRS
from relaxboost.claims.jntv05.source import SOURCE
from relaxboost.claims.language import *

ANYWHERE = Space(sizes={"n": (2, 6)}, x=Vector("n", -2, 2), y=Vector("n", -2, 2), s=Real(0, 1))
THREE = {"n": (3, 8)}


@SOURCE.claim("Eq35", space=ANYWHERE.but(alpha=Real(1e-6, 1, log=True)))
def eq35(x: Instance) -> Slacks:
    size = x.x.size
    if size == 2:
        p = 1.0 + 1.0 / math.log(2.0)
        e = (x.alpha * p / 4.0) ** (1.0 / (p - 2.0))
        rise = math.expm1(2.0 / p * math.log1p(e**p)) / 2.0
        yield at_most(x.alpha / 2.0, rise / e**2, f"α/2, (V(1, e) − V(1, 0))/e² at e = {e:.3g}")
        return
    h = float(np.abs(x.x - x.y).sum())
    bend = x.s * (1.0 - x.s) / 2.0 * modulus("p-norm", size, 1.0) * h**2
    ends = x.s * p_norm(x.x, 1.0) + (1.0 - x.s) * p_norm(x.y, 1.0)
    yield at_most(p_norm(x.s * x.x + (1.0 - x.s) * x.y, 1.0), ends - bend, "V(sx + (1 − s)y)")


@eq35.corrected()
def eq35_corrected(x: Instance) -> Slacks:
    assume(x.x.size >= 3)
    yield from eq35(x)


@eq35_corrected.step(space=ANYWHERE.but(sizes=THREE))
def _(x: Instance) -> Slack:
    bend = x.s * (1.0 - x.s) / math.log(x.x.size) * p_norm(x.x - x.y, 1.0)
    ends = x.s * p_norm(x.x, 1.0) + (1.0 - x.s) * p_norm(x.y, 1.0)
    return at_most(p_norm(x.s * x.x + (1.0 - x.s) * x.y, 1.0), ends - bend, "V(sx + (1 − s)y)")


@eq35_corrected.step(space=ANYWHERE.but(sizes=THREE))
def _(x: Instance) -> Slacks:
    p = 1.0 + 1.0 / math.log(x.x.size)
    for h in (x.x, np.where(x.x >= 0.0, 1.0, -1.0)):
        most = x.x.size ** (1.0 - 1.0 / p) * math.sqrt(2.0 * p_norm(h, 1.0))
        yield at_most(float(np.abs(h).sum()), most, "‖h‖_1, M^(1 − 1/p) ‖h‖_p")


@SOURCE.claim("Eq35-ratio", space=PAIRS.but(sizes=THREE))
def eq35_ratio(x: Instance) -> Slacks:
    size = x.x.size
    most = p_norm(x.radius * np.eye(size)[0], x.radius)
    yield at_most(p_norm(x.radius * x.x, x.radius), most, "V(θ), V(λe_1)")
    ratio, log = most / modulus("p-norm", size, x.radius), math.log(size)
    exact = x.radius**2 / 2.0 * math.exp(2.0 / (1.0 + 1.0 / log)) * log
    yield equal(ratio, exact, "ratio, (λ²/2) e^(2/p) ln M")
    yield at_most(ratio, math.e**2 / 2.0 * x.radius**2 * log, "ratio, (e²/2) λ² ln M")


@eq35_ratio.step()
def _(x: Instance) -> Slacks:
    p = 1.0 + 1.0 / math.log(x.x.size)
    for theta in (x.x, np.eye(x.x.size)[0]):
        yield at_most(float((theta**p).sum()), 1.0, "Σ (θ_j/λ)^p, 1")


@SOURCE.claim("Eq36", space=PAIRS.but(sizes={"n": (2, 8)}))
def eq36(x: Instance) -> Slacks:
    size = x.x.size
    least = powers(np.full(size, x.radius / size), x.radius)
    yield equal(least, 0, "V at the centre, 0")
    yield at_least(powers(x.radius * x.x, x.radius), 0, "V(θ), 0")


@eq36.step()
def _(x: Instance) -> Slacks:
    s = 1.0 / math.log(x.x.size)
    for theta in (x.x, np.full(x.x.size, 1.0 / x.x.size)):
        total = float(((x.radius * theta) ** (s + 1.0)).sum())
        yield at_least(total, x.radius ** (s + 1.0) / math.e, "Σ (θ_j)^(s+1), λ^(s+1)/e")


@SOURCE.claim("Eq36-strong", space=PAIRS.but(sizes={"n": (2, 8)}))
def eq36_strong(x: Instance) -> Slacks:
    size, a, b = x.x.size, x.radius * x.x, x.radius * x.y
    alpha = modulus("power", size, x.radius)
    bend = x.s * (1.0 - x.s) / 2.0 * alpha * float(np.abs(a - b).sum()) ** 2
    ends = x.s * powers(a, x.radius) + (1.0 - x.s) * powers(b, x.radius)
    yield at_most(powers(x.s * a + (1.0 - x.s) * b, x.radius), ends - bend, "V(sx + (1 − s)y)")
    if size % 2 == 0 and size > 2:
        s = 1.0 / math.log(size)
        yield equal(size ** (1.0 - s) * size / size**2, alpha, "hᵀ∇²V h/‖h‖_1², 1/e")


@eq36_strong.step(space=PAIRS.but(sizes=THREE))
def _(x: Instance) -> Slacks:
    weights = (0.9 * x.x + 0.1 / x.x.size) ** (1.0 - 1.0 / math.log(x.x.size))
    for h in (x.y - x.x, weights):
        least = float(np.abs(h).sum()) ** 2 / float(weights.sum())
        yield at_least(float((h * h / weights).sum()), least, "hᵀ∇²V h, ‖h‖_1²/Σ (θ_j/λ)^(1−s)")


@eq36_strong.step(space=PAIRS.but(sizes=THREE))
def _(x: Instance) -> Slacks:
    for theta in (x.x, np.full(x.x.size, 1.0 / x.x.size)):
        total = float((theta ** (1.0 - 1.0 / math.log(x.x.size))).sum())
        yield at_most(total, math.e, "Σ (θ_j/λ)^(1−s), e")


@eq36_strong.step(space=PAIRS.but(sizes={"n": (2, 2)}))
def _(x: Instance) -> Slacks:
    for theta in (x.x, np.eye(2)[0]):
        total = float((theta ** (1.0 / math.log(2.0) - 1.0)).sum())
        yield at_least(total, 1.0, "Σ (θ_j/λ)^(s−1), 1")


@SOURCE.claim("Eq36-divergence", space=PAIRS.but(sizes={"n": (2, 8)}, radius=Real(1, 1)))
def eq36_divergence(x: Instance) -> Slack:
    s = 1.0 / math.log(x.x.size)
    values = ((x.x.size * x.x) ** (s + 1.0) - 1.0) / (math.e * s * (s + 1.0))
    return equal(powers(x.x, 1.0), float(values.mean()), "V(θ), the divergence")


@eq36_divergence.step()
def _(x: Instance) -> Slacks:
    size = x.x.size
    power = 1.0 / math.log(size) + 1.0
    for theta in x.x:
        left = (size * float(theta)) ** power / size
        yield equal(left, math.e * float(theta) ** power, "(1/M)(Mθ_j)^(s+1), e θ_j^(s+1)")


@SOURCE.claim("divergences", space=PAIRS.but(sizes=THREE, radius=Real(1, 1)))
def divergences(x: Instance) -> Slacks:
    size = x.x.size
    c = 1.0 / (size - 1.0)
    g = (1.0 - c) * size * x.x + c
    value = float((g * np.log(g)).mean()) / (1.0 - c) ** 2
    yield equal(VALUES["tilted"](x.x, 1.0), value, "V(θ), the divergence")
    mixed = VALUES["tilted"](x.s * x.x + (1.0 - x.s) * x.y, 1.0)
    bend = x.s * (1.0 - x.s) / 2.0 * float(np.abs(x.x - x.y).sum()) ** 2
    ends = x.s * value + (1.0 - x.s) * VALUES["tilted"](x.y, 1.0)
    yield at_most(mixed, ends - bend, "V(sx + (1 − s)y)")


@divergences.step()
def _(x: Instance) -> Slack:
    size = x.x.size
    c = 1.0 / (size - 1.0)
    return equal(float(((1.0 - c) * size * x.x + c).mean()), 1.0, "Σ g_j/M, 1")


@divergences.step()
def _(x: Instance) -> Slacks:
    q = 0.9 * x.x + 0.1 / x.x.size
    for h in (x.y - x.x, q):
        yield at_least(float((h * h / q).sum()), float(np.abs(h).sum()) ** 2, "Σ h_j²/q_j, ‖h‖_1²")


@SOURCE.claim("Eq36-ratio", space=PAIRS.but(sizes=THREE))
def eq36_ratio(x: Instance) -> Slacks:
    size, log = x.x.size, math.log(x.x.size)
    most = powers(x.radius * np.eye(size)[0], x.radius)
    yield at_most(powers(x.radius * x.x, x.radius), most, "V(θ), V(λe_1)")
    ratio = most / modulus("power", size, x.radius)
    exact = (math.e - 1.0) * x.radius**2 * log**2 / (1.0 + log)
    yield equal(ratio, exact, "ratio, (e − 1) λ² (ln M)²/(1 + ln M)")
    yield at_most(ratio, (math.e - 1.0) * x.radius**2 * log, "ratio, (e − 1) λ² ln M")


@eq36_ratio.step()
def _(x: Instance) -> Slacks:
    for theta in (x.x, np.eye(x.x.size)[0]):
        total = float((theta ** (1.0 / math.log(x.x.size) + 1.0)).sum())
        yield at_most(total, 1.0, "Σ (θ_j/λ)^(s+1), 1")

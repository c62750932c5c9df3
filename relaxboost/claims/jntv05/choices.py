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
    """It fails for M = 2 only, where p = 2.443 > 2: no α > 0 will do on R².

    V(1, ±e) − V(1, 0) ≤ e^p/p, for small e less than any ce², and (7) asks for αe²/2 at the middle
    of (1, e) and (1, −e). With e = (αp/4)^(1/(p − 2)) the first is at most half of the second. So
    for M = 2 the check takes this e for the α of the data, and for M ≥ 3 the α of the correction.
    """
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


@eq35.corrected(
    "The proxy is strongly convex for M ≥ 3, where p < 2.",
    "(7) with α = e^(−2/p)/ln M ≥ e^(−2)/ln M, M ≥ 3",
)
def eq35_corrected(x: Instance) -> Slacks:
    """M^(p − 1) = e.

    Proof. ‖θ‖_p²/2 is (p − 1)-strongly convex in ‖·‖_p for 1 < p ≤ 2 (1) (Ball, Carlen & Lieb,
    1994), and ‖h‖_p ≥ M^(1/p − 1) ‖h‖_1 (2). (p − 1) M^(2/p − 2) is α.
    """
    assume(x.x.size >= 3)
    yield from eq35(x)


@eq35_corrected.step(
    "Strong convexity in the p-norm.",
    "V(sx + (1 − s)y) ≤ sV(x) + (1 − s)V(y) − ((p − 1)/2) s(1 − s)‖x − y‖_p²",
    space=ANYWHERE.but(sizes=THREE),
)
def _(x: Instance) -> Slack:
    bend = x.s * (1.0 - x.s) / math.log(x.x.size) * p_norm(x.x - x.y, 1.0)
    ends = x.s * p_norm(x.x, 1.0) + (1.0 - x.s) * p_norm(x.y, 1.0)
    return at_most(p_norm(x.s * x.x + (1.0 - x.s) * x.y, 1.0), ends - bend, "V(sx + (1 − s)y)")


@eq35_corrected.step("The two norms.", "‖h‖_1 ≤ M^(1 − 1/p) ‖h‖_p", space=ANYWHERE.but(sizes=THREE))
def _(x: Instance) -> Slacks:
    """Hölder's inequality. Equal where all |h_j| are."""
    p = 1.0 + 1.0 / math.log(x.x.size)
    for h in (x.x, np.where(x.x >= 0.0, 1.0, -1.0)):
        most = x.x.size ** (1.0 - 1.0 / p) * math.sqrt(2.0 * p_norm(h, 1.0))
        yield at_most(float(np.abs(h).sum()), most, "‖h‖_1, M^(1 − 1/p) ‖h‖_p")


@SOURCE.claim("Eq35-ratio", space=PAIRS.but(sizes=THREE))
def eq35_ratio(x: Instance) -> Slacks:
    """Proof. p > 1, so that ‖θ‖_p ≤ ‖θ‖_1 = λ (1), and V is largest at a vertex, λ²/2. Over α."""
    size = x.x.size
    most = p_norm(x.radius * np.eye(size)[0], x.radius)
    yield at_most(p_norm(x.radius * x.x, x.radius), most, "V(θ), V(λe_1)")
    ratio, log = most / modulus("p-norm", size, x.radius), math.log(size)
    exact = x.radius**2 / 2.0 * math.exp(2.0 / (1.0 + 1.0 / log)) * log
    yield equal(ratio, exact, "ratio, (λ²/2) e^(2/p) ln M")
    yield at_most(ratio, math.e**2 / 2.0 * x.radius**2 * log, "ratio, (e²/2) λ² ln M")


@eq35_ratio.step("No p-norm is larger than the 1-norm.", "Σ (θ_j/λ)^p ≤ 1 for Σ θ_j = λ")
def _(x: Instance) -> Slacks:
    """(θ_j/λ)^p ≤ θ_j/λ. Equal at a vertex."""
    p = 1.0 + 1.0 / math.log(x.x.size)
    for theta in (x.x, np.eye(x.x.size)[0]):
        yield at_most(float((theta**p).sum()), 1.0, "Σ (θ_j/λ)^p, 1")


@SOURCE.claim("Eq36", space=PAIRS.but(sizes={"n": (2, 8)}))
def eq36(x: Instance) -> Slacks:
    """What our copy has lost is read so that it is true.

    Proof. The step is Jensen's inequality for the mean of the (θ_j)^(s+1); M^s = e. So
    C_1 Σ (θ_j)^(s+1) ≥ λ^(1−s) λ^(s+1)/(e s(s + 1)) = −C_0, and equal at the centre.
    """
    size = x.x.size
    least = powers(np.full(size, x.radius / size), x.radius)
    yield equal(least, 0, "V at the centre, 0")
    yield at_least(powers(x.radius * x.x, x.radius), 0, "V(θ), 0")


@eq36.step(
    "The sum of powers is least at the centre.", "Σ (θ_j)^(s+1) ≥ λ^(s+1) M^(−s) = λ^(s+1)/e"
)
def _(x: Instance) -> Slacks:
    s = 1.0 / math.log(x.x.size)
    for theta in (x.x, np.full(x.x.size, 1.0 / x.x.size)):
        total = float(((x.radius * theta) ** (s + 1.0)).sum())
        yield at_least(total, x.radius ** (s + 1.0) / math.e, "Σ (θ_j)^(s+1), λ^(s+1)/e")


@SOURCE.claim("Eq36-strong", space=PAIRS.but(sizes={"n": (2, 8)}))
def eq36_strong(x: Instance) -> Slacks:
    """Equal at the centre for even M. For M = 2, s = 1.44 > 1, least at a vertex.

    Proof. ∇²V = diag (λ/θ_j)^(1−s). For M ≥ 3 hᵀ∇²V h ≥ ‖h‖_1²/Σ (θ_j/λ)^(1−s) (1), and that sum is
    at most M^s = e (2). For M = 2 and h = (1, −1) it is Σ (θ_j/λ)^(s−1) ≥ 1 (3), where ‖h‖_1² = 4.
    With second derivatives so bounded along a segment (7) holds, as for JNTV05-D1.
    """
    size, a, b = x.x.size, x.radius * x.x, x.radius * x.y
    alpha = modulus("power", size, x.radius)
    bend = x.s * (1.0 - x.s) / 2.0 * alpha * float(np.abs(a - b).sum()) ** 2
    ends = x.s * powers(a, x.radius) + (1.0 - x.s) * powers(b, x.radius)
    yield at_most(powers(x.s * a + (1.0 - x.s) * b, x.radius), ends - bend, "V(sx + (1 − s)y)")
    if size % 2 == 0 and size > 2:
        s = 1.0 / math.log(size)
        yield equal(size ** (1.0 - s) * size / size**2, alpha, "hᵀ∇²V h/‖h‖_1², 1/e")


@eq36_strong.step(
    "Cauchy and Schwarz.",
    "Σ h_j² (λ/θ_j)^(1−s) ≥ ‖h‖_1²/Σ (θ_j/λ)^(1−s)",
    space=PAIRS.but(sizes=THREE),
)
def _(x: Instance) -> Slacks:
    """Equal where |h_j| ∝ θ_j^(1−s)."""
    weights = (0.9 * x.x + 0.1 / x.x.size) ** (1.0 - 1.0 / math.log(x.x.size))
    for h in (x.y - x.x, weights):
        least = float(np.abs(h).sum()) ** 2 / float(weights.sum())
        yield at_least(float((h * h / weights).sum()), least, "hᵀ∇²V h, ‖h‖_1²/Σ (θ_j/λ)^(1−s)")


@eq36_strong.step("The sum.", "Σ (θ_j/λ)^(1−s) ≤ M^s = e for s ≤ 1", space=PAIRS.but(sizes=THREE))
def _(x: Instance) -> Slacks:
    """A mean of concave functions. Equal at the centre."""
    for theta in (x.x, np.full(x.x.size, 1.0 / x.x.size)):
        total = float((theta ** (1.0 - 1.0 / math.log(x.x.size))).sum())
        yield at_most(total, math.e, "Σ (θ_j/λ)^(1−s), e")


@eq36_strong.step(
    "Two components.", "Σ (θ_j/λ)^(s−1) ≥ 1 for M = 2", space=PAIRS.but(sizes={"n": (2, 2)})
)
def _(x: Instance) -> Slacks:
    """0 < s − 1 < 1. Equal at a vertex."""
    for theta in (x.x, np.eye(2)[0]):
        total = float((theta ** (1.0 / math.log(2.0) - 1.0)).sum())
        yield at_least(total, 1.0, "Σ (θ_j/λ)^(s−1), 1")


@SOURCE.claim("Eq36-divergence", space=PAIRS.but(sizes={"n": (2, 8)}, radius=Real(1, 1)))
def eq36_divergence(x: Instance) -> Slack:
    """f is convex with f(1) = 0.

    Proof. A term is ((1/M)(Mθ_j)^(s+1) − 1/M)/(e s(s + 1)), where the power is e θ_j^(s+1) (1); the
    sum is C_1 Σ θ_j^(s+1) + C_0 for λ = 1.
    """
    s = 1.0 / math.log(x.x.size)
    values = ((x.x.size * x.x) ** (s + 1.0) - 1.0) / (math.e * s * (s + 1.0))
    return equal(powers(x.x, 1.0), float(values.mean()), "V(θ), the divergence")


@eq36_divergence.step("M^s = e.", "(1/M)(Mθ_j)^(s+1) = e θ_j^(s+1)")
def _(x: Instance) -> Slacks:
    size = x.x.size
    power = 1.0 / math.log(size) + 1.0
    for theta in x.x:
        left = (size * float(theta)) ** power / size
        yield equal(left, math.e * float(theta) ** power, "(1/M)(Mθ_j)^(s+1), e θ_j^(s+1)")


@SOURCE.claim("divergences", space=PAIRS.but(sizes=THREE, radius=Real(1, 1)))
def divergences(x: Instance) -> Slacks:
    """They can, and better ones than the entropy.

    Proof. f'' = 1/g > 0 and f(1) = 0. So ∇²V = diag (M/g_j), g_j = g(Mθ_j), where Σ g_j/M = 1 (1),
    and hᵀ∇²V h ≥ ‖h‖_1² (2), which gives (7) with α = 1, as for JNTV05-D1.
    """
    size = x.x.size
    c = 1.0 / (size - 1.0)
    g = (1.0 - c) * size * x.x + c
    value = float((g * np.log(g)).mean()) / (1.0 - c) ** 2
    yield equal(VALUES["tilted"](x.x, 1.0), value, "V(θ), the divergence")
    mixed = VALUES["tilted"](x.s * x.x + (1.0 - x.s) * x.y, 1.0)
    bend = x.s * (1.0 - x.s) / 2.0 * float(np.abs(x.x - x.y).sum()) ** 2
    ends = x.s * value + (1.0 - x.s) * VALUES["tilted"](x.y, 1.0)
    yield at_most(mixed, ends - bend, "V(sx + (1 − s)y)")


@divergences.step("The mean of the g_j.", "Σ ((1 − c)Mθ_j + c)/M = 1")
def _(x: Instance) -> Slack:
    size = x.x.size
    c = 1.0 / (size - 1.0)
    return equal(float(((1.0 - c) * size * x.x + c).mean()), 1.0, "Σ g_j/M, 1")


@divergences.step("Cauchy and Schwarz.", "Σ h_j²/q_j ≥ ‖h‖_1² for Σ q_j = 1")
def _(x: Instance) -> Slacks:
    """Equal where q ∝ |h|."""
    q = 0.9 * x.x + 0.1 / x.x.size
    for h in (x.y - x.x, q):
        yield at_least(float((h * h / q).sum()), float(np.abs(h).sum()) ** 2, "Σ h_j²/q_j, ‖h‖_1²")


@SOURCE.claim("Eq36-ratio", space=PAIRS.but(sizes=THREE))
def eq36_ratio(x: Instance) -> Slacks:
    """Proof. Σ (θ_j/λ)^(s+1) is at most 1 (1), so that V is largest at a vertex, where it is
    λ²(1 − 1/e)/(s(s + 1)). Over α = 1/e (JNTV05-Eq36-strong).
    """
    size, log = x.x.size, math.log(x.x.size)
    most = powers(x.radius * np.eye(size)[0], x.radius)
    yield at_most(powers(x.radius * x.x, x.radius), most, "V(θ), V(λe_1)")
    ratio = most / modulus("power", size, x.radius)
    exact = (math.e - 1.0) * x.radius**2 * log**2 / (1.0 + log)
    yield equal(ratio, exact, "ratio, (e − 1) λ² (ln M)²/(1 + ln M)")
    yield at_most(ratio, (math.e - 1.0) * x.radius**2 * log, "ratio, (e − 1) λ² ln M")


@eq36_ratio.step("The sum of powers is largest at a vertex.", "Σ (θ_j/λ)^(s+1) ≤ 1")
def _(x: Instance) -> Slacks:
    for theta in (x.x, np.eye(x.x.size)[0]):
        total = float((theta ** (1.0 / math.log(x.x.size) + 1.0)).sum())
        yield at_most(total, 1.0, "Σ (θ_j/λ)^(s+1), 1")

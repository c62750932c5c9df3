"""TEL, the proof of the theorem: one round, the lemma on smoothness, and the lemma's proof."""

import math

import numpy as np

from relaxboost.claims.language import *
from relaxboost.claims.tel.classical import TURNING, turning
from relaxboost.claims.tel.source import SOURCE
from relaxboost.claims.votes import RUNS, adaboost, gradient, reweighting, risk, weak_learnability

PAIRS = Space(
    sizes={"m": (1, 6), "n": (1, 4)}, A=Matrix(), w=Vector("n", -2, 2), v=Vector("n", -2, 2)
)
TRIPLES = Space(
    sizes={"m": (1, 6), "n": (1, 4)},
    A=Matrix(),
    u=Vector("n", -2, 2),
    w=Vector("n", -2, 2),
    v=Vector("n", -2, 2),
)

_NODES, _SHARES = np.polynomial.legendre.leggauss(24)
"""On [−1, 1]; exact to rounding for the exponentials integrated here."""


@SOURCE.claim("one-round", space=RUNS.but(w=Vector("n", -2, 2), times=Real(1, 4, log=True)))
def one_round(x: Instance, elsewhere: bool = True) -> Slacks:
    gamma, before = float(weak_learnability(x).lower), np.zeros(x.w.size)
    for t in range(1, x.t + 1):
        g, beta = gradient(x.A, before), x.times * risk(x.A, before)
        j = int(np.argmax(np.abs(g)))
        after = before - g[j] / beta * np.eye(g.size)[j]
        phi = reweighting(x.A, x.w if elsewhere else before)
        gain = float(np.abs(x.A.T @ phi).max()) ** 2 / (2.0 * beta**2)
        level = risk(x.A, before) / beta
        yield at_most(risk(x.A, after) / beta, level - gain, "L_i/β, (L_{i−1} − gain)/β", t)
        weak = gamma**2 * float(phi.sum()) ** 2 / (2.0 * beta**2)
        yield at_most(level - gain, level - weak, "the same, by the WLA", t)
        before = after


@one_round.corrected()
def one_round_corrected(x: Instance) -> Slacks:
    yield from one_round(x, False)


@one_round_corrected.step(space=PAIRS.but(times=Real(1, 4, log=True), s=Real(0, 1)))
def _(x: Instance) -> Slack:
    g, f = gradient(x.A, x.w), risk(x.A, x.w)
    j = int(np.argmax(np.abs(g)))
    there = x.w - x.s * g[j] / (x.times * f) * np.eye(g.size)[j]
    gain = x.s * (1.0 - x.s / 2.0) * float(g[j] / f) ** 2 / x.times
    return at_most(risk(x.A, there) / f, 1.0 - gain, "f(w − sηv)/f(w)")


@SOURCE.claim("L", space=PAIRS).checked(trials=200)
def lemma(x: Instance) -> Slacks:
    for v in (x.v, x.w + (x.v - x.w) / 100.0):
        change = float(np.abs(gradient(x.A, x.w) - gradient(x.A, v)).max())
        level = max(risk(x.A, x.w), risk(x.A, v))
        rounding = 1e-14 * level  # of the two gradients, which may nearly cancel
        left = Bracket(max(0.0, change - rounding), change + rounding)
        yield at_most(left, level * np.abs(x.w - v).sum(), "‖∇f(w) − ∇f(w')‖_∞")


@lemma.step()
def _(x: Instance) -> Slack:
    change = reweighting(x.A, x.w) - reweighting(x.A, x.v)
    return at_most(float(np.abs(x.A.T @ change).max()), float(np.abs(change).sum()), "‖Aᵀφ‖_∞")


@lemma.step(space=Space(a=Real(-3, 3), b=Real(-3, 3)))
def _(x: Instance) -> Slacks:
    for b in (x.b, x.a + (x.b - x.a) / 30.0):
        assume(abs(x.a - b) > 1e-6)
        steep = math.exp(b) * abs(math.expm1(x.a - b)) / abs(x.a - b)
        yield at_most(steep, (math.exp(x.a) + math.exp(b)) / 2.0, "|e^a − e^b|/|a − b|")


@SOURCE.claim("norm", space=PAIRS)
def norm(x: Instance) -> Slacks:
    slope = np.array([float(np.exp(-(row @ x.w))) for row in x.A]) / len(x.A)
    yield equal(np.abs(slope).sum(), risk(x.A, x.w), "‖∇L(−Aw)‖_1, L(−Aw)")
    yield at_most(np.exp(-np.abs(x.w).sum()), risk(x.A, x.w), "exp(−‖w‖_1), L(−Aw)")


@norm.step(space=Space(v=Real(-5, 5)))
def _(x: Instance) -> Slacks:
    for h in (0.01, -0.01):  # convex, with slope e^v: above the tangent on both sides
        yield at_least((math.exp(x.v + h) - math.exp(x.v)) / math.exp(x.v), h, "h, rise over e^v")


@SOURCE.claim("end", space=TURNING)
def end(x: Instance) -> Slacks:
    gamma = float(weak_learnability(x).lower)
    for A, t, bound in (
        (x.A, x.t, 1.0 - gamma**2 / 2.0),
        (turning(x.k), 1, 1.0 - 0.5 / (2.0 * x.k + 1.0) ** 2),
    ):
        before = 1.0
        for vote in adaboost(A, t, "lecture"):
            found = risk(A, vote.w)
            yield at_most(found / before, bound, "L_i/L_{i−1}, 1 − γ²/2", vote.number)
            yield at_most(found, bound**vote.number, "L_t, (1 − γ²/2)^t", vote.number)
            before = found


@end.step(space=Space(s=Real(0, 1)))
def _(x: Instance) -> Slack:
    return at_most(1.0 - x.s, math.exp(-x.s), "1 − s, e^−s")


@SOURCE.claim("L-lines-1-3", space=PAIRS)
def first_lines(x: Instance) -> Slacks:
    first = float(np.abs(gradient(x.A, x.w) - gradient(x.A, x.v)).max())
    change = reweighting(x.A, x.w) - reweighting(x.A, x.v)
    best = max(float(r * a @ change) for a in x.A.T for r in (1.0, -1.0))
    yield equal(first, best, "‖∇f(w) − ∇f(w')‖_∞, max <Av, ...>")
    second = float(np.mean(np.abs(np.exp(-(x.A @ x.w)) - np.exp(-(x.A @ x.v)))))
    yield at_most(best, second, "max <Av, ...>, (1/n) Σ |ℓ' − ℓ'|")
    third = float(np.mean(np.abs(_integrals(x) * (x.A @ (x.w - x.v)))))
    yield equal(second, third, "(1/n) Σ |ℓ' − ℓ'|, (1/n) Σ |∫ ℓ''|")


@first_lines.step()
def _(x: Instance) -> Slacks:
    phi, size = reweighting(x.A, x.w) - reweighting(x.A, x.v), float(np.abs(x.w).sum())
    assume(size > 1e-6)
    best = max(float(r * a @ phi) for a in x.A.T for r in (1.0, -1.0))
    yield equal(float(np.abs(x.A.T @ phi).max()), best, "‖Aᵀφ‖_∞, the best vertex")
    for v in (x.w, np.abs(x.w) * np.sign(x.A.T @ phi)):
        yield at_most(float(x.A @ v @ phi) / size, best, "<Av, φ>, the best vertex")


@first_lines.step()
def _(x: Instance) -> Slack:
    right = _integrals(x) * -(x.A @ (x.w - x.v))
    off = np.exp(-(x.A @ x.w)) - np.exp(-(x.A @ x.v)) - right
    return equal(float(np.abs(off).max() / np.abs(right).clip(1.0).max()), 0.0, "difference")


def _integrals(x: Instance) -> Array:
    """Return ∫ ℓ''(−(Aw')_i + r((−Aw)_i − (−Aw')_i)) dr over [0, 1], by quadrature."""
    start, way = -(x.A @ x.v), -(x.A @ (x.w - x.v))
    at = np.exp(start[:, None] + way[:, None] * (1.0 + _NODES) / 2.0)
    return np.asarray(at @ _SHARES / 2.0)


@SOURCE.claim("L-lines-4-5", space=PAIRS)
def stray_factor(x: Instance, kept: bool = True) -> Slacks:
    way, integrals = x.A @ (x.w - x.v), _integrals(x)
    third = float(np.mean(np.abs(integrals * way)))
    mean = float(np.mean(integrals * way if kept else integrals))
    fourth, fifth = mean * float(np.abs(way).max()), mean * float(np.abs(x.w - x.v).sum())
    yield at_most(third, fourth, "third line, fourth line")
    yield at_most(fourth, fifth, "fourth line, fifth line")


@stray_factor.corrected()
def stray_factor_removed(x: Instance) -> Slacks:
    yield from stray_factor(x, False)


@stray_factor_removed.step()
def _(x: Instance) -> Slack:
    h = x.w - x.v
    return at_most(
        float(np.abs(x.A @ h).max()), float(np.abs(h).sum()), "‖A(w − w')‖_∞, ‖w − w'‖_1"
    )


@SOURCE.claim("L-line-6", space=TRIPLES)
def last_line(x: Instance, corrected: bool = False) -> Slack:
    before, one, other = sorted((x.u, x.w, x.v), key=lambda w: -risk(x.A, w))
    at = before
    if not corrected:
        g = gradient(x.A, before)
        j = int(np.argmax(np.abs(g)))
        at = before - g[j] / risk(x.A, before) * np.eye(g.size)[j]
    change = np.abs(gradient(x.A, one) - gradient(x.A, other)).max()
    bound = risk(x.A, at) * np.abs(one - other).sum()
    return at_most(change, bound, "‖∇f(w) − ∇f(w')‖_∞")


@last_line.corrected()
def last_line_corrected(x: Instance) -> Slacks:
    yield from last_line(x, True)


@last_line_corrected.step()
def _(x: Instance) -> Slacks:
    for r in (0.1, 0.5, 0.9):
        between = risk(x.A, (1.0 - r) * x.w + r * x.v)
        yield at_most(between, max(risk(x.A, x.w), risk(x.A, x.v)), "L between, at an end")

"""DEK11, the proof of Theorem 3, display by display."""

import math

import numpy as np
from scipy.special import logsumexp, rel_entr, xlogy

from relaxboost.claims.dek11.experts import STREAMS, steep, turned
from relaxboost.claims.dek11.runs import LEMMA, LOSSES, Passed, hoeffdings_lemma, largest, one
from relaxboost.claims.dek11.source import SOURCE
from relaxboost.claims.language import *

STEPS = STREAMS.but(eta=Real(0.05, 5.0, log=True))
"""Sequences with any step η > 0."""


def alphas(run: Passed, w: Array) -> Array:
    """Return α_i = KL(w* ‖ w_{i−1}) − KL(w* ‖ w_i)."""
    divergence = rel_entr(w, run.w[0]).sum(axis=1)
    return np.asarray(divergence[:-1] - divergence[1:])


def exponents(x: Instance, run: Passed) -> tuple[Array, Array]:
    """Return Z = −η∇_j l_i(w_{i−1}), (m, n), and its mean under w_{i−1}, (m, 1)."""
    Z = -x.eta * run.slopes[0]
    return Z, (run.before[0] * Z).sum(axis=1, keepdims=True)


@SOURCE.claim("T3-alpha-1-4", space=STEPS)
def lines(x: Instance) -> Slacks:
    run = one(x).exponentiated(x.eta)
    Z, mean = exponents(x, run)
    before, after = run.w[0, :-1], run.w[0, 1:]
    scale = 1.0 + np.abs(Z).max()
    first = (x.w * np.log(after / before)).sum(axis=1)
    second = (x.w * Z).sum(axis=1) - logsumexp(Z, axis=1, b=before)
    inner = ((x.w - before) * Z).sum(axis=1)
    fourth = inner - logsumexp(Z - mean, axis=1, b=before)
    for name, found in (("line 1", first), ("lines 2 and 3", second), ("line 4", fourth)):
        off = float(np.abs(found - alphas(run, x.w)).max() / scale)
        yield equal(off, 0.0, f"{name} − α_i")


@lines.step()
def _(x: Instance) -> Slack:
    run = one(x).exponentiated(x.eta)
    u, v = run.w[0, 0], run.w[0, -1]
    found = float((rel_entr(x.w, u) - rel_entr(x.w, v)).sum())
    scale = 1.0 + float(np.abs(np.log(v)).max())
    return equal(found / scale, float(x.w @ np.log(v / u)) / scale, "KL − KL, Σ w_j log(v_j/u_j)")


@SOURCE.claim("T3-alpha-5", space=STEPS)
def fifth_line(x: Instance) -> Slack:
    run = one(x).exponentiated(x.eta)
    Z, mean = exponents(x, run)
    logs = logsumexp(Z - mean, axis=1, b=run.before[0])
    right = x.eta * (run.losses[0] - one(x).of(x.w)[0][0]) - logs
    scale = 1.0 + np.abs(Z).max()
    return at_least(float((alphas(run, x.w) - right).min() / scale), 0.0, "α_i − line 5")


@fifth_line.step()
def _(x: Instance) -> Slack:
    run = one(x).exponentiated(x.eta)
    tangent = ((run.before[0] - x.w) * run.slopes[0]).sum(axis=1)
    gain = run.losses[0] - one(x).of(x.w)[0][0]
    return at_least(float((tangent - gain).min()), 0.0, "<w − w*, ∇> − l_i(w) + l_i(w*)")


@SOURCE.claim("T3-Z", space=STEPS)
def size_of_z(x: Instance) -> Slack:
    Z, _ = exponents(x, one(x).exponentiated(x.eta))
    return at_most(float(np.abs(Z).max()) / x.eta, steep(x), "|Z|/η, λX")


@size_of_z.step()
def _(x: Instance) -> Slacks:
    X = largest(x.A)
    for y in (-1.0, 1.0):
        at = np.linspace(-X, X, 9)
        slopes = LOSSES[x.loss].pointwise(at, np.full(9, y))[1]
        yield at_most(float(np.abs(slopes).max()), steep(x) / X, "|φ'|, λ")


@SOURCE.claim("T3-mgf", space=STEPS.but(u=Real(1e-3, 3.0, log=True)))
def moments(x: Instance) -> Slacks:
    run = one(x).exponentiated(x.eta)
    Z, mean = exponents(x, run)
    logs = logsumexp(Z - mean, axis=1, b=run.before[0])
    bound = (x.eta * steep(x)) ** 2 / 2.0
    yield at_most(float(logs.max()), bound, "log Exp[exp(Z − Exp[Z])], η²λ²X²/2")
    fair = float(np.logaddexp(x.u, -x.u)) - math.log(2.0)
    yield at_most(fair, x.u**2 / 2.0, "log cosh u, u²/2")
    yield at_least(fair, x.u**2 / 2.0 - x.u**4 / 12.0, "log cosh u, u²/2 − u⁴/12")


moments.step(space=LEMMA)(hoeffdings_lemma)


@SOURCE.claim("T3-alpha", space=STEPS)
def therefore(x: Instance) -> Slacks:
    run = one(x).exponentiated(x.eta)
    bound = (x.eta * steep(x)) ** 2 / 2.0
    right = x.eta * (run.losses[0] - one(x).of(x.w)[0][0]) - bound
    yield at_least(float((alphas(run, x.w) - right).min()) / (1.0 + bound), 0.0, "α_i − right side")
    eta = x.eta / 20.0  # uniform weights, costs 1 and −1: α = −η w*·(1, −1) − log cosh η
    yield at_least(-math.log(math.cosh(eta)), -(eta**2) / 2.0, "α_i less the gain, −η²/2")


@therefore.step()
def _(x: Instance) -> Slack:
    Z, _ = exponents(x, one(x).exponentiated(x.eta))
    return at_most(float(np.abs(Z).max()) / (x.eta * steep(x)), 1.0, "|Z|/(ηλX), 1")


@SOURCE.claim("T3-sum", space=STEPS.but(i=Whole(0, "m")))
def telescoped(x: Instance, last: bool = False) -> Slacks:
    run = one(x).exponentiated(x.eta)
    total, n = float(alphas(run, x.w).sum()), len(x.w)
    first, end = (float(rel_entr(x.w, w).sum()) for w in run.w[0, [0, -1 if last else x.i]])
    error = 1e-12 * (1.0 + end + abs(total))
    yield equal(total, Bracket(first - end - error, first - end + error), "Σ α_i")
    yield at_most(total, first, "Σ α_i, KL(w* ‖ w_0)")
    yield at_most(first, math.log(n), "KL(w* ‖ w_0), log n")
    yield equal(float(rel_entr(np.eye(n)[0], run.w[0, 0]).sum()), math.log(n), "at a vertex")


@telescoped.corrected()
def telescoped_corrected(x: Instance) -> Slacks:
    yield from telescoped(x, True)


@telescoped_corrected.step()
def _(x: Instance) -> Slack:
    run = one(x).exponentiated(x.eta)
    return at_least(float(rel_entr(x.w, run.w[0, -1]).sum()), 0.0, "KL(w* ‖ w_m), 0")


@telescoped_corrected.step()
def _(x: Instance) -> Slacks:
    n = len(x.w)
    found = float(rel_entr(x.w, np.full(n, 1.0 / n)).sum())
    yield equal(found, math.log(n) + float(xlogy(x.w, x.w).sum()), "KL(w* ‖ w_0)")
    yield at_most(float(xlogy(x.w, x.w).sum()), 0.0, "Σ w*_j log w*_j, 0")


@SOURCE.claim("T3-bound", space=STEPS)
def any_step(x: Instance) -> Slacks:
    run, (m, n) = one(x).exponentiated(x.eta), x.A.shape
    left = float((run.losses - one(x).of(x.w)[0]).sum())
    tuned = math.sqrt(2.0 * math.log(2.0) / 10_000)
    for regret, eta, experts, rounds, size in (
        (left, x.eta, n, m, steep(x)),
        (turned()[0], tuned, 2, 10_000, 1.0),
    ):
        yield at_most(regret, math.log(experts) / eta + eta * rounds * size**2 / 2.0, "regret")


@any_step.step()
def _(x: Instance) -> Slacks:
    run, m = one(x).exponentiated(x.eta), len(x.A)
    gain = x.eta * float((run.losses - one(x).of(x.w)[0]).sum())
    squares = m * (x.eta * steep(x)) ** 2
    least = (float(alphas(run, x.w).sum()) - gain) / squares
    yield at_least(least, -0.5, "(Σ α_i − η Regret)/(mη²λ²X²), −1/2")
    eta = x.eta / 100.0  # one round of costs 1 and −1 from uniform weights
    yield at_least(-math.log(math.cosh(eta)) / eta**2, -0.5, "the same, costs 1 and −1")


@SOURCE.claim(
    "T3-eta",
    space=Space(
        n=Whole(2, 100),
        m=Whole(1, 1000),
        lam=Real(0.1, 4.0, log=True),
        eta=Real(0.001, 20.0, log=True),
    ),
)
def chosen(x: Instance) -> Slacks:
    def right(eta: float) -> float:
        return math.log(x.n) / eta + eta * x.m * x.lam**2 / 2.0

    best = math.sqrt(2.0 * math.log(x.n) / x.m) / x.lam
    value = x.lam * math.sqrt(2.0 * x.m * math.log(x.n))
    yield equal(right(best), value, "right side at η, λX√(2m log n)")
    yield at_most(value, right(x.eta), "λX√(2m log n), right side elsewhere")


@chosen.step()
def _(x: Instance) -> Slacks:
    for eta in (x.eta, math.sqrt(2.0 * math.log(x.n) / x.m) / x.lam):
        a, b = math.log(x.n) / eta, eta * x.m * x.lam**2 / 2.0
        yield at_least(a + b, 2.0 * math.sqrt(a * b), "a + b, 2√(ab)")
    yield equal(2.0 * math.sqrt(a * b), x.lam * math.sqrt(2.0 * x.m * math.log(x.n)), "2√(ab)")

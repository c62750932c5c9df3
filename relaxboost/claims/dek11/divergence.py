"""DEK11, the proof of Theorem 3, display by display."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
from scipy.special import logsumexp, rel_entr

from relaxboost._core.arrays import Array
from relaxboost.claims import Instance, Real, Slack, Space, Whole, at_least, at_most, equal
from relaxboost.claims.dek11.experts import STREAMS, steep
from relaxboost.claims.dek11.runs import Passed, one
from relaxboost.claims.dek11.source import SOURCE

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


@SOURCE.claim(
    "T3-alpha-1-4",
    "Proof of Theorem 3, second display, lines one to four",
    "α_i is an inner product and the logarithm of a mean.",
    formula="α_i = Σ_j w*_j log(w_{i,j}/w_{i−1,j}) = −η Σ_j w*_j ∇_j − log Σ_j w_{i−1,j} "
    "exp(−η∇_j) = −η<w* − w_{i−1}, ∇> − log Σ_j w_{i−1,j} exp(η(−∇_j + <w_{i−1}, ∇>))",
    given="∇ = ∇l_i(w_{i−1}); any η > 0 and w* in the simplex (line one has Σ_{i=1}^n, with j "
    "free: the sum is over j)",
    space=STEPS,
)
def lines(x: Instance) -> Iterator[Slack]:
    """The definitions of KL and of the update; then <w_{i−1}, ∇> is added and taken away."""
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


@SOURCE.claim(
    "T3-alpha-5",
    "Proof of Theorem 3, second display, line five",
    "α_i is at least the step times the gain in loss, less the logarithm of a mean.",
    formula="α_i ≥ η(l_i(w_{i−1}) − l_i(w*)) − log Exp[exp(Z − Exp[Z])]",
    given="Z = −η∇_j l_i(w_{i−1}) with probability w_{i−1,j} (our copy has exp[Z] for Exp[Z], "
    "which the display after it has right)",
    space=STEPS,
)
def fifth_line(x: Instance) -> Slack:
    """The subgradient inequality; Exp[Z] = −η<w_{i−1}, ∇>."""
    run = one(x).exponentiated(x.eta)
    Z, mean = exponents(x, run)
    logs = logsumexp(Z - mean, axis=1, b=run.before[0])
    right = x.eta * (run.losses[0] - one(x).of(x.w)[0][0]) - logs
    scale = 1.0 + np.abs(Z).max()
    return at_least(float((alphas(run, x.w) - right).min() / scale), 0.0, "α_i − line 5")


@SOURCE.claim(
    "T3-Z",
    "Proof of Theorem 3, after the second display",
    "Z is at most ηλX in size.",
    formula="|Z| ≤ ηλX",
    given="|x_j| ≤ X, φ λ-Lipschitz in predictions",
    space=STEPS,
)
def size_of_z(x: Instance) -> Slack:
    """∇_j = φ'(<w, x>) x_j. Equal where the largest entry of x meets the steepest slope.

    X is the sup norm here, and was the Euclidean one in Theorem 1.
    """
    Z, _ = exponents(x, one(x).exponentiated(x.eta))
    return at_most(float(np.abs(Z).max()) / x.eta, steep(x), "|Z|/η, λX")


@SOURCE.claim(
    "T3-mgf",
    "Proof of Theorem 3, third display",
    "The moment generating function of Z is that of a bounded variable.",
    formula="Exp[exp(Z − Exp[Z])] ≤ exp(η²λ²X²/2)",
    given="|Z| ≤ ηλX",
    space=STEPS.but(u=Real(1e-3, 3.0, log=True)),
)
def moments(x: Instance) -> Iterator[Slack]:
    """Hoeffding's lemma for an interval of length 2ηλX: exp((2ηλX)²/8).

    The constant is the least: for Z = ±u with probability 1/2 it is log cosh u ≤ u²/2, equal in
    the limit u → 0. Compared as logarithms.
    """
    run = one(x).exponentiated(x.eta)
    Z, mean = exponents(x, run)
    logs = logsumexp(Z - mean, axis=1, b=run.before[0])
    bound = (x.eta * steep(x)) ** 2 / 2.0
    yield at_most(float(logs.max()), bound, "log Exp[exp(Z − Exp[Z])], η²λ²X²/2")
    fair = float(np.logaddexp(x.u, -x.u)) - math.log(2.0)
    yield at_most(fair, x.u**2 / 2.0, "log cosh u, u²/2")
    yield at_least(fair, x.u**2 / 2.0 - x.u**4 / 12.0, "log cosh u, u²/2 − u⁴/12")


@SOURCE.claim(
    "T3-alpha",
    "Proof of Theorem 3, fourth display",
    "α_i is at least the step times the gain in loss, less η²λ²X²/2.",
    formula="α_i ≥ η(l_i(w_{i−1}) − l_i(w*)) − η²λ²X²/2",
    given="any η > 0 and w* in the simplex",
    space=STEPS,
)
def therefore(x: Instance) -> Slack:
    """DEK11-T3-alpha-5 and DEK11-T3-mgf."""
    run = one(x).exponentiated(x.eta)
    bound = (x.eta * steep(x)) ** 2 / 2.0
    right = x.eta * (run.losses[0] - one(x).of(x.w)[0][0]) - bound
    return at_least(
        float((alphas(run, x.w) - right).min()) / (1.0 + bound), 0.0, "α_i − right side"
    )


@SOURCE.claim(
    "T3-sum",
    "Proof of Theorem 3, fifth display",
    "The α_i telescope, to log n at most.",
    formula="Σ α_i = KL(w* ‖ w_0) − KL(w* ‖ w_m) ≤ KL(w* ‖ w_0) ≤ log(n)",
    given="w_0 uniform; any η > 0 and w* in the simplex (printed w_i for w_m)",
    space=STEPS,
)
def telescoped(x: Instance) -> Iterator[Slack]:
    """KL(w* ‖ w_0) is log n less the entropy of w*: log n at the vertices."""
    run = one(x).exponentiated(x.eta)
    total, n = float(alphas(run, x.w).sum()), len(x.w)
    first, last = (float(rel_entr(x.w, run.w[0, i]).sum()) for i in (0, -1))
    scale = 1.0 + last
    yield equal(total / scale, (first - last) / scale, "Σ α_i")
    yield at_most(total, first, "Σ α_i, KL(w* ‖ w_0)")
    yield at_most(first, math.log(n), "KL(w* ‖ w_0), log n")
    yield equal(float(rel_entr(np.eye(n)[0], run.w[0, 0]).sum()), math.log(n), "at a vertex")


@SOURCE.claim(
    "T3-bound",
    "Proof of Theorem 3, sixth display",
    "The regret is bounded for any step.",
    formula="Σ (l_i(w_{i−1}) − l_i(w*)) ≤ log(n)/η + η mλ²X²/2",
    given="any η > 0 and w* in the simplex",
    space=STEPS,
)
def any_step(x: Instance) -> Slack:
    """DEK11-T3-alpha and DEK11-T3-sum, over η."""
    run, (m, n) = one(x).exponentiated(x.eta), x.A.shape
    left = float((run.losses - one(x).of(x.w)[0]).sum())
    return at_most(left, math.log(n) / x.eta + x.eta * m * steep(x) ** 2 / 2.0, "regret")


@SOURCE.claim(
    "T3-eta",
    "Proof of Theorem 3, after the sixth display",
    "η = √(2 log(n)/m)/(λX) minimises the right side, which then is λX√(2m log n).",
    formula="min_η log(n)/η + η mλ²X²/2 = λX√(2m log(n))",
    given="n ≥ 2 (for n = 1 it is η = 0); X = 1, without loss of generality",
    space=Space(
        n=Whole(2, 100),
        m=Whole(1, 1000),
        lam=Real(0.1, 4.0, log=True),
        eta=Real(0.001, 20.0, log=True),
    ),
)
def chosen(x: Instance) -> Iterator[Slack]:
    """The mean of two numbers is at least the root of their product."""

    def right(eta: float) -> float:
        return math.log(x.n) / eta + eta * x.m * x.lam**2 / 2.0

    best = math.sqrt(2.0 * math.log(x.n) / x.m) / x.lam
    value = x.lam * math.sqrt(2.0 * x.m * math.log(x.n))
    yield equal(right(best), value, "right side at η, λX√(2m log n)")
    yield at_most(value, right(x.eta), "λX√(2m log n), right side elsewhere")

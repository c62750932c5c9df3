"""Rätsch & Warmuth (2005): AdaBoost*, which reaches the maximum margin."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from relaxboost.boosters.solving import solve
from relaxboost.claims.arrays import Array, Matrix
from relaxboost.claims.claim import Source
from relaxboost.claims.fields import Real, Whole
from relaxboost.claims.instance import Instance
from relaxboost.claims.measure import Slack, at_least, at_most, equal
from relaxboost.claims.spaces import Space
from relaxboost.claims.votes import adaboost_star, all_signs
from relaxboost.game import Game

SOURCE = Source(
    "RW05",
    "G. Rätsch and M. K. Warmuth (2005), Efficient Margin Maximizing with Boosting, "
    "JMLR 6:2131-2152",
)

GAMES = Space(sizes={"m": (2, 8), "n": (1, 6)}, A=Matrix(), nu=Real(0.05, 0.5, log=True))
RUNS = Space(
    sizes={"m": (2, 8), "n": (1, 6)},
    A=Matrix(),
    nu=Real(0.02, 0.5, log=True),
    t=Whole(1, 60),
)


@SOURCE.claim(
    "T",
    "Theorem on AdaBoost*",
    "AdaBoost* reaches the margin ρ − ν within 2 log(m)/ν² rounds.",
    formula="min_i (A w_T)_i/‖w_T‖_1 ≥ ρ − ν, T = ⌈2 log(m)/ν²⌉",
    given="A in [−1, 1]^(m×n), m ≥ 2, ν in (0, 1); ρ the value of the game over the ℓ1 ball, and "
    "w = 0 where that is less than ν",
    space=GAMES,
    trials=40,
)
def theorem(x: Instance) -> Iterator[Slack]:
    """RW05-invariant at T: m exp(−Tν²/2) ≤ 1 leaves no example below the margin min γ − ν.

    Also the run of `relaxboost.solve`, which stops when its bracket is narrow enough.
    """
    steps, rho = math.ceil(2.0 * math.log(len(x.A)) / x.nu**2), x.optimum(Game(x.A))
    votes = adaboost_star(x.A, x.nu, steps)
    if votes:
        margin = float((x.A @ votes[-1].w).min() / max(np.abs(votes[-1].w).sum(), 1e-300))
        reached = max(margin, 0.0) if float(rho.upper) < x.nu else margin
        yield at_least(reached, rho - x.nu, "margin, ρ − ν", votes[-1].number)
    found = solve(Game(x.A), method="adaboost-star", tol=x.nu)
    w = np.zeros(x.A.shape[1])
    w[found.support] = found.coefficients
    yield at_least(float((x.A @ w).min()), rho - x.nu, "margin of `solve`, ρ − ν")
    yield at_most(found.rounds, steps + 2, "rounds of `solve`, T + 2")


@SOURCE.claim(
    "step",
    "Algorithm 2 (AdaBoost*)",
    "The step is artanh γ_t − artanh ρ_t with ρ_t = min_{r≤t} γ_r − ν, and positive.",
    formula="η_t = ½ log (1 + γ_t)/(1 − γ_t) − ½ log (1 + ρ_t)/(1 − ρ_t) > 0",
    given="γ_t < 1",
    space=RUNS,
)
def step(x: Instance) -> Iterator[Slack]:
    """ρ_t < γ_t. The package computes artanh of (γ − ρ)/(1 − γρ), so that nothing cancels.

    The edge is recomputed from w_{t−1} in the exponential weights.
    """
    least, before = math.inf, np.zeros(x.A.shape[1])
    for vote in adaboost_star(x.A, x.nu, x.t):
        edge = _edge(x.A, before)
        if edge > 0.999:
            return
        least = min(least, edge)
        right = math.atanh(edge) - math.atanh(least - x.nu)
        yield equal(vote.step, right, "η_t, artanh γ_t − artanh ρ_t", vote.number)
        yield at_least(vote.step, x.nu, "η_t, ν", vote.number)
        before = vote.w


def _edge(A: Array, w: Array) -> float:
    u = A @ w
    d = np.exp(u.min() - u)
    return float(np.abs(A.T @ (d / d.sum())).max())


@SOURCE.claim(
    "invariant",
    "Theorem on AdaBoost*, proof",
    "After t rounds every margin is at least ρ_t Σ η_s + tν²/2 − log m.",
    formula="(A w_t)_i ≥ ρ_t Σ_{s≤t} η_s + tν²/2 − log m for every i, ρ_t ≥ ρ − ν",
    given="γ_s < 1",
    space=RUNS,
)
def invariant(x: Instance) -> Iterator[Slack]:
    """At this step Z e^(ρ_s η_s) = exp(−KL((1 + ρ_s)/2 ‖ (1 + γ_s)/2)) ≤ exp(−(γ_s − ρ_s)²/2), by
    Pinsker, and γ_s − ρ_s ≥ ν. ρ_s decreases and steps are positive, so that the last ρ_t will do.
    """
    rho, m = float(x.optimum(Game(x.A)).lower), len(x.A)
    least, spent, before = math.inf, 0.0, np.zeros(x.A.shape[1])
    for vote in adaboost_star(x.A, x.nu, x.t):
        edge = _edge(x.A, before)
        if edge > 0.999:
            return
        least, spent = min(least, edge), spent + vote.step
        level = least - x.nu
        bound = level * spent + vote.number * x.nu**2 / 2.0 - math.log(m)
        yield at_least(float((x.A @ vote.w).min()), bound, "least (A w_t)_i", vote.number)
        yield at_least(level, rho - x.nu, "ρ_t, ρ − ν", vote.number)
        before = vote.w


@SOURCE.claim(
    "one-round",
    "Lemma on AdaBoost_ρ, at the step of AdaBoost*",
    "One round multiplies Σ exp(ρ_t s − (Aw)_i) by exp(−KL) at most.",
    formula="L_t/L_{t−1} · e^{ρ_t η_t} ≤ exp(−KL((1 + ρ_t)/2 ‖ (1 + γ_t)/2)) "
    "≤ exp(−(γ_t − ρ_t)²/2) ≤ exp(−ν²/2)",
    given="γ_t < 1; equality in the first for entries ±1",
    space=RUNS,
)
def one_round(x: Instance) -> Iterator[Slack]:
    """L_t/L_{t−1} ≤ cosh η − γ sinh η by convexity; then the step is put in."""
    least, before = math.inf, np.zeros(x.A.shape[1])
    for vote in adaboost_star(x.A, x.nu, x.t):
        edge = _edge(x.A, before)
        if edge > 0.999:
            return
        least = min(least, edge)
        level = least - x.nu
        u, after = x.A @ before, x.A @ vote.w
        ratio = float(np.exp(u.min() - after).sum() / np.exp(u.min() - u).sum())
        left, kl = ratio * math.exp(level * vote.step), _divergence(level, edge)
        yield at_most(left, math.exp(-kl), "L_t/L_{t−1} e^{ρη}, e^−KL", vote.number)
        if all_signs(x.A):
            yield equal(left, math.exp(-kl), "the same, entries ±1", vote.number)
        yield at_least(kl, (edge - level) ** 2 / 2.0, "KL, (γ − ρ)²/2", vote.number)
        yield at_least((edge - level) ** 2, x.nu**2, "(γ − ρ)², ν²", vote.number)
        before = vote.w


def _divergence(rho: float, gamma: float) -> float:
    """Return KL((1 + ρ)/2 ‖ (1 + γ)/2)."""
    pairs = (((1.0 + s * rho) / 2.0, (1.0 + s * gamma) / 2.0) for s in (1.0, -1.0))
    return sum(p * math.log(p / q) for p, q in pairs)

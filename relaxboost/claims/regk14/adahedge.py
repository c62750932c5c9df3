"""AdaHedge: its regret, for the shares with which `HedgedDescent` weighs its learners."""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

import numpy as np

from relaxboost.claims.language import *
from relaxboost.claims.regk14.source import SOURCE
from relaxboost.online.kernels import shares

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
    K, loss = costs.shape[1], 0.0
    p, sums = np.empty(K), np.zeros(shares.MIXABILITY + 1 + 2 * K)
    state, steps = (np.zeros(1), np.zeros((1, K)), np.zeros(1), sums), (np.ones(K), np.zeros(K))
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


def runs(x: Instance) -> Iterator[Shares]:
    """Yield AdaHedge on the costs of an instance, by turns, and where one expert pays nothing."""
    K = x.A.shape[1]
    yield from (adahedge(x.A), by_turns(K), adahedge(1.0 - np.eye(1, K)))


@SOURCE.claim("T", space=Space(sizes={"m": (1, 12), "n": (2, 16)}, A=Matrix())).checked(trials=40)
def theorem(x: Instance) -> Slacks:
    for now in runs(x):
        yield at_most(now.regret, bound(now), "regret, bound")
    for now, costs in zip(runs(x), (x.A, turned(x.A.shape[1])), strict=False):
        for ours, theirs in zip(packaged(costs), (now.loss, now.gap), strict=True):
            off = abs(ours - theirs)
            yield at_most(off, 1e-9 * (1.0 + abs(theirs)), "loss or Δ, package and displays")


@theorem.step()
def _(x: Instance) -> Slacks:
    for now in runs(x):
        yield at_most(now.regret, 2.0 * now.gap, "regret, 2Δ")


@theorem.step()
def _(x: Instance) -> Slacks:
    for now in runs(x):
        right = now.variance * now.logarithm
        right += (2.0 / 3.0 * now.logarithm + 1.0) * now.size * now.gap
        yield at_most(now.gap**2, right, "Δ², bound")

"""Claims of de Rooij et al. (2014) on AdaHedge, and on `HedgedDescent`, which uses it."""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np

from relaxboost.claims.language import *
from relaxboost.claims.source import Source
from relaxboost.functional.losses import Absolute, Hinge, Huber, Logistic, SmoothHinge, Squared
from relaxboost.online import HedgedDescent
from relaxboost.online.hedged import KINDS, MULTIPLES
from relaxboost.online.kernels import shares
from relaxboost.online.kernels.shares import AVERAGED, CONSTANT, FADING

SOURCE = Source.read(Path(__file__).with_name("statements.toml"))


@dataclass
class Shares:
    """The state of AdaHedge.

    `loss` is its loss, and `losses` are those of the K experts. `gap` is Δ, the sum of the
    mixability gaps. `variance` is V, the sum of the cost variances under the weights. `size` is S,
    the largest cost range of a round.
    """

    loss: float
    losses: Array
    gap: float = 0.0
    variance: float = 0.0
    size: float = 0.0

    @property
    def logarithm(self) -> float:
        """The natural logarithm of the number K of experts."""
        return math.log(self.losses.size)

    @property
    def regret(self) -> float:
        """The loss of AdaHedge minus the loss of the best expert."""
        return self.loss - float(self.losses.min())

    def learn(self, cost: Array) -> Array:
        """Update the state with the costs of a round. Return the weights p before the update."""
        best = self.losses - self.losses.min()
        after = best + cost
        mixed = float(after.min())
        # If the gap is 0, the rate is infinite, and the best experts have equal weights.
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
    """Return the bound 2√(V log K) + S (4/3 log K + 2) on the regret of AdaHedge.

    K is the number of experts, V is the sum of variances, and S is the largest cost range.
    """
    leading = 2.0 * math.sqrt(now.variance * now.logarithm)
    return leading + now.size * (4.0 / 3.0 * now.logarithm + 2.0)


def adahedge(costs: Array) -> Shares:
    """Run AdaHedge on all cost rows by the paper's formulas, and return its final state."""
    now = Shares(0.0, np.zeros(costs.shape[1]))
    for cost in costs:
        now.learn(cost)
    return now


def packaged(costs: Array) -> tuple[float, float]:
    """Run the AdaHedge of `HedgedDescent` on all cost rows, and return its loss and its gap Δ."""
    K = costs.shape[1]
    loss = 0.0
    p = np.empty(K)
    sums = np.zeros(shares.MIXABILITY + 1 + 2 * K)
    state = (np.zeros(1), np.zeros((1, K)), np.zeros(1), sums)
    steps = (np.ones(K), np.zeros(K))
    for cost in costs:
        shares.weigh(sums, p)
        loss += float(p @ cost)
        shares.learn(state, steps, (np.zeros(1), 0.0, 1.0), (0.0, p, cost.copy(), np.zeros(K)))
    return loss, float(sums[shares.MIXABILITY])


def turned(K: int) -> Array:
    """Return a matrix of costs 0 and 1 on which AdaHedge has nearly the largest regret.

    First, the cost 1 alternates between the two halves of the experts. After these rounds, Δ is
    nearly √(V log K). Then all experts except one have the cost 1. After these rounds, the regret
    is nearly 2Δ.
    """
    half = np.arange(K) < K // 2
    alternating = np.tile([half, ~half], (500, 1))
    return np.vstack([alternating, np.tile(np.arange(K) > 0, (250, 1))]).astype(float)


@cache
def _by_turns(K: int) -> Shares:
    return adahedge(turned(K))


def runs(x: Instance) -> Iterator[Shares]:
    """Yield the final AdaHedge state for three cost matrices, the first of which is that of the
    instance.
    """
    # In the last matrix, only one expert has the cost 0.
    K = x.A.shape[1]
    yield from (adahedge(x.A), _by_turns(K), adahedge(1.0 - np.eye(1, K)))


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


LOSSES = {loss.name: loss() for loss in (Hinge, Logistic, SmoothHinge, Squared, Absolute, Huber)}
STREAMS = Space(
    sizes={"m": (1, 30), "n": (1, 3)},
    A=Matrix(),
    y=Vector("m"),
    w=Vector("n"),
    length=Real(0.01, 1000, log=True),
    loss=Choice(*LOSSES),
    labels=Choice("given", "against"),
)
"""The instances for online learning: feature vectors, which are the rows of A divided by √n,
targets y, and comparison weights w times `length`. If `labels` is "against", the targets oppose the
learner's predictions."""


class Descents:
    """The 16 learners that `HedgedDescent` combines, computed by the paper's formulas.

    `excess` is the number ε in the regret bound for each round. Predictions are clipped to [−R, R].
    For labels, ε is the loss of the correct prediction R or −R. For other targets, ε is 0.
    """

    def __init__(self, x: Instance) -> None:
        loss = LOSSES[x.loss]
        self.method = HedgedDescent(loss, bound=1.0, targets=1.0)
        self.learner = self.method.start(x.A.shape[1])
        is_label = loss.task == "binary"
        self.limit = 16.0 if is_label else 1.0
        ends = np.array([-self.limit, self.limit])
        steep = float(np.abs(loss.pointwise(np.tile(ends, 2), np.repeat([-1.0, 1.0], 2))[1]).max())
        self.eta = MULTIPLES / steep
        correct = loss.pointwise(np.array([self.limit]), np.array([1.0]))[0]
        self.excess = float(correct[0]) if is_label else 0.0
        # Without this factor, rounding could make a norm larger than 1.
        self.H = x.A / (math.sqrt(x.A.shape[1]) * (1.0 + 1e-12))
        self.targets = np.empty(len(x.A))
        self.hedge = Shares(0.0, np.zeros(16))
        self.spent = np.zeros(16)
        self.loss = 0.0
        W, sums = np.zeros((2, 16, x.A.shape[1]))
        for t, (h, given) in enumerate(zip(self.H, x.y, strict=True), start=1):
            if x.labels == "against":
                given = -self.learner.predict(h, average=False)
            y = (1.0 if given > 0.0 else -1.0) if is_label else float(np.clip(given, -1.0, 1.0))
            self.learner.update(h, y)
            self.targets[t - 1] = y
            F = W @ h
            inside = np.clip(F, -self.limit, self.limit)
            values, slopes = loss.pointwise(inside, np.full(16, y))
            slopes[slopes * (F - inside) < 0.0] = 0.0
            said = float(self.hedge.learn(values) @ inside)
            self.loss += float(loss.pointwise(np.array([said]), np.array([y]))[0][0])
            u = slopes[:, None] * h
            now = np.where(KINDS == CONSTANT, self.eta, self.eta / math.sqrt(t))
            self.spent += now * (u**2).sum(axis=1) / 2.0
            sums += u
            greedy = W - now[:, None] * u
            averaged = -self.eta[:, None] / math.sqrt(t + 1) * sums
            W = np.where((KINDS == AVERAGED)[:, None], averaged, greedy)
        # The first term of the bound divides by the last step of dual averaging.
        self.steps = self.eta / np.where(KINDS == AVERAGED, math.sqrt(len(x.A)), 1.0)

    def of(self, w: Array) -> tuple[float, Array]:
        """Return the loss of the weights w, and a bound on the regret of each learner against w.

        After t rounds, the bound for learner k is ‖w‖²/(2η_k) + Σ η_ki ‖u_ki‖²/2 + tε. Here u_ki is
        the gradient and η_ki the step size in round i. η_k is the constant step size, or the last
        one of dual averaging. ε is `excess`. For `FADING` learners, the bound is inf.
        """
        loss = self.method.loss.loss
        paid = float(loss.pointwise(self.H @ w, self.targets)[0].sum())
        each = float(w @ w) / (2.0 * self.steps) + self.spent + len(self.targets) * self.excess
        return paid, np.where(KINDS == FADING, math.inf, each)


@SOURCE.claim("descent", space=STREAMS).checked(trials=60)
def descent(x: Instance) -> Slacks:
    run = Descents(x)
    yield at_most(run.loss, run.hedge.loss, "loss of the mean prediction, mean loss")
    yield at_most(run.hedge.regret, bound(run.hedge), "regret of AdaHedge, bound")
    slope = run.method.loss.loss.pointwise(np.zeros(1), run.targets[:1])[1]
    # A learner with a constant step has the largest regret against −η_k Σ u_ki, its own weights.
    for w in (x.length * x.w, *-np.outer(run.eta[:8], float(slope[0]) * run.H[0])):
        least, each = run.of(w)
        own = run.hedge.losses - least
        for k in np.flatnonzero(KINDS != FADING):
            yield at_most(float(own[k]), float(each[k]), "regret of a learner, bound")
        yield at_most(run.loss - least, float(each.min()) + bound(run.hedge), "regret, bound")
        observed = run.learner.regret_bound(w)
        yield at_most(run.learner.loss - least, observed, "regret of the package, regret_bound")


@descent.step(
    space=Space(F=Real(-50, 50), v=Real(-50, 50), y=Real(-1, 1), loss=Choice(*LOSSES)), trials=200
)
def _(x: Instance) -> Slack:
    loss = LOSSES[x.loss]
    is_label = loss.task == "binary"
    R, y = (16.0, 1.0 if x.y > 0.0 else -1.0) if is_label else (1.0, x.y)
    clipped = min(max(x.F, -R), R)
    values, slopes = loss.pointwise(np.array([clipped, x.v]), np.full(2, y))
    slope = 0.0 if slopes[0] * (x.F - clipped) < 0.0 else float(slopes[0])
    correct = float(loss.pointwise(np.array([R]), np.ones(1))[0][0]) if is_label else 0.0
    right = slope * (x.F - x.v) + correct
    return at_most(float(values[0] - values[1]), right, "φ(C) − φ(v), s (F − v) + ε")


@descent.step(space=STREAMS.but(sizes={"m": (1, 9), "n": (1, 3)}, eta=Real(0.01, 10, log=True)))
def _(x: Instance) -> Slacks:
    t = len(x.A)
    roots = np.sqrt(np.arange(1, t + 1))
    before = np.cumsum(x.A, axis=0) - x.A
    squares = (x.A**2).sum(axis=1)
    for w in (x.length * x.w, -x.eta * x.A.sum(axis=0)):
        for steps, last in ((np.full(t, x.eta), x.eta), (x.eta / roots, x.eta / roots[-1])):
            left = float((x.A * (-steps[:, None] * before - w)).sum())
            right = float(w @ w) / (2.0 * last) + float(steps @ squares) / 2.0
            yield at_most(left, right, "Σ ⟨u_i, w_{i−1} − w⟩, bound")

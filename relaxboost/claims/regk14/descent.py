"""`HedgedDescent`: gradient descent with many steps under AdaHedge, without a radius."""

import math

import numpy as np

from relaxboost.claims.language import *
from relaxboost.claims.regk14.adahedge import Shares, bound
from relaxboost.claims.regk14.source import SOURCE
from relaxboost.functional.losses import Absolute, Hinge, Huber, Logistic, SmoothHinge, Squared
from relaxboost.online import HedgedDescent
from relaxboost.online.hedged import KINDS, MULTIPLES
from relaxboost.online.kernels.shares import AVERAGED, CONSTANT, FADING

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
"""A stream: rows of A over √n, and y or its sign, or what is against the prediction; a w."""


class Descents:
    """The 16 learners on a stream, from the displays, and the package's learner.

    Each of the 16 has its own weights. `excess` is the loss ε of a correct prediction of R.
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
        # Rounding must not bring a norm above 1.
        self.H = x.A / (math.sqrt(x.A.shape[1]) * (1.0 + 1e-12))
        self.targets = np.empty(len(x.A))
        self.hedge = Shares(0.0, np.zeros(16))
        self.spent, self.loss = np.zeros(16), 0.0
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
        # The first term divides by the last step of dual averaging.
        self.steps = self.eta / np.where(KINDS == AVERAGED, math.sqrt(len(x.A)), 1.0)

    def of(self, w: Array) -> tuple[float, Array]:
        """Return the loss of w, and ‖w‖²/(2η_k) + Σ η_ki ‖u_ki‖²/2 + tε; inf if steps fade."""
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
    # Against −η_k Σ u_ki, which it has learned, a learner with a constant step regrets most.
    for w in (x.length * x.w, *-np.outer(run.eta[:8], float(slope[0]) * run.H[0])):
        least, each = run.of(w)
        own = run.hedge.losses - least
        for k in np.flatnonzero(KINDS != FADING):
            yield at_most(float(own[k]), float(each[k]), "regret of a learner, bound")
        most = float(each.min()) + bound(run.hedge)
        yield at_most(run.loss - least, most, "regret, bound")
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
    roots, before = np.sqrt(np.arange(1, t + 1)), np.cumsum(x.A, axis=0) - x.A
    squares = (x.A**2).sum(axis=1)
    for w in (x.length * x.w, -x.eta * x.A.sum(axis=0)):
        for steps, last in ((np.full(t, x.eta), x.eta), (x.eta / roots, x.eta / roots[-1])):
            weights = -steps[:, None] * before
            left = float((x.A * (weights - w)).sum())
            right = float(w @ w) / (2.0 * last) + float(steps @ squares) / 2.0
            yield at_most(left, right, "Σ ⟨u_i, w_{i−1} − w⟩, bound")

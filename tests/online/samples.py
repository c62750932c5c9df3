"""Expectations by brute force: a learner runs on each sample of examples with few values."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import Any

import numpy as np

from relaxboost.online.comparators.comparator import hindsight
from relaxboost.online.losses import losses_of


@dataclass(frozen=True)
class Runs:
    """The results on all samples, with an entry for each sample."""

    samples: list[tuple[int, ...]]
    chance: Any
    risk: Any
    """The mean risk of the iterates before each example."""
    risk_of_mean: Any
    loss: Any
    promise: Any
    """The bound on the regret that the learner computes after the sample."""
    least: Any
    """The interval that contains the least risk over the domain."""

    def excess(self, risk=None):
        """Return the interval that contains the expected excess risk."""
        mean = float(self.chance @ (self.risk if risk is None else risk))
        return mean - self.least.upper, mean - self.least.lower


@dataclass(frozen=True, eq=False)
class Examples:
    """Independent examples, which have one of the values (H[k], y[k]), with probability p[k]."""

    H: Any
    y: Any
    p: Any

    def risks(self, loss, W):
        """Return the risk of each row of W."""
        return losses_of(loss, np.asarray(W), self.H, self.y) @ self.p

    def runs(self, method, t, order=lambda sample: sample):
        """Return the results of a fresh learner on every sample of t examples."""
        samples = list(itertools.product(range(len(self.p)), repeat=t))
        rows = []
        for sample in samples:
            learner, iterates = method.start(self.H.shape[1]), []
            for k in order(sample):
                iterates.append(learner.w)
                learner.update(self.H[k], self.y[k])
            risk = self.risks(method.loss, iterates).mean()
            of_mean = self.risks(method.loss, [np.mean(iterates, axis=0)])[0]
            chance = np.prod(self.p[list(sample)])
            rows.append((chance, risk, of_mean, learner.loss, learner.regret_bound()))
        least = hindsight(method.loss, method.over, (self.H, self.y, self.p), tol=1e-9)
        return Runs(samples, *np.array(rows).T, least)

    def regrets(self, method, runs):
        """Return lower and upper bounds on the regret on each sample."""
        found = []
        for sample, loss in zip(runs.samples, runs.loss, strict=True):
            times = np.bincount(sample, minlength=len(self.p))
            best = hindsight(method.loss, method.over, (self.H, self.y, times), tol=1e-9)
            found.append((loss - best.upper, loss - best.lower))
        return np.array(found).T


def examples(H, y=None, p=None):
    """Return examples, which are equally likely by default, with the target 0 by default."""
    H = np.array(H, dtype=float)
    atoms = len(H)
    y = np.zeros(atoms) if y is None else np.array(y, dtype=float)
    return Examples(H, y, np.full(atoms, 1.0 / atoms) if p is None else np.array(p, dtype=float))

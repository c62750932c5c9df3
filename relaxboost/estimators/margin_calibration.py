"""Calibration: from votes to log odds, by votes on examples that were held out."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy.special import logit
from sklearn.linear_model import LogisticRegression

from relaxboost._core.arrays import Array, Vector
from relaxboost.estimators.margin_games import Examples


class Calibration(NamedTuple):
    """Log odds a F + b of the votes F, with a >= 0 and b of each stage (Platt 1999)."""

    stages: list[Any] | None
    """The pair (a, b) of each stage, numbers or vectors with an entry a class; None: the votes."""

    @classmethod
    def of(cls, held: Array | None, given: Examples, targets: list[int]) -> Calibration:
        """Return the calibration of each stage by the votes held out, of shape (stages, ...)."""
        if held is None:
            return cls(None)
        return cls([sigmoids(F, given, targets) for F in held])

    def log_odds(self, F: Array, stage: int) -> Array:
        """Return the log odds of votes, which are the votes if none were held out."""
        if self.stages is None:
            return F
        slope, offset = self.stages[stage]
        return np.asarray(slope * F + offset)

    def of_parts(self, parts: Array) -> Array:
        """Return contributions (N, d + 1, games) to votes as contributions to their log odds."""
        if self.stages is not None:
            slope, offset = self.stages[-1]
            parts *= slope
            parts[:, -1] += offset
        return parts


def sigmoids(F: Array, given: Examples, targets: list[int]) -> Any:
    """Return a and b of the log odds a F + b: numbers for one target, else vectors."""
    columns = F.reshape(len(F), -1).T
    pairs = zip(targets, columns, strict=True)
    found = [_sigmoid(f, given.codes == k, given.weights) for k, f in pairs]
    return np.array(found[0] if len(found) == 1 else found).T


def _sigmoid(F: Vector, positive: Any, weights: Vector) -> tuple[float, float]:
    """Return a >= 0 and b of P(+1) = 1 / (1 + exp(−a F − b)), with Platt's targets."""
    up = float(weights[positive].sum())
    down = float(weights[~positive].sum())
    target = np.where(positive, (up + 1.0) / (up + 2.0), 1.0 / (down + 2.0))
    size = float(np.abs(F).max()) or 1.0
    model = LogisticRegression(C=1e6).fit(
        np.concatenate([F, F])[:, None] / size,
        np.repeat([1, 0], F.size),
        sample_weight=np.concatenate([weights * target, weights * (1 - target)]) / weights.mean(),
    )
    slope = float(model.coef_[0, 0]) / size
    # Votes that fall with the share of +1 say nothing about examples they have not seen.
    if slope < 0.0:
        return 0.0, float(logit(np.average(target, weights=weights)))
    return slope, float(model.intercept_[0])

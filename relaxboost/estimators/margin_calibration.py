"""The calibration that maps votes to log odds, fitted to votes on held-out examples.

To obtain held-out votes, scikit-learn's CalibratedClassifierCV would solve all games again. This
module instead reuses the held-out votes from which the fraction was chosen.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy.special import logit
from sklearn.linear_model import LogisticRegression

from relaxboost._core.arrays import Array, Vector
from relaxboost.estimators.margin_games import Examples


class Calibration(NamedTuple):
    """The calibration that maps votes F to log odds a F + b (Platt 1999).

    Each stage has its own a >= 0 and b.
    """

    stages: list[Any] | None
    """The pair (a, b) of each stage. Both are numbers, or vectors with one entry for each class.
    None means that the log odds equal the votes."""

    @classmethod
    def of(cls, held: Array | None, given: Examples, targets: list[int]) -> Calibration:
        """Return the calibration of each stage, fitted to held-out votes of shape (stages, ...)."""
        if held is None:
            return cls(None)
        return cls([sigmoids(F, given, targets) for F in held])

    def log_odds(self, F: Array, stage: int) -> Array:
        """Return the log odds for the given votes. Without calibration the log odds equal the
        votes.
        """
        if self.stages is None:
            return F
        slope, offset = self.stages[stage]
        return np.asarray(slope * F + offset)

    def of_parts(self, parts: Array) -> Array:
        """Convert contributions to the votes into contributions to the log odds, shape (N, d + 1,
        games).
        """
        if self.stages is not None:
            slope, offset = self.stages[-1]
            parts *= slope
            # The last column holds the constant part.
            parts[:, -1] += offset
        return parts


def sigmoids(F: Array, given: Examples, targets: list[int]) -> Any:
    """Return a and b of the log odds a F + b, as numbers for one target and as vectors
    for several.
    """
    columns = F.reshape(len(F), -1).T
    pairs = zip(targets, columns, strict=True)
    found = [_sigmoid(f, given.codes == k, given.weights) for k, f in pairs]
    return np.array(found[0] if len(found) == 1 else found).T


def _sigmoid(F: Vector, positive: Any, weights: Vector) -> tuple[float, float]:
    """Return a >= 0 and b of the sigmoid P(+1) = 1 / (1 + exp(−a F − b)), fitted to Platt's
    targets.
    """
    up = float(weights[positive].sum())
    down = float(weights[~positive].sum())
    # Platt's targets are not 0 and 1, so that votes that separate the classes get finite odds.
    target = np.where(positive, (up + 1.0) / (up + 2.0), 1.0 / (down + 2.0))
    size = float(np.abs(F).max()) or 1.0
    # LogisticRegression takes no targets between 0 and 1. Each example therefore appears with both
    # labels, weighted by its target. After division by `size` the penalty of 1e-6 means the same
    # for votes of any size.
    model = LogisticRegression(C=1e6).fit(
        np.concatenate([F, F])[:, None] / size,
        np.repeat([1, 0], F.size),
        sample_weight=np.concatenate([weights * target, weights * (1 - target)]) / weights.mean(),
    )
    slope = float(model.coef_[0, 0]) / size
    # If larger votes are less often right, they say nothing about examples that were held out. The
    # log odds are then constant, so that probabilities never fall as votes rise.
    if slope < 0.0:
        return 0.0, float(logit(np.average(target, weights=weights)))
    return slope, float(model.intercept_[0])

"""Platt calibration, which maps votes F to log odds a F + b.

It reuses the held-out votes that chose the fraction. CalibratedClassifierCV would solve all games
again.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import logit
from sklearn.linear_model import LogisticRegression

from relaxboost._core.arrays import Array, Vector
from relaxboost.estimators.margin_games import Examples


def sigmoids(F: Array, given: Examples, targets: list[int]) -> Any:
    """Return the coefficients a >= 0 and b of the log odds a F + b for the votes F.

    For more than two classes, a and b are vectors, and `targets` contains the class index of each
    game.
    """
    columns = F.reshape(len(F), -1).T
    pairs = zip(targets, columns, strict=True)
    found = [_sigmoid(f, given.codes == k, given.weights) for k, f in pairs]
    return np.array(found[0] if len(found) == 1 else found).T


def _sigmoid(F: Vector, positive: Any, weights: Vector) -> tuple[float, float]:
    up = float(weights[positive].sum())
    down = float(weights[~positive].sum())
    # The targets of Platt (1999) are not 0 and 1, so that votes that separate the classes get
    # finite odds.
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

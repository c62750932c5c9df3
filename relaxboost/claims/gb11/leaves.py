"""A comparison of trees with refitted leaves (Friedman 2001) and projected leaves (GB11)."""

from typing import Any

import numpy as np

from relaxboost import functional as fn
from relaxboost.claims.gb11 import SOURCE
from relaxboost.claims.language import *
from relaxboost.functional.losses.leaves import means
from relaxboost.functional.schedules import line_search

EXAMPLES = Space(
    sizes={"m": (1, 6)},
    p=Distribution("m"),
    f=Vector("m", -3, 3),
    y=Vector("m", -2, 2),
    leaf=Vector("m", 0, 1),
    loss=Choice("Squared", "Absolute", "Quantile", "Huber", "Hinge", "SmoothHinge"),
    eta=Real(0, 1),
)


def bound(x: Instance) -> Any:
    """Return the weighted mean loss over the examples of an instance."""
    loss = getattr(fn, x.loss)()
    y = x.y if loss.task == "regression" else np.where(x.y < 0.0, -1.0, 1.0)
    return fn.losses.PointwiseRisk(loss, y, fn.Empirical(y.size, x.p), None)


@SOURCE.claim("leaves", space=EXAMPLES)
def never_rises(x: Instance) -> Slacks:
    risk = bound(x)
    leaf = (2.99 * x.leaf).astype(int)
    v = risk.loss.minimisers(x.f, risk.y, x.p, leaf, 3)[leaf]
    h = means(leaf, risk.measure.p, risk.evaluate(x.f)[1], 3)[leaf]
    start = risk.value(x.f)
    best = risk.value(x.f - line_search(risk, x.f, h) * h)
    yield at_most(risk.value(x.f + x.eta * v), start - x.eta * (start - best), "R[f + ηv]")

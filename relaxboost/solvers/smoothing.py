"""The smoothing of a game, which makes the distribution d a function of the margins.

Shalev-Shwartz & Singer (2009, SS09) add β s(d) to the relaxation f(d). Here s is the negative
entropy of d (Fig. 1), or the negative sum of the binary entropies of its entries (Sec. 6), and β is
the smoothing weight. For margins u, exactly one d minimises <d, u> + f(d) + β s(d): the smoothed
distribution.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from relaxboost import relaxations
from relaxboost._core.arrays import Vector
from relaxboost._core.errors import InputError, brief
from relaxboost.relaxations import Relaxation
from relaxboost.relaxations.base import BinaryDistribution

SMOOTHINGS = ("entropy", "binary-entropy")

Projector = Callable[[Vector], Vector]
"""A function that maps margins to the smoothed distribution."""


def binary_projector(relaxation: Relaxation, beta: float) -> Projector:
    """Return the projector for the binary entropy.

    The smoothing adds β Σ (d_i log d_i + (1 − d_i) log(1 − d_i)) to the relaxation. This function
    is at least as strongly convex as that of Shalev-Shwartz & Singer (2009), Fig. 1, so all results
    on Fig. 1 hold.

    Raises
    ------
    InputError
        If the relaxation has no method `binary_distribution`.
    """
    if not isinstance(relaxation, BinaryDistribution):
        # The remedy names the families that have the method, so it finds them now.
        kinds = {getattr(relaxations, name) for name in relaxations.__all__}
        families = (k for k in kinds if isinstance(k, type) and issubclass(k, Relaxation))
        able = sorted(k.__name__ for k in families if issubclass(k, BinaryDistribution))
        raise InputError(
            'smoothing="binary-entropy" needs a relaxation with a method binary_distribution, '
            f"but {brief(relaxation)} has none; these relaxations have it: {', '.join(able)}"
        )
    return lambda u: relaxation.binary_distribution(u, beta)


def binary_range(m: int) -> float:
    """Return the range of Σ (1 − d) log(1 − d) over the distributions d on m examples."""
    # The largest value is 0, at the vertices of the simplex, and the smallest is −(m − 1) log(m/(m
    # − 1)), at the uniform distribution. Σ d log d has its extrema at the same points, so the
    # ranges add up.
    # With a single example there is only one distribution, and the formula would divide by zero.
    return (m - 1) * math.log(m / (m - 1)) if m > 1 else 0.0

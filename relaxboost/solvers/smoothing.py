"""The smoothing of a game, which makes the distribution d over examples a function of the margins.

The margins are u = A w, for the margin matrix A and the weights w of the hypotheses.
Shalev-Shwartz & Singer (2009, SS09) add β s(d) to the relaxation f(d). Here s is the negative
entropy of d (Fig. 1), or the negative sum of the binary entropies of the entries of d (Sec. 6),
and β is the weight of the smoothing. Then exactly one d minimises <d, u> + f(d) + β s(d). This d
is the smoothed distribution.
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
"""The type of a function that maps the margins of the examples to the smoothed distribution."""


def binary_projector(relaxation: Relaxation, beta: float) -> Projector:
    """Return the function that maps margins to the distribution smoothed by the binary entropy.

    The smoothing adds β Σ (d_i log d_i + (1 − d_i) log(1 − d_i)) to the relaxation. The Hessian of
    this function is a diagonal matrix with the entries β (1/d_i + 1/(1 − d_i)). The Hessian for
    Fig. 1 of Shalev-Shwartz & Singer (2009) has the entries β/d_i, which are smaller. The function
    is therefore at least as strongly convex, and all results on Fig. 1 hold for this smoothing.

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
    """Return the range of Σ (1 − d) log(1 − d) over the distributions d on m examples.

    The largest value is 0, at the vertices of the simplex. The smallest value is
    −(m − 1) log(m/(m − 1)), at the uniform distribution. Σ d log d has its largest and smallest
    values at the same points, so the range of the sum of both functions is the sum of both ranges.
    """
    # With a single example there is only one distribution, and the formula would divide by zero.
    return (m - 1) * math.log(m / (m - 1)) if m > 1 else 0.0

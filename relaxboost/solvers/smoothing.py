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
from typing import Protocol

from relaxboost import relaxations
from relaxboost._core.arrays import Vector
from relaxboost._core.errors import InputError
from relaxboost.relaxations import Relaxation
from relaxboost.relaxations.base import BinaryDistribution, projector

SMOOTHINGS = ("entropy", "binary-entropy")

Projector = Callable[[Vector], Vector]
"""The type of a function that maps margins u to the smoothed distribution d over the examples. This
d minimises <d, u> + f(d) + β s(d), for the relaxation f and the smoothing function s with its
weight β. The margins must be finite."""


class Smoother(Protocol):
    """An object that returns a projector for each weight β of the smoothing.

    A projector is a function that maps margins to smoothed distributions over the examples. The
    class `EntropySmoother` adds the entropy to the relaxation, and the class
    `BinaryEntropySmoother` adds the binary entropy. The class `Unsmoothed` adds no function.
    """

    def projector(self, beta: float) -> Projector:
        """Return the function that maps margins u to the minimiser of <d, u> + f(d) + β s(d).

        d is a distribution over the examples, f is the relaxation, s is the smoothing function, and
        β is the weight `beta` of s. s is 1-strongly convex in the l1 norm.
        """
        ...


class EntropySmoother:
    """The smoothing that adds β Σ d_i log d_i to the relaxation f.

    d is a distribution over the examples, and β is the weight of the smoothing.
    """

    def __init__(self, relaxation: Relaxation) -> None:
        self._relaxation = relaxation

    def projector(self, beta: float) -> Projector:
        """Return the function that maps margins u to `relaxation.distribution(u, beta)`."""
        return projector(self._relaxation, beta)


class BinaryEntropySmoother:
    """The smoothing that adds β Σ (d_i log d_i + (1 − d_i) log(1 − d_i)) to the relaxation f.

    d is a distribution over the examples, and β is the weight of the smoothing. Fig. 1 of
    Shalev-Shwartz & Singer (2009) adds β Σ d_i log d_i instead. The Hessian of the function in
    this class is a diagonal matrix with the entries β (1/d_i + 1/(1 − d_i)). The Hessian for Fig.
    1 has the entries β/d_i, which are smaller. The function in this class is therefore at least as
    strongly convex, and all results on Fig. 1 hold for this smoothing.

    Raises
    ------
    InputError
        If the relaxation has no method `binary_distribution`.
    """

    def __init__(self, relaxation: Relaxation) -> None:
        if not isinstance(relaxation, BinaryDistribution):
            # The remedy names the families that have the method, so it finds them now.
            kinds = {getattr(relaxations, name) for name in relaxations.__all__}
            families = (k for k in kinds if isinstance(k, type) and issubclass(k, Relaxation))
            able = sorted(k.__name__ for k in families if issubclass(k, BinaryDistribution))
            raise InputError(
                'smoothing="binary-entropy" needs a relaxation with a method binary_distribution, '
                f"but {relaxation!r} has none; these relaxations have it: {', '.join(able)}"
            )
        self._relaxation = relaxation

    def projector(self, beta: float) -> Projector:
        """Return the function that maps margins u to the smoothed distribution over the examples.

        The relaxation computes this distribution with `binary_distribution(u, beta)`, where `beta`
        is the weight β of the smoothing.
        """
        return lambda u: self._relaxation.binary_distribution(u, beta)

    @staticmethod
    def added_range(m: int) -> float:
        """Return the range of Σ (1 − d) log(1 − d) over the distributions d on m examples.

        The range is the largest minus the smallest value. The largest value is 0, at the vertices
        of the simplex. The smallest value is −(m − 1) log(m/(m − 1)), at the uniform distribution.
        The function Σ d log d has its largest and smallest values at the same points. Therefore the
        range of the sum of both functions is the sum of both ranges.
        """
        # A single example leaves one distribution, and the formula would divide by zero.
        return (m - 1) * math.log(m / (m - 1)) if m > 1 else 0.0


class Unsmoothed:
    """A smoother that adds no function, for a relaxation f that is strongly convex.

    d is a distribution over the examples, and u are margins. The relaxed margin F(u) is the minimum
    over d of <d, u> + f(d). If f is strongly convex, F has a Lipschitz continuous gradient
    (Shalev-Shwartz & Singer 2009, Lemma 18).
    """

    def __init__(self, relaxation: Relaxation) -> None:
        self._relaxation = relaxation

    def projector(self, beta: float) -> Projector:
        """Return the function that maps margins u to the minimiser of <d, u> + f(d).

        d is a distribution over the examples, and f is the relaxation. `beta` has no effect.
        """
        # The minimiser is unique, because f is strongly convex.
        return lambda u: self._relaxation.relaxed_margin(u)[1]

"""The smoothing of a game, which makes the distribution d over examples a function of the margins.

The margins are u = A w, for the margin matrix A and the weights w of the hypotheses. Shalev-Shwartz
& Singer (2009) add a function of d to the relaxation f, multiplied by a weight β. The function is
the negative entropy of d (Fig. 1), or the negative sum of the binary entropies of its entries (Sec.
6).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Protocol

from relaxboost import relaxations
from relaxboost._core.arrays import Vector
from relaxboost._core.errors import InputError
from relaxboost.relaxations import Relaxation

SMOOTHINGS = ("entropy", "binary-entropy")

Projector = Callable[[Vector], Vector]
"""A function that returns the smoothed distribution d for given margins. The margins must be
finite."""


class Smoother(Protocol):
    """An object that returns a projector for each β. A relaxation is such an object.

    A projector is the function that maps margins to smoothed distributions. The other classes of
    this module replace the smoothing of a relaxation.
    """

    def projector(self, beta: float) -> Projector:
        """Return the function that maps margins u to the minimiser of <d, u> + f(d) + β s(d).

        d is a distribution over the examples, f is the relaxation, and s is the smoothing function.
        In the l1 norm, the modulus of strong convexity of s is at least 1.
        """
        ...


class BinaryEntropySmoother:
    """The smoothing by β Σ d log d + (1 − d) log(1 − d), where Fig. 1 of SS09 has β Σ d log d.

    The Hessian of this function is diagonal with the entries 1/d_i + 1/(1 − d_i), times β. They are
    at least β/d_i. The function is therefore at least as strongly convex as β Σ d log d, and all
    results of SS09 on Fig. 1 hold for it.

    Raises
    ------
    InputError
        If the relaxation has no method `binary_distribution`.
    """

    def __init__(self, relaxation: Relaxation) -> None:
        if not relaxation.binary_entropy:
            # The remedy names the families that have the method, so it finds them now.
            kinds = {getattr(relaxations, name) for name in relaxations.__all__}
            families = (k for k in kinds if isinstance(k, type) and issubclass(k, Relaxation))
            able = sorted(kind.__name__ for kind in families if kind.binary_entropy)
            raise InputError(
                'smoothing="binary-entropy" needs a relaxation with a method binary_distribution, '
                f"and {relaxation!r} has none; these have: {', '.join(able)}"
            )
        self._relaxation = relaxation

    def projector(self, beta: float) -> Projector:
        """Return the function that maps margins u to `binary_distribution(u, beta)` of the
        relaxation.

        `beta` is the weight β of the smoothing.
        """
        return lambda u: self._relaxation.binary_distribution(u, beta)

    @staticmethod
    def added_range(m: int) -> float:
        """Return the range of Σ (1 − d) log(1 − d) over the distributions d on m examples.

        The range is (m − 1) log(m/(m − 1)), since the sum is 0 at the vertices and smallest at the
        uniform d. Σ d log d has its largest and smallest values at the same points, and its range
        is log m. The range of the sum of both functions is therefore the sum of their ranges.
        """
        # A single example leaves one distribution, and the formula would divide by zero.
        return (m - 1) * math.log(m / (m - 1)) if m > 1 else 0.0


class Unsmoothed:
    """A smoother that adds nothing, for a relaxation f that is strongly convex itself.

    The relaxed margin F(u) = min over d of <d, u> + f(d) then has a Lipschitz continuous gradient
    (SS09, Lemma 18).
    """

    def __init__(self, relaxation: Relaxation) -> None:
        self._relaxation = relaxation

    def projector(self, beta: float) -> Projector:
        """Return the function that maps margins u to the minimiser of <d, u> + f(d).

        The weight `beta` has no effect.
        """
        # The minimiser is unique, because f is strongly convex.
        return lambda u: self._relaxation.relaxed_margin(u)[1]

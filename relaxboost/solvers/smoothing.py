"""The smoothing of a game: how the margins u = A w determine the distribution d over examples.

Shalev-Shwartz & Singer (2009) add the entropy of d to the relaxation f (Fig. 1), or the sum of the
binary entropies of its entries (Sec. 6), each times a weight β.
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
"""A function that returns the smoothed distribution d for given margins. All margins are finite."""


class Smoother(Protocol):
    """An object that makes projectors: a relaxation, or a relaxation with another smoothing."""

    def projector(self, beta: float) -> Projector:
        """Return the function that maps margins u to the minimiser of <d, u> + f(d) + β s(d).

        d is a distribution over the examples, f is the relaxation, and s is a function with
        modulus of strong convexity at least 1 in the l1 norm.
        """
        ...


class BinaryEntropySmoother:
    """Smoothing by β Σ d log d + (1 − d) log(1 − d) instead of β Σ d log d.

    The Hessian of this function is diagonal with the entries 1/d_i + 1/(1 − d_i), which are at
    least 1/d_i. The function is therefore at least as strongly convex as the relative entropy, and
    everything that SS09 prove of Fig. 1 holds for it.

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
        """Return the function that maps margins to the relaxation's `binary_distribution` at β."""
        return lambda u: self._relaxation.binary_distribution(u, beta)

    @staticmethod
    def added_range(m: int) -> float:
        """Return the range of Σ (1 − d) log(1 − d) over the simplex, (m − 1) log(m/(m − 1)).

        The sum is 0 at the vertices and smallest at the uniform d. Σ d log d has its extremes at
        the same points and its range is log m, so the ranges of the two sums add up.
        """
        # A single example leaves one distribution, and the formula would divide by zero.
        return (m - 1) * math.log(m / (m - 1)) if m > 1 else 0.0


class Unsmoothed:
    """No smoothing, for a relaxation f that is strongly convex itself.

    The relaxed margin F(u) = min over d of <d, u> + f(d) then has a Lipschitz gradient (SS09,
    Lemma 18).
    """

    def __init__(self, relaxation: Relaxation) -> None:
        self._relaxation = relaxation

    def projector(self, beta: float) -> Projector:
        """Return the function that maps margins u to the minimiser of <d, u> + f(d).

        The weight `beta` has no effect.
        """
        # The minimiser is unique, because f is strongly convex.
        return lambda u: self._relaxation.relaxed_margin(u)[1]

"""What makes d_t of the margins: the entropy of SS09 Fig. 1, or the binary entropies of Sec. 6."""

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
"""Makes d of margins, which are known to be finite."""


class Smoother(Protocol):
    """Whatever makes d_t of the margins and β: a relaxation, or one with another smoothing."""

    def projector(self, beta: float) -> Projector:
        """Return what gives the d of least <d, u> + f(d) + β s(d), s of modulus >= 1 in l1."""
        ...


class BinaryEntropySmoother:
    """Smooths by β Σ d log d + (1 − d) log(1 − d) in place of β Σ d log d.

    Its Hessian is diagonal with 1/d_i + 1/(1 − d_i) >= 1/d_i, so that it is at least as strongly
    convex as the relative entropy: all that SS09 proves of Fig. 1 holds for it.
    """

    def __init__(self, relaxation: Relaxation) -> None:
        if not relaxation.binary_entropy:
            kinds = {getattr(relaxations, name) for name in relaxations.__all__}
            families = (k for k in kinds if isinstance(k, type) and issubclass(k, Relaxation))
            able = sorted(kind.__name__ for kind in families if kind.binary_entropy)
            raise InputError(
                'smoothing="binary-entropy" needs a relaxation with a method binary_distribution, '
                f"and {relaxation!r} has none; these have: {', '.join(able)}"
            )
        self._relaxation = relaxation

    def projector(self, beta: float) -> Projector:
        """Return the relaxation's `binary_distribution` at β."""
        return lambda u: self._relaxation.binary_distribution(u, beta)

    @staticmethod
    def added_range(m: int) -> float:
        """Return the range of Σ (1 − d) log(1 − d) over the simplex, (m − 1) log(m/(m − 1)).

        It is 0 at the vertices and least at the uniform d, where Σ d log d is least too; so with
        the range of that, log m, it gives the range of the sum.
        """
        return (m - 1) * math.log(m / (m - 1)) if m > 1 else 0.0


class Unsmoothed:
    """Adds nothing: f is strongly convex itself, so that F has a Lipschitz gradient (Lemma 18)."""

    def __init__(self, relaxation: Relaxation) -> None:
        self._relaxation = relaxation

    def projector(self, beta: float) -> Projector:
        """Return what gives the minimiser of <d, u> + f(d), whatever β."""
        return lambda u: self._relaxation.relaxed_margin(u)[1]

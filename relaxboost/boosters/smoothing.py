"""What makes d_t of the margins: the entropy of SS09 Fig. 1, or the binary entropies of Sec. 6."""

from __future__ import annotations

import math
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from relaxboost import relaxations
from relaxboost.errors import InputError
from relaxboost.relaxations import Relaxation

Vector = NDArray[np.float64]

_BINARY = "binary_distribution"


class Smoother(Protocol):
    """Whatever makes d_t of the margins and β: a relaxation, or one with another smoothing."""

    def distribution(self, u: Vector, beta: float) -> Vector:
        """Return the d of least <d, u> + f(d) + β times a function of modulus >= 1 in l1."""
        ...


class BinaryEntropySmoother:
    """Smooths by β Σ d log d + (1 − d) log(1 − d) in place of β Σ d log d.

    Its Hessian is diagonal with 1/d_i + 1/(1 − d_i) >= 1/d_i, so that it is at least as strongly
    convex as the relative entropy: all that SS09 proves of Fig. 1 holds for it.
    """

    def __init__(self, relaxation: Relaxation) -> None:
        own = getattr(relaxation, "binary_distribution", None)
        if own is None:
            known = {vars(relaxations)[name] for name in relaxations.__all__}
            able = sorted(kind.__name__ for kind in known if hasattr(kind, _BINARY))
            raise InputError(
                f'smoothing="binary-entropy" needs a relaxation with a method {_BINARY}, and '
                f"{relaxation!r} has none; these have: {', '.join(able)}"
            )
        self.distribution = own

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

    def distribution(self, u: Vector, beta: float) -> Vector:
        """Return the minimiser of <d, u> + f(d), whatever β."""
        return self._relaxation.relaxed_margin(u)[1]

"""A divergence from a prior by its generator, for those that have no closed form here."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from relaxboost._core.errors import InputError
from relaxboost._core.lazy import cp
from relaxboost._core.parameters import exact, spell
from relaxboost.relaxations.custom import Custom
from relaxboost.relaxations.priors import check_prior


def f_divergence(
    generator: Callable[[Any], Any],
    *,
    weight: Any = None,
    radius: Any = None,
    prior: Any = None,
    name: str | None = None,
) -> Custom:
    """Return the relaxation c Σ π φ(d/π), or the indicator of Σ π φ(d/π) <= r, of a generator φ.

    ::

        js = lambda t: cp.kl_div(t, (1 + t) / 2) + cp.kl_div(1, (1 + t) / 2)  # Jensen-Shannon
        rb.f_divergence(js, weight=0.1)

    It is a `Custom`, with numerical brackets and the cost of a cone solve for a distribution.
    `KLPenalty`, `ChiSquarePenalty`, `HellingerPenalty`, `PowerPenalty` and their balls have
    closed forms.

    Parameters
    ----------
    generator : callable
        φ, convex with φ(1) = 0: takes a cvxpy expression t of shape (m,), and returns φ of each
        entry as a convex expression of that shape.
    weight, radius : int, float or Fraction > 0
        c or r; exactly one of them.
    prior : vector of m numbers > 0, optional
        π. They sum to one within 1e-9, and are divided by their sum; by default uniform.
    name : str, optional
        For messages and reports.

    Raises
    ------
    InputError
        If a parameter is out of its range; and when a game is declared, if φ(1) is not 0, or what
        φ returns has another shape or is not convex by cvxpy's rules.

    References
    ----------
    Csiszar (1967) for f-divergences; Shalev-Shwartz & Singer (2009), Sec. 6.
    """
    if not callable(generator):
        raise InputError(
            f"f_divergence needs its generator to be a function of a cvxpy expression, such as "
            f"cp.square, got {generator!r}"
        )
    if (weight is None) == (radius is None):
        raise InputError("f_divergence needs either weight or radius, and not both")
    given, kind = (radius, "radius") if weight is None else (weight, "weight")
    size = exact("f_divergence", kind, given)
    if size <= 0:
        raise InputError(f"f_divergence needs {kind} > 0, got {spell(size)}")
    kept = check_prior("f_divergence", prior)
    if kept is not None and 0 in kept:
        raise InputError("f_divergence needs every entry of prior > 0; leave those examples out")
    if name is None:
        about = getattr(generator, "__qualname__", repr(generator))
        name = f"f_divergence({about}, {kind}={spell(size)}" + ", prior" * (kept is not None) + ")"
    return Custom(f=_Divergence(generator, kind, size, kept), name=name)


@dataclass(frozen=True)
class _Divergence:
    """The function of a cvxpy variable that `Custom` asks for."""

    generator: Callable[[Any], Any]
    kind: str
    size: Fraction
    prior: tuple[Any, ...] | None

    def __call__(self, d: Any) -> tuple[Any, list[Any]]:
        m = d.shape[0]
        if self.prior is not None and len(self.prior) != m:
            raise InputError(f"prior has {len(self.prior)} entries")
        pi = np.full(m, 1.0 / m) if self.prior is None else np.array([float(p) for p in self.prior])
        pi = pi / pi.sum()
        value = self.generator(cp.Constant(np.ones(m)))
        if not isinstance(value, cp.Expression) or value.shape != (m,):
            returned = getattr(value, "shape", repr(value))
            raise InputError(
                f"the generator must return a cvxpy expression of shape ({m},), one number for "
                f"each entry of t, and returned {returned}"
            )
        at_one = np.asarray(value.value)
        if not abs(at_one).max() <= 1e-9:
            raise InputError(
                f"a generator is zero at t = 1, and this one is {at_one[np.argmax(abs(at_one))]:g};"
                " subtract that"
            )
        divergence = pi @ self.generator(cp.multiply(1.0 / pi, d))
        if self.kind == "radius":
            return 0.0, [divergence <= float(self.size)]
        return float(self.size) * divergence, []

"""The base classes of domains, the sets of weights w of a game.

A domain has a penalty g* of the weights, which is 0 on a set, and the conjugate g of g*.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from fractions import Fraction
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from relaxboost._core.arrays import Vector
from relaxboost._core.digits import number
from relaxboost._core.errors import InputError
from relaxboost._core.parameters import positive_size, spell
from relaxboost.matrices import Best, MarginMatrix

WEIGHT_BITS = 96
"""The number of binary digits after the point of weights w around 1 that a certificate stores as
exact fractions. Their rounding is far below that of doubles."""


class Dense(NamedTuple):
    """Weights w that are the best response to a distribution d and use all columns, for domains
    that are not polytopes.
    """

    w: Vector
    """The weights w that maximise <Aᵀd, w> − g*(w), as a vector with an entry for each column."""
    edge: float
    """The computed size N(Aᵀd) of the edges. `Domain` defines the function N."""
    slack: float = 0.0
    """The largest amount by which N(Aᵀd) may exceed `edge`. For dense weights it is always 0."""


class Domain(ABC):
    """The domain of the weights w.

    It is described by a finite convex function g with g(0) = 0, and by the conjugate g* of g.

    The value of the game is ρ = min over d in the simplex of f(d) + g(Aᵀd) = max over w of F(A w) −
    g*(w). If w is restricted to a compact convex set, g is the support function of the set and g*
    is the indicator of the set. If w has a superlinear penalty, g* is the penalty. In all other
    cases, g(Aᵀd) may be infinite for some d, and such a d proves no upper bound on ρ. Therefore a
    domain must be a compact set or a superlinear penalty.

    For each domain, g(v) = φ(N(v)), where N is the largest edge or a norm of the edges v. N changes
    by at most `spread(n)` times the largest change of an edge, and φ (the method `value`) is convex
    and non-decreasing. Outward rounding relies only on these properties. A subclass should be
    immutable and comparable, for example a frozen dataclass.

    References
    ----------
    Shalev-Shwartz & Singer (2009), Sec. 3 (Definition 6) and the last sentence of Sec. 6.
    """

    level: ClassVar[Literal["exact", "enclosed"]]
    """The strongest level of proof that the domain allows.

    The level is "exact" if values of g are rational, and "enclosed" if they contain square roots.
    """

    holds_zero: ClassVar[bool] = True
    """Whether w = 0 is in the domain and g*(0) = 0. Weights may then be arbitrarily small."""

    linear: ClassVar[bool]
    """Whether g is polyhedral, so that a linear program can express g."""

    @abstractmethod
    def best(self, matrix: MarginMatrix, d: Vector) -> Best | Dense:
        """Return the weights w that maximise <Aᵀd, w> − g*(w).

        The field ``edge`` of the result is N(Aᵀd).
        """

    @abstractmethod
    def value(self, size: float) -> float:
        """Return φ(size), where φ is the function in g(v) = φ(N(v))."""

    @abstractmethod
    def value_above(self, size: float) -> float:
        """Return an upper bound on φ(size), where φ is the function in g(v) = φ(N(v))."""

    @abstractmethod
    def spread(self, n: int | None) -> float:
        """Return an upper bound on the Lipschitz constant of N in the sup norm, for n edges."""

    @abstractmethod
    def repair(self, coefficients: Vector) -> Vector:
        """Return weights near `coefficients` at which g* is finite, up to rounding.

        The coefficients belong to different columns. If there are no such weights, an InputError is
        raised.
        """

    @abstractmethod
    def cost_above(self, coefficients: Vector) -> float:
        """Return an upper bound on g*(w') + ‖w − w'‖_1 for some w' at which g* is finite.

        The weights w are `coefficients`, which may be infeasible because of rounding errors. The
        second term bounds the difference of the margins of w and w'.
        """

    def cost(self, w: Vector) -> float:
        """Return the penalty g*(w) of feasible weights w, in doubles. For a set, it is 0."""
        return 0.0

    @abstractmethod
    def reach(self, n: int | None) -> float:
        """Return an upper bound on ‖A w‖_inf over all best responses w to distributions d."""

    @abstractmethod
    def cvxpy_support(self, A: Any, d: Any) -> tuple[Any, list[tuple[Any, float]]]:
        """Return g(Aᵀd) as a cvxpy expression, and a list of pairs (constraint, sign).

        The optimal weights w are the sum of sign · multiplier over these pairs.
        """

    @abstractmethod
    def cvxpy_cost(self, w: Any) -> tuple[Any, list[Any]]:
        """Return g*(w) as a cvxpy expression of the variable `w`, and the constraints on w."""

    @abstractmethod
    def key(self) -> str:
        """Return the kind of the domain and its exact parameters as text, from which the digest of
        a game is computed.
        """

    def describe(self) -> dict[str, str] | None:
        """Return the description of the domain in a certificate.

        Return None if certificates do not support the domain.
        """
        return None

    def exact_weights(self, coefficients: Sequence[float]) -> list[Fraction]:
        """Return exact weights at which g* is finite, near the repaired weights `coefficients`.

        By default each weight is rounded towards zero to a multiple of 1/`weight_denominator`. The
        repaired weights satisfy the constraint of a set only up to rounding. Sets therefore also
        change some weights slightly, so that the exact weights satisfy the constraint.
        """
        unit = self.weight_denominator
        return [Fraction(int(Fraction(c) * unit), unit) for c in coefficients]

    @property
    def weight_denominator(self) -> int:
        """The common denominator of the weights that a certificate stores as exact fractions."""
        return 1 << WEIGHT_BITS

    def check(self, matrix: MarginMatrix) -> None:
        """Raise an InputError if `matrix` cannot be used with this domain.

        By default a matrix must provide the edges of all columns, with their signs.
        """
        if matrix.n is None or matrix.slack > 0.0:
            raise InputError(
                f"over={self!r} needs the edge of every column, with its sign, but {matrix!r} "
                "returns only the largest absolute edge that it finds; use over=L1Ball(radius), or "
                "enumerate the columns in a matrix"
            )

    def start(self, matrix: MarginMatrix, d: Vector) -> tuple[NDArray[np.int64], Vector]:
        """Return the initial weights of a run as (support, coefficients).

        By default they are w = 0.
        """
        return np.empty(0, dtype=np.int64), np.empty(0)

    def rounds_bound(self, spread: float, n: int | None, tol: float, certified: bool) -> float:
        """Return an upper bound on the number of rounds until the gap of a corrective booster is
        `tol`.

        The booster is that of Shalev-Shwartz & Singer (2009), Fig. 1. `spread` is the range over
        the simplex of the function that is multiplied by β. For the entropy it is log m. The bound
        of the theorem for the smoothed test is 32 log(m)/ε², and the bound for the certified gap is
        twice as large. The theorem assumes ‖A(v − w)‖_inf <= 2. Here this norm is at most
        2·`reach`, so the bound is multiplied by the square of `reach`.
        """
        ratio = self.reach(n) / tol
        # The test precedes the step, so even a game that needs one step (m = 1) takes two rounds.
        return max(2.0, (64.0 if certified else 32.0) * spread * ratio * ratio)


class Sized(Domain):
    """A domain with one parameter, the radius of a set or the weight of a penalty."""

    size_name: ClassVar[str] = "radius"
    kinds: ClassVar[tuple[str, str]]
    """The two names of this kind of domain: the name in digests, and the name in certificates."""

    @property
    def size(self) -> Fraction:
        """The exact radius of the set, or the exact weight of the penalty."""
        return getattr(self, self.size_name)

    def __post_init__(self) -> None:
        size = positive_size(type(self).__name__, self.size_name, self.size)
        object.__setattr__(self, self.size_name, size)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.size_name}={spell(self.size)})"

    @property
    def weight_denominator(self) -> int:
        # Weights of a small set need more digits.
        return 1 << (WEIGHT_BITS + (math.ceil(1 / self.size) - 1).bit_length())

    def describe(self) -> dict[str, str]:
        return {"kind": self.kinds[1], "size": number(self.size)}

    def key(self) -> str:
        return f"{self.kinds[0]} {self.size}"

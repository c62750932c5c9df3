"""The domain of w, with its support function g and its penalty g*."""

from __future__ import annotations

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

BELOW = 1 << 96
"""The common denominator of exact weights."""


class Dense(NamedTuple):
    """The best answer of a domain without vertices to a distribution d: a dense w."""

    w: Vector
    """The maximiser of <Aᵀd, w> − g*(w), shape (n,)."""
    edge: float
    """The norm N(Aᵀd), as computed; see `Domain`."""
    slack: float = 0.0
    """The slack, which is always 0, because the answer uses every edge."""


class Domain(ABC):
    """The domain of the w player: a convex g, finite and with g(0) = 0, and its conjugate g*.

    The game is ρ = min over d in the simplex of f(d) + g(Aᵀd) = max over w of F(A w) − g*(w). For a
    compact convex W, g is the support function of W, and g* its indicator. For a superlinear
    penalty on w, g* is the penalty. If g(Aᵀd) is infinite for some d, such a d gives no upper bound
    on ρ. Therefore only these two kinds are accepted.

    Every g here is φ(N(v)) for a norm-like N (the largest edge, or a norm of the edges) and a
    non-decreasing convex φ (`value`). N changes by at most `spread(n)` times the largest change of
    an edge. Outward rounding needs no other property. A subclass should be immutable and
    comparable; a frozen dataclass is both.

    References
    ----------
    Shalev-Shwartz & Singer (2009), Sec. 3 (Definition 6) and the last sentence of Sec. 6.
    """

    level: ClassVar[Literal["exact", "enclosed"]]
    """The strongest level of proof that values of g allow: rational, or with square roots."""

    holds_zero: ClassVar[bool] = True
    """Whether w = 0 has the cost 0, so that weights may be arbitrarily small."""

    linear: ClassVar[bool]
    """Whether g is polyhedral, so that a linear program can express it."""

    @abstractmethod
    def best(self, matrix: MarginMatrix, d: Vector) -> Best | Dense:
        """Return the w that maximises <Aᵀd, w> − g*(w), with N(Aᵀd) as ``edge``."""

    @abstractmethod
    def value(self, size: float) -> float:
        """Return φ(size), where the support function is g(v) = φ(N(v))."""

    @abstractmethod
    def value_above(self, size: float) -> float:
        """Return a number not below φ(size)."""

    @abstractmethod
    def spread(self, n: int | None) -> float:
        """Return c, rounded up, with |N(v) − N(v')| <= c ‖v − v'‖_inf for n edges."""

    @abstractmethod
    def repair(self, coefficients: Vector) -> Vector:
        """Return weights near `coefficients` at which g* is finite, up to rounding.

        `coefficients` belong to different columns.

        Raises
        ------
        InputError
            If no such weights are near.
        """

    @abstractmethod
    def cost_above(self, coefficients: Vector) -> float:
        """Return a number not below g*(w') + ‖w − w'‖_1 for some w' at which g* is finite.

        The number covers the rounding errors that keep repaired weights from being exactly
        feasible. The margins of w and w' differ by at most ‖w − w'‖_1, because entries of A are at
        most 1.
        """

    @abstractmethod
    def reach(self, n: int | None) -> float:
        """Return a bound on ‖A w‖_inf over the w that are a best answer to some d."""

    @abstractmethod
    def cvxpy_support(self, A: Any, d: Any) -> tuple[Any, list[tuple[Any, float]]]:
        """Return g(Aᵀd) as a cvxpy expression, and its constraints, each with a sign.

        The w of the primal is the sum of sign times multiplier over these constraints.
        """

    @abstractmethod
    def cvxpy_cost(self, w: Any) -> tuple[Any, list[Any]]:
        """Return g*(w) as a cvxpy expression of the variable `w`, and its constraints."""

    @abstractmethod
    def key(self) -> str:
        """Return the kind and exact parameters of the domain, which enter the digest of a game."""

    def describe(self) -> dict[str, str] | None:
        """Return the domain as certificates store it, or None (the default) without a checker."""
        return None

    def exact_weights(self, coefficients: Sequence[float]) -> list[Fraction]:
        """Return fractions within 2^-90 of the repaired weights, at which g* is finite exactly.

        By default these are the coefficients, rounded towards zero.
        """
        return [Fraction(int(Fraction(c) * BELOW), BELOW) for c in coefficients]

    def check(self, matrix: MarginMatrix) -> None:
        """Raise an InputError if `matrix` cannot be used with this domain.

        By default a domain needs all edges, with their signs.
        """
        if matrix.n is None or matrix.slack > 0.0:
            raise InputError(
                f"over={self!r} needs the edge of every column, with its sign, and {matrix!r} "
                "answers with the largest absolute edge it finds; play over L1Ball(radius), or "
                "enumerate the columns in a matrix"
            )

    def start(self, matrix: MarginMatrix, d: Vector) -> tuple[NDArray[np.int64], Vector]:
        """Return (support, coefficients) of the w at which runs start, by default w = 0."""
        return np.empty(0, dtype=np.int64), np.empty(0)

    def rounds_bound(self, spread: float, n: int | None, tol: float, certified: bool) -> float:
        """Return a bound on the number of rounds of the step of Fig. 1 to reach a gap of `tol`.

        `spread` is the range, over the simplex, of the function that β multiplies; log m for the
        entropy. The bound 32 log(m)/ε² of the theorem (for the smoothed test; twice that for the
        certified gap) assumes ‖A(v − w)‖_inf <= 2. Here the bound on that norm is 2·`reach`, which
        enters squared.
        """
        ratio = self.reach(n) / tol
        # The test precedes the step, so even a game that needs one step (m = 1) takes two rounds.
        return max(2.0, (64.0 if certified else 32.0) * spread * ratio * ratio)


class Sized(Domain):
    """A domain with one parameter, the radius of a set or the weight of a penalty."""

    size_name: ClassVar[str] = "radius"
    kinds: ClassVar[tuple[str, str]]
    """The name of the parameter in digests and certificates."""

    @property
    def size(self) -> Fraction:
        """The radius or the weight, exactly."""
        size: Fraction = getattr(self, self.size_name)
        return size

    def __post_init__(self) -> None:
        size = positive_size(type(self).__name__, self.size_name, self.size)
        object.__setattr__(self, self.size_name, size)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.size_name}={spell(self.size)})"

    def describe(self) -> dict[str, str]:
        """Return the kind, and the radius or the weight."""
        return {"kind": self.kinds[1], "size": number(self.size)}

    def key(self) -> str:
        """Return the kind, and the exact radius or weight."""
        return f"{self.kinds[0]} {self.size}"

"""What w ranges over: a domain with its support function g and its penalty g*."""

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
    """The best answer to d of a domain without vertices: a whole w."""

    w: Vector
    """The maximiser of <Aᵀd, w> − g*(w), shape (n,)."""
    edge: float
    """N(Aᵀd), as computed; see `Domain`."""
    slack: float = 0.0
    """Always 0: every edge was looked at."""


class Domain(ABC):
    """The w player: g convex, finite everywhere and zero at zero, and its conjugate g*.

    The game is ρ = min over d in the simplex of f(d) + g(Aᵀd) = max over w of F(A w) − g*(w). For
    a compact convex W, g is its support function and g* its indicator; for a superlinear penalty
    on w, g* is the penalty. Where g is infinite somewhere no pair with such a d bounds ρ from
    above, so only these two kinds are accepted.

    Every g here is φ(N(v)) with a non-decreasing convex φ (`value`) of a size N (the largest
    edge, or a norm of the edges), and N moves by at most `spread(n)` times the largest change
    of an edge. That is all that outward rounding needs. A subclass should be immutable and
    comparable; a frozen dataclass is.

    References
    ----------
    Shalev-Shwartz & Singer (2009), Sec. 3 (Definition 6) and the last sentence of Sec. 6.
    """

    level: ClassVar[Literal["exact", "enclosed"]]
    """The strongest proof its values allow: rational, or with square roots."""

    holds_zero: ClassVar[bool] = True
    """Whether w = 0 costs nothing, so that weights may be as small as one likes."""

    linear: ClassVar[bool]
    """Whether g is polyhedral, so that a linear program can state it."""

    @abstractmethod
    def best(self, matrix: MarginMatrix, d: Vector) -> Best | Dense:
        """Return the w that maximises <Aᵀd, w> − g*(w), with its size N(Aᵀd) as ``edge``."""

    @abstractmethod
    def value(self, size: float) -> float:
        """Return φ(size), where the domain's function is g(v) = φ(N(v)) for its norm N."""

    @abstractmethod
    def value_above(self, size: float) -> float:
        """Return a number not below φ(size)."""

    @abstractmethod
    def spread(self, n: int | None) -> float:
        """Return c, rounded up, with |N(v) − N(v')| <= c ‖v − v'‖_inf for n edges."""

    @abstractmethod
    def repair(self, coefficients: Vector) -> Vector:
        """Return the weights (of distinct columns) moved to where g* is finite, up to rounding.

        Raises
        ------
        InputError
            If there is nothing near to move them to.
        """

    @abstractmethod
    def cost_above(self, coefficients: Vector) -> float:
        """Return a number not below g*(w') + ‖w − w'‖_1 for some w' at which g* is finite.

        It absorbs the roundings that keep repaired weights from being exactly feasible; the
        margins of w and w' differ by at most ‖w − w'‖_1, entries of A being at most 1.
        """

    @abstractmethod
    def reach(self, n: int | None) -> float:
        """Return a bound on ‖A w‖_inf over all w that a best answer to some d can be."""

    @abstractmethod
    def cvxpy_support(self, A: Any, d: Any) -> tuple[Any, list[tuple[Any, float]]]:
        """Return g(Aᵀd) as a cvxpy expression and its constraints, each with a sign.

        The sum of sign times multiplier over the constraints is the w of the primal.
        """

    @abstractmethod
    def cvxpy_cost(self, w: Any) -> tuple[Any, list[Any]]:
        """Return g*(w) as a cvxpy expression of the variable `w`, and the constraints it needs."""

    @abstractmethod
    def key(self) -> str:
        """Return what the digest of a game knows the set by: its kind and exact parameters."""

    def describe(self) -> dict[str, str] | None:
        """Return the set as certificates write it; None, the default, where no checker knows it."""
        return None

    def exact_weights(self, coefficients: Sequence[float]) -> list[Fraction]:
        """Return weights in fractions within 2^-90 of repaired ones, where g* is finite exactly.

        By default the coefficients, cut off towards zero.
        """
        return [Fraction(int(Fraction(c) * BELOW), BELOW) for c in coefficients]

    def check(self, matrix: MarginMatrix) -> None:
        """Raise an InputError if this set cannot be played over with `matrix`.

        By default every edge is needed, with its sign.
        """
        if matrix.n is None or matrix.slack > 0.0:
            raise InputError(
                f"over={self!r} needs the edge of every column, with its sign, and {matrix!r} "
                "answers with the largest absolute edge it finds; play over L1Ball(radius), or "
                "enumerate the columns in a matrix"
            )

    def start(self, matrix: MarginMatrix, d: Vector) -> tuple[NDArray[np.int64], Vector]:
        """Return (support, coefficients) of the point that runs start from, by default w = 0."""
        return np.empty(0, dtype=np.int64), np.empty(0)

    def rounds_bound(self, spread: float, n: int | None, tol: float, certified: bool) -> float:
        """Return how many rounds Fig. 1's step needs at most to a gap of `tol`.

        `spread` is the range over the simplex of what β multiplies, log m for the entropy. The
        theorem's 32 log(m)/ε² (for the smoothed test; twice that for the certified one) is
        for ‖A(v − w)‖_inf <= 2; here that is 2·`reach`, and the square of it enters.
        """
        ratio = self.reach(n) / tol
        # The test comes before the step, so that even a game for one step (m = 1) takes two rounds.
        return max(2.0, (64.0 if certified else 32.0) * spread * ratio * ratio)


class Sized(Domain):
    """A domain of one parameter, the radius of a set or the weight of a penalty."""

    size_name: ClassVar[str] = "radius"
    kinds: ClassVar[tuple[str, str]]
    """What digests and what certificates call it."""

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

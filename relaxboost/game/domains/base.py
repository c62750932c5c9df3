"""The base classes of weight domains.

A domain has a weight penalty g*, which is 0 on a set, and its conjugate g.
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
"""The number of binary digits after the point to which a certificate rounds weights. Domains with
small weights use more digits."""


class Dense(NamedTuple):
    """The dense best response to a distribution, with a weight for each hypothesis.

    Domains that are not polytopes, such as an l2 ball, return it.
    """

    w: Vector
    """The weights w that maximise <Aᵀd, w> − g*(w), with an entry for each column of the margin
    matrix A."""
    edge: float
    """The size N(Aᵀd) of the edges, such as their Euclidean norm. `Domain` defines N."""
    slack: float = 0.0
    """The most by which the true size of the edges may exceed `edge`. It is always 0 for dense
    weights."""


class Domain(ABC):
    """The domain of the hypothesis weights w in a game: a set, or a penalty on w.

    A finite convex function g with g(0) = 0 and its conjugate g* describe the domain. The value of
    the game is ρ = min over d in the simplex of f(d) + g(Aᵀd) = max over w of F(A w) − g*(w). For a
    compact convex set, g is the support function and g* is the indicator. For a superlinear
    penalty, g* is the penalty. Other domains are not allowed: g(Aᵀd) could be infinite, and such a
    d would prove no upper bound on ρ.

    For each domain, g(v) = φ(N(v)), where N is the largest edge or a norm of the edges v. N changes
    by at most `spread(n)` times the largest change of an edge, and φ (the method `value`) is convex
    and non-decreasing. Outward rounding relies only on these properties. A subclass should be
    immutable and comparable, for example a frozen dataclass.

    References
    ----------
    Shalev-Shwartz & Singer (2009), Sec. 3 (Definition 6) and the last sentence of Sec. 6.
    """

    level: ClassVar[Literal["exact", "enclosed"]]
    """The strongest level of proof that this domain allows.

    The level is "exact" (fractions) if g has rational values, and "enclosed" (intervals) if its
    values contain square roots.
    """

    holds_zero: ClassVar[bool] = True
    """Whether the domain contains w = 0 with the penalty g*(0) = 0."""

    linear: ClassVar[bool]
    """Whether the conjugate g of the penalty is polyhedral, so that a linear program can express
    it."""

    @abstractmethod
    def best(self, matrix: MarginMatrix, d: Vector) -> Best | Dense:
        """Return the best response to a distribution `d`: weights w that maximise <Aᵀd, w> − g*(w).

        The field ``edge`` of the result is N(Aᵀd), the size of the edges.
        """

    @abstractmethod
    def value(self, size: float) -> float:
        """Return φ(`size`), which is g(v) for edges v of this size."""

    @abstractmethod
    def value_above(self, size: float) -> float:
        """Return an upper bound on g(v) for edges v whose size is at most `size`."""

    @abstractmethod
    def spread(self, n: int | None) -> float:
        """Return a Lipschitz constant of the size N(v) of n edges v in the sup norm."""

    @abstractmethod
    def repair(self, coefficients: Vector) -> Vector:
        """Return feasible weights near the given weights, up to rounding.

        `coefficients` contains the weights of different hypotheses, and all other weights are 0.
        Weights are feasible if the penalty g* is finite. Raise an InputError if these hypotheses
        allow no feasible weights.
        """

    @abstractmethod
    def cost_above(self, coefficients: Vector) -> float:
        """Return an upper bound on g*(w') + ‖w − w'‖_1 for some feasible weights w'.

        w are the weights `coefficients`, which may be infeasible because of rounding errors. The
        second term bounds the difference between the margins of w and w'.
        """

    def cost(self, w: Vector) -> float:
        """Return the penalty g*(w) of feasible weights w, in doubles. It is 0 for a set."""
        return 0.0

    @abstractmethod
    def reach(self, n: int | None) -> float:
        """Return an upper bound on the margins |(A w)_i| of all best responses w.

        A best response maximises <Aᵀd, w> − g*(w) for some distribution d. `n` is the number of
        hypotheses.
        """

    @abstractmethod
    def cvxpy_support(self, A: Any, d: Any) -> tuple[Any, list[tuple[Any, float]]]:
        """Return g(Aᵀd) as a cvxpy expression, and its constraints.

        The constraints are pairs (constraint, sign). The optimal weights w are the sum of sign ·
        multiplier over these pairs.
        """

    @abstractmethod
    def cvxpy_cost(self, w: Any) -> tuple[Any, list[Any]]:
        """Return g*(w) as a cvxpy expression, and the constraints of the domain on w.

        `w` is a cvxpy variable with a weight for each hypothesis.
        """

    @abstractmethod
    def key(self) -> str:
        """Return the kind and the exact parameters of the domain as text, for the game digest."""

    def describe(self) -> dict[str, str] | None:
        """Return the JSON object for this domain in a certificate, or None if certificates do not
        support the domain.
        """
        return None

    def exact_weights(self, coefficients: Sequence[float]) -> list[Fraction]:
        """Return exact feasible weights near a result of `repair`, for a certificate.

        By default each weight is rounded towards zero to a multiple of 1/`weight_denominator`. Sets
        override this method, and adjust some weights so that the exact weights lie in the set.
        """
        unit = self.weight_denominator
        return [Fraction(int(Fraction(c) * unit), unit) for c in coefficients]

    @property
    def weight_denominator(self) -> int:
        """The common denominator of the weights in a certificate."""
        return 1 << WEIGHT_BITS

    def check(self, matrix: MarginMatrix) -> None:
        """Raise an InputError if this domain does not support `matrix`.

        By default a matrix must provide the edges of all columns, with their signs.
        """
        if matrix.n is None or matrix.slack > 0.0:
            raise InputError(
                f"over={self!r} needs the edge of every column, with its sign, but {matrix!r} "
                "returns only the largest absolute edge that it finds; use over=L1Ball(radius), or "
                "enumerate the columns in a matrix"
            )

    def start(self, matrix: MarginMatrix, d: Vector) -> tuple[NDArray[np.int64], Vector]:
        """Return the initial weights of a run as a pair (support, coefficients).

        The pair contains the indices and the weights of the hypotheses with nonzero weight. By
        default all weights are 0.
        """
        return np.empty(0, dtype=np.int64), np.empty(0)

    def rounds_bound(self, spread: float, n: int | None, tol: float, certified: bool) -> float:
        """Return an upper bound on the rounds that a corrective booster needs for the gap `tol`.

        The booster is that of Shalev-Shwartz & Singer (2009), Fig. 1, which smooths the game with a
        multiple of a regulariser such as the negative entropy. `spread` is the range of the
        regulariser over the simplex: log m for the entropy of m examples. If `certified` is True,
        `tol` is the gap between certified bounds, and otherwise the gap of the smoothed game.

        For the entropy and a gap ε of the smoothed game, the bound is 32 log(m)/ε² if ‖A(v −
        w)‖_inf <= 2 for all weights v and w. Here the norm is at most 2·`reach`, so the bound is
        multiplied by `reach`². It is doubled for certified bounds.
        """
        ratio = self.reach(n) / tol
        # The test precedes the step, so even a game that needs one step (m = 1) takes two rounds.
        return max(2.0, (64.0 if certified else 32.0) * spread * ratio * ratio)


class Sized(Domain):
    """A base class of domains with one parameter: a set radius or a penalty weight."""

    size_name: ClassVar[str] = "radius"
    kinds: ClassVar[tuple[str, str]]
    """The two names of this kind of domain: one for game digests, one for certificates."""

    @property
    def size(self) -> Fraction:
        """The radius of the set, or the weight of the penalty, as a fraction."""
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

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
"""The number of binary digits after the point to which a certificate rounds weights w of the
hypotheses. If the weights are about 1, these errors are far below the rounding errors of doubles.
Small domains use more digits."""


class Dense(NamedTuple):
    """The best weights w against a distribution d, with an entry for each hypothesis.

    Domains that are not polytopes, such as an l2 ball, use this class, because w gives weight to
    all hypotheses.
    """

    w: Vector
    """The weights w that maximise <Aᵀd, w> − g*(w) for the distribution d, as a vector with an
    entry for each column of the margin matrix A. The function g* is the penalty of the domain."""
    edge: float
    """The size N(Aᵀd) of the edges Aᵀd for the distribution d, such as their Euclidean norm. The
    docstring of `Domain` defines the function N."""
    slack: float = 0.0
    """The largest amount by which the true size of the edges may exceed the field `edge`. For dense
    weights it is always 0."""


class Domain(ABC):
    """The domain of the weights w of the hypotheses in a game: a set, or a penalty on w.

    A finite convex function g with g(0) = 0 and its conjugate g* describe the domain. The value of
    the game is ρ = min over d in the simplex of f(d) + g(Aᵀd) = max over w of F(A w) − g*(w). If w
    is restricted to a compact convex set, g is the support function of the set and g* is the
    indicator of the set. If w has a superlinear penalty, g* is the penalty. In all other cases,
    g(Aᵀd) may be infinite for some d, and such a d proves no upper bound on ρ. Therefore a domain
    must be a compact set or a superlinear penalty.

    For each domain, g(v) = φ(N(v)), where N is the largest edge or a norm of the edges v. N changes
    by at most `spread(n)` times the largest change of an edge, and φ (the method `value`) is convex
    and non-decreasing. Outward rounding relies only on these properties. A subclass should be
    immutable and comparable, for example a frozen dataclass.

    References
    ----------
    Shalev-Shwartz & Singer (2009), Sec. 3 (Definition 6) and the last sentence of Sec. 6.
    """

    level: ClassVar[Literal["exact", "enclosed"]]
    """The strongest level of proof that this domain allows for the bounds on the value of a game.

    The level is "exact" (the proof uses fractions) if the function g of the domain has rational
    values, and "enclosed" (the proof uses intervals) if the values contain square roots.
    """

    holds_zero: ClassVar[bool] = True
    """Whether the domain contains the weights w = 0 with the penalty g*(0) = 0. The sum of the
    weights may then be arbitrarily small."""

    linear: ClassVar[bool]
    """Whether a linear program can express the function g of this domain, because g is
    polyhedral."""

    @abstractmethod
    def best(self, matrix: MarginMatrix, d: Vector) -> Best | Dense:
        """Return the best response to a distribution `d`: weights w that maximise <Aᵀd, w> − g*(w).

        A is the margin `matrix`, and g* is the penalty of the domain. The field ``edge`` of the
        result is N(Aᵀd), the size of the edges.
        """

    @abstractmethod
    def value(self, size: float) -> float:
        """Return the value g(v) for edges v of the given size N(v).

        The function that maps N(v) to g(v) is called φ.
        """

    @abstractmethod
    def value_above(self, size: float) -> float:
        """Return an upper bound on the value g(v) for edges v whose size N(v) is at most `size`."""

    @abstractmethod
    def spread(self, n: int | None) -> float:
        """Return an upper bound on the Lipschitz constant of the size N(v) of n edges v.

        The constant is that for the sup norm of v.
        """

    @abstractmethod
    def repair(self, coefficients: Vector) -> Vector:
        """Return feasible weights of hypotheses near the given weights, up to rounding.

        `coefficients` contains the weights of different hypotheses, and all other weights are 0.
        Weights are feasible if the penalty g* is finite there. Raise an InputError if no feasible
        weights exist for these hypotheses.
        """

    @abstractmethod
    def cost_above(self, coefficients: Vector) -> float:
        """Return an upper bound on g*(w') + ‖w − w'‖_1 for some feasible weights w'.

        g* is the penalty of the domain, and w are the weights `coefficients`, which may be
        infeasible because of rounding errors. The second term bounds the difference of the margins
        of w and w'.
        """

    def cost(self, w: Vector) -> float:
        """Return the penalty g*(w) on feasible weights w, in doubles. It is 0 if the domain is a
        set.
        """
        return 0.0

    @abstractmethod
    def reach(self, n: int | None) -> float:
        """Return an upper bound on the margins |(A w)_i| of all weights w that are best responses.

        A best response maximises <Aᵀd, w> − g*(w) for some distribution d. `n` is the number of
        hypotheses.
        """

    @abstractmethod
    def cvxpy_support(self, A: Any, d: Any) -> tuple[Any, list[tuple[Any, float]]]:
        """Return the term g(Aᵀd) of the primal problem as a cvxpy expression, and its constraints.

        The constraints are a list of pairs (constraint, sign). The optimal weights w are the sum of
        sign · multiplier over these pairs.
        """

    @abstractmethod
    def cvxpy_cost(self, w: Any) -> tuple[Any, list[Any]]:
        """Return the penalty g*(w) as a cvxpy expression, and the constraints of the domain on w.

        `w` is a cvxpy variable with a weight for each hypothesis.
        """

    @abstractmethod
    def key(self) -> str:
        """Return a text that identifies the domain: its kind and its exact parameters.

        The digest of a game is computed from this text.
        """

    def describe(self) -> dict[str, str] | None:
        """Return the JSON object that describes the domain in a certificate.

        Return None if certificates do not support the domain.
        """
        return None

    def exact_weights(self, coefficients: Sequence[float]) -> list[Fraction]:
        """Return exact feasible weights near the given weights, for a certificate.

        `coefficients` is a result of `repair`, whose weights may be slightly infeasible because of
        rounding. Weights are feasible if the penalty g* is finite there. By default each weight is
        rounded towards zero to a multiple of 1/`weight_denominator`. If the domain is a set, its
        class overrides this method, and also changes some weights slightly, so that the exact
        weights lie in the set.
        """
        unit = self.weight_denominator
        return [Fraction(int(Fraction(c) * unit), unit) for c in coefficients]

    @property
    def weight_denominator(self) -> int:
        """The common denominator of the weights w in a certificate, which stores exact
        fractions.
        """
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
        """Return the weights w from which a run starts, as a pair (support, coefficients).

        The pair consists of the indices of the hypotheses with nonzero weight, and of their
        weights. By default all weights are 0.
        """
        return np.empty(0, dtype=np.int64), np.empty(0)

    def rounds_bound(self, spread: float, n: int | None, tol: float, certified: bool) -> float:
        """Return an upper bound on the rounds that a corrective booster needs for the gap `tol`.

        The booster is that of Shalev-Shwartz & Singer (2009), Fig. 1. It smooths the game: it adds
        a function of the distribution, such as the negative entropy, multiplied by a weight β. The
        argument `spread` is the range of this function over the simplex, such as log m for the
        entropy of m examples. If `certified` is True, the gap is that between certified bounds, and
        otherwise it is the gap of the smoothed game.

        For the entropy and a gap ε of the smoothed game, the theorem proves the bound 32 log(m)/ε².
        For certified bounds, the bound is twice as large. The theorem assumes ‖A(v − w)‖_inf <= 2
        for all weights v and w. In this domain, the norm is at most 2·`reach`. Therefore the bound
        is multiplied by the square of `reach`.
        """
        ratio = self.reach(n) / tol
        # The test precedes the step, so even a game that needs one step (m = 1) takes two rounds.
        return max(2.0, (64.0 if certified else 32.0) * spread * ratio * ratio)


class Sized(Domain):
    """A base class of domains with one parameter: the radius of a set, or the weight of a
    penalty.
    """

    size_name: ClassVar[str] = "radius"
    kinds: ClassVar[tuple[str, str]]
    """The two names of this kind of domain: the name from which digests of games are computed, and
    the name in certificates."""

    @property
    def size(self) -> Fraction:
        """The parameter of this domain as a fraction: the radius of a set, or the weight of a
        penalty.
        """
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

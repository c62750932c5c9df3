"""The worst case of a statement in a Hilbert space over all instances, proved by a dual program.

A statement about finitely many steps compares inner products of elements of a Hilbert space and
values of convex functionals. The greatest value of its left side over all instances, in any
dimension, is the optimum of a semidefinite program in the matrix of inner products (Drori &
Teboulle 2014; Taylor, Hendrickx & Glineur 2017). A solution of the dual program is a proof: a
combination of the requirements that implies the bound. It is rounded to fractions and checked in
exact arithmetic, so that nothing rests on the solver.
"""

from __future__ import annotations

import itertools
import math
import warnings
from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, TypeAlias

import numpy as np

from relaxboost._core.arrays import Array
from relaxboost._core.errors import InputError, SolverError
from relaxboost.certificates.exact.equations import Equations
from relaxboost.claims.measure import Bracket

Number: TypeAlias = int | float | Fraction | Bracket
Terms: TypeAlias = dict[tuple[int, ...], Any]
"""Coefficients by key: () is the constant, (i,) a value, and (i, j) with i <= j an inner product.
An `Element` has only keys (i,), one for each element that an instance chooses."""

_fresh = itertools.count()
_SCALE = 1 << 60
"""Multipliers are rounded to multiples of its inverse."""


def root(x: int | Fraction) -> Fraction | Bracket:
    """Return the square root of a nonnegative number: a fraction, or a bracket of width 2^−120.

    Examples
    --------
    >>> root(Fraction(9, 4))
    Fraction(3, 2)
    """
    x = Fraction(x)
    square = x.numerator * x.denominator
    if math.isqrt(square) ** 2 == square:
        return Fraction(math.isqrt(square), x.denominator)
    low, scale = math.isqrt(square << 240), x.denominator << 120
    return Bracket(Fraction(low, scale), Fraction(low + 1, scale))


class _Linear(ABC):
    """A linear combination. Coefficients are fractions or brackets; floats count as exact.

    A multiple by a bracket is written ``f * root(2)``, with the bracket on the right.
    """

    __array_ufunc__ = None  # so that numpy's numbers leave products to this class

    def __init__(self, terms: Terms) -> None:
        self.terms = terms

    @abstractmethod
    def _terms_of(self, other: Any) -> Terms:
        """Return the terms of what is added."""

    def __add__(self, other: Any) -> Any:
        terms = dict(self.terms)
        for key, number in self._terms_of(other).items():
            terms[key] = terms[key] + number if key in terms else number
        return type(self)(terms)

    def __mul__(self, number: Number) -> Any:
        return type(self)({key: x * _exact(number) for key, x in self.terms.items()})

    def __truediv__(self, number: Number) -> Any:
        return self * (1 / _exact(number))

    def __neg__(self) -> Any:
        return self * -1

    def __sub__(self, other: Any) -> Any:
        return self + -type(self)(self._terms_of(other))

    def __rsub__(self, other: Any) -> Any:
        return -self + other

    __radd__, __rmul__ = __add__, __mul__


class Element(_Linear):
    """An element of the space that an instance chooses, or a combination ``f - g / 2`` of such.

    ``f @ g`` is an inner product, and ``Element({})`` the origin.
    """

    def __init__(self, terms: Terms | None = None) -> None:
        super().__init__({(next(_fresh),): Fraction(1)} if terms is None else terms)

    def _terms_of(self, other: Any) -> Terms:
        if not isinstance(other, Element):
            raise InputError(f"an element can be added to elements only, got {other!r}")
        return other.terms

    def __matmul__(self, other: Element) -> Expression:
        products: Terms = {}
        for (i,), x in self.terms.items():
            for (j,), y in other.terms.items():
                key = (min(i, j), max(i, j))
                products[key] = products[key] + x * y if key in products else x * y
        return Expression(products)


class Expression(_Linear):
    """A combination of inner products, values and numbers; a comparison is a `Requirement`."""

    def _terms_of(self, other: Any) -> Terms:
        return other.terms if isinstance(other, Expression) else {(): _exact(other)}

    def __le__(self, other: Any) -> Requirement:
        return Requirement(self - other)

    def __ge__(self, other: Any) -> Requirement:
        return Requirement(-(self - other))

    def __eq__(self, other: object) -> Requirement:  # type: ignore[override]
        return Requirement(self - other, equality=True)

    __hash__ = None  # type: ignore[assignment]


@dataclass(frozen=True)
class Requirement:
    """An expression that is at most 0, or equal to 0."""

    expression: Expression
    equality: bool = False


def total(parts: Iterable[Any]) -> Any:
    """Return a sum of elements or of expressions."""
    first, *others = parts
    return sum(others, first)


def unit(elements: Iterable[Element]) -> Requirement:
    """Require that the squares add up to 1: no loss of generality if all is quadratic in a scale.

    The worst case is then 0 just if the inequality is tight, and not at the origin alone.
    """
    required: Requirement = total(f @ f for f in elements) == 1
    return required


class ConvexFunctional:
    """A convex functional, known by its values and subgradients at the elements it is asked at.

    Parameters
    ----------
    smooth : number, optional
        Λ, so that gradients are Λ-Lipschitz. By default there are only subgradients.
    strong : number
        λ, with 0 <= λ < Λ, so that the functional is λ-strongly convex.
    """

    def __init__(self, smooth: Number | None = None, strong: Number = 0) -> None:
        self.smooth, self.strong = None if smooth is None else _exact(smooth), _exact(strong)
        if self.strong < 0 or (self.smooth is not None and self.smooth <= self.strong):
            raise InputError(f"need 0 <= strong < smooth, got {strong} and {smooth}")
        self.known: list[tuple[Element, Expression, Element | None]] = []

    def at(self, f: Element, gradient: Element | None = None) -> tuple[Expression, Element]:
        """Return the value at f and a subgradient there, which is new unless it is given."""
        value, gradient = Expression({(next(_fresh),): Fraction(1)}), gradient or Element()
        self.known.append((f, value, gradient))
        return value, gradient

    def value(self, f: Element) -> Expression:
        """Return the value at f, where a functional that is not smooth needs no subgradient."""
        if self.smooth is not None:
            raise InputError("a smooth functional has a gradient everywhere; use at(f)")
        value = Expression({(next(_fresh),): Fraction(1)})
        self.known.append((f, value, None))
        return value

    def minimum(self) -> tuple[Element, Expression]:
        """Return a minimiser, for which the origin is taken, and the least value."""
        return Element({}), self.at(Element({}), Element({}))[0]

    def requirements(self) -> list[Requirement]:
        """Return what is necessary for such a functional to exist.

        It is sufficient without `value` (Taylor, Hendrickx & Glineur 2017, Theorem 4).
        """
        share, strong = 0 if self.smooth is None else 1 / self.smooth, self.strong
        found = []
        for (f, value, g), (other, value2, g2) in itertools.permutations(self.known, 2):
            if g2 is None:
                continue
            d, s = f - other, (g or g2) - g2
            bend = share * (s @ s) + strong * (d @ d) - 2 * strong * share * (s @ d)
            found.append(value >= value2 + g2 @ d + bend / (2 * (1 - strong * share)))
        return found


@dataclass(frozen=True)
class WorstCase:
    """The greatest value of an objective over all instances.

    Attributes
    ----------
    upper : Fraction
        No instance exceeds it, which is proved.
    value : float
        The value of the worst instance, by the solver and to its accuracy.
    multipliers : list of Fraction
        The proof: the objective minus the sum of these numbers times the left sides of
        `requirements` is at most `upper`, and the sum is at most 0.
    requirements : list of Requirement
        Those given, and then those of the functionals.
    """

    upper: Fraction
    value: float
    multipliers: list[Fraction] = field(repr=False)
    requirements: list[Requirement] = field(repr=False)
    _elements: dict[int, Array] = field(repr=False)

    @property
    def bracket(self) -> Bracket:
        """`value` and the tolerance below and above it; only the upper end is proved."""
        return Bracket(min(2 * Fraction(self.value) - self.upper, self.upper), self.upper)

    def coordinates(self, f: Element) -> Array:
        """Return an element of the worst instance in coordinates of a Euclidean space."""
        origin = np.zeros(len(self._elements))
        return sum((_middle(x) * self._elements[i] for (i,), x in f.terms.items()), origin)


def worst_case(
    objective: Expression,
    requirements: Iterable[Requirement],
    functionals: Sequence[ConvexFunctional] = (),
    *,
    tolerance: float = 1e-6,
) -> WorstCase:
    """Return the greatest value of an objective over all instances that meet the requirements.

    Parameters
    ----------
    objective : Expression
    requirements : iterable of Requirement
        Together with the functionals they must bound all elements, and some instance must meet
        the inequalities among them with room to spare.
    functionals : sequence of ConvexFunctional
        All functionals of the statement.
    tolerance : float
        The proved bound may exceed the worst case by so much, times max(1, |worst case|).

    Raises
    ------
    InputError
        If the requirements contradict each other, or do not bound the objective.
    SolverError
        If no proof is found within the tolerance.

    Examples
    --------
    A step of gradient descent on a 1-smooth convex functional, from a distance of at most 1.
    The worst case is 1/6 (Drori & Teboulle 2014).

    >>> R, f = ConvexFunctional(smooth=1), Element()
    >>> best, least = R.minimum()
    >>> value, gradient = R.at(f)
    >>> after, _ = R.at(f - gradient)
    >>> found = worst_case(after - least, [(f - best) @ (f - best) <= 1], [R])
    >>> round(found.value, 6), 0 <= found.upper - Fraction(1, 6) < 1e-5
    (0.166667, True)
    """
    given = [*requirements, *(one for R in functionals for one in R.requirements())]
    program = _Program(objective.terms, given)
    value, elements = program.instance()
    multipliers = program.multipliers(value + tolerance * max(1.0, abs(value)))
    return WorstCase(program.proof(multipliers), value, multipliers, given, elements)


class _Program:
    """The semidefinite program: in floats to solve it, in fractions to prove its bound."""

    def __init__(self, objective: Terms, requirements: Sequence[Requirement]) -> None:
        self.rows = [one.expression.terms for one in requirements]
        self.objective = objective
        self.free = np.array([one.equality for one in requirements])
        keys = sorted({key for row in (objective, *self.rows) for key in row})
        self.values = [key for key in keys if len(key) == 1]
        self.elements = sorted({i for key in keys if len(key) == 2 for i in key})
        *rows, target = [self._floats(row) for row in (*self.rows, objective)]
        self.matrices, self.slopes, self.constants = map(np.array, zip(*rows, strict=True))
        self.matrix, self.slope, self.constant = target

    def _floats(self, terms: Terms) -> tuple[Array, Array, float]:
        """Return the matrix of the inner products, the coefficients of values, the constant."""
        matrix = np.array([[_middle(x) for x in row] for row in self._matrix(terms)])
        slopes = np.array([_middle(terms.get(key, 0)) for key in self.values])
        return matrix.ravel(), slopes, _middle(terms.get((), 0))

    def _matrix(self, terms: Terms) -> list[list[Any]]:
        upper = {key: x if key[:1] == key[-1:] else x / 2 for key, x in terms.items()}
        return [
            [upper.get((min(i, j), max(i, j)), Fraction(0)) for j in self.elements]
            for i in self.elements
        ]

    def instance(self) -> tuple[float, dict[int, Array]]:
        """Return the value of a worst instance and its elements."""
        import cvxpy as cp

        n = len(self.elements)
        G, F = cp.Variable((n, n), PSD=True), cp.Variable(len(self.values))
        flat = cp.vec(G, order="C")
        left = self.matrices @ flat + self.slopes @ F + self.constants
        problem = cp.Problem(
            cp.Maximize(self.matrix @ flat + self.slope @ F + self.constant),
            [left[~self.free] <= 0, left[self.free] == 0],
        )
        _solve(problem)
        if G.value is None:
            raise InputError(
                f"the worst case is {problem.status}: the requirements must not contradict each "
                "other, and must bound the objective"
            )
        sizes, axes = np.linalg.eigh(G.value)
        columns = (axes * np.sqrt(np.maximum(sizes, 0.0))).tolist()
        found = {i: np.array(x) for i, x in zip(self.elements, columns, strict=True)}
        return float(problem.value), found

    def multipliers(self, limit: float) -> list[Fraction]:
        """Return multipliers that prove about this limit, with the largest margin."""
        import cvxpy as cp

        n = len(self.elements)
        y, margin = cp.Variable(len(self.rows)), cp.Variable()
        form = cp.reshape(self.matrices.T @ y - self.matrix, (n, n), order="C")
        below = [self.constant - self.constants @ y <= limit, y[~self.free] >= margin]
        square = (form + form.T) / 2 >> margin * np.eye(n)
        _solve(cp.Problem(cp.Maximize(margin), [square, *below, self.slopes.T @ y == self.slope]))
        if y.value is None:
            raise SolverError("no proof of the worst case is found; use a larger tolerance")
        exact = [Fraction(round(x * _SCALE), _SCALE) for x in y.value.tolist()]
        # Values must cancel exactly. Only multipliers well above 0 are changed for this.
        large = self.free | (y.value > 1e-6 * y.value.max())
        rows, missing = [], []
        for key in self.values:
            numbers = [Fraction(row.get(key, 0)) for row in (*self.rows, self.objective)]
            unit = math.lcm(*(x.denominator for x in numbers))
            *row, right = [int(x * unit) for x in numbers]
            rows.append({i: x for i, x in enumerate(row) if x})
            missing.append(right - sum(x * exact[i] for i, x in rows[-1].items()))
        for i, change in Equations(rows, large.tolist()).correction(missing).items():
            exact[i] += change
        return exact

    def proof(self, multipliers: list[Fraction]) -> Fraction:
        """Return the bound that multipliers prove, in exact arithmetic."""
        rest = Expression(self.objective)
        for x, row in zip(multipliers, self.rows, strict=True):
            rest = rest - Expression(row) * x
        signs = all(x >= 0 for x, free in zip(multipliers, self.free, strict=True) if not free)
        cancelled = not any(rest.terms.get(key, 0) for key in self.values)
        if not (signs and cancelled and _positive_definite(self._matrix((-rest).terms))):
            raise SolverError(
                "no exact proof of the worst case is found. Use a larger tolerance, and "
                "requirements that bound all elements and leave room"
            )
        return Fraction(_bracket(rest.terms.get((), 0)).upper)


def _solve(problem: Any) -> None:
    import cvxpy as cp

    with warnings.catch_warnings():
        # The proof decides whether an answer is accurate enough.
        warnings.filterwarnings("ignore", "Solution may be inaccurate")
        problem.solve(cp.CLARABEL, tol_gap_abs=1e-10, tol_gap_rel=1e-10, tol_feas=1e-10)


def _positive_definite(matrix: list[list[Any]]) -> bool:
    """Tell whether all symmetric matrices with entries in brackets have positive pivots."""
    ends = [[(Fraction(x.lower), Fraction(x.upper)) for x in map(_bracket, row)] for row in matrix]
    M = [[(low + high) / 2 for low, high in row] for row in ends]
    # A symmetric matrix with entries of at most `spread` has eigenvalues of at most n · spread.
    spread = max((high - low for row in ends for low, high in row), default=Fraction(0))
    for i, row in enumerate(M):
        row[i] -= len(M) * spread
    for i, pivot in enumerate(M):
        if pivot[i] <= 0:
            return False
        for row in M[i + 1 :]:
            ratio = row[i] / pivot[i]
            row[i:] = [a - ratio * b for a, b in zip(row[i:], pivot[i:], strict=True)]
    return True


def _exact(number: Number) -> Fraction | Bracket:
    return number if isinstance(number, Bracket) else Fraction(number)


def _bracket(number: Any) -> Bracket:
    return number if isinstance(number, Bracket) else Bracket(number, number)


def _middle(number: Any) -> float:
    return _bracket(number).middle

"""Statements in a Hilbert space: the worst case over all instances, with a proof by duality.

Such a statement about finitely many steps compares inner products of elements with values of convex
functionals. The worst case in any dimension is the optimum of a semidefinite program in the matrix
of inner products (Drori & Teboulle 2014; Taylor, Hendrickx & Glineur 2017). A dual solution is a
proof: a combination of the requirements that implies the bound. It is rounded to fractions and
checked in exact arithmetic, so the proof does not depend on the accuracy of the solver.
"""

from __future__ import annotations

import itertools
from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, TypeAlias

import numpy as np

from relaxboost._core.arrays import Array
from relaxboost._core.errors import InputError
from relaxboost.claims.measure import Bracket
from relaxboost.claims.semidefinite import Program, Terms, middle
from relaxboost.claims.sides import root as root

Number: TypeAlias = int | float | Fraction | Bracket

_fresh = itertools.count()


class _Linear(ABC):
    """A linear combination of unknowns with fractions or intervals as coefficients.

    Floats are treated as exact. An interval must be the right factor of a product, as in ``f *
    root(2)``.
    """

    # With this setting, NumPy leaves products of its numbers and an element to this class.
    __array_ufunc__ = None

    def __init__(self, terms: Terms) -> None:
        self.terms = terms

    @abstractmethod
    def _terms_of(self, other: Any) -> Terms: ...

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

    __radd__ = __add__
    __rmul__ = __mul__


class Element(_Linear):
    """An unknown element of a Hilbert space, or a linear combination such as ``f - g / 2``.

    ``f @ g`` is the inner product of two elements, and ``Element({})`` is the origin.

    Parameters
    ----------
    terms : dict, optional
        The coefficients of a linear combination, as in the attribute `terms` of an element. By
        default the element is a new unknown.
    """

    def __init__(self, terms: Terms | None = None) -> None:
        super().__init__({(next(_fresh),): Fraction(1)} if terms is None else terms)

    def _terms_of(self, other: Any) -> Terms:
        if not isinstance(other, Element):
            raise InputError(f"an Element can only be added to an Element, got {other!r}")
        return other.terms

    def __matmul__(self, other: Element) -> Expression:
        products: Terms = {}
        for (i,), x in self.terms.items():
            for (j,), y in other.terms.items():
                key = (min(i, j), max(i, j))
                products[key] = products[key] + x * y if key in products else x * y
        return Expression(products)


class Expression(_Linear):
    """A linear combination of inner products of elements and of functional values.

    The operators <=, >= and == between expressions return a `Requirement`.
    """

    def _terms_of(self, other: Any) -> Terms:
        return other.terms if isinstance(other, Expression) else {(): _exact(other)}

    def __le__(self, other: Any) -> Requirement:
        return Requirement(self - other)

    def __ge__(self, other: Any) -> Requirement:
        return Requirement(-(self - other))

    def _strict(self, other: object) -> Requirement:
        raise InputError("a requirement must not be strict; write <= or >= instead of < or >")

    __lt__ = __gt__ = _strict

    def __eq__(self, other: object) -> Requirement:  # type: ignore[override]
        return Requirement(self - other, equality=True)

    __hash__ = None  # type: ignore[assignment]


@dataclass(frozen=True)
class Requirement:
    """A requirement on the instances of a worst case: an expression is at most 0, or equal to 0."""

    expression: Expression
    equality: bool = False
    """Whether the expression must be 0, rather than at most 0."""


def total(parts: Iterable[Any]) -> Any:
    """Return the sum of elements or of expressions."""
    first, *others = parts
    return sum(others, first)


def unit(elements: Iterable[Element]) -> Requirement:
    """Return the requirement that the squared norms of the elements sum to 1.

    Use it for an inequality whose two sides are multiplied by c² if all elements are multiplied by
    c. The requirement excludes only the instance in which all elements are 0, because every other
    instance can be rescaled. The worst case of left side − right side is then 0 if and only if the
    inequality holds and is tight at some other instance.
    """
    return Requirement(total(f @ f for f in elements) - 1, equality=True)


class ConvexFunctional:
    """A convex functional, represented by its values and subgradients at finitely many elements.

    Parameters
    ----------
    smooth : number, optional
        The Lipschitz constant Λ of the gradients. By default the functional need not be smooth, and
        has only subgradients.
    strong : number
        The constant λ of strong convexity, with 0 <= λ < Λ. By default it is 0.
    """

    def __init__(self, smooth: Number | None = None, strong: Number = 0) -> None:
        self.smooth = None if smooth is None else _exact(smooth)
        self.strong = _exact(strong)
        if self.strong < 0 or (self.smooth is not None and self.smooth <= self.strong):
            raise InputError(
                f"ConvexFunctional needs 0 <= strong < smooth, got strong = {strong} and smooth = "
                f"{smooth}"
            )
        self.known: list[tuple[Element, Expression, Element | None]] = []

    def at(self, f: Element, gradient: Element | None = None) -> tuple[Expression, Element]:
        """Return the value and a subgradient of the functional at the element f.

        By default the subgradient is a new, unknown `Element`.
        """
        value = Expression({(next(_fresh),): Fraction(1)})
        gradient = gradient or Element()
        self.known.append((f, value, gradient))
        return value, gradient

    def value(self, f: Element) -> Expression:
        """Return the value of the functional at the element f, without a subgradient.

        Raise an InputError if the functional is smooth, because it then has a gradient at f. Use
        `at` instead.
        """
        if self.smooth is not None:
            raise InputError("a smooth functional has a gradient at every element. Use at(f)")
        value = Expression({(next(_fresh),): Fraction(1)})
        self.known.append((f, value, None))
        return value

    def minimum(self) -> tuple[Element, Expression]:
        """Return a minimiser of the functional, which is the origin, and the minimum."""
        return Element({}), self.at(Element({}), Element({}))[0]

    def requirements(self) -> list[Requirement]:
        """Return the requirements on the values and subgradients of the functional.

        If `value` has not been used, they are also sufficient: a functional with these values and
        subgradients exists (Taylor, Hendrickx & Glineur 2017, Thm 4).
        """
        share = 0 if self.smooth is None else 1 / self.smooth
        strong = self.strong
        found = []
        for (f, value, g), (other, value2, g2) in itertools.permutations(self.known, 2):
            if g2 is None:
                continue
            d = f - other
            s = (g or g2) - g2
            bend = share * (s @ s) + strong * (d @ d) - 2 * strong * share * (s @ d)
            found.append(value >= value2 + g2 @ d + bend / (2 * (1 - strong * share)))
        return found


@dataclass(frozen=True)
class WorstCase:
    """The maximum of an objective over all instances that satisfy given requirements, with a proof.

    Attributes
    ----------
    upper : Fraction
        A proved upper bound on the objective over all instances.
    value : float
        The objective of the worst instance, to the accuracy of the solver.
    multipliers : list of Fraction
        The proof, with a multiplier for each requirement. The sum of the multipliers times the left
        sides of `requirements` is at most 0, and the objective minus this sum is at most `upper`.
    requirements : list of Requirement
        The given requirements, followed by those of the functionals.
    """

    upper: Fraction
    value: float
    multipliers: list[Fraction] = field(repr=False)
    requirements: list[Requirement] = field(repr=False)
    _elements: dict[int, Array] = field(repr=False)

    @property
    def bracket(self) -> Bracket:
        """An interval around `value` whose upper end is `upper`. Only the upper end is proved."""
        return Bracket(min(2 * Fraction(self.value) - self.upper, self.upper), self.upper)

    def coordinates(self, f: Element) -> Array:
        """Return the Euclidean coordinates of an element in the worst instance."""
        origin = np.zeros(len(self._elements))
        return sum((middle(x) * self._elements[i] for (i,), x in f.terms.items()), origin)


def worst_case(
    objective: Expression,
    requirements: Iterable[Requirement],
    functionals: Sequence[ConvexFunctional] = (),
    *,
    tolerance: float = 1e-6,
) -> WorstCase:
    """Maximise an objective over all instances that satisfy the requirements, with a proof.

    Parameters
    ----------
    objective : Expression
        The quantity to maximise.
    requirements : iterable of Requirement
        The conditions on the instances. Together with the functionals, they must bound the norms of
        all elements. Some instance must satisfy all their inequalities strictly.
    functionals : sequence of ConvexFunctional
        All functionals of the statement.
    tolerance : float
        The proved bound may exceed the worst case by at most tolerance · max(1, |worst case|).

    Raises
    ------
    InputError
        If the requirements contradict each other, or if they do not bound the objective.
    SolverError
        If no proof is found within the tolerance.

    Examples
    --------
    One step of gradient descent on a 1-smooth convex functional, from a point at a distance of at
    most 1 from the minimiser. The worst case is 1/6 (Drori & Teboulle 2014).

    >>> R, f = ConvexFunctional(smooth=1), Element()
    >>> best, least = R.minimum()
    >>> value, gradient = R.at(f)
    >>> after, _ = R.at(f - gradient)
    >>> found = worst_case(after - least, [(f - best) @ (f - best) <= 1], [R])
    >>> round(found.value, 6), 0 <= found.upper - Fraction(1, 6) < 1e-5
    (0.166667, True)
    """
    for name, found, kind in (
        ("requirements", requirements, Requirement),
        ("functionals", functionals, ConvexFunctional),
    ):
        if isinstance(found, kind):
            raise InputError(f"{name} must be a list; write [...] around the {kind.__name__}")
    given = [*requirements, *(one for R in functionals for one in R.requirements())]
    rows = [one.expression.terms for one in given]
    program = Program(objective.terms, rows, [one.equality for one in given])
    value, elements, optimal = program.solve()
    # The move to multipliers for `limit` by this share, which is below 1, raises the bound by
    # `tolerance` times the size of the value.
    limit = value + (1.0 + tolerance) * max(1.0, abs(value))
    multipliers = program.multipliers(optimal, limit, tolerance / (1.0 + tolerance))
    return WorstCase(program.proof(multipliers), value, multipliers, given, elements)


def _exact(number: Number) -> Fraction | Bracket:
    if isinstance(number, Bracket):
        return number
    if isinstance(number, _Linear):
        raise InputError(
            "a coefficient must be a number, got an Element or an Expression. The inner product of "
            "two elements is f @ g"
        )
    try:
        return Fraction(number)
    except (TypeError, ValueError, OverflowError):
        raise InputError(f"a coefficient must be a finite number, got {number!r}") from None

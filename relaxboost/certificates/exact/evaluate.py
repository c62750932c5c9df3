"""Exact evaluation of polyhedral relaxations, for certificates.

A polyhedral f(d) is the minimum of a linear program over auxiliary variables z. Values of z prove
f(d), and multipliers of the rows prove the relaxed margin F(u). An exact linear program finds
optimal values and multipliers. Nearly optimal ones are found much faster, but prove slightly weaker
bounds. The functions raise an InputError if f is infinite at d or on the whole simplex, and
`Exhausted` if a limit is reached first.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from fractions import Fraction
from typing import TypeVar

import numpy as np

from relaxboost._core.errors import InputError
from relaxboost.certificates.exact.equations import Contradiction
from relaxboost.certificates.exact.feasible import NoPoint
from relaxboost.certificates.exact.integers import flint
from relaxboost.certificates.exact.nearby import (
    Point,
    near_auxiliaries,
    near_multipliers,
    near_point,
)
from relaxboost.certificates.exact.program import ExactProgram
from relaxboost.certificates.exact.simplex import (
    BasicPoint,
    ExactSimplex,
    Exhausted,
    Multipliers,
    PivotLimits,
)
from relaxboost.certificates.exact.start import first_basis
from relaxboost.game.game import Game
from relaxboost.relaxations.linear import Bound, ExactForm

T = TypeVar("T")


MAX_SECONDS = 600.0
"""The time limit for all evaluations of one polyhedral f in a certificate, in seconds."""
MAX_PIVOTS = 100_000
"""The maximum number of exact pivots in all evaluations of one polyhedral f in a certificate."""


class Unproved(InputError):
    """Raised if no value of a relaxation f was proved exactly.

    Either f is infinite at every rational point of the simplex, or a limit was reached.
    """


class ExactEvaluation:
    """An exact evaluator of a polyhedral relaxation f.

    All evaluations share a time limit and a limit on pivots. If a limit is reached, the methods
    raise `Unproved`.

    Parameters
    ----------
    name : str
        The name of f in messages.
    exact : bool
        Whether the exact values of f(d) and F(u) are needed. Otherwise, bounds with the accuracy of
        floats are enough, and an exact linear program is solved only if none are found.
    """

    def __init__(self, name: str, exact: bool) -> None:
        self._name = name
        self._exact = exact
        self._limits = PivotLimits(MAX_PIVOTS, MAX_SECONDS)

    def point(self, form: ExactForm, d: Sequence[float], price: float) -> Point:
        """Return a rational distribution near `d` at which f is finite.

        The result also contains the auxiliary variables of f there. It nearly minimises f plus
        `price` times the l1 distance from `d`. If f is infinite at every rational point of the
        simplex, `Unproved` is raised.
        """
        try:
            return near_point(form, np.array(d), price, self._limits.seconds)
        # The inequalities may leave no room between them, and then an exact program is solved.
        except NoPoint:
            return self._closest(form, d, price)
        except Contradiction:
            raise Unproved(
                f"the equations of {self._name} contradict each other in exact arithmetic, because "
                "their constants, such as 1/m, were rounded to floats. Leave out an equation that "
                "follows from the others and from sum(d) == 1, or use "
                'level="numerical"'
            ) from None

    def _closest(self, form: ExactForm, d: Sequence[float], price: float) -> Point:
        # The price is bound here, so that `_in_time` has one signature for all programs.
        def solve(form: ExactForm, at: Sequence[Fraction], limits: PivotLimits) -> Point:
            return closest_point(form, at, Fraction(price), limits)

        try:
            return self._in_time(solve, form, [Fraction(x) for x in d])
        except Unproved:
            raise
        except InputError:
            raise Unproved(
                f"{self._name} is infinite at every exact point of the simplex, because its "
                "constraints hold only up to rounding. Relax the inequalities by 1e-9 of their "
                'size, leave out redundant equations, or use level="numerical"'
            ) from None

    def auxiliaries(self, form: ExactForm, d: Sequence[Fraction]) -> list[Fraction]:
        """Return feasible auxiliary variables z with the value f(d), or nearly f(d) unless
        `exact`."""
        if not self._exact:
            with suppress(NoPoint, Contradiction):
                return near_auxiliaries(form, d, self._limits.seconds)
        return self._in_time(auxiliaries, form, d)

    def multipliers(
        self, form: ExactForm, u: Sequence[Fraction]
    ) -> tuple[Fraction, list[Fraction]]:
        """Return γ and row multipliers that prove a lower bound on the relaxed margin F(u).

        The bound is F(u) or, unless `exact`, nearly F(u).
        """
        if not self._exact:
            with suppress(NoPoint, Contradiction):
                return near_multipliers(form, u, self._limits.seconds)
        return self._in_time(multipliers, form, u)

    def _in_time(
        self,
        solve: Callable[[ExactForm, Sequence[Fraction], PivotLimits], T],
        form: ExactForm,
        at: Sequence[Fraction],
    ) -> T:
        try:
            return solve(form, at, self._limits)
        except Exhausted:
            raise Unproved(
                f"the linear program of {self._name} was not solved exactly within "
                f"{MAX_SECONDS:g} s and {MAX_PIVOTS} pivots. Proofs are fast if some point "
                "satisfies all inequalities strictly. Write inequalities that always hold with "
                'equality as equations (==), or use level="numerical"'
            ) from None


def auxiliaries(form: ExactForm, d: Sequence[Fraction], limits: PivotLimits) -> list[Fraction]:
    """Return exact auxiliary variables z that attain f(d)."""
    m = len(d)
    size = len(form.cost)
    if size == m:
        return []
    # Equal bounds fix d, and the rest of the program is minimised over z.
    here: list[Bound] = list(d)
    fixed = form._replace(lower=here + form.lower[m:], upper=here + form.upper[m:])
    program, point, _ = _optimum(fixed, m, limits)
    whole = int(point.q * program.unit)
    return [Fraction(int(a), whole) for a in point.values[m:size]]


def closest_point(
    form: ExactForm, d: Sequence[Fraction], price: Fraction, limits: PivotLimits
) -> Point:
    """Return the distribution d', in fractions, that minimises f(d') + price · ‖d' − d‖_1, and the
    auxiliary variables of f there."""
    m = len(d)
    size = len(form.cost)
    one = Fraction(1)
    zero = Fraction(0)
    # d' = d + p − q, and p and q follow the variables of f. Both are charged, so that at most one
    # of p_i and q_i is positive at an optimum.
    moved = [{i: one, size + i: -one, size + m + i: one} for i in range(m)]
    above: list[Bound] = [None] * (2 * m)
    spread = ExactForm(
        form.cost + [price] * (2 * m),
        form.lower + [zero] * (2 * m),
        form.upper + above,
        form.rows + moved,
        [*form.row_lower, *d],
        [*form.row_upper, *d],
    )
    program, point, _ = _optimum(spread, m, limits)
    whole = int(point.q * program.unit)
    found = [Fraction(int(a), whole) for a in point.values[:size]]
    return found[:m], found[m:]


def multipliers(
    form: ExactForm, u: Sequence[Fraction], limits: PivotLimits
) -> tuple[Fraction, list[Fraction]]:
    """Return γ and exact row multipliers that prove the relaxed margin F(u)."""
    m = len(u)
    # F(u) is the least f(d) + <d, u>, so u is added to the costs of d.
    tilted = [c + x for c, x in zip(form.cost, u, strict=False)] + form.cost[m:]
    program, _, dual = _optimum(form._replace(cost=tilted), m, limits)
    unit = int(dual.q * program.cost_unit)
    prices = dual.prices[program.size :]
    # The program multiplied each row by a factor, so its multiplier is that of the row divided by
    # the factor.
    found = [Fraction(int(p) * k, unit) for p, k in zip(prices, program.factors, strict=True)]
    return found[0], found[1:]


def _optimum(
    form: ExactForm, m: int, limits: PivotLimits
) -> tuple[ExactProgram, BasicPoint, Multipliers]:
    # If python-flint is missing, this call raises an error before the work starts.
    flint()
    # The game against the one hypothesis 0 is f alone.
    program = ExactProgram(Game(np.zeros((m, 1))), form)
    status = list(first_basis(program, 0.5 * limits.seconds).status)
    return program, *ExactSimplex(program, status, limits, lambda *_: None).optimise()

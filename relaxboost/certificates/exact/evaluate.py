"""A polyhedral f at exact points: the auxiliaries of f(d) and the multipliers of F(u)."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from relaxboost._core.errors import InputError
from relaxboost.certificates.exact.integers import flint
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

_PIVOTS, _SECONDS = 100_000, 600.0


def auxiliaries(form: ExactForm, d: Sequence[Fraction]) -> list[Fraction]:
    """Return the z at which the program attains f(d), exactly.

    Raises
    ------
    InputError
        If f is infinite at d.
    MissingDependencyError
        Without python-flint, the extra ``exact``, unless there is no z.
    """
    m, size = len(d), len(form.cost)
    if size == m:
        return []
    here: list[Bound] = list(d)
    fixed = form._replace(lower=here + form.lower[m:], upper=here + form.upper[m:])
    program, point, _ = _optimum(fixed, m)
    whole = int(point.q * program.unit)
    return [Fraction(int(a), whole) for a in point.values[m:size]]


def multipliers(form: ExactForm, u: Sequence[Fraction]) -> tuple[Fraction, list[Fraction]]:
    """Return γ and the multipliers of the rows that prove F(u), exactly.

    Raises
    ------
    InputError
        If f is infinite on the whole simplex.
    MissingDependencyError
        Without python-flint, the extra ``exact``.
    """
    m = len(u)
    tilted = [c + x for c, x in zip(form.cost, u, strict=False)] + form.cost[m:]
    program, _, dual = _optimum(form._replace(cost=tilted), m)
    unit = int(dual.q * program.cost_unit)
    prices = dual.prices[program.size :]
    found = [Fraction(int(p) * k, unit) for p, k in zip(prices, program.factors, strict=True)]
    return found[0], found[1:]


def _optimum(form: ExactForm, m: int) -> tuple[ExactProgram, BasicPoint, Multipliers]:
    flint()  # a missing library is said before work starts
    # Against the one hypothesis that is always 0, the game is f alone.
    program = ExactProgram(Game(np.zeros((m, 1))), form)
    limits = PivotLimits(_PIVOTS, _SECONDS)
    status = list(first_basis(program, 0.5 * limits.seconds).status)
    try:
        return program, *ExactSimplex(program, status, limits, lambda *_: None).optimise()
    except Exhausted:
        raise InputError(
            f"the linear program of f was not solved exactly in {_SECONDS:g} s; use "
            'certify(solution, level="numerical")'
        ) from None

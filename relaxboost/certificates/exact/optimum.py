"""The exact optimum of a polyhedral game as a fraction, with a pair (d, w) that attains it."""

from __future__ import annotations

import warnings
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from relaxboost._core.errors import brief
from relaxboost._core.parameters import count, positive
from relaxboost.certificates.exact.integers import Integer, flint
from relaxboost.certificates.exact.program import ExactProgram
from relaxboost.certificates.exact.simplex import (
    BASIC,
    BasicPoint,
    ExactSimplex,
    Exhausted,
    Multipliers,
    PivotLimits,
)
from relaxboost.certificates.exact.start import Start, first_basis
from relaxboost.certificates.products import edges
from relaxboost.game.game import Game
from relaxboost.relaxations.own import is_own


class ExactOptimum(NamedTuple):
    """The exact value of a game, a pair (d, w) that attains it, and a witness that proves it.

    The witness is a number γ and a vector x >= γ − A w, where A is the margin matrix. The value of
    the game is f(d) + g(Aᵀd) = γ − f*(x) − g*(w). Here f is the relaxation with the conjugate f*, g
    is the support function of the domain of w, and g* is 0 in the domain. If a limit was reached
    first, `value` is None, d and w are empty, and `lower` and `upper` enclose the value.

    Examples
    --------
    >>> import relaxboost as rb
    >>> game = rb.Game([[1, -1, 1], [-1, 1, 1], [1, 1, -1]], rb.Capped(k=2))
    >>> found = rb.certificates.exact_optimum(game)
    >>> found.value, found.lower, found.upper
    (Fraction(1, 3), Fraction(1, 3), Fraction(1, 3))
    """

    game: Game
    value: Fraction | None
    lower: Fraction
    upper: Fraction
    d: list[Fraction]
    """The optimal distribution, with one entry for each example."""
    support: list[int]
    """The indices of the hypotheses with nonzero weight, in increasing order."""
    w: list[Fraction]
    """The signed weights of the hypotheses in `support`, in the same order."""
    gamma: Fraction | None
    """The margin threshold γ of the witness (Shalev-Shwartz & Singer 2009, Thm 7), or None if a
    limit was reached."""
    x: list[Fraction]
    """The vector x of the witness, with x_i >= γ − (A w)_i for each example i. It is a subgradient
    of f at d."""
    pivots: int
    """The number of exact simplex pivots from the basis of HiGHS to the optimal basis."""


class NotClosed(ArithmeticError):
    """Raised if `exact_value` reaches a limit before the optimum.

    The attributes `lower` and `upper` enclose the optimum.
    """

    def __init__(self, lower: Fraction, upper: Fraction, pivots: int) -> None:
        self.lower = lower
        self.upper = upper
        super().__init__(
            f"the exact optimum was not reached after {pivots} pivots; it is between "
            f"{float(lower):.17g} and {float(upper):.17g}. Increase time_limit or max_pivots"
        )


def exact_value(game: Game, *, time_limit: float = 600.0, max_pivots: int = 100_000) -> Fraction:
    """Return the optimum of a game with a polyhedral f as a fraction.

    Parameters
    ----------
    game : Game
        A game over `L1Ball`, `Simplex` or `FullSimplex` that enumerates its columns.
    time_limit, max_pivots
        The limits, as for `exact_optimum`.

    Raises
    ------
    InputError
        If the game is not a linear program with rational data. Use `reference` or `solve` to
        bracket its optimum.
    NotClosed
        If a limit is reached before the optimum. The error has a proved bracket.
    MissingDependencyError
        If python-flint, the extra ``exact``, is not installed.

    Examples
    --------
    >>> import relaxboost as rb
    >>> rb.exact_value(rb.Game([[1, 0, 0], [0, 1, 0], [0, 0, 1]]))
    Fraction(1, 3)
    """
    found = _search(game, time_limit, max_pivots)
    if found.value is None:
        raise NotClosed(found.lower, found.upper, found.pivots)
    return found.value


def exact_optimum(
    game: Game, *, time_limit: float = 600.0, max_pivots: int = 100_000
) -> ExactOptimum:
    """Return the exact optimum of a game with a polyhedral f, and a pair (d, w) that proves it.

    HiGHS proposes a basis in floats, and python-flint computes its point and its multipliers
    exactly. If a sign is wrong, exact pivots continue from this basis. Then the edges of *all*
    columns are computed in integers, and columns whose edge exceeds the bound v on the edges are
    added to the linear program.

    Parameters
    ----------
    game : Game
        A game over `L1Ball`, `Simplex` or `FullSimplex` that enumerates its columns. The entries of
        A are floats, which are converted to fractions exactly. The parameters of f are used as they
        were passed.
    time_limit : float
        The number of seconds (> 0) after which no further linear system is solved.
    max_pivots : int
        The maximum number of exact pivots, at least 1.

    Returns
    -------
    ExactOptimum
        The optimum, with ``lower == value == upper``. If a limit was reached, its value is None.

    Raises
    ------
    InputError
        If the game is not a linear program with rational data, or if the relaxation is infinite on
        the whole simplex.
    MissingDependencyError
        If python-flint, the extra ``exact``, is not installed.

    Warns
    -----
    UserWarning
        If the method `exact_form` of a user-defined class contradicts its other methods.

    References
    ----------
    Applegate, Cook, Dash & Espinoza (2007), Exact solutions to linear programming problems;
    Gleixner, Steffy & Wolter (2016), Iterative refinement for linear programming.
    """
    return _search(game, time_limit, max_pivots)


def _search(game: Game, time_limit: float, max_pivots: int) -> ExactOptimum:
    # If python-flint is missing, this call raises an error before the work starts.
    flint()
    limits = PivotLimits(count("max_pivots", max_pivots), positive("time_limit", time_limit))
    search = _Search(ExactProgram(game), limits)
    try:
        found = search.run()
    except Exhausted:
        lower, upper = search.bracket()
        return ExactOptimum(game, None, lower, upper, [], [], [], None, [], limits.pivots)
    _compare_with_doubles(found)
    return found


def _compare_with_doubles(found: ExactOptimum) -> None:
    # The optimum depends on `exact_form` alone. If this method of a user-defined class is wrong,
    # the optimum has a valid proof, but of another function than f.
    game = found.game
    if not is_own(game.relaxation):
        return
    d = np.array([float(x) for x in found.d])
    lower, upper = game.bracket(d, (found.support, [float(x) for x in found.w]))
    value = float(found.lower)
    # A solver in doubles has about this accuracy.
    slack = 1e-6 * (1.0 + abs(value))
    if not lower - slack <= value <= upper + slack:
        warnings.warn(
            f"exact_form of {brief(game.relaxation)} has the optimum {value:.9g}, and the other "
            f"methods of this class prove that the optimum is in [{lower:.9g}, {upper:.9g}], so "
            "exact_form describes another function; run rb.testing.check_relaxation to see where "
            "they differ",
            stacklevel=4,
        )


class _Search:
    """The search for an optimal basis of a game, starting from a basis of HiGHS.

    It keeps the best proved bounds, because it may reach a limit.
    """

    def __init__(self, program: ExactProgram, limits: PivotLimits) -> None:
        self.program = program
        self.limits = limits
        self._below: Fraction | None = None
        self._feasible: BasicPoint | None = None
        self._start: Start | None = None

    def run(self) -> ExactOptimum:
        """Return the exact optimum, or raise `Exhausted` if a limit is reached first."""
        program = self.program
        # Half of the time is kept for exact arithmetic, without which nothing is proved.
        self._start = start = first_basis(program, 0.5 * self.limits.seconds)
        status = list(start.status)
        program.add(start.signed)
        if not start.signed:
            # Over a simplex only the columns bound v from below. Without a column, which HiGHS
            # leaves if it fails, the program would be unbounded.
            program.add([(0, 1)])
            status.append(BASIC)
        simplex = ExactSimplex(program, status, self.limits, self._report)
        while True:
            # The optimum over the columns so far is a lower bound. It is the optimum of the game if
            # no column is beyond it.
            point, dual = simplex.optimise()
            beyond = self._beyond(point)
            if not beyond:
                return self._optimum(point, dual)
            # The most violated columns suffice: each of them makes exact systems larger.
            program.add((j, sign) for _, j, sign in sorted(beyond, reverse=True)[:50])
            simplex.grow()

    def _report(self, point: BasicPoint, feasible: bool, optimal: bool) -> None:
        # Dual feasible multipliers prove a lower bound even if the point is infeasible.
        if optimal:
            cost = self._cost(point)
            self._below = cost if self._below is None else max(cost, self._below)
        # A feasible point proves an upper bound after the edges of all columns are computed.
        if feasible:
            self._feasible = point

    def _cost(self, point: BasicPoint) -> Fraction:
        # The dual objective has the same value at the multipliers of the basis.
        program = self.program
        total = sum((c * x for c, x in zip(program.cost, point.values, strict=False) if c), 0)
        below = point.q * program.cost_unit * program.unit
        return Fraction(int(total), int(below)) + program.form.constant

    def _beyond(self, point: BasicPoint) -> list[tuple[Integer, int, int]]:
        """Return a triple (excess, column, sign) for each edge that exceeds the bound v.

        The excesses are integers, multiplied by a common factor. The sign is that of the edge.
        """
        program = self.program
        v = point.values[program.v]
        d = list(map(int, point.values[: program.m]))
        two_sided = program.two_sided
        found = []
        start = 0
        for block, shift in edges(program.game.matrix, d):
            for j, edge in enumerate(block, start):
                amount = (abs(edge) if two_sided else edge) - (v << shift)
                if amount > 0:
                    sign = -1 if edge < 0 and two_sided else 1
                    # Blocks have different denominators, all below 2^1100 because the smallest
                    # double is 2^-1074.
                    found.append((amount << (1100 - shift), j, sign))
            start += len(block)
        return found

    def bracket(self) -> tuple[Fraction, Fraction]:
        """Return the best proved lower and upper bounds so far."""
        game = self.program.game
        start = self._start
        # Without any result of HiGHS, the center of the simplex gives a bracket.
        d = game.relaxation.center(game.m)
        w: Any = game.over.start(game.matrix, d)
        ends = game.bracket(d, w)
        if start is not None and start.d is not None and start.d.any():
            w = (start.support, start.coefficients) if start.coefficients.any() else w
            low, high = game.bracket(start.d, w)
            ends = max(ends[0], low), min(ends[1], high)
        lower, upper = map(Fraction, ends)
        if self._below is not None:
            lower = max(lower, self._below)
        if self._feasible is not None:
            # The largest edge over all columns exceeds the value v by `short`.
            short = max((a for a, _, _ in self._beyond(self._feasible)), default=0)
            more = Fraction(int(short), int(self._feasible.q * self.program.unit) << 1100)
            cost = self._cost(self._feasible) + self.program.form.cost[-1] * more
            upper = min(upper, cost)
        return lower, upper

    def _optimum(self, point: BasicPoint, dual: Multipliers) -> ExactOptimum:
        program = self.program
        value = self._cost(point)
        m = program.m
        whole = int(point.q * program.unit)
        d = [Fraction(int(a), whole) if a else Fraction(0) for a in point.values[:m]]
        unit = int(dual.q * program.cost_unit)
        y = dual.prices[program.size :]
        weights: dict[int, Integer] = {}
        for (place, sign), t in zip(program.edges, y[program.fixed :], strict=True):
            j = program.ids[place]
            # A column may have two rows, one for each sign.
            weights[j] = weights.get(j, 0) - sign * (t << program.columns.shifts[place])
        support = sorted(j for j, a in weights.items() if a)
        # The part of the edges in Aᵀy is −u. A positive reduced cost is the price of d >= 0.
        u = [-a for a in program.transposed([0] * program.fixed + y[program.fixed :])[:m]]
        x = []
        for i, (price, form) in enumerate(zip(dual.prices[:m], program.form.lower, strict=False)):
            # The price of a positive lower bound is a part of the subgradient of f, and no slack of
            # d >= 0.
            own = form is not None and form > 0
            above = price if price > 0 and not own else 0
            x.append(Fraction(int(y[0] - u[i] + above), unit))
        return ExactOptimum(
            program.game,
            value,
            value,
            value,
            d,
            support,
            [Fraction(int(weights[j]), unit) for j in support],
            Fraction(int(y[0]), unit),
            x,
            self.limits.pivots,
        )

"""A simplex method in integers, which can start from a basis that was found in floats.

A basis is a status for every variable and row of an `ExactProgram`. Its point and its multipliers
solve two square linear systems exactly, so that all signs in the choice of a pivot are correct.
"""

from __future__ import annotations

import math
import random
import time
from collections.abc import Callable
from typing import NamedTuple

from relaxboost._core.errors import InputError
from relaxboost.certificates.exact.integers import Integer
from relaxboost.certificates.exact.kernel import Kernel, Singular, independent
from relaxboost.certificates.exact.program import ExactProgram

# The status of a variable or a row: basic, at a bound, or at zero without bounds.
BASIC, LOWER, UPPER, FREE = range(4)


class Exhausted(Exception):
    """Raised if the exact simplex method reaches a limit of pivots or time."""


class BasicPoint(NamedTuple):
    """The values of the variables and rows at a basis, as integers to be divided by q > 0."""

    values: list[Integer]
    q: Integer


class Multipliers(NamedTuple):
    """The reduced costs and the row multipliers at a basis, as integers to be divided by q > 0."""

    prices: list[Integer]
    q: Integer


class PivotLimits:
    """A pivot counter with a limit on pivots and a time limit."""

    def __init__(self, pivots: int, seconds: float) -> None:
        self.pivots = 0
        self._most = pivots
        self._end = time.perf_counter() + seconds

    @property
    def seconds(self) -> float:
        """The number of seconds until the time limit."""
        return self._end - time.perf_counter()

    def check(self) -> None:
        """Raise `Exhausted` if a limit has been reached."""
        if self.pivots >= self._most or self.seconds <= 0.0:
            raise Exhausted

    def pivot(self) -> None:
        """Count one pivot, or raise `Exhausted` if a limit has been reached."""
        self.check()
        self.pivots += 1


class ExactSimplex:
    """A basis of a linear program, with methods that optimise it and add rows.

    First, dual pivots make the basis feasible. They need a dual feasible basis, so the costs are
    shifted if it is not. Then primal pivots with the true costs make the basis optimal.

    Parameters
    ----------
    program : ExactProgram
        The linear program in integers.
    status : list of int
        The status of each variable and then of each row. If these statuses do not form a basis,
        some of them are changed.
    limits : PivotLimits
        The limits on pivots and time.
    report : callable
        A callback at every basis, unless the costs are shifted. Its arguments are the point of the
        basis, whether it is feasible, and whether it is dual feasible.
    """

    def __init__(
        self,
        program: ExactProgram,
        status: list[int],
        limits: PivotLimits,
        report: Callable[[BasicPoint, bool, bool], None],
    ) -> None:
        self.program = program
        self.status = status
        self._limits = limits
        self._report = report
        self._cost: list[Integer] = program.cost
        self._random = random.Random(0)
        self._settle()

    def _settle(self) -> None:
        for k, status in enumerate(self.status):
            if status != BASIC:
                self.status[k] = self._nearest(k, status)
        basic, tight = self._lists()
        # A square system may still be singular. The solution of the system finds that out.
        if len(basic) != len(tight):
            self._thin(tight, basic)

    def _nearest(self, k: int, wish: int) -> int:
        low, high = self.program.bounds[k]
        if low is not None and (wish != UPPER or high is None):
            return LOWER
        return FREE if high is None else UPPER

    def _thin(self, tight: list[int], basic: list[int]) -> None:
        rows, variables = independent(self.program, tight, basic)
        for j in basic:
            if j not in variables:
                self.status[j] = self._nearest(j, LOWER)
        for t in tight:
            if t not in rows:
                self.status[self.program.size + t] = BASIC

    def grow(self) -> None:
        """Extend the basis by the rows that were added to the program, which become basic."""
        self.status += [BASIC] * (self.program.size + self.program.height - len(self.status))

    def _lists(self) -> tuple[list[int], list[int]]:
        size = self.program.size
        basic = [j for j in range(size) if self.status[j] == BASIC]
        tight = [k - size for k in range(size, len(self.status)) if self.status[k] != BASIC]
        return basic, tight

    def _kernel(self) -> Kernel:
        basic, tight = self._lists()
        kernel = Kernel(self.program, tight, basic)
        # The estimate was measured on matrices of doubles. A solve cannot be interrupted.
        seconds = 0.15 * (kernel.size / 200) ** 3
        if seconds > self._limits.seconds:
            raise Exhausted
        return kernel

    def _at_bound(self, k: int) -> int:
        low, high = self.program.bounds[k]
        at = {LOWER: low, UPPER: high}.get(self.status[k], 0)
        assert at is not None
        return at

    def _point(self, kernel: Kernel) -> BasicPoint:
        program = self.program
        size = program.size
        basic, tight = self._lists()
        # Nonbasic variables are at their bounds, and basic ones follow from the tight rows.
        start: list[Integer] = [
            0 if self.status[j] == BASIC else self._at_bound(j) for j in range(size)
        ]
        moved = program.times(start) if any(start) else [0] * program.height
        right = [self._at_bound(size + t) - moved[t] for t in tight]
        numbers, q = kernel.solve(right)
        x = [a * q for a in start]
        for j, a in zip(basic, numbers, strict=True):
            x[j] = a
        return BasicPoint(x + program.times(x), q)

    def _multipliers(self, kernel: Kernel) -> Multipliers:
        program = self.program
        basic, tight = self._lists()
        numbers, q = kernel.solve_transposed([self._cost[j] for j in basic])
        y: list[Integer] = [0] * program.height
        for t, a in zip(tight, numbers, strict=True):
            y[t] = a
        used = program.transposed(y)
        return Multipliers([c * q - a for c, a in zip(self._cost, used, strict=True)] + y, q)

    def _excess(self, point: BasicPoint) -> list[tuple[Integer, int, int]]:
        """Return a triple (violation, index, side) for each basic variable or row that violates a
        bound."""
        out = []
        for k, a in enumerate(point.values):
            if self.status[k] == BASIC:
                low, high = self.program.bounds[k]
                if low is not None and a < low * point.q:
                    out.append((low * point.q - a, k, LOWER))
                elif high is not None and a > high * point.q:
                    out.append((a - high * point.q, k, UPPER))
        return out

    def _gain(self, k: int, price: Integer) -> int:
        """Return the direction, 1 or −1, in which moving variable or row k lowers the cost, or 0 if
        there is no such direction."""
        status = self.status[k]
        if status == BASIC or price == 0:
            return 0
        low, high = self.program.bounds[k]
        if low is not None and low == high:
            return 0
        if price < 0:
            return 1 if status in (LOWER, FREE) else 0
        return -1 if status in (UPPER, FREE) else 0

    def optimise(self) -> tuple[BasicPoint, Multipliers]:
        """Return the optimal point and its multipliers.

        If a limit is reached first, `Exhausted` is raised. If no point is feasible, an InputError
        is raised.
        """
        # Bland's rule is slow, and it is needed only if the method may cycle.
        # After this number of pivots without progress, Bland's rule chooses the pivots.
        patience = 30
        stalled = 0
        rounds = 0
        last = None
        self._cost = self.program.cost
        while True:
            self._limits.check()
            kernel = self._kernel()
            try:
                point = self._point(kernel)
                dual = self._multipliers(kernel)
            # HiGHS may call a basis regular that is singular in exact arithmetic.
            except Singular:
                basic, tight = self._lists()
                self._thin(tight, basic)
                continue
            excess = self._excess(point)
            gains = self._gains(dual)
            is_shifted = self._cost is not self.program.cost
            if not is_shifted:
                self._report(point, not excess, not gains)
            if not excess and (is_shifted or not gains):
                if not is_shifted:
                    return point, dual
                self._cost = self.program.cost
                continue
            # The basis is neither feasible nor dual feasible, so neither kind of pivot can start.
            if excess and gains:
                self._shift(dual)
                continue
            self._limits.pivot()
            rounds += 1
            # The value v is compared instead of the cost, because it is already known.
            value = (point.values[self.program.v], point.q)
            stalled = stalled + 1 if last == value else 0
            last = value
            if excess:
                bland = rounds > 20 * patience + 2 * self.program.height
                self._dual_pivot(kernel, excess, dual, bland)
            else:
                self._primal_pivot(kernel, point, gains, stalled > patience)

    def _gains(self, dual: Multipliers) -> list[tuple[Integer, int, int]]:
        """Return a triple (absolute reduced cost, index, direction) for each nonbasic move that
        lowers the cost."""
        steps = [(abs(a), k, self._gain(k, a)) for k, a in enumerate(dual.prices)]
        return [found for found in steps if found[2]]

    def _shift(self, dual: Multipliers) -> None:
        # The changed costs are used until the basis is primal feasible. Reduced costs that are zero
        # or have the wrong sign are replaced by small ones of the right sign. These are all
        # different, so that few dual pivots are degenerate. The costs are also multiplied by
        # dual.q, which does not change any optimum.
        program = self.program
        # The shift is small compared with the largest price, so that few pivots with the true costs
        # are needed afterwards.
        small = max(1, max(abs(int(a)) for a in dual.prices) >> 20)
        changes: list[Integer] = [0] * len(dual.prices)
        for k, price in enumerate(dual.prices):
            status = self.status[k]
            if status == BASIC or (price != 0 and not self._gain(k, price)):
                continue
            sign = {LOWER: 1, UPPER: -1}.get(status, 0)
            changes[k] = sign * small * self._random.randrange(1, 1000) - price
        of_rows = program.transposed(changes[program.size :])
        self._cost = [
            c * dual.q + a + b for c, a, b in zip(self._cost, changes, of_rows, strict=False)
        ]

    def _dual_pivot(
        self, kernel: Kernel, excess: list[tuple[Integer, int, int]], dual: Multipliers, bland: bool
    ) -> None:
        # The variable or row with the largest violation moves to its bound. If `bland` is true,
        # Bland's rule ignores the costs until the point is feasible. Bland's rule always
        # terminates.
        # Rows are scaled by different factors. Without these factors the violations are comparable.
        worst = max(excess, key=lambda e: _log2(e[0]) - self.program.bits(e[1]))
        _, leave, side = excess[0] if bland else worst
        up = 1 if side == LOWER else -1
        best: tuple[Integer, Integer, int] | None = None
        for k, effect in enumerate(self._effects(kernel, leave)):
            # Some variables cannot move the leaving variable towards the bound that it violates.
            if not self._gain(k, -up * effect):
                continue
            # The smallest ratio of price and effect keeps the other prices at their right signs.
            found = (0 if bland else abs(dual.prices[k]), abs(effect), k)
            if best is None or _is_smaller(found, best, is_tie_broken=not bland):
                best = found
        if best is None:
            raise InputError("the relaxation is infinite on the whole simplex")
        self.status[leave] = side
        self.status[best[2]] = BASIC

    def _effects(self, kernel: Kernel, leave: int) -> list[Integer]:
        # The effect is the change of the leaving variable or row for a unit move, up to a common
        # factor.
        program = self.program
        size = program.size
        basic, tight = self._lists()
        if leave < size:
            right = [int(j == leave) for j in basic]
            own: list[Integer] = [0] * size
        else:
            right = program.coefficients(leave - size, basic)
            own = list(program.coefficients(leave - size, range(size)))
        numbers, q = kernel.solve_transposed(right)
        y: list[Integer] = [0] * program.height
        for t, a in zip(tight, numbers, strict=True):
            y[t] = a
        return [a * q - b for a, b in zip(own, program.transposed(y), strict=True)] + y

    def _primal_pivot(
        self, kernel: Kernel, point: BasicPoint, gains: list[tuple[Integer, int, int]], bland: bool
    ) -> None:
        # The variable or row with the largest gain moves, or the first one if `bland` is true.
        # The largest gain in comparable units is Dantzig's rule.
        best_gain = max(gains, key=lambda g: _log2(g[0]) + self.program.bits(g[1]))
        _, enter, step = gains[0] if bland else best_gain
        leave, side = self._blocking(point, enter, *self._moves(kernel, enter, step))
        self.status[enter] = BASIC
        # If the entering variable itself arrives at its other bound, it stays nonbasic there.
        self.status[leave] = side

    def _blocking(
        self, point: BasicPoint, enter: int, moves: list[Integer], q: Integer
    ) -> tuple[int, int]:
        """Return the first variable or row that reaches a bound when `enter` moves, and the side of
        this bound."""
        low, high = self.program.bounds[enter]
        best: tuple[Integer, Integer, int] | None = None
        side = LOWER
        if low is not None and high is not None:
            # The first two entries are the room and the rate, and their ratio is the length of the
            # move in units of q / point.q.
            best = ((high - low) * point.q, q, enter)
            side = UPPER if self.status[enter] == LOWER else LOWER
        for k, move in enumerate(moves):
            # A variable that grows is stopped by its upper bound, and others by their lower bounds.
            bound = self.program.bounds[k][int(move > 0)]
            if self.status[k] != BASIC or move == 0 or bound is None:
                continue
            found = (abs(bound * point.q - point.values[k]), abs(move), k)
            if best is None or _is_smaller(found, best):
                best = found
                side = UPPER if move > 0 else LOWER
        if best is None:
            # The edges and the simplex are bounded, so only auxiliaries of f can be at fault.
            raise InputError(
                "the linear program of the relaxation has no finite minimum on the simplex. "
                "Bound its auxiliary variables z, or their costs, in exact_form"
            )
        return best[2], side

    def _moves(self, kernel: Kernel, enter: int, step: int) -> tuple[list[Integer], Integer]:
        """Return the moves of all variables and rows if `enter` moves by `step`, which is 1 or −1.

        The moves are integers with a common denominator, which is the second result.
        """
        program = self.program
        size = program.size
        basic, tight = self._lists()
        if enter < size:
            right = [-step * program.coefficients(t, [enter])[0] for t in tight]
        else:
            right = [step * int(t == enter - size) for t in tight]
        numbers, q = kernel.solve(right)
        moves: list[Integer] = [0] * size
        if enter < size:
            moves[enter] = step * q
        for j, a in zip(basic, numbers, strict=True):
            moves[j] = a
        return moves + program.times(moves), q


def _is_smaller(
    one: tuple[Integer, Integer, int],
    other: tuple[Integer, Integer, int],
    is_tie_broken: bool = False,
) -> bool:
    # These are ratios [0] / [1]. Of equal ratios, the pivot with the larger denominator is more
    # stable.
    left = one[0] * other[1]
    right = other[0] * one[1]
    return bool(left < right or (is_tie_broken and left == right and one[1] > other[1]))


def _log2(a: Integer) -> float:
    # The result is used to make choices, but not in proofs. The integer may be beyond the range of
    # doubles, so only its leading 50 bits are converted.
    whole = int(a)
    width = whole.bit_length()
    return width + math.log2(whole >> max(0, width - 50)) - min(width, 50)

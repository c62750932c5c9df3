"""The simplex method in integers, from any basis: what floating point gets wrong is pivoted away.

A basis is a status for every variable and every row of an `ExactProgram`. Its point and its
multipliers solve one square system each, exactly, so every sign that the method looks at is the
true one.
"""

from __future__ import annotations

import math
import random
import time
from collections.abc import Callable
from typing import NamedTuple

from relaxboost._core.errors import InputError
from relaxboost.certificates.exact.kernel import Integer, Kernel, Singular, independent
from relaxboost.certificates.exact.program import ExactProgram

BASIC, LOWER, UPPER, FREE = 0, 1, 2, 3
"""Where a variable or a row stands: free to move, at a bound, or at zero without bounds."""

_STALLED = 30
"""Pivots without progress after which ties go by Bland's rule."""


class Exhausted(Exception):
    """The pivots or the time are used up."""


class BasicPoint(NamedTuple):
    """The variables, then the rows, at a basis: numbers over one denominator q > 0."""

    values: list[Integer]
    q: Integer


class Multipliers(NamedTuple):
    """Reduced costs of the variables, then multipliers of the rows, over one q > 0."""

    prices: list[Integer]
    q: Integer


class PivotLimits:
    """How many pivots and seconds are left."""

    def __init__(self, pivots: int, seconds: float) -> None:
        self.pivots = 0
        self._most, self._end = pivots, time.perf_counter() + seconds

    @property
    def seconds(self) -> float:
        """Seconds left."""
        return self._end - time.perf_counter()

    def check(self) -> None:
        """Raise `Exhausted` if nothing is left."""
        if self.pivots >= self._most or self.seconds <= 0.0:
            raise Exhausted

    def pivot(self) -> None:
        """Count one pivot."""
        self.check()
        self.pivots += 1


class ExactSimplex:
    """A basis of a program that grows, and the pivots that make it optimal.

    First it is made feasible by dual pivots, with the costs shifted where it is not dual feasible
    either; then, with the costs as they are, primal pivots end it.

    Parameters
    ----------
    program : ExactProgram
    status : list of int
        One for each variable and then for each row; repaired where they are no basis.
    limits : PivotLimits
    report : callable
        Called with (point, feasible, dual feasible) at every basis.
    """

    def __init__(
        self,
        program: ExactProgram,
        status: list[int],
        limits: PivotLimits,
        report: Callable[[BasicPoint, bool, bool], None],
    ) -> None:
        self.program, self.status, self._limits, self._report = program, status, limits, report
        self._cost: list[Integer] = program.cost
        self._random = random.Random(0)
        self._settle()

    def _bounds(self, k: int) -> tuple[int | None, int | None]:
        program = self.program
        if k < program.size:
            return program.low[k], program.high[k]
        return program.row_low[k - program.size], program.row_high[k - program.size]

    def _settle(self) -> None:
        """Give every variable a status that its bounds allow, and the basis the right size."""
        for k, status in enumerate(self.status):
            if status != BASIC:
                self.status[k] = self._nearest(k, status)
        basic, tight = self._lists()
        if len(basic) != len(tight):
            self._thin(tight, basic)

    def _nearest(self, k: int, wish: int) -> int:
        low, high = self._bounds(k)
        if low is not None and (wish != UPPER or high is None):
            return LOWER
        return FREE if high is None else UPPER

    def _thin(self, tight: list[int], basic: list[int]) -> None:
        """Keep what is independent: other rows become basic, other variables go to a bound."""
        rows, variables = independent(self.program, tight, basic)
        for j in basic:
            if j not in variables:
                self.status[j] = self._nearest(j, LOWER)
        for t in tight:
            if t not in rows:
                self.status[self.program.size + t] = BASIC

    def grow(self) -> None:
        """Make the rows that the program has got since then basic."""
        self.status += [BASIC] * (self.program.size + self.program.height - len(self.status))

    def _lists(self) -> tuple[list[int], list[int]]:
        size = self.program.size
        basic = [j for j in range(size) if self.status[j] == BASIC]
        tight = [k - size for k in range(size, len(self.status)) if self.status[k] != BASIC]
        return basic, tight

    def _kernel(self) -> Kernel:
        """Return the system of the basis; a singular one is thinned out first."""
        basic, tight = self._lists()
        kernel = Kernel(self.program, tight, basic)
        seconds = 0.15 * (kernel.size / 200) ** 3  # measured for doubles; no solve can be stopped
        if seconds > self._limits.seconds:
            raise Exhausted
        return kernel

    def _at_bound(self, k: int) -> int:
        low, high = self._bounds(k)
        at = {LOWER: low, UPPER: high}.get(self.status[k], 0)
        assert at is not None
        return at

    def _point(self, kernel: Kernel) -> BasicPoint:
        program, size = self.program, self.program.size
        basic, tight = self._lists()
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
        """Return (amount, k, side) of each basic variable or row beyond a bound."""
        out = []
        for k, a in enumerate(point.values):
            if self.status[k] == BASIC:
                low, high = self._bounds(k)
                if low is not None and a < low * point.q:
                    out.append((low * point.q - a, k, LOWER))
                elif high is not None and a > high * point.q:
                    out.append((a - high * point.q, k, UPPER))
        return out

    def _gain(self, k: int, price: Integer) -> int:
        """Return the direction, ±1, in which moving the non-basic `k` lowers the cost, or 0."""
        status = self.status[k]
        if status == BASIC or price == 0:
            return 0
        low, high = self._bounds(k)
        if low is not None and low == high:
            return 0
        if price < 0:
            return 1 if status in (LOWER, FREE) else 0
        return -1 if status in (UPPER, FREE) else 0

    def optimise(self) -> tuple[BasicPoint, Multipliers]:
        """Return the optimal point of the program and its multipliers.

        Raises
        ------
        Exhausted
            If the limits come first.
        InputError
            If no point is feasible.
        """
        stalled, rounds, last = 0, 0, None
        self._cost = self.program.cost
        while True:
            self._limits.check()
            kernel = self._kernel()
            try:
                point, dual = self._point(kernel), self._multipliers(kernel)
            except Singular:
                basic, tight = self._lists()
                self._thin(tight, basic)
                continue
            excess = self._excess(point)
            gains = [
                (abs(a), k, step) for k, a in enumerate(dual.prices) if (step := self._gain(k, a))
            ]
            if self._cost is self.program.cost:
                self._report(point, not excess, not gains)
                if not excess and not gains:
                    return point, dual
            elif not excess:
                self._cost = self.program.cost
                continue
            if excess and gains:
                self._shift(dual)
                continue
            self._limits.pivot()
            rounds += 1
            stalled = stalled + 1 if last == (point.values[self.program.v], point.q) else 0
            last = (point.values[self.program.v], point.q)
            if excess:
                bland = rounds > 20 * _STALLED + 2 * self.program.height
                self._dual_pivot(kernel, excess, dual, bland)
            else:
                self._primal_pivot(kernel, point, gains, stalled > _STALLED)

    def _shift(self, dual: Multipliers) -> None:
        """Change the costs so that the basis is dual feasible, until it is feasible too.

        Prices of the wrong sign, or zero, become small ones of the right sign, all different, so
        that few dual pivots are degenerate. Costs are times dual.q, which does not matter.
        """
        program, size = self.program, self.program.size
        small = max(1, max(abs(int(a)) for a in dual.prices) >> 20)
        cost: list[Integer] = [c * dual.q for c in self._cost]
        rows: list[Integer] = [0] * program.height
        for k, price in enumerate(dual.prices):
            status = self.status[k]
            if status == BASIC or (price != 0 and not self._gain(k, price)):
                continue
            sign = {LOWER: 1, UPPER: -1}.get(status, 0)
            change = sign * small * self._random.randrange(1, 1000) - price
            if k < size:
                cost[k] += change
            else:
                rows[k - size] = change
        self._cost = [c + a for c, a in zip(cost, program.transposed(rows), strict=True)]

    def _dual_pivot(
        self, kernel: Kernel, excess: list[tuple[Integer, int, int]], dual: Multipliers, bland: bool
    ) -> None:
        """Move what is farthest beyond a bound to it, at the least cost.

        By Bland's rule costs are forgotten until the point is feasible, which always ends.
        """
        program, size = self.program, self.program.size
        worst = max(excess, key=lambda e: _log2(e[0]) - program.bits(e[1]))
        _, leave, side = excess[0] if bland else worst
        up = 1 if side == LOWER else -1
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
        effects = [a * q - b for a, b in zip(own, program.transposed(y), strict=True)] + y
        best: tuple[Integer, Integer, int] | None = None
        for k, effect in enumerate(effects):
            if self.status[k] == BASIC or effect == 0 or not self._may(k, effect * up):
                continue
            price = 0 if bland else abs(dual.prices[k])
            size_ = abs(effect)
            # Among equal ratios the largest effect, by Bland's rule the lowest index.
            if (
                best is None
                or price * best[1] < best[0] * size_
                or (not bland and price * best[1] == best[0] * size_ and size_ > best[1])
            ):
                best = (price, size_, k)
        if best is None:
            raise InputError("the relaxation is infinite on the whole simplex")
        self.status[leave], self.status[best[2]] = side, BASIC

    def _may(self, k: int, effect: Integer) -> bool:
        """Whether the non-basic `k` can move so that something grows that it has `effect` on."""
        low, high = self._bounds(k)
        if low is not None and low == high:
            return False
        status = self.status[k]
        return status == FREE or (effect > 0) == (status == LOWER)

    def _primal_pivot(
        self, kernel: Kernel, point: BasicPoint, gains: list[tuple[Integer, int, int]], bland: bool
    ) -> None:
        """Move what gains most, as far as the bounds allow."""
        program, size = self.program, self.program.size
        best_gain = max(gains, key=lambda g: _log2(g[0]) + program.bits(g[1]))
        _, enter, step = gains[0] if bland else best_gain
        basic, tight = self._lists()
        own: list[Integer] = [0] * size
        if enter < size:
            right = [-step * program.coefficients(t, [enter])[0] for t in tight]
        else:
            right = [step * int(t == enter - size) for t in tight]
        numbers, q = kernel.solve(right)
        if enter < size:
            own[enter] = step * q
        for j, a in zip(basic, numbers, strict=True):
            own[j] = a
        moves = own + program.times(own)
        low, high = self._bounds(enter)
        best: tuple[Integer, Integer, int, int] | None = None
        if low is not None and high is not None:
            other = UPPER if self.status[enter] == LOWER else LOWER
            best = ((high - low) * point.q, q, enter, other)  # room / rate, in units of q / point.q
        for k, move in enumerate(moves):
            if self.status[k] != BASIC or move == 0:
                continue
            low, high = self._bounds(k)
            side, bound = (UPPER, high) if move > 0 else (LOWER, low)
            if bound is not None:
                room = abs(bound * point.q - point.values[k])
                if best is None or room * best[1] < best[0] * abs(move):
                    best = (room, abs(move), k, side)
        assert best is not None, "a game is bounded"
        _, _, leave, side = best
        self.status[enter] = BASIC
        self.status[leave] = side


def _log2(a: Integer) -> float:
    """Return log2 of a positive integer of any size, to a few digits: for choices, not proofs."""
    whole = int(a)
    width = whole.bit_length()
    return width + math.log2(whole >> max(0, width - 50)) - min(width, 50)

"""How many more rounds steps will take, told from how their gap has fallen."""

from __future__ import annotations

import math

_HUGE = 100.0
"""The logarithm of more rounds than any run has."""


class Forecast:
    """The gap goes on falling as in the latter half of the rounds so far.

    With pairwise steps it falls by the same part a round, once their columns are found
    (Lacoste-Julien & Jaggi 2015). While no w is better than w = 0, so that nothing but smoothing
    bounds it, it falls like a power of the rounds.

    Parameters
    ----------
    goal : float
        The gap at which steps end, > 0.
    """

    def __init__(self, goal: float) -> None:
        self._goal = goal
        self._gaps: list[float] = []

    def note(self, gap: float) -> None:
        """Take the gap of the best points up to a round, which does not rise."""
        self._gaps.append(gap)

    def rounds(self, power: bool = False) -> float:
        """Return about how many are left, inf where the latter half brought nothing.

        `power` says that the gap falls like a power of the rounds.
        """
        count, half = len(self._gaps), len(self._gaps) // 2
        if not half:
            return math.inf
        before, now = (max(self._gaps[i], self._goal) for i in (half - 1, -1))
        fallen = math.log(before / now)
        if fallen <= 0.0:
            return 0.0 if now == self._goal else math.inf
        left = math.log(now / self._goal) / fallen
        if power:
            return count * math.expm1(min(left * math.log(count / half), _HUGE))
        return (count - half) * left

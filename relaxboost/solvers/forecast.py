"""How many more rounds steps will take, told from how their gap has fallen."""

from __future__ import annotations

import math


class Forecast:
    """The gap goes on falling by the same part a round as in the latter half of those so far.

    With pairwise steps it does, once their columns are found (Lacoste-Julien & Jaggi 2015).

    Parameters
    ----------
    goal : float
        The gap at which steps end, > 0.
    """

    def __init__(self, goal: float) -> None:
        self._goal = goal
        self._gaps: list[float] = []  # the least up to each round

    def note(self, gap: float) -> None:
        """Take the gap of a round."""
        self._gaps.append(min(gap, self._gaps[-1]) if self._gaps else gap)

    def rounds(self) -> float:
        """Return about how many are left, inf where the latter half brought nothing."""
        count, half = len(self._gaps), len(self._gaps) // 2
        if not half:
            return math.inf
        before, now = (max(self._gaps[i], self._goal) for i in (half - 1, -1))
        fallen = math.log(before / now)
        if fallen <= 0.0:
            return 0.0 if now == self._goal else math.inf
        return (count - half) * math.log(now / self._goal) / fallen

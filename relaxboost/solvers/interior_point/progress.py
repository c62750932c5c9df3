"""The rule that ends an interior point method without progress."""

from __future__ import annotations

import numpy as np


class Progress:
    """A counter of consecutive iterations without progress.

    An iteration makes progress if its gap, its complementarity or its infeasibility is less than
    0.9 times the smallest value of all earlier iterations that made progress.

    Parameters
    ----------
    patience : int
        The number of such iterations after which a run is stuck.
    """

    def __init__(self, patience: int) -> None:
        self._patience = patience
        self._least = np.full(3, np.inf)
        self._idle = 0

    def is_stuck(self, gap: float, complementarity: float, infeasibility: float) -> bool:
        """Record an iteration, and return whether the run is stuck.

        `gap` is the upper minus the lower bound, `complementarity` is the mean of slack times
        multiplier, and `infeasibility` is the size of the residuals.
        """
        now = np.array([gap, complementarity, infeasibility])
        if (now < 0.9 * self._least).any():
            self._least = np.minimum(now, self._least)
            self._idle = 0
        else:
            # The least values stay, so that many short steps together count as progress.
            self._idle += 1
        # At complementarity 0, the equations of a step are not defined.
        return self._idle >= self._patience or complementarity == 0.0

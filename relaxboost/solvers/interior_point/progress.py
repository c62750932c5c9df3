"""The end of an interior point method: nothing shrinks any more."""

from __future__ import annotations

import numpy as np


class Progress:
    """Notices when the gap, the complementarity and the infeasibility no longer shrink.

    Parameters
    ----------
    patience : int
        The number of iterations without progress after which a run is stuck.
    """

    def __init__(self, patience: int) -> None:
        self._patience = patience
        self._least = np.full(3, np.inf)
        self._idle = 0

    def is_stuck(self, gap: float, complementarity: float, infeasibility: float) -> bool:
        """Count an iteration, and return whether the last ones made no progress."""
        now = np.array([gap, complementarity, infeasibility])
        if (now < 0.9 * self._least).any():
            self._least = np.minimum(now, self._least)
            self._idle = 0
        else:
            # The least values stay, so that many short steps together count as progress.
            self._idle += 1
        return self._idle >= self._patience

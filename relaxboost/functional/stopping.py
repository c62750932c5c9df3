"""The stopping criteria of functional boosting."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from relaxboost._core.errors import InputError
from relaxboost._core.loop import Limits
from relaxboost._core.parameters import count


@dataclass(frozen=True)
class Stopping(Limits):
    """The stopping criteria of a boosting run, which ends at the first one that is met.

    Parameters
    ----------
    max_rounds : int
        The maximum number of rounds, >= 1, including the rounds of a warm start.
    time_limit : float, optional
        The time limit in seconds from the start of the call, > 0, checked after each round and
        between the projections of a round.
    callback : callable, optional
        A function that is called with the `BoostState` of each round. A true result ends the run.
    max_learners : int, optional
        The maximum number of hypotheses, >= 1. Round t of ``"repeated"`` adds t hypotheses.
    patience : int, optional
        The maximum number of rounds, >= 1, without a new lowest validation risk.
    validation : tuple, optional
        Held-out examples, whose risk the history records: (X, y), (X, y, groups) or (X, y, groups,
        weights). In planning, held-out tasks.

    Raises
    ------
    InputError
        If a limit is not positive, if `callback` is not callable, or if `patience` has no
        `validation`.
    """

    max_rounds: int = 100
    max_learners: int | None = None
    patience: int | None = None
    validation: Any = None

    def __post_init__(self) -> None:
        super().__post_init__()
        count("max_rounds", self.max_rounds)
        for name in ("max_learners", "patience"):
            given = getattr(self, name)
            if given is not None:
                object.__setattr__(self, name, count(name, given))
        if self.patience is not None and self.validation is None:
            raise InputError(
                "patience needs validation=(X, y), held-out examples whose risk decides when the "
                "run stops"
            )

    @classmethod
    def of(cls, given: Any) -> Stopping:
        """Return the `Stopping` for a number of rounds, or `given` itself.

        Raises
        ------
        InputError
            If the argument is neither an integer nor a `Stopping`.
        """
        return given if isinstance(given, cls) else cls(max_rounds=count("stopping", given))

"""The limits that end a run of functional boosting."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from relaxboost._core.errors import InputError
from relaxboost._core.loop import Limits
from relaxboost._core.parameters import count


@dataclass(frozen=True)
class Stopping(Limits):
    """The limits of a run of boosting. The run ends at the first limit that it reaches.

    Parameters
    ----------
    max_rounds : int
        The number >= 1 of rounds, including the rounds of a warm start.
    time_limit : float, optional
        A positive number of seconds, counted from the start of the call. The time is checked after
        each round and between the projections of a round.
    callback : callable, optional
        A function that is called with the `BoostState` of each round. The run ends when the
        function returns a true value.
    max_learners : int, optional
        The maximum number of hypotheses, >= 1. Round t of ``"repeated"`` adds t hypotheses.
    patience : int, optional
        The run ends after this number of rounds, >= 1, without a new lowest validation risk.
    validation : tuple, optional
        Held-out examples: (X, y), (X, y, groups) or (X, y, groups, weights). The history contains
        their risk. In planning, `validation` contains held-out tasks.

    Raises
    ------
    InputError
        If a limit is not positive, if the callback cannot be called, or if there is a patience but
        no validation set.
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
                "patience needs validation=(X, y); the run stops when the risk on these examples "
                "no longer decreases"
            )

    @classmethod
    def of(cls, given: Any) -> Stopping:
        """Return a `Stopping` with the given number of rounds, or the given `Stopping`.

        Raises
        ------
        InputError
            If the argument is neither an integer nor a `Stopping`.
        """
        return given if isinstance(given, cls) else cls(max_rounds=count("stopping", given))

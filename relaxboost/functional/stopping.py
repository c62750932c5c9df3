"""When a run of boosting ends."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from relaxboost._core.errors import InputError
from relaxboost._core.loop import Limits
from relaxboost._core.parameters import count


@dataclass(frozen=True)
class Stopping(Limits):
    """When a run of boosting ends; whichever comes first.

    Parameters
    ----------
    max_rounds : int
        T >= 1; with a warm start it counts the rounds of that run too.
    time_limit : float, optional
        Seconds from the start of the call, > 0. It is looked at after each round and between the
        projections of a round.
    callback : callable, optional
        Called with the `BoostState` of each round; the run ends when what it returns is true.
    max_learners : int, optional
        No round begins with this many weak learners, >= 1. Round t of ``"repeated"`` has t.
    patience : int, optional
        The run ends after so many rounds, >= 1, without a lower validation risk.
    validation : tuple, optional
        Examples held out: (X, y), (X, y, groups) or (X, y, groups, weights). Their risk is in the
        history. In planning, tasks held out.

    Raises
    ------
    InputError
        For limits that are not positive, a callback that cannot be called, or patience without
        a validation set.
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
            raise InputError("patience needs validation=(X, y), the set whose risk is watched")

    @classmethod
    def of(cls, given: Any) -> Stopping:
        """Return what is given, or what stops after so many rounds where it is a number.

        Raises
        ------
        InputError
            If it is neither.
        """
        return given if isinstance(given, cls) else cls(max_rounds=count("stopping", given))

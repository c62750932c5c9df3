"""The l1 penalty on w, which no game accepts; this class exists to explain the reason."""

from __future__ import annotations

from typing import Any, NoReturn

from relaxboost._core.errors import InputError


class L1Penalty:
    """The penalty weight · ‖w‖_1 in place of a ball; the constructor always raises an InputError.

    Its g is the conjugate of the penalty, the indicator of ‖v‖_inf <= weight. If d has a larger
    edge, f(d) + g(Aᵀd) is infinite, and d gives no upper bound. ρ itself is infinite if the margin
    exceeds the weight, because the penalty grows no faster than the margins.

    Raises
    ------
    InputError
        Always. The message names the remedies.
    """

    def __new__(cls, weight: Any = None) -> NoReturn:
        """Raise the InputError."""
        raise InputError(
            "L1Penalty cannot be played over: its g is the indicator of ‖Aᵀd‖_inf <= weight, +inf "
            "for some d, so that they give no finite upper bound; bound w instead, "
            "L1Ball(radius), or take a penalty that grows faster, SquaredNorm(weight)"
        )

"""The l1 penalty on w, which no game takes; it has a name so that the error can say why."""

from __future__ import annotations

from typing import Any, NoReturn

from relaxboost._core.errors import InputError


class L1Penalty:
    """weight · ‖w‖_1 in place of a ball; always refused.

    Its g is the conjugate of the penalty, the indicator of ‖v‖_inf <= weight. For d with a larger
    edge f(d) + g(Aᵀd) is infinite, so such a d gives no upper bound, and ρ itself is infinite
    where the margin exceeds the weight: the penalty grows no faster than the margins do.

    Raises
    ------
    InputError
        Always, naming the remedies.
    """

    def __new__(cls, weight: Any = None) -> NoReturn:
        """Raise the InputError."""
        raise InputError(
            "L1Penalty cannot be played over: its g is the indicator of ‖Aᵀd‖_inf <= weight, +inf "
            "for some d, so that they give no finite upper bound; bound w instead, "
            "L1Ball(radius), or take a penalty that grows faster, SquaredNorm(weight)"
        )

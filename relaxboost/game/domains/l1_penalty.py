"""The class `L1Penalty`, which only raises an error: no game accepts this penalty."""

from __future__ import annotations

from typing import Any, NoReturn

from relaxboost._core.errors import InputError


class L1Penalty:
    """The penalty weight · ‖w‖_1 on the weights w, which is not a valid domain.

    Its conjugate g is the indicator of ‖v‖_inf <= weight. If an edge of d exceeds the weight in
    absolute value, f(d) + g(Aᵀd) is infinite, so d proves no upper bound. The value ρ may be
    infinite too, because the penalty does not grow faster than the margins.

    Raises
    ------
    InputError
        Always. The message suggests other domains.
    """

    def __new__(cls, weight: Any = None) -> NoReturn:
        raise InputError(
            "L1Penalty cannot be the domain of a game: its conjugate g is the indicator of "
            "‖Aᵀd‖_inf <= weight, so some distributions d give no finite upper bound; use the ball "
            "L1Ball(radius), or SquaredNorm(weight), a penalty that grows faster"
        )

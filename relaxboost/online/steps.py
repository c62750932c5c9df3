"""Greedy mirror steps: each begins at the weights before it, and forgets how they came about."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

from relaxboost._core.errors import InputError
from relaxboost.game.domains import L2Ball, Simplex
from relaxboost.online.learner import OnlineMethod


@dataclass(frozen=True)
class MirrorSteps(OnlineMethod):
    """w_i = −∇W_1(−∇V(w_{i−1}) + η_i u_i): least η_i <u_i, w> + B(w, w_{i−1}) (Eqs. 22 and 24).

    The step is η_i = 1/β_{i−1}. With a constant β and a steep proxy (`Proxy.steep`) these are
    the weights of `MirrorDescent`; else they differ. With decreasing steps regret is bounded where
    the Bregman divergences of the proxy are; those of the entropy are not.

    Parameters
    ----------
    loss, over, bound, targets
        See `OnlineMethod`.
    proxy : str or Proxy
    schedule : str or Schedule
        Its inverses are the steps.

    References
    ----------
    Nemirovski & Yudin (1983); Beck & Teboulle (2003); Juditsky et al. (2005), Sec. 3.5.
    """

    greedy: ClassVar[bool] = True
    own_proxy: ClassVar[str] = ""
    """The name of the only proxy that it has; "" where any will do."""

    proxy: Any = "squared-l2"
    schedule: Any = "growing"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.own_proxy not in ("", self.proxy.name):
            raise InputError(
                f"{type(self).__name__} has the proxy {self.own_proxy!r}, not {self.proxy!r}; for "
                "another take MirrorSteps"
            )


@dataclass(frozen=True)
class GradientDescent(MirrorSteps):
    """w_i = Π(w_{i−1} − η_i u_i), Π the nearest point of the domain; by default the l2 ball.

    With ``Horizon(m)`` the step is B/(L√m) and the regret at most LB√m, for ‖u_i‖_2 <= L.

    References
    ----------
    Dekel (2011), Algorithm 1 with Π[w] = w/max(1, ‖w‖/B), and Theorem 1; Zinkevich (2003).
    """

    own_proxy: ClassVar[str] = "squared-l2"

    over: Any = field(default_factory=L2Ball)


@dataclass(frozen=True)
class ExponentiatedGradient(MirrorSteps):
    """w_ij ∝ w_{i−1,j} exp(−η_i u_ij): experts weighted by their losses; by default the simplex.

    With ``Horizon(m)`` the step is √(2 log M/m)/L and the regret at most L√(2m log M). On the l1
    ball it is EG±.

    References
    ----------
    Dekel (2011), Algorithm 2 and Theorem 3; Kivinen & Warmuth (1997).
    """

    own_proxy: ClassVar[str] = "entropy"

    over: Any = field(default_factory=Simplex)
    proxy: Any = "entropy"

"""Online methods with greedy mirror steps, which start from the previous weights."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

from relaxboost._core.errors import InputError
from relaxboost.game.domains import L2Ball, Simplex
from relaxboost.online.learner import OnlineMethod


@dataclass(frozen=True)
class MirrorSteps(OnlineMethod):
    """Greedy mirror descent (Juditsky et al. 2005, Eqs. 22 and 24).

    The weights w_i = −∇W_1(−∇V(w_{i−1}) + η_i u_i) minimise η_i <u_i, w> + B(w, w_{i−1}), where V
    is the proxy, W_1 its conjugate, B its Bregman divergence, u_i the gradient, and η_i = 1/β_{i−1}
    the step. With a constant temperature β and a steep proxy (`Proxy.steep`), the weights are those
    of `MirrorDescent`. With decreasing steps, a regret bound needs bounded divergences, which the
    entropy does not have.

    Parameters
    ----------
    loss, over
        See `OnlineMethod`.
    proxy : str or Proxy
        The proxy. The default is half the squared l2 norm.
    schedule : str or Schedule
        The temperature schedule. The step is 1/β.
    bound, targets
        See `OnlineMethod`.

    References
    ----------
    Nemirovski & Yudin (1983); Beck & Teboulle (2003); Juditsky et al. (2005), Sec. 3.5.
    """

    greedy: ClassVar[bool] = True
    own_proxy: ClassVar[str] = ""
    """The only proxy that the method accepts, or "" if it accepts all proxies."""

    proxy: Any = "squared-l2"
    schedule: Any = "growing"

    def __post_init__(self) -> None:
        super().__post_init__()
        # Each published algorithm is defined for a single proxy.
        if self.own_proxy not in ("", self.proxy.name):
            raise InputError(
                f"{type(self).__name__} requires the proxy {self.own_proxy!r}, not "
                f"{self.proxy!r}; use MirrorSteps for another proxy"
            )


@dataclass(frozen=True)
class GradientDescent(MirrorSteps):
    """Projected online gradient descent, w_i = Π(w_{i−1} − η_i u_i).

    Here Π is the projection onto the domain, by default the unit l2 ball, u_i is the gradient, and
    η_i is the step size. For ‖u_i‖_2 <= L and a ball of radius B, ``Horizon(m)`` has the step
    B/(L√m), and the regret is at most LB√m.

    References
    ----------
    Dekel (2011), Algorithm 1 with Π[w] = w/max(1, ‖w‖/B), and Theorem 1; Zinkevich (2003).
    """

    own_proxy: ClassVar[str] = "squared-l2"

    over: Any = field(default_factory=L2Ball)


@dataclass(frozen=True)
class ExponentiatedGradient(MirrorSteps):
    """Exponentiated gradients: w_ij is proportional to w_{i−1,j} exp(−η_i u_ij).

    Here u_i is the gradient, and η_i is the step size. Over the unit simplex, the default domain,
    and with gradients bounded by L, ``Horizon(m)`` has the step √(2 log M/m)/L, and the regret is
    at most L√(2m log M). On the unit l1 ball the method is EG±, and 2M replaces M.

    References
    ----------
    Dekel (2011), Algorithm 2 and Theorem 3; Kivinen & Warmuth (1997).
    """

    own_proxy: ClassVar[str] = "entropy"

    over: Any = field(default_factory=Simplex)
    proxy: Any = "entropy"

"""Mirror descent with averaging, also known as dual averaging."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from relaxboost.online.learner import OnlineMethod


@dataclass(frozen=True)
class MirrorDescent(OnlineMethod):
    """Mirror descent with averaging, or dual averaging (Juditsky et al. 2005, Eqs. 11 and 12).

    The weights w_i = −∇W_{β_i}(z_i) are the mirror image of the gradient sum z_i = z_{i−1} +
    u_i(w_{i−1}), where β_i is the temperature after example i, and W_β is the β-conjugate of the
    proxy V. With the schedule "growing" and t independent examples, the average weights have an
    expected excess risk of at most 2L√(V_max/α) √(t + 1)/t, where L bounds the gradients, and V_max
    and α are the maximum and the modulus of the proxy.

    Parameters
    ----------
    loss, over
        See `OnlineMethod`.
    proxy : str or Proxy
        The proxy. The default is the entropy, for simplices and the l1 ball.
    schedule : str or Schedule
        The temperature schedule. The default is "growing" (Eqs. 17 and 18).
    bound, targets
        See `OnlineMethod`.

    References
    ----------
    Juditsky, Nazin, Tsybakov & Vayatis (2005), Secs. 3.2 to 3.4, Thms 1 and 2; Nesterov (2009).

    Examples
    --------
    >>> import numpy as np
    >>> import relaxboost as rb
    >>> learner = rb.online.MirrorDescent("hinge", rb.Simplex(1)).start(2)
    >>> predictions = learner.update(np.array([[1.0, -1.0]] * 20), np.ones(20))
    >>> learner.w.round(2).tolist()
    [1.0, 0.0]
    >>> learner.regret_bound() > 0.0
    True
    """

    proxy: Any = "entropy"
    schedule: Any = "growing"

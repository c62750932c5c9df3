"""Bounds of the risk of what online learning leaves behind, and what they assume."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from relaxboost._core.errors import InputError
from relaxboost._core.parameters import count, positive, share
from relaxboost.online.learner import Learner, OnlineMethod
from relaxboost.online.schedules import Adaptive, Growing


@dataclass(frozen=True, kw_only=True)
class Assumptions:
    """What the bounds of risks rest on. No data can show it, so that it must be said.

    Parameters
    ----------
    iid_order : bool
        The examples are independent draws of one law, and arrive in the order they were drawn, or
        in one fixed before. If the order depends on them, as where they are sorted by their
        labels, the bounds are false (claim DEK11-T2-order), and are refused.
    loss_range : float, optional
        c > 0: losses are in [0, c] for all weights of the domain and all examples. Bounds in
        expectation do without.
    """

    iid_order: bool
    loss_range: float | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.iid_order, bool):
            raise InputError(f"iid_order must be True or False, got {self.iid_order!r}")
        if self.loss_range is not None:
            object.__setattr__(self, "loss_range", positive("loss_range", self.loss_range))


def risk_bound(loss: float, m: int, delta: float, assumptions: Assumptions) -> float:
    """Return loss + c √(log(1/δ)/(2m)), a bound of the risk of Q with probability >= 1 − δ.

    The mean of w_0, ..., w_{m−1} has no more risk than Q, by Jensen's inequality.

    Parameters
    ----------
    loss : float
        (1/m) Σ l_i(w_{i−1}), the mean loss on the way.
    m : int
        At least 1.
    delta : float
        In (0, 1).
    assumptions : Assumptions
        The order and the range of the losses.

    Raises
    ------
    InputError
        Where what it rests on is not assumed.

    References
    ----------
    Dekel (2011), Eq. 1; Cesa-Bianchi, Conconi & Gentile (2004).
    """
    c = ranged("Eq. 1", assumptions)
    if not 0.0 <= loss <= c:
        raise InputError(f"a mean of losses in [0, {c:g}] cannot be {loss:g}; check loss_range")
    return loss + c * math.sqrt(math.log(1.0 / share("delta", delta)) / (2.0 * count("m", m)))


def excess_risk_bound(regret: float, m: int, delta: float, assumptions: Assumptions) -> float:
    """Return regret/m + 2c √(log(2/δ)/(2m)), for the excess risk of Q, or of the mean.

    It holds with probability >= 1 − δ, against every w of the domain.

    Parameters
    ----------
    regret : float
        A bound of the regret for all streams, such as LB√m for `GradientDescent` and
        `Learner.regret_bound` for any learner.
    m, delta, assumptions
        See `risk_bound`.

    References
    ----------
    Dekel (2011), Theorem 2 and Eq. 3, for any learner.
    """
    c = ranged("Theorem 2", assumptions)
    log = math.log(2.0 / share("delta", delta))
    return regret / count("m", m) + 2.0 * c * math.sqrt(log / (2.0 * m))


def expected_excess_bound(
    method: OnlineMethod, size: int, t: int, assumptions: Assumptions
) -> float:
    """Return a bound of the expected excess risk after t examples, of the average and of Q.

    It is 2L√(V*/α) √(t + 1)/t for the schedule "growing" and L√(2V*/(αt)) for ``Horizon(t)``.

    Parameters
    ----------
    method : OnlineMethod
    size : int
        M.
    t : int
        At least 1.
    assumptions : Assumptions
        The order; no range.

    References
    ----------
    Juditsky et al. (2005), Thm 2 and Eq. 38.
    """
    ordered("a bound in expectation", assumptions)
    return promised(method.start(size), count("t", t))


def validation_radius(left: int, among: int, delta: float, assumptions: Assumptions) -> float:
    """Return c √(log(2k/δ)/(2 left)): how far losses on later examples are from the risks.

    With probability >= 1 − δ no one of k hypotheses is off by more. The log(m/δ) of the lecture
    forgets that there are two sides (claim DEK11-radius).

    Parameters
    ----------
    left : int
        Examples from i on, m − i + 1, for w_{i−1}.
    among : int
        k, the hypotheses compared: m, or the snapshots.
    delta, assumptions
        See `risk_bound`.
    """
    c = ranged("the radius of validation", assumptions)
    log = math.log(2.0 * count("among", among) / share("delta", delta))
    return c * math.sqrt(log / (2.0 * count("left", left)))


def validation_excess_bound(m: int, among: int, delta: float, assumptions: Assumptions) -> float:
    """Return 2c √(log(2k/δ)/m): what the choice of validation costs, with probability >= 1 − δ.

    Its risk is at most so much above that of the best of the k hypotheses that were there by the
    middle of the stream.

    Parameters
    ----------
    m : int
        Examples.
    among, delta, assumptions
        See `validation_radius`.

    References
    ----------
    Dekel (2011), Sec. 2.3, last display.
    """
    return 2.0 * validation_radius(count("m", m), among, delta, assumptions) * math.sqrt(2.0)


def ordered(what: str, assumptions: Any) -> Assumptions:
    """Return the assumptions, or raise where the order of the examples may depend on them."""
    if not isinstance(assumptions, Assumptions):
        raise InputError(
            f"{what} rests on what no data show; pass Assumptions(iid_order=..., loss_range=...), "
            f"got {assumptions!r}"
        )
    if not assumptions.iid_order:
        raise InputError(
            f"{what} is false where the order of the examples depends on them, as in a sorted "
            "file; shuffle them first, and say iid_order=True if they are independent"
        )
    return assumptions


def ranged(what: str, assumptions: Any) -> float:
    """Return c, or raise where it is not assumed, or the order is not."""
    c = ordered(what, assumptions).loss_range
    if c is None:
        raise InputError(f"{what} needs loss_range=c, with all losses in [0, c]")
    return c


def promised(learner: Learner, t: int) -> float:
    """Return the theorems' bound of the expected excess risk after t i.i.d. examples.

    It is for the average, and for a uniform draw. With L, α and V* of the learner it is Eq. 33 for
    the schedule "growing" (Thms 1 and 2), the same argument for "adaptive", and Eq. 25 for others:
    Eq. 38 for ``Horizon(t)``, and for greedy steps DEK11's Thms 1 and 3 divided by t. A schedule of
    one's own has its last β as for gradients of size L and the others as for none.

    References
    ----------
    Juditsky et al. (2005), Thms 1 and 2, Eqs. 25, 33 and 38; Dekel (2011), Thms 1 and 3.
    """
    method, known = learner.method, learner.constants
    schedule, value, square = method.schedule, known.largest, known.lipschitz**2
    if isinstance(schedule, Adaptive) and not method.greedy:
        ratio = math.sqrt(value / known.modulus)
        return known.lipschitz * ratio * (math.sqrt(t + 1.0) + math.sqrt(t)) / t
    beta = [schedule.temperature(i, i * square, known) for i in range(t + 1)]
    if isinstance(schedule, Growing) and not method.greedy:
        return (beta[0] * value + square / (known.modulus * beta[0])) * math.sqrt(t + 1.0) / t
    if method.greedy and not schedule.steady:
        value = method.proxy.spread(method.over, learner.size)
    low = beta
    if schedule.law(known) is None:  # smaller gradients may leave it at lower temperatures
        low = [schedule.temperature(i, 0.0, known) for i in range(t)]
    return (beta[t] * value + math.fsum(square / (2.0 * known.modulus * b) for b in low[:t])) / t

"""Risk bounds for hypotheses from online learning, with their assumptions."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from relaxboost._core.errors import InputError
from relaxboost._core.parameters import count, positive, share
from relaxboost.online.hedged import HedgedDescent
from relaxboost.online.learner import Learner, OnlineMethod
from relaxboost.online.schedules import Adaptive, Growing


@dataclass(frozen=True, kw_only=True)
class Assumptions:
    """The assumptions behind risk bounds, which users declare because data cannot prove them.

    Parameters
    ----------
    iid_order : bool
        Whether the examples are independent draws from one distribution, in an order that does not
        depend on their values. If False, for example for examples sorted by label, risk bounds
        raise an InputError, because they can be wrong (claim DEK11-T2-order).
    loss_range : float, optional
        A number c > 0 such that all losses are in [0, c] for all weights of the domain. Bounds in
        expectation do not need it.
    """

    iid_order: bool
    loss_range: float | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.iid_order, bool):
            raise InputError(f"iid_order must be True or False, got {self.iid_order!r}")
        if self.loss_range is not None:
            object.__setattr__(self, "loss_range", positive("loss_range", self.loss_range))


def risk_bound(loss: float, m: int, delta: float, assumptions: Assumptions) -> float:
    """Return a bound on the risk of a random iterate: loss + c √(log(1/δ)/(2m)).

    The risk of a random iterate is the mean risk of w_0, ..., w_{m−1}. The bound holds with
    probability at least 1 − δ over the examples. By Jensen's inequality, it also holds for the mean
    of the iterates.

    Parameters
    ----------
    loss : float
        The mean loss (1/m) Σ l_i(w_{i−1}) of the learner.
    m : int
        The number of examples.
    delta : float
        The failure probability δ of the bound.
    assumptions : Assumptions
        The declared order of the examples and range c of the losses.

    Raises
    ------
    InputError
        If a required assumption is missing.

    References
    ----------
    Dekel (2011), Eq. 1; Cesa-Bianchi, Conconi & Gentile (2004).
    """
    c = ranged("Eq. 1", assumptions)
    # A mean loss outside [0, c] contradicts the assumption that all losses are in this range.
    if not 0.0 <= loss <= c:
        raise InputError(
            f"loss must be a mean of losses in [0, {c:g}], got {loss:g}; check loss_range"
        )
    return loss + c * math.sqrt(math.log(1.0 / share("delta", delta)) / (2.0 * count("m", m)))


def excess_risk_bound(regret: float, m: int, delta: float, assumptions: Assumptions) -> float:
    """Return a bound on the excess risk of an iterate: regret/m + 2c √(log(2/δ)/(2m)).

    The bound holds for the mean of the m iterates and for a random iterate, with probability at
    least 1 − δ, compared with every w of the domain.

    Parameters
    ----------
    regret : float
        A regret bound, for example from `Learner.regret_bound`. For `GradientDescent` with
        ``Horizon(m)`` it is LB√m if gradients have at most the norm L and the domain is a ball of
        radius B.
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
    """Return a bound on the expected excess risk after t examples.

    The bound holds for the average of the iterates and for a random iterate. With gradients of norm
    at most L, and a proxy with the maximum V_max and the modulus α, the bound is L√(2V_max/(αt))
    for ``Horizon(t)``, and 2L√(V_max/α) √(t + 1)/t for `MirrorDescent` with the schedule "growing".
    For greedy steps, as in `MirrorSteps`, the bound for "growing" is larger, and inf if the Bregman
    divergences of the proxy are unbounded.

    Parameters
    ----------
    method : OnlineMethod
        The online method.
    size : int
        The number M of weights.
    t : int
        The number of examples.
    assumptions : Assumptions
        The declared order of the examples. The loss range is not needed.

    References
    ----------
    Juditsky et al. (2005), Thm 2 and Eq. 38.
    """
    ordered("a bound in expectation", assumptions)
    return promised(method.start(size), count("t", t))


def validation_radius(left: int, among: int, delta: float, assumptions: Assumptions) -> float:
    """Return the confidence radius c √(log(2k/δ)/(2n)) of the mean loss on n later examples.

    With probability at least 1 − δ, the mean losses of all k hypotheses differ from their risks by
    at most their radii. Dekel (2011) has log(m/δ) instead of log(2k/δ), which bounds only
    differences of one sign; see the claim DEK11-radius.

    Parameters
    ----------
    left : int
        The number n of examples in the mean loss. For the iterate w_{i−1}, these are the examples
        i, ..., m.
    among : int
        The number k of hypotheses that are compared.
    delta, assumptions
        See `risk_bound`.
    """
    c = ranged("the radius of validation", assumptions)
    log = math.log(2.0 * count("among", among) / share("delta", delta))
    return c * math.sqrt(log / (2.0 * count("left", left)))


def validation_excess_bound(m: int, among: int, delta: float, assumptions: Assumptions) -> float:
    """Return the excess risk bound 2c √(log(2k/δ)/m) of the rule "validation".

    With probability at least 1 − δ, the risk of the chosen iterate exceeds the least risk of the
    iterates from the first half of the stream by at most this bound.

    Parameters
    ----------
    m : int
        The number of examples.
    among, delta, assumptions
        See `validation_radius`.

    References
    ----------
    Dekel (2011), Sec. 2.3, last display.
    """
    return 2.0 * validation_radius(count("m", m), among, delta, assumptions) * math.sqrt(2.0)


def ordered(what: str, assumptions: Any) -> Assumptions:
    """Check that the assumptions declare a random order of the examples, and return them.

    The argument `what` is the name of the bound, for error messages.
    """
    if not isinstance(assumptions, Assumptions):
        raise InputError(
            f"{what} needs assumptions that data cannot prove; pass Assumptions(iid_order=..., "
            f"loss_range=...), got {assumptions!r}"
        )
    if not assumptions.iid_order:
        raise InputError(
            f"{what} is false if the order of the examples depends on their values, as in a sorted "
            "file; shuffle the examples first, and set iid_order=True if they are independent"
        )
    return assumptions


def ranged(what: str, assumptions: Any) -> float:
    """Return the declared upper bound c on the losses, or raise an InputError if there is none."""
    c = ordered(what, assumptions).loss_range
    if c is None:
        raise InputError(
            f"{what} needs loss_range=c, a number c such that all losses are in [0, c]"
        )
    return c


def promised(learner: Learner, t: int) -> float:
    """Return a bound on the expected excess risk after t independent examples.

    The bound holds for the average of the iterates and for a random iterate:

    * Mirror descent with the schedule "growing": Eq. 33 of Juditsky et al. (2005), whose proof also
      covers "adaptive".
    * Mirror descent with another schedule: Eq. 25. For ``Horizon(t)`` this is Eq. 38.
    * Greedy steps: the regret bound of Dekel (2011), Thms 1 and 3, divided by t.
    * `HedgedDescent`: inf, because no bound is known.

    The bounds assume gradients of the largest possible size L. For user-defined schedules without a
    `law`, only the last temperature does, and the others assume gradients of size 0.

    Parameters
    ----------
    learner : Learner
        The learner, whose method and options determine the bound.
    t : int
        The number of examples.

    References
    ----------
    Juditsky et al. (2005), Thms 1 and 2, Eqs. 25, 33 and 38; Dekel (2011), Thms 1 and 3.
    """
    method = learner.method
    # The learner has no schedule, and its weights are not in a fixed ball, so that no bound
    # applies.
    if isinstance(method, HedgedDescent):
        return math.inf
    schedule = method.schedule
    known = learner.constants
    value = known.largest
    square = known.lipschitz**2
    # The adaptive β depends on the gradients, so its bound is in closed form.
    if isinstance(schedule, Adaptive) and not method.greedy:
        ratio = math.sqrt(value / known.modulus)
        return known.lipschitz * ratio * (math.sqrt(t + 1.0) + math.sqrt(t)) / t
    # The bound assumes that all gradients have size L. For a schedule with a formula, this is the
    # worst case: the bound is convex in each squared size, and a gradient of 0 only omits a term.
    beta = [schedule.temperature(i, i * square, known) for i in range(t + 1)]
    if isinstance(schedule, Growing) and not method.greedy:
        return (beta[0] * value + square / (known.modulus * beta[0])) * math.sqrt(t + 1.0) / t
    # Greedy steps with changing β need the largest divergence.
    if method.greedy and not schedule.steady:
        value = method.proxy.spread(method.over, learner.size)
    # The sum contains the reciprocals of β_0, ..., β_{t−1}.
    low = beta
    # In a schedule without a formula, smaller gradients may lead to lower temperatures.
    if schedule.law(known) is None:
        low = [schedule.temperature(i, 0.0, known) for i in range(t)]
    return (beta[t] * value + math.fsum(square / (2.0 * known.modulus * b) for b in low[:t])) / t

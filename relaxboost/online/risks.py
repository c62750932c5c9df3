"""Bounds on the risk of hypotheses from online learning, with the assumptions that they need."""

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
    """The assumptions behind bounds on risks. Data cannot prove them, so users declare them.

    Parameters
    ----------
    iid_order : bool
        Whether the examples are independent draws from one distribution, in an order that does not
        depend on their values. If it is False, for example because the examples are sorted by
        label, the functions that compute bounds raise an InputError. The claim DEK11-T2-order
        shows that the bounds can then be wrong.
    loss_range : float, optional
        A number c > 0 such that the loss of each example is in [0, c] for all weights of the
        domain. Bounds in expectation do not need this number.
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

    The risk of a random iterate is averaged over the draw: it is the mean of the risks of w_0, ...,
    w_{m−1}. The bound holds with probability at least 1 − δ over the examples. It also holds for
    the mean of the iterates, whose risk is at most this mean by Jensen's inequality.

    Parameters
    ----------
    loss : float
        The mean loss (1/m) Σ l_i(w_{i−1}) of the learner.
    m : int
        The number of examples.
    delta : float
        The probability δ with which the bound may fail.
    assumptions : Assumptions
        The declared assumptions about the order of the examples and the range c of the losses.

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

    The bound holds for the mean of the m iterates, and for a random iterate, whose risk is averaged
    over the draw. With probability at least 1 − δ, it holds in comparison with every w of the
    domain.

    Parameters
    ----------
    regret : float
        A bound on the regret, for example from `Learner.regret_bound`. For `GradientDescent` it is
        LB√m if the gradients have at most the norm L, and the domain is a ball of radius B.
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

    The bound holds for the average of the iterates, and for a random iterate. Let L bound the
    gradients, and let the proxy have the maximum V_max and the modulus α. The bound is
    L√(2V_max/(αt)) for ``Horizon(t)``, and 2L√(V_max/α) √(t + 1)/t for `MirrorDescent` with the
    schedule "growing". For methods with greedy steps, such as `MirrorSteps`, the bound for
    "growing" is larger. It is inf if the Bregman divergences of the proxy are unbounded.

    Parameters
    ----------
    method : OnlineMethod
        The method of the learner.
    size : int
        The number M of weights.
    t : int
        The number of examples.
    assumptions : Assumptions
        The declared order of the examples. The range of the losses is not needed.

    References
    ----------
    Juditsky et al. (2005), Thm 2 and Eq. 38.
    """
    ordered("a bound in expectation", assumptions)
    return promised(method.start(size), count("t", t))


def validation_radius(left: int, among: int, delta: float, assumptions: Assumptions) -> float:
    """Return the confidence radius c √(log(2k/δ)/(2n)) of the mean loss on n later examples.

    With probability at least 1 − δ, the mean losses of all k hypotheses differ from their risks by
    at most their radii. The formula of Dekel (2011) has log(m/δ) instead of log(2k/δ). It bounds
    only the differences of one sign; see the claim DEK11-radius.

    Parameters
    ----------
    left : int
        The number n of examples on which the mean loss of the hypothesis was computed. For the
        iterate w_{i−1} of a stream of m examples, these are the examples i, ..., m.
    among : int
        The number k of hypotheses that are compared: all m iterates, or fewer snapshots.
    delta, assumptions
        See `risk_bound`.
    """
    c = ranged("the radius of validation", assumptions)
    log = math.log(2.0 * count("among", among) / share("delta", delta))
    return c * math.sqrt(log / (2.0 * count("left", left)))


def validation_excess_bound(m: int, among: int, delta: float, assumptions: Assumptions) -> float:
    """Return the bound 2c √(log(2k/δ)/m) for the hypothesis that is chosen by validation.

    Validation chooses among k iterates by their losses on later examples. With probability at least
    1 − δ, the risk of the chosen hypothesis exceeds the least risk of the iterates from the first
    half of the stream by at most this bound.

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
    """Return the given assumptions, after checking that they declare a random order of examples.

    An InputError is raised if `assumptions` is not an `Assumptions`, or if its `iid_order` is
    False. The message begins with the argument `what`, the name of the bound.
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
    """Return the declared upper bound c on the losses.

    An InputError is raised if the assumptions contain no such bound.
    """
    c = ordered(what, assumptions).loss_range
    if c is None:
        raise InputError(
            f"{what} needs loss_range=c, a number c such that all losses are in [0, c]"
        )
    return c


def promised(learner: Learner, t: int) -> float:
    """Return a bound on the expected excess risk after t independent examples.

    The bound holds for the average of the iterates, and for a random iterate. It depends on the
    method:

    * Mirror descent with the schedule "growing": Eq. 33 of Juditsky et al. (2005). The same proof
      gives the bound for "adaptive".
    * Mirror descent with another schedule: Eq. 25. For ``Horizon(t)`` this is Eq. 38.
    * Greedy steps: the regret bound of Dekel (2011), Thms 1 and 3, divided by t.
    * `HedgedDescent`: inf, because no bound is known.

    The bounds are computed for gradients of the largest possible size L. If the method `law` of a
    user-defined schedule returns None, smaller gradients may lead to lower temperatures. Then only
    the last temperature is computed for gradients of size L, and the others for gradients of size
    0.

    Parameters
    ----------
    learner : Learner
        The learner, whose method, loss and domain determine the bound.
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

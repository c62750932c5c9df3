"""The boosting algorithms: how each of them finds its direction in a round, and their options.

`Naive`, `Repeated` and `Residual` are the three algorithms of Grubb & Bagnell (2011), abbreviated
as GB11. `Refitted` is TreeBoost (Friedman 2001).
"""

from __future__ import annotations

import copy
import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field, fields
from typing import Any, ClassVar, NamedTuple, TypeAlias

import numpy as np

from relaxboost._core.arrays import Array
from relaxboost._core.errors import InputError
from relaxboost._core.loop import Clock
from relaxboost._core.parameters import is_given, positive
from relaxboost._core.registry import Registry
from relaxboost._core.rounding import roundoff
from relaxboost.functional.learners import Hypothesis, Pool, WeakLearner
from relaxboost.functional.learners.base import PROJECTIONS
from relaxboost.functional.losses import Risk
from relaxboost.functional.measure import Empirical
from relaxboost.functional.schedules import check_step, line_search

__all__ = [
    "ALGORITHMS",
    "Algorithm",
    "Direction",
    "Naive",
    "Projected",
    "Refitted",
    "Repeated",
    "Residual",
    "algorithm_of",
    "projector",
]

ITERATES = ("last", "best", "average")


class Projected(NamedTuple):
    """The projection of a vector v onto the hypothesis class H (GB11, Eq. 2).

    Among all multiples of all hypotheses in H, the projection is the one nearest to v.
    """

    hypothesis: Hypothesis
    coefficient: float
    """The coefficient of the hypothesis h in the projection of the vector v: <h, v>/‖h‖²."""
    point: Array
    """The values of the projection on the training set: the coefficient times the outputs of the
    hypothesis."""
    edge: float
    """The edge |<h, v>|/(‖h‖‖v‖) of the hypothesis h with respect to the projected vector v. It is
    the number γ in Definition 1 of Grubb & Bagnell (2011)."""


Project: TypeAlias = Callable[[Array], Projected | None]
"""A function that projects a vector onto the hypothesis class H. It returns None if the vector is
orthogonal to every hypothesis of H."""


@dataclass(frozen=True)
class Direction:
    """The direction of a boosting round, which is a sum of hypotheses times coefficients.

    The round multiplies the direction by the step, and subtracts the product from the function f.
    """

    parts: tuple[Projected, ...]
    """The projections whose sum is the direction of the boosting round."""
    values: Array
    """The values of the round's direction on the training set, in the shape of the gradient."""
    waits: bool = False
    """Whether boosting continues if this round found no hypothesis. It does if a later round may
    find one."""

    @property
    def edges(self) -> tuple[float, ...]:
        """The edges of the projections whose sum is the direction of the boosting round."""
        return tuple(part.edge for part in self.parts)


@dataclass(kw_only=True, eq=False, repr=False)
class Algorithm(ABC):
    """A boosting algorithm. In each round it approximates the subgradient by a sum of hypotheses.

    A subclass defines the method `direction`. If it also defines a `name`, `boost` accepts this
    name as an argument.

    Parameters
    ----------
    step : str, float or callable, optional
        The step size: a number > 0, a function of the round t = 1, 2, ..., or a name. "1/Lambda"
        needs the smoothness Λ of the risk (GB11, Theorem 3). "2/(lambda t)" and "1/(lambda t)" need
        its strong convexity λ (Theorems 4 and 6). "1/sqrt(t)" needs no constant (Theorems 5 and 7).
        "line-search" takes the step in [0, 2^40] with the least risk. The default is the step for
        which GB11 proves convergence. For `Naive`, GB11 proves convergence only if the risk is
        smooth and strongly convex.
    scale : float, optional
        A positive number that multiplies every step; by default 1. The steps 1/√t are too short for
        large targets. If targets are in the hundreds, the scale should also be in the hundreds;
        otherwise `boost` warns.
    projection : {"least-squares", "inner"}, optional
        The rule that selects a hypothesis. "least-squares" selects the hypothesis with the multiple
        nearest to the gradient (GB11, Eq. 4). "inner" selects the hypothesis with the smallest
        angle to the gradient (Eq. 3). The default is the first rule in `WeakLearner.projections`.
    iterate : {"last", "best", "average"}, optional
        The function that is used for predictions. Let f_t be the function after round t, and T the
        last round. "last", the default, is f_T. "best" is the f_t of least validation risk, or of
        least training risk if there is no validation set. "average" is the mean of f_1, ..., f_T.
        The theorems for the steps 1/√t refer to this mean.

    Raises
    ------
    InputError
        For any other value of an option.
    """

    name: ClassVar[str] = ""
    """The name by which `boost` selects the algorithm with its default options.

    It is "" if the algorithm has no such name.
    """

    step: str | float | Callable[[int], float] | None = None
    scale: float | None = None
    projection: str | None = None
    iterate: str | None = None

    def __init_subclass__(cls) -> None:
        ALGORITHMS.add(cls)

    def __post_init__(self) -> None:
        if self.step is not None:
            check_step(self.step)
        if self.scale is not None:
            self.scale = positive("scale", self.scale)
        for option, known in (("projection", PROJECTIONS), ("iterate", ITERATES)):
            given = getattr(self, option)
            if given is not None and given not in known:
                raise InputError(f"{option} must be one of {', '.join(known)}, got {given!r}")

    def __repr__(self) -> str:
        given = [(f.name, getattr(self, f.name), f.default) for f in fields(self) if f.init]
        # The representation leaves out options that have their default values.
        shown = [f"{name}={value!r}" for name, value, default in given if value != default]
        return f"{type(self).__name__}({', '.join(shown)})"

    @abstractmethod
    def direction(self, gradient: Array, project: Project, t: int) -> Direction:
        """Return the direction of round t >= 1.

        Parameters
        ----------
        gradient : array of shape (N,) or (N, K)
            The subgradient of the risk before the round. The array must not be changed.
        project : callable
            A function that projects a vector onto the nearest multiple of a hypothesis; see
            `Projected`.
        t : int
            The number of the round, >= 1.
        """

    def wanted(self, gradient: Array, risk: Any, F: Array) -> Array:
        """Return the vector that the round projects onto the hypotheses.

        The vector contains the values of a function on the training set. By default it is the given
        subgradient of the risk at F, the predictions before the round.
        """
        return gradient

    def refit(self, direction: Direction, pool: Pool, risk: Any, F: Array) -> Direction:
        """Return the direction of the next step, with new values in the leaves of its trees.

        By default the direction is returned unchanged. `Refitted` fits the leaf values to the loss.
        """
        return direction

    def default_step(self, risk: Risk, learner: WeakLearner) -> str:
        """Return the step size that is used for a risk and a weak learner if `step` is None."""
        return "1/(lambda t)" if risk.strong_convexity > 0.0 else "1/sqrt(t)"

    def fresh(self, after: Algorithm | None = None) -> Algorithm:
        """Return the algorithm in its initial state.

        If `after` is the algorithm of an earlier run, return the algorithm in the final state of
        that run. A subclass whose state changes during a run returns a copy.
        """
        return self

    def filled(self, **options: Any) -> Algorithm:
        """Return a copy of the algorithm in which the given options are set.

        An option that the user has already set keeps its value.
        """
        made = copy.copy(self)
        for option, value in options.items():
            if getattr(self, option) is None:
                setattr(made, option, value)
        Algorithm.__post_init__(made)
        return made

    def projection_for(self, learner: WeakLearner) -> str:
        """Return the name of the rule by which a weak learner selects hypotheses.

        The rule is the option `projection` of the algorithm, or else the learner's default. An
        InputError is raised if the learner does not support the rule.
        """
        if self.projection is None:
            return learner.projections[0]
        if self.projection not in learner.projections:
            raise InputError(
                f"{learner!r} does not support projection={self.projection!r}; use "
                f"{' or '.join(learner.projections)}"
            )
        return self.projection


ALGORITHMS: Registry[Algorithm] = Registry("algorithm")
"""The classes of boosting algorithms, by the names that `boost` accepts."""


def algorithm_of(given: Any) -> Algorithm:
    """Return a boosting algorithm.

    Parameters
    ----------
    given : str or Algorithm
        The name of an algorithm, such as "residual", which gets its default options, or an
        algorithm, which is returned unchanged.

    Raises
    ------
    InputError
        If the argument is neither a known name nor an `Algorithm`.
    """
    if isinstance(given, Algorithm):
        return given
    if isinstance(given, str) and given in ALGORITHMS:
        return ALGORITHMS[given]()
    raise InputError(f"algorithm must be one of {', '.join(ALGORITHMS)}, got {given!r}")


def projector(pool: Pool, measure: Empirical, clock: Clock | None = None) -> Project:
    """Return a function that projects a vector onto the hypothesis class of a weak learner.

    The returned function raises `TimeUp` if no time is left, and an `InputError` if the learner's
    outputs are not numbers in the shape of the projected vector.

    Parameters
    ----------
    pool : Pool
        The weak learner, prepared for a training set.
    measure : Empirical
        The weights of the examples, which define the norm of the projected vector.
    clock : Clock, optional
        The clock of the time limit. By default the time is not limited.
    """

    def project(v: Array) -> Projected | None:
        if clock is not None:
            clock.check()
        length = measure.norm(v)
        if length == 0.0:
            return None
        # The learner may be the user's, and so its result is checked before it is used.
        found = pool.nearest(v)
        if not (is_given(found, tuple) and len(found) == 2):
            raise InputError(
                f"the weak learner found {found!r}; nearest must return a hypothesis and its "
                "training outputs"
            )
        h, values = found
        if not isinstance(h, Hypothesis):
            raise InputError(
                f"the weak learner found {h!r}, which is not a Hypothesis; return an instance of a "
                "subclass of Hypothesis"
            )
        if np.shape(values) != v.shape:
            raise InputError(
                f"the weak learner found {h!r} with training outputs of shape {np.shape(values)}; "
                f"it must return an array of the same shape as its target, {v.shape}"
            )
        # If the outputs are not finite or too large, then the square of their norm is not finite.
        square = measure.inner(values, values)
        if not np.isfinite(square):
            raise InputError(
                f"the weak learner found {h!r} with training outputs that are not finite, or too "
                "large to square; it must return finite numbers. If the run diverges, use smaller "
                "steps"
            )
        # A hypothesis that is zero on the training set has no direction.
        if square == 0.0:
            return None
        inner = measure.inner(values, v)
        coefficient = inner / square
        edge = abs(inner) / (length * float(np.sqrt(square)))
        if edge <= roundoff(v.size):  # Up to rounding, v is orthogonal to h.
            return None
        return Projected(h, coefficient, coefficient * values, edge)

    return project


@dataclass(kw_only=True, eq=False, repr=False)
class Naive(Algorithm):
    """Algorithm 1 of GB11: take a step along the hypothesis that is nearest to the gradient.

    Round t sets f_t = f_{t−1} − η_t (<h, ∇>/‖h‖²) h. Here η_t is the step, ∇ the gradient of the
    risk at f_{t−1}, and h the hypothesis whose multiple is nearest to ∇. The remainder of the
    projection is discarded. The algorithm converges for smooth strongly convex risks (GB11,
    Theorem 3). For other risks it can stop far from the optimum.
    """

    name = "naive"

    def default_step(self, risk: Risk, learner: WeakLearner) -> str:
        # This is the step of GB11, Theorem 3, which needs a smooth risk.
        return "1/Lambda" if risk.smoothness < math.inf else "1/sqrt(t)"

    def direction(self, gradient: Array, project: Project, t: int) -> Direction:
        found = project(gradient)
        if found is None:
            return Direction((), np.zeros_like(gradient))
        return Direction((found,), found.point)


@dataclass(kw_only=True, eq=False, repr=False)
class Repeated(Algorithm):
    """Algorithm 2 of GB11: project the gradient, then the remainder, and so on, t times in round t.

    Round t sets f_t = f_{t−1} − η_t Σ_k (<h_k, ∇'>/‖h_k‖²) h_k. Here η_t is the step, ∇' the
    remainder of the gradient after k − 1 projections, and h_k the hypothesis whose multiple is
    nearest to ∇'. Projection k leaves the remainder ∇' − (<h_k, ∇'>/‖h_k‖²) h_k. The paper has
    ∇' − h_k instead. With the formula of the paper, its theorems fail unless h_k itself is the
    nearest point.

    Parameters
    ----------
    step, scale, projection, iterate
        See `Algorithm`.
    threshold : float, optional
        A number in (0, 1). If it is set, the number of projections in a round is not t. Instead,
        the round ends when the norm of the remainder ∇' is at most the threshold times the norm of
        the gradient (GB11, Sec. 4.2, last paragraph on Theorem 5).
    most : int, optional
        The maximum number of projections in a round. If a threshold is set, the default is 1000,
        because sums of hypotheses may not come close enough to the gradient.
    """

    name = "repeated"

    threshold: float | None = None
    most: int | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.threshold is not None and not 0.0 < self.threshold < 1.0:
            raise InputError(f"threshold must lie in (0, 1), got {self.threshold!r}")
        if self.most is not None and self.most < 1:
            raise InputError(f"most must be an integer >= 1, got {self.most!r}")

    def default_step(self, risk: Risk, learner: WeakLearner) -> str:
        # This is the step of GB11, Theorem 4, which needs a strongly convex risk.
        return "2/(lambda t)" if risk.strong_convexity > 0.0 else "1/sqrt(t)"

    def direction(self, gradient: Array, project: Project, t: int) -> Direction:
        left = gradient.copy()
        share = 1.0
        goal = 0.0 if self.threshold is None else self.threshold
        # Without a threshold, round t has t projections as in the paper.
        count = min(t, self.most or t) if self.threshold is None else self.most or 1000
        parts: list[Projected] = []
        while len(parts) < count and share > goal:
            found = project(left)
            # With a smaller edge a projection shortens the remainder by a factor above 1 − 1e-12.
            if found is None or found.edge < 1e-6:
                break
            parts.append(found)
            left -= found.point
            # This is the ratio ‖∇'‖/‖∇‖ of the remainder to the gradient, by Pythagoras' theorem.
            share *= math.sqrt(max(0.0, 1.0 - found.edge**2))
        return Direction(tuple(parts), gradient - left)


@dataclass(kw_only=True, eq=False, repr=False)
class Residual(Algorithm):
    """Algorithm 3 of GB11: add the remainder of each projection to the next gradient.

    Round t has three steps: Δ ← Δ + ∇; f_t = f_{t−1} − η_t (<h, Δ>/‖h‖²) h; and then
    Δ ← Δ − (<h, Δ>/‖h‖²) h. Here Δ is the residual, which is 0 before the first round, η_t the
    step, ∇ the gradient of the risk at f_{t−1}, and h the hypothesis whose multiple is nearest to
    Δ.
    """

    name = "residual"

    residual: Array | None = field(default=None, init=False)
    """The residual Δ after the last round: the sum of all gradients minus all projections. It is
    None before the first round."""

    def direction(self, gradient: Array, project: Project, t: int) -> Direction:
        total = gradient.copy() if self.residual is None else self.residual + gradient
        found = project(total)
        self.residual = total
        if found is None:
            # The residual may cancel the component of a gradient along H. The next round adds this
            # component again, and so the run continues.
            waits = project(gradient) is not None
            return Direction((), np.zeros_like(gradient), waits)
        total -= found.point
        return Direction((found,), found.point)

    def fresh(self, after: Algorithm | None = None) -> Residual:
        made = copy.copy(self)
        made.residual = after.residual if isinstance(after, Residual) else None
        return made


@dataclass(kw_only=True, eq=False, repr=False)
class Refitted(Naive):
    """Friedman's TreeBoost: project the gradient onto a tree, then fit the value of each leaf to
    the loss.

    Each round adds η v to the predictions in every leaf, where η is the step and v the value of the
    leaf. The value depends on the loss:

    * In regression, v minimises the loss of the examples in the leaf. It is a weighted mean, median
      or quantile, or Huber's estimate.
    * The logistic and exponential losses may have no minimum in a leaf. For these losses, v is a
      damped Newton step.
    * The hinge and the multiclass hinge are replaced by smooth losses. If there are K classes, the
      smooth risk exceeds the risk by at most (log K)/2.
    * If a loss has no rule for leaf values, the leaf values of the projection are multiplied by the
      number that decreases the risk most.

    With η <= 1, or η <= 1/K for a loss of K outputs, a round never increases the risk. For the two
    hinges, this holds for the smooth risk. There are two exceptions: the ranking hinge, because its
    pairs connect different leaves, and trees with monotone constraints, because these change the
    values of leaves. This algorithm is not in Grubb & Bagnell (2011).

    Parameters
    ----------
    step : optional
        As for `Algorithm`. The default is the shrinkage η: 0.3 for stumps, and 0.1 for other
        learners and in ranking.
    scale, projection, iterate
        See `Algorithm`.

    References
    ----------
    Friedman (2001), Greedy function approximation, Sec. 4 (TreeBoost) and 5 (shrinkage).
    """

    name = "refitted"

    def default_step(self, risk: Risk, learner: WeakLearner) -> float:  # type: ignore[override]
        return risk.shrinkage or learner.shrinkage

    def wanted(self, gradient: Array, risk: Any, F: Array) -> Array:
        return risk.softened(F, gradient)

    def projection_for(self, learner: WeakLearner) -> str:
        if not learner.leafy:
            raise InputError(
                f"algorithm='refitted' changes the values of leaves, but {learner!r} has no leaves "
                "with free values; use regression stumps or trees, or algorithm='residual'"
            )
        return super().projection_for(learner)

    def refit(self, direction: Direction, pool: Pool, risk: Any, F: Array) -> Direction:
        if not direction.parts:
            return direction
        (part,) = direction.parts
        leaf, leaves = pool.leaves(part.hypothesis)
        # The values in the leaves come from a rule of the loss, and are not proportional to the
        # projection.
        values = risk.refitted(F, leaf, leaves)
        if values is None:
            eta = line_search(risk, F, part.point)
            part = part._replace(coefficient=eta * part.coefficient, point=eta * part.point)
            return Direction((part,), part.point)
        # Monotone constraints hold for the sum, if they hold for every term.
        values = pool.allowed(part.hypothesis, values)
        # A direction is subtracted from f, and the values of leaves are added to it.
        minus = -values
        chosen = minus.take(leaf, 0) if leaf.ndim == 1 else np.take_along_axis(minus, leaf, 0)
        h = part.hypothesis.with_leaves(values)
        part = part._replace(hypothesis=h, coefficient=-1.0, point=chosen)
        return Direction((part,), part.point)

"""The boosting algorithms, which choose the direction of each round.

`Naive`, `Repeated` and `Residual` are Algorithms 1, 2 and 3 of Grubb & Bagnell (2011), or GB11.
`Refitted` is TreeBoost (Friedman 2001).
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

    It is the vector nearest to v among all multiples of all hypotheses in H.
    """

    hypothesis: Hypothesis
    coefficient: float
    """The coefficient <h, v>/‖h‖² of the hypothesis h."""
    point: Array
    """The projection on the training set: the coefficient times the outputs of h."""
    edge: float
    """The edge |<h, v>|/(‖h‖‖v‖), which is γ in GB11, Definition 1."""


Project: TypeAlias = Callable[[Array], Projected | None]
"""A function that projects a vector onto H. It returns None if the vector is orthogonal to H."""


@dataclass(frozen=True)
class Direction:
    """The direction of a boosting round, which is a sum of projections.

    The round subtracts the step size times the direction from f.
    """

    parts: tuple[Projected, ...]
    """The projections that add up to the direction."""
    values: Array
    """The values of the direction on the training set, in the shape of the gradient."""
    waits: bool = False
    """Whether boosting continues if the round found no hypothesis."""

    @property
    def edges(self) -> tuple[float, ...]:
        """The edges of the projections."""
        return tuple(part.edge for part in self.parts)


@dataclass(kw_only=True, eq=False, repr=False)
class Algorithm(ABC):
    """A boosting algorithm, which approximates each subgradient by a sum of hypotheses.

    Subclasses define `direction`. If they define a `name`, `boost` accepts it.

    Parameters
    ----------
    step : str, float or callable, optional
        The step size: a number > 0, a function of the round t = 1, 2, ..., or a name. "1/Lambda"
        needs the smoothness Λ of the risk (GB11, Theorem 3). "2/(lambda t)" and "1/(lambda t)" need
        its strong convexity λ (Theorems 4 and 6). "1/sqrt(t)" needs no constant (Theorems 5 and 7).
        "line-search" takes the step in [0, 2^40] with the least risk. By default, `Naive` uses
        "1/Lambda" for smooth risks. For strongly convex risks, `Repeated` uses "2/(lambda t)" and
        `Residual` "1/(lambda t)". For other risks, all three use "1/sqrt(t)".
    scale : float, optional
        A factor > 0 of all steps, by default 1. The steps 1/√t need a scale of the size of the
        targets; `boost` warns if they are too short.
    projection : {"least-squares", "inner"}, optional
        How a hypothesis is selected: "least-squares" takes the one with the multiple nearest to the
        gradient (GB11, Eq. 4), and "inner" the one with the smallest angle to the gradient (Eq. 3).
        The default is the first of `WeakLearner.projections`.
    iterate : {"last", "best", "average"}, optional
        The function used for predictions. "last", the default, is the function f_T after the last
        round T. "best" is the f_t with the least validation risk, or training risk without a
        validation set. "average" is the mean of f_1, ..., f_T, to which the theorems for the steps
        1/√t apply.

    Raises
    ------
    InputError
        If an option has any other value.
    """

    name: ClassVar[str] = ""
    """The name by which `boost` selects the algorithm, or "" if it has none."""

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
            The subgradient of the risk before the round. Do not modify it.
        project : callable
            The projection onto the hypothesis class; see `Projected`.
        t : int
            The number of the round, >= 1.
        """

    def wanted(self, gradient: Array, risk: Any, F: Array) -> Array:
        """Return the vector that the round projects onto the hypotheses.

        By default it is the given subgradient of the risk at the predictions F.
        """
        return gradient

    def refit(self, direction: Direction, pool: Pool, risk: Any, F: Array) -> Direction:
        """Return the direction with new leaf values.

        By default the direction is returned unchanged.
        """
        return direction

    def default_step(self, risk: Risk, learner: WeakLearner) -> str:
        """Return the step size that is used if `step` is None."""
        return "1/(lambda t)" if risk.strong_convexity > 0.0 else "1/sqrt(t)"

    def fresh(self, after: Algorithm | None = None) -> Algorithm:
        """Return the algorithm in its initial state, or in the final state of the run `after`.

        Subclasses with a state return a copy.
        """
        return self

    def filled(self, **options: Any) -> Algorithm:
        """Return a copy with the given options. Options that are already set keep their values."""
        made = copy.copy(self)
        for option, value in options.items():
            if getattr(self, option) is None:
                setattr(made, option, value)
        Algorithm.__post_init__(made)
        return made

    def projection_for(self, learner: WeakLearner) -> str:
        """Return the projection that the algorithm uses with a weak learner.

        An InputError is raised if the learner does not support the option `projection`.
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
"""The classes of boosting algorithms by name."""


def algorithm_of(given: Any) -> Algorithm:
    """Return the algorithm for a name or an object.

    Parameters
    ----------
    given : str or Algorithm
        A name such as "residual", which selects the default options, or an algorithm.

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
    """Return the projection onto the hypothesis class of a weak learner.

    The returned function raises `TimeUp` when the time is up, and an InputError if the learner's
    outputs are invalid.

    Parameters
    ----------
    pool : Pool
        The weak learner, prepared for a training set.
    measure : Empirical
        The example weights, which define the inner product.
    clock : Clock, optional
        The clock of the time limit. By default there is no limit.
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
                f"the weak learner found {h!r} with training outputs that are not finite or "
                "overflow when squared; it must return finite numbers. If the run diverges, use "
                "smaller steps"
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
    """Algorithm 1 of GB11: step along the projection of the gradient.

    Round t sets f_t = f_{t−1} − η_t (<h, ∇>/‖h‖²) h, where η_t is the step, ∇ the gradient at
    f_{t−1}, and h the hypothesis whose multiple is nearest to ∇. The algorithm converges for
    smooth, strongly convex risks (GB11, Theorem 3). For other risks it can stop far from the
    optimum.
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
    """Algorithm 2 of GB11: project the gradient and its remainders, t times in round t.

    Round t sets f_t = f_{t−1} − η_t Σ_k (<h_k, ∇'>/‖h_k‖²) h_k, where η_t is the step, ∇' the
    remainder after k − 1 projections, and h_k the hypothesis whose multiple is nearest to ∇'.
    Projection k leaves the remainder ∇' − (<h_k, ∇'>/‖h_k‖²) h_k. The paper has ∇' − h_k, for which
    its theorems fail unless h_k is the nearest point.

    Parameters
    ----------
    step, scale, projection, iterate
        See `Algorithm`.
    threshold : float, optional
        A number in (0, 1). If it is set, a round does not stop after t projections, but when the
        norm of ∇' is at most `threshold` times that of the gradient (GB11, Sec. 4.2, last paragraph
        on Theorem 5).
    most : int, optional
        The maximum number of projections in a round, >= 1. With a threshold the default is 1000.
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

    Round t has three steps: Δ ← Δ + ∇; f_t = f_{t−1} − η_t (<h, Δ>/‖h‖²) h; and then Δ ← Δ −
    (<h, Δ>/‖h‖²) h. The residual Δ starts at 0, η_t is the step, ∇ the gradient at f_{t−1}, and h
    the hypothesis whose multiple is nearest to Δ.
    """

    name = "residual"

    residual: Array | None = field(default=None, init=False)
    """The residual Δ after the last round, or None before the first round."""

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
    """Friedman's TreeBoost: project the gradient onto a tree, then refit its leaves to the loss.

    Each round adds η v to the predictions in each leaf, where η is the step and v the leaf value.
    The leaf value depends on the loss:

    * In regression, v minimises the loss in the leaf. It is a weighted mean, median or quantile, or
      Huber's estimate.
    * For the logistic and exponential losses, which may have no minimum in a leaf, v is a damped
      Newton step.
    * The hinge and the multiclass hinge are replaced by smooth losses. If there are K classes, the
      smooth risk exceeds the risk by at most (log K)/2.
    * If a loss has no rule for leaf values, the projection is multiplied by the best factor.

    With η <= 1, or η <= 1/K for K outputs, a round never increases the risk (for the two hinges,
    the smooth risk). Exceptions are the ranking hinge and trees with monotone constraints. This
    algorithm is not in Grubb & Bagnell (2011).

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
                f"algorithm='refitted' needs leaves to refit, but {learner!r} has none; "
                "use regression stumps or trees, or algorithm='residual'"
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

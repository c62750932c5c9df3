"""The convex problem of learning linear costs from demonstrations."""

from __future__ import annotations

import math
from collections.abc import Sequence
from copy import copy
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from relaxboost._core.arrays import Array
from relaxboost._core.errors import InputError, few
from relaxboost._core.lazy import cp
from relaxboost._core.loop import Clock
from relaxboost._core.rounding import UNIT, down, roundoff, up
from relaxboost.planning.cuts import PlanFunctions
from relaxboost.planning.features import same_names
from relaxboost.planning.graphs import Graph
from relaxboost.planning.oracle import AugmentedPlans, Oracle
from relaxboost.planning.regularisers import Regulariser, Ridge
from relaxboost.planning.tasks import Task
from relaxboost.solvers.bundle.cuts import Cut, Cuts
from relaxboost.solvers.bundle.master import Feasible

MAX_CUT_GROUPS = 16
"""The maximum number of groups of demonstrations with their own cutting planes. More groups make
the model of the loss more accurate, and the programs of the bundle method larger."""


class FitPoint(NamedTuple):
    """The objective of a `Problem` at given weights w, with its cutting planes. The objective is
    the regulariser plus the mean margin loss."""

    w: Array
    value: float
    """The objective at w."""
    bound: float
    """A proved upper bound on the objective at w in exact arithmetic, or nan if no proof was
    requested."""
    cuts: Cuts
    """The cutting planes of the loss at w, one for each group of demonstrations. A cutting plane is
    an affine lower bound on the weighted sum of the group's losses that is tight at w."""
    plans: AugmentedPlans
    """The loss-augmented plans at w, one for each demonstration."""


class Problem:
    """The problem that `fit` solves: minimise Ω(s w) + Σ weight R_i(B X w) over the weights w.

    Ω is the regulariser, and the scale s multiplies the d weights entry by entry. R_i is the margin
    loss of demonstration i as a function of the arc costs. X contains the features of the sites, B
    is the matrix `sites` of `Graph`, and B X contains the features of the arcs.

    Parameters
    ----------
    tasks : sequence of Task
        The tasks to learn from. Their graphs have the same features.
    regulariser : Regulariser
        The regulariser Ω. The default is a `Ridge`, whose strength `fit` chooses if `nonnegative`
        is true.
    nonnegative : bool
        Whether the weights and features must be >= 0, so that all costs are >= 0.
    negative : {"exact", "simple", "relaxed"}
        The treatment of costs that are negative after the loss is subtracted; see `Oracle`.
    scale : {"rms", "none"}
        The scale s. With ``"rms"``, s_j is the root mean square of feature j over the arcs of all
        graphs, or 1 if the feature is 0 everywhere. The optimal costs then do not depend on the
        units of the features. Features are not centred, because adding a constant to every arc may
        change the shortest path. With ``"none"``, every s_j is 1.

    Attributes
    ----------
    scale : array of shape (d,)
        The scale s.
    chooses : bool
        Whether `fit` chooses the strength of the regulariser.
    floors : array of shape (groups,)
        For each group of demonstrations, a lower bound on the weighted sum of their margin losses
        for all weights w. It is 0, or slightly negative if rounding makes the loss of a
        demonstration itself negative.

    Raises
    ------
    InputError
        If the list of tasks is empty, if graphs have different features, or if `nonnegative` is
        true and a feature is negative.
    """

    def __init__(
        self,
        tasks: Sequence[Task],
        regulariser: Regulariser | None = None,
        *,
        nonnegative: bool = True,
        negative: str = "exact",
        scale: str = "rms",
    ) -> None:
        if scale not in ("rms", "none"):
            raise InputError(f'scale must be "rms" or "none", got {scale!r}')
        self._use(Oracle(tasks, negative))
        self.regulariser = Ridge() if regulariser is None else regulariser
        if not isinstance(self.regulariser, Regulariser):
            raise InputError(
                f"regulariser must be a Regulariser object such as Ridge(1e-2), got {regulariser!r}"
            )
        self.nonnegative = bool(nonnegative)
        self.chooses = regulariser is None and self.nonnegative
        self.names = same_names(self.oracle.graphs)
        if self.nonnegative:
            for graph in self.oracle.graphs:
                _check_sign(graph)
        # Master problems use this scale even if the regulariser does not.
        self.rms = root_mean_squares(self.arc_features)
        # The losses do not depend on the weight of a feature that is 0 everywhere, so that this
        # weight is fixed at 0.
        self.is_used = np.any([x.any(axis=0) for x in self.arc_features], axis=0)
        self.scale: Array = self.rms if scale == "rms" else np.ones(self.d)

    def _use(self, oracle: Oracle) -> None:
        self.oracle = oracle
        # Neighbouring demonstrations go to different groups, which balances the groups.
        place = np.arange(len(oracle.rows))
        self.rates = np.zeros((min(MAX_CUT_GROUPS, place.size), place.size))
        self.rates[place % MAX_CUT_GROUPS, place] = oracle.weights
        self.least = np.array([row.gains.floor(row.path.arcs) for row in oracle.rows])
        # No term of the sum is above 0, so that the factor covers the rounding errors of the sum.
        self.floors: Array = self.rates @ self.least * (1.0 + 2.0 * roundoff(place.size + 8))
        self.arc_features = [graph.arc_features for graph in oracle.graphs]

    def changed(
        self, tasks: Sequence[Task] | None = None, regulariser: Regulariser | None = None
    ) -> Problem:
        """Return a copy of the problem with other tasks or another regulariser, and the same
        `scale`."""
        made = copy(self)
        if regulariser is not None:
            made.regulariser = regulariser
            made.chooses = False
        if tasks is not None:
            made._use(Oracle(tasks, self.oracle.negative))
        return made

    @property
    def tasks(self) -> tuple[Task, ...]:
        """The tasks to learn from."""
        return self.oracle.tasks

    @property
    def described(self) -> str:
        """A description of the regulariser and the scale, such as "Ridge(strength=0.01), w times
        [2.5]"."""
        by = "" if (self.scale == 1.0).all() else f", w times {self.scale.tolist()}"
        return f"{self.regulariser!r}{by}"

    @property
    def d(self) -> int:
        """The number of features."""
        return len(self.names)

    @property
    def floor(self) -> float:
        """A lower bound <= 0 on the objective for all weights w: the sum of `floors`, rounded
        down."""
        return float(self.floors.sum()) * (1.0 + 2.0 * roundoff(MAX_CUT_GROUPS + 8))

    @property
    def tight(self) -> bool:
        """Whether the loss of the problem is the exact margin loss for all weights w. Otherwise it
        may be a convex upper bound; see `Oracle`."""
        return self.oracle.negative != "relaxed" or self.never_negative

    @property
    def never_negative(self) -> bool:
        """Whether arc costs stay >= 0 after the loss is subtracted, for all feasible weights w."""
        return self.nonnegative and all((x.gains.values <= 0.0).all() for x in self.oracle.rows)

    def weights(self, w: ArrayLike) -> Array:
        """Return the weights w as an array, or raise an InputError if w is not feasible."""
        weights = np.array(w, dtype=np.float64)
        if weights.shape != (self.d,) or not np.isfinite(weights).all():
            raise InputError(f"w must have {self.d} finite entries, one per feature, got {w!r}")
        if self.nonnegative and (weights < 0.0).any():
            j = int(weights.argmin())
            raise InputError(
                f"w must be >= 0, but has {weights[j]:g} for feature {self.names[j]!r}; set it to "
                "0, or give nonnegative=False"
            )
        return weights

    def project(self, w: Array) -> Array:
        """Return the feasible weights nearest to w.

        The distance is Euclidean after scaling by `scale`. If a feature is 0 on every arc, its
        weight becomes 0.
        """
        used = np.where(self.is_used, self.scale * w, 0.0)
        return self.regulariser.project(used, self.nonnegative) / self.scale

    @property
    def feasible(self) -> Feasible:
        """The domain of the weights and the regulariser, for the bundle method."""
        return Feasible(self.scale, self.nonnegative, *self.regulariser.form)

    def penalty(self, w: Any) -> tuple[Any, list[Any]]:
        """Return the regulariser as a cvxpy expression in the weights w, and the constraints on
        w."""
        penalty, rules = self.regulariser.expression(cp.multiply(self.scale, w))
        return penalty, [*rules, w >= 0.0] if self.nonnegative else rules

    def costs(self, w: ArrayLike) -> list[Array]:
        """Return the arc costs of each graph for the weights w."""
        weights = self.weights(w)
        return [features @ weights for features in self.arc_features]

    def at(self, w: ArrayLike, prove: bool = False, *, clock: Clock | None = None) -> FitPoint:
        """Return the objective, the cutting planes and the loss-augmented plans at w.

        Parameters
        ----------
        w : array of shape (d,)
            The weights, which must be >= 0 if `nonnegative`.
        prove : bool
            Whether to compute an upper bound from the potentials of the plans.
        clock : Clock, optional
            The time limit; see `Oracle.evaluate`.
        """
        weights = self.weights(w)
        found = self.oracle.evaluate(self.costs(weights), prove, clock=clock)
        size = self.regulariser.value(self.scale * weights)
        bound = math.nan
        if prove:
            # Ω is rounded upwards before the losses are added.
            above = size + 2.0 * roundoff(self.d + 8) * abs(size)
            bound = up(up(above) + self._above(found, weights))
        return FitPoint(weights, size + found.value, bound, self._cuts(found), found)

    def revalued(self, point: FitPoint) -> FitPoint:
        """Return the evaluation of this problem at the weights of another problem's evaluation.

        Both problems have the same tasks, but different regularisers. Plans and cutting planes do
        not depend on the regulariser and are reused.
        """
        size = self.regulariser.value(self.scale * point.w)
        return point._replace(value=size + point.plans.value)

    def _cuts(self, found: AugmentedPlans) -> Cuts:
        # The cut of a group is Σ weight · (ℓ_i + <f_shown − f_taken, w>), where f_shown and f_taken
        # are the sums of the features along the demonstration and along the plan. It is a lower
        # bound on the losses of the group, because R_i is at least the term of every path.
        functions = PlanFunctions(self.arc_features)
        for row, answer, own in zip(self.oracle.rows, found.each, self.least, strict=True):
            # The plan of a demonstration without loss is the demonstration itself.
            if answer.value > 0.0:
                functions.add(row.graph, row.gains, answer.taken, row.path.arcs)
            else:
                functions.add_constant(float(own))
        return functions.combined(self.rates)

    def _above(self, found: AugmentedPlans, w: Array) -> float:
        """Return an upper bound on the mean margin loss at the exact arc costs, from plans for the
        rounded costs."""
        # The errors of the arc costs add up along each demonstration and along an optimal plan,
        # which takes no arc twice.
        γ = 2.0 * roundoff(self.d + 2)
        wrong = [γ * (np.abs(x) @ np.abs(w)) for x in self.arc_features]
        pairs = zip(self.oracle.graphs, wrong, strict=True)
        most = [min(float(e.sum()), (graph.nodes - 1) * float(e.max())) for graph, e in pairs]
        total = [float(e.sum()) for e in wrong]
        bounds = np.empty(len(found.each))
        for i, (row, answer) in enumerate(zip(self.oracle.rows, found.each, strict=True)):
            plan = most[row.graph] if answer.exact else total[row.graph]
            more = float(wrong[row.graph][row.path.arcs].sum()) + plan
            bounds[i] = up(max(answer.bound, 0.0) + 2.0 * more)
        return float(self.oracle.weights @ bounds) * (1.0 + 2.0 * roundoff(bounds.size + 6))

    def lower(self, cut: Cut) -> float:
        """Return the lower bound on the minimum that a cutting plane of the loss proves.

        For the cutting plane a + <G, w> and the scale s, the bound is a − Ω*(−G/s), where Ω* is the
        conjugate of the regulariser. Rounding errors are subtracted.
        """
        v = -cut.slope
        # The slope is changed by its rounding error, in the direction that lowers the bound.
        wide = np.abs(cut.error) * (1.0 + 4.0 * UNIT) + 4.0 * UNIT * np.abs(v)
        v = (v + (wide if self.nonnegative else np.copysign(wide, v))) / self.scale
        # If Ω* is infinite, the cut is averaged with the constant lower bound on R, with weights
        # for which Ω* is finite. A convex combination of two valid cuts is a valid cut.
        s = self.regulariser.reach(v, self.nonnegative)
        conjugate = self.regulariser.conjugate(s * v, self.nonnegative)
        conjugate += 2.0 * roundoff(self.d + 8) * abs(conjugate)
        won = s * cut.offset
        mixed = self.floor if s < 1.0 else 0.0
        wrong = 4.0 * UNIT * (abs(won) + abs(mixed) + abs(conjugate))
        bound = won + mixed - conjugate - wrong
        # Ω is >= 0, so that the floor is always a lower bound.
        return max(down(bound), self.floor) if math.isfinite(bound) else self.floor


def zero_features(graphs: Sequence[Graph]) -> str:
    """Return a warning about features that are 0 on every arc, or an empty string."""
    used = np.any([graph.features.any(axis=0) for graph in graphs], axis=0)
    names = [name for name, is_used in zip(graphs[0].names, used, strict=True) if not is_used]
    if not names:
        return ""
    are = "feature {} is" if len(names) == 1 else "features {} are"
    return (
        f"{are.format(few(names, 8))} 0 on every arc, so that trips say nothing about "
        f"{'its weight' if len(names) == 1 else 'their weights'}; fill in the numbers, or leave "
        "such columns out"
    )


def root_mean_squares(features: Sequence[Array]) -> Array:
    """Return the root mean square of each feature over the rows of the given arrays, or 1 for a
    feature that is 0 everywhere."""
    rows = sum(map(len, features))
    made = np.ones(features[0].shape[1])
    for j in range(made.size):
        largest = max(float(np.abs(x[:, j]).max(initial=0.0)) for x in features)
        # The division by the largest size keeps the squares in the range of doubles.
        if largest > 0.0:
            squares = sum(float(np.square(x[:, j] / largest).sum()) for x in features)
            made[j] = largest * math.sqrt(squares / rows)
    return made


def _check_sign(graph: Graph) -> None:
    bad = np.argwhere(graph.arc_features < 0.0)
    if bad.size:
        arc, column = bad[0].tolist()
        raise InputError(
            f"feature {graph.names[column]!r} of {graph.arc_name(arc)} is "
            f"{graph.arc_features[arc, column]:g}, which makes costs negative; shift it to >= 0, "
            "split it into a positive and a negative part, or give nonnegative=False"
        )

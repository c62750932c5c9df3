"""The margin loss as a function of the site costs, for functional gradient boosting."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from relaxboost._core.arrays import Array, Whole
from relaxboost._core.errors import InputError
from relaxboost._core.parameters import positive
from relaxboost.functional.losses import Loss, Risk
from relaxboost.functional.measure import Empirical
from relaxboost.planning.costs import LearnedCosts, LinearCosts
from relaxboost.planning.features import features_by_name, same_names
from relaxboost.planning.graphs import Graph
from relaxboost.planning.oracle import NEGATIVE, Oracle
from relaxboost.planning.tasks import Task

LINKS = ("additive", "exponential")


@dataclass(frozen=True)
class Linear:
    """Linear costs from which boosting starts. Unlike a `Fit`, they have no tasks."""

    w: tuple[float, ...]
    names: tuple[str, ...]
    floor: float = 0.0
    """The minimum site cost. With the exponential link, which needs costs > 0, lower costs are
    raised to it."""

    def __call__(self, graph: Graph) -> Array:
        C = features_by_name(graph, self.names) @ np.array(self.w)
        return np.maximum(C, self.floor) if self.floor else C


@dataclass(frozen=True)
class PlanningLoss(Loss):
    """The maximum-margin planning loss of site costs C, a `Loss` for `functional.boost`.

    The loss is R[C] = Σ weight R_i(B C) + (strength/2)‖F‖², where the boosted function F determines
    C. R_i is the margin loss of demonstration i, and B C are the arc costs, with the matrix B =
    `sites` of `Graph`.

    In `functional.boost`, tasks take the place of the targets. F has the same value at sites with
    equal features, so that `PlanningRisk.features` contains each feature vector only once.

    Parameters
    ----------
    link : {"exponential", "additive"}
        With ``"exponential"``, C = base · exp(F): costs are positive, the loss is not convex in F,
        and the weak learner fits the gradient of R in C, as in LEARCH. With ``"additive"``, C =
        base + F: the loss is convex in F, but costs may be negative.
    base : float, linear costs or callable, optional
        The site costs at F = 0, which must be > 0 for the exponential link: a number, a `Fit` or
        `LinearModel`, or a function that maps a graph to its site costs, shape (S,). By default,
        `planning.boost` uses the linear costs that `fit` learns from its tasks, and `bind` uses 1.
    negative : {"relaxed", "exact", "simple"}
        The treatment of costs that are negative after the loss is subtracted; see `Oracle`. With
        ``"relaxed"``, R is a convex upper bound on the loss, which is tight if none of these costs
        is negative.
    strength : float
        The strength of the quadratic penalty, >= 0, which makes R strongly convex. It must be 0 for
        the exponential link.

    References
    ----------
    Ratliff, Bagnell & Zinkevich (2006); Ratliff, Silver & Bagnell (2009), LEARCH; Grubb & Bagnell
    (2011), Sec. 5, Fig. 1.
    """

    link: str = "exponential"
    base: float | LinearCosts | Callable[[Graph], Array] | None = None
    negative: str = "relaxed"
    strength: float = 0.0

    task = "planning"

    def __post_init__(self) -> None:
        if self.link not in LINKS:
            raise InputError(f"link must be one of {', '.join(LINKS)}, got {self.link!r}")
        if self.negative not in NEGATIVE:
            raise InputError(
                f"negative must be one of {', '.join(NEGATIVE)}, got {self.negative!r}"
            )
        if isinstance(self.base, LinearCosts):
            # The tasks of a fit would make copies of the loss large.
            object.__setattr__(self, "base", Linear(tuple(self.base.w.tolist()), self.base.names))
        elif isinstance(self.base, LearnedCosts):
            raise InputError(
                "base must be a number or linear costs, and these costs are not linear; to "
                "continue boosting give warm_start=, or boost from base=costs.site_costs"
            )
        elif np.ndim(self.base):  # type: ignore[arg-type]
            raise InputError(
                "base must be a number, linear costs, or a function that returns the costs of the "
                "sites of a graph; got an array"
            )
        elif self.base is not None and not callable(self.base):
            object.__setattr__(self, "base", positive("base", np.asarray(self.base).item()))
        if self.strength and self.link == "exponential":
            raise InputError(
                "strength must be 0 for the exponential link, because only the additive link has "
                "a strength; leave strength out"
            )
        if self.strength:
            positive("strength", self.strength)

    def start(self, graph: Graph) -> Array:
        """Return the site costs of a graph before the first round of boosting, where F = 0."""
        base = 1.0 if self.base is None else self.base
        made = np.array(base(graph) if callable(base) else base, dtype=np.float64)
        if made.ndim == 0:
            return np.full(graph.size, float(made))
        if made.shape != (graph.size,) or not np.isfinite(made).all():
            raise InputError(
                f"base must return {graph.size} finite costs for {graph}, one per site, got an "
                f"array of shape {made.shape}"
            )
        if self.link == "exponential" and not (made > 0.0).all():
            site = int(made.argmin())
            raise InputError(
                f"base must give costs > 0 for the exponential link, but site {site} of {graph} "
                f"has {made[site]:g}; raise this cost, "
                'give PlanningLoss("additive"), or take a number'
            )
        return made

    def linked(self, start: Array, F: Array) -> Array:
        """Return site costs, given their initial values and the values of the boosted function
        F."""
        return start * np.exp(F) if self.link == "exponential" else start + F

    def bind(
        self, y: Any, weights: Any = None, *, groups: Any = None, classes: Any = None
    ) -> PlanningRisk:
        """Return the planning loss of the given tasks, as a function of the boosted function F.

        Parameters
        ----------
        y : sequence of Task
            The tasks. They take the place of the targets of other losses.
        weights : array of shape (S,), optional
            The weight > 0 of each site in the L² norm of functional gradients. The weights do not
            change the loss. With equal weights, the default, a weak learner mostly fits the many
            sites that no path visits. `planning.boost` therefore passes `PlanningRisk.visited`.
        groups, classes
            Not used in planning.
        """
        if groups is not None:
            raise InputError(
                "groups are used only by ranking losses, but the targets of this loss are tasks; "
                "leave groups out"
            )
        return PlanningRisk(self, y, weights)


class PlanningRisk(Risk):
    """The planning loss of some tasks as a function of the boosted function F; see `PlanningLoss`.

    Parameters
    ----------
    loss : PlanningLoss
        The loss, which sets the link, the base, the treatment of negative costs and the penalty.
    tasks : sequence of Task
        The tasks with their demonstrations and path losses.
    weights : array_like, optional
        One number > 0 for each site of each graph, in the order of the tasks. The gradient is
        divided by these weights. By default, they are equal.
    """

    closed_form = False

    def __init__(self, loss: PlanningLoss, tasks: Sequence[Task], weights: Any = None) -> None:
        self.loss = loss
        self.oracle = Oracle(tasks, loss.negative)
        self.strong_convexity = float(loss.strength)
        graphs = self.oracle.graphs
        same_names(graphs)
        self._ends = np.cumsum([0, *(graph.size for graph in graphs)])
        self._first = np.cumsum([0, *(graph.arcs for graph in graphs)])
        self._start = np.concatenate([loss.start(graph) for graph in graphs])
        p = Empirical(self.sites, weights).p
        if not (p > 0.0).all():
            raise InputError(
                "the weights of sites must be > 0, because the gradient is divided by the weights"
            )
        # A weak learner cannot distinguish sites with equal features. Adding 0 turns -0.0 into 0.0.
        X = np.concatenate([graph.features for graph in graphs]) + 0.0
        self.features, entry = np.unique(X, axis=0, return_inverse=True)
        """The distinct feature vectors of all sites. The boosted function F has one entry for
        each."""
        self._entry = entry.ravel()
        self.measure = Empirical(len(self.features), self._shared(p))
        self._shown = [row.path.arcs for row in self.oracle.rows]

    @property
    def sites(self) -> int:
        """The number of sites of all graphs together."""
        return int(self._ends[-1])

    def site_costs(self, F: Array) -> Array:
        """Return the site costs of all graphs, one graph after another, at the boosted function
        F."""
        return self.loss.linked(self._start, F[self._entry])

    def arc_costs(self, F: Array) -> list[Array]:
        """Return the arc costs of each graph at the boosted function F."""
        parts = np.split(self.site_costs(F), self._ends[1:-1])
        return [graph.costs(C) for graph, C in zip(self.oracle.graphs, parts, strict=True)]

    def evaluate(self, F: Array) -> tuple[float, Array]:
        """Return the planning loss at the boosted function F, and its L² gradient.

        For the exponential link, the gradient is with respect to the site costs C instead.
        """
        found = self.oracle.evaluate(self.arc_costs(F))
        value = found.value
        # The gradient of a margin loss is the demonstration minus the plan.
        away = self._passed(self._shown) - self._passed([one.taken for one in found.each])
        gradient = self._shared(self._gathered(away)) / self.measure.p
        # The norm of the penalty is that in which the gradient is taken.
        if self.loss.strength:
            value += 0.5 * self.loss.strength * self.measure.inner(F, F)
            gradient += self.loss.strength * F
        return value, gradient

    def visited(self) -> Array:
        """Return a weight > 0 for each site, which is large for sites that many paths visit.

        The paths are the demonstrations, and the plans for the costs before the first round. Nine
        tenths of the total weight are proportional to the numbers of visits, which are weighted by
        the matrix `sites`, and one tenth is spread evenly. The weights sum to 1, or to less if the
        demonstrations or the plans visit no site at all.
        """
        # Each site gets some weight, because the gradient is divided by weights.
        unvisited = 0.1
        found = self.oracle.evaluate(self.arc_costs(self.zero())).each
        both = self._shown, [answer.taken for answer in found]
        passed = [self._gathered(self._passed(paths)) for paths in both]
        # Arcs whose row of the matrix `sites` is 0 pass no site.
        each = sum((v / (v.sum() or 1.0) for v in passed), np.zeros(self.sites))
        return 0.5 * (1.0 - unvisited) * each + unvisited / self.sites

    def _passed(self, paths: list[Whole]) -> Array:
        """Return how often each arc of all graphs is used by one path for each demonstration.

        Each path counts with the weight of its demonstration.
        """
        firsts = [self._first[row.graph] for row in self.oracle.rows]
        arcs = np.concatenate([path + first for path, first in zip(paths, firsts, strict=True)])
        each = np.repeat(self.oracle.weights, [path.size for path in paths])
        return np.bincount(arcs, each, int(self._first[-1])).astype(np.float64, copy=False)

    def _gathered(self, flow: Array) -> Array:
        parts = zip(self.oracle.graphs, np.split(flow, self._first[1:-1]), strict=True)
        return np.concatenate([graph.gathered(part) for graph, part in parts])

    def _shared(self, each: Array) -> Array:
        # Sites with equal features share an entry, which is the sum of their values.
        return np.bincount(self._entry, each, len(self.features)).astype(np.float64, copy=False)

    def conjugate(self, Z: Any) -> Any:
        """Raise an InputError, because `functional.optimum` cannot bound this risk from below."""
        # The conjugate is finite only on a set without interior, and would give the bound 0.
        raise InputError(
            "functional.optimum cannot bound a PlanningLoss from below; for linear costs use "
            "planning.fit, which computes a lower and an upper bound on the optimum"
        )

    def expression(self, F: Any) -> Any:
        """Raise an InputError, because `functional.optimum` cannot bound this risk from below."""
        return self.conjugate(F)

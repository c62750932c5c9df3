"""The margin loss as a functional of site costs, for functional gradient boosting."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from relaxboost.errors import InputError
from relaxboost.functional.losses import Loss, Risk
from relaxboost.functional.measure import Empirical
from relaxboost.parameters import positive
from relaxboost.planning.oracle import NEGATIVE, Evaluation, Oracle
from relaxboost.planning.tasks import Task

Array = NDArray[np.float64]

LINKS = ("additive", "exponential")


@dataclass(frozen=True)
class PlanningLoss(Loss):
    """The maximum-margin planning loss of costs C per site, a `Loss` for `functional.boost`.

    R[C] = Σ weight R_i(B C)^power + (strength/2)‖F‖², over demonstrations i; F is what is boosted.
    Targets are tasks, and rows of X the features of the sites of their graphs, one graph after the
    other in the order in which the tasks first name them.

    Parameters
    ----------
    link : {"additive", "exponential"}
        C = base + F, or C = base · exp(F). The exponential one is positive whatever F is, and is
        not convex in F; the gradient handed to the weak learner is that of R at C, as in LEARCH.
    base : float
        The cost per site at F = 0, > 0.
    negative : {"relaxed", "exact", "simple"}
        See `Oracle`. With ``"relaxed"`` R is a convex bound above the loss, equal to it where no
        loss-augmented cost is negative.
    power : {1, 2}
    strength : float
        >= 0, additive only; makes R strongly convex.

    References
    ----------
    Ratliff, Bagnell & Zinkevich (2006); Ratliff, Silver & Bagnell (2009), LEARCH; Grubb & Bagnell
    (2011), Sec. 5, Fig. 1.
    """

    link: str = "additive"
    base: float = 1.0
    negative: str = "relaxed"
    power: int = 1
    strength: float = 0.0

    task = "planning"

    def __post_init__(self) -> None:
        if self.link not in LINKS:
            raise InputError(f"link must be one of {', '.join(LINKS)}, got {self.link!r}")
        if self.negative not in NEGATIVE:
            raise InputError(f"negative must be one of {', '.join(NEGATIVE)}")
        positive("base", self.base)
        if self.strength:
            positive("strength", self.strength)
            if self.link == "exponential":
                raise InputError("strength belongs to the additive link")

    def bind(
        self, y: Any, weights: Any = None, *, groups: Any = None, classes: Any = None
    ) -> PlanningRisk:
        """Return the risk on tasks.

        Parameters
        ----------
        y : sequence of Task
        weights : array of shape (S,), optional
            Of the sites, > 0: the measure of the inner product that weak learners project in, by
            default uniform. It changes the geometry of the descent, not the loss; tasks have
            weights of their own.
        groups, classes
            Not for planning.
        """
        if groups is not None:
            raise InputError("groups are for ranking; the tasks are the targets here")
        return PlanningRisk(self, y, weights)


class PlanningRisk(Risk):
    """R on some tasks; see `PlanningLoss`."""

    outputs = None
    classes = None
    smoothness = math.inf
    closed_form = False
    attained = True

    def __init__(self, loss: PlanningLoss, tasks: Sequence[Task], weights: Any = None) -> None:
        self.loss = loss
        self.oracle = Oracle(tasks, loss.negative, loss.power)
        self.strong_convexity = float(loss.strength)
        sizes = [graph.size for graph in self.oracle.graphs]
        self._ends = np.cumsum([0, *sizes])
        self.measure = Empirical(int(self._ends[-1]), weights)
        self.gradient_bound = self._bound()
        if not (self.measure.p > 0.0).all():
            raise InputError("weights of sites must be > 0; the gradient is divided by them")

    def _bound(self) -> float:
        """Return a bound of ‖∇‖: plans pass no arc twice, and demonstrations as often as they do.

        inf for squares and with strength, whose gradients grow with F, and for the exponential
        link, in whose F R is not convex.
        """
        if self.loss.power == 2 or self.loss.strength or self.loss.link == "exponential":
            return math.inf
        parts = []
        for place, graph in enumerate(self.oracle.graphs):
            most = np.zeros(graph.arcs)
            for row in self.oracle.rows:
                if row.graph == place:
                    counts = path_counts(row.path.arcs, graph.arcs)
                    most += row.weight * np.maximum(counts, 1.0)
            parts.append(graph.gathered(most))
        v = np.concatenate(parts)
        return float(np.sqrt((v * v / self.measure.p).sum())) * (1.0 + 1e-12)

    @property
    def features(self) -> Array:
        """The rows of X that belong to these tasks."""
        return np.concatenate([graph.features for graph in self.oracle.graphs])

    def site_costs(self, F: Array) -> Array:
        """Return C."""
        if self.loss.link == "exponential":
            made: Array = self.loss.base * np.exp(F)
            return made
        return self.loss.base + F

    def arc_costs(self, F: Array) -> list[Array]:
        """Return the arc costs of each graph."""
        C = self.site_costs(F)
        parts = zip(self.oracle.graphs, self._ends, self._ends[1:], strict=False)
        return [graph.costs(C[first:last]) for graph, first, last in parts]

    def evaluate(self, F: Array) -> tuple[float, Array]:
        """Return R and its gradient in L²(P̂); for the exponential link that in C, at C(F)."""
        found = self.oracle.evaluate(self.arc_costs(F))
        gradient = self._gradient(found) / self.measure.p
        value = found.value
        if self.loss.strength:
            value += 0.5 * self.loss.strength * self.measure.inner(F, F)
            gradient += self.loss.strength * F
        return value, gradient

    def inexact(self, F: Array) -> int:
        """Return how many demonstrations were planned for in relaxed form at F."""
        found = self.oracle.evaluate(self.arc_costs(F))
        return sum(not answer.exact for answer in found.answers)

    def _gradient(self, found: Evaluation) -> Array:
        """Return Σ weight · power · R_i^(power−1) Bᵀ(m_i − p_i), shape (S,)."""
        parts = []
        for place, graph in enumerate(self.oracle.graphs):
            arcs, by = [], []
            for row, answer in zip(self.oracle.rows, found.answers, strict=True):
                if row.graph == place:
                    rate = row.weight * (2.0 * answer.value if self.loss.power == 2 else 1.0)
                    arcs += [row.path.arcs, answer.taken]
                    by += [np.full(len(row.path), rate), np.full(answer.taken.size, -rate)]
            flow = np.zeros(graph.arcs)
            np.add.at(flow, np.concatenate(arcs), np.concatenate(by))
            parts.append(graph.gathered(flow))
        return np.concatenate(parts)

    def expression(self, F: Any) -> Any:
        """Return R as a convex cvxpy expression of F, of shape (S,); for small problems.

        A support function of the flows from source to target for every demonstration; of a relaxed
        plan, with what it takes besides. Where costs less gains fall around a cycle it is inf for
        negative="exact", as R is.
        """
        import cvxpy as cp

        if self.loss.link == "exponential":
            raise InputError("the exponential link is not convex in F, so there is no expression")
        if self.loss.negative == "simple":
            raise InputError(
                'paths that visit no node twice (negative="simple") have no convex expression of '
                'small size; use negative="relaxed"'
            )
        terms = []
        for row in self.oracle.rows:
            graph = self.oracle.graphs[row.graph]
            first, last = self._ends[row.graph], self._ends[row.graph + 1]
            C = self.loss.base + F[first:last]
            c = C if graph.sites is None else graph.sites @ C
            margin = c @ path_counts(row.path.arcs, graph.arcs) + row.gains.constant
            gained = row.gains.dense(graph.arcs) - c
            # The demonstration itself makes this >= 0, unless it passes a free arc twice.
            term = cp.pos(margin + self._best(row, graph, gained))
            terms.append(row.weight * (cp.square(term) if self.loss.power == 2 else term))
        if self.loss.strength:
            terms.append(0.5 * self.loss.strength * (self.measure.p @ cp.square(F)))
        return cp.sum(cp.hstack(terms))

    def _best(self, row: Any, graph: Any, gained: Any) -> Any:
        """Return max over flows of <gained, flow>; relaxed plans also take free arcs."""
        import cvxpy as cp

        flow, taken = cp.Variable(graph.arcs), cp.Variable(graph.arcs)
        balance = np.zeros(graph.nodes)
        balance[row.source], balance[row.target] = 1.0, -1.0
        rules = [flow >= 0.0, incidence(graph) @ flow == balance]
        # A relaxed plan takes each arc at most once, on its path or besides.
        relaxed = self.loss.negative == "relaxed"
        rules += [taken >= flow, taken <= 1.0] if relaxed else [taken == flow]
        return cp.suppfunc(taken, rules)(gained)

    def conjugate(self, Z: Array) -> float:
        """Refuse: R* is finite on the divergences of flows alone, a set without interior.

        A Z that a solver rounds is outside it, so that `functional.optimum`, which moves Z about
        in the domain of R*, would have no bound but 0.

        Raises
        ------
        InputError
        """
        raise InputError(
            "PlanningLoss has no conjugate that functional.optimum could bound R with; for linear "
            "costs planning.fit and planning.reference bracket the optimum"
        )


def path_counts(path: Any, arcs: int) -> Array:
    """Return how often a path takes each of `arcs` arcs."""
    return np.bincount(path, minlength=arcs).astype(np.float64)


def incidence(graph: Any) -> Any:
    """Return the node-arc matrix, +1 where an arc leaves and −1 where it enters."""
    from scipy.sparse import csr_array

    arcs = np.arange(graph.arcs)
    ones = np.ones(graph.arcs)
    rows, columns = np.concatenate([graph.tail, graph.head]), np.concatenate([arcs, arcs])
    return csr_array(
        (np.concatenate([ones, -ones]), (rows, columns)), shape=(graph.nodes, graph.arcs)
    )

"""The margin loss as a functional of site costs, for functional gradient boosting."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from relaxboost.errors import InputError
from relaxboost.functional.losses import Loss, Risk
from relaxboost.functional.measure import Empirical
from relaxboost.parameters import positive
from relaxboost.planning.graphs import Graph
from relaxboost.planning.oracle import NEGATIVE, Answers, Oracle
from relaxboost.planning.tasks import Task

Array = NDArray[np.float64]
Whole = NDArray[np.int64]

LINKS = ("additive", "exponential")


@dataclass(frozen=True)
class PlanningLoss(Loss):
    """The maximum-margin planning loss of costs C per site, a `Loss` for `functional.boost`.

    R[C] = Σ weight R_i(B C)^power + (strength/2)‖F‖², over demonstrations i; F is what is boosted.
    Targets are tasks, and rows of X the features of the sites of their graphs, one graph after the
    other in the order in which the tasks first name them; `PlanningRisk.features` has them.
    `planning.boost` does all of this.

    Parameters
    ----------
    link : {"additive", "exponential"}
        C = base + F, or C = base · exp(F). The exponential one is positive whatever F is, and is
        not convex in F; the gradient handed to the weak learner is that of R at C, as in LEARCH.
    base : float or callable
        The cost per site at F = 0: a number > 0, or a function that gives the costs of a graph's
        sites, shape (S,), so that costs can be had on other graphs too. They are finite, and > 0
        for the exponential link.
    negative : {"relaxed", "exact", "simple"}
        See `Oracle`. With ``"relaxed"`` R is a convex bound above the loss, equal to it where no
        loss-augmented cost is negative.
    power : {1, 2}
    strength : float
        >= 0, additive only; makes R strongly convex.
    shared : bool
        Whether sites with the same features share an entry of F, as every function of features
        has it: rows of X are then the different ones only, and weak learners have less to do.

    References
    ----------
    Ratliff, Bagnell & Zinkevich (2006); Ratliff, Silver & Bagnell (2009), LEARCH; Grubb & Bagnell
    (2011), Sec. 5, Fig. 1.
    """

    link: str = "additive"
    base: float | Callable[[Graph], Array] = 1.0
    negative: str = "relaxed"
    power: int = 1
    strength: float = 0.0
    shared: bool = False

    task = "planning"

    def __post_init__(self) -> None:
        if self.link not in LINKS:
            raise InputError(f"link must be one of {', '.join(LINKS)}, got {self.link!r}")
        if self.negative not in NEGATIVE:
            raise InputError(f"negative must be one of {', '.join(NEGATIVE)}")
        if not callable(self.base):
            positive("base", self.base)
        if self.strength:
            positive("strength", self.strength)
            if self.link == "exponential":
                raise InputError("strength belongs to the additive link")

    def start(self, graph: Graph) -> Array:
        """Return the costs of a graph's sites at F = 0, shape (S,)."""
        if not callable(self.base):
            return np.full(graph.size, float(self.base))
        made = np.array(self.base(graph), dtype=np.float64)
        if made.shape != (graph.size,) or not np.isfinite(made).all():
            raise InputError(
                f"base must give {graph.size} finite costs for {graph}, one a site, got an array "
                f"of shape {made.shape}"
            )
        if self.link == "exponential" and not (made > 0.0).all():
            site = int(made.argmin())
            raise InputError(
                f"base must give costs > 0 for the exponential link, and site {site} of {graph} "
                f"has {made[site]:g}; raise it, or take a number"
            )
        return made

    def linked(self, start: Array, F: Array) -> Array:
        """Return C from the costs at F = 0 and F, both of shape (S,)."""
        if self.link == "exponential":
            made: Array = start * np.exp(F)
            return made
        return start + F

    def bind(
        self, y: Any, weights: Any = None, *, groups: Any = None, classes: Any = None
    ) -> PlanningRisk:
        """Return the risk on tasks.

        Parameters
        ----------
        y : sequence of Task
        weights : array of shape (S,), optional
            Of the sites, > 0, also where these share entries of F: the measure of the inner
            product that weak learners project in, by default uniform. It changes the geometry of
            the descent, not the loss; tasks have weights of their own.
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
        graphs = self.oracle.graphs
        _same_names(graphs)
        self._ends = np.cumsum([0, *(graph.size for graph in graphs)])
        self._first = np.cumsum([0, *(graph.arcs for graph in graphs)])
        self._start = np.concatenate([loss.start(graph) for graph in graphs])
        self._entry: Whole | None = None
        sites = Empirical(int(self._ends[-1]), weights)
        if not (sites.p > 0.0).all():
            raise InputError("weights of sites must be > 0; the gradient is divided by them")
        self.measure = sites
        if loss.shared:
            self._entry, self._rows = _different(self._features())
            p = _sums(self._entry, sites.p, self._rows.size)
            self.measure = Empirical(self._rows.size, p)
        # What demonstrations add to the gradient is the same each time but for the rate.
        rows = self.oracle.rows
        self._shown = np.concatenate([self._first[row.graph] + row.path.arcs for row in rows])
        self._of = np.repeat(np.arange(len(rows)), [len(row.path) for row in rows])
        self.gradient_bound = self._bound()

    def _features(self) -> Array:
        return np.concatenate([graph.features for graph in self.oracle.graphs])

    @property
    def sites(self) -> int:
        """How many there are on all graphs; entries of F are fewer where they are shared."""
        return int(self._ends[-1])

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
        if self._entry is not None:
            v = _sums(self._entry, v, self.measure.size)
        return float(np.sqrt((v * v / self.measure.p).sum())) * (1.0 + 1e-12)

    @property
    def features(self) -> Array:
        """The rows of X that belong to these tasks, one for each entry of F."""
        found = self._features()
        return found if self._entry is None else found[self._rows]

    def site_costs(self, F: Array) -> Array:
        """Return C, shape (S,), for the sites of one graph after the other."""
        return self.loss.linked(self._start, F if self._entry is None else F[self._entry])

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

    def value(self, F: Array) -> float:
        """Return R."""
        value = self.oracle.evaluate(self.arc_costs(F)).value
        if self.loss.strength:
            value += 0.5 * self.loss.strength * self.measure.inner(F, F)
        return value

    def inexact(self, F: Array) -> int:
        """Return how many demonstrations were planned for in relaxed form at F."""
        found = self.oracle.evaluate(self.arc_costs(F))
        return sum(not answer.exact for answer in found.each)

    def visits(self, F: Array) -> tuple[Array, Array]:
        """Return how often demonstrations, and the plans at F, visit each site.

        Two arrays of shape (S,), weighted as the demonstrations are; of a site shared by several
        arcs (B of `Graph`) each counts as much as it puts on the site.
        """
        found = self.oracle.evaluate(self.arc_costs(F))
        rates = self.oracle.weights
        return self._gathered(self._demonstrated(rates)), self._gathered(self._taken(found, rates))

    def _demonstrated(self, rates: Array) -> Array:
        """Return Σ rate m_i over arcs of all graphs."""
        total = int(self._first[-1])
        return _sums(self._shown, rates[self._of], total)

    def _taken(self, found: Answers, rates: Array) -> Array:
        """Return Σ rate p_i over arcs of all graphs."""
        pairs = list(zip(self.oracle.rows, found.each, strict=True))
        arcs = np.concatenate([self._first[row.graph] + answer.taken for row, answer in pairs])
        each = np.repeat(rates, [answer.taken.size for _, answer in pairs])
        return _sums(arcs, each, int(self._first[-1]))

    def _gathered(self, flow: Array) -> Array:
        parts = zip(self.oracle.graphs, self._first, self._first[1:], strict=False)
        return np.concatenate([graph.gathered(flow[a:b]) for graph, a, b in parts])

    def _gradient(self, found: Answers) -> Array:
        """Return Σ weight · power · R_i^(power−1) Bᵀ(m_i − p_i), one an entry of F."""
        rates = self.oracle.weights
        if self.loss.power == 2:
            rates = 2.0 * rates * np.array([answer.value for answer in found.each])
        each = self._gathered(self._demonstrated(rates) - self._taken(found, rates))
        if self._entry is None:
            return each
        return _sums(self._entry, each, self.measure.size)

    def expression(self, F: Any) -> Any:
        """Return R as a convex cvxpy expression of F; for small problems.

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
        all_costs = self._start + (F if self._entry is None else F[self._entry])
        terms = []
        for row in self.oracle.rows:
            graph = self.oracle.graphs[row.graph]
            C = all_costs[self._ends[row.graph] : self._ends[row.graph + 1]]
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

        E = graph.arcs
        balance = np.zeros(graph.nodes)
        balance[row.source], balance[row.target] = 1.0, -1.0
        if self.loss.negative != "relaxed":
            flow = cp.Variable(E)
            return cp.suppfunc(flow, [flow >= 0.0, incidence(graph) @ flow == balance])(gained)
        # What is taken lies between the flow and 1; written so, cvxpy sees that it is convex.
        both = cp.Variable(2 * E)
        taken, flow = both[:E], both[E:]
        rules = [flow >= 0.0, incidence(graph) @ flow == balance, flow <= taken, taken <= 1.0]
        return cp.suppfunc(both, rules)(cp.hstack([gained, np.zeros(E)]))

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


def _sums(places: Whole, values: Array, size: int) -> Array:
    """Return the sum of the values at each of `size` places."""
    # numpy's stubs have whole numbers here, with weights or without.
    return np.bincount(places, weights=values, minlength=size).astype(np.float64, copy=False)


def _different(X: Array) -> tuple[Whole, Whole]:
    """Return for each row of X which of the different rows it is, and where each of these is."""
    X = X + 0.0  # -0 and 0 are the same feature
    order = np.lexsort(X.T[::-1])
    new = np.append(True, (X[order[1:]] != X[order[:-1]]).any(axis=1))
    entry = np.empty(len(X), dtype=np.int64)
    entry[order] = np.cumsum(new) - 1
    return entry, order[new]


def _same_names(graphs: Sequence[Graph]) -> None:
    for graph in graphs[1:]:
        if graph.names != graphs[0].names:
            raise InputError(
                f"tasks have graphs with features {', '.join(graphs[0].names)} and "
                f"{', '.join(graph.names)}; learn from graphs with the same features"
            )

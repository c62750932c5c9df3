"""The margin loss as a functional of site costs, for functional gradient boosting."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from relaxboost._core.arrays import Array, Whole
from relaxboost._core.errors import InputError
from relaxboost._core.parameters import positive
from relaxboost.functional.losses import Loss, Risk
from relaxboost.functional.measure import Empirical
from relaxboost.planning.costs import LinearCosts
from relaxboost.planning.graphs import Graph, features_by_name, same_names
from relaxboost.planning.oracle import NEGATIVE, AugmentedPlans, Oracle
from relaxboost.planning.tasks import Task

LINKS = ("additive", "exponential")
MEASURES = ("visited", "uniform")

UNVISITED = 0.1
"""The weight that all sites share, however little they are visited, under ``"visited"``."""


@dataclass(frozen=True)
class Linear:
    """Site costs X w, as `fit` learns them: a base to boost from.

    Attributes
    ----------
    w : tuple of d floats
    names : tuple of str
        Of the features.
    """

    w: tuple[float, ...]
    names: tuple[str, ...]

    def __call__(self, graph: Graph) -> Array:
        """Return the costs of a graph's sites, shape (S,)."""
        made: Array = features_by_name(graph, self.names) @ np.array(self.w)
        return made


@dataclass(frozen=True)
class PlanningLoss(Loss):
    """The maximum-margin planning loss of costs C per site, a `Loss` for `functional.boost`.

    R[C] = Σ weight R_i(B C)^power + (strength/2)‖F‖², over demonstrations i; F is what is boosted.
    `planning.boost` does the rest: targets are tasks, and `PlanningRisk.features` are the rows of
    X, the features of the sites of one graph after the other.

    Parameters
    ----------
    link : {"additive", "exponential"}
        C = base + F: the loss is convex in F and the theorems hold, but costs may come out
        negative. C = base · exp(F): costs are positive, and the loss is not convex in F; the
        gradient handed to the weak learner is that of R at C, as in LEARCH.
    base : float, linear costs or callable
        The costs per site at F = 0, by default 1; finite, and > 0 for the exponential link.
        Linear costs are a `Fit` or a `LinearModel`. A function takes a graph and returns the costs
        of its sites, shape (S,).
    negative : {"relaxed", "exact", "simple"}
        See `Oracle`. With ``"relaxed"`` R is a convex bound above the loss, equal to it where no
        loss-augmented cost is negative.
    power : {1, 2}
    strength : float
        >= 0, additive only; makes R strongly convex.
    measure : {"visited", "uniform"} or array of shape (S,), optional
        The weights of sites in the inner product that weak learners project in. With
        ``"visited"``, the default of `planning.boost`, 45 % is shared out by the visits of
        demonstrations, 45 % by those of the plans at F = 0, and 10 % evenly. With ``"uniform"``,
        else the default, a weak learner answers first of all for the many sites where no path
        leads. An array has the sites of one graph after the other, as the tasks first name them.
    shared : bool
        Whether sites with the same features share an entry of F, as every function of features
        has it: rows of X are then the different ones only, and weak learners have less to do.

    References
    ----------
    Ratliff, Bagnell & Zinkevich (2006); Ratliff, Silver & Bagnell (2009), LEARCH; Grubb & Bagnell
    (2011), Sec. 5, Fig. 1.
    """

    link: str = "additive"
    base: float | LinearCosts | Callable[[Graph], Array] = 1.0
    negative: str = "relaxed"
    power: int = 1
    strength: float = 0.0
    measure: str | ArrayLike | None = field(default=None, compare=False)
    shared: bool = False

    task = "planning"

    def __post_init__(self) -> None:
        if self.link not in LINKS:
            raise InputError(f"link must be one of {', '.join(LINKS)}, got {self.link!r}")
        if self.negative not in NEGATIVE:
            raise InputError(f"negative must be one of {', '.join(NEGATIVE)}")
        if isinstance(self.base, LinearCosts):
            object.__setattr__(self, "base", Linear(tuple(self.base.w.tolist()), self.base.names))
        elif np.ndim(self.base):  # type: ignore[arg-type]
            raise InputError(
                "base must be a number, linear costs, or a function from a graph to an array of "
                "the costs of its sites; got an array"
            )
        elif not callable(self.base):
            object.__setattr__(self, "base", positive("base", np.asarray(self.base).item()))
        if self.strength:
            positive("strength", self.strength)
            if self.link == "exponential":
                raise InputError("strength belongs to the additive link")

    def start(self, graph: Graph) -> Array:
        """Return the costs of a graph's sites at F = 0, shape (S,)."""
        given = self.base(graph) if callable(self.base) else self.base
        made = np.array(given, dtype=np.float64)
        if made.ndim == 0:
            return np.full(graph.size, float(made))
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
            Of the sites, > 0, also where these share entries of F, by default those of `measure`.
            They change the geometry of the descent, not the loss; tasks have their own weights.
        groups, classes
            Not for planning.
        """
        if groups is not None:
            raise InputError("groups are for ranking; the tasks are the targets here")
        if weights is None and self.measure is not None:
            weights = site_weights(PlanningRisk(self, y), self.measure)
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
        same_names(graphs)
        self._ends = np.cumsum([0, *(graph.size for graph in graphs)])
        self._first = np.cumsum([0, *(graph.arcs for graph in graphs)])
        self._start = np.concatenate([loss.start(graph) for graph in graphs])
        # The entry of F that each site has, and the first site that has each.
        self._entry = self._rows = np.arange(self.sites)
        sites = Empirical(self.sites, weights)
        if not (sites.p > 0.0).all():
            raise InputError("weights of sites must be > 0; the gradient is divided by them")
        self.measure = sites
        if loss.shared:
            self._entry, self._rows = _different(self._features())
            self.measure = Empirical(self._rows.size, self._shared(sites.p, self._rows.size))
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
        most = np.zeros(int(self._first[-1]))
        for row in self.oracle.rows:
            at = slice(self._first[row.graph], self._first[row.graph + 1])
            counts = path_counts(row.path.arcs, self.oracle.graphs[row.graph].arcs)
            most[at] += row.weight * np.maximum(counts, 1.0)
        v = self._shared(self._gathered(most), self.measure.size)
        return float(np.sqrt((v * v / self.measure.p).sum())) * (1.0 + 1e-12)

    @property
    def features(self) -> Array:
        """The rows of X that belong to these tasks, one for each entry of F."""
        return self._features()[self._rows]

    def site_costs(self, F: Array) -> Array:
        """Return C, shape (S,), for the sites of one graph after the other."""
        return self.loss.linked(self._start, F[self._entry])

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

    def _taken(self, found: AugmentedPlans, rates: Array) -> Array:
        """Return Σ rate p_i over arcs of all graphs."""
        pairs = list(zip(self.oracle.rows, found.each, strict=True))
        arcs = np.concatenate([self._first[row.graph] + answer.taken for row, answer in pairs])
        each = np.repeat(rates, [answer.taken.size for _, answer in pairs])
        return _sums(arcs, each, int(self._first[-1]))

    def _gathered(self, flow: Array) -> Array:
        parts = zip(self.oracle.graphs, self._first, self._first[1:], strict=False)
        return np.concatenate([graph.gathered(flow[a:b]) for graph, a, b in parts])

    def _gradient(self, found: AugmentedPlans) -> Array:
        """Return Σ weight · power · R_i^(power−1) Bᵀ(m_i − p_i), one an entry of F."""
        rates = self.oracle.weights
        if self.loss.power == 2:
            rates = 2.0 * rates * np.array([answer.value for answer in found.each])
        each = self._gathered(self._demonstrated(rates) - self._taken(found, rates))
        return self._shared(each, self.measure.size)

    def _shared(self, each: Array, size: int) -> Array:
        """Return the sums over the sites that share an entry of F."""
        return _sums(self._entry, each, size)

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
        all_costs = self._start + F[self._entry]
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
            return cp.suppfunc(flow, [flow >= 0.0, graph.incidence @ flow == balance])(gained)
        # What is taken lies between the flow and 1; written so, cvxpy sees that it is convex.
        both = cp.Variable(2 * E)
        taken, flow = both[:E], both[E:]
        rules = [flow >= 0.0, graph.incidence @ flow == balance, flow <= taken, taken <= 1.0]
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


def site_weights(risk: PlanningRisk, measure: str | ArrayLike) -> Array | None:
    """Return the weights of sites, shape (S,), that `PlanningLoss.measure` stands for.

    Parameters
    ----------
    risk : PlanningRisk
    measure : {"visited", "uniform"} or array of shape (S,)

    Returns
    -------
    array of shape (S,), or None for the uniform measure
    """
    if isinstance(measure, str):
        if measure not in MEASURES:
            raise InputError(
                f"measure must be one of {', '.join(MEASURES)}, or an array of weights"
            )
        if measure == "uniform":
            return None
        shown, planned = (v / v.sum() for v in risk.visits(risk.zero()))
        each: Array = 0.5 * (1.0 - UNVISITED) * (shown + planned) + UNVISITED / risk.sites
        return each
    made = np.asarray(measure, dtype=np.float64)
    if made.shape != (risk.sites,) or not (made > 0.0).all() or not np.isfinite(made).all():
        raise InputError(
            f"measure needs a finite weight > 0 for each of {risk.sites} sites, got an array of "
            f"shape {made.shape}"
        )
    return made


def path_counts(path: Any, arcs: int) -> Array:
    """Return how often a path takes each of `arcs` arcs."""
    return np.bincount(path, minlength=arcs).astype(np.float64)


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

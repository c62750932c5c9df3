"""The recursive logit: costs under which demonstrations are most likely, and how likely they are.

The utilities u are costs with the other sign, and z_i sums exp(utility) over all walks from i to t.
A traveller at node i on the way to t takes the arc a, which leads to j, with probability
exp(u_a) z_j / z_i. At t the way ends with probability 1 / z_t. So a walk from s to t has
probability exp(its utility) / z_s: a logit over all walks, z being one column of (I − M)^-1.

With u = X β the log-likelihood is a linear function of β less log z_s, a logarithm of a sum of
exponentials: concave, on the convex set of β where the sum is finite. Newton's method maximises it.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from relaxboost._core.arrays import Array, Whole, doubles
from relaxboost._core.errors import InputError
from relaxboost._core.parameters import count, positive
from relaxboost.planning.costs import LearnedCosts
from relaxboost.planning.graphs import Graph, features_by_name, same_names
from relaxboost.planning.plans import arc_costs
from relaxboost.planning.tasks import Task, checked_tasks
from relaxboost.planning.walks import EndlessWalks, Walks, sums

_HUGE = 1e100
"""The largest mean of a feature, and 1 / the smallest: Hessians have squares of it."""
_FLAT = 1e-13
"""Up to this share of the largest an eigenvalue of the Hessian is none."""
_TIMES = 2.0 ** np.arange(0.0, 14.0, 0.5)
"""How much larger utilities to begin with may be than first thought."""
_UNFINISHED = {
    "max_rounds": "the utilities are not the likeliest, and their errors mean little: {} rounds "
    "were done; give more max_rounds",
    "stalled": "the utilities may not be the likeliest, and their errors mean little: after {} "
    "rounds no step gained more than rounding hides; give a larger tol, or, if the likeliest costs "
    "are so low that walks in circles have no finite sum, add a feature above 0 on their arcs",
}


@dataclass(frozen=True, eq=False)
class LogitFit(LearnedCosts):
    """Costs −X β of greatest likelihood, or costs that were learned otherwise times their scale.

    Attributes
    ----------
    utilities : array of shape (d,)
        β, of the features; of scaled costs their scale alone.
    names : tuple of str
        Of the entries of β: of the features, then "link size" if there is one; or "scale".
    log_likelihood : float
        Of the tasks learned from: the sum over tasks, by their weights, of log p. Of several
        demonstrations of a task the mean counts.
    covariance : array of shape (d, d)
        The inverse of minus the Hessian.
    robust : array of shape (d, d)
        The sandwich of it with the outer products of scores (BHHH), which holds where trips are
        independent though the model is wrong.
    status : str
        "optimal", "max_rounds", or "stalled" where no step gains more than rounding hides: near the
        maximum, or where costs any lower let walks in circles have no finite sum.
    rounds : int
    link_size : array of shape (d,), optional
        See `RecursiveLogit`.
    scaled : LearnedCosts or callable, optional
        What the scale is of.
    """

    utilities: Array
    names: tuple[str, ...]
    log_likelihood: float
    covariance: Array
    robust: Array
    status: str
    rounds: int
    link_size: Array | None = field(default=None, repr=False)
    scaled: Any = field(default=None, repr=False)

    @property
    def standard_errors(self) -> Array:
        """Of the utilities, by the Hessian; `robust` has others on its diagonal."""
        return np.asarray(np.sqrt(np.diag(self.covariance)))

    @property
    def features(self) -> tuple[str, ...]:
        """The names of the features that a graph needs; those of scaled costs are theirs."""
        if self.scaled is not None:
            return self._learned.features
        return self.names if self.link_size is None else self.names[:-1]

    def site_costs(self, graph: Graph) -> Array:
        self._check_plain()
        if self.scaled is not None:
            return self.utilities[0] * self._learned.site_costs(graph)
        made: Array = -(features_by_name(graph, self.names) @ self.utilities)
        return made

    def costs(self, graph: Graph) -> Array:
        """Return the costs of a graph's arcs, shape (E,), for planners.

        The shortest path is the most likely one. Costs may be negative, but around no circle.
        """
        self._check_plain()
        return -(self._features(graph) @ self.utilities)

    def log_likelihoods(self, tasks: Sequence[Task]) -> Array:
        """Return log p of each task's demonstration, shape (T,); the mean of several."""
        made = checked_tasks(tasks)
        return _likelihood(_groups(made, self._features, self.link_size), self.utilities, len(made))

    def probabilities(self, graph: Graph, target: Any) -> Array:
        """Return how likely each arc is taken by who stands where it begins, shape (E,).

        From a node that leads to the target they add to 1; at the target to less, since the way
        may end there; else all are 0.

        Parameters
        ----------
        graph : Graph
        target : label of a node
        """
        place = np.array([graph.node(target)])
        walks = Walks(graph, self.costs(graph)).towards(int(place[0]))[0]
        z = walks.solve(walks.units(place))[:, 0]
        there, here = walks.weights * z[graph.head], z[graph.tail]
        return np.divide(there, here, out=np.zeros(graph.arcs), where=here > 0.0)

    @property
    def _learned(self) -> LearnedCosts:
        if isinstance(self.scaled, LearnedCosts):
            return self.scaled
        raise InputError(
            "a function of arc costs was scaled, which names no features and has no costs of sites"
        )

    def _check_plain(self) -> None:
        if self.link_size is not None:
            raise InputError(
                "with a link size an arc costs another amount for each pair of ends; plan with a "
                "RecursiveLogit without one"
            )

    def _features(self, graph: Graph) -> Array:
        names = ("scale",) if self.scaled is not None else self.features
        return _features_of(names, self.scaled)(graph)


@dataclass(frozen=True)
class RecursiveLogit:
    """The learner of utilities by maximum likelihood.

    Parameters
    ----------
    start : array of shape (d,), optional
        Utilities to begin with, raised until walks have a finite sum. By default all features cost
        alike, measured in their means.
    link_size : array of shape (d,), optional
        Utilities, such as (−2.5, −1, −20, −.4): adds the feature "link size", the expected visits,
        on the way of a task at these utilities, of the node that an arc leads to. Ways that many
        share are corrected by it. It is for graphs whose nodes are links of a road, as those of
        `turns`, and costs a factorisation for each pair of ends instead of one for all.
    tol : float
        Above 0. Newton's method ends when its quadratic model has less than this to gain in the
        mean log-likelihood of a task, by weights.
    max_rounds : int

    References
    ----------
    Fosgerau, Frejinger & Karlström (2013), A link based network route choice model with
    unrestricted choice set, Transportation Research Part B 56.
    """

    start: ArrayLike | None = None
    link_size: ArrayLike | None = None
    tol: float = 1e-9
    max_rounds: int = 100

    def __post_init__(self) -> None:
        positive("tol", self.tol)
        count("max_rounds", self.max_rounds)

    def fit(self, tasks: Sequence[Task]) -> LogitFit:
        """Return the utilities of the features under which demonstrations are most likely.

        Warns
        -----
        UserWarning
            Where `max_rounds` or rounding ended the run.

        Raises
        ------
        InputError
            For graphs with different features; where no start is found; where some features add to
            the same on all walks that matter, with their names.
        """
        made = checked_tasks(tasks)
        return self._fitted(made, same_names([task.graph for task in made]), None)

    def scale(
        self, tasks: Sequence[Task], costs: LearnedCosts | Callable[[Graph], Array]
    ) -> LogitFit:
        """Return costs times the positive number under which demonstrations are most likely.

        Parameters
        ----------
        tasks : sequence of Task
        costs : LearnedCosts or callable
            Such as a `Fit` or `BoostedCosts`; or a function from a graph to its arc costs.
        """
        if not isinstance(costs, LearnedCosts) and not callable(costs):
            raise InputError(f"costs must be learned, or a function of a graph, got {costs!r}")
        return replace(self, link_size=None)._fitted(checked_tasks(tasks), ("scale",), costs)

    def _fitted(self, tasks: tuple[Task, ...], names: tuple[str, ...], scaled: Any) -> LogitFit:
        features, size = _features_of(names, scaled), None
        if self.link_size is not None:
            size = _checked("link_size", self.link_size, len(names))
            names = (*names, "link size")
        groups = _groups(tasks, features, size)
        total = sum(task.weight for task in tasks)
        weight = np.array([task.weight for task in tasks]) / total
        unit = _units(groups, names)
        at = self._first(groups, weight, unit, size)
        rounds, status = 0, ""
        while not status:
            rounds += 1
            step, gain = _step(at, unit)
            last, at = at, at if gain <= self.tol else _along(groups, weight, at, step, self.tol)
            if at is last:
                status = "optimal" if gain <= self.tol else "stalled"
            elif rounds == self.max_rounds:
                status = "max_rounds"
        if status != "optimal":
            warnings.warn(_UNFINISHED[status].format(rounds), UserWarning, stacklevel=3)
        covariance = _inverse(at.hessian, unit, names)
        outer = (at.scores * weight[:, None]).T @ (at.scores * weight[:, None])
        return LogitFit(
            utilities=at.beta,
            names=names,
            log_likelihood=total * at.value,
            covariance=covariance / total,
            robust=covariance @ outer @ covariance,
            status=status,
            rounds=rounds,
            link_size=size,
            scaled=scaled,
        )

    def _first(
        self, groups: list[_Group], weight: Array, unit: Array, size: Array | None
    ) -> _Point:
        """Return where to begin; by default with a link size where that was computed."""
        at = -unit if size is None else np.append(size, 0.0)
        if self.start is not None:
            at = _checked("start", self.start, unit.size)
        for κ in _TIMES:
            try:
                return _point(groups, weight, κ * at)
            except EndlessWalks as error:
                last = error
        raise InputError(
            f"no start was found, up to utilities of {_TIMES[-1]:.0f} times {at.tolist()}: {last}; "
            "or give RecursiveLogit(start=...)"
        )


class _Group:
    """Trips on one graph that have the same features."""

    def __init__(self, graph: Graph, X: Array, tasks: Sequence[Task], places: Whole) -> None:
        self.graph, self.X, self.places = graph, X, places
        self.source = np.array([tasks[i].source for i in places])
        self.target = np.array([tasks[i].target for i in places])
        self.paths = [tasks[i].demonstrations for i in places]
        self.visits: Array | None = None

    def features(self) -> Array:
        """Return the features of arcs, shape (E, d)."""
        if self.visits is None:
            return self.X
        return np.column_stack([self.X, self.visits[self.graph.head]])

    def shown(self, X: Array) -> Array:
        """Return the sums of features along demonstrations, shape (P, d)."""
        return np.array([np.mean([X[p.arcs].sum(axis=0) for p in ps], axis=0) for ps in self.paths])


class _Point(NamedTuple):
    """The log-likelihood at utilities, with derivatives."""

    beta: Array
    value: float
    scores: Array
    """Gradients of each task, shape (T, d), without its weight."""
    gradient: Array
    hessian: Array


def _features_of(names: tuple[str, ...], scaled: Any) -> Callable[[Graph], Array]:
    """Return the function that makes the features of arcs: costs to be scaled count as one."""
    if scaled is None:
        return lambda graph: features_by_name(graph, names, arcs=True)
    made = scaled.costs if isinstance(scaled, LearnedCosts) else scaled
    return lambda graph: -arc_costs(graph, made(graph))[:, None]


def _checked(name: str, given: ArrayLike, d: int) -> Array:
    made = doubles(name, given)
    if made.shape != (d,) or not np.isfinite(made).all():
        raise InputError(f"{name} needs {d} finite numbers, one a feature, got {given!r}")
    return made


def _groups(
    tasks: tuple[Task, ...], features: Callable[[Graph], Array], size: Array | None
) -> list[_Group]:
    """Return tasks by graph; with a link size by graph, source and target."""
    made = []
    for graph in dict.fromkeys(task.graph for task in tasks):
        places = np.array([i for i, task in enumerate(tasks) if task.graph is graph])
        group = _Group(graph, features(graph), tasks, places)
        made += [group] if size is None else _by_ends(group, tasks, size)
    return made


def _by_ends(group: _Group, tasks: Sequence[Task], size: Array) -> list[_Group]:
    """Return a group for each pair of ends, with how often nodes are visited between them."""
    made = []
    for block in sums(Walks(group.graph, -(group.X @ size)), group.source, group.target):
        pairs = np.stack([block.source, block.column])
        for source, column in np.unique(pairs, axis=1).T:
            same = (pairs == [[source], [column]]).all(axis=0)
            one = _Group(group.graph, group.X, tasks, group.places[block.places[same]])
            u = block.walks.solve(block.walks.units(np.array([source])), transposed=True)[:, 0]
            one.visits = u * (block.z[:, column] / block.z[source, column])
            made.append(one)
    return made


def _likelihood(groups: Sequence[_Group], beta: Array, size: int) -> Array:
    """Return log p of each task."""
    found = np.empty(size)
    for group in groups:
        X = group.features()
        shown = group.shown(X) @ beta
        for block in sums(Walks(group.graph, -(X @ beta)), group.source, group.target):
            found[group.places[block.places]] = shown[block.places] - block.log
    return found


def _point(groups: Sequence[_Group], weight: Array, beta: Array) -> _Point:
    """Return the log-likelihood and its derivatives.

    With M_k = M ∘ X_k a derivative is ∂_k z = N M_k z. The second derivatives at the sources are
    u'(M_kl z + M_k ∂_l z + M_l ∂_k z) with u = Nᵀ(weights / z): one solve more, and not d².
    """
    each, scores = np.empty(weight.size), np.empty((weight.size, beta.size))
    hessian = np.zeros((beta.size, beta.size))
    for group in groups:
        X = group.features()
        shown, (tail, head) = group.shown(X), (group.graph.tail, group.graph.head)
        for block in sums(Walks(group.graph, -(X @ beta)), group.source, group.target):
            walks, at = block.walks, group.places[block.places]
            e, z, ends = walks.weights, block.z, (block.source, block.column)
            w = weight[at] / block.there
            b = np.zeros_like(z)
            np.add.at(b, ends, w)
            u = walks.solve(b, transposed=True)[tail]
            flow = e * np.einsum("et,et->e", u, z[head])
            mixed, mean = np.empty((len(e), beta.size)), np.empty((at.size, beta.size))
            for k in range(beta.size):
                dz = walks.solve(walks.matrix(e * X[:, k]) @ z)
                mean[:, k] = dz[ends] / block.there
                mixed[:, k] = e * np.einsum("et,et->e", u, dz[head])
            cross = X.T @ mixed
            outer = (mean * weight[at, None]).T @ mean
            hessian -= (X * flow[:, None]).T @ X + cross + cross.T - outer
            scores[at] = shown[block.places] - mean
            each[at] = shown[block.places] @ beta - block.log
    return _Point(beta, float(weight @ each), scores, weight @ scores, hessian)


def _units(groups: Sequence[_Group], names: Sequence[str]) -> Array:
    """Return utilities by which features cost 1 in the mean or, below 0, −1, shape (d,)."""
    size = np.mean([np.abs(group.features()).mean(axis=0) for group in groups], axis=0)
    odd = np.flatnonzero((size < 1.0 / _HUGE) | (size > _HUGE))
    if odd.size:
        what = f"the feature {names[odd[0]]!r} is" if names != ("scale",) else "costs are"
        if size[odd[0]] == 0.0:
            raise InputError(f"{what} 0 on every arc, and tell no walk from another; leave it out")
        raise InputError(
            f"{what} {size[odd[0]]:.1e} on arcs in the mean, and squares of it are no numbers to "
            f"reckon with; use a unit in which it is between {1.0 / _HUGE:.0e} and {_HUGE:.0e}"
        )
    mean = np.mean([group.features().mean(axis=0) for group in groups], axis=0)
    made: Array = np.where(mean < 0.0, -1.0, 1.0) / size
    return made


def _spectrum(hessian: Array, unit: Array) -> tuple[Array, Array]:
    """Return eigenvalues of minus the Hessian in units of features, and vectors as columns."""
    values, vectors = np.linalg.eigh(-hessian * np.outer(unit, unit))
    return values, vectors


def _step(at: _Point, unit: Array) -> tuple[Array, float]:
    """Return Newton's step, and what it gains in the quadratic model before it is cut short."""
    values, vectors = _spectrum(at.hessian, unit)
    slope = vectors.T @ (at.gradient * unit)
    step = vectors @ (slope / np.maximum(values, max(_FLAT * values[-1], 1e-300)))
    gain = 0.5 * float((at.gradient * unit) @ step)
    most = 1.0 + float(np.abs(at.beta / unit).max())
    step *= min(1.0, most / max(float(np.abs(step).max()), 1e-300))
    return step * unit, gain


def _along(groups: Sequence[_Group], weight: Array, at: _Point, step: Array, tol: float) -> _Point:
    """Return a point along the step that gains enough: the step is halved until one does.

    Where one so short has nothing to gain that counts or shows, the old point is returned.
    """
    slope, t = float(at.gradient @ step), 1.0
    while t * slope > max(1e-3 * tol, 1e-12 * abs(at.value)):
        try:
            new = _point(groups, weight, at.beta + t * step)
            if new.value > at.value + 1e-4 * t * slope:
                return new
        except EndlessWalks:
            pass
        t /= 2.0
    return at


def _inverse(hessian: Array, unit: Array, names: Sequence[str]) -> Array:
    """Return the inverse of minus the Hessian, or raise where it has none."""
    values, vectors = _spectrum(hessian, unit)
    if not values[0] > _FLAT * values[-1]:
        alike = [n for n, v in zip(names, vectors[:, 0], strict=True) if abs(v) > 1e-3]
        raise InputError(
            f"the likelihood does not change along {', '.join(alike)}: the demonstrations are "
            "likely already, or these features add to the same on all walks; leave one out"
        )
    made: Array = (vectors / values) @ vectors.T * np.outer(unit, unit)
    return made

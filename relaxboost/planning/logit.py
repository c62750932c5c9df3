"""The recursive logit, which learns costs that maximise the likelihood of the demonstrations.

The utility u of an arc is its cost with the opposite sign. Let z_i be the sum of exp(utility) over
all walks from node i to the target t. A traveller at node i takes the arc a, which leads to node j,
with probability exp(u_a) z_j / z_i. At t the walk ends with probability 1 / z_t. A walk from s to t
with utility v therefore has probability exp(v) / z_s. So the model is a logit over all walks.

M_ij is the sum of exp(utility) over the arcs from i to j. The vector z is column t of N = I + M +
M² + ... = (I − M)^-1. The series converges if and only if the spectral radius of M is below 1. With
u = X β, the log-likelihood is a linear function of β minus log z_s, and log z_s is the logarithm of
a sum of exponentials. Therefore the log-likelihood is concave on the convex set of β for which the
series converges. Newton's method maximises it.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from relaxboost._core.arrays import Array, Whole, doubles
from relaxboost._core.errors import InputError
from relaxboost._core.parameters import count, positive
from relaxboost.planning.costs import LearnedCosts
from relaxboost.planning.graphs import Graph, features_by_name, same_names
from relaxboost.planning.kernels import NOTHING, search
from relaxboost.planning.tasks import Task, checked_tasks

FLAT_EIGENVALUE = 1e-13
"""The relative threshold for eigenvalues of the Hessian. An eigenvalue below this multiple of the
largest one is treated as 0: it is a rounding error, and the likelihood does not depend on its
eigenvector."""
_UNFINISHED = {
    "max_rounds": "the utilities do not maximise the likelihood, and their standard errors mean "
    "little, because the run ended after {} rounds; pass a larger max_rounds",
    "stalled": "the utilities may not maximise the likelihood, and their standard errors may mean "
    "little: after {} rounds no step gained more than the rounding errors; pass a larger tol, or, "
    "if the likelihood grows until the sums over walks in circles are infinite, add a feature "
    "above 0 on the arcs of the circles",
}


class EndlessWalks(InputError):
    """The error raised if the sum of the weights of walks is infinite or overflows."""


@dataclass(frozen=True, eq=False)
class LogitFit(LearnedCosts):
    """Learned costs −X β of a recursive logit, with the maximum-likelihood utilities β.

    Attributes
    ----------
    utilities : array of shape (d,)
        The utility β of each feature.
    names : tuple of str
        The names of the features.
    log_likelihood : float
        The weighted sum of log p over the training tasks. If a task has several demonstrations, the
        mean of their log p is used.
    covariance : array of shape (d, d)
        The inverse of the negative Hessian of the log-likelihood.
    robust : array of shape (d, d)
        The sandwich estimate of the covariance: `covariance`, times the sum of the outer products
        of the scores (BHHH), times `covariance`. It is valid for independent trips even if the
        model is wrong.
    status : str
        "optimal", "max_rounds", or "stalled" if no step gains more than the rounding errors. This
        happens near the maximum, or if lower costs would make the sums over cyclic walks infinite.
    rounds : int
    """

    utilities: Array
    names: tuple[str, ...]
    log_likelihood: float
    covariance: Array
    robust: Array
    status: str
    rounds: int

    @property
    def standard_errors(self) -> Array:
        """The standard errors of the utilities, computed from `covariance`."""
        return np.asarray(np.sqrt(np.diag(self.covariance)))

    def site_costs(self, graph: Graph) -> Array:
        return -(features_by_name(graph, self.names) @ self.utilities)

    def costs(self, graph: Graph) -> Array:
        """Return arc costs, shape (E,), at which the shortest path is the most probable path.

        Individual costs may be negative. On the graphs of the training tasks no cycle has a
        negative cost, but on another graph a cycle may have one.
        """
        return -(features_by_name(graph, self.names, arcs=True) @ self.utilities)

    def log_likelihoods(self, tasks: Sequence[Task]) -> Array:
        """Return log p of each task's demonstration, shape (T,).

        If a task has several demonstrations, its entry is the mean of their log p.
        """
        made = checked_tasks(tasks)
        found = np.empty(len(made))
        for group in _groups(made, self.names):
            utility = group.X @ self.utilities
            shown = group.shown @ self.utilities
            for block in _sums(Walks(group.graph, -utility), group.source, group.target):
                found[group.places[block.places]] = shown[block.places] - block.log
        return found

    def probabilities(self, graph: Graph, target: Any) -> Array:
        """Return the probability that a traveller at an arc's tail takes the arc, shape (E,).

        `target` is the label of a node. The probabilities of the arcs from each node that reaches
        the target sum to 1, except at the target itself, where the walk may end. All other arcs
        have probability 0.
        """
        place = np.array([graph.node(target)])
        # Reduced costs keep the sums from underflow at nodes far from the target.
        walks = Walks(graph, self.costs(graph)).towards(int(place[0]))[0]
        z = walks.to(place)[:, 0]
        there = walks.weights * z[graph.head]
        here = z[graph.tail]
        return np.divide(there, here, out=np.zeros(graph.arcs), where=here > 0.0)


@dataclass(frozen=True)
class RecursiveLogit:
    """The recursive logit, whose method `fit` learns utilities by maximum likelihood.

    Parameters
    ----------
    start : array of shape (d,), optional
        The initial utilities. They are multiplied by increasing factors until the sums over walks
        are finite. By default all features have the same cost per unit of their mean.
    tol : float
        The tolerance, > 0. Newton's method ends when its quadratic model predicts an increase of
        the mean log-likelihood per task below `tol`.
    max_rounds : int
        The maximum number of Newton steps, at least 1.

    References
    ----------
    Fosgerau, Frejinger & Karlström (2013), A link based network route choice model with
    unrestricted choice set, Transportation Research Part B 56.
    """

    start: ArrayLike | None = None
    tol: float = 1e-9
    max_rounds: int = 100

    def __post_init__(self) -> None:
        positive("tol", self.tol)
        count("max_rounds", self.max_rounds)

    def fit(self, tasks: Sequence[Task]) -> LogitFit:
        """Return the costs that maximise the likelihood of the demonstrations.

        Warns
        -----
        UserWarning
            If `max_rounds` or rounding errors ended the run.

        Raises
        ------
        InputError
            If graphs have different features, if no initial utilities are found, or if some
            features have the same sum on all likely walks.
        """
        tasks = checked_tasks(tasks)
        names = same_names([task.graph for task in tasks])
        groups = _groups(tasks, names)
        # Weights are normalised, so that tol does not depend on their unit.
        total = sum(task.weight for task in tasks)
        weight = np.array([task.weight for task in tasks]) / total
        unit = _units(groups, names)
        at = self._first(groups, weight, unit)
        rounds = 0
        status = ""
        while not status:
            rounds += 1
            # The decrement of Newton's method is invariant under units of features.
            step, gain = _newton_step(at, unit)
            if gain <= self.tol:
                status = "optimal"
            elif (new := _line_search(groups, weight, at, step, self.tol)) is None:
                status = "stalled"
            else:
                at = new
                status = "max_rounds" if rounds == self.max_rounds else ""
        if status != "optimal":
            warnings.warn(_UNFINISHED[status].format(rounds), UserWarning, stacklevel=2)
        covariance = _covariance(at.hessian, unit, names)
        # The sum of outer products of scores estimates their covariance (BHHH).
        outer = (at.scores * weight[:, None]).T @ (at.scores * weight[:, None])
        return LogitFit(
            utilities=at.beta,
            names=names,
            log_likelihood=total * at.value,
            covariance=covariance / total,
            robust=covariance @ outer @ covariance,
            status=status,
            rounds=rounds,
        )

    def _first(self, groups: list[_Group], weight: Array, unit: Array) -> _Point:
        at = -unit
        if self.start is not None:
            at = doubles("start", self.start)
            if at.shape != unit.shape or not np.isfinite(at).all():
                raise InputError(
                    f"start must have {unit.size} finite numbers, one per feature, got "
                    f"{self.start!r}"
                )
        # The point is the start times the least factor for which the sums over walks are finite.
        # Steps of √2 lose less than half of the likelihood's scale; 2^13 is beyond all that helps.
        factors = 2.0 ** np.arange(0.0, 14.0, 0.5)
        for factor in factors:
            try:
                return _point(groups, weight, factor * at)
            except EndlessWalks as error:
                last = error
        raise InputError(
            "no start was found: sums over walks are infinite or overflow for the utilities "
            f"{at.tolist()} and their multiples up to {factors[-1]:.0f}; {last}; or pass "
            "RecursiveLogit(start=...)"
        )


class Walks:
    """The sums of weights exp(−cost) over the walks of a graph.

    Parameters
    ----------
    graph : Graph
    costs : array of shape (E,)
        The cost of each arc, of either sign. An arc of cost inf is never taken.

    Raises
    ------
    EndlessWalks
        If the spectral radius of M is not provably below 1.
    """

    def __init__(self, graph: Graph, costs: Array) -> None:
        from scipy.sparse.linalg import splu

        self.graph = graph
        self.costs = costs
        with np.errstate(over="ignore"):
            self.weights = np.exp(-costs)
        # Parallel arcs add up in M.
        M = self.matrix(self.weights)
        y = np.full(graph.nodes, np.nan)
        if np.isfinite(self.weights).all():
            A = sparse.csc_array(sparse.eye_array(graph.nodes, format="csr") - M)
            try:
                # A threshold of 0 keeps the pivots on the diagonal. Without row exchanges, the
                # elimination adds only numbers of the same sign off the diagonal, so that entries
                # of N far below 1 are as accurate as large ones, unless they underflow.
                self.factor: Any = splu(A, permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0)
                """The factors of I − M. Their method `solve` returns N b, or Nᵀ b if its second
                argument is "T", where N is the inverse of I − M."""
                y = self.factor.solve(self.factor.solve(np.ones(graph.nodes)))
            except RuntimeError:  # a pivot is 0, so that the radius is not below 1
                pass
        # For each y > 0, the radius is at most the largest (M y)_i / y_i (Collatz & Wielandt). For
        # y = N (N 1) this ratio is 1 − 1/k, where k is the mean number of nodes on walks from i.
        with np.errstate(all="ignore"):
            shrinks = (y > 0.0) & (M @ y < (1.0 - 1e-12) * y)
        if not (np.isfinite(y).all() and shrinks.all()):
            node = graph.label(int(np.flatnonzero(~shrinks | ~np.isfinite(y))[0]))
            why = "go in circles at costs so low that their weights exp(-cost) have no finite sum"
            if np.isinf(y).any() and not (y < 0.0).any():
                why = (
                    "are so many, at costs so low, that their weights exp(-cost) sum to above 1e308"
                )
            raise EndlessWalks(
                f"walks from {node!r} {why}; raise the costs (utilities must sum to less than 0 "
                "around every cycle), or add a feature that is above 0 on every arc"
            )
        self.potential = np.log(y)

    def matrix(self, values: Array) -> sparse.csr_array:
        """Return the sparse matrix whose entry (i, j) sums the values of the arcs from i to j."""
        ends = self.graph.tail, self.graph.head
        return sparse.csr_array((values, ends), shape=(self.graph.nodes,) * 2)

    def to(self, targets: Whole) -> Array:
        """Return the sums z over walks from all nodes to targets, shape (nodes, targets)."""
        units = np.zeros((self.graph.nodes, len(targets)))
        units[targets, np.arange(len(targets))] = 1.0
        return self.factor.solve(units)

    def towards(self, target: int) -> tuple[Walks, Array]:
        """Return `Walks` at the costs c + δ_head − δ_tail >= 0, and the distances δ to the target.

        At these costs, sums over walks to the target are at least 1 and cannot underflow.
        """
        graph = self.graph
        # Costs may be negative, but c + log y_tail − log y_head is positive, because M y < y.
        π = self.potential
        # Rounding may leave reduced costs a little below 0.
        reduced = np.maximum(self.costs + π[graph.tail] - π[graph.head], 0.0)
        start, far, arcs = graph.backward
        away = search(start, far, reduced[arcs], target, -1, NOTHING)[0]
        there = away[graph.head]
        here = away[graph.tail]
        with np.errstate(invalid="ignore"):
            costs = np.where(np.isfinite(there), np.maximum(reduced + there - here, 0.0), np.inf)
        return Walks(graph, costs), away - π + π[target]


class _Block:
    """The sums over the walks between the ends of some trips, from a single factorisation."""

    def __init__(self, walks: Walks, places: Whole, source: Whole, target: Whole) -> None:
        self.walks = walks
        self.places = places
        self.source = source[places]
        # Trips to the same target share a column.
        targets, self.column = np.unique(target[places], return_inverse=True)
        self.z = walks.to(targets)
        self.there = self.z[self.source, self.column]
        with np.errstate(divide="ignore"):
            self.log = np.log(self.there)


def _sums(walks: Walks, source: Whole, target: Whole) -> Iterator[_Block]:
    """Yield blocks of sums over walks, for pairs of source and target that a path joins."""
    targets = np.unique(target)
    # The sums to 64 targets and their derivatives fit in a cache.
    for k in range(0, len(targets), 64):
        places = np.flatnonzero(np.isin(target, targets[k : k + 64]))
        block = _Block(walks, places, source, target)
        # Sums below 1e-200 lose digits to underflow, and are computed at reduced costs instead.
        low = np.unique(target[places[~(block.there > 1e-200)]])
        kept = places[~np.isin(target[places], low)]
        if kept.size:
            yield block if kept.size == places.size else _Block(walks, kept, source, target)
        for node in low.tolist():
            near, away = walks.towards(node)
            block = _Block(near, np.flatnonzero(target == node), source, target)
            block.log -= away[block.source]
            yield block


class _Group:
    """The trips on a graph, with the features of the graph's arcs."""

    def __init__(self, graph: Graph, X: Array, tasks: Sequence[Task]) -> None:
        self.graph = graph
        self.X = X
        self.places = np.array([i for i, task in enumerate(tasks) if task.graph is graph])
        own = [tasks[i] for i in self.places]
        self.source = np.array([task.source for task in own])
        self.target = np.array([task.target for task in own])
        means = [np.mean([X[p.arcs].sum(axis=0) for p in t.demonstrations], axis=0) for t in own]
        self.shown = np.array(means)
        """The sums of the features along each demonstration, shape (trips, d)."""


class _Point(NamedTuple):
    """The mean log-likelihood per task at given utilities β, and its derivatives."""

    beta: Array
    value: float
    scores: Array
    """The gradient of each task's log-likelihood, shape (T, d), not multiplied by its weight."""
    gradient: Array
    hessian: Array


def _groups(tasks: tuple[Task, ...], names: tuple[str, ...]) -> list[_Group]:
    graphs = dict.fromkeys(task.graph for task in tasks)
    return [_Group(graph, features_by_name(graph, names, arcs=True), tasks) for graph in graphs]


def _point(groups: Sequence[_Group], weight: Array, beta: Array) -> _Point:
    # M, N and z are defined at the top of the module. With M_k = M ∘ X_k, the derivatives of z are
    # ∂_k z = N M_k z. The second derivatives at the sources are u'(M_kl z + M_k ∂_l z + M_l ∂_k z)
    # with u = Nᵀ(weights / z), which needs one more linear solve instead of d².
    each = np.empty(weight.size)
    scores = np.empty((weight.size, beta.size))
    hessian = np.zeros((beta.size, beta.size))
    for group in groups:
        X = group.X
        tail = group.graph.tail
        head = group.graph.head
        for block in _sums(Walks(group.graph, -(X @ beta)), group.source, group.target):
            walks = block.walks
            z = block.z
            at = group.places[block.places]
            ends = block.source, block.column
            b = np.zeros_like(z)
            # Several trips may have the same pair of ends.
            np.add.at(b, ends, weight[at] / block.there)
            u = walks.factor.solve(b, "T")[tail]
            flow = walks.weights * np.einsum("et,et->e", u, z[head])
            mixed = np.empty((group.graph.arcs, beta.size))
            mean = np.empty((at.size, beta.size))
            # A matrix of derivatives is sparse, and a solve for all targets at once is fast.
            for k in range(beta.size):
                dz = walks.factor.solve(walks.matrix(walks.weights * X[:, k]) @ z)
                mean[:, k] = dz[ends] / block.there
                mixed[:, k] = walks.weights * np.einsum("et,et->e", u, dz[head])
            cross = X.T @ mixed
            outer = (mean * weight[at, None]).T @ mean
            hessian -= (X * flow[:, None]).T @ X + cross + cross.T - outer
            scores[at] = group.shown[block.places] - mean
            each[at] = group.shown[block.places] @ beta - block.log
    return _Point(beta, float(weight @ each), scores, weight @ scores, hessian)


def _units(groups: Sequence[_Group], names: Sequence[str]) -> Array:
    """Return, for each feature, a factor that makes its mean absolute value over the arcs 1.

    The factor has the sign of the feature's mean.
    """
    size = np.mean([np.abs(group.X).mean(axis=0) for group in groups], axis=0)
    largest = 1e100  # The Hessian contains squares of the features, which must be finite doubles.
    odd = np.flatnonzero((size < 1.0 / largest) | (size > largest))
    if odd.size:
        what = f"the feature {names[odd[0]]!r} is"
        if size[odd[0]] == 0.0:
            raise InputError(f"{what} 0 on every arc and cannot distinguish walks; leave it out")
        raise InputError(
            f"{what} {size[odd[0]]:.1e} on average over the arcs, which is too large or too small "
            f"for doubles; use a unit in which the average is between {1.0 / largest:.0e} and "
            f"{largest:.0e}"
        )
    mean = np.mean([group.X.mean(axis=0) for group in groups], axis=0)
    return np.where(mean < 0.0, -1.0, 1.0) / size


def _spectrum(hessian: Array, unit: Array) -> tuple[Array, Array]:
    # The negative Hessian, for rescaled features, is positive semidefinite up to rounding.
    return np.linalg.eigh(-hessian * np.outer(unit, unit))


def _newton_step(at: _Point, unit: Array) -> tuple[Array, float]:
    """Return the Newton step, shortened if necessary, and the gain that its model predicts."""
    values, vectors = _spectrum(at.hessian, unit)
    slope = vectors.T @ (at.gradient * unit)
    step = vectors @ (slope / np.maximum(values, max(FLAT_EIGENVALUE * values[-1], 1e-300)))
    gain = 0.5 * float((at.gradient * unit) @ step)
    # A step at most doubles the largest utility: the model says little further away.
    most = 1.0 + float(np.abs(at.beta / unit).max())
    step *= min(1.0, most / max(float(np.abs(step).max()), 1e-300))
    return step * unit, gain


def _line_search(
    groups: Sequence[_Group], weight: Array, at: _Point, step: Array, tol: float
) -> _Point | None:
    """Halve the step until the log-likelihood increases enough, and return the point reached.

    Return None if the predicted increase is below a thousandth of `tol` or a rounding error.
    """
    slope = float(at.gradient @ step)
    t = 1.0
    # A gain below a thousandth of tol does not matter, and rounding hides one below 1e-12.
    while t * slope > max(1e-3 * tol, 1e-12 * abs(at.value)):
        try:
            new = _point(groups, weight, at.beta + t * step)
            if new.value > at.value + 1e-4 * t * slope:  # Armijo's rule
                return new
        except EndlessWalks:
            pass
        t /= 2.0
    return None


def _covariance(hessian: Array, unit: Array, names: Sequence[str]) -> Array:
    values, vectors = _spectrum(hessian, unit)
    if not values[0] > FLAT_EIGENVALUE * values[-1]:
        alike = [n for n, v in zip(names, vectors[:, 0], strict=True) if abs(v) > 1e-3]
        raise InputError(
            f"the likelihood does not depend on a combination of {', '.join(alike)}: the "
            "demonstrations are almost certain, or these features have the same sum on all walks; "
            "leave one of them out"
        )
    return (vectors / values) @ vectors.T * np.outer(unit, unit)

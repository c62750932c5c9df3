"""Learned costs, which apply to every graph with the same features."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np

from relaxboost._core.arrays import Array
from relaxboost.planning.features import features_by_name
from relaxboost.planning.graphs import Graph


class LearnedCosts(ABC):
    """The base class of learned costs.

    The costs apply to every graph that has their features, in any order. If the graph has other
    features, these are ignored with an `ExtraFeatures` warning. If the graph lacks a feature, an
    InputError is raised.

    Attributes
    ----------
    names : tuple of str
        The names of the features from which the costs are computed.
    """

    names: tuple[str, ...]

    @property
    def features(self) -> tuple[str, ...]:
        """The names of the features that a graph must have."""
        return self.names

    @abstractmethod
    def site_costs(self, graph: Graph) -> Array:
        """Return the cost of each site of a graph.

        The sites are the arcs of the graph, unless `Graph` was given a matrix `sites`.
        """

    @abstractmethod
    def costs(self, graph: Graph) -> Array:
        """Return the cost of each arc of a graph."""


@dataclass(frozen=True, eq=False)
class LinearCosts(LearnedCosts):
    """Costs that are linear in the features, with the same weights w on every graph.

    Attributes
    ----------
    w : array of shape (d,)
        The weight of each feature.
    names : tuple of str
        The names of the features from which the costs are computed.
    lower, upper : float
        Bounds on the minimum of the objective.
    status : str
        The reason why the run ended, as in `Fit`.
    method : str
        The name of the method that learned the costs.
    rounds : int
        The number of rounds that the method ran.
    exact : bool
        Whether the margin losses at w were computed exactly. With ``negative="relaxed"``, the
        bounds hold for a convex upper bound on the objective; see `Fit`.
    """

    w: Array
    names: tuple[str, ...]
    lower: float
    upper: float
    status: str
    method: str
    rounds: int
    exact: bool

    @property
    def gap(self) -> float:
        """The gap `upper` − `lower` between the bounds on the minimum of the objective."""
        return self.upper - self.lower

    @property
    def weights(self) -> dict[str, float]:
        """The learned weights by feature name."""
        # Plain floats make the dictionary readable and fit for JSON.
        return dict(zip(self.names, self.w.tolist(), strict=True))

    def site_costs(self, graph: Graph) -> Array:
        return features_by_name(graph, self.names) @ self.w

    def costs(self, graph: Graph) -> Array:
        # The bracket of `Fit` holds for (B X) w, and B (X w) would round differently.
        # Planners raise an InputError for costs that are not finite.
        with np.errstate(over="ignore", invalid="ignore"):
            return features_by_name(graph, self.names, arcs=True) @ self.w

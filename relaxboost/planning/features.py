"""Selection of the graph features that learned costs need, by name."""

from __future__ import annotations

import warnings
from collections.abc import Sequence

import numpy as np

from relaxboost._core.arrays import Array
from relaxboost._core.errors import InputError
from relaxboost.planning.graphs import Graph


class ExtraFeatures(UserWarning):
    """The warning that a graph has features that the learned costs ignore."""


def features_by_name(graph: Graph, names: tuple[str, ...], arcs: bool = False) -> Array:
    """Return the features `names` of a graph's sites or, if `arcs` is true, of its arcs.

    The result has a column for each name. Other features of the graph cause an `ExtraFeatures`
    warning, once per graph. If a feature is missing, an InputError is raised.
    """
    X = graph.arc_features if arcs else graph.features
    if graph.names == names:
        return X
    missing = [name for name in names if name not in graph.names]
    if missing:
        raise InputError(
            f"the graph lacks the features {', '.join(missing)}; its features are "
            f"{', '.join(graph.names)}, but the costs were learned from {', '.join(names)}; make "
            "the graph with the features of the costs, for example by from_pandas(edges, "
            "features=costs)"
        )
    ignored = [name for name in graph.names if name not in names]
    # The warning is given once for each graph and feature.
    if not graph.ignored.issuperset(ignored):
        graph.ignored.update(ignored)
        warnings.warn(
            f"{graph} has features from which the costs were not learned: {', '.join(ignored)}; "
            "they are ignored",
            ExtraFeatures,
            stacklevel=3,
        )
    made = X[:, [graph.names.index(name) for name in names]]
    # The copy has the memory layout of X, so that products are rounded as for the graph of the
    # training tasks.
    return np.asfortranarray(made) if X.flags.f_contiguous else np.ascontiguousarray(made)


def same_names(graphs: Sequence[Graph]) -> tuple[str, ...]:
    """Return the feature names that all graphs share, or raise an InputError if they differ."""
    names = graphs[0].names
    for graph in graphs[1:]:
        if graph.names != names:
            raise InputError(
                "tasks must have graphs with the same features, but one graph has "
                f"{', '.join(names)} and another has {', '.join(graph.names)}"
            )
    return names

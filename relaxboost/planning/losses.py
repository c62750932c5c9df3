"""Planning losses, which measure how much a path differs from a demonstration."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from relaxboost._core.arrays import Array, Whole
from relaxboost._core.errors import InputError
from relaxboost._core.parameters import positive
from relaxboost._core.registry import Registry
from relaxboost._core.rounding import down
from relaxboost.planning.graphs import PLACES, Graph, Path


class Gains(NamedTuple):
    """The loss of paths for one demonstration: a constant plus a gain for each arc of the path.

    Loss-augmented planning subtracts the gain of each arc from its cost.
    """

    constant: float
    arcs: Whole | None
    """The indices, without repetitions, of the arcs with the gains `values`. All other arcs have
    the gain 0. None means all arcs of the graph, in order."""
    values: Array
    """The gains, one for each entry of `arcs`, or for each arc of the graph if `arcs` is None."""

    def at(self, arcs: Whole) -> Array:
        """Return the gains of the given arcs."""
        if self.arcs is None:
            return self.values[arcs]
        if not self.arcs.size:
            return np.zeros(arcs.size)
        at = np.searchsorted(self.arcs, arcs)
        # An arc above the last entry of `arcs` has no entry. Index 0 is valid, and its entry is
        # another arc, so that the gain is 0.
        at[at == self.arcs.size] = 0
        return np.where(self.arcs[at] == arcs, self.values[at], 0.0)

    def total(self, path: Whole) -> float:
        """Return the loss of a path, given its arc indices."""
        return self.constant + float(self.at(path).sum())

    def floor(self, path: Whole) -> float:
        """Return the loss of a path, given its arc indices, or 0 if the loss is positive.

        The loss is summed exactly, and then rounded down.
        """
        # The constant is a rounded sum, which may not cancel the gains of a demonstration exactly.
        # The result of fsum is the nearest double to the exact sum.
        exact = math.fsum([self.constant, *self.at(path).tolist()])
        return 0.0 if exact >= 0.0 else down(exact)


class PathLoss(ABC):
    """The base class of planning losses.

    A loss measures how much a path differs from a demonstration. It is a constant plus a sum over
    the arcs of the path, and is 0 for the demonstration itself.

    A user-defined loss is an immutable subclass that defines `gains`. If all gains are <= 0,
    subtracting them keeps nonnegative costs nonnegative, so that Dijkstra's algorithm is exact. A
    subclass with a `name` is registered in `LOSSES`, and the command line accepts this name.

    Examples
    --------
    A path that misses the first arc of the demonstration has the loss 1.

    >>> import numpy as np
    >>> from relaxboost.planning import Gains, Graph, Path, PathLoss
    >>> class MissedStart(PathLoss):
    ...     def gains(self, demonstration):
    ...         return Gains(1.0, demonstration.arcs[:1], np.array([-1.0]))
    >>> graph = Graph([0, 0, 1], [1, 1, 2], np.ones((3, 1)))
    >>> shown, other = Path(graph, [0, 2]), Path(graph, [1, 2])
    >>> MissedStart().value(shown, shown), MissedStart().value(other, shown)
    (0.0, 1.0)
    """

    name: ClassVar[str] = ""

    def __init_subclass__(cls) -> None:
        LOSSES.add(cls)

    @abstractmethod
    def gains(self, demonstration: Path) -> Gains:
        """Return the loss of all paths for one demonstration."""

    def value(self, path: Path, demonstration: Path) -> float:
        """Return the loss of a path for a demonstration."""
        return self.gains(demonstration).total(path.arcs)


LOSSES: Registry[PathLoss] = Registry("path loss")
"""The loss classes by the names that the command line accepts."""


@dataclass(frozen=True)
class CountedArcs(PathLoss):
    """The base class of losses that count arcs.

    Missed arcs are those that only the demonstration takes, and strayed arcs are those that only
    the path takes.

    Parameters
    ----------
    weight : callable, optional
        A function that maps a graph to the weights > 0 of its arcs, shape (E,). The default is 1.
    scale : float
        The factor of the loss, > 0.
    """

    weight: Callable[[Graph], Array] | None = None
    scale: float = 1.0

    missed: ClassVar[bool] = True
    strayed: ClassVar[bool] = True

    def __post_init__(self) -> None:
        positive("scale", self.scale)

    def gains(self, demonstration: Path) -> Gains:
        # The gain is −weight on missed arcs and weight on strayed arcs, if these arcs count.
        graph = demonstration.graph
        arcs, times = np.unique(demonstration.arcs, return_counts=True)
        each = np.ones(graph.arcs)
        if self.weight is not None:
            each = np.array(self.weight(graph), dtype=np.float64)
        if each.shape != (graph.arcs,) or not (each > 0.0).all() or not np.isfinite(each).all():
            raise InputError(
                f"weight must return a finite number > 0 for each of the {graph.arcs} arcs"
            )
        each *= self.scale
        on = -each[arcs] if self.missed else np.zeros(arcs.size)
        # The constant is the loss of a path that misses every arc.
        constant = float(np.abs(on) @ times)
        # A sparse representation keeps searches with few gains fast.
        if not self.strayed:
            return Gains(constant, arcs, on)
        each[arcs] = on
        return Gains(constant, None, each)


class Missed(CountedArcs):
    """The number of arcs of the demonstration that the path misses; see `CountedArcs`.

    An arc that the demonstration takes twice counts twice. If the path takes an arc of the
    demonstration more often than the demonstration does, each additional time counts −1. The loss
    of a path with a cycle may therefore be negative.

    Loss-augmented planning raises the costs of the arcs of the demonstration. Costs >= 0 therefore
    stay >= 0.
    """

    name = "missed"
    strayed = False


class Strayed(CountedArcs):
    """The number of arcs of the path that are not in the demonstration; see `CountedArcs`.

    Loss-augmented planning lowers the costs of the arcs outside the demonstration. These costs may
    therefore become negative.
    """

    name = "strayed"
    missed = False


class Hamming(CountedArcs):
    """The number of arcs that only the demonstration or only the path takes; see `CountedArcs`.

    Loss-augmented planning raises the costs of the arcs of the demonstration, and lowers all other
    costs. These may therefore become negative.
    """

    name = "hamming"


@dataclass(frozen=True)
class Distance(PathLoss):
    """The sum of min(1, distance/reach) over the arcs of the path, multiplied by `scale`.

    The distance of an arc is that of its head from the nearest node of the demonstration.

    Parameters
    ----------
    reach : float
        The distance, > 0, from which an arc has the full loss 1, in the unit of `Graph.position`.
    scale : float
        The factor of the loss, > 0. If it is large, costs minus gains can be negative.
    """

    reach: float
    scale: float = 1.0

    name = "distance"

    def __post_init__(self) -> None:
        positive("reach", self.reach)
        positive("scale", self.scale)

    def gains(self, demonstration: Path) -> Gains:
        from scipy.spatial import cKDTree

        graph = demonstration.graph
        if graph.position is None:
            raise InputError(f"Distance needs the coordinates of the nodes: {PLACES}")
        # Only the nodes of the demonstration are in the tree, however large the graph is.
        tree = cKDTree(graph.position[demonstration.numbers])
        away = tree.query(graph.position, distance_upper_bound=self.reach)[0]
        return Gains(0.0, None, self.scale * np.minimum(away / self.reach, 1.0)[graph.head])


@dataclass(frozen=True)
class NoLoss(PathLoss):
    """The loss of the structured perceptron, which is 0 for every path.

    With this loss, costs of 0 are optimal.
    """

    name = "none"

    def gains(self, demonstration: Path) -> Gains:
        return Gains(0.0, np.empty(0, dtype=np.int64), np.empty(0))


def checked(gains: Any, demonstration: Path, loss: PathLoss) -> Gains:
    """Validate the result of `PathLoss.gains`, and return it with its arcs sorted.

    An InputError is raised if the result is not valid, for example if the demonstration itself does
    not have the loss 0.
    """
    graph = demonstration.graph
    if not isinstance(gains, Gains):
        raise InputError(f"{loss!r}: the method gains must return Gains(constant, arcs, values)")
    values = np.asarray(gains.values, dtype=np.float64)
    arcs = None if gains.arcs is None else np.asarray(gains.arcs, dtype=np.int64)
    if arcs is not None:
        # `Gains.at` finds arcs by bisection.
        order = np.argsort(arcs, kind="stable")
        if values.shape != arcs.shape or np.unique(arcs).size != arcs.size:
            raise InputError(f"{loss!r}: gains must contain each arc once, with one value per arc")
        arcs = arcs[order]
        values = values[order]
    elif values.shape != (graph.arcs,):
        raise InputError(
            f"{loss!r}: the values of gains must have shape ({graph.arcs},), got {values.shape}"
        )
    if not (math.isfinite(gains.constant) and np.isfinite(values).all()):
        raise InputError(f"{loss!r}: the constant and the values of gains must be finite")
    made = Gains(float(gains.constant), arcs, values)
    own = made.total(demonstration.arcs)
    size = abs(made.constant) + np.abs(values).max(initial=0.0)
    # The loss of the demonstration may differ from 0 by rounding errors.
    if abs(own) > 1e-9 * size:
        raise InputError(
            f"with {loss!r}, the demonstration itself has the loss {own:g}, but this loss must be "
            "0; correct the constant or the values that the method gains returns"
        )
    return made

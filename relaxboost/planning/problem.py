"""Learning linear costs: min over w of Ω(w) + R(w), its values, cuts and lower bounds."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from relaxboost.errors import InputError
from relaxboost.planning.graphs import Graph
from relaxboost.planning.oracle import Evaluation, Oracle
from relaxboost.planning.regularisers import Regulariser, Ridge
from relaxboost.planning.tasks import Task

Array = NDArray[np.float64]


class Cut(NamedTuple):
    """An affine function below R: offset + <slope, w> <= R(w) for all w of the domain."""

    offset: float
    slope: Array


class Point(NamedTuple):
    """What is known of R at some w."""

    w: Array
    value: float
    """Ω(w) + R(w)."""
    bound: float
    """Not below it, by potentials; nan unless asked for."""
    cut: Cut
    """It touches R at w."""
    evaluation: Evaluation


class Problem:
    """min over w of Ω(w) + Σ weight R_i(B X w)^power, over the weights w of d features.

    Parameters
    ----------
    tasks : sequence of Task
        Their graphs have the same features.
    regulariser : Regulariser
        Ω; by default `Ridge()`.
    nonnegative : bool
        Whether w >= 0, which makes costs >= 0 where features are; it needs features >= 0.
    negative : str
        See `Oracle`.
    power : {1, 2}

    Raises
    ------
    InputError
        For an empty list of tasks, graphs with different features, and with `nonnegative` for
        features below 0, with the arc.
    """

    def __init__(
        self,
        tasks: Sequence[Task],
        regulariser: Regulariser | None = None,
        *,
        nonnegative: bool = True,
        negative: str = "exact",
        power: int = 1,
    ) -> None:
        self.oracle = Oracle(tasks, negative, power)
        self.regulariser = Ridge() if regulariser is None else regulariser
        if not isinstance(self.regulariser, Regulariser):
            raise InputError(f"regulariser must be one such as Ridge(1e-2), got {regulariser!r}")
        self.nonnegative = bool(nonnegative)
        first = self.oracle.graphs[0]
        self.names = first.names
        for graph in self.oracle.graphs[1:]:
            if graph.names != self.names:
                raise InputError(
                    f"tasks have graphs with features {', '.join(self.names)} and "
                    f"{', '.join(graph.names)}; learn from graphs with the same features"
                )
        if self.nonnegative:
            for graph in self.oracle.graphs:
                _check_sign(graph)
        arcs = [graph.arc_features for graph in self.oracle.graphs]
        self._arc_features = arcs
        self._shown = np.array([arcs[r.graph][r.path.arcs].sum(axis=0) for r in self.oracle.rows])

    @property
    def tasks(self) -> tuple[Task, ...]:
        """The tasks."""
        return self.oracle.tasks

    @property
    def d(self) -> int:
        """The number of features."""
        return len(self.names)

    def costs(self, w: ArrayLike) -> list[Array]:
        """Return arc costs for each graph."""
        weights = np.asarray(w, dtype=np.float64)
        if weights.shape != (self.d,) or not np.isfinite(weights).all():
            raise InputError(f"w needs {self.d} finite entries, one a feature, got {w!r}")
        return [features @ weights for features in self._arc_features]

    def at(self, w: ArrayLike, prove: bool = False) -> Point:
        """Return value, cut and plans at w; with `prove` also a bound by potentials."""
        found = self.oracle.evaluate(self.costs(w), prove)
        weights = np.asarray(w, dtype=np.float64)
        size = self.regulariser.value(weights)
        return Point(weights, size + found.value, size + found.bound, self._cut(found), found)

    def _cut(self, found: Evaluation) -> Cut:
        """Return Σ weight · (rate · (ℓ_i + <f_demonstrated − f_taken, w>) − (rate/2)² if squared).

        R_i >= ℓ_i + <., w> whichever path was taken, and R_i² >= 2 r R_i − r² for every r >= 0.
        """
        rows, answers = self.oracle.rows, found.answers
        taken = np.array(
            [
                self._arc_features[row.graph][answer.taken].sum(axis=0)
                for row, answer in zip(rows, answers, strict=True)
            ]
        )
        loss = np.array([answer.loss for answer in answers])
        p = self.oracle.weights
        if self.oracle.power == 1:
            return Cut(float(p @ loss), p @ (self._shown - taken))
        r = np.array([answer.value for answer in answers])
        slope = (2.0 * p * r) @ (self._shown - taken)
        return Cut(float(p @ (2.0 * r * loss - r * r)), slope)

    def lower(self, cut: Cut) -> float:
        """Return a − Ω*(−G): not above the least value, whatever cut or mean of cuts it comes from.

        Where Ω* is infinite the cut is mixed with 0 <= R until it is not.
        """
        s = self.regulariser.scale(-cut.slope, self.nonnegative)
        conjugate = self.regulariser.conjugate(-s * cut.slope, self.nonnegative)
        return max(s * cut.offset - conjugate, 0.0)


def _check_sign(graph: Graph) -> None:
    bad = np.argwhere(graph.arc_features < 0.0)
    if bad.size:
        arc, column = int(bad[0][0]), int(bad[0][1])
        raise InputError(
            f"feature {graph.names[column]!r} of {graph.arc_name(arc)} is "
            f"{graph.arc_features[arc, column]:g}, which makes costs negative; shift it to >= 0, "
            "split it into its positive and negative parts, or give nonnegative=False"
        )

"""The options of the bundle method that `fit` uses."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike

from relaxboost._core.arrays import Array, doubles
from relaxboost._core.errors import InputError
from relaxboost._core.parameters import count
from relaxboost.planning.costs import LinearCosts
from relaxboost.planning.problem import Problem
from relaxboost.solvers.bundle.method import BundleRound, CuttingPlanes

FitState = BundleRound
"""The state that `fit` passes to its callback in each round: the `FitPoint` of the round (`point`)
and the best lower bound so far (`lower`)."""


@dataclass(frozen=True)
class Bundle:
    """The options of Kelley's cutting-plane method, which `fit` uses.

    The method models the loss by cutting planes, separately for each group of demonstrations. The
    minimum of the model plus the regulariser is a lower bound on the least objective. Its minimiser
    is the next query, which is the point w at which the loss is evaluated.

    Parameters
    ----------
    start : LinearCosts or array of shape (d,), optional
        The first query, for example an earlier `Fit`. It is projected onto the domain of the
        regulariser. The default is w = 0.
    max_cuts : int
        The maximum number of cutting planes. The planes that have been inactive longest are dropped
        first.
    patience : int
        The run ends with the status "stalled" if both bounds stay unchanged for this many rounds.

    References
    ----------
    Kelley (1960), The cutting-plane method for solving convex programs. Joachims, Finley & Yu
    (2009), Cutting-plane training of structural SVMs.
    """

    start: LinearCosts | ArrayLike | None = field(default=None, repr=False, compare=False)
    max_cuts: int = 500
    patience: int = 60

    def __post_init__(self) -> None:
        count("max_cuts", self.max_cuts)
        count("patience", self.patience)

    def first(self, problem: Problem) -> Array:
        """Return the feasible weights at which `fit` first evaluates the loss."""
        if self.start is None:
            return np.zeros(problem.d)
        given = self.start
        if isinstance(given, LinearCosts):
            # Weights are matched to features by the names of the features, not by their positions.
            if given.names != problem.names:
                raise InputError(
                    f"start was learned for the features {', '.join(given.names)}, but the tasks "
                    f"have the features {', '.join(problem.names)}"
                )
            given = given.w
        w = np.array(doubles("start", given))
        if w.shape != (problem.d,) or not np.isfinite(w).all():
            raise InputError(
                f"start must have {problem.d} finite entries, one per feature, got {given!r}"
            )
        return problem.project(w)

    def model(self, problem: Problem) -> CuttingPlanes:
        """Return the initial model of the loss, without cutting planes."""
        # Features in units of their root mean squares change costs by comparable amounts.
        floors = problem.floors
        return CuttingPlanes(problem, floors.size, self.max_cuts, 1.0 / problem.rms, floors)

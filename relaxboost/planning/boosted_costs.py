"""Nonlinear arc costs learned by `boost`."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field

import numpy as np

from relaxboost._core.arrays import Array
from relaxboost._core.errors import number_of
from relaxboost.functional import Boosted, BoostRecord
from relaxboost.planning.costs import LearnedCosts
from relaxboost.planning.features import features_by_name
from relaxboost.planning.graphs import Graph
from relaxboost.planning.risk import PlanningLoss
from relaxboost.planning.starting import ChosenRounds, LinearStart


class FlooredCosts(UserWarning):
    """The warning that some learned costs were negative and were raised to a tiny positive
    number."""


@dataclass(frozen=True)
class BoostedCosts(LearnedCosts):
    """Nonlinear site costs that `boost` learned from demonstrations.

    The sites are the arcs of a graph or the cells of a grid. Their costs are base + F or base ·
    exp(F), where F is a boosted sum of weak hypotheses and the base is the cost before the first
    round.

    Attributes
    ----------
    boosted : Boosted
        The function F, with the state from which a later run can continue.
    loss : PlanningLoss
        The loss that `boost` minimised, with its link and its base.
    names : tuple of str
        The names of the features that the costs depend on.
    status : str
        The reason why the run ended, such as "max_rounds" or "interrupted"; see `Boosted`.
    scale : float
        The factor by which `boost` multiplied every step size.
    inexact : int
        The number of demonstrations whose margin loss is replaced by a convex upper bound in
        `value` and `history`. Only ``negative="relaxed"`` uses such bounds; see `Oracle`.
    negative, sites : int
        The number of sites with negative cost in the training graphs, and the number of all sites
        in these graphs.
    floor : float
        The minimum site cost. With the additive link, `costs` raises lower costs to `floor`.
    choice : ChosenRounds, optional
        The record of the cross-validation that chose the rounds. It is not saved to files.
    begun : LinearStart, optional
        The linear costs before the first round if no base was given. They are not saved to files.
    """

    boosted: Boosted = field(repr=False)
    loss: PlanningLoss
    names: tuple[str, ...]
    status: str
    scale: float
    inexact: int
    negative: int
    sites: int
    floor: float
    choice: ChosenRounds | None = field(default=None, repr=False)
    begun: LinearStart | None = field(default=None, repr=False)

    def __repr__(self) -> str:
        run = self.boosted
        return (
            f"BoostedCosts({number_of(run.chosen, 'round')} of {type(run.learner).__name__}, "
            f"{self.loss.link} link, loss {self.history[0].value:.4g} -> {self.value:.4g}, "
            f"{self.status})"
        )

    @property
    def history(self) -> tuple[BoostRecord, ...]:
        """The records of the boosting run: one for the initial state, and one for each round."""
        return self.boosted.history

    @property
    def value(self) -> float:
        """The training loss, or an upper bound on it if `inexact` is above 0."""
        return self.boosted.value

    def site_costs(self, graph: Graph, upto: int | None = None) -> Array:
        """Return the cost of each site of a graph after `upto` rounds, by default after all
        rounds."""
        X = features_by_name(graph, self.names)
        return self.loss.linked(self.loss.start(graph), self.boosted.decision(X, upto))

    def costs(self, graph: Graph, *, upto: int | None = None) -> Array:
        """Return the cost of each arc of a graph.

        Planners need costs >= 0. Negative site costs are therefore raised to `floor`, with a
        `FlooredCosts` warning.
        """
        C = self.site_costs(graph, upto)
        below = int((C < 0.0).sum())
        if below:
            warnings.warn(
                f"the cost is negative at {below} of {C.size} sites of {graph}, down to "
                f"{C.min():.3g}; these costs were raised to {self.floor:.3g}. "
                "graph.costs(learned.site_costs(graph)) keeps negative costs, and "
                'PlanningLoss("exponential") learns costs that are positive everywhere',
                FlooredCosts,
                stacklevel=2,
            )
        # Exponential costs are positive already, and a floor would only change tiny ones.
        if self.loss.link == "additive":
            C = np.maximum(C, self.floor)
        return graph.costs(C)

"""Nonlinear arc costs that `boost` has learned."""

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
    """The warning that learned costs were negative for some sites, which are arcs or cells of a
    grid, and were raised to a tiny positive number."""


@dataclass(frozen=True)
class BoostedCosts(LearnedCosts):
    """Nonlinear costs of sites, which `boost` learned from demonstrations.

    The sites are the arcs of a graph, or the cells of a grid. Their costs are base + F or base ·
    exp(F), where F is a boosted sum of weak hypotheses of the features, and the base gives the
    costs before the first round.

    Attributes
    ----------
    boosted : Boosted
        The function F: a sum of weak hypotheses with coefficients, and the state from which a later
        run can continue.
    loss : PlanningLoss
        The loss that `boost` minimised, with its link and its base.
    names : tuple of str
        The names of the features from which the costs are computed.
    status : str
        The reason why the run ended, such as "max_rounds" or "interrupted"; see `Boosted`.
    scale : float
        The factor by which `boost` multiplied the size of every step.
    inexact : int
        The number of demonstrations for which `value` and the history contain only an upper bound
        on the margin loss. The bound is convex, and comes from ``negative="relaxed"``; see
        `Oracle`.
    negative, sites : int
        `negative` is the number of sites of the training graphs whose cost is negative, and `sites`
        is the number of all sites of these graphs.
    floor : float
        The minimum cost of a site. With the additive link, `costs` raises lower costs to this
        number.
    choice : ChosenRounds, optional
        The record of the cross-validation that chose the rounds. It is not saved to files.
    begun : LinearStart, optional
        The linear costs before the first round, if no base was given. They are not saved to files.
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
        """The records of the boosting run: one for the state before round 1, and one for each
        round."""
        return self.boosted.history

    @property
    def value(self) -> float:
        """The training loss of these costs. If `inexact` is above 0, it is an upper bound on the
        training loss."""
        return self.boosted.value

    def site_costs(self, graph: Graph, upto: int | None = None) -> Array:
        """Return the cost of each site of a graph, after `upto` rounds of boosting.

        By default, all rounds are used. The result is an array with an entry for each site.
        """
        X = features_by_name(graph, self.names)
        return self.loss.linked(self.loss.start(graph), self.boosted.decision(X, upto))

    def costs(self, graph: Graph, *, upto: int | None = None) -> Array:
        """Return the cost of each arc of a graph, as an array with an entry for each arc.

        Negative costs of sites are raised to the tiny number `floor`, with a `FlooredCosts`
        warning, because planners need costs >= 0.
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

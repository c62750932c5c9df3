"""What a fit should tell its user: that it learned nothing, why, and what helps."""

from __future__ import annotations

import numpy as np

from relaxboost._core.loop import Clock
from relaxboost.planning.costs import LinearCosts
from relaxboost.planning.planners.shortest import shortest_arcs
from relaxboost.planning.problem import Problem

_ZERO = 1e-9
"""What costs are 0 below, as a share of the loss."""


def remedies(fit: LinearCosts, value: float, problem: Problem, clock: Clock) -> list[str]:
    """Return what went wrong with learned costs whose least objective found is a value, and help.

    No demonstration is looked at when the time of the clock is over.
    """
    at_zero = bool(np.abs(problem.scale * fit.w).max() <= _ZERO * fit.upper)
    if at_zero and value == 0.0:
        return [
            "there is nothing to learn: no path has a loss even where all costs are 0, since each "
            "demonstration is the only path to its target, or the loss of its task is always 0; "
            "give trips with alternatives, and a loss such as Missed()"
        ]
    if at_zero and fit.gap > 0.01 * fit.upper:
        return [
            f"the learned costs are all 0, as the run ended with {fit.status!r} after "
            f"{fit.rounds} rounds; give it more of them or more time, or fewer tasks"
        ]
    if at_zero:
        return [
            f"the learned costs are all 0, so that every path is shortest: {problem.regulariser!r} "
            "outweighs the losses, or no costs linear in these features explain the demonstrations "
            "better than none; give less strength (a larger radius), other features, free signs "
            "(Problem(tasks, nonnegative=False)), or boost"
        ]
    if clock.left and all(_shortest(problem, j) for j in range(problem.d)):
        return [
            "there is nothing to learn: every demonstration is a shortest path by each feature "
            f"({', '.join(problem.names[:5])}) alone, and so at all weights >= 0; give trips that "
            "leave the shortest path, or other features"
        ]
    return []


def _shortest(problem: Problem, j: int) -> bool:
    """Whether every demonstration is a shortest path at one feature as the cost."""
    costs = [features[:, j] for features in problem.arc_features]
    if min(float(c.min(initial=0.0)) for c in costs) < 0.0:
        return False
    for row in problem.oracle.rows:
        graph, c = problem.oracle.graphs[row.graph], costs[row.graph]
        taken, _ = shortest_arcs(graph, c[graph.forward.arcs], row.source, row.target)
        if c[row.path.arcs].sum() > c[taken].sum() * (1.0 + 1e-12):
            return False
    return True

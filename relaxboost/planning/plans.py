"""Planned paths with potentials that prove them shortest, and the check of such a proof."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from relaxboost._core.arrays import Array, doubles
from relaxboost._core.errors import InputError
from relaxboost._core.rounding import UNIT, down, sum_bounds
from relaxboost.planning.graphs import Graph, Path
from relaxboost.planning.kernels import worst_slack

_LARGEST = 1e300
"""The largest absolute value of a cost. Sums of such costs stay finite, because memory limits the
number of terms."""


def arc_costs(graph: Graph, costs: ArrayLike) -> Array:
    """Return arc costs as finite doubles of shape (E,), or raise an InputError that names an
    arc.
    """
    c = doubles("costs", costs)
    if c.shape != (graph.arcs,):
        raise InputError(
            f"costs need shape ({graph.arcs},), one cost per arc, got {c.shape}; graph.costs(C) "
            "turns costs per site into costs per arc"
        )
    if not (np.abs(c) <= _LARGEST).all():
        arc = int(np.argmin(np.abs(c) <= _LARGEST))
        raise InputError(
            f"the cost of {graph.arc_name(arc)} is {c[arc]:g}; costs must be finite and within "
            f"±{_LARGEST:g}: leave out closed arcs, or divide all costs by the same number"
        )
    return c


class NoPath(InputError):
    """The error that no path leads from the source to the target."""


class NegativeCycle(InputError):
    """The error that a cycle has negative cost, so that no shortest walk exists.

    Attributes
    ----------
    cycle : Path
        The arcs of the cycle.
    cost : float
        The sum of the costs around the cycle, < 0.
    """

    def __init__(self, cycle: Path, costs: Array) -> None:
        self.cycle = cycle
        # An exact sum has the right sign, also for cycles of almost no cost.
        self.cost = math.fsum(costs[cycle.arcs].tolist())
        shown = " -> ".join(repr(label) for label in cycle.nodes[:6])
        if len(cycle.nodes) > 6:
            shown += " -> ..."
        super().__init__(
            f"costs are negative around a cycle of {len(cycle)} arcs, {shown}: "
            f"{self.cost:.6g} a round; raise them to >= 0, or plan over paths that visit no "
            'node twice (planner="simple"; negative="simple" in Problem and evaluate)'
        )


@dataclass(frozen=True, eq=False)
class Plan:
    """A path, its cost, and potentials that prove that no other path costs less.

    Attributes
    ----------
    path : Path
    costs : array of shape (E,)
        The costs for which the path was planned.
    potential : array of shape (nodes,)
        The potentials π, with π_head <= π_tail + c on every arc. They prove that no path costs
        less than π_target − π_source. The potential is +inf at nodes that the source does not
        reach, and −inf at nodes that do not reach the target. A plan of ``"simple"`` has None.
    planner : str
    claimed : float
        For a plan without potentials, the solver's lower bound of the cost of a path that visits
        no node twice. `check_plan` does not use this bound.
    complete : bool
        False if a time limit ended the planner, so that the path may not be the best one.
    """

    path: Path
    costs: Array = field(repr=False)
    potential: Array | None = field(repr=False)
    planner: str
    claimed: float = -math.inf
    complete: bool = True

    def __repr__(self) -> str:
        proof = "potentials that prove a bound" if self.potential is not None else "no potentials"
        ended = "" if self.complete else ", ended by its time limit"
        return f"Plan({self.path!r}, cost {self.cost:.6g}, {self.planner}, {proof}{ended})"

    @property
    def cost(self) -> float:
        """The sum of the plan's costs along its path."""
        return self.path.cost(self.costs)


class PlanCheck(NamedTuple):
    """The result of checking a plan: bounds of the least cost that its path and potentials
    prove.
    """

    ok: bool
    """Whether the bracket of the least cost is as narrow as rounding allows."""
    lower: float
    """The proved lower and upper bounds of the least cost of a path from source to target that
    visits no node twice."""
    upper: float
    reason: str
    """The reason why the check failed, or an empty string if it succeeded."""


def check_plan(plan: Plan, costs: ArrayLike | None = None) -> PlanCheck:
    """Check a plan: return the bracket of the least cost that its path and potentials prove.

    The planner is not trusted. This function sums the costs of the path, and checks the inequality
    of the potentials on each arc. If rounding violates an inequality by a small amount, a path may
    gain this amount on each of its at most nodes − 1 arcs, and the lower bound is reduced
    accordingly. A bound that was not reduced also holds for walks that visit nodes twice.

    Parameters
    ----------
    plan : Plan
    costs : array of shape (E,), optional
        The costs for which the plan is checked. The default is the costs of the plan.

    Returns
    -------
    PlanCheck
        The bracket. `PlanCheck.ok` is true if rounding explains upper − lower.
    """
    graph = plan.path.graph
    c = arc_costs(graph, plan.costs if costs is None else costs)
    # The exact sum, rounded upwards, bounds the least cost from above.
    upper = sum_bounds(c[plan.path.arcs])[1]
    nothing = partial(PlanCheck, False, -math.inf, upper)
    if plan.potential is None:
        ended = "" if plan.complete else ", which a time limit ended"
        said = (
            f"; its solver{ended} says {plan.claimed:.17g}" if plan.claimed > -math.inf else ended
        )
        return nothing(
            f"the plan of {plan.planner!r} has no potentials, so nothing is proved from below{said}"
        )
    π = np.asarray(plan.potential, dtype=np.float64)
    if π.shape != (graph.nodes,) or np.isnan(π).any():
        return nothing("the potentials are not one number per node")
    source, target = plan.path.source, plan.path.target
    if not np.isfinite(π[[source, target]]).all():
        return nothing("the potential of the source or of the target is not finite")
    worst, arc, size = worst_slack(graph.tail, graph.head, c, π)
    # An arc leads out of the part that the potentials declare closed.
    if worst == -math.inf:
        return nothing(f"infinite potentials do not separate: {graph.arc_name(arc)}")
    lower = _below(π[target] - π[source], worst, size, graph.nodes)
    # For a bracket around 0, outward rounding adds the smallest positive double for each node.
    least = math.ulp(0.0)
    allowed = graph.nodes * (32.0 * UNIT * max(size, abs(upper)) + 16.0 * least)
    if upper - lower <= allowed < math.inf:
        return PlanCheck(True, lower, upper, "")
    reason = f"the path costs {upper:.17g}, and the potentials prove {lower:.17g} only"
    if worst < 0.0:
        reason += f"; {graph.arc_name(arc)} breaks its inequality by {-worst:.3g}"
    return PlanCheck(False, lower, upper, reason)


def _below(difference: float, worst: float, size: float, nodes: int) -> float:
    """Return a lower bound of the cost of every path with at most nodes − 1 arcs.

    `difference` is π_target − π_source, rounded once. `worst` and `size` come from `worst_slack`.
    Each slack is wrong by at most three roundings of numbers up to 3 · size.
    """
    # A slack that is positive beyond rounding needs no allowance.
    each = min(worst, 0.0) - 8.0 * UNIT * size if worst < math.inf else 0.0
    if worst > 8.0 * UNIT * size:
        each = 0.0
    wide = 2.0 * UNIT * abs(difference)
    return float(down(down(down(difference) - wide) + down((nodes - 1) * each)))

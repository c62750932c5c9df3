"""Plans, which are paths with potentials that prove that no path is cheaper."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from relaxboost._core.arrays import Array, doubles
from relaxboost._core.errors import InputError
from relaxboost._core.parameters import is_given
from relaxboost._core.rounding import UNIT, down, sum_bounds
from relaxboost.planning.graphs import Graph, Path, check_graph, weights_hint
from relaxboost.planning.kernels import worst_slack

MAX_COST = 1e300
"""The maximum absolute cost of an arc. The cost of a hundred million such arcs is still a finite
double."""


def arc_costs(graph: Graph, costs: ArrayLike) -> Array:
    """Return the costs as an array of finite doubles, one for each arc.

    An InputError is raised if `graph` is not a `Graph`, if a cost is not finite, or if the number
    of costs is wrong.
    """
    check_graph(graph)
    if is_given(costs, Mapping) or not np.iterable(costs):
        raise InputError(
            f"costs must be an array with a cost for each arc, got a {type(costs).__name__}; for "
            "the costs of a fit, pass fit.costs(graph)"
        )
    c = doubles("costs", costs)
    if c.shape != (graph.arcs,):
        raise InputError(
            f"costs must have shape ({graph.arcs},), one cost per arc, got {c.shape}"
            + (weights_hint(graph, c) or "; graph.costs(C) converts costs per site to arc costs")
        )
    if not (np.abs(c) <= MAX_COST).all():
        arc = int(np.argmin(np.abs(c) <= MAX_COST))
        raise InputError(
            f"the cost of {graph.arc_name(arc)} is {c[arc]:g}; costs must be finite and within "
            f"±{MAX_COST:g}: leave out closed arcs, or divide all costs by the same number"
        )
    return c


class NoPath(InputError):
    """The error of a planner if no path leads from the source to the target."""


POSITIVE_COSTS = (
    "raise the costs to >= 0, or plan over paths that visit no node twice "
    '(planner="simple", or negative="simple" in evaluate)'
)
"""The remedy for a cycle of negative cost."""


class NegativeCycle(InputError):
    """The error of a planner if a cycle has negative cost, so that no path is shortest.

    Attributes
    ----------
    cycle : Path
        The arcs of the cycle.
    cost : float
        The sum of the costs around the cycle, < 0.
    """

    def __init__(
        self, cycle: Path, costs: Array, what: str = "the costs", remedy: str = POSITIVE_COSTS
    ) -> None:
        self.cycle = cycle
        # An exact sum has the right sign, also for cycles of almost no cost.
        self.cost = math.fsum(costs[cycle.arcs].tolist())
        shown = " -> ".join(repr(label) for label in cycle.nodes[:6])
        if len(cycle.nodes) > 6:
            shown += " -> ..."
        super().__init__(
            f"{what} around a cycle of {len(cycle)} arcs, {shown}, sum to {self.cost:.6g}; {remedy}"
        )


@dataclass(frozen=True, eq=False)
class Plan:
    """A path, its cost, and potentials that prove that no other path costs less.

    Attributes
    ----------
    path : Path
        The path that was found.
    costs : array of shape (E,)
        The arc costs for which the path was planned.
    potential : array of shape (nodes,)
        The potentials π, which satisfy π_head <= π_tail + c on every arc, so that no path costs
        less than π_target − π_source. They may be +inf at nodes that the source does not reach, and
        −inf at nodes that do not reach the target. ``"simple"`` plans have None.
    planner : str
        The name of the algorithm that found the path: "dijkstra", "bellman-ford" or "simple". A
        user-defined planner may use another name.
    claimed : float
        For a plan without potentials, HiGHS's lower bound on the cost of every path that visits no
        node twice. It is not proved, and `check_plan` does not use it.
    complete : bool
        Whether the planner finished within its time limit. If not, a cheaper path may exist.
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
        """The cost of the path."""
        return self.path.cost(self.costs)


class PlanCheck(NamedTuple):
    """The result of checking a plan, with the proved bounds on the least cost."""

    ok: bool
    """Whether the plan is proved to be a shortest path: `lower` and `upper` are as close as
    rounding allows."""
    lower: float
    """The proved lower bound on the least cost of a path that visits no node twice."""
    upper: float
    """The upper bound on the least cost of a path that visits no node twice: the cost of the plan's
    path, rounded up."""
    reason: str
    """The reason why the check failed, or an empty string if it succeeded."""


def check_plan(plan: Plan, costs: ArrayLike | None = None) -> PlanCheck:
    """Check a plan, and return the bounds on the least cost that it proves.

    The upper bound is the cost of the path. The lower bound is π_target − π_source if the
    potentials satisfy π_head <= π_tail + c on each arc.

    If an inequality is violated, possibly only within rounding errors, the lower bound is reduced
    by nodes − 1 times the largest violation with its rounding error, because a path that visits no
    node twice has at most nodes − 1 arcs. An unreduced bound also holds for paths that visit nodes
    twice.

    Parameters
    ----------
    plan : Plan
        The plan to check.
    costs : array of shape (E,), optional
        The costs for which the plan is checked. The default is the costs of the plan.
    """
    graph = plan.path.graph
    c = arc_costs(graph, plan.costs if costs is None else costs)
    # The exact sum, rounded upwards, bounds the least cost from above.
    upper = sum_bounds(c[plan.path.arcs])[1]
    nothing = partial(PlanCheck, False, -math.inf, upper)
    if plan.potential is None:
        said = "" if plan.complete else ", which a time limit ended"
        if plan.claimed > -math.inf:
            said = f"; the planner's solver{said} reports the lower bound {plan.claimed:.17g}"
        return nothing(
            f"the plan of {plan.planner!r} has no potentials, so no lower bound is proved{said}"
        )
    π = np.asarray(plan.potential, dtype=np.float64)
    if π.shape != (graph.nodes,) or np.isnan(π).any():
        return nothing("the potentials must be one number per node")
    source = plan.path.source
    target = plan.path.target
    if not np.isfinite(π[[source, target]]).all():
        return nothing("the potential of the source or of the target is not finite")
    worst, arc, size = worst_slack(graph.tail, graph.head, c, π)
    # An arc contradicts the infinite potentials, which say that no path takes this arc.
    if worst == -math.inf:
        return nothing(f"{graph.arc_name(arc)} shows that the infinite potentials are wrong")
    # The error of each slack is at most that of three roundings of numbers up to 3 · size.
    wrong = 8.0 * UNIT * size
    # A slack that is positive beyond rounding needs no allowance.
    each = 0.0 if worst > wrong else min(worst, 0.0) - wrong
    difference = π[target] - π[source]
    lower = down(down(difference) - 2.0 * UNIT * abs(difference))
    lower = float(down(lower + down((graph.nodes - 1) * each)))
    # For a bracket around 0, outward rounding adds the smallest positive double for each node.
    least = math.ulp(0.0)
    allowed = graph.nodes * (32.0 * UNIT * max(size, abs(upper)) + 16.0 * least)
    if upper - lower <= allowed < math.inf:
        return PlanCheck(True, lower, upper, "")
    reason = f"the path costs {upper:.17g}, but the potentials prove only {lower:.17g}"
    if worst < 0.0:
        reason += f"; {graph.arc_name(arc)} violates its inequality by {-worst:.3g}"
    return PlanCheck(False, lower, upper, reason)

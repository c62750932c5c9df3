"""What `relaxboost plan` prints, for people and for machines."""

from __future__ import annotations

import math
from typing import Any

from relaxboost.commands.plan_inputs import Compared, Source
from relaxboost.rounding import show_bracket

MOST = 20
"""Features that are printed."""


def fit_text(fit: Any, source: Source, tol: float) -> str:
    """Return the weights and the bracket of a `Fit`, in lines."""
    problem = fit.problem
    lower, upper = show_bracket(fit.lower, fit.upper)
    rounds = f"{fit.rounds} round{'s' if fit.rounds != 1 else ''}"
    lines = [
        f"data:       {source}, {_tasks(len(problem.tasks))}",
        f"problem:    {problem.regulariser!r}, loss {problem.tasks[0].loss!r}",
        f"bracket:    {lower} <= min Omega + R <= {upper}",
        f"method:     {fit.method}, {rounds}, {fit.seconds:.2g} s",
        _status(fit, tol),
    ]
    if not fit.exact:
        lines.append("            R is a convex bound above the loss, as costs less loss are < 0")
    elif not fit.problem.tight:
        lines.append("            R is a convex bound above the loss, equal to it at these weights")
    order = sorted(range(len(fit.names)), key=lambda j: -abs(fit.w[j]))
    lines.append("weights:")
    lines += [f"  {fit.w[j]:<12.6g} {fit.names[j]}" for j in order[:MOST]]
    if len(order) > MOST:
        lines.append(f"  and {len(order) - MOST} more, none larger; --json has them all")
    return "\n".join(lines)


def fit_data(fit: Any, source: Source, tol: float) -> dict[str, Any]:
    """Return a `Fit` for machines."""
    return {
        "data": source.name,
        "nodes": source.graph.nodes,
        "arcs": source.graph.arcs,
        "tasks": len(fit.problem.tasks),
        "regulariser": repr(fit.problem.regulariser),
        "loss": repr(fit.problem.tasks[0].loss),
        "status": fit.status,
        "method": fit.method,
        "rounds": fit.rounds,
        "seconds": fit.seconds,
        "tol": tol,
        "exact": bool(fit.exact),
        "lower": float(fit.lower),
        "upper": _number(fit.upper),
        "weights": dict(zip(fit.names, fit.w.tolist(), strict=True)),
    }


def report_text(report: Any, source: Source) -> str:
    """Return a `Report` in lines."""
    exact = int(report.each.exact.sum())
    lines = [f"data:       {source}, {_tasks(len(report.tasks))}"]
    lines.append(f"{'plans that are the demonstration':<44}{exact} of {len(report.tasks)}")
    names = {
        "optimal_match": "demonstrations that are shortest, with ties",
        "arc_recall": "arcs of demonstrations that plans take",
        "arc_precision": "arcs of plans that demonstrations take",
        "cost_ratio": "cost of demonstrations over that of plans",
        "margin_loss": "margin loss, mean",
    }
    for name, words in names.items():
        value = report.metric(name)
        rate = name not in ("cost_ratio", "margin_loss")
        shown = "-" if math.isnan(value) else f"{value:.1%}" if rate else f"{value:.6g}"
        lines.append(f"{words:<44}{shown}")
    return "\n".join(lines)


def report_data(report: Any, source: Source) -> dict[str, Any]:
    """Return a `Report` for machines."""
    each = [
        {"name": task.name, "exact": bool(exact), "margin_loss": float(loss)}
        for task, exact, loss in zip(
            report.tasks, report.each.exact, report.each.margin, strict=True
        )
    ]
    metrics = {name: _number(value) for name, value in report.metrics().items()}
    return {"data": source.name, "tasks": len(report.tasks), "metrics": metrics, "each": each}


def scenario_text(rows: list[Compared], source: Source, checked: bool) -> str:
    """Return how planned lengths compare with those of a .scen file, in lines."""
    same = sum(row.same for row in rows)
    what = "lengths confirmed" if checked else "plans of the shortest length"
    ratio = sum(row.planned for row in rows) / max(sum(row.said for row in rows), 1e-300)
    lines = [
        f"data:       {source}, {len(rows)} problem{'s' if len(rows) != 1 else ''}",
        f"{what:<44}{same} of {len(rows)}",
    ]
    if not checked:
        lines.append(f"{'length of plans over the shortest':<44}{ratio:.6g}")
        return "\n".join(lines)
    for row in [row for row in rows if not row.same][:MOST]:
        lines.append(
            f"  problem {row.number}, {row.source} to {row.target}: the file says {row.said:.8g}, "
            f"the shortest path has {row.planned:.8g}"
        )
    return "\n".join(lines)


def scenario_data(rows: list[Compared], source: Source, checked: bool) -> dict[str, Any]:
    """Return the same for machines."""
    return {
        "data": source.name,
        "problems": len(rows),
        "checked": checked,
        "same": sum(row.same for row in rows),
        "each": [row._asdict() for row in rows],
    }


def _status(fit: Any, tol: float) -> str:
    reached = f"a relative gap of {_relative(fit):.2g}; {tol:g} was asked for"
    why = {
        "optimal": "optimal",
        "max_rounds": "the most rounds were done",
        "time_limit": "the time was up",
        "stalled": "rounding kept it from going on",
    }.get(fit.status, fit.status)
    return f"status:     {why}: {reached}"


def _relative(fit: Any) -> float:
    return fit.gap / fit.upper if fit.upper > 0.0 else 0.0


def _tasks(count: int) -> str:
    return f"{count} task{'s' if count != 1 else ''}"


def _number(value: float) -> float | None:
    return float(value) if math.isfinite(value) else None

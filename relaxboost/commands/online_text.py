"""The output of `relaxboost online`, as data for --json and as text."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from relaxboost._core.digits import finite
from relaxboost._core.errors import number_of
from relaxboost.commands.online_options import WITH_RADIUS
from relaxboost.commands.style import DOMAINS, largest

NEARLY_FULL_SHARE = 0.9
"""The share of the radius above which the norm of the average weights causes a note. The radius
then probably limits the predictions, and the note recommends a larger one."""


def run_data(found: Any, stream: Any) -> dict[str, Any]:
    """Return the result of `relaxboost online run` as data for --json."""
    from relaxboost.online.hedged import HedgedLearner

    rows, loss, mistakes, bound, seconds = found.last
    learner = found.learner
    average = learner.average
    over = learner.method.over
    norm = float(over.radius)
    method = repr(learner.method).replace(", targets=inf", "")
    # No ball limits these weights, so the bound is for weights as long as the average. The set of
    # this method is for comparisons, and does not change the learner.
    if isinstance(learner, HedgedLearner):
        norm = float(np.linalg.norm(average))
        bound = learner.regret_bound(average)
        method = method.replace(f", over={over!r}", "")
    names = stream.base.names(stream.columns)
    return {
        "data": stream.name,
        "base": stream.base.name,
        "base_functions": learner.size,
        "method": method,
        "status": found.status,
        "rows": rows,
        "mean_loss": loss / rows,
        "mistakes": mistakes,
        "error": None if mistakes is None else mistakes / rows,
        "regret_bound": finite(bound),
        "regret_over": next(name for name, kind in DOMAINS.items() if kind == type(over).__name__),
        "regret_norm": norm,
        "filled": learner.filled,
        "seconds": seconds,
        "weights": dict(zip(names, average.tolist(), strict=True)),
        "current_weights": dict(zip(names, learner.w.tolist(), strict=True)),
    }


def run_text(
    found: Any, stream: Any, content: dict[str, Any], label_of: Callable[[int], Any]
) -> str:
    """Return the result of `relaxboost online run` as text."""
    from relaxboost.online.streams.bases import INTERCEPT
    from relaxboost.online.streams.words import AND_OTHERS, HASH_BUCKETS

    rows, _, mistakes, _, seconds = found.last
    size, mean = content["base_functions"], content["mean_loss"]
    wrong = "" if mistakes is None else f", {mistakes / rows:.2%} wrong"
    lines = [
        f"data:       {stream.name}, {number_of(rows, 'example')}, {size} base functions "
        f"({stream.base.name})",
        f"learner:    {content['method']}",
        f"loss:       {mean:.6g} on average{wrong}, each predicted before it was learned",
        f"regret:     {_regret(found, content)}",
        f"status:     {found.status}, {seconds:.2g} s",
    ]
    # The weights of columns stay 0 if no column varies.
    if not any(weight for name, weight in content["weights"].items() if name != INTERCEPT):
        lines.append(
            "note:       nothing was learned from columns; choose columns that vary, or another "
            "--base"
        )
    shared = sum(name.endswith(AND_OTHERS) for name in content["weights"])
    if shared:
        lines.append(
            f"note:       {shared} of the {HASH_BUCKETS} columns for words stand for several words "
            f"each; their names end with {AND_OTHERS.strip()!r}"
        )
    if found.positives in (0, rows):
        label = label_of(1 if found.positives else -1)
        lines.append(f"note:       all labels are {label!r}; add examples of the other class")
    if content["filled"] > NEARLY_FULL_SHARE:
        lines.append(
            f"note:       the average weights fill {content['filled']:.0%} of the ball; a larger "
            "--radius, or --radius auto, may give smaller losses"
        )
    lines += ["weights (the column now predicts the next example):", f"  {'now':<12} average"]
    return "\n".join(lines + largest(content["current_weights"], content["weights"]))


def _regret(found: Any, content: dict[str, Any]) -> str:
    method = found.learner.method
    bound = content["regret_bound"]
    if bound is None:
        return (
            "this method has no bound with such steps; --horizon, the number of examples, gives "
            "steps with a bound"
        )
    least = content["mean_loss"] - bound / content["rows"]
    # A lower bound of at most 0 on the mean loss says nothing, except for the costs of experts,
    # which may be negative.
    if method.loss.task and least <= 0.0:
        return f"at most {bound:.6g}"
    over = f"in the set --over {content['regret_over']} --radius {content['regret_norm']:g}"
    if content["method"].startswith("HedgedDescent("):
        over = f"of a norm up to {content['regret_norm']:.3g}"
    return f"at most {bound:.6g}: no fixed weights {over} have a mean loss below {least:.6g}"


def resume_text(given: Mapping[str, Any], found: re.Match[str]) -> str:
    """Return the error message for a saved learner with other options, in terms of the command
    line."""
    text = re.sub(
        r"base functions '(\w+)([^']*)', and this run has '(\w+)([^']*)'", _base, found[0]
    )
    text = re.sub(r"\d+ base functions, and .*?(?=;)", r"\g<0>, because of --base or --cuts", text)
    text = re.sub(r"(\w+)=([\w.]+)(?:\((?:\w+=([^()]*))?\))?(?=[,;])", _option, text)
    # If --method is not given, the other options choose a method.
    needs = [name for name in WITH_RADIUS if given.get(name) is not None]
    if given.get("method") is None and needs:
        text = re.sub("(?<=has )--method .*?(?=;)", rf"\g<0>, because of --{needs[0]}", text)
    return text.replace("this method has", "this run has")


def _base(found: re.Match[str]) -> str:
    kept, with_kept, here, with_here = found.groups()
    if kept != here:
        return f"--base {kept}, and this run has --base {here}"
    was, now = ("an intercept" if one else "--no-intercept" for one in (with_kept, with_here))
    return f"{was}, and this run has {now}"


def _option(found: re.Match[str]) -> str:
    # The message contains the parameter of the method as name=Kind(value).
    name, kind, value = found.groups()
    sets = {kind: name for name, kind in DOMAINS.items()}
    if kind in sets:
        return f"--over {sets[kind]} --radius {value or 1}"
    if kind == "Horizon":
        return f"--horizon {value}"
    # The name of the class is that of the option in other letters: SquaredL2 is squared-l2.
    return f"--{name} {re.sub('(?<!^)(?=[A-Z])', '-', kind).lower()}"

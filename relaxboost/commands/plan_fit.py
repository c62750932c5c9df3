"""`relaxboost plan fit`: learn linear costs from demonstrated paths."""

from __future__ import annotations

import sys
from dataclasses import fields
from typing import Any

import click

from relaxboost._core.digits import finite
from relaxboost._core.errors import InputError
from relaxboost._core.rounding import show_bracket
from relaxboost.commands import plan_inputs as inputs
from relaxboost.commands.plan_inputs import PlanInput, PlanOptions
from relaxboost.planning.losses import LOSSES
from relaxboost.planning.oracle import NEGATIVE
from relaxboost.planning.regularisers import REGULARISERS

ZERO = 1e-9
"""A loss, in arcs, that is rounding: relative gaps say nothing below."""

_SPOKEN = {
    "give nonnegative=False": "give --free-signs",
    inputs.CYCLE: "give --negative simple, for paths that visit no node twice, or relaxed",
}

loss_options = inputs.added(
    click.option(
        "--loss",
        type=click.Choice(list(LOSSES)),
        default="missed",
        show_default=True,
        help="How far a path is from a trip: arcs of it missed, other arcs taken, both, how far "
        "away its nodes are (needs coordinates).",
    ),
    click.option("--reach", type=float, help="--loss distance: where it stops to grow."),
)
last_options = inputs.added(
    click.option("--time-limit", type=float, help="Stop after so many seconds."),
    click.option("--out", type=inputs.ModelPath(".json"), help="Write the costs to a .json file."),
)


@click.command(
    epilog=inputs.FILES
    + """
\b
Exit status: 0 the gap asked for was reached, 1 it was not (the bracket
printed holds all the same), 2 bad input, 130 interrupted before there was
anything to print.

\b
Examples:
  relaxboost plan fit --edges edges.csv --trips trips.csv --out costs.json
  relaxboost plan fit --edges edges.csv --trips trips.csv --regulariser lasso
  relaxboost plan fit --layers land.npz --trips walks.csv --loss hamming
"""
)
@inputs.plan_files
@click.option(
    "--regulariser",
    type=click.Choice(list(REGULARISERS)),
    default="ridge",
    show_default=True,
    help="What keeps weights small: squares, absolute values, or a bound on their sum.",
)
@click.option(
    "--strength",
    type=float,
    help="Of ridge and lasso, or the radius.  [default: of ridge chosen on folds of trips; 0.01 "
    "of lasso, and of ridge with --free-signs; 1 of radius]",
)
@loss_options
@click.option(
    "--negative",
    type=click.Choice(NEGATIVE),
    help="Where a cost less its loss is negative: an error if around a cycle; paths without "
    "cycles, slow; a convex bound. [default: relaxed; exact for missed and none]",
)
@click.option("--free-signs", is_flag=True, help="Allow weights below 0, and features.")
@click.option("--tol", type=float, default=1e-3, show_default=True, help="Relative gap to reach.")
@click.option("--max-rounds", type=click.IntRange(1), default=10_000, show_default=True)
@last_options
def fit(**given: Any) -> None:
    """Learn linear costs from demonstrated paths, by maximum-margin planning.

    Prints a weight for each feature, and a bracket of the least regularised loss.
    """
    from relaxboost import planning

    options = PlanOptions(**given)
    strength = [] if options.strength is None else [options.strength]
    regulariser = None  # `fit` chooses the strength
    if strength or options.regulariser != "ridge":
        regulariser = REGULARISERS[options.regulariser](*strength)
    loss = loss_of(options.loss, options.reach)
    source = options.read()
    shown = options.tasks(source, options.trips, loss)
    negative = options.negative
    if negative is None:
        negative = "exact" if options.loss in ("missed", "none") else "relaxed"
    signs = {"nonnegative": not options.free_signs, "negative": negative}
    limits = {name: given[name] for name in ("tol", "max_rounds", "time_limit")}
    with inputs.spoken(_words(options), options):
        problem = planning.Problem(shown, regulariser, **signs)
        found = planning.fit(problem, verbose=True, **limits)
    text = options.saved(found, fit_text(found, source, options.tol))
    options.show(text, fit_data(found, source, options.tol))
    if found.status != "optimal":
        sys.exit(1)


def loss_of(name: str, reach: float | None) -> Any:
    """Return the loss of paths that --loss and --reach say."""
    kind = LOSSES[name]
    if ("reach" in {field.name for field in fields(kind)}) != (reach is not None):  # type: ignore[arg-type]
        raise InputError("--reach belongs to --loss distance, which needs it")
    return kind(*([] if reach is None else [reach]))


def _words(options: PlanOptions) -> dict[str, str]:
    """Return what the library says in words of options, without remedies that were given."""
    strength = f"a {'larger' if options.regulariser == 'radius' else 'smaller'} --strength"
    if options.strength is not None:
        strength += f" than {options.strength:g}"
    signs = [] if options.free_signs else ["--free-signs"]
    remedies = ", ".join([strength, "other features", *signs])
    missed = "" if options.loss == "missed" else ", and --loss missed"
    return _SPOKEN | {
        r"give less strength .*": f"give {remedies} or relaxboost plan boost",
        r"give it more of them or more time": "give a larger --max-rounds or --time-limit",
        r", and a loss such as Missed\(\)": missed,
    }


def fit_text(fit: Any, source: PlanInput, tol: float) -> str:
    """Return the weights and the bracket of a `Fit`, in lines."""
    problem = fit.problem
    lower, upper = show_bracket(fit.lower, fit.upper)
    rounds = inputs.number_of(fit.rounds, "round")
    how, reached = "", "the loss is 0 up to rounding"
    if fit.upper > ZERO or fit.status != "optimal":
        gap = fit.gap / fit.upper if fit.upper > 0.0 else 0.0
        reached = f"a relative gap of {gap:.2g}; {tol:g} was asked for"
    if fit.chosen is not None:
        how = f", chosen on {fit.chosen.folds} folds" if fit.chosen.folds else ", for few trips"
    lines = [
        f"data:       {source}, {inputs.number_of(len(problem.tasks), 'trip')}",
        f"problem:    {problem.regulariser!r}{how}, loss {problem.tasks[0].loss!r}",
        f"bracket:    {lower} <= min Omega + R <= {upper}",
        f"method:     {fit.method}, {rounds}, {fit.seconds:.2g} s",
        f"status:     {fit.status}: {reached}",
    ]
    if not fit.exact:
        lines.append("            R is a convex bound above the loss, as costs less loss are < 0")
    elif not fit.problem.tight:
        lines.append("            R is a convex bound above the loss, equal to it at these weights")
    lines += ["weights:", *inputs.largest(fit.weights)]
    return "\n".join(lines)


def fit_data(fit: Any, source: PlanInput, tol: float) -> dict[str, Any]:
    """Return a `Fit` for machines."""
    return {
        **source.counts(fit.problem.tasks),
        "regulariser": repr(fit.problem.regulariser),
        "folds": 0 if fit.chosen is None else fit.chosen.folds,
        "loss": repr(fit.problem.tasks[0].loss),
        **{name: getattr(fit, name) for name in ("status", "method", "rounds", "seconds")},
        "tol": tol,
        "exact": bool(fit.exact),
        "lower": float(fit.lower),
        "upper": finite(fit.upper),
        "weights": fit.weights,
    }

"""The command `relaxboost plan fit`, which learns linear costs from demonstrated paths."""

from __future__ import annotations

import sys
from dataclasses import fields, replace
from typing import Any

import click

from relaxboost._core.digits import finite
from relaxboost._core.errors import InputError, number_of
from relaxboost._core.rounding import show_bracket
from relaxboost.commands import plan_inputs as inputs
from relaxboost.commands.plan_inputs import PlanInput, PlanOptions
from relaxboost.commands.style import Verb, added, largest, time_limit_option
from relaxboost.commands.words import spoken
from relaxboost.planning.losses import LOSSES
from relaxboost.planning.oracle import NEGATIVE
from relaxboost.planning.regularisers import REGULARISERS

NEGLIGIBLE_SHARE = 1e-6
"""A weight is printed as 0 if its contribution to the arc costs is below this share of the largest
contribution. The optimal weight is then probably 0, and the solver's weight differs from 0 only
because the solver is inexact."""

_SPOKEN = {
    "give nonnegative=False": "add --free-signs",
    inputs.PLACES: "pass --nodes",
    r'pass negative="relaxed".*PlanningLoss': "use --negative simple, for paths that visit no node "
    "twice, or relaxed",
}

_UNCHOSEN = {
    "": ", for few trips",
    "time_limit": ", because the time limit ended its choice",
    "interrupted": ", because Ctrl-C ended its choice",
}

loss_options = added(
    click.option(
        "--loss",
        type=click.Choice(list(LOSSES)),
        default="missed",
        show_default=True,
        help="The distance from a path to a trip: arcs of the trip missed, other arcs taken, both, "
        "or the distance between their nodes (needs coordinates).",
    ),
    click.option(
        "--reach", type=float, help="--loss distance: the distance at which an arc counts fully."
    ),
)
last_options = added(
    time_limit_option,
    click.option(
        "--out",
        type=inputs.ModelPath(".json"),
        help="Write the costs to a .json file. An existing file is overwritten.",
    ),
)


@click.command(
    cls=Verb,
    short_help="Learn linear costs by maximum-margin planning.",
    epilog=inputs.FILES
    + """
\b
Exit status: 0 the gap of --tol was reached, 1 it was not (the printed bounds
are still valid), 2 bad input, 130 interrupted before there was anything to
print.

\b
Examples:
  relaxboost plan fit --edges edges.csv --trips trips.csv --out costs.json
  relaxboost plan fit --edges edges.csv --trips trips.csv --regulariser lasso
  relaxboost plan fit --edges edges.csv --trips trips.csv --loss hamming
""",
)
@inputs.plan_files(inputs.FEATURES_TO_LEARN)
# These options describe the problem: the regulariser, the loss, and the sign of costs.
@click.option(
    "--regulariser",
    type=click.Choice(list(REGULARISERS)),
    default="ridge",
    show_default=True,
    help="The penalty on weights: squares, absolute values, or a bound on their sum.",
)
@click.option(
    "--strength",
    type=float,
    help="The strength of ridge and lasso, or the radius.  [default: for ridge, chosen by "
    "cross-validation over trips; 0.01 for lasso, and for ridge with --free-signs; 1 for radius]",
)
@loss_options
@click.option(
    "--negative",
    type=click.Choice(NEGATIVE),
    help="If a cost minus its loss is negative: exact rejects negative cycles; simple uses paths "
    "without cycles, which is slow; relaxed uses a convex upper bound. [default: relaxed; exact "
    "for missed and none]",
)
@click.option("--free-signs", is_flag=True, help="Allow weights and features below 0.")
# These options control the run: the requested gap, and the limits.
@click.option("--tol", type=float, default=1e-3, show_default=True, help="Relative gap to reach.")
@click.option(
    "--max-rounds",
    type=click.IntRange(1),
    default=10_000,
    show_default=True,
    help="Stop after this number of rounds.",
)
@last_options
def fit(**given: Any) -> None:
    """Learn linear costs from demonstrated paths, by maximum-margin planning.

    Prints a weight for each feature, and lower and upper bounds on the least regularised loss.
    """
    from relaxboost import planning

    options = PlanOptions(**given)
    strength = [] if options.strength is None else [options.strength]
    regulariser = None
    # `planning.fit` chooses the strength of a ridge penalty if there is no regulariser.
    if strength or options.regulariser != "ridge":
        with spoken({"^radius must": "--strength must"}):
            regulariser = REGULARISERS[options.regulariser](*strength)
    loss = loss_of(options.loss, options.reach)
    source = options.read()
    shown = options.tasks(source, options.trips, loss)
    # Costs minus these two losses are never negative, so that plans are exact and fast.
    negative = options.negative
    if negative is None:
        negative = "exact" if options.loss in ("missed", "none") else "relaxed"
    signs = {"nonnegative": not options.free_signs, "negative": negative}
    limits = {name: given[name] for name in ("tol", "max_rounds", "time_limit")}
    with spoken(_words(options), options.note):
        problem = planning.Problem(shown, regulariser, **signs)
        found = planning.fit(problem, verbose=True, **limits)
    text = options.saved(found, fit_text(found, source, options.tol))
    options.show(text, fit_data(found, source, options.tol))
    if found.status != "optimal":
        sys.exit(1)


def loss_of(name: str, reach: float | None) -> Any:
    """Return the path loss for the options --loss and --reach."""
    kind = LOSSES[name]
    needs = "reach" in {field.name for field in fields(kind)}  # type: ignore[arg-type]
    if needs and reach is None:
        raise InputError(
            "--loss distance needs --reach, the distance in the units of --nodes; an arc that is "
            "at least this far from the trip has the full loss 1"
        )
    if reach is not None and not needs:
        raise InputError(
            f"--reach applies only to --loss distance, not to {name}; leave --reach out"
        )
    return kind(*([] if reach is None else [reach]))


def _words(options: PlanOptions) -> dict[str, str]:
    # The message leaves out advice that the user has already followed. A larger radius allows
    # larger weights, and a larger penalty makes weights smaller.
    strength = f"a {'larger' if options.regulariser == 'radius' else 'smaller'} --strength"
    if options.strength is not None:
        strength += f" than {options.strength:g}"
    signs = [] if options.free_signs else ["--free-signs"]
    remedies = ", ".join([strength, "other features", *signs])
    missed = "" if options.loss == "missed" else ", and --loss missed"
    return _SPOKEN | {
        r"give a strength, such as .*": "pass --strength",
        r"give less strength .*": f"try {remedies} or relaxboost plan boost",
        r"allow more rounds or more time": "pass a larger --max-rounds or --time-limit",
        r", and a loss such as Missed\(\)": missed,
    }


def fit_text(fit: Any, source: PlanInput, tol: float) -> str:
    """Return the result of `relaxboost plan fit` as text."""
    problem = fit.problem
    # The bounds are rounded outwards, so that the printed bounds are valid.
    lower, upper = show_bracket(fit.lower, fit.upper)
    rounds = number_of(fit.rounds, "round")
    how = ""
    reached = "the loss is 0 up to rounding"
    # The gap of an optimal fit exceeds the tolerance only if it is a rounding error.
    if fit.gap <= tol * fit.upper or fit.status != "optimal":
        gap = fit.gap / fit.upper if fit.upper > 0.0 else 0.0
        reached = f"a relative gap of {gap:.2g}; --tol is {tol:g}"
    regulariser = problem.regulariser
    if fit.chosen is not None:
        regulariser = replace(regulariser, strength=float(f"{regulariser.strength:.3g}"))
        how = _how_chosen(fit.chosen)
    lines = [
        f"data:       {source}, {number_of(len(problem.tasks), 'trip')}",
        f"problem:    {regulariser!r}{how}, loss {problem.tasks[0].loss!r}",
        f"bracket:    {lower} <= min Omega + R <= {upper}",
        f"method:     {fit.method}, {rounds}, {fit.seconds:.2g} s",
        f"status:     {fit.status}: {reached}",
    ]
    if not fit.exact:
        lines.append(
            "            R is a convex upper bound on the loss: some costs minus losses are < 0"
        )
    elif not fit.problem.tight:
        lines.append(
            "            R is a convex upper bound on the loss, equal to it at these weights"
        )
    # The root mean square (RMS) of a feature makes the order independent of units.
    sizes = dict(zip(fit.names, abs(problem.rms * fit.w), strict=True))
    least = NEGLIGIBLE_SHARE * max(sizes.values())
    weights = {name: w if sizes[name] > least else 0.0 for name, w in fit.weights.items()}
    lines += [
        "weights, by weight times RMS of the feature:",
        *largest(weights, sizes=sizes),
    ]
    return "\n".join(lines)


def _how_chosen(chosen: Any) -> str:
    if not chosen.folds:
        return _UNCHOSEN[chosen.ended]
    tried = f", of {number_of(len(chosen.strengths), 'strength')} tried" if chosen.ended else ""
    return f", chosen on {chosen.folds} folds{tried}"


def fit_data(fit: Any, source: PlanInput, tol: float) -> dict[str, Any]:
    """Return the result of `relaxboost plan fit` as data for --json."""
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

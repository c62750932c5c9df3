"""`relaxboost plan boost`: learn costs that are a sum of stumps or trees of the features."""

from __future__ import annotations

import sys
from typing import Any

import click

from relaxboost._core.digits import finite
from relaxboost._core.errors import InputError, number_of
from relaxboost._core.progress import bar
from relaxboost.commands import plan_inputs as inputs
from relaxboost.commands.plan_fit import last_options, loss_of, loss_options
from relaxboost.commands.plan_inputs import PlanInput, PlanOptions
from relaxboost.commands.style import largest
from relaxboost.commands.words import spoken

_SPOKEN = {r"take a number$": "leave out --base"}


@click.command(
    epilog=inputs.FILES
    + """
\b
Exit status: 0 done, 1 ended by --time-limit or Ctrl-C (what was learned until
then is printed and written), 2 bad input.

\b
Examples:
  relaxboost plan boost --edges edges.csv --trips trips.csv --out costs.json
  relaxboost plan boost --edges edges.csv --trips trips.csv --learner trees
  relaxboost plan boost --edges edges.csv --trips trips.csv --rounds 9 --json
"""
)
@inputs.plan_files
# The learner, and the number of its rounds.
@click.option(
    "--learner",
    type=click.Choice(["stumps", "trees"]),
    default="stumps",
    show_default=True,
    help="The summands: stumps, with one split, or trees of --depth splits in a row.",
)
@click.option("--depth", type=click.IntRange(1), help="The depth of trees.  [default: 3]")
@click.option("--rounds", type=click.IntRange(1), default=100, show_default=True)
# The costs that are learned, and the costs to start from.
@click.option(
    "--link",
    type=click.Choice(["exponential", "additive"]),
    default="exponential",
    show_default=True,
    help="Whether the logarithm of costs is learned, which keeps them positive, or costs.",
)
@click.option("--base", type=inputs.FileType, help="Start from the costs of `plan fit --out`.")
# The choice of the round by other trips.
@click.option("--held-out", type=inputs.FileType, help="Trips that choose the best round.")
@click.option("--patience", type=click.IntRange(1), help="--held-out: rounds without a gain.")
@loss_options
@click.option(
    "--seed", type=click.IntRange(0), default=0, show_default=True, help="The seed of the trees."
)
@last_options
def boost(**given: Any) -> None:
    """Learn costs from trips, as a sum of stumps or trees of the features.

    For costs that are no weighted sum of features; there is no bracket then.
    Prints how far the loss fell, and by which features.
    """
    from relaxboost import planning

    options = PlanOptions(**given)
    learner = _learner(options)
    loss = loss_of(options.loss, options.reach)
    base: Any = 1.0 if options.base is None else planning.load_model(options.base)
    # Files are read after the options are checked, because large files take long.
    source = options.read()
    shown = options.tasks(source, options.trips, loss)
    # The same loss as in training, so that both curves can be compared.
    held = options.held_out and options.tasks(source, options.held_out, loss)
    found = _boosted(options, shown, held, learner, planning.PlanningLoss(options.link, base))
    ended = found.status in ("time_limit", "interrupted")
    if found.value == found.history[0].value:
        options.note(_nothing_learned(options, found, ended))
    data = _data(found, source, shown)
    options.show(options.saved(found, _text(found, source, data)), data)
    if ended:
        sys.exit(1)


def _learner(options: PlanOptions) -> Any:
    """Return the weak learner of --learner and --depth, after a check of options that need it."""
    from relaxboost.functional import RegressionStumps, Trees

    if options.patience is not None and options.held_out is None:
        raise InputError("--patience needs --held-out, the trips whose loss is watched")
    if options.learner == "trees":
        return Trees(max_depth=options.depth or 3)
    if options.depth is not None:
        raise InputError("--depth belongs to --learner trees")
    return RegressionStumps()


def _boosted(options: PlanOptions, shown: Any, held: Any, learner: Any, kind: Any) -> Any:
    """Return the boosted costs, and show a progress bar on a terminal."""
    from relaxboost import planning
    from relaxboost.functional import Stopping

    rounds = options.rounds
    with spoken(_SPOKEN, options.note), bar("learning") as progress:
        stopping = Stopping(
            rounds,
            time_limit=options.time_limit,
            callback=lambda state: progress(state.round, rounds, f"loss {state.value:.4g}"),
            patience=options.patience,
            validation=held,
        )
        return planning.boost(shown, learner, kind, stopping=stopping, seed=options.seed)


def _nothing_learned(options: PlanOptions, found: Any, ended: bool) -> str:
    """Return why no round lowered the loss, and what the user can do."""
    # The loss of the start is 0 if the demonstrations win by their margins already.
    if found.value == 0.0:
        return "nothing to learn: at these costs each trip is the best by its loss already"
    if ended:
        rounds = number_of(found.boosted.rounds, "round")
        return f"nothing was learned in {rounds}; give it more time, or fewer trips"
    other = "--learner stumps, which needs fewer arcs, or " * (options.learner == "trees")
    return f"nothing was learned: no round lowered the loss; give {other}other features"


def _text(found: Any, source: PlanInput, data: dict[str, Any]) -> str:
    """Return the loss and the importance of features, in lines."""
    rounds = number_of(data["rounds"], "round")
    lines = [
        f"data:       {source}, {number_of(data['trips'], 'trip')}",
        f"problem:    {data['link']} link, {data['learner']}",
        f"loss:       {found.history[0].value:.6g} -> {found.value:.6g}, round {data['chosen']}",
        f"status:     {found.status}: {rounds}, {found.boosted.seconds:.2g} s",
        "importance of features:",
    ]
    if found.inexact:
        lines.insert(3, f"            a bound above the loss for {found.inexact} of the trips")
    return "\n".join(lines + largest(data["importances"]))


def _data(found: Any, source: PlanInput, tasks: list[Any]) -> dict[str, Any]:
    """Return boosted costs for machines."""
    boosted = found.boosted
    shares = boosted.importances(len(found.names)).tolist()
    return {
        **source.counts(tasks),
        "link": found.loss.link,
        "learner": repr(boosted.learner),
        "status": found.status,
        **{name: getattr(boosted, name) for name in ("rounds", "chosen", "seconds")},
        "inexact": found.inexact,
        "losses": [record.value for record in found.history],
        "held_out": [finite(record.validation) for record in found.history],
        "importances": dict(zip(found.names, shares, strict=True)),
    }

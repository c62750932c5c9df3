"""`relaxboost plan boost`: learn costs that are a sum of stumps or trees of the features."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click

from relaxboost._core.errors import InputError
from relaxboost._core.files import check_output
from relaxboost._core.progress import bar
from relaxboost.commands import plan_inputs as inputs
from relaxboost.commands.plan_fit import last_options, loss_of, loss_options
from relaxboost.commands.plan_inputs import Output, PlanFiles, PlanInput

_SPOKEN = {r"take a number$": "leave out --base"}


@click.command(
    epilog=inputs.FILES
    + """
\b
Exit status: 0 done, 1 ended by --time-limit or Ctrl-C (what was learned till
then is printed and written), 2 bad input.

\b
Examples:
  relaxboost plan boost --edges edges.csv --trips trips.csv --rounds 20
  relaxboost plan boost --edges edges.csv --trips trips.csv --learner trees
  relaxboost plan boost --layers land.npz --trips walks.csv --rounds 9 --json
"""
)
@inputs.plan_files
@click.option(
    "--learner",
    type=click.Choice(["stumps", "trees"]),
    default="stumps",
    show_default=True,
    help="What is summed up: one split each, or --depth of them in a row.",
)
@click.option("--depth", type=click.IntRange(1), help="Of trees.  [default: 3]")
@click.option("--rounds", type=click.IntRange(1), default=100, show_default=True)
@click.option(
    "--link",
    type=click.Choice(["exponential", "additive"]),
    default="exponential",
    show_default=True,
    help="Whether the logarithm of costs is learned, which keeps them positive, or costs.",
)
@click.option("--base", type=inputs.PathType, help="Begin at the costs of `plan fit --out`.")
@click.option("--held-out", type=inputs.PathType, help="Trips to choose the round by.")
@click.option("--patience", type=click.IntRange(1), help="--held-out: rounds without a gain.")
@loss_options
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True, help="Of the trees.")
@last_options
def boost(files: PlanFiles, out: Path | None, output: Output, **given: Any) -> None:
    """Learn costs from trips, as a sum of stumps or trees of the features.

    For costs that are no weighted sum of features; there is no bracket then.
    Prints how far the loss fell, and by which features.
    """
    from relaxboost import planning
    from relaxboost.functional import RegressionStumps, Stopping, Trees

    if out is not None:
        check_output(out, (".json",))
    if given["depth"] is not None and given["learner"] != "trees":
        raise InputError("--depth belongs to --learner trees")
    if given["patience"] is not None and given["held_out"] is None:
        raise InputError("--patience needs --held-out, the trips whose loss is watched")
    loss, rounds = loss_of(given["loss"], given["reach"]), given["rounds"]
    base: Any = 1.0 if given["base"] is None else planning.load_model(given["base"])
    source = files.read()
    shown = files.tasks(source, loss, output)
    held = given["held_out"] and files.tasks(source, loss, output, given["held_out"])
    stumps = given["learner"] == "stumps"
    learner: Any = RegressionStumps() if stumps else Trees(max_depth=given["depth"] or 3)
    with inputs.spoken(_SPOKEN, output), bar("learning", not output.quiet) as progress:
        stopping = Stopping(
            rounds,
            time_limit=given["time_limit"],
            callback=lambda state: progress(state.round, rounds, f"loss {state.value:.4g}"),
            patience=given["patience"],
            validation=held,
        )
        kind = planning.PlanningLoss(given["link"], base)
        found: Any = planning.boost(shown, learner, kind, stopping=stopping, seed=given["seed"])
        if out is not None:
            planning.save_model(found, out)
    if found.history[0].value == 0.0:
        output.note("nothing to learn: at these costs each trip is the best by its loss already")
    elif found.value == found.history[0].value:
        other = "" if stumps else "--learner stumps, which needs fewer arcs, or "
        output.note(f"nothing was learned: no round lowered the loss; give {other}other features")
    data = _data(found, source, len(shown))
    output.show(_text(found, source, data, out), data)
    if found.status in ("time_limit", "interrupted"):
        sys.exit(1)


def _text(found: Any, source: PlanInput, data: dict[str, Any], out: Path | None) -> str:
    """Return what was boosted, in lines."""
    rounds = inputs.number_of(data["rounds"], "round")
    lines = [
        f"data:       {source}, {inputs.number_of(data['trips'], 'trip')}",
        f"problem:    {data['link']} link, {data['learner']}",
        f"loss:       {found.history[0].value:.6g} -> {found.value:.6g}, round {data['chosen']}",
        f"status:     {found.status}: {rounds}, {found.boosted.seconds:.2g} s",
        "importance of features:",
    ]
    if found.inexact:
        lines.insert(3, f"            a bound above the loss for {found.inexact} of the trips")
    lines += inputs.largest(data["importances"])
    return "\n".join(lines + ([] if out is None else [f"written:    {out}"]))


def _data(found: Any, source: PlanInput, trips: int) -> dict[str, Any]:
    """Return what was boosted, for machines."""
    boosted = found.boosted
    shares = boosted.importances(len(found.names)).tolist()
    return {
        "data": source.name,
        "nodes": source.graph.nodes,
        "arcs": source.graph.arcs,
        "trips": trips,
        "link": found.loss.link,
        "learner": repr(boosted.learner),
        "status": found.status,
        "rounds": boosted.rounds,
        "chosen": boosted.chosen,
        "seconds": boosted.seconds,
        "inexact": found.inexact,
        "losses": [record.value for record in found.history],
        "held_out": [inputs.finite(record.validation) for record in found.history],
        "importances": dict(zip(found.names, shares, strict=True)),
    }

"""The command `relaxboost plan boost`, which learns costs as a sum of stumps or trees."""

from __future__ import annotations

import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

import click

from relaxboost._core.digits import finite
from relaxboost._core.errors import InputError, number_of
from relaxboost._core.progress import bar
from relaxboost.commands import plan_inputs as inputs
from relaxboost.commands.plan_fit import last_options, loss_of, loss_options
from relaxboost.commands.plan_inputs import PlanInput, PlanOptions
from relaxboost.commands.style import InputFile, Verb, largest
from relaxboost.commands.words import spoken

_SPOKEN = {
    inputs.PLACES: "pass --nodes",
    r'PlanningLoss\("additive"\)': "--link additive",
    r"take a number$": "pass --base 1",
    r"to continue boosting give .*": "pass a file of `plan fit --out`, or a number",
    inputs.LACKS: "name the features of the costs in --features, or leave --features out",
    r"those given by base=": "those given by --base",
    r"another learner, or stopping=": "another --learner, or --rounds ",
}


class Base(InputFile):
    """The type of an option that is a number or a file of learned costs."""

    name = "file or number"

    def convert(self, value: Any, param: Any, ctx: Any) -> Any:
        """Return the value as a number if possible, and otherwise as a path."""
        with suppress(ValueError):
            return float(value)
        return super().convert(value, param, ctx)


@click.command(
    cls=Verb,
    short_help="Learn costs that depend on features through stumps or trees.",
    epilog=inputs.FILES
    + """
\b
Exit status: 0 done, 1 ended by --time-limit or Ctrl-C (what was learned until
then is printed and written: the linear costs, if folds were still choosing
the number of rounds), 2 bad input, 130 interrupted before there were costs.

\b
Examples:
  relaxboost plan boost --edges edges.csv --trips trips.csv --out costs.json
  relaxboost plan boost --edges edges.csv --trips trips.csv --learner trees
  relaxboost plan boost --edges edges.csv --trips trips.csv --rounds 9 --json
""",
)
@inputs.plan_files(inputs.FEATURES_TO_LEARN)
# These options describe the weak learner, and the number of rounds.
@click.option(
    "--learner",
    type=click.Choice(["stumps", "trees"]),
    default="stumps",
    show_default=True,
    help="The terms of the sum: stumps with one split, or trees with up to --depth splits between "
    "root and leaf. Trees need LightGBM.",
)
@click.option("--depth", type=click.IntRange(1), help="The depth of trees.  [default: 3]")
@click.option(
    "--rounds",
    type=click.IntRange(1),
    help="The number of rounds.  [default: at most 100, chosen by cross-validation over trips, or "
    "100 with --held-out]",
)
# These options describe the learned costs, and the costs from which boosting starts.
@click.option(
    "--link",
    type=click.Choice(["exponential", "additive"]),
    default="exponential",
    show_default=True,
    help="Learn factors, which keep the costs positive (exponential), or summands (additive).",
)
@click.option(
    "--base",
    type=Base(),
    help="Start from the costs in a file of `plan fit --out`, or from a constant.  [default: "
    "linear costs that fit the trips]",
)
# These options describe the choice of the number of rounds by other trips.
@click.option("--held-out", type=inputs.FileType, help="Trips whose loss selects the best round.")
@click.option(
    "--patience",
    type=click.IntRange(1),
    help="--held-out: stop after this many rounds without improvement.",
)
@loss_options
@click.option(
    "--seed", type=click.IntRange(0), default=0, show_default=True, help="The seed of the trees."
)
@last_options
def boost(**given: Any) -> None:
    """Learn costs that depend on features through a sum F of stumps or trees.

    Use this command if costs are not a weighted sum of features. It proves no bounds. Boosting
    starts from the linear costs of `plan fit`, and by default multiplies them by exp(F).
    Cross-validation over trips chooses the number of rounds, which is 0 if the linear costs are
    better. Prints the decrease of the loss, and the importance of each feature.
    """
    from relaxboost import planning

    options = PlanOptions(**given)
    learner = _learner(options)
    loss = loss_of(options.loss, options.reach)
    base: Any = options.base
    if isinstance(base, Path):
        base = planning.load_model(base)
    # Files are read after the options are checked, because large files take long.
    source = options.read()
    shown = options.tasks(source, options.trips, loss)
    # The loss is that of training, so that both curves can be compared.
    held = options.held_out and options.tasks(source, options.held_out, loss)
    with spoken(_SPOKEN):
        kind = planning.PlanningLoss(options.link, base)
    found = _boosted(options, shown, held, learner, kind)
    ended = found.status in ("time_limit", "interrupted")
    # If no option requested constant costs, a run that returns constant costs has failed.
    is_brief = found.begun is not None and bool(found.begun.ended) and found.begun.base == 1.0
    is_nothing = is_brief and found.boosted.chosen == 0
    _note(options, found, is_nothing, ended)
    data = _data(found, source, shown)
    text = _text(found, source, data)
    options.show(text if is_nothing else options.saved(found, text), data)
    if ended:
        sys.exit(1)


def _learner(options: PlanOptions) -> Any:
    from relaxboost.functional import RegressionStumps, Trees

    if options.patience is not None and options.held_out is None:
        raise InputError(
            "--patience needs --held-out, a file of trips whose loss decides when to stop"
        )
    if options.learner == "trees":
        return Trees(max_depth=options.depth or 3)
    if options.depth is not None:
        raise InputError("--depth applies only to --learner trees; leave --depth out")
    return RegressionStumps()


def _boosted(options: PlanOptions, shown: Any, held: Any, learner: Any, kind: Any) -> Any:
    from relaxboost import planning
    from relaxboost.functional import Stopping

    rounds = options.rounds or 100
    folds = "folds" if options.rounds is None and held is None else held
    with spoken(_SPOKEN, options.note), bar("learning") as progress:
        stopping = Stopping(
            rounds,
            time_limit=options.time_limit,
            callback=lambda state: progress(state.round, rounds, f"loss {state.value:.4g}"),
            patience=options.patience,
            validation=folds,
        )
        return planning.boost(shown, learner, kind, stopping=stopping, rng=options.seed)


def _note(options: PlanOptions, found: Any, is_nothing: bool, ended: bool) -> None:
    # If folds choose no rounds, the library has warned.
    is_chosen = found.choice is not None and len(found.choice.scores) > 1
    if is_nothing:
        options.note(
            "the time limit passed before there were linear costs; pass a larger --time-limit"
        )
    elif ended and found.boosted.rounds == 0:
        options.note(_stopped(options, found))
    elif found.value == found.history[0].value and not is_chosen:
        options.note(_nothing_learned(options, found, ended))


def _stopped(options: PlanOptions, found: Any) -> str:
    is_linear = found.begun is not None and found.begun.base != 1.0
    costs = "the linear costs" if is_linear else "the costs before the first round"
    has = f"{options.out} has {costs}" if options.out else f"--out would have written {costs}"
    if found.choice is None or found.choice.rounds > 0 or options.rounds or options.held_out:
        return f"stopped before the first round; {has}"
    return (
        f"stopped while cross-validation chose the number of rounds; {has}; --rounds 50 makes 50 "
        "rounds without cross-validation"
    )


def _nothing_learned(options: PlanOptions, found: Any, ended: bool) -> str:
    # The loss before the first round is 0 if every demonstration is already cheaper than all other
    # paths by its margin.
    if found.value == 0.0:
        return (
            "nothing to learn: with these costs each trip already beats other paths by their loss"
        )
    if ended:
        rounds = number_of(found.boosted.rounds, "round")
        return f"nothing was learned in {rounds}; allow more time, or use fewer trips"
    other = "--learner stumps, which needs fewer arcs, or " * (options.learner == "trees")
    return f"nothing was learned: no round reduced the loss; use {other}other features"


def _text(found: Any, source: PlanInput, data: dict[str, Any]) -> str:
    rounds = number_of(data["rounds"], "round")
    lines = [
        f"data:       {source}, {number_of(data['trips'], 'trip')}",
        f"problem:    {data['link']} link, {data['learner']}",
        f"loss:       {found.history[0].value:.6g} -> {found.value:.6g}, round {data['chosen']}",
        f"status:     {found.status}: {rounds}, {found.boosted.seconds:.2g} s",
        "importance of features:",
    ]
    if found.choice is not None and found.choice.scores:
        scores = found.choice.scores
        chosen = f"F1 {scores[0]:.3f} -> {scores[found.choice.rounds]:.3f}"
        lines.insert(4, f"folds:      {chosen} on held-out trips")
    if found.inexact:
        lines.insert(3, f"            an upper bound on the loss for {found.inexact} of the trips")
    return "\n".join(lines + largest(data["importances"]))


def _data(found: Any, source: PlanInput, tasks: list[Any]) -> dict[str, Any]:
    boosted = found.boosted
    shares = boosted.importances(len(found.names)).tolist()
    return {
        **source.counts(tasks),
        "link": found.loss.link,
        "learner": repr(boosted.learner),
        "status": found.status,
        **{name: getattr(boosted, name) for name in ("rounds", "chosen", "seconds")},
        "inexact": found.inexact,
        "scores": [] if found.choice is None else list(found.choice.scores),
        "losses": [record.value for record in found.history],
        "held_out": [finite(record.validation) for record in found.history],
        "importances": dict(zip(found.names, shares, strict=True)),
    }

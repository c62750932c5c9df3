"""The command `relaxboost online`, which learns from a stream and reports loss and regret."""

from __future__ import annotations

import json
import re
import shlex
import sys
import warnings
from collections.abc import Callable
from functools import partial, wraps
from pathlib import Path
from typing import Any

import click

from relaxboost._core.errors import InputError, number_of
from relaxboost._core.files import check_output
from relaxboost._core.progress import bar
from relaxboost.commands.online_options import METHODS, ROWS_IN_SAMPLE, StreamOptions
from relaxboost.commands.online_text import resume_text, run_data, run_text
from relaxboost.commands.style import (
    DOMAINS,
    InputFile,
    OutputFile,
    PipedFile,
    VerbGroup,
    added,
    drop_option,
    note,
    say,
    sep_option,
    show,
    time_limit_option,
)
from relaxboost.commands.words import spoken

# These regular expressions for parts of messages of the library have replacements that name options
# of the command line.
_SPOKEN = {
    "convert them, as stream(classes=(negative, positive)) does": "name the two labels, the "
    "negative one first: --classes NEGATIVE,POSITIVE",
    "classes=(negative, positive)": "--classes NEGATIVE,POSITIVE",
    "name their column: y=": "name their column: --label",
    ", a bound on |y|, or schedule=Constant(beta)": ", a bound on |y|",
    "declare a larger bound": "pass a larger --bound",
    "at contains": "--at contains",
    "over=Simplex(radius) or FullSimplex(radius) or L1Ball(radius)": "--over simplex, full-simplex "
    "or l1",
    "over=Simplex(radius)": "--over simplex",
    "use MirrorSteps for another proxy": "use --method mirror-steps for another proxy",
    "use a method with a radius, such as radius=1": "pass --radius",
    "<stdin>": "standard input",
}
_LEARNED = r"; the rows before (row \d+) are learned: correct the stream, and continue from row \d+"


def stream_options(
    command: Callable[..., Any], kind: type[InputFile] = InputFile
) -> Callable[..., Any]:
    """Add the stream and learner options to a command, which receives a `StreamOptions` object."""

    @wraps(command)
    def collected(**given: Any) -> Any:
        words: dict[str, Any] = {re.escape(part): said for part, said in _SPOKEN.items()}
        words[r"classes=\('?([^'(),]*)'?, '?([^'(),]*)'?\)"] = _named_classes
        words[r"feature '(.*)'; drop the row or impute the value"] = _fill
        words["cannot resume .*"] = partial(resume_text, given)
        words[_LEARNED] = "; --save would have kept the rows before it" * ("save" in given)
        if given.get("save"):
            words[_LEARNED] = (
                r"; the rows before \1 are saved: correct the stream, and continue with --resume"
            )
        with spoken(words):
            return command(StreamOptions(**given))

    return added(click.argument("stream", type=kind()), *_OPTIONS)(collected)


def _named_classes(found: re.Match[str]) -> str:
    return f"--classes {shlex.quote(f'{found[1]},{found[2]}')}"


def _fill(found: re.Match[str]) -> str:
    name = found[1]
    return f"column '{name}'; fill it in, or leave the column out: --drop {shlex.quote(name)}"


def _radius(context: Any, option: Any, given: str | None) -> float | str | None:
    if given in (None, "auto"):
        return given
    try:
        return float(str(given))
    except ValueError:
        raise InputError(f"--radius must be a number or auto, got {given!r}") from None


_OPTIONS = [
    # These options describe the stream: its labels, and the base functions of its columns.
    click.option("--label", help="The column of labels or targets; --loss inner has none."),
    sep_option,
    click.option("--classes", metavar="NO,YES", help="The labels of the classes -1 and +1."),
    drop_option,
    click.option(
        "--categories",
        metavar="COLUMNS",
        help="Columns to one-hot encode by hashing, so that several words may share a base "
        "function. Columns with words in the first rows are always encoded.",
    ),
    click.option(
        "--base",
        type=click.Choice(["linear", "stumps", "experts"]),
        help=f"Base functions: linear (features scaled to [-1, 1] on the first {ROWS_IN_SAMPLE} "
        "rows, and clipped), stumps (at quantiles of these rows) or experts (features unchanged).  "
        "[default: experts for --loss inner, else linear]",
    ),
    click.option(
        "--cuts",
        type=click.IntRange(1),
        default=8,
        show_default=True,
        help="Stumps for each feature.",
    ),
    click.option(
        "--no-intercept",
        is_flag=True,
        help="Leave out the constant base function, which linear and stumps have by default.",
    ),
    # These options describe the problem: the loss, and the set of weights.
    click.option(
        "--loss",
        default="logistic",
        show_default=True,
        metavar="NAME",
        help="hinge, logistic, exponential, ... for labels; squared, absolute, ... for numbers; "
        "inner for costs of experts.",
    ),
    click.option(
        "--over",
        type=click.Choice(list(DOMAINS)),
        help="The set of weights. [default: l2 for gradient-descent and mirror-steps, else l1]",
    ),
    click.option(
        "--radius",
        callback=_radius,
        metavar="NUMBER|auto",
        help="The radius of --over, or auto for a learner that needs none.  [default: auto for "
        "run, else 1]",
    ),
    # These options describe the learner: its proxy, its steps, and the bounds that its regret bound
    # needs.
    click.option(
        "--proxy",
        metavar="NAME",
        help="The strongly convex function of the learner: entropy, p-norm, power, squared-l2 or "
        "tilted.  [default: squared-l2 over l2, else entropy]",
    ),
    click.option(
        "--schedule",
        metavar="NAME",
        help="The steps: growing or adaptive, for streams of any length.  [default: growing]",
    ),
    click.option(
        "--horizon", type=click.IntRange(1), help="Take constant steps for this many examples."
    ),
    click.option("--bound", type=float, help="A bound on |h|. [default: 1; in l2 the root of M]"),
    click.option(
        "--targets", type=float, help="A bound on |y|, which --loss squared and --radius auto need."
    ),
]

_method = click.option(
    "--method",
    type=click.Choice(list(METHODS)),
    metavar="NAME",
    help=f"The learner: {', '.join(METHODS)}.  [default: mirror-descent, but hedged-descent for "
    "--radius auto, and for run unless another option needs a radius]",
)


@click.group(
    cls=VerbGroup,
    epilog="""
\b
Example:
  relaxboost online run clicks.csv --label clicked --classes no,yes
""",
)
def online() -> None:
    """Learn from a stream of examples, and bound the regret.

    STREAM is a CSV file with a header, or a Parquet file, of any size. Rows are counted from 0.
    """


@online.command(
    short_help="Predict each example, then learn from it.",
    epilog="""
\b
Exit status: 0 the whole stream was read, 1 it was not (the numbers are for
the rows so far), 2 bad input, 130 interrupted before there was a result.

\b
Examples:
  relaxboost online run clicks.csv --label clicked --classes no,yes
  relaxboost online run data.parquet --label y --base stumps --radius 10
  relaxboost online run big.csv --label y --save model.npz --resume
  relaxboost online run costs.csv --loss inner --over simplex
  tail -f -n +1 log.csv | relaxboost online run - --label y --every 1000
""",
)
@partial(stream_options, kind=PipedFile)
@_method
@click.option(
    "--save",
    type=click.Path(path_type=Path),
    help="Store the learner in this file. Without --resume, it must not exist.",
)
@click.option("--resume", is_flag=True, help="Continue from the --save file, if it exists.")
@click.option(
    "--predictions",
    type=click.Path(path_type=Path),
    help="Write the prediction of each row, made before its label was known, to this CSV. "
    "Without --resume, it must not exist.",
)
@click.option(
    "--every",
    type=click.IntRange(1),
    help="The number of examples between printed losses; with --json, one object per line.",
)
@time_limit_option
def run(options: StreamOptions) -> None:
    """Learn from a stream: predict each example, then learn from it.

    Prints the loss and the errors of these predictions, and the largest weights. Also prints a
    bound on the regret, which is the loss of the learner minus the loss of the best fixed weights
    in a set. Rows of a CSV on standard input are used as they arrive. The first 1000 rows determine
    the scales of linear functions and the thresholds of stumps.
    """
    save = options.save
    if save is not None:
        check_output(save)
        # A learner may have taken hours, so it is neither overwritten nor continued by accident.
        if save.exists() and not options.resume:
            raise InputError(
                f"{save} already exists; add --resume to continue from this file, or pass another "
                "name to --save"
            )
    elif options.resume:
        raise InputError("--resume continues from the --save file; add --save FILE")
    stream = options.opened()
    at, said = _resumed(options)
    found = _learned(options, stream, at, said)
    content = run_data(found, stream)
    text = run_text(found, stream, content, options.label_of)
    if save is not None and found.unsaved is None:
        text += f"\nsaved:      {save}"
        if found.status != "ended":
            text += "; the same command with --resume continues"
    if options.predictions is not None:
        text += f"\npredicted:  {options.predictions}"
    show(options.as_json, content, text)
    # The result may have taken hours, so it is printed before the command fails.
    if found.unsaved is not None:
        raise found.unsaved
    if found.status != "ended":
        sys.exit(1)


@online.command(
    short_help="Bound the regret, compared with the best fixed weights.",
    epilog="""
\b
Exit status: 0 the bounds are as close as --tol requires, 1 they are not
(the printed bounds are still valid), 2 bad input, 130 interrupted before
there was a result.

\b
Examples:
  relaxboost online regret data.csv --label y --loss hinge
  relaxboost online regret data.csv --label y --at 100 --at 1000 --tol 1e-4
  relaxboost online regret data.csv --label y --radius 10 --plot regret.png
  relaxboost online regret d.csv --label y --loss hinge --certificate c.json
""",
)
@stream_options
@_method
@click.option(
    "--at",
    type=click.IntRange(1),
    multiple=True,
    help="Also report the regret after this number of examples.",
)
@click.option(
    "--tol",
    type=float,
    default=1e-6,
    show_default=True,
    help="Difference between the bounds to reach, as a fraction of the least loss.",
)
@click.option(
    "--plot",
    type=OutputFile(".png"),
    help="Draw the brackets and the bounds to this file. An existing file is overwritten.",
)
@click.option(
    "--certificate",
    type=OutputFile(".json"),
    help="Write a proof of the least loss to this file; for hinge, absolute, quantile and inner. "
    "An existing file is overwritten.",
)
@time_limit_option
def regret(options: StreamOptions) -> None:
    """Bound the regret: the loss of a learner minus the loss of the best fixed weights.

    The learner reads the stream once. The stream is then read many times to find, with a proof,
    the least loss of any fixed weights in hindsight. --time-limit applies to the second part.
    """
    from relaxboost.online import regret as found_regret
    from relaxboost.online.comparators.polyhedral import check_piecewise_linear
    from relaxboost.views import plots

    if options.plot is not None:
        plots.check_plot(options.plot)
    stream = options.opened()
    # The method is made before the stream is read to its end, so that wrong options are named soon.
    usual = "hedged-descent" if options.radius == "auto" else "mirror-descent"
    method, _ = options.learner(options.method or usual, stream)
    if options.certificate is not None:
        # Only the least value of a piecewise linear loss is a linear program, which has a proof.
        check_output(options.certificate)
        check_piecewise_linear(method.loss)
    limits = {"tol": options.tol, "time_limit": options.time_limit}
    with bar("best weights in hindsight") as progress:
        progress(0, None, stream.name)
        found = found_regret(method, stream, options.at, **limits)
    learner = repr(method).replace(", targets=inf", "")
    lines = [f"data:    {stream.name}", f"learner: {learner}", *map(str, (*found.along, found))]
    if options.plot is not None:
        plots.save(plots.regret_curves(found), options.plot)
        lines.append(f"picture: {options.plot}")
    if options.certificate is not None:
        proof = found.comparator.certificate()
        proof.certificate.save(options.certificate)
        divisor = f"-{float(proof.scale):.17g}"
        lines.append(
            f"proof:   {options.certificate}; its rho is the least loss divided by {divisor}"
        )
    show(options.as_json, {"data": stream.name, **found.to_dict()}, "\n".join(lines))
    # The command fails if one interval for the regret is too wide, even if it belongs to a number
    # of --at.
    if any(one.comparator.status != "optimal" for one in (found, *found.along)):
        sys.exit(1)


def _resumed(options: StreamOptions) -> tuple[int, str]:
    """Return the row of the stream at which the run starts, and a note to print.

    Without --resume, the row is 0 and the note is empty.
    """
    if not options.resume:
        return 0, ""
    if not options.save.exists():
        # The path may be mistyped, and the run may take hours.
        note(f"nothing to resume at {options.save}: the run starts at row 0")
        return 0, ""
    about = options.saved().get("run")
    about = about if isinstance(about, dict) else {}
    # A file without a row is rejected when the learner starts.
    at = about.get("at")
    at = at if isinstance(at, int) else 0
    if options.predictions is None and at and about.get("predictions"):
        note(
            f"the predictions before row {at} are in a file, and this run writes none; add "
            "--predictions with this file to continue it"
        )
    without = ", without an intercept" if options.was_saved_without_intercept() else ""
    return at, f"resumes {options.save} at row {at}{without}"


def _learned(options: StreamOptions, stream: Any, at: int, said: str) -> Any:
    """Learn from the stream, and return the result of `progressive`.

    The learner starts at row `at` of the stream. A nonempty note `said` is printed when the learner
    has read the first rows.
    """
    from relaxboost.commands.online_predictions import PredictionsFile
    from relaxboost.online import progressive

    name = options.chosen()
    method, size = options.learner(name, stream)
    predictions = None
    if options.predictions is not None:
        predictions = PredictionsFile(
            options.predictions, method.loss, options.label_of, options.resume, at
        )
    notes = [said] if said else []
    before: list[Any] = []
    with bar(name) as progress:

        def show(record: Any) -> None:
            while notes:
                note(notes.pop())
            if options.every and record.rows % options.every == 0:
                _say_progress(options.as_json, record, before[-1] if before else None)
                before[:] = [record]
            progress(record.rows, stream.rows, f"mean loss {record.loss / record.rows:.4g}")

        with warnings.catch_warnings():
            # The run ends with an error if the last write fails, and earlier writes do not matter.
            warnings.filterwarnings("ignore", "checkpoint .* could not be written")
            found = progressive(
                method.start(size),
                stream,
                every=options.every,
                checkpoint=options.save,
                time_limit=options.time_limit,
                callback=show,
                predictions=predictions,
            )
    if predictions is not None:
        predictions.close(found.last.rows)
    return found


def _say_progress(as_json: bool, record: Any, before: Any) -> None:
    # The loss since the previous record shows whether the data drift.
    rows, mean, wrong = record.rows, record.loss / record.rows, record.mistakes
    data = {"rows": rows, "mean_loss": mean, "mistakes": wrong}
    errors = "" if wrong is None else f", {wrong / rows:.2%} wrong"
    text = f"{number_of(rows, 'example')}: loss {mean:.6g} on average{errors}"
    # A resumed run does not know the loss at the line before its first.
    if before is not None:
        last = rows - before.rows
        mean = (record.loss - before.loss) / last
        wrong = None if wrong is None else wrong - before.mistakes
        data |= {"last_rows": last, "last_mean_loss": mean, "last_mistakes": wrong}
        errors = "" if wrong is None else f", {wrong / last:.2%} wrong"
        text += f"; last {last}: {mean:.6g}{errors}"
    if as_json:
        click.echo(json.dumps(data))
    else:
        say(text)

"""`relaxboost online`: learn from a stream of examples, and say how well it went."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable
from dataclasses import replace
from functools import partial, wraps
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import click
import numpy as np

from relaxboost._core.digits import finite
from relaxboost._core.errors import InputError, number_of
from relaxboost._core.files import check_output
from relaxboost._core.progress import bar
from relaxboost._core.tables import listed, read_header
from relaxboost.commands.plan_inputs import added, largest, spoken
from relaxboost.commands.style import (
    InputFile,
    OutputFile,
    PipedFile,
    check_name,
    say,
    sep_option,
    show,
    spoken_input,
)

METHODS = {
    "mirror-descent": "MirrorDescent",
    "mirror-steps": "MirrorSteps",
    "gradient-descent": "GradientDescent",
    "exponentiated-gradient": "ExponentiatedGradient",
}
_DOMAINS = {"simplex": "Simplex", "full-simplex": "FullSimplex", "l1": "L1Ball", "l2": "L2Ball"}
_SAMPLE = 1000
_POINT = 100
"""Examples between two points of a curve."""
_REMEDY = "--horizon, the number of examples, gives steps with one"
_SPOKEN = {
    "convert them, as stream(classes=(negative, positive)) does": "name the two labels, the "
    "negative one first: --classes NEGATIVE,POSITIVE",
    "classes=(negative, positive)": "--classes NEGATIVE,POSITIVE",
    "name their column: y=": "name their column: --label",
    "give targets=, a bound of |y|, or schedule=Constant(beta)": "give --targets, a bound of |y|",
    "beyond targets=": "beyond --targets ",
    "beyond bound=": "beyond --bound ",
    "declare a larger bound": "give a larger --bound",
    "at contains": "--at contains",
    "give it: bound=": "give it: --bound",
    "over=Simplex(radius) or FullSimplex(radius) or L1Ball(radius)": "--over simplex, full-simplex "
    "or l1",
    "over=Simplex(radius)": "--over simplex",
    "use MirrorSteps for another proxy": "use --method mirror-steps for another proxy",
    "<stdin>": "standard input",
}
"""What the library says, in words of the command line."""
_LEARNED = r"; the rows before (row \d+) are learned: correct the stream, and continue from row \d+"


class StreamOptions(SimpleNamespace):
    """What the command line says, an attribute for each option of the verb."""

    def opened(self) -> Any:
        """Return the stream, through its base functions."""
        from relaxboost.online import Experts, LinearBasis, StumpBasis, stream

        if self.label is None and self.loss != "inner":
            said = f"--loss {self.loss} needs --label, the name of the label column"
            if isinstance(self.stream, Path) and not self.stream.is_dir():
                said += f"; it has {listed(read_header(self.stream, self.sep))}"
            raise InputError(said)
        given = stream(self.stream, self.label, classes=self._classes(), sep=self.sep)
        base = self.base or ("experts" if self.loss == "inner" else "linear")
        if base == "experts":
            made: Any = Experts(1.0 if self.bound is None else self.bound)
        else:
            X, _ = given.head(_SAMPLE)
            stumps = base == "stumps"
            made = StumpBasis.at_quantiles(X, self.cuts) if stumps else LinearBasis.spanning(X)
        found = given.through(made)
        piped = not isinstance(self.stream, Path)
        found.name = "standard input" if piped else spoken_input(found.name)
        return found

    def _classes(self) -> tuple[Any, Any] | None:
        if self.classes is None:
            return None
        pair = [part.strip() for part in self.classes.split(",")]
        if len(pair) != 2:
            raise InputError("--classes names two labels, the negative one first: no,yes")
        try:
            return float(pair[0]), float(pair[1])
        except ValueError:
            return pair[0], pair[1]

    def learner(self, name: str, stream: Any) -> tuple[Any, int]:
        """Return the method of a name, and M."""
        import relaxboost as rb
        from relaxboost.online.proxies import PROXIES
        from relaxboost.online.schedules import SCHEDULES

        check_name("--proxy", self.proxy, PROXIES)
        check_name("--schedule", self.schedule, SCHEDULES)
        kind = getattr(rb.online, METHODS[name])
        greedy = {"gradient-descent": "l2", "mirror-steps": "l2"}
        over = getattr(rb, _DOMAINS[self.over or greedy.get(name, "l1")])(self.radius)
        squared = isinstance(over, rb.L2Ball) or name in greedy
        proxy = self.proxy or ("squared-l2" if squared else "entropy")
        size = stream.base.size(stream.head(1)[0].shape[1])
        schedule: Any = self.schedule
        if self.horizon is not None:
            schedule = rb.online.Horizon(self.horizon)
        options = {"proxy": proxy, "schedule": schedule, "bound": 1.0}
        if self.targets is not None:
            options["targets"] = self.targets
        made = kind(self.loss, over, **options)
        bound = self.bound
        if bound is None:
            bound = stream.base.bound_in(made.proxy.norm, size)
        return replace(made, bound=bound), size


def stream_options(
    command: Callable[..., Any], kind: type[InputFile] = InputFile
) -> Callable[..., Any]:
    """Give a command the options of a stream and of a learner, with all others as one argument."""

    @wraps(command)
    def collected(**given: Any) -> Any:
        words = {re.escape(ours): theirs for ours, theirs in _SPOKEN.items()}
        words[_LEARNED] = "; --save would have kept the rows before it" * ("save" in given)
        if given.get("save"):
            words[_LEARNED] = (
                r"; the rows before \1 are saved: correct the stream, and continue with --resume"
            )
        with spoken(words):
            return command(StreamOptions(**given))

    return added(click.argument("stream", type=kind()), *_OPTIONS)(collected)


_OPTIONS = [
    click.option("--label", help="The column of labels or targets; --loss inner has none."),
    sep_option,
    click.option("--classes", metavar="NO,YES", help="Labels that stand for -1 and +1."),
    click.option(
        "--base",
        type=click.Choice(["linear", "stumps", "experts"]),
        help=f"Base functions: features scaled to [-1, 1] by the first {_SAMPLE} rows and cut off "
        "there; decision stumps at quantiles of these rows; or features as they are.  [default: "
        "experts for --loss inner, else linear]",
    ),
    click.option(
        "--cuts", type=click.IntRange(1), default=8, show_default=True, help="Stumps a feature."
    ),
    click.option(
        "--loss",
        default="logistic",
        show_default=True,
        metavar="NAME",
        help="hinge, logistic, exponential, ... of labels; squared, absolute, ... of numbers; "
        "inner, for costs of experts.",
    ),
    click.option(
        "--over",
        type=click.Choice(list(_DOMAINS)),
        help="What the weights range over. [default: l2 for gradient-descent and mirror-steps, "
        "else l1]",
    ),
    click.option("--radius", type=float, default=1.0, show_default=True, help="Of --over."),
    click.option("--proxy", metavar="NAME", help="[default: squared-l2 over l2, else entropy]"),
    click.option(
        "--schedule",
        default="growing",
        show_default=True,
        metavar="NAME",
        help="growing or adaptive; both for streams of any length.",
    ),
    click.option(
        "--horizon", type=click.IntRange(1), help="Or constant steps, for so many examples."
    ),
    click.option("--bound", type=float, help="A bound of |h|. [default: 1; in l2 the root of M]"),
    click.option("--targets", type=float, help="A bound of |y|, for --loss squared."),
]

_method = click.option(
    "--method",
    type=click.Choice(list(METHODS)),
    default="mirror-descent",
    show_default=True,
    help="The learner.",
)
_time_limit = click.option("--time-limit", type=float, help="Stop after so many seconds.")


@click.group(
    epilog="""
\b
Example:
  relaxboost online run clicks.csv --label clicked --classes no,yes
"""
)
def online() -> None:
    """Learn from examples as they come, and know the regret.

    STREAM is a CSV file with a header, or Parquet, of any size; rows are counted from 0.
    """


@online.command(
    epilog="""
\b
Exit status: 0 the stream has ended, 1 it had not (what is printed holds for
its rows so far), 2 bad input, 130 interrupted before anything could be said.

\b
Examples:
  relaxboost online run clicks.csv --label clicked --classes no,yes
  relaxboost online run data.parquet --label y --base stumps --radius 10
  relaxboost online run big.csv --label y --save model.npz --resume
  relaxboost online run costs.csv --loss inner --over simplex
  tail -f -n +1 log.csv | relaxboost online run - --label y --every 1000
"""
)
@partial(stream_options, kind=PipedFile)
@_method
@click.option("--save", type=click.Path(path_type=Path), help="Keep the learner in this file.")
@click.option("--resume", is_flag=True, help="If there is a file --save, go on from it.")
@click.option(
    "--every",
    type=click.IntRange(1),
    help="Print how well it does after every so many examples, too; with --json, an object a line.",
)
@_time_limit
def run(options: StreamOptions) -> None:
    """Learn from a stream: predict each example, then learn from it.

    Prints the loss and the errors of these predictions, a bound of what any fixed weights could
    have done better, and the largest weights. CSV from standard input is learned as it comes;
    linear functions and stumps are made when its first thousand rows are there.
    """
    save = options.save
    if save is not None:
        check_output(save)
        if save.exists() and not options.resume:
            raise InputError(f"{save} is there; give --resume to go on from it, or another name")
    elif options.resume:
        raise InputError("--resume goes on from the file of --save; give it")
    stream = options.opened()
    found = _learned(options, options.method, stream, save, options.every)
    content = run_data(found, stream)
    saved = "" if save is None else f"\nsaved:      {save}"
    show(options.as_json, content, run_text(found, stream, content) + saved)
    if found.status != "ended":
        sys.exit(1)


@online.command(
    epilog="""
\b
Exit status: 0 the bracket asked for was reached, 1 it was not (the one
printed holds all the same), 2 bad input, 130 interrupted before anything
could be said.

\b
Examples:
  relaxboost online regret data.csv --label y --loss hinge
  relaxboost online regret data.csv --label y --at 100 --at 1000 --tol 1e-4
  relaxboost online regret data.csv --label y --radius 10 --plot regret.png
  relaxboost online regret d.csv --label y --loss hinge --certificate c.json
"""
)
@stream_options
@_method
@click.option("--at", type=click.IntRange(1), multiple=True, help="After how many examples else.")
@click.option(
    "--tol",
    type=float,
    default=1e-6,
    show_default=True,
    help="Width of the bracket, as a part of the least loss.",
)
@click.option(
    "--plot", type=OutputFile(".png"), help="Draw the brackets and the bounds to this file."
)
@click.option(
    "--certificate",
    type=OutputFile(".json"),
    help="Prove the least loss in this file; for hinge, absolute, quantile and inner.",
)
@_time_limit
def regret(options: StreamOptions) -> None:
    """Bracket what a learner lost more than the best fixed weights.

    The stream is read many times: once to learn, then to find the least loss of any weights in
    hindsight, with a proof. --time-limit is for that.
    """
    from relaxboost.online import regret as found_regret
    from relaxboost.online.comparators.polyhedral import check_piecewise_linear
    from relaxboost.views import plots

    if options.plot is not None:
        plots.check_plot(options.plot)
    stream = options.opened()
    method, _ = options.learner(options.method, stream)
    if options.certificate is not None:
        check_output(options.certificate)
        check_piecewise_linear(method.loss)
    limits = {"tol": options.tol, "time_limit": options.time_limit}
    with bar("best weights in hindsight") as progress:
        progress(0, None, stream.name)
        found = found_regret(method, stream, options.at, **limits)
    if options.plot is not None:
        plots.save(plots.regret_curves(found), options.plot)
    if options.certificate is not None:
        proof = found.comparator.certificate()
        proof.certificate.save(options.certificate)
    if options.as_json:
        show(True, {"data": stream.name, **found.to_dict()}, "")
    else:
        say(f"data:    {stream.name}\nlearner: {method!r}")
        say("\n".join(map(str, (*found.along, found))))
        if options.plot is not None:
            say(f"picture: {options.plot}")
        if options.certificate is not None:
            divisor = f"-{float(proof.scale):.17g}"
            say(f"proof:   {options.certificate}; its rho is the least loss divided by {divisor}")
    if any(one.comparator.status != "optimal" for one in (found, *found.along)):
        sys.exit(1)


@online.command(
    epilog="""
\b
Exit status: 0 the stream has ended for all, 1 for some it had not (rows say
how far they are), 2 bad input, 130 interrupted before anything could be said.

\b
Examples:
  relaxboost online compare data.csv --label y
  relaxboost online compare data.csv --label y --schedule adaptive
  relaxboost online compare data.csv --label y --radius 10 --plot compare.png
"""
)
@stream_options
@click.option(
    "--methods",
    default="mirror-descent,gradient-descent,exponentiated-gradient",
    show_default=True,
    metavar="NAMES",
    help="Separated by commas; mirror-steps is another.",
)
@click.option(
    "--plot", type=OutputFile(".png"), help="Draw mean losses against examples to this file."
)
@_time_limit
def compare(options: StreamOptions) -> None:
    """Let several learners learn from one stream, side by side.

    Prints a row for each: the mean loss and the errors of its predictions, the bound of its
    regret, and examples a second. --time-limit is for each of them.
    """
    from relaxboost.views import plots

    names = [name.strip() for name in options.methods.split(",") if name.strip()]
    unknown = [name for name in names if name not in METHODS]
    if unknown or not names:
        raise InputError(f"--methods {options.methods!r}: choose of {', '.join(METHODS)}")
    if options.plot is not None:
        plots.check_plot(options.plot)
    stream = options.opened()
    for name in names:
        method, size = options.learner(name, stream)
        method.start(size)  # what does not go together is said before any of them learns
    every = None if options.plot is None else _POINT
    found = {n: _learned(options, n, stream, every=every) for n in names}
    if options.plot is not None:
        histories = {name: one.history for name, one in found.items()}
        plots.save(plots.progress(histories, title=stream.name), options.plot)
    content = {name: run_data(one, stream) for name, one in found.items()}
    drawn = "" if options.plot is None else f"\npicture:  {options.plot}"
    show(options.as_json, content, compare_text(content) + drawn)
    if any(one.status != "ended" for one in found.values()):
        sys.exit(1)


def _learned(
    options: StreamOptions,
    name: str,
    stream: Any,
    checkpoint: Path | None = None,
    every: int | None = None,
) -> Any:
    """Run a method of the options on the stream, with a bar on a terminal."""
    from relaxboost.online import progressive

    method, size = options.learner(name, stream)
    lines = getattr(options, "every", None)
    with bar(name) as progress:

        def show(record: Any) -> None:
            if lines and record.rows % lines == 0:
                _say_progress(options.as_json, record)
            progress(record.rows, stream.rows, f"mean loss {record.loss / record.rows:.4g}")

        return progressive(
            method.start(size),
            stream,
            every=every,
            checkpoint=checkpoint,
            time_limit=options.time_limit,
            callback=show,
        )


def _say_progress(as_json: bool, record: Any) -> None:
    """Print a record as a line."""
    rows, mean, wrong = record.rows, record.loss / record.rows, record.mistakes
    if as_json:
        click.echo(json.dumps({"rows": rows, "mean_loss": mean, "mistakes": wrong}))
        return
    errors = "" if wrong is None else f", {wrong / rows:.2%} wrong"
    say(f"{number_of(rows, 'example')}: loss {mean:.6g} on average{errors}")


def run_data(found: Any, stream: Any) -> dict[str, Any]:
    """Return what a run has come to, for machines."""
    rows, loss, mistakes, bound, seconds = found.last
    w = found.learner.average
    names = stream.base.names(stream.columns)
    return {
        "data": stream.name,
        "base": stream.base.name,
        "base_functions": found.learner.size,
        "method": repr(found.learner.method),
        "status": found.status,
        "rows": rows,
        "mean_loss": loss / rows,
        "mistakes": mistakes,
        "error": None if mistakes is None else mistakes / rows,
        "regret_bound": finite(bound),
        "seconds": seconds,
        "weights": dict(zip(names, w.tolist(), strict=True)),
    }


def run_text(found: Any, stream: Any, content: dict[str, Any]) -> str:
    """Return what a run has come to, in lines."""
    rows, _, mistakes, bound, seconds = found.last
    size, mean = content["base_functions"], content["mean_loss"]
    wrong = "" if mistakes is None else f", {mistakes / rows:.2%} wrong"
    lines = [
        f"data:       {stream.name}, {number_of(rows, 'example')}, {size} base functions "
        f"({stream.base.name})",
        f"learner:    {found.learner.method!r}",
        f"loss:       {mean:.6g} on average{wrong}, each predicted before it was learned",
    ]
    if np.isfinite(bound):
        least = f"no fixed weights have a mean loss below {mean - bound / rows:.6g}"
        lines.append(f"regret:     at most {bound:.6g}: {least}")
    else:
        lines.append(f"regret:     this method has no bound with such steps; {_REMEDY}")
    lines.append(f"status:     {found.status}, {seconds:.2g} s, {rows / seconds:.3g} examples/s")
    if not any(content["weights"].values()):
        lines.append("note:       nothing was learned; choose columns that vary, or another --base")
    lines.append("average weights:")
    return "\n".join(lines + largest(content["weights"]))


def compare_text(content: dict[str, dict[str, Any]]) -> str:
    """Return a table with a row for each learner."""
    header = ["learner", "mean loss", "wrong", "regret <=", "examples", "examples/s"]
    rows = [header]
    for name, one in content.items():
        error, bound = one["error"], one["regret_bound"]
        rows.append(
            [
                name,
                f"{one['mean_loss']:.6g}",
                "-" if error is None else f"{error:.2%}",
                "-" if bound is None else f"{bound:.5g}",
                str(one["rows"]),
                f"{one['rows'] / one['seconds']:.3g}",
            ]
        )
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = []
    for row in rows:
        cells = [cell.rjust(n) for cell, n in zip(row, widths, strict=True)]
        lines.append("  ".join([row[0].ljust(widths[0]), *cells[1:]]))
    if any(one["regret_bound"] is None for one in content.values()):
        lines.append(f"regret <= -: no bound with such steps; {_REMEDY}")
    return "\n".join(lines)

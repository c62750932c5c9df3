"""`relaxboost online`: learn from a stream of examples, and report loss and regret."""

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

from relaxboost._core.errors import InputError, number_of
from relaxboost._core.files import check_output
from relaxboost._core.progress import bar
from relaxboost._core.tables import listed, read_header
from relaxboost.commands.online_text import compare_text, run_data, run_text
from relaxboost.commands.style import (
    DOMAINS,
    InputFile,
    OutputFile,
    PipedFile,
    added,
    check_name,
    complain,
    say,
    sep_option,
    show,
    spoken_input,
    time_limit_option,
)
from relaxboost.commands.words import spoken

METHODS = {
    "mirror-descent": "MirrorDescent",
    "mirror-steps": "MirrorSteps",
    "gradient-descent": "GradientDescent",
    "exponentiated-gradient": "ExponentiatedGradient",
}
# The number of rows that set the scale of features and the quantiles of stumps.
_SAMPLE = 1000
# The number of examples between two points of a curve.
_POINT = 100
# Parts of messages of the library, and their words on the command line.
_SPOKEN = {
    "convert them, as stream(classes=(negative, positive)) does": "name the two labels, the "
    "negative one first: --classes NEGATIVE,POSITIVE",
    "classes=(negative, positive)": "--classes NEGATIVE,POSITIVE",
    "name their column: y=": "name their column: --label",
    ", a bound of |y|, or schedule=Constant(beta)": ", a bound of |y|",
    "declare a larger bound": "give a larger --bound",
    "at contains": "--at contains",
    "over=Simplex(radius) or FullSimplex(radius) or L1Ball(radius)": "--over simplex, full-simplex "
    "or l1",
    "over=Simplex(radius)": "--over simplex",
    "use MirrorSteps for another proxy": "use --method mirror-steps for another proxy",
    "<stdin>": "standard input",
}
_LEARNED = r"; the rows before (row \d+) are learned: correct the stream, and continue from row \d+"


class StreamOptions(SimpleNamespace):
    """The options of a verb, an attribute for each."""

    def opened(self) -> Any:
        """Return the stream of examples, mapped by the base functions of --base."""
        from relaxboost.online import Experts, LinearBasis, StumpBasis, stream

        if self.label is None and self.loss != "inner":
            said = f"--loss {self.loss} needs --label, the name of the label column"
            if isinstance(self.stream, Path) and not self.stream.is_dir():
                said += f"; it has {listed(read_header(self.stream, self.sep))}"
            raise InputError(said)
        given = stream(self.stream, self.label, classes=self._classes(), sep=self.sep)
        # Costs of experts are losses already: scaling them would change the game.
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
        # Labels in files are numbers or words; 0,1 must not become the words "0" and "1".
        try:
            return float(pair[0]), float(pair[1])
        except ValueError:
            return pair[0], pair[1]

    def learner(self, name: str, stream: Any) -> tuple[Any, int]:
        """Return a method by its name, and the number M of base functions."""
        import relaxboost as rb
        from relaxboost.online.proxies import PROXIES
        from relaxboost.online.schedules import SCHEDULES

        check_name("--proxy", self.proxy, PROXIES)
        check_name("--schedule", self.schedule, SCHEDULES)
        kind = getattr(rb.online, METHODS[name])
        # Each method gets the set of weights and the proxy for which its regret bound is known.
        greedy = {"gradient-descent": "l2", "mirror-steps": "l2"}
        over = getattr(rb, DOMAINS[self.over or greedy.get(name, "l1")])(self.radius)
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
        # By default the bound is that of the base functions, in the dual norm of the proxy.
        bound = self.bound
        if bound is None:
            bound = stream.base.bound_in(made.proxy.norm, size)
        return replace(made, bound=bound), size


def stream_options(
    command: Callable[..., Any], kind: type[InputFile] = InputFile
) -> Callable[..., Any]:
    """Give a command the options of a stream and of a learner, as one object."""

    @wraps(command)
    def collected(**given: Any) -> Any:
        words = {re.escape(part): said for part, said in _SPOKEN.items()}
        words[_LEARNED] = "; --save would have kept the rows before it" * ("save" in given)
        if given.get("save"):
            words[_LEARNED] = (
                r"; the rows before \1 are saved: correct the stream, and continue with --resume"
            )
        with spoken(words):
            return command(StreamOptions(**given))

    return added(click.argument("stream", type=kind()), *_OPTIONS)(collected)


_OPTIONS = [
    # The stream: its labels, and the base functions of its columns.
    click.option("--label", help="The column of labels or targets; --loss inner has none."),
    sep_option,
    click.option("--classes", metavar="NO,YES", help="The labels of the classes -1 and +1."),
    click.option(
        "--base",
        type=click.Choice(["linear", "stumps", "experts"]),
        help=f"Base functions: linear, features scaled to [-1, 1] by the first {_SAMPLE} rows and "
        "clipped; stumps at quantiles of these rows; or experts, features as they are.  [default: "
        "experts for --loss inner, else linear]",
    ),
    click.option(
        "--cuts",
        type=click.IntRange(1),
        default=8,
        show_default=True,
        help="Stumps for each feature.",
    ),
    # The problem: the loss, and the set of weights.
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
        type=click.Choice(list(DOMAINS)),
        help="The set of weights. [default: l2 for gradient-descent and mirror-steps, else l1]",
    ),
    click.option(
        "--radius", type=float, default=1.0, show_default=True, help="The radius of --over."
    ),
    # The learner: its proxy, its steps, and the bounds that its regret bound needs.
    click.option("--proxy", metavar="NAME", help="[default: squared-l2 over l2, else entropy]"),
    click.option(
        "--schedule",
        default="growing",
        show_default=True,
        metavar="NAME",
        help="growing or adaptive; both for streams of any length.",
    ),
    click.option(
        "--horizon", type=click.IntRange(1), help="Or constant steps, for this number of examples."
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


@click.group(
    epilog="""
\b
Example:
  relaxboost online run clicks.csv --label clicked --classes no,yes
"""
)
def online() -> None:
    """Learn from a stream of examples, and bound the regret.

    STREAM is a CSV file with a header, or Parquet, of any size; rows are counted from 0.
    """


@online.command(
    epilog="""
\b
Exit status: 0 the stream has ended, 1 it had not (the printed numbers hold
for its rows so far), 2 bad input, 130 interrupted before there was a result.

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
@click.option("--save", type=click.Path(path_type=Path), help="Store the learner in this file.")
@click.option("--resume", is_flag=True, help="Continue from the file of --save, if it exists.")
@click.option(
    "--every",
    type=click.IntRange(1),
    help="Print the loss after each such number of examples; with --json, one object a line.",
)
@time_limit_option
def run(options: StreamOptions) -> None:
    """Learn from a stream: predict each example, then learn from it.

    Prints the loss and the errors of these predictions, a bound of the regret against any fixed
    weights, and the largest weights. CSV from standard input is learned while it arrives; linear
    functions and stumps are made when the first thousand rows have arrived.
    """
    save = options.save
    if save is not None:
        check_output(save)
        # A learner may have taken hours, so it is neither overwritten nor continued by accident.
        if save.exists() and not options.resume:
            raise InputError(f"{save} exists; give --resume to continue from it, or another name")
    elif options.resume:
        raise InputError("--resume continues from the file of --save; give --save")
    stream = options.opened()
    found = _learned(options, options.method, stream, save, options.every)
    content = run_data(found, stream)
    saved = "" if save is None or found.trouble else f"\nsaved:      {save}"
    show(options.as_json, content, run_text(found, stream, content) + saved)
    if found.trouble:
        complain(f"{found.trouble}; free the disk, or give --save another name")
        sys.exit(74)
    if found.status != "ended":
        sys.exit(1)


@online.command(
    epilog="""
\b
Exit status: 0 the bracket of --tol was reached, 1 it was not (the printed
bracket holds nevertheless), 2 bad input, 130 interrupted before there was a
result.

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
    help="Width of the bracket, as a fraction of the least loss.",
)
@click.option(
    "--plot", type=OutputFile(".png"), help="Draw the brackets and the bounds to this file."
)
@click.option(
    "--certificate",
    type=OutputFile(".json"),
    help="Prove the least loss in this file; for hinge, absolute, quantile and inner.",
)
@time_limit_option
def regret(options: StreamOptions) -> None:
    """Bracket the regret: the loss of a learner minus that of the best fixed weights.

    The stream is read many times: once to learn, then to find the least loss of any weights in
    hindsight, with a proof. --time-limit is for the second part.
    """
    from relaxboost.online import regret as found_regret
    from relaxboost.online.comparators.polyhedral import check_piecewise_linear
    from relaxboost.views import plots

    if options.plot is not None:
        plots.check_plot(options.plot)
    stream = options.opened()
    # The method is made before the stream is read to its end, so that wrong options are named soon.
    method, _ = options.learner(options.method, stream)
    if options.certificate is not None:
        # Only the least value of a piecewise linear loss is a linear program, which has a proof.
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
    # One bracket that is too wide makes the answer incomplete, also one of --at.
    if any(one.comparator.status != "optimal" for one in (found, *found.along)):
        sys.exit(1)


@online.command(
    epilog="""
\b
Exit status: 0 the stream has ended for all, 1 for some it had not (the column
examples has their rows), 2 bad input, 130 interrupted before there was a
result.

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
@time_limit_option
def compare(options: StreamOptions) -> None:
    """Compare several learners on one stream.

    Prints a row for each: the mean loss and the errors of its predictions, the bound of its
    regret, and examples a second. --time-limit is for each of them.
    """
    from relaxboost.views import plots

    names = _methods(options.methods)
    if options.plot is not None:
        plots.check_plot(options.plot)
    stream = options.opened()
    for name in names:
        method, size = options.learner(name, stream)
        method.start(size)  # raises for options that do not fit, before any learner starts
    # A table needs the last record of a run only, a picture needs points along it.
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


def _methods(given: str) -> list[str]:
    """Return the names of learners in --methods."""
    # A comma at the end, or two in a row, name no learner.
    names = [name.strip() for name in given.split(",") if name.strip()]
    if not names:
        raise InputError(f"--methods names no learner; choose from {', '.join(METHODS)}")
    for name in names:
        check_name("--methods", name, METHODS)
    return names


def _learned(
    options: StreamOptions,
    name: str,
    stream: Any,
    checkpoint: Path | None = None,
    every: int | None = None,
) -> Any:
    """Run a method on the stream, and show a progress bar on a terminal."""
    from relaxboost.online import progressive

    method, size = options.learner(name, stream)
    # Only `run` has --every.
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

"""The command `relaxboost solve`, which finds the largest margin of a vote of decision stumps."""

from __future__ import annotations

import sys
from contextlib import suppress
from dataclasses import fields
from fractions import Fraction
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import click

import relaxboost as rb
from relaxboost._core.errors import InputError, few, number_of
from relaxboost._core.files import check_output, write_atomically
from relaxboost._core.names import known_names
from relaxboost._core.tables import UNREPEATED, hardly_repeats, listed, read_header
from relaxboost.commands.style import (
    DOMAINS,
    HUGE,
    MAX_LISTED,
    InputFile,
    OutputFile,
    Verb,
    check_name,
    columns_of,
    complain,
    drop_option,
    huge_columns,
    say,
    sep_option,
    show,
    time_limit_option,
)
from relaxboost.commands.words import spoken


def number(text: str) -> int | float | Fraction:
    """Convert a string to a number. A fraction such as 1/3 stays exact."""
    # An int or a Fraction is exact. A float stands for the double that Python makes of it, so that
    # a game has the same digest here and in Python.
    for read in (int, float, Fraction):
        with suppress(ValueError, ZeroDivisionError):
            return read(text)
    raise click.BadParameter(f"{text!r} is not a number such as 57, 0.1 or 1/3")


class _Options(SimpleNamespace):
    def chosen_relaxation(self) -> Any:
        """Return the relaxation that --relaxation, --k and --fraction describe."""
        from relaxboost.instances.expressions import read_relaxation

        # Only Capped has the parameters --k and --fraction. An expression such as 'Capped(k=3)'
        # contains its parameters.
        given = {"k": self.k, "fraction": self.fraction}
        given = {key: value for key, value in given.items() if value is not None}
        # The options --k and --fraction imply the relaxation Capped.
        name = self.relaxation or ("capped" if given else "hard")
        if name != "capped":
            if given:
                raise InputError(
                    "--k and --fraction apply only to --relaxation capped; leave them out"
                )
            return rb.HardMargin() if name == "hard" else read_relaxation(name)
        if not given:
            raise InputError("--relaxation capped needs either --k or --fraction")
        if len(given) > 1:
            raise InputError("--k and --fraction set the same parameter; pass only one of them")
        return rb.Capped(**given)

    def data(self) -> tuple[Any, Any, Any]:
        """Return the data set, the margin matrix of its stumps, and the feature table.

        The table is None for --dataset.
        """
        datasets = rb.matrices.datasets
        if (self.csv is None) == (self.dataset is None):
            both = ", not both" if self.csv is not None else ""
            raise InputError(
                f"pass either a CSV file or --dataset{both}, e.g. --dataset breast-cancer"
            )
        if self.dataset is not None:
            if self.dataset not in datasets.BUNDLED:
                remedy = known_names(self.dataset, datasets.BUNDLED, "bundled:")
                raise InputError(f"no data set {self.dataset!r}{remedy}")
            if self.drop:
                raise InputError(
                    "--drop applies only to columns of a CSV, not to --dataset; leave --drop out"
                )
            data = datasets.BUNDLED[self.dataset]()
            return data, rb.matrices.stumps(data.X, data.y, data.feature_names), None
        if self.label is None:
            there = listed(read_header(self.csv, self.sep))
            raise InputError(
                f"a CSV needs --label, the name of its label column; the columns are {there}"
            )
        from relaxboost.estimators.margin_columns import SubsetStumps

        # A stump on a column of words splits the words into two sets, as in MarginBoostClassifier.
        drop = columns_of(self.drop)
        features, y = datasets.read_table(self.csv, self.label, self.sep, words=True, drop=drop)
        matrix = SubsetStumps(features, y.signs)
        data = datasets.dataset(self.csv, matrix.data()[:, 1:], features, y)
        self.labelled = features, y
        return data, matrix, features


@click.command(
    cls=Verb,
    epilog="""
\b
Exit status: 0 the gap of --tol was reached, 1 it was not (the bounds are
still valid), 2 bad input, 130 interrupted before there was a result.

\b
Examples:
  relaxboost solve --dataset breast-cancer --relaxation capped --fraction 0.1
  relaxboost solve data.csv --label y --tol 1e-6 --json
  relaxboost solve data.csv --label y --rtol 0.01 --checkpoint run.json
  relaxboost solve data.csv --label y --relaxation '0.1*KLPenalty(1)'
  relaxboost solve data.csv --label y --method adaboost-star --tol 0.1
  relaxboost solve data.csv --label y --k 3 --plot out.png
  relaxboost solve data.csv --label y --certificate out.json
  relaxboost solve data.csv --label y --fraction 0.1 --model model.json
""",
)
# These options choose the data: a CSV file with its label, or a bundled data set.
@click.argument("csv", required=False, type=InputFile())
@click.option(
    "--label", help="Label column of the CSV, with two values. The larger one is the class +1."
)
@sep_option
@drop_option
@click.option("--dataset", help="A bundled data set instead of a CSV: breast-cancer.")
# These options choose the game: the relaxation of the margin, and the set of weights.
@click.option(
    "--relaxation",
    metavar="hard|capped|EXPR",
    help="The margin to maximise. hard: that of the worst example; capped: the mean of the k "
    "worst; or any relaxation as in Python: 'NormPenalty(2, 0.3)', 'Capped(k=10) + "
    "0.1*KLPenalty(1)'. [default: capped if --k or --fraction is given, else hard]",
)
@click.option("--k", type=number, help="capped: the number k of worst examples.")
@click.option("--fraction", type=number, help="capped: k as a fraction of the examples.")
@click.option(
    "--over",
    type=click.Choice(list(DOMAINS)),
    default="l1",
    show_default=True,
    help="The set of weights. l1 or l2: a ball; simplex: non-negative weights that sum to the "
    "radius, so that only stumps 'feature > threshold' are used; full-simplex: non-negative "
    "weights with a sum of at most the radius.",
)
@click.option("--radius", type=number, help="The radius of the ball or the simplex. [default: 1]")
# These options control the run: the requested gap, the method, and the limits.
@click.option("--tol", type=float, help="Certified gap to reach. [default: 1e-3; with --rtol 1e-8]")
@click.option(
    "--rtol", type=float, help="The gap to reach as a fraction of the value, such as 0.01."
)
@click.option(
    "--method",
    default="auto",
    show_default=True,
    # The names are listed here, because --help is printed without loading NumPy. A test compares
    # the names with those of the library.
    help="auto, interior-point, lpboost, erlpboost, corrective, softboost, mlpboost, hedge, "
    "fully-corrective (over an l2 ball), smoothboost (with --max-rounds or --time-limit); for the "
    "hard margin also totalboost, and over l1 adaboost (with a limit) and adaboost-star.",
)
@click.option(
    "--step",
    help="How far a round moves the weights. With --method corrective: fig1 (as published, the "
    "default), classic, line-search, away, or pairwise (usually the fastest). With --method "
    "adaboost: classical (default), lecture, or line-search.",
)
@click.option(
    "--checkpoint",
    type=click.Path(path_type=Path),
    help="Store the best points in this file; continue from it if it exists.",
)
@click.option("--max-rounds", type=int, help="Stop after this number of rounds.")
@time_limit_option
# These options choose the files to which results are written.
@click.option("--plot", type=OutputFile(".png"), help="Draw the margins and the gap to this file.")
@click.option(
    "--certificate",
    type=OutputFile(".json"),
    help="Write a proof of the bounds to this file, for relaxboost check.",
)
@click.option(
    "--model",
    type=OutputFile(".json"),
    help="Write the stumps with their weights to this file, for relaxboost predict.",
)
def solve(**given: Any) -> None:
    """Find the largest (relaxed) margin of a weighted vote of decision stumps, with a proof.

    A stump is a rule such as 'feature > 0.5'. The margin of an example is positive if the vote is
    right. Prints lower and upper bounds on the largest margin, the stumps with the largest weights,
    and the margins. CSV may be a Parquet file, or - for standard input. A stump on a column of
    words splits the words into two sets. One of --plot, --certificate and --model may be - for
    standard output. Existing files are overwritten, except the --checkpoint file.
    """
    options = _Options(**given)
    relaxation = options.chosen_relaxation()
    over = getattr(rb, DOMAINS[options.over])(1 if options.radius is None else options.radius)
    _check_outputs(options, relaxation, over)
    data, matrix, table = options.data()
    game = rb.Game(matrix, relaxation, over=over)
    if options.certificate is not None:
        # The checker reads matrices up to a size. A larger game is refused before it is solved.
        from relaxboost.certificates.levels import checkable

        remedy = "; use fewer rows or columns, or leave out --certificate"
        with spoken({"[;.] [Cc]ertify a game of fewer columns .*": remedy}):
            checkable(game)
    solution = rb.solve(
        game,
        options.tol,
        _method(options.method, options.step),
        rtol=options.rtol,
        checkpoint=options.checkpoint,
        max_rounds=options.max_rounds,
        time_limit=options.time_limit,
        verbose=0 if options.as_json else 1,
    )
    _print(options, data, solution, table)
    _write(options, data, solution)
    # The import is here so that --help does not load the solvers.
    from relaxboost.solvers.checkpoint import UNWRITTEN

    if options.checkpoint is not None and UNWRITTEN in solution.message:
        complain(
            f"checkpoint {options.checkpoint} {UNWRITTEN}; free some disk space, or pass another "
            "name"
        )
        sys.exit(74)
    if solution.status != "optimal":
        sys.exit(1)


def _check_outputs(options: _Options, relaxation: Any, over: Any) -> None:
    if options.plot is not None:
        rb.views.plots.check_plot(options.plot)
    if options.model is not None:
        check_output(options.model, (".json",))
        if options.dataset is not None:
            raise InputError(
                "--model saves only stumps that were learned from a CSV file, not those of "
                "--dataset; leave out --dataset or --model"
            )
    if options.certificate is not None:
        check_output(options.certificate, (".json",))
        # The import is here because it loads NumPy, which --help does not need.
        from relaxboost.relaxations.bounds import level_of

        if "enclosed" in (level_of(relaxation), over.level):
            from relaxboost.certificates.certificate import precisely

            # The import raises an error if python-flint is missing.
            with precisely("enclosed", 53):
                pass


def _print(options: _Options, data: Any, solution: Any, table: Any) -> None:
    report = rb.views.report
    negative, positive = data.classes
    classes = {"-1": negative, "+1": positive}
    content = {"data": data.name, "classes": classes, **report.data(solution)}
    game = solution.game
    count = int((data.y > 0).sum())
    lines = [
        f"data:       {data.name}, {game.m} examples, {len(data.feature_names)} features; "
        f"+1 is {positive!r} ({count}), -1 is {negative!r} ({game.m - count})"
    ]
    # Only a CSV file may have missing values and columns of words, because bundled data are
    # complete.
    missing = {} if table is None else table.isna().sum().to_dict()
    content["missing"] = {name: many for name, many in missing.items() if many}
    if content["missing"]:
        lines.append(
            f"missing:    {number_of(sum(missing.values()), 'value')}, in "
            f"{', '.join(content['missing'])}; some stumps send them left, others right"
        )
    # The l1 ball of radius 1 is the usual set of weights, and is not mentioned.
    where = "" if options.over == "l1" and options.radius is None else f", over {game.over}"
    lines += [f"game:       all {game.n} decision stumps, {game.relaxation}{where}"]
    # Bundled data have no unusual columns.
    odd = {kind: [] for kind in _NOTES} if table is None else _odd_columns(table)
    text = [*lines, report.text(solution)]
    for kind, names in odd.items():
        if names:
            text.append(f"note:       {_NOTES[kind].format(few(names, MAX_LISTED, repr))}")
    show(options.as_json, content | odd, "\n".join(text))


_NOTES = {
    "fit_all": UNREPEATED.format(
        "{}", "leave the column out with --drop, or make its words numbers"
    ),
    "empty": "no row has a value in the column {}; leave it out with --drop",
    "huge": HUGE.format("{}", "leave the cell empty"),
}
"""The notes about unusual columns of the CSV, by their names in the --json output."""


def _odd_columns(table: Any) -> dict[str, list[str]]:
    words = [(name, x) for name, x in table.items() if x.dtype.kind not in "biuf"]
    numbers = table.select_dtypes("number")
    return {
        "fit_all": [name for name, x in words if hardly_repeats(x)],
        "empty": list(table.columns[table.isna().all()]),
        "huge": huge_columns(numbers.columns, numbers.to_numpy(float, na_value=float("nan"))),
    }


def _write(options: _Options, data: Any, solution: Any) -> None:
    said = []
    if options.plot is not None:
        plots = rb.views.plots
        title = f"{data.name}: all {solution.game.n} stumps"
        plots.save(plots.overview(solution, title=title), options.plot)
        said.append(f"picture:    {options.plot}")
    if options.certificate is not None:
        # With the matrix in the file, the certificate can be checked without the CSV.
        proved = rb.certify(solution, inline=True)
        proved.save(options.certificate)
        said.append(f"proof:      {options.certificate}, {proved!r}")
    if options.model is not None:
        from relaxboost.commands.predict import described

        write_atomically(options.model, described(*options.labelled, solution))
        said.append(f"model:      {options.model}")
    if said and not options.as_json:
        say("\n".join(said))


def _method(name: str, step: str | None) -> Any:
    from relaxboost.solvers.method import METHODS, RENAMED, RENAMING

    if name in RENAMED:
        say(f"note: {RENAMING.format(f'--method {name}', f'--method {RENAMED[name]}')}", err=True)
        name = RENAMED[name]
    check_name("--method", name, METHODS)
    if step is None:
        return name
    # Only some methods have a step. For other methods, the error names the methods that have one.
    stepping: dict[str, Any] = {
        known: kind
        for known, kind in METHODS.items()
        if "step" in [option.name for option in fields(kind)]
    }
    if name not in stepping:
        raise InputError(f"--step {step} needs --method {' or '.join(sorted(stepping))}")
    return stepping[name](step=step)

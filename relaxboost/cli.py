"""The command line."""

from __future__ import annotations

import json
import sys
from fractions import Fraction
from pathlib import Path
from typing import Any

import click

from relaxboost import __version__, commands
from relaxboost.errors import InputError, MissingDependencyError


class _Number(click.ParamType):
    """What Python would read: 57, 56.9, or a fraction, 1/3, kept exactly."""

    name = "number"

    def convert(self, value: Any, param: Any, ctx: Any) -> int | float | Fraction:
        """Return an int, a float or a Fraction."""
        for read in (int, float, Fraction):
            try:
                return read(value)
            except (ValueError, ZeroDivisionError):
                continue
        self.fail(f"{value!r} is not a number")


_EXIT = """
\b
Exit status: 0 the gap asked for was reached, 1 it was not (the bracket printed holds all the
same), 2 bad input, 130 interrupted before there was anything to print.
"""


@click.group()
@click.version_option(__version__, prog_name="relaxboost")
def cli() -> None:
    """Certified convex optimisation behind boosting."""


cli.add_command(commands.check)
cli.add_command(commands.claims)
cli.add_command(commands.plan)
cli.add_command(commands.reference)
cli.add_command(commands.reproduce)


@cli.command(
    epilog=_EXIT
    + """
\b
Examples:
  relaxboost solve --dataset breast-cancer --relaxation capped --fraction 0.1
  relaxboost solve data.csv --label y --tol 1e-6 --json
  relaxboost solve data.csv --label y --relaxation 'Capped(fraction=1/5) + NormPenalty(2, 0.1)'
  relaxboost solve data.csv --label y --method corrective --step pairwise --plot out.png
  relaxboost solve data.csv --label y --certificate out.json && relaxboost check out.json
"""
)
@click.argument("csv", required=False, type=click.Path(path_type=Path))
@click.option("--label", help="Label column of the CSV; any two values, the larger is +1.")
@click.option("--dataset", help="A bundled data set in place of a CSV: breast-cancer.")
@click.option(
    "--relaxation",
    metavar="hard|capped|EXPR",
    help="hard: the margin of the worst example; capped: the mean of the k worst; or any "
    "relaxation as in Python: 'NormPenalty(2, 0.3)', 'Capped(k=10) + 0.1*KLPenalty(1)'. "
    "[default: capped if --k or --fraction is given, else hard]",
)
@click.option("--k", type=_Number(), help="capped: no example weighs more than 1/k.")
@click.option("--fraction", type=_Number(), help="capped: k as a fraction of the examples.")
@click.option(
    "--over",
    type=click.Choice(["l1", "simplex", "l2"]),
    default="l1",
    show_default=True,
    help="The weights: in an l1 ball; non-negative with sum 1, which leaves only the stumps "
    "'feature > threshold'; or in an l2 ball.",
)
@click.option("--radius", type=_Number(), help="l1, l2: the radius of the ball. [default: 1]")
@click.option("--tol", type=float, default=1e-3, show_default=True, help="Certified gap to reach.")
@click.option(
    "--method",
    default="auto",
    show_default=True,
    help="auto, combined, corrective, totally-corrective; for the hard margin over l1 also "
    "adaboost (give --max-rounds or --time-limit) and adaboost-star.",
)
@click.option(
    "--step",
    help="With --method corrective: fig1 (default), classic, line-search, away, pairwise. "
    "With --method adaboost: classical (default), lecture, line-search.",
)
@click.option("--max-rounds", type=int, help="Stop after so many rounds.")
@click.option("--time-limit", type=float, help="Stop after so many seconds.")
@click.option("--json", "as_json", is_flag=True, help="Print data for machines.")
@click.option("--plot", type=click.Path(path_type=Path), help="Draw margins and gap to this file.")
@click.option(
    "--certificate",
    type=click.Path(path_type=Path),
    help="Write what proves the bracket to this file, for relaxboost check.",
)
def solve(
    csv: Path | None,
    label: str | None,
    dataset: str | None,
    relaxation: str | None,
    k: float | Fraction | None,
    fraction: float | Fraction | None,
    over: str,
    radius: float | Fraction | None,
    tol: float,
    method: str,
    step: str | None,
    max_rounds: int | None,
    time_limit: float | None,
    as_json: bool,
    plot: Path | None,
    certificate: Path | None,
) -> None:
    """Find the largest (relaxed) margin of all decision stumps of a data set, with a proof.

    Builds every decision stump of the data, solves the game they play against the examples, and
    prints a bracket of its value, the hypotheses with the largest weights, and the margins.
    """
    from relaxboost import boosters, plots, report
    from relaxboost.certificates import certify
    from relaxboost.game import Game
    from relaxboost.matrices import stumps

    chosen = _relaxation(relaxation, k, fraction)
    weights = _over(over, radius)
    if plot is not None:
        plots.check_plot(plot)
    if certificate is not None:
        _check_certificate(certificate, chosen, weights)
    data = _data(csv, label, dataset)
    game = Game(stumps(data.X, data.y, data.feature_names), chosen, over=weights)
    solution = boosters.solve(
        game,
        tol,
        method,
        step=step,
        max_rounds=max_rounds,
        time_limit=time_limit,
        verbose=0 if as_json else 1,
    )
    if as_json:
        content = {
            "data": data.name,
            "classes": {"-1": data.classes[0], "+1": data.classes[1]},
            **report.data(solution),
        }
        click.echo(json.dumps(content, indent=2, ensure_ascii=False))
    else:
        positive = int((data.y > 0).sum())
        click.echo(
            f"data:       {data.name}, {game.m} examples, {data.X.shape[1]} features; "
            f"+1 is {data.classes[1]!r} ({positive}), "
            f"-1 is {data.classes[0]!r} ({game.m - positive})"
        )
        where = "" if over == "l1" and radius is None else f", over {game.over}"
        click.echo(f"game:       all {game.n} decision stumps, {game.relaxation}{where}")
        click.echo(report.text(solution))
    if plot is not None:
        plots.save(plots.overview(solution, title=f"{data.name}: all {game.n} stumps"), plot)
        if not as_json:
            click.echo(f"picture:    {plot}")
    if certificate is not None:
        proved = certify(solution, inline=True)  # so that the file can be checked alone
        proved.save(certificate)
        if not as_json:
            click.echo(f"proof:      {certificate}, {proved!r}")
    if solution.status != "optimal":
        sys.exit(1)


def _check_certificate(path: Path, relaxation: Any, over: Any) -> None:
    """Raise before the work for what would keep the certificate from being written after it."""
    from relaxboost.certificates.certificate import precisely
    from relaxboost.files import check_output

    check_output(path, (".json",))
    if "enclosed" in (relaxation.level, over.level):
        with precisely("enclosed", 53):
            pass


def _relaxation(
    name: str | None, k: float | Fraction | None, fraction: float | Fraction | None
) -> Any:
    from relaxboost.relaxations import Capped, HardMargin
    from relaxboost.relaxations.expressions import read_relaxation

    if name is None:
        name = "hard" if k is None and fraction is None else "capped"
    if name != "capped":
        if k is not None or fraction is not None:
            raise InputError("--k and --fraction belong to --relaxation capped")
        return HardMargin() if name == "hard" else read_relaxation(name)
    if (k is None) == (fraction is None):
        both = ", not both" if k is not None else ""
        raise InputError(f"--relaxation capped needs either --k or --fraction{both}")
    return Capped(k=k) if k is not None else Capped(fraction=fraction)


def _over(name: str, radius: float | Fraction | None) -> Any:
    from relaxboost.outer import L1Ball, L2Ball, Simplex

    if name == "simplex":
        if radius is not None:
            raise InputError("--radius belongs to --over l1 or l2")
        return Simplex()
    return {"l1": L1Ball, "l2": L2Ball}[name](1 if radius is None else radius)


def _data(csv: Path | None, label: str | None, dataset: str | None) -> Any:
    from relaxboost import datasets

    if (csv is None) == (dataset is None):
        both = ", not both" if csv is not None else ""
        raise InputError(f"give either a CSV file or --dataset{both}, e.g. --dataset breast-cancer")
    if dataset is not None:
        if dataset not in datasets.BUNDLED:
            raise InputError(f"no data set {dataset!r}; bundled: {', '.join(datasets.BUNDLED)}")
        return datasets.BUNDLED[dataset]()
    if label is None:
        raise InputError("a CSV needs --label, the name of its label column")
    assert csv is not None
    return datasets.read_csv(csv, label)


def main(arguments: list[str] | None = None) -> None:
    """Run the command line; bad input ends with one line on standard error and status 2."""
    try:
        cli.main(args=arguments, prog_name="relaxboost", standalone_mode=False)
    except click.exceptions.NoArgsIsHelpError as error:
        click.echo(error.format_message())
        sys.exit(2)
    except click.ClickException as error:
        _fail(error.format_message())
    except (InputError, MissingDependencyError) as error:
        _fail(str(error))
    except (click.Abort, KeyboardInterrupt):
        _fail("interrupted before there was anything to report", status=130)


def _fail(message: str, status: int = 2) -> None:
    click.echo(f"relaxboost: {' '.join(message.split())}", err=True)
    sys.exit(status)

"""`relaxboost instances`: make and check sets of certified games."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import click

import relaxboost as rb
from relaxboost._core.progress import bar
from relaxboost._core.rounding import float_down, float_up, show_bracket
from relaxboost.commands import KEPT


@click.group()
def instances() -> None:
    """Make and check sets of games with certified optima, for the tests of other packages."""


@instances.command(
    epilog="""
\b
Exit status: 0 done, 1 some gap is wider than asked for (the brackets hold all
the same), 2 bad input, 130 interrupted.

\b
A specification:
  tol = 1e-9
  [[game]]
  generator = "uniform"
  rows = 20
  columns = 10
  count = 8
  relaxations = ["HardMargin()", "Capped(k=3)", "0.1*KLPenalty(1)"]
  [[game]]
  builtin = "all"

\b
Example:
  relaxboost instances make games.toml -o games
"""
)
@click.argument("spec", type=click.Path(path_type=Path))
@click.option("-o", "--out", required=True, type=click.Path(path_type=Path), help="The directory.")
@click.option("--json", "as_json", is_flag=True, help="Print data for machines.")
def make(spec: Path, out: Path, as_json: bool) -> None:
    """Make a certificate for each game and relaxation of SPEC, and an index.

    What is there and proves its bracket is kept, so that an interrupted run is continued by the
    same command. Times go to a log beside the directory.
    """
    try:
        with bar("making") as progress:
            made = rb.instances.make(spec, out, progress)
    except KeyboardInterrupt:
        raise click.Abort(KEPT) from None
    if as_json:
        content = {**made._asdict(), "directory": str(out), "log": str(made.log)}
        click.echo(json.dumps(content, indent=2))
    else:
        total = len(made.made) + len(made.kept)
        click.echo(
            f"{out}: {total} games, {len(made.made)} made, {len(made.kept)} kept; "
            f"times are in {made.log.name} beside it"
        )
        for name in made.wide:
            click.echo(f"  {name}: the gap is wider than asked for; its bracket holds")
    if made.wide:
        sys.exit(1)


@instances.command(
    epilog="""
\b
Exit status: 0 every game is accepted, 1 one is not, or the index is wrong,
2 bad input.

\b
Example:
  relaxboost instances check games
"""
)
@click.argument("directory", type=click.Path(path_type=Path))
@click.option("--json", "as_json", is_flag=True, help="Print data for machines.")
def check(directory: Path, as_json: bool) -> None:
    """Check every certificate of a set again, and the index against them."""
    with bar("checking") as progress:
        summary = rb.instances.check(directory, progress)
    if as_json:
        rows = [
            {
                "name": game.name,
                "ok": not reason,
                "level": game.level,
                "lower": str(game.lower),
                "upper": str(game.upper),
                "reason": reason,
            }
            for game, reason in summary.rows
        ]
        content = {"ok": summary.ok, "problems": list(summary.problems), "games": rows}
        click.echo(json.dumps(content, indent=2))
    else:
        _table(summary)
    if not summary.ok:
        sys.exit(1)


def _table(summary: Any) -> None:
    width = max((len(game.name) for game, _ in summary.rows), default=4)
    if summary.rows:
        click.echo(f"{'name':{width}}  {'level':8}  {'lower':>15}  {'upper':>15}  {'gap':>8}")
    for game, reason in summary.rows:
        lower, upper = show_bracket(float_down(game.lower), float_up(game.upper))
        gap = f"{float(game.gap):.2g}"
        line = f"{game.name:{width}}  {game.level:8}  {lower:>15}  {upper:>15}  {gap:>8}"
        click.echo(f"{line}  REJECTED: {reason}" if reason else line)
    for problem in summary.problems:
        click.echo(f"REJECTED: {problem}")
    rejected = len(summary.failed) + len(summary.problems)
    click.echo(
        f"{summary.directory}: {len(summary.rows)} games, "
        + (f"{rejected} rejected" if rejected else "all accepted")
    )

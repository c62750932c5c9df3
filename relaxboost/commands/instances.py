"""The command `relaxboost instances`, which makes and checks sets of certified games."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click

import relaxboost as rb
from relaxboost._core.digits import number
from relaxboost._core.progress import bar
from relaxboost._core.rounding import float_down, float_up, show_bracket
from relaxboost.commands.style import VerbGroup, kept, show


@click.group(
    cls=VerbGroup,
    epilog="""
\b
Example:
  relaxboost instances make games.toml -o games
""",
)
def instances() -> None:
    """Make and check sets of games with certified optima, for testing other packages."""


@instances.command(
    short_help="Make a certificate for each game in SPEC, and an index.",
    epilog="""
\b
Exit status: 0 done, 1 some gap is wider than tol (the brackets are
still valid), 2 bad input, 130 interrupted.

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
""",
)
@click.argument("spec", type=click.Path(path_type=Path))
@click.option(
    "-o", "--out", required=True, type=click.Path(path_type=Path), help="The output directory."
)
def make(spec: Path, out: Path, as_json: bool) -> None:
    """Make a certificate for each game and relaxation in SPEC, and an index.

    An existing certificate is kept if it proves its bounds, so the same command continues an
    interrupted run. The run times are written to a log next to the directory.
    """
    # Results are stored one by one, so that Ctrl-C keeps those that are finished.
    with kept("making") as progress:
        made = rb.instances.make(spec, out, progress)
    total = len(made.made) + len(made.kept)
    lines = [
        f"{out}: {total} games, {len(made.made)} made, {len(made.kept)} kept; "
        f"times are in {made.log.name} next to it",
        *(f"  {name}: the gap is wider than tol; the bounds are valid" for name in made.wide),
    ]
    content = {**made._asdict(), "directory": str(out), "log": str(made.log)}
    show(as_json, content, "\n".join(lines))
    # Bounds that are far apart are correct, but tests that need the accuracy of tol would fail with
    # them.
    if made.wide:
        sys.exit(1)


@instances.command(
    short_help="Check all certificates of a set and its index.",
    epilog="""
\b
Exit status: 0 every game is accepted, 1 a game is rejected or the index is
wrong, 2 bad input.

\b
Example:
  relaxboost instances check games
""",
)
@click.argument("directory", type=click.Path(path_type=Path))
def check(directory: Path, as_json: bool) -> None:
    """Check every certificate of a set of games, and its index."""
    # The check trusts no file: it evaluates each certificate and compares the index with them.
    with bar("checking") as progress:
        summary = rb.instances.check(directory, progress)
    rows = [
        {
            "name": game.name,
            "ok": not reason,
            "level": game.level,
            "lower": number(game.lower),
            "upper": number(game.upper),
            "reason": reason,
        }
        for game, reason in summary.rows
    ]
    content = {"ok": summary.ok, "problems": list(summary.problems), "games": rows}
    show(as_json, content, "\n".join(_table(summary)))
    if not summary.ok:
        sys.exit(1)


def _table(summary: Any) -> Iterator[str]:
    width = max((len(game.name) for game, _ in summary.rows), default=4)
    if summary.rows:
        yield f"{'name':{width}}  {'level':8}  {'lower':>15}  {'upper':>15}  {'gap':>8}"
    for game, reason in summary.rows:
        # The bounds are fractions; decimals are rounded outwards so that they stay bounds.
        lower, upper = show_bracket(float_down(game.lower), float_up(game.upper))
        gap = f"{float_up(game.gap):.2g}"
        line = f"{game.name:{width}}  {game.level:8}  {lower:>15}  {upper:>15}  {gap:>8}"
        yield f"{line}  REJECTED: {reason}" if reason else line
    yield from (f"REJECTED: {problem}" for problem in summary.problems)
    rejected = len(summary.failed) + len(summary.problems)
    said = f"{rejected} rejected" if rejected else "all accepted"
    yield f"{summary.directory}: {len(summary.rows)} games, {said}"

"""`relaxboost bench`: solvers side by side on a suite of games, scored by one bracket."""

from __future__ import annotations

import fnmatch
import math
import sys
from pathlib import Path
from typing import Any

import click

from relaxboost import views
from relaxboost._core.errors import InputError
from relaxboost.commands.style import kept, show
from relaxboost.testing.bench import BenchLimits, Report, read_suite
from relaxboost.testing.bench import bench as played


@click.command(
    epilog="""
\b
Exit status: 0 done, whatever the solvers did, 2 bad input, 130 interrupted;
results are kept, a file for each, and the same command goes on.

\b
Writes DIR/suite.md, DIR/images/suite.png, and DIR/cells with the results.

\b
Examples:
  relaxboost bench --limit 10 --only 'noisy-*'
  relaxboost bench --suite mine.toml --peers auto,highs-ipm,clarabel --json
  relaxboost bench --peers auto,mine:prepare
"""
)
@click.option(
    "--suite",
    type=click.Path(path_type=Path),
    help="The games. [default: benchmarks/suite.toml, of a checkout]",
)
@click.option("--only", default="*", help="Games whose names fit this pattern, such as 'stumps-*'.")
@click.option("--peers", default="", help="Solvers, separated by commas. [default: all]")
@click.option("--limit", type=float, default=60.0, show_default=True, help="Seconds for each run.")
@click.option("--memory", type=float, default=20.0, show_default=True, help="GB for each run.")
@click.option(
    "--race",
    type=float,
    default=math.inf,
    help="Stop a general solver at so many times the fastest before it.",
)
@click.option("--tol", type=float, default=1e-6, show_default=True, help="Certified gap to reach.")
@click.option("--data", type=click.Path(path_type=Path), help="The folder of public data.")
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    default=Path("output/bench"),
    show_default=True,
    help="The folder of the results.",
)
def bench(**given: Any) -> None:
    """Run solvers on the games of a suite and compare the time to a certified gap.

    Every solver has a process for each game, and is killed where it passes its limits. What is
    done is kept: the same command goes on where it was interrupted.
    """
    limits = BenchLimits(given["tol"], given["limit"], given["memory"] * 1e9, race=given["race"])
    suite = given["suite"] or Path("benchmarks/suite.toml")
    if given["suite"] is None and not suite.exists():
        raise InputError("the suite is in a checkout of relaxboost; go there, or give --suite")
    games = [
        game
        for game in read_suite(suite, given["data"])
        if fnmatch.fnmatchcase(game.name, given["only"])
    ]
    if not games:
        raise InputError(f"{suite} has no game that --only {given['only']!r} fits")
    names = [name.strip() for name in given["peers"].split(",") if name.strip()]
    views.plots.check_plot("suite.png")
    sys.path.append("")  # for solvers in this folder, which the processes that play look into too
    with kept("playing") as progress:
        cells = list(played(games, given["out"], names, limits, progress))
    report = Report(cells, limits)
    written = report.write(given["out"])
    said = f"{report.markdown()}\nwritten: {', '.join(map(str, written))}"
    show(given["as_json"], {"summary": report.summary(), "cells": cells}, said)

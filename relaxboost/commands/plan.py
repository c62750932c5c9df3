"""The command `relaxboost plan`, which learns costs from trips, evaluates them and draws them."""

from __future__ import annotations

import click

from relaxboost.commands.plan_boost import boost
from relaxboost.commands.plan_evaluate import evaluate
from relaxboost.commands.plan_fit import fit
from relaxboost.commands.plan_show import show
from relaxboost.commands.style import VerbGroup


@click.group(
    cls=VerbGroup,
    epilog="""
\b
Example:
  relaxboost plan fit --edges edges.csv --trips trips.csv
""",
)
def plan() -> None:
    """Learn the costs under which demonstrated paths are shortest."""


for _verb in (fit, boost, evaluate, show):
    plan.add_command(_verb)

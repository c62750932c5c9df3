"""`relaxboost plan`: learn costs from demonstrated paths, evaluate and draw them."""

from __future__ import annotations

import click

from relaxboost.commands.plan_eval import evaluate
from relaxboost.commands.plan_fit import fit
from relaxboost.commands.plan_show import show


@click.group()
def plan() -> None:
    """Learn the costs under which demonstrated paths are shortest, with a bracket."""


for _verb in (fit, evaluate, show):
    plan.add_command(_verb)

"""The command line: the verbs, each in its file, and how it ends."""

from __future__ import annotations

import sys

import click

from relaxboost import __version__
from relaxboost._core.errors import InputError, MissingDependencyError
from relaxboost.commands.bench import bench
from relaxboost.commands.certify import certify
from relaxboost.commands.check import check
from relaxboost.commands.claims import claims
from relaxboost.commands.instances import instances
from relaxboost.commands.online import online
from relaxboost.commands.plan import plan
from relaxboost.commands.reproduce import reproduce
from relaxboost.commands.solve import solve


@click.group()
@click.version_option(__version__, prog_name="relaxboost")
def cli() -> None:
    """Certified convex optimisation behind boosting."""


for verb in (bench, certify, check, claims, instances, online, plan, reproduce, solve):
    cli.add_command(verb)


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
    except (click.Abort, KeyboardInterrupt) as error:
        _fail(str(error) or "interrupted before there was anything to report", status=130)


def _fail(message: str, status: int = 2) -> None:
    click.echo(f"relaxboost: {' '.join(message.split())}", err=True)
    sys.exit(status)

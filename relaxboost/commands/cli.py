"""The command line: the verbs, each in its file, and how it ends."""

from __future__ import annotations

import contextlib
import errno
import io
import os
import sys
import traceback
from importlib import import_module
from pathlib import Path
from typing import Any

import click

from relaxboost import __version__
from relaxboost._core.errors import InputError, MissingDependencyError
from relaxboost.commands.style import complain, quietly

VERBS = {
    "certify": "Write a certificate for checkers of other people.",
    "check": "Check whether a certificate proves its bracket.",
    "claims": "Check the claims of papers on certified instances.",
    "doctor": "Say what is installed here, what works, and what is missing.",
    "instances": "Make and check sets of games with certified optima.",
    "online": "Learn from examples as they come, and know the regret.",
    "plan": "Learn the costs under which demonstrated paths are shortest.",
    "reproduce": "Run an experiment of Grubb & Bagnell (2011) again.",
    "solve": "Find the largest margin of all stumps of a data set, with a proof.",
}
"""What is said of each verb; its file, of the same name, is loaded when the verb is asked for."""


class _Verbs(click.Group):
    """Loads a verb when it is asked for, and none for --help, which is to come at once."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names of the verbs."""
        return list(VERBS)

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        """Load a verb; return None for a name that is none."""
        if name not in VERBS:
            return None
        return quietly(getattr(import_module(f"relaxboost.commands.{name}"), name))

    def invoke(self, ctx: click.Context) -> Any:
        """Run the verb; a pipe that is read no further ends it, which click would call status 1."""
        try:
            return super().invoke(ctx)
        except BrokenPipeError:
            _drop_output()
            sys.exit(74)

    def resolve_command(self, ctx: click.Context, args: list[str]) -> Any:
        """Find the verb that is asked for, or say which there are."""
        if args[0] not in VERBS and not ctx.resilient_parsing and not args[0].startswith("-"):
            raise InputError(f"there is no verb {args[0]!r}; choose one of {', '.join(VERBS)}")
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the list of the verbs, none of which is loaded."""
        with formatter.section("Commands"):
            formatter.write_dl(list(VERBS.items()))


@click.group(cls=_Verbs)
@click.version_option(__version__, prog_name="relaxboost")
def cli() -> None:
    """Certified convex optimisation behind boosting.

    \b
    Exit status of every verb, besides its own: 2 bad input, 70 an error in
    relaxboost, 74 what it prints cannot be written, 130 interrupted before
    there was anything to report.
    """


_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO)
_REPORT = "set RELAXBOOST_TRACEBACK=1 to see where, and please report it with the command"


def main(arguments: list[str] | None = None) -> None:
    """Run the command line; whatever goes wrong ends with one line on standard error.

    Status 2 is bad input, 70 an error in relaxboost, 74 output that cannot be written, 130 an
    interrupt before there was anything to report.
    """
    _open_outputs()
    try:
        cli.main(args=arguments, prog_name="relaxboost", standalone_mode=False)
        sys.stdout.flush()
    except click.exceptions.NoArgsIsHelpError as error:
        click.echo(error.format_message())
        sys.exit(2)
    except click.UsageError as error:
        see = f"; see {error.ctx.command_path} --help" if error.ctx else ""
        _fail(error.format_message().rstrip(".") + see)
    except click.ClickException as error:
        _fail(error.format_message())
    except (InputError, MissingDependencyError) as error:
        _fail(str(error))
    except (click.Abort, KeyboardInterrupt) as error:
        _fail(str(error) or "interrupted before there was anything to report", status=130)
    except OSError as error:
        _drop_output()
        if isinstance(error, BrokenPipeError):
            sys.exit(74)
        where, why = error.filename or "what was asked for", error.strerror or error
        if error.filename is not None and error.errno not in _FULL:
            _fail(f"cannot use {where}: {why}; check the path")
        _fail(f"cannot write {where}: {why}; free the disk", status=74)
    except Exception as error:
        if os.environ.get("RELAXBOOST_TRACEBACK"):
            raise
        where = traceback.extract_tb(error.__traceback__)[-1]
        at = f"{Path(where.filename).name}:{where.lineno}"
        said = str(error)[:200] or "no message"
        _fail(f"internal error, {type(error).__name__} at {at}: {said}; {_REPORT}", status=70)


def _open_outputs() -> None:
    """Let closed outputs lead nowhere, and open ones take names that are not text."""
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115
        elif isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def _drop_output() -> None:
    """Send what is still to be printed nowhere, or Python fails once more when it ends."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    with contextlib.suppress(OSError, ValueError):  # a stream without a file, as in tests
        os.dup2(nowhere, sys.stdout.fileno())
    os.close(nowhere)


def _fail(message: str, status: int = 2) -> None:
    with contextlib.suppress(OSError):  # the status says it where standard error is full
        complain(message)
    sys.exit(status)

"""The command line: the verbs, each in its file, and how it ends."""

from __future__ import annotations

import contextlib
import io
import os
import signal
import sys
import traceback
from pathlib import Path
from types import FrameType

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
    """Certified convex optimisation behind boosting.

    \b
    Exit status of every verb, besides its own: 2 bad input, 70 an error in
    relaxboost, 74 what it prints cannot be written, 130 interrupted before
    there was anything to report.
    """


for verb in (bench, certify, check, claims, instances, online, plan, reproduce, solve):
    cli.add_command(verb)


_REPORT = "set RELAXBOOST_TRACEBACK=1 to see where, and please report it with the command"


def main(arguments: list[str] | None = None) -> None:
    """Run the command line; whatever goes wrong ends with one line on standard error.

    Status 2 is bad input, 70 an error in relaxboost, 74 output that cannot be written, 130 an
    interrupt before there was anything to report. SIGTERM is taken as Ctrl-C: a run ends with the
    best bracket so far.
    """
    _terminate_like_interrupt()
    _open_outputs()
    try:
        cli.main(args=arguments, prog_name="relaxboost", standalone_mode=False)
        sys.stdout.flush()
    except click.exceptions.NoArgsIsHelpError as error:
        click.echo(error.format_message())
        sys.exit(2)
    except click.ClickException as error:
        _fail(error.format_message())
    except (InputError, MissingDependencyError) as error:
        _fail(str(error))
    except (click.Abort, KeyboardInterrupt) as error:
        _fail(str(error) or "interrupted before there was anything to report", status=130)
    except OSError as error:
        _drop_output()
        if error.filename is not None:
            _fail(f"cannot use {error.filename}: {error.strerror}; check the path")
        _fail(f"cannot write what was asked for: {error}; free the disk", status=74)
    except Exception as error:
        if os.environ.get("RELAXBOOST_TRACEBACK"):
            raise
        where = traceback.extract_tb(error.__traceback__)[-1]
        at = f"{Path(where.filename).name}:{where.lineno}"
        said = str(error)[:200] or "no message"
        _fail(f"internal error, {type(error).__name__} at {at}: {said}; {_REPORT}", status=70)


def _terminate_like_interrupt() -> None:
    """Let SIGTERM raise KeyboardInterrupt in this process; in a fork it ends it, as always."""
    owner = os.getpid()

    def handle(number: int, frame: FrameType | None) -> None:
        if os.getpid() == owner:
            raise KeyboardInterrupt
        signal.signal(number, signal.SIG_DFL)
        os.kill(os.getpid(), number)

    if signal.getsignal(signal.SIGTERM) is signal.SIG_DFL:
        signal.signal(signal.SIGTERM, handle)


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
    click.echo(f"relaxboost: {' '.join(message.split())}", err=True)
    sys.exit(status)

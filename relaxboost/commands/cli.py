"""The commands of the command line, and the exit status and message for each error."""

from __future__ import annotations

import contextlib
import errno
import io
import os
import re
import sys
import traceback
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import click

from relaxboost import __version__
from relaxboost._core.errors import InputError, MissingDependencyError
from relaxboost._core.names import known_names
from relaxboost.commands.style import complain

VERBS = {
    "certify": "Convert a certificate to a format that other checkers read.",
    "check": "Check whether a certificate proves its bounds.",
    "claims": "Check the claims of papers on certified instances.",
    "doctor": "Print installed libraries, working solvers, and missing extras.",
    "instances": "Make and check sets of games with certified optima.",
    "online": "Learn from a stream of examples, and bound the regret.",
    "plan": "Learn the costs under which demonstrated paths are shortest.",
    "predict": "Predict labels with a model written by solve --model.",
    "solve": "Find the largest margin of a vote of stumps, with a proof.",
}
"""The commands by name, with their descriptions in --help. They are listed here because the module
of a command is loaded only when the command runs."""

_GRID = (
    "relaxboost plan reads tables; for a grid, build the graph in Python with "
    "relaxboost.planning.grid(layers, passable)"
)
REMOVED = {
    "reproduce": "the command reproduce is now a script in the source repository; run python -m "
    "benchmarks.reproductions there with the same options",
    "--report": "solve does not write HTML pages; read the printed report, or draw it with --plot",
    **dict.fromkeys(["--map", "--layers", "--passable", "--neighbours", "--scenarios"], _GRID),
}
"""The error messages for removed commands and options, which name their replacements."""


class _Verbs(click.Group):
    """The group of all commands. Modules of commands are loaded at their first use, so that --help
    is fast."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names of all commands."""
        return list(VERBS)

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        """Load a command from its module, or return None if the name is unknown."""
        if name not in VERBS:
            return None
        return getattr(import_module(f"relaxboost.commands.{name}"), name)

    def make_context(self, *given: Any, **options: Any) -> click.Context:
        """Parse the arguments, and print --help or --version if requested."""
        with _status_of_unread_output():
            return super().make_context(*given, **options)

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command named in the arguments."""
        with _status_of_unread_output():
            return super().invoke(ctx)

    def resolve_command(self, ctx: click.Context, args: list[str]) -> Any:
        """Return the command named in the first argument.

        If there is no such command, the InputError lists all commands.
        """
        name = args[0]
        if name not in VERBS and not ctx.resilient_parsing and not name.startswith("-"):
            unknown = f"there is no command {name!r}{known_names(name, VERBS)}"
            raise InputError(REMOVED.get(name, unknown))
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the list of commands for --help without loading their modules."""
        with formatter.section("Commands"):
            formatter.write_dl(list(VERBS.items()))


@click.group(cls=_Verbs)
@click.version_option(__version__, prog_name="relaxboost")
def cli() -> None:
    """Solve the convex problems behind boosting, with certified bounds.

    \b
    Every command exits with 2 for bad input, 70 for an error in relaxboost, 74
    if the output cannot be written, and 130 if it is interrupted before there
    is anything to report. The --help of a command lists further statuses.
    """


@contextlib.contextmanager
def _status_of_unread_output() -> Iterator[None]:
    # If the program that reads the output has closed the pipe, click would exit with status 1.
    try:
        yield
    except BrokenPipeError:
        _drop_output()
        sys.exit(74)


def main(arguments: list[str] | None = None) -> None:
    """Run the command line, and print errors as one line on standard error."""
    _open_outputs()
    words = sys.argv[1:] if arguments is None else arguments
    # Click would print errors in its own form and with its own statuses, so it returns them here.
    try:
        _check_empty(words)
        cli.main(args=words, prog_name="relaxboost", standalone_mode=False)
        sys.stdout.flush()
    except click.exceptions.NoArgsIsHelpError as error:
        click.echo(error.format_message())
        sys.exit(2)
    except click.ClickException as error:
        _fail(_usage(error))
    except (InputError, MissingDependencyError) as error:
        _fail(str(error))
    except (click.Abort, KeyboardInterrupt) as error:
        _fail(str(error) or "interrupted before there was anything to report", status=130)
    except OSError as error:
        _fail_at_file(error)
    except Exception as error:
        # A traceback does not help a user. Its innermost frame is enough for a report.
        if os.environ.get("RELAXBOOST_TRACEBACK"):
            raise
        where = traceback.extract_tb(error.__traceback__)[-1]
        at = f"{Path(where.filename).name}:{where.lineno}"
        said = str(error)[:200] or "no message"
        _fail(
            f"internal error, {type(error).__name__} at {at}: {said}; set RELAXBOOST_TRACEBACK=1 "
            "to see where, and please report it with the command",
            status=70,
        )


def _check_empty(words: list[str]) -> None:
    # An unset shell variable gives an empty argument, which is a likelier mistake than an unknown
    # option.
    for before, word in zip(["relaxboost", *words], words, strict=False):
        if not word or re.fullmatch("--[a-z-]+=", word):
            option = word.removesuffix("=") or before
            raise InputError(
                f"the value after {option} is empty; pass a value, or leave the option out"
            )


def _usage(error: click.ClickException) -> str:
    if isinstance(error, click.NoSuchOption) and error.option_name in REMOVED:
        return REMOVED[error.option_name]
    message = error.format_message()
    if not isinstance(error, click.UsageError):
        return message
    # Click lists similar names of commands and options. The message suggests the most similar name
    # only.
    if near := getattr(error, "possibilities", None):
        return f"{error.message.rstrip('.')}; did you mean {near[0]}?"
    given = re.match(r"'(.*)' is not one of ", error.message)
    option = error.param if isinstance(error, click.BadParameter) else None
    if given and option and isinstance(option.type, click.Choice):
        remedy = known_names(given[1], option.type.choices)
        return f"{option.opts[-1]} {given[1]!r} is unknown{remedy}"
    see = f"; see {error.ctx.command_path} --help" if error.ctx else ""
    return message.rstrip(".") + see


def _fail_at_file(error: OSError) -> None:
    _drop_output()
    if isinstance(error, BrokenPipeError):
        sys.exit(74)
    where = error.filename or "the output"
    why = error.strerror or error
    is_full = error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO)
    if error.filename is not None and not is_full:
        _fail(f"cannot use {where}: {why}; check the path")
    _fail(f"cannot write {where}: {why}; free some disk space", status=74)


def _open_outputs() -> None:
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        # Python has no stream if the shell closed it by >&-.
        if stream is None:
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115
        elif isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def _drop_output() -> None:
    # Writing the buffered output at exit would fail again.
    nowhere = os.open(os.devnull, os.O_WRONLY)
    with contextlib.suppress(OSError, ValueError):  # In tests the stream has no file descriptor.
        os.dup2(nowhere, sys.stdout.fileno())
    os.close(nowhere)


def _fail(message: str, status: int = 2) -> None:
    # If standard error cannot be written either, only the exit status reports the error.
    with contextlib.suppress(OSError):
        complain(message)
    sys.exit(status)

"""What all verbs share: --quiet, and - for standard input."""

from __future__ import annotations

import atexit
import contextlib
import os
import re
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any

import click

from relaxboost._core import progress
from relaxboost._core.errors import InputError

_INPUT = "standard input"


class InputFile(click.Path):
    """A path; - stands for standard input, which is first read to its end into a file."""

    def __init__(self, suffix: str = "") -> None:
        super().__init__(path_type=Path)
        self.suffix = suffix  # for what is read by its ending

    def convert(self, value: Any, param: Any, ctx: Any) -> Any:
        """Return the path."""
        if str(value) != "-":
            return super().convert(value, param, ctx)
        if sys.stdin is None:
            raise InputError("standard input is closed; name a file in place of -")
        folder = tempfile.mkdtemp(prefix="relaxboost-")
        atexit.register(shutil.rmtree, folder, ignore_errors=True)
        path = Path(folder, _INPUT + self.suffix)
        with path.open("wb") as file:
            shutil.copyfileobj(sys.stdin.buffer, file)
        return path


matrix_option = click.option(
    "--matrix",
    type=InputFile(),
    help="The margin matrix, where the certificate has its SHA-256 only: a line of numbers with "
    "commas between them for each row.",
)


def check_there(*files: Path | None) -> None:
    """Raise for a path that is no file."""
    for path in files:
        if path is not None and not path.is_file():
            raise InputError(f"{path} {'is no file' if path.exists() else 'does not exist'}")


def spoken_input(message: str) -> str:
    """Return a message that names standard input where it named the file it was read into."""
    return re.sub(rf"[^\s'\"]*{re.escape(os.sep)}{_INPUT}", _INPUT, message)


def quietly(command: click.Command) -> click.Command:
    """Give a verb, or each verb of a group, the option --quiet where it has none of its own."""
    if isinstance(command, click.Group):
        for each in command.commands.values():
            quietly(each)
        return command
    inner = command.callback
    if inner is None or any(one.name == "quiet" for one in command.params):
        return command

    def run(*, quiet: bool, **given: Any) -> Any:
        if not quiet:
            return inner(**given)
        with contextlib.ExitStack() as stack:
            stack.callback(progress.quiet.reset, progress.quiet.set(True))
            if not given.get("as_json"):
                nowhere = stack.enter_context(open(os.devnull, "w", encoding="utf-8"))
                stack.enter_context(contextlib.redirect_stdout(nowhere))
            return inner(**given)

    said = "Print errors only, and what --json asks for."
    command.params.append(click.Option(["--quiet"], is_flag=True, help=said))
    command.callback = run
    return command

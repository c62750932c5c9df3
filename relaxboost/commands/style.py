"""What all verbs share: --json, --quiet, - for standard input and output, and lines that fit."""

from __future__ import annotations

import contextlib
import io
import json
import os
import re
import shutil
import sys
import tempfile
import textwrap
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import click

from relaxboost._core import progress
from relaxboost._core.errors import InputError
from relaxboost._core.files import check_input
from relaxboost._core.names import did_you_mean

_INPUT, _OUTPUT = "standard input", "standard output"
_KEY = re.compile(r" *(?:[\w<=]+(?: \w+)?: +)?")
"""What a line begins with: it goes on below what follows."""
_COMMAND = re.compile(r"relaxboost \w|\S+ -m pip ")
_INSTALL = re.compile(r"pip install( '[^']+')+")
"""Commands within a sentence, which stay on one line."""
_OPTIONS = re.compile(r"(?<![\w'\"/.-])(time_limit|max_rounds|r?tol(?= must))(?![\w'\"/]|\.\w)")
"""What the library calls options that several verbs have, but for names in quotes and paths."""


class InputFile(click.Path):
    """A path; - stands for standard input, which is first read to its end into a file."""

    def __init__(self) -> None:
        super().__init__(path_type=Path)

    def convert(self, value: Any, param: Any, ctx: Any) -> Any:
        """Return the path."""
        pipe = Path(value).is_fifo()  # as a shell makes it of <(command), which has no size
        if str(value) != "-" and not pipe:
            return super().convert(value, param, ctx)
        if sys.stdin is None and not pipe:
            raise InputError("standard input is closed; name a file in place of -")
        if not pipe and ctx.meta.setdefault(_INPUT, param) is not param:
            raise InputError("standard input is read once only; name a file in place of one -")
        if pipe:
            return self.taken(ctx.find_root().with_resource(Path(value).open("rb")), ctx)
        return self.taken(sys.stdin.buffer, ctx)

    def taken(self, given: Any, ctx: click.Context) -> Any:
        """Return a file with what is in a pipe."""
        path = _beside(ctx, _INPUT)
        with path.open("wb") as file:
            shutil.copyfileobj(given, file)
        return path


class PipedFile(InputFile):
    """A path; - stands for standard input, which is handed on as it comes where it is CSV."""

    def taken(self, given: Any, ctx: click.Context) -> Any:
        """Return the pipe itself, or a file with what is in it."""
        given = given if hasattr(given, "peek") else io.BufferedReader(given)
        packed = given.peek(4)[:4].startswith((b"PAR1", b"\x1f\x8b"))
        return super().taken(given, ctx) if packed else given


class OutputFile(click.Path):
    """A path to write; - stands for standard output, where all else goes to standard error."""

    def __init__(self, suffix: str) -> None:
        super().__init__(path_type=Path)
        self.suffix = suffix

    def convert(self, value: Any, param: Any, ctx: Any) -> Any:
        """Return the path."""
        if str(value) != "-":
            return super().convert(value, param, ctx)
        return _beside(ctx, _OUTPUT + self.suffix)


def _beside(ctx: click.Context, name: str) -> Path:
    """Return a path in a folder that goes when the command ends."""
    folder = tempfile.TemporaryDirectory(prefix="relaxboost-", ignore_cleanup_errors=True)
    return Path(ctx.find_root().with_resource(folder), name)


matrix_option = click.option(
    "--matrix",
    type=InputFile(),
    help="The margin matrix, where the certificate has its SHA-256 only: a line of numbers with "
    "commas between them for each row.",
)


sep_option = click.option(
    "--sep", default=",", show_default=True, help="What separates columns of a CSV: a character."
)


def check_there(*files: Path | None) -> None:
    """Raise for a path that is no file."""
    for path in files:
        if path is not None:
            check_input(path)


def check_name(option: str, given: str | None, known: Iterable[str]) -> None:
    """Raise for a name that is none of those that an option takes."""
    if given is not None and given not in known:
        near = did_you_mean(given, known, 0.6)
        names = ", ".join(sorted(known))
        raise InputError(f"{option} {given!r} is unknown{near}; choose one of {names}")


def spoken_matrix(message: str) -> str:
    """Return a message that names --matrix instead of the argument A of Python."""
    # Help comes at once, without the modules of certificates.
    from relaxboost.certificates.certificate import MATRIX_ARGUMENT

    return message.replace(MATRIX_ARGUMENT, "--matrix FILE")


def spoken_input(message: str) -> str:
    """Return a message that names --sep, and standard input where it was read into a file."""
    message = re.sub(r"\bgive sep=", "give --sep ", message)
    return re.sub(rf"[^\s'\"]*{re.escape(os.sep)}({_INPUT}|{_OUTPUT})(\.\w+)?", r"\1", message)


def show(as_json: bool, data: Any, text: str) -> None:
    """Print data for machines, or else lines."""
    if as_json:  # bounds are fractions
        click.echo(json.dumps(data, indent=2, ensure_ascii=False, allow_nan=False, default=str))
    else:
        say(text)


def say(text: str, err: bool = False) -> None:
    """Print lines; on a terminal they wrap where they are wider, but for commands to copy."""
    columns = shutil.get_terminal_size().columns
    lines = spoken_input(text).split("\n")
    if (sys.stderr if err else sys.stdout).isatty() and columns >= 40:
        lines = [folded(x, columns) if len(x) > columns else x for x in lines]
    click.echo("\n".join(lines), err=err)


def complain(text: str) -> None:
    """Print a line on standard error, in the words of the command line."""
    text = _OPTIONS.sub(lambda found: "--" + found[1].replace("_", "-"), " ".join(text.split()))
    say(f"relaxboost: {text}", err=True)


@contextlib.contextmanager
def kept(what: str) -> Iterator[progress.Bar]:
    """Show a bar; on Ctrl-C say that nothing is lost, as of verbs that keep what they have done."""
    try:
        with progress.bar(what) as bar:
            yield bar
    except KeyboardInterrupt:
        said = "interrupted; what is finished is kept, and the same command goes on"
        raise click.Abort(said) from None


def folded(line: str, columns: int, hang: int | None = None) -> str:
    """Return a line in several if it is wider, the others `hang` further in, or as its words."""
    found = _KEY.match(line)
    if found and _COMMAND.match(line, found.end()):
        return line
    start = found.end() if found and hang is None else len(line) - len(line.lstrip())
    return textwrap.fill(
        _INSTALL.sub(lambda found: found[0].replace(" ", "\xa0"), line[start:]),
        columns,
        initial_indent=line[:start],
        subsequent_indent=" " * min(start + (hang or 0), columns // 2),
        break_on_hyphens=False,
        break_long_words=False,  # such as paths
    ).replace("\xa0", " ")


def quietly(command: click.Command) -> click.Command:
    """Give a verb, or each of a group, --json and --quiet."""
    if isinstance(command, click.Group):
        for each in command.commands.values():
            quietly(each)
        return command
    inner = command.callback
    if inner is None or "quiet" in {one.name for one in command.params}:  # it was here before
        return command

    def run(*, quiet: bool, **given: Any) -> Any:
        printed = [one for one in given.values() if isinstance(one, Path) and _OUTPUT in one.stem]
        if len(printed) + bool(given.get("as_json")) > 1:
            raise InputError("standard output takes one thing only; give a file in place of -")
        with contextlib.ExitStack() as stack:
            for path in printed:
                stack.callback(_print, path)
                stack.enter_context(contextlib.redirect_stdout(sys.stderr))
            if quiet:
                stack.callback(progress.quiet.reset, progress.quiet.set(True))
                if not given.get("as_json"):
                    nowhere = stack.enter_context(open(os.devnull, "w", encoding="utf-8"))
                    stack.enter_context(contextlib.redirect_stdout(nowhere))
            return inner(**given)

    for flag, said in (
        (["--json", "as_json"], "Print data for machines."),
        (["--quiet"], "Print errors only, and what --json asks for."),
    ):
        command.params.append(click.Option(flag, is_flag=True, help=said))
    command.callback = run
    return command


def _print(path: Path) -> None:
    if path.exists():
        sys.stdout.buffer.write(path.read_bytes())
        sys.stdout.flush()

"""Options, argument types and print functions that all commands share."""

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
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from fractions import Fraction
from pathlib import Path
from typing import Any

import click

from relaxboost._core import progress
from relaxboost._core.digits import number
from relaxboost._core.errors import InputError, few, number_of
from relaxboost._core.files import check_input, naming
from relaxboost._core.names import known_names, printable
from relaxboost.commands.words import in_options

MAX_LISTED = 20
"""The maximum number of list entries that a command prints, which fit on one screen."""
_INPUT = "standard input"
_OUTPUT = "standard output"
# This matches the key at the start of a line. Continuation lines are indented to the text after the
# key.
_KEY = re.compile(r" *(?:[\w<=]+(?: \w+)?: +)?")
_COMMAND = re.compile(r"relaxboost \w|\S+ -m pip ")
# This matches commands within a sentence, which stay on one line.
_INSTALL = re.compile(r"pip install( '[^']+')+")
# This matches control characters that JSON text may contain, and that some terminals obey.
_C1_CONTROLS = re.compile("[\x7f-\x9f]")


class InputFile(click.Path):
    """The type of an input file, or - for standard input."""

    def __init__(self) -> None:
        super().__init__(path_type=Path)

    def convert(self, value: Any, param: Any, ctx: Any) -> Any:
        """Return the path of the input file. A pipe is copied to a file first."""
        # A shell makes a pipe of <(command). Readers need a file, whose size and end are known and
        # which they can read twice.
        if Path(value).is_fifo():
            return self.taken(ctx.find_root().with_resource(Path(value).open("rb")), ctx)
        if str(value) != "-":
            return super().convert(value, param, ctx)
        if sys.stdin is None:
            raise InputError("standard input is closed; replace - with a file name")
        if ctx.meta.setdefault(_INPUT, param) is not param:
            raise InputError("standard input can be read only once; replace one - with a file name")
        return self.taken(sys.stdin.buffer, ctx)

    def taken(self, given: Any, ctx: click.Context) -> Any:
        """Copy the content of a pipe to a file, and return its path."""
        # The file is called "standard input", and `spoken_input` shows only this name in messages.
        path = _beside(ctx, _INPUT)
        with naming(path), path.open("wb") as file:
            shutil.copyfileobj(given, file)
        return path


class PipedFile(InputFile):
    """The type of an input file, or - for a CSV that is read as it arrives."""

    def taken(self, given: Any, ctx: click.Context) -> Any:
        """Return the pipe, or the path of a copy if its content is compressed or Parquet."""
        given = given if hasattr(given, "peek") else io.BufferedReader(given)
        # Parquet has its index at the end, and gzip delays rows, so both are read to the end first.
        packed = given.peek(4)[:4].startswith((b"PAR1", b"\x1f\x8b"))
        return super().taken(given, ctx) if packed else given


class OutputFile(click.Path):
    """The type of an output file, or - for standard output."""

    def __init__(self, suffix: str) -> None:
        super().__init__(path_type=Path)
        self.suffix = suffix

    def convert(self, value: Any, param: Any, ctx: Any) -> Any:
        """Return the path of the output file, or of a temporary file for -."""
        if str(value) != "-":
            return super().convert(value, param, ctx)
        path = _beside(ctx, _OUTPUT + self.suffix)
        # `Verb.invoke` prints these files when the command has ended.
        ctx.meta.setdefault(_OUTPUT, {})[param.name] = path
        return path


def _beside(ctx: click.Context, name: str) -> Path:
    # The folder is deleted when the command ends.
    folder = tempfile.TemporaryDirectory(prefix="relaxboost-", ignore_cleanup_errors=True)
    return Path(ctx.find_root().with_resource(folder), name)


matrix_option = click.option(
    "--matrix",
    type=InputFile(),
    help="The margin matrix, if the certificate contains only its SHA-256: a line of "
    "comma-separated numbers for each row. For stumps, each line has y (1 or -1) and the features.",
)


sep_option = click.option(
    "--sep", default=",", show_default=True, help="The character that separates columns of a CSV."
)
drop_option = click.option(
    "--drop",
    metavar="COLUMNS",
    multiple=True,
    help="Columns to leave out, separated by commas. The option may be repeated.",
)
time_limit_option = click.option(
    "--time-limit", type=float, help="Stop after this number of seconds."
)


def columns_of(given: Iterable[str]) -> list[str]:
    """Return the column names in all values of a repeatable option, separated by commas."""
    return [name.strip() for text in given for name in text.split(",") if name.strip()]


def check_there(*files: Path | None) -> None:
    """Raise an InputError if a path is not an existing file."""
    for path in files:
        if path is not None:
            check_input(path)


def check_name(option: str, given: str | None, known: Iterable[str]) -> None:
    """Raise an InputError if the value of an option is not a known name."""
    if given is not None and given not in known:
        raise InputError(f"{option} {given!r} is unknown{known_names(given, sorted(known))}")


def spoken_matrix(message: str) -> str:
    """Return an error message with --matrix instead of the Python argument A."""
    # The import is here so that --help does not load the modules of certificates.
    from relaxboost.certificates.certificate import BINARY_REMEDY, MATRIX_ARGUMENT

    message = message.replace(BINARY_REMEDY, BINARY_REMEDY.partition(", or")[0])
    return message.replace(MATRIX_ARGUMENT, "--matrix FILE")


def spoken_input(message: str) -> str:
    """Return an error message with "standard input" or "standard output" instead of a temporary
    file."""
    return re.sub(rf"[^\s'\"]*{re.escape(os.sep)}({_INPUT}|{_OUTPUT})(\.\w+)?", r"\1", message)


def show(as_json: bool, data: Any, text: str) -> None:
    """Print a result: `data` as JSON if `as_json` is true, and `text` otherwise."""
    if as_json:  # Bounds are fractions, which become strings.
        # JSON has no nan, and other programs would not read it.
        said = json.dumps(data, indent=2, ensure_ascii=False, allow_nan=False, default=_as_text)
        click.echo(_C1_CONTROLS.sub(lambda found: f"\\u{ord(found[0]):04x}", said))
    else:
        say(text)


def _as_text(value: Any) -> str:
    # Bounds are fractions, which are printed exactly.
    return number(value) if isinstance(value, Fraction) else str(value)


def say(text: str, err: bool = False) -> None:
    """Print text on standard output, or on standard error if `err` is true.

    On a terminal, wide lines are wrapped, except for commands to copy.
    """
    columns = shutil.get_terminal_size().columns
    lines = printable(spoken_input(text)).split("\n")
    # A pipe gets whole lines, so that programs such as grep find them.
    if (sys.stderr if err else sys.stdout).isatty() and columns >= 40:
        lines = [folded(x, columns) if len(x) > columns else x for x in lines]
    click.echo("\n".join(lines), err=err)


def complain(text: str) -> None:
    """Print an error message as one line on standard error, with options instead of Python
    arguments."""
    say(f"relaxboost: {in_options(' '.join(text.split()))}", err=True)


def note(text: str) -> None:
    """Print a note as one line on standard error, unless --quiet was given."""
    if not progress.quiet.get():
        complain(text)


@contextlib.contextmanager
def kept(what: str) -> Iterator[progress.Bar]:
    """Show a progress bar for a command that stores its results and can continue after Ctrl-C."""
    try:
        with progress.bar(what) as bar:
            yield bar
    except KeyboardInterrupt:
        said = "interrupted; finished results are stored, and the same command continues"
        raise click.Abort(said) from None


def folded(line: str, columns: int, hang: int | None = None) -> str:
    """Wrap a line such as "status:     optimal" to a number of columns.

    Continuation lines start below the text after the key or, if `hang` is given, `hang` spaces to
    the right of the line.
    """
    found = _KEY.match(line)
    # A command that is wrapped cannot be copied into a shell.
    if found and _COMMAND.match(line, found.end()):
        return line
    start = found.end() if found and hang is None else len(line) - len(line.lstrip())
    # `fill` does not break at the no-break spaces that stand for blanks in commands.
    return textwrap.fill(
        _INSTALL.sub(lambda found: found[0].replace(" ", "\xa0"), line[start:]),
        columns,
        initial_indent=line[:start],
        subsequent_indent=" " * min(start + (hang or 0), columns // 2),
        break_on_hyphens=False,
        break_long_words=False,  # A path is not divided, so that it can be copied.
    ).replace("\xa0", " ")


class Verb(click.Command):
    """A command of relaxboost, with the options --json and --quiet.

    Its error messages name options as users type them, for example --time-limit. It rejects
    repeated options that may be passed only once.
    """

    def __init__(self, *given: Any, **options: Any) -> None:
        super().__init__(*given, **options)
        for flag, said in (
            (["--json", "as_json"], "Print the result as JSON."),
            (["--quiet"], "Print only errors, and the result of --json."),
        ):
            self.params.append(click.Option(flag, is_flag=True, help=said))

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse the arguments, and reject options that are passed too often."""
        # The parser empties its list. Click itself takes the last of several values.
        _, _, order = self.make_parser(ctx).parse_args(list(args))
        for option in order:
            # A flag that is given twice means the same as once.
            is_single = isinstance(option, click.Option) and not (option.multiple or option.is_flag)
            if is_single and order.count(option) > 1:
                raise InputError(f"{max(option.opts, key=len)} is passed twice; pass it only once")
        return super().parse_args(ctx, args)

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command, and print its result.

        Only one result, from --json or a file name -, can go to standard output. --quiet hides all
        other output except errors.
        """
        quiet = ctx.params.pop("quiet")
        as_json = bool(ctx.params.get("as_json"))
        printed = list(ctx.meta.get(_OUTPUT, {}).values())
        # A program that reads the output could not separate two results.
        if len(printed) + as_json > 1:
            raise InputError(
                "only one result can go to standard output; replace one - with a file name"
            )
        with contextlib.ExitStack() as stack:
            _redirect(stack, printed, quiet, as_json)
            try:
                return super().invoke(ctx)
            except InputError as error:
                raise InputError(in_options(str(error))) from error


class VerbGroup(click.Group):
    """A group of commands, whose decorator `command` makes each function a `Verb`."""

    command_class = Verb


def _redirect(
    stack: contextlib.ExitStack, printed: Iterable[Path], quiet: bool, as_json: bool
) -> None:
    for path in printed:
        # The callbacks run when the command has ended, before the folder of the file is deleted.
        # Until then, all other output goes to standard error.
        stack.callback(_print, path)
        stack.enter_context(contextlib.redirect_stdout(sys.stderr))
    stack.enter_context(warnings.catch_warnings())
    # A warning is one line, without its location in the code.
    warnings.showwarning = lambda message, *_, **__: note(str(message))
    if quiet:
        stack.callback(progress.quiet.reset, progress.quiet.set(True))
        if not as_json:
            stack.enter_context(contextlib.redirect_stdout(io.StringIO()))


def _print(path: Path) -> None:
    if path.exists():
        sys.stdout.buffer.write(path.read_bytes())
        sys.stdout.flush()


DOMAINS = {"l1": "L1Ball", "simplex": "Simplex", "full-simplex": "FullSimplex", "l2": "L2Ball"}
"""The class names of the domains, by the value of --over."""


def added(*options: Callable[..., Any]) -> Callable[..., Any]:
    """Return a decorator that adds options to a command, in the given order."""

    def decorate(command: Callable[..., Any]) -> Callable[..., Any]:
        for option in reversed(options):
            command = option(command)
        return command

    return decorate


HUGE = "{} has numbers whose squares overflow; if such a number marks a missing value, {}"
"""The note about columns whose numbers are too large to be squared, with places for the column
names and the advice."""


def huge_columns(names: Iterable[str], numbers: Any) -> list[str]:
    """Return the names of the columns that contain a number whose square overflows."""
    import numpy as np  # The import is here because --help does not need it.

    with np.errstate(over="ignore"):
        is_huge = np.isinf(numbers**2).any(axis=0)
    return [name for name, huge in zip(names, is_huge, strict=True) if huge]


def note_huge(names: Iterable[str], numbers: Any) -> None:
    """Print a note about the columns that contain a number whose square overflows."""
    if found := huge_columns(names, numbers):
        note(HUGE.format(few(found, MAX_LISTED, repr), "write a usual value instead"))


def largest(*values: Mapping[str, float], sizes: Mapping[str, float] | None = None) -> list[str]:
    """Return table lines with a row for each name and a column for each mapping.

    Rows are in descending order of `sizes` or, by default, of the absolute values in the first
    mapping. At most `MAX_LISTED` names have rows. Two further lines count the omitted names, if
    any: one the nonzero names that do not fit, the other the names with only zeros.
    """
    size = {name: abs(value) for name, value in values[0].items()} if sizes is None else sizes
    # The sort is stable: names of equal size keep their order.
    order = sorted((n for n in size if any(one[n] for one in values)), key=lambda n: -size[n])
    lines = [
        "  " + "".join(f"{one[name]:<12.6g} " for one in values) + name
        for name in order[:MAX_LISTED]
    ]
    if len(order) > MAX_LISTED:
        lines.append(f"  and {len(order) - MAX_LISTED} more, none larger; --json has them all")
    if zero := len(size) - len(order):
        lines.append("  " + f"{0:<12} " * len(values) + number_of(zero, "other"))
    return lines

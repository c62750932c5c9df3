"""The errors that users see, and helpers that build their messages."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

BRIEF_CHARACTERS = 300
# All classes of the package have a shorter repr.
"""The maximum length of a repr in a message."""


class InputError(ValueError):
    """Invalid input.

    It is raised before a computation starts, if possible.

    Examples
    --------
    >>> import relaxboost as rb
    >>> try:
    ...     rb.Capped(k=0)
    ... except rb.InputError as error:
    ...     print(error)
    Capped(k=0) needs k >= 1, since no weight d_i exceeds 1/k
    """


class SolverError(InputError):
    """A solver returned no solution.

    The usual cause is badly scaled data.
    """


class RowError(InputError):
    """An invalid row of a user's table.

    The arguments are the text before the row number, the row number, and the text after it.
    """

    def __str__(self) -> str:
        before, row, after = self.args
        return f"{before}row {row}{after}"

    def moved(self, by: int) -> RowError:
        """Return the same error with `by` added to the row number.

        Functions that read a part of a table count rows from the start of the part.
        """
        before, row, after = self.args
        return RowError(before, row + by, after)


@contextmanager
def error_prefix(where: str) -> Iterator[None]:
    """Prefix the message of any `InputError` raised within the context.

    `where` names the place of the error, such as a file.
    """
    try:
        yield
    except InputError as error:
        error.args = (f"{where}{error}",)
        raise


def few(values: Sequence[Any], most: int, said: Callable[[Any], str] = str) -> str:
    """Join at most `most` values of a sequence into text, such as "a, b, ...".

    `said` converts a value to text.
    """
    return ", ".join(map(said, values[:most])) + ", ..." * (len(values) > most)


def brief(thing: object, most: int = BRIEF_CHARACTERS) -> str:
    """Return the repr of an object for an error message, cut to `most` characters."""
    text = repr(thing)
    return text if len(text) <= most else f"{text[: most * 2 // 3]} ... {text[-(most // 8) :]}"


def class_hint(given: object, options: str = "...") -> str:
    """Return the end of a message for a user who passed a class instead of an object.

    It is a call such as "; write Ridge(...)", or "" if the value is not a class.
    """
    return f"; write {given.__name__}({options})" if isinstance(given, type) else ""


def number_of(count: int, what: str) -> str:
    """Return a count with its noun, such as "1 task" or "2 tasks"."""
    return f"{count} {what}{'s' * (count != 1)}"


class MissingDependencyError(ImportError):
    """An optional library is missing.

    The message contains the command that installs it.
    """


def requirements(extra: str | None) -> list[str]:
    """Return the requirements of an optional extra, in pip's notation.

    If `extra` is None, return the requirements of relaxboost itself.
    """
    from importlib import metadata

    try:
        given = metadata.requires("relaxboost") or []
    # This error means that relaxboost runs from a checkout and was never installed.
    except metadata.PackageNotFoundError:
        return []
    asked = [re.split(r"\s*;\s*extra == |['\"]", line) for line in given]
    return [one[0] for one in asked if one[2:3] == ([] if extra is None else [extra])]


def install(extra: str, only: str = "") -> str:
    """Return the shell command that installs the requirements of an optional extra.

    The command also works outside a checkout. If `only` is given, it installs only the requirements
    whose names start with `only`.
    """
    required = " ".join(f"'{one}'" for one in requirements(extra) if one.startswith(only))
    return f"pip install {required}" if required else f"pip install '.[{extra}]' in a checkout"


def missing(said: str, extra: str, only: str = "") -> MissingDependencyError:
    """Return the error for a missing optional library.

    `said` starts the message, such as "pictures need matplotlib".
    """
    return MissingDependencyError(f"{said} (extra {extra}): {install(extra, only)}")


def check_drawing() -> None:
    """Raise a MissingDependencyError if matplotlib is not installed."""
    try:
        import matplotlib  # noqa: F401
    except ImportError:
        raise missing("pictures need matplotlib", "plots") from None


class ClusterError(RuntimeError):
    """The cluster of a run is no longer available, or cannot read the run's files."""

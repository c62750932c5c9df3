"""The errors that users see. A message names the parameter, states the rule and gives advice."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

BRIEF_CHARACTERS = 300
"""The largest length of a repr in a message. All classes of the package have a shorter repr."""


class InputError(ValueError):
    """The error for invalid input.

    If possible, the error is raised before a computation starts.

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
    """The error that is raised if a solver returns no solution.

    Badly scaled numbers are the usual cause.
    """


class RowError(InputError):
    """The error for an invalid row of a table that a user has passed.

    The error has three arguments: the text before the number of the row, the number, and the text
    after it. The message joins them and writes the word "row" before the number.
    """

    def __str__(self) -> str:
        before, row, after = self.args
        return f"{before}row {row}{after}"

    def moved(self, by: int) -> RowError:
        """Return an error with the same text, in which `by` is added to the number of the row.

        A function that reads a part of a table counts the rows from the start of this part. Its
        caller adds the number of the rows before the part.
        """
        before, row, after = self.args
        return RowError(before, row + by, after)


@contextmanager
def error_prefix(where: str) -> Iterator[None]:
    """Add a prefix to the message of an `InputError` that is raised within the context.

    The prefix `where` names the place of the error, such as a file.
    """
    try:
        yield
    except InputError as error:
        error.args = (f"{where}{error}",)
        raise


def few(values: Sequence[Any], most: int, said: Callable[[Any], str] = str) -> str:
    """Return the first values of a sequence as text, such as "a, b, ...".

    `most` is the largest number of values to show, and `said` is the function that converts a value
    to text.
    """
    return ", ".join(map(said, values[:most])) + ", ..." * (len(values) > most)


def brief(thing: object, most: int = BRIEF_CHARACTERS) -> str:
    """Return the repr of an object for an error message, shortened if it has too many characters.

    `most` is the largest number of characters. A relaxation of a user-defined dataclass may have
    fields of thousands of numbers.
    """
    text = repr(thing)
    return text if len(text) <= most else f"{text[: most * 2 // 3]} ... {text[-(most // 8) :]}"


def class_hint(given: object, options: str = "...") -> str:
    """Return the end of an error message for a user who passed a class instead of an object.

    It shows how to create an object, for example "; write Ridge(...)". If the value is not a class,
    the result is an empty string.
    """
    return f"; write {given.__name__}({options})" if isinstance(given, type) else ""


def number_of(count: int, what: str) -> str:
    """Return a count with its noun, such as "1 task" or "2 tasks"."""
    return f"{count} {what}{'s' * (count != 1)}"


class MissingDependencyError(ImportError):
    """The error that is raised if an optional library is missing.

    The message contains the command to install it.
    """


def requirements(extra: str | None) -> list[str]:
    """Return the requirements of an optional extra of relaxboost, in pip's notation.

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
    """Return the shell command that installs the requirements of an optional extra of relaxboost.

    The command also works outside a checkout. If `only` is given, only the requirements whose names
    start with this string are installed.
    """
    required = " ".join(f"'{one}'" for one in requirements(extra) if one.startswith(only))
    return f"pip install {required}" if required else f"pip install '.[{extra}]' in a checkout"


def missing(said: str, extra: str, only: str = "") -> MissingDependencyError:
    """Return the error for a missing optional library.

    The argument `said` is the start of the message, such as "pictures need matplotlib". The message
    then names the extra of relaxboost and the command that installs the library.
    """
    return MissingDependencyError(f"{said} (extra {extra}): {install(extra, only)}")


def check_drawing() -> None:
    """Raise a MissingDependencyError if matplotlib, which draws pictures, is not installed."""
    try:
        import matplotlib  # noqa: F401
    except ImportError:
        raise missing("pictures need matplotlib", "plots") from None


class ClusterError(RuntimeError):
    """The error that is raised if the cluster of a run is no longer available, or cannot read the
    files of the run.
    """

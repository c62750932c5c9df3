"""The errors that users see. Each message names the thing, the rule and the remedy."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any


class InputError(ValueError):
    """An input that cannot be used. The error is raised before work starts if possible.

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
    """A solver returned no answer, most often because entries differ too much in size."""


class RowError(InputError):
    """A row of a block that cannot be used; `moved` gives the row its number in the whole file.

    Parameters
    ----------
    before : str
        The text of the message before "row 3".
    row : int
        Counted from the beginning of the block.
    after : str
        The text of the message after "row 3".
    """

    def __str__(self) -> str:
        before, row, after = self.args
        return f"{before}row {row}{after}"

    def moved(self, by: int) -> RowError:
        """Return the error with the row number increased by `by`."""
        before, row, after = self.args
        return RowError(before, row + by, after)


def few(values: Sequence[Any], most: int, said: Callable[[Any], str] = str) -> str:
    """Return "a, b, ...", with at most `most` values."""
    return ", ".join(map(said, values[:most])) + ", ..." * (len(values) > most)


def number_of(count: int, what: str) -> str:
    """Return a count with its noun, such as "1 task" or "2 tasks"."""
    return f"{count} {what}{'s' * (count != 1)}"


class MissingDependencyError(ImportError):
    """A missing optional library; the message names the extra that installs it."""


def requirements(extra: str | None) -> list[str]:
    """Return the requirements of an extra, or of relaxboost itself for None, in pip's notation."""
    from importlib import metadata

    try:
        given = metadata.requires("relaxboost") or []
    except metadata.PackageNotFoundError:  # relaxboost was never installed
        return []
    asked = [re.split(r"\s*;\s*extra == |['\"]", line) for line in given]
    return [one[0] for one in asked if one[2:3] == ([] if extra is None else [extra])]


def install(extra: str, only: str = "") -> str:
    """Return the command that installs an extra, also outside of a checkout.

    With `only`, the command installs the requirements whose names begin with this text.
    """
    required = " ".join(f"'{one}'" for one in requirements(extra) if one.startswith(only))
    return f"pip install {required}" if required else f"pip install '.[{extra}]' in a checkout"


def missing(said: str, extra: str, only: str = "") -> MissingDependencyError:
    """Return the error for a missing optional library, with the command of `install`."""
    return MissingDependencyError(f"{said} (extra {extra}): {install(extra, only)}")


def check_drawing() -> None:
    """Raise a MissingDependencyError if matplotlib, which draws pictures, is missing."""
    try:
        import matplotlib  # noqa: F401
    except ImportError:
        raise missing("pictures need matplotlib", "plots") from None


class ClusterError(RuntimeError):
    """A cluster that computes for a run is gone, or cannot read the run's files."""

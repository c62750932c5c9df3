"""The errors a user meets. Each names the thing, the rule and the remedy."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any


class InputError(ValueError):
    """An input cannot be used. It is raised before work starts, if that is possible.

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
    """A solver gives no answer, most often since entries are of too different sizes for it."""


class RowError(InputError):
    """A row of a block cannot be used. Who knows where the block begins can say which it is.

    Parameters
    ----------
    before : str
        What is said before "row 3".
    row : int
        Counted from the beginning of the block.
    after : str
        What is said after it.
    """

    def __str__(self) -> str:
        before, row, after = self.args
        return f"{before}row {row}{after}"

    def moved(self, by: int) -> RowError:
        """Return the error of a row counted from so many rows before."""
        before, row, after = self.args
        return RowError(before, row + by, after)


def few(values: Sequence[Any], most: int, said: Callable[[Any], str] = str) -> str:
    """Return "a, b, ...", with so many values at the most."""
    return ", ".join(map(said, values[:most])) + ", ..." * (len(values) > most)


def number_of(count: int, what: str) -> str:
    """Return "1 task", "2 tasks"."""
    return f"{count} {what}{'s' * (count != 1)}"


class MissingDependencyError(ImportError):
    """An optional library is needed; the message says which extra brings it."""


def requirements(extra: str | None) -> list[str]:
    """Return what an extra requires, or with None relaxboost itself, as pip takes it."""
    from importlib import metadata

    try:
        given = metadata.requires("relaxboost") or []
    except metadata.PackageNotFoundError:  # a folder on the path that was never installed
        return []
    asked = [re.split(r"\s*;\s*extra == |['\"]", line) for line in given]
    return [one[0] for one in asked if one[2:3] == ([] if extra is None else [extra])]


def install(extra: str, only: str = "") -> str:
    """Return how to get what an extra brings, also where there is no checkout.

    With `only`, the beginning of a name, no more of it than that.
    """
    required = " ".join(f"'{one}'" for one in requirements(extra) if one.startswith(only))
    return f"pip install {required}" if required else f"pip install '.[{extra}]' in a checkout"


def missing(said: str, extra: str, only: str = "") -> MissingDependencyError:
    """Return the error for an optional library that is not there, with what `install` says."""
    return MissingDependencyError(f"{said} (extra {extra}): {install(extra, only)}")


def check_drawing() -> None:
    """Raise if a picture cannot be drawn."""
    try:
        import matplotlib  # noqa: F401
    except ImportError:
        raise missing("pictures need matplotlib", "plots") from None


class ClusterError(RuntimeError):
    """A cluster that computes for a run has gone away, or cannot see the run's files."""

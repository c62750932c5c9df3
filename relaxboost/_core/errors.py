"""The errors a user meets. Each names the thing, the rule and the remedy."""

from __future__ import annotations


class InputError(ValueError):
    """Something given to relaxboost cannot be used; raised before work starts wherever
    it can be known then."""


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


class MissingDependencyError(ImportError):
    """An optional library is needed; the message says which extra brings it."""


def install(extra: str) -> str:
    """Return how to get what an extra brings."""
    return f"pip install '.[{extra}]' in a checkout of relaxboost"


class ClusterError(RuntimeError):
    """A cluster that computes for a run has gone away, or cannot see the run's files."""

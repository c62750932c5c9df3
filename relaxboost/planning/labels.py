"""What the user calls the nodes, and their numbers."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from numbers import Integral

from relaxboost._core.errors import InputError


class Labels:
    """Any hashables, each once; their places are the numbers of the nodes."""

    def __init__(self, labels: Sequence[Hashable]) -> None:
        self._labels = list(labels)
        try:
            self._numbers = {label: place for place, label in enumerate(self._labels)}
        except TypeError as error:
            raise InputError(f"labels of nodes must be hashable: {error}") from None
        if len(self._numbers) != len(self._labels):
            raise InputError("labels of nodes must differ from each other")

    def __len__(self) -> int:
        return len(self._labels)

    def number(self, label: Hashable) -> int:
        """Return the number of a label, or raise an InputError."""
        try:
            return self._numbers[label]
        except (KeyError, TypeError):
            raise InputError(f"no node {label!r} in the graph of {len(self)} nodes") from None

    def label(self, number: int) -> Hashable:
        """Return the label of a number."""
        return self._labels[number]


class Numbered(Labels):
    """0, 1, ..., nodes − 1."""

    def __init__(self, nodes: int) -> None:
        self._nodes = nodes

    def __len__(self) -> int:
        return self._nodes

    def number(self, label: Hashable) -> int:
        if isinstance(label, Integral) and 0 <= int(label) < self._nodes:
            return int(label)
        raise InputError(f"no node {label!r}; nodes are numbered 0 to {self._nodes - 1}")

    def label(self, number: int) -> Hashable:
        return number


class Cells(Labels):
    """The cells (row, column) of a grid, row by row."""

    def __init__(self, shape: tuple[int, int]) -> None:
        self.shape = shape

    def __len__(self) -> int:
        return self.shape[0] * self.shape[1]

    def number(self, label: Hashable) -> int:
        if isinstance(label, tuple) and len(label) == 2:
            row, column = label
            if isinstance(row, Integral) and isinstance(column, Integral):
                row, column = int(row), int(column)
                if 0 <= row < self.shape[0] and 0 <= column < self.shape[1]:
                    return row * self.shape[1] + column
        raise InputError(
            f"no cell {label!r}; cells are (row, column), in a grid of {self.shape[0]} x "
            f"{self.shape[1]}"
        )

    def label(self, number: int) -> Hashable:
        return divmod(number, self.shape[1])

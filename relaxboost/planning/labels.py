"""Node labels, and the node index for each label."""

from __future__ import annotations

import re
from collections.abc import Hashable, Mapping, Sequence
from numbers import Integral
from typing import Any

from relaxboost._core.errors import InputError
from relaxboost._core.names import did_you_mean
from relaxboost._core.parameters import is_given


def same_label(label: Hashable, known: Mapping[Hashable, int]) -> str:
    """Return a hint for the error message about an unknown node label, or an empty string.

    The hint names an existing label of another type, such as 1 for '1'.
    """
    # Files often turn numbers into text, text into numbers, and whole numbers into 1.0.
    text = re.sub(r"^(-?\d+)\.0*$", r"\1", str(label))
    for other in (text, int(text) if re.fullmatch(r"-?\d{1,18}", text) else text):
        if other in known:
            return f"; the graph has {other!r}, so write both the same way"
    # The labels of `networkx.grid_2d_graph` are pairs, which CSV files turn into text.
    if re.fullmatch(r"\((-?\d{1,18}, ?)+-?\d{1,18}\)", text):
        pair = tuple(map(int, text[1:-1].split(",")))
        if pair in known:
            return f"; the graph has the tuple {pair}, so convert the text with ast.literal_eval"
    return ""


def near_label(label: Hashable, known: Mapping[Hashable, int]) -> str:
    """Return a hint for the error message about an unknown node label, with similar labels."""
    if same := same_label(label, known):
        return same
    texts = [one for one in known if isinstance(one, str)]
    return did_you_mean(label, texts, 0.6) if isinstance(label, str) else ""


class Labels:
    """The labels of a graph's nodes, all different, in the order of the node indices."""

    def __init__(self, labels: Sequence[Hashable]) -> None:
        self._labels = list(labels)
        try:
            self._numbers = {label: place for place, label in enumerate(self._labels)}
        except TypeError as error:
            raise InputError(f"node labels must be hashable: {error}") from None
        if len(self._numbers) != len(self._labels):
            raise InputError("node labels must be unique; remove the duplicates")

    def __len__(self) -> int:
        return len(self._labels)

    def number(self, label: Hashable) -> int:
        """Return the index of a node, given its label, or raise an InputError if it is unknown."""
        try:
            return self._numbers[label]
        except (KeyError, TypeError):
            near = near_label(label, self._numbers) if is_given(label, Hashable) else ""
            raise InputError(
                f"there is no node {label!r} in the graph of {len(self)} nodes{near}"
            ) from None

    def label(self, number: int) -> Hashable:
        """Return the label of a node, given its index."""
        return self._labels[number]


class Numbered(Labels):
    """Node labels that are the indices of the nodes: 0, 1, ..., nodes − 1."""

    def __init__(self, nodes: int) -> None:
        self._nodes = nodes

    def __len__(self) -> int:
        return self._nodes

    def number(self, label: Any) -> int:
        if isinstance(label, Integral) and 0 <= int(label) < self._nodes:
            return int(label)
        raise InputError(
            f"there is no node {label!r}; the nodes are numbered from 0 to {self._nodes - 1}"
        )

    def label(self, number: int) -> Hashable:
        return number


class Cells(Labels):
    """Node labels (row, column) for the cells of a grid, row by row."""

    def __init__(self, shape: tuple[int, int]) -> None:
        self.shape = shape

    def __len__(self) -> int:
        return self.shape[0] * self.shape[1]

    def number(self, label: Hashable) -> int:
        height, width = self.shape
        is_pair = isinstance(label, tuple) and len(label) == 2
        if is_pair and all(isinstance(part, Integral) for part in label):  # type: ignore[attr-defined]
            row, column = map(int, label)  # type: ignore[call-overload]
            if 0 <= row < height and 0 <= column < width:
                return int(row * width + column)
        raise InputError(
            f"there is no cell {label!r}; cells are pairs (row, column) in a grid of {height} x "
            f"{width}"
        )

    def label(self, number: int) -> Hashable:
        return divmod(number, self.shape[1])

"""Grid maps and path-finding problems in the formats of MovingAI (Sturtevant 2012)."""

from __future__ import annotations

from os import PathLike
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from benchmarks.readers.fields import NumberField, number, row
from benchmarks.readers.places import SOURCES, lines, located
from relaxboost import planning
from relaxboost._core.arrays import Flags, Whole
from relaxboost._core.errors import InputError

FEATURES = ("step", "swamp", "near_wall")

_CORNER = "octile-corner"
_PASSABLE = ".GS"
_KNOWN = _PASSABLE + "@OTW"
_HEADER = f"type octile or {_CORNER}, height H, width W, map, each on a line"
_ENDS = [f"{axis} of the {end}" for end in ("start", "goal") for axis in "xy"]
_LEAST = {"bucket": 0, "width": 1, "height": 1} | dict.fromkeys(_ENDS, 0)
_COLUMNS = [NumberField(f"the {what}", least, whole=True) for what, least in _LEAST.items()]
_COLUMNS += [NumberField("the length", 0)]

Line = tuple[int, str]


class GridMap(NamedTuple):
    """A grid of square cells."""

    name: str
    """The name of the file without .map and .gz."""
    terrain: NDArray[np.str_]
    """The characters of the file, shape (H, W), each one character."""
    passable: Flags
    """Which cells may be stood on, shape (H, W)."""
    height: Whole | None = None
    """The height at the upper left corner of each cell, shape (H, W), or None."""


class Scenario(NamedTuple):
    """A path-finding problem on a map."""

    bucket: int
    """The length divided by 4, rounded down; problems of a bucket have similar lengths."""
    map: str
    """The name of the map in the file."""
    width: int
    """The width of the map in cells."""
    height: int
    """The height of the map in cells."""
    source: tuple[int, int]
    """Row and column of the start, from 0 at the upper left."""
    target: tuple[int, int]
    """Row and column of the goal."""
    length: float
    """The length of a shortest path; see `read_scenarios`."""


def read_map(path: str | PathLike[str]) -> GridMap:
    """Read a map of MovingAI, type ``octile`` or ``octile-corner``; gzipped or not.

    Passable are ``.`` and ``G`` (ground) and ``S`` (swamp); not ``@``, ``O`` (out of bounds),
    ``T`` (trees) and ``W``: water cannot be entered from ground. The characters stay in `terrain`.

    Maps of type ``octile-corner`` (Warcraft III) have two layers of H rows and W columns: first
    the heights, a digit for each corner of cells, then the terrain, where a small letter is a
    ramp and otherwise the same as the capital. As H x W corners have (H - 1) x (W - 1) cells
    between them, the last row and the last column of the terrain are kept and not passable.

    Raises
    ------
    InputError
        If the file is missing (the message names its source) or cannot be read, or if its header,
        a row or a character is wrong (the message names the line).

    References
    ----------
    .. [1] N. Sturtevant, "Benchmarks for grid-based pathfinding", IEEE Transactions on
           Computational Intelligence and AI in Games 4(2), 2012.
    """
    path = located(path, SOURCES["movingai"])
    text = list(lines(path))
    layers, height, width = _header(path, text[:4])
    rows = text[4:]
    if len(rows) != layers * height:
        n = rows[layers * height][0] if len(rows) > layers * height else text[-1][0]
        raise InputError(
            f"{path}, line {n}: {len(rows)} rows follow the header, which says height {height} "
            f"({layers} of such layers); get the file again"
        )
    for n, cells in rows:
        if len(cells) != width:
            raise InputError(
                f"{path}, line {n}: a row of {len(cells)} characters; the header says width {width}"
            )
    terrain = _grid(path, rows[-height:], _KNOWN + ("gstwo" if layers == 2 else ""))
    passable = np.isin(np.char.upper(terrain), list(_PASSABLE))
    if layers == 1:
        return GridMap(_stem(path.name), terrain, passable)
    passable[-1] = passable[:, -1] = False
    heights = _grid(path, rows[:height], "0123456789").astype(np.int64)
    return GridMap(_stem(path.name), terrain, passable, heights)


def read_scenarios(path: str | PathLike[str], grid: GridMap | None = None) -> list[Scenario]:
    """Read the problems of a .scen file, version 1; gzipped or not.

    The file has x (the column) before y (the row); a `Scenario` has (row, column), like arrays.
    Lengths are of octile paths: a step to one of four neighbours costs 1, a diagonal one √2,
    and a diagonal step needs both adjacent cells passable. The published lengths were summed
    with 1.414213562 for √2: they differ from exact ones by 4e-10 for each diagonal step.

    Parameters
    ----------
    path : path
    grid : GridMap, optional
        The map of the problems. If given, every problem is checked: the name and the size of the
        map, and that start and goal are passable.

    Raises
    ------
    InputError
        If the file is missing (the message names its source), cannot be read, or has no problems
        or another version, or if a problem is malformed or does not match `grid` (with its line).
    """
    path = located(path, SOURCES["movingai"])
    text = list(lines(path))
    if not text or text[0][1].split() not in (["version", "1"], ["version", "1.0"]):
        begins = f"begins with {text[0][1][:40]!r}" if text else "is empty"
        raise InputError(f"{path} {begins}; it must begin with a line 'version 1'")
    if len(text) == 1:
        raise InputError(f"{path} has no problems; get the file again")
    found = []
    for n, line in text[1:]:
        scenario = _scenario(path, n, line)
        wrong = "" if grid is None else _mismatch(scenario, grid)
        if wrong:
            raise InputError(f"{path}, line {n}: {wrong}; give the map that it was made for")
        found.append(scenario)
    return found


def _stem(name: str) -> str:
    return name.removesuffix(".gz").removesuffix(".map")


def _header(path: Path, text: list[Line]) -> tuple[int, int, int]:
    """Return the number of layers, the height and the width, or raise InputError."""
    said = {key: (n, rest.strip()) for n, line in text for key, _, rest in [line.partition(" ")]}
    keys, kind = list(said), said.get("type", (0, ""))[1]
    known = kind in ("octile", _CORNER) and {*keys[1:3]} == {"height", "width"}
    if not known or keys[::3] != ["type", "map"]:
        begins = " ".join(repr(line[:40]) for _, line in text) or "nothing"
        raise InputError(f"{path} begins with {begins}; a map begins with {_HEADER}")
    sizes = [NumberField(key, 1, whole=True) for key in ("height", "width")]
    height, width = (int(number(path, *said[field.what], field)) for field in sizes)
    return 2 if kind == _CORNER else 1, height, width


def _grid(path: Path, rows: list[Line], known: str) -> NDArray[np.str_]:
    """Return rows of equal length as an array, or raise InputError at an unknown character."""
    cells = np.array([list(row) for _, row in rows], dtype="<U1")
    wrong = np.argwhere(~np.isin(cells, list(known)))
    if wrong.size:
        row, column = wrong[0]
        raise InputError(
            f"{path}, line {rows[row][0]}: {str(cells[row, column])!r} in row {row}, column "
            f"{column} (from 0); here it must be one of {known}"
        )
    return cells


def _scenario(path: Path, n: int, line: str) -> Scenario:
    # Files have tabs between fields, because names of maps may contain blanks.
    fields = [field.strip() for field in line.split("\t")] if "\t" in line else line.split()
    name = fields.pop(1) if len(fields) > 1 else ""
    *whole, length = row(path, n, fields, _COLUMNS, "a problem, besides the map,")
    bucket, width, height, x, y, goal_x, goal_y = map(int, whole)
    if max(x, goal_x) >= width or max(y, goal_y) >= height:
        raise InputError(f"{path}, line {n}: the start or the goal is outside the map")
    return Scenario(bucket, name, width, height, (y, x), (goal_y, goal_x), length)


def _mismatch(scenario: Scenario, grid: GridMap) -> str:
    """Return the reason why a problem does not belong to this map, or an empty text."""
    if _stem(scenario.map.replace("\\", "/").rsplit("/", 1)[-1]) != grid.name:
        return f"is for the map {scenario.map!r}, and the map given is {grid.name!r}"
    height, width = grid.passable.shape
    if (scenario.width, scenario.height) != (width, height):
        return (
            f"is for a map of width {scenario.width} and height {scenario.height}; {grid.name} "
            f"has width {width} and height {height}"
        )
    for what, (y, x) in (("start", scenario.source), ("goal", scenario.target)):
        if not grid.passable[y, x]:
            cell = str(grid.terrain[y, x])
            return f"the {what}, row {y} and column {x}, is {cell!r}, which is not passable"
    return ""


def map_graph(grid: GridMap, neighbours: int = 8) -> planning.Graph:
    """Return the passable cells of a map as a graph whose nodes are (row, column).

    Features of a cell are ``step``, 1; ``swamp``, 1 in swamp and 0 elsewhere; ``near_wall``, the
    share of the eight cells around it that are not passable or lie beyond the border.

    Parameters
    ----------
    grid : GridMap
    neighbours : {8, 4}
        Diagonal steps need both adjacent cells passable, as in the lengths of scenarios.
    """
    from scipy.ndimage import convolve

    around = np.ones((3, 3))
    around[1, 1] = 0.0
    blocked = convolve((~grid.passable).astype(float), around, mode="constant", cval=1.0) / 8.0
    swamp = np.isin(grid.terrain, ["S", "s"]).astype(float)
    layers = [np.ones(swamp.shape), swamp, blocked]
    return planning.grid(layers, grid.passable, names=FEATURES, neighbours=neighbours)

"""Maps and problems of MovingAI, on small files written here."""

from __future__ import annotations

import re

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from benchmarks.readers import GridMap, Scenario, map_graph, read_map, read_scenarios
from relaxboost._core.errors import InputError
from tests.benchmarks.readers.made import changed, check_unreadable, write

MAP = """type octile
height 3
width 4
map
.GS@
OTW.
....
"""
CORNERS = """type octile-corner
height 3
width 4
map
0123
4567
8900
GGsO
gSTO
OOGG
"""
SCENARIOS = """version 1
0\tsmall.map\t4\t3\t1\t0\t0\t2\t3.41421356
1\tsmall.map\t4\t3\t3\t1\t3\t1\t0
"""


def test_a_map(tmp_path):
    grid = read_map(write(tmp_path / "small.map", MAP))
    assert (grid.name, grid.height) == ("small", None)
    assert (grid.terrain.dtype, grid.terrain.shape) == (np.dtype("<U1"), (3, 4))
    assert grid.terrain[1].tolist() == ["O", "T", "W", "."]
    assert grid.passable.tolist() == [
        [True, True, True, False],
        [False, False, False, True],
        [True] * 4,
    ]


def test_a_map_as_a_graph(tmp_path):
    graph = map_graph(read_map(write(tmp_path / "small.map", MAP)))
    assert graph.names == ("step", "swamp", "near_wall")
    # From the upper left: around (0, 2) are the border (3), @, W and T.
    assert graph.features[graph.node((0, 2))].tolist() == [1.0, 1.0, 6 / 8]
    assert graph.features[graph.node((2, 0))].tolist() == [1.0, 0.0, 7 / 8]
    ends = {graph.label(v) for v in graph.head[graph.tail == graph.node((2, 2))]}
    assert ends == {(2, 1), (2, 3)}  # not (1, 3), past the water


@pytest.mark.parametrize("asked", ["small.map", "small.map.gz"])
def test_a_packed_map_with_width_first_and_other_line_ends(tmp_path, asked):
    text = MAP.replace("height 3\nwidth 4", "width 4\nheight 3").replace("\n", "\r\n")
    write(tmp_path / "small.map", text, packed=True)
    grid = read_map(str(tmp_path / asked))
    assert grid.name == "small"
    assert grid.passable.sum() == 8


def test_corners_have_heights_and_their_last_row_and_column_are_no_cells(tmp_path):
    grid = read_map(write(tmp_path / "hills.map", CORNERS))
    assert grid.height.dtype == np.int64
    assert grid.height.tolist() == [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9, 0, 0]]
    assert "".join(grid.terrain.ravel()) == "GGsOgSTOOOGG"
    assert grid.passable.tolist() == [
        [True, True, True, False],
        [True, True, False, False],
        [False] * 4,
    ]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            changed(MAP, "octile", "tile"),
            "begins with 'type tile' 'height 3' 'width 4' 'map'; a map begins with type octile",
        ),
        (changed(MAP, "type octile\n", ""), "begins with 'height 3' 'width 4' 'map' '.GS@'"),
        (changed(MAP, "height 3", "height three"), "line 2: height is 'three'"),
        (changed(MAP, "height 3", "height 0"), "line 2: height is 0; it must be at least 1"),
        (changed(MAP, "height 3", "height 2.5"), "line 2: height is 2.5; it must be a whole"),
        (changed(MAP, "height 3", "height nan"), "line 2: height is 'nan'"),
        (changed(MAP, "height 3", "height 1_0"), "line 2: height is '1_0'"),
        (changed(MAP, "height 3", "width 4"), "begins with 'type octile' 'width 4' 'width 4'"),
        (changed(MAP, "map\n", ""), "begins with 'type octile' 'height 3' 'width 4' '.GS@'"),
        ("type octile\nheight 3\n", "begins with 'type octile' 'height 3';"),
        (changed(MAP, "height 3", "height 4"), "line 7: 3 rows follow the header"),
        (changed(MAP, "height 3", "height 99999999999"), "line 7: 3 rows follow the header"),
        (changed(MAP, "height 3", "height 2"), "line 7: 3 rows follow the header"),
        (changed(MAP, "OTW.\n", "\n"), "line 7: 2 rows follow the header"),
        (changed(MAP, "OTW.", "OTW"), "line 6: a row of 3 characters; the header says width 4"),
        (changed(MAP, "OTW.", "OTW.."), "line 6: a row of 5 characters"),
        (changed(MAP, "OTW.", "O TW"), "line 6: ' ' in row 1, column 1 (from 0)"),
        (changed(MAP, "OTW.", "OTWg"), "line 6: 'g' in row 1, column 3"),
        (
            changed(CORNERS, "OOGG\n", ""),
            "5 rows follow the header, which says height 3 (2 of such layers)",
        ),
        (changed(CORNERS, "4567", "45.7"), "line 6: '.' in row 1, column 2"),
        (changed(CORNERS, "gSTO", "gST4"), "line 9: '4' in row 1, column 3"),
        (changed(CORNERS, "type octile-corner", "type octile"), "6 rows follow the header"),
    ],
)
def test_wrong_maps(tmp_path, text, said):
    path = write(tmp_path / "wrong.map", text)
    with pytest.raises(InputError, match=re.escape(said)) as raised:
        read_map(path)
    assert str(path) in str(raised.value)


def test_scenarios_are_row_and_column(tmp_path):
    grid = read_map(write(tmp_path / "small.map", MAP))
    found = read_scenarios(write(tmp_path / "small.map.scen", SCENARIOS), grid)
    assert found[0] == Scenario(0, "small.map", 4, 3, (0, 1), (2, 0), 3.41421356)
    assert found[1].source == found[1].target == (1, 3)
    folders = SCENARIOS.replace("small.map", "maps/a b/small.map").replace(
        "version 1", "version 1.0"
    )
    found = read_scenarios(write(tmp_path / "packed.scen", folders, packed=True), grid)
    assert [s.map for s in found] == ["maps/a b/small.map"] * 2
    assert read_scenarios(write(tmp_path / "blanks.scen", SCENARIOS.replace("\t", " ")))


FIRST = "0\tsmall.map\t4\t3\t1\t0\t0\t2\t3.41421356"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (changed(SCENARIOS, "version 1\n", ""), "begins with '0\\tsmall.map"),
        (changed(SCENARIOS, "version 1", "version 2"), "begins with 'version 2'; it must begin"),
        ("version 1\n", "has no problems"),
        (
            changed(SCENARIOS, "\t3.41421356", ""),
            "line 2: 7 fields; a problem",
        ),
        (changed(SCENARIOS, FIRST, FIRST + "\t1"), "line 2: 9 fields"),
        (changed(SCENARIOS, FIRST, "-1" + FIRST[1:]), "line 2: the bucket is -1"),
        (changed(SCENARIOS, FIRST, "x" + FIRST[1:]), "line 2: the bucket is 'x'"),
        (changed(SCENARIOS, "3.41421356", "nan"), "line 2: the length is 'nan'"),
        (changed(SCENARIOS, "3.41421356", "inf"), "line 2: the length is 'inf'"),
        (changed(SCENARIOS, "3.41421356", "-1"), "line 2: the length is -1; it must be at least 0"),
        (
            changed(SCENARIOS, "1\t0\t0\t2\t", "4\t0\t0\t2\t"),
            "line 2: the start or the goal",
        ),
        (
            changed(SCENARIOS, "1\t0\t0\t2\t", "1\t3\t0\t2\t"),
            "line 2: the start or the goal",
        ),
        (changed(SCENARIOS, "1\t0\t0\t2\t", "1\t0\t-1\t2\t"), "line 2: the x of the goal is -1"),
        (changed(SCENARIOS, "1\t0\t0\t2\t", "1\t0\t0\t2.5\t"), "line 2: the y of the goal is 2.5"),
        (SCENARIOS.replace("small", "other"), "line 2: is for the map 'other.map', and the map"),
        (SCENARIOS.replace("4\t3", "5\t3"), "line 2: is for a map of width 5 and height 3; small"),
        (
            SCENARIOS.replace("\t1\t0\t0\t2", "\t1\t1\t0\t2"),
            "the start, row 1 and column 1, is 'T'",
        ),
        (SCENARIOS.replace("3\t1\t3\t1", "3\t1\t3\t0"), "line 3: the goal, row 0 and column 3, is"),
    ],
)
def test_wrong_scenarios(tmp_path, text, said):
    grid = read_map(write(tmp_path / "small.map", MAP))
    path = write(tmp_path / "wrong.scen", text)
    with pytest.raises(InputError, match=re.escape(said)) as raised:
        read_scenarios(path, grid)
    assert str(path) in str(raised.value)


def test_rows_and_columns_swapped_are_noticed(tmp_path):
    grid = read_map(write(tmp_path / "small.map", MAP))
    turned = GridMap(grid.name, grid.terrain.T, grid.passable.T)
    with pytest.raises(InputError, match="width 4 and height 3; small has width 3 and height 4"):
        read_scenarios(write(tmp_path / "small.scen", SCENARIOS), turned)


@pytest.mark.parametrize(("read", "text"), [(read_map, MAP), (read_scenarios, SCENARIOS)])
def test_unreadable_files(tmp_path, read, text):
    check_unreadable(read, tmp_path / "file", text, "https://movingai.com/benchmarks/")


@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data(), packed=st.booleans())
def test_what_is_written_is_read(tmp_path, data, packed):
    height, width = data.draw(st.integers(1, 6)), data.draw(st.integers(1, 6))
    cell = st.sampled_from(".GS@OTW")
    rows = data.draw(
        st.lists(st.text(cell, min_size=width, max_size=width), min_size=height, max_size=height)
    )
    head = f"type octile\nheight {height}\nwidth {width}\nmap\n"
    folder = tmp_path / ("packed" if packed else "plain")
    grid = read_map(write(folder / "drawn.map", head + "\n".join(rows) + "\n", packed))
    assert ["".join(row) for row in grid.terrain] == rows
    free = list(zip(*map(np.ndarray.tolist, np.nonzero(grid.passable)), strict=True))
    if not free:
        return
    ends = st.tuples(st.sampled_from(free), st.sampled_from(free), st.floats(0, 1e6))
    drawn = data.draw(st.lists(ends, min_size=1, max_size=5))
    text = "version 1\n" + "".join(
        "\t".join(map(repr, [0, width, height, *s[::-1], *t[::-1], length])).replace(
            "0", "0\tdrawn.map", 1
        )
        + "\n"
        for s, t, length in drawn
    )
    found = read_scenarios(write(folder / "drawn.scen", text, packed), grid)
    assert [(s.source, s.target, s.length) for s in found] == drawn

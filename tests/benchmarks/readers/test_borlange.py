"""The routes of Borlänge, on small files written here."""

from __future__ import annotations

import re

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from benchmarks.readers import Routes, left_turns, read_routes, u_turns
from relaxboost._core.errors import InputError
from tests.benchmarks.readers.made import changed, check_unreadable, write

# Three links in a circle, 2 also back to itself as 3; destinations 4 and 5. As in the original
# there are times of pairs that are no arcs, and the angle to the last link is missing.
TEXTS = {
    "linkIncidence.txt": """   2.0e+00   1.0e+00   1.0e+00
   1 2 1
   3 2 1
   2 3 1
   3 1 1
   1 4 1
   3 5 1
   2 5 1
""",
    "ATTRIBUTEestimatedtime.txt": "1\t2\t0.5\n2\t1\t0.25\n3\t2\t0.5\n2\t3\t1\n3\t1\t0.25\n2\t2\t9\n"
    "1\t4\t0\n",
    "ATTRIBUTEturnangles.txt": "1 2 3.1415926535897931\n2 1 -3.12\n3 2 -1\n3 1 1e0\n2 2 0.5\n",
    "observationsForEstimBAI.txt": "1 1 5\n1 2 1\n1 3 2\n1 4 3\n1 5 5\n2 1 4\n2 2 1\n2 3 4\n",
}
SOURCE = "https://github.com/maitien86/"


def write_texts(folder, texts=TEXTS, packed=False):
    for name, text in texts.items():
        write(folder / name, text, packed)
    return folder


def texts_of(arcs, time, angle, paths):
    """The texts of arcs with times and angles (or None), and of (destination, links) of trips."""
    ends = sorted({(links[-1], end) for end, links in paths})
    rows = [
        [(a, b, 1) for a, b in [*arcs, *ends]],
        [(a, b, repr(t)) for (a, b), t in zip(arcs, time, strict=True)],
        [(a, b, repr(t)) for (a, b), t in zip(arcs, angle, strict=True) if t is not None],
        [
            (trip, place, node)
            for trip, (end, links) in enumerate(paths, start=1)
            for place, node in enumerate([end, *links, end], start=1)
        ],
    ]
    rows[2] = rows[2] or [(1, ends[0][1], 0)]  # a file without entries is refused
    return {
        name: "".join(f"{a} {b} {v}\n" for a, b, v in part)
        for name, part in zip(TEXTS, rows, strict=True)
    }


@pytest.mark.parametrize("packed", [False, True])
def test_the_texts_are_read(tmp_path, packed):
    routes = read_routes(write_texts(tmp_path / "texts", packed=packed))
    assert routes.links == 3
    assert routes.arcs.tolist() == [[1, 2], [2, 1], [2, 3], [3, 1], [3, 2]]
    assert routes.time.tolist() == [0.5, 0.25, 1, 0.25, 0.5]
    assert routes.turn_angle.tolist() == pytest.approx([np.pi, -3.12, np.nan, 1, -1], nan_ok=True)
    assert routes.destination_arcs.tolist() == [[1, 4], [2, 5], [3, 5]]
    assert [path.tolist() for path in routes.paths] == [[1, 2, 3], [1]]
    assert routes.destinations.tolist() == [5, 4]
    assert {path.dtype for path in routes.paths} == {np.dtype(np.int64)}


def test_turns():
    degrees = [-30, -40, -41, -90, -176.9, -177, -180, 0, 41, 90, 180, 177, 176.9, np.nan]
    zeros = np.zeros((len(degrees), 2), dtype=np.int64)
    routes = Routes(1, zeros, zeros[:, 0], np.radians(degrees), zeros, (), zeros[:, 0])
    assert np.flatnonzero(left_turns(routes)).tolist() == [2, 3, 4]
    assert np.flatnonzero(u_turns(routes)).tolist() == [5, 6, 10, 11]


INCIDENCE, TIME, ANGLE, OBSERVED = TEXTS


@pytest.mark.parametrize(
    ("name", "old", "new", "said"),
    [
        (INCIDENCE, "   1 2 1\n", "   1 2\n", "line 2: 2 fields; it needs 3: row, column, value"),
        (INCIDENCE, "   1 2 1\n", "   1 2 2\n", "line 2: the value is 2; it must be from 1 to 1"),
        (INCIDENCE, "   1 2 1\n", "   1.5 2 1\n", "line 2: the row is 1.5; it must be a whole"),
        (INCIDENCE, "   1 2 1\n", "   0 2 1\n", "line 2: the row is 0; it must be from 1"),
        (INCIDENCE, "   1 2 1\n", "   1 1e9 1\n", "line 2: the column is 1e9; it must be from 1"),
        (INCIDENCE, "   1 2 1\n", "   nan 2 1\n", "line 2: the row is 'nan'"),
        (INCIDENCE, "   1 2 1\n", "   3 2 1\n", "line 3: the entry 3, 2 comes again"),
        (INCIDENCE, "   1 2 1\n", "   1 3 1\n", "no time for the arc 1 -> 3"),
        (INCIDENCE, "   3 1 1\n", "   9 1 1\n", "no time for the arc 2 -> 5"),
        (TIME, "3\t2\t0.5\n", "", "ATTRIBUTEestimatedtime.txt: no time for the arc 3 -> 2"),
        (TIME, "3\t2\t0.5\n", "3\t2\t-0.5\n", "line 3: the time is -0.5; it must be at least 0"),
        (TIME, "3\t2\t0.5\n", "3\t2\tinf\n", "line 3: the time is 'inf'"),
        (TIME, "3\t2\t0.5\n", "3\t2\t0_5\n", "line 3: the time is '0_5'"),
        (
            ANGLE,
            "3 2 -1",
            "3 2 -90",
            "line 3: the turn angle is -90; it must be from -3.14159 to 3.14159",
        ),
        (ANGLE, "3 2 -1", "3 2 nan", "line 3: the turn angle is 'nan'"),
        (OBSERVED, "1 3 2\n", "1 3 1\n", "trip 1, transition 1, 1 -> 1 is no arc"),
        (OBSERVED, "1 4 3\n", "1 4 4\n", "trip 1, transition 2, 2 -> 4 is no arc"),
        (OBSERVED, "1 3 2\n", "", "trip 1 has no place 3"),
        (OBSERVED, "1 3 2\n", "1 6 2\n", "trip 1 has no place 3"),
        (OBSERVED, "2 2 1\n2 3 4\n", "2 2 4\n", "trip 2 is 4 ... [4]; it must be its destination"),
        (OBSERVED, "2 1 4\n2 2 1\n2 3 4\n", "9 1 4\n", "trip 2 has no place 1"),
        (OBSERVED, "1 5 5\n", "1 5 4\n", "trip 1 is 5 ... [4]; it must be its destination"),
        (OBSERVED, "1 3 2\n", "1 3 2.5\n", "line 3: the link is 2.5; it must be a whole"),
        (OBSERVED, "1 3 2\n", "1 3 1e300\n", "line 3: the link is 1e300; it must be from 1"),
        (
            OBSERVED,
            "2 1 4\n2 2 1\n2 3 4",
            "2 1 5\n2 2 1\n2 3 5",
            "trip 2, transition 1, 1 -> 5 is no arc",
        ),
    ],
)
def test_wrong_texts(tmp_path, name, old, new, said):
    folder = write_texts(tmp_path, {**TEXTS, name: changed(TEXTS[name], old, new)})
    with pytest.raises(InputError, match=re.escape(said)) as raised:
        read_routes(folder)
    assert str(folder) in str(raised.value)


def test_what_is_not_there(tmp_path):
    with pytest.raises(InputError, match=f"missing.*does not exist.*{SOURCE}"):
        read_routes(tmp_path / "missing")
    with pytest.raises(InputError, match=f"linkIncidence.txt does not exist.*{SOURCE}"):
        read_routes(tmp_path)
    for name in TEXTS:
        folder = write_texts(tmp_path / name)
        (folder / name).unlink()
        with pytest.raises(InputError, match=f"{name} does not exist"):
            read_routes(folder)


@pytest.mark.parametrize("name", TEXTS)
def test_unreadable_texts(tmp_path, name):
    folder = write_texts(tmp_path / "texts")

    def read(path):
        if not path.is_file():
            raise InputError(f"{path.name} does not exist, is a folder, {SOURCE}")
        (folder / name).write_bytes(path.read_bytes())
        try:
            return read_routes(folder)
        except InputError as error:
            raise InputError(f"{path}: {error}") from None

    check_unreadable(read, tmp_path / "file", TEXTS[name], SOURCE)


@settings(max_examples=30, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_what_is_written_is_read_the_same(tmp_path, data):
    links = data.draw(st.integers(2, 6))
    link = st.integers(1, links)
    chain = [(k, k % links + 1) for k in range(1, links + 1)]  # so that every link leads on
    arcs = sorted({*chain, *data.draw(st.lists(st.tuples(link, link), max_size=8))})
    size = {"min_size": len(arcs), "max_size": len(arcs)}
    time = data.draw(st.lists(st.floats(0, 1e3), **size))
    angle = data.draw(st.lists(st.one_of(st.none(), st.floats(-3.14, 3.14)), **size))
    ends = [(links + 1, data.draw(link)), (links + 2, data.draw(link))]
    paths = []
    for dummy, last in data.draw(st.lists(st.sampled_from(ends), min_size=1, max_size=4)):
        path = [last]
        for _ in range(data.draw(st.integers(0, 5))):
            path.insert(0, data.draw(st.sampled_from([a for a, b in arcs if b == path[0]])))
        paths.append((dummy, path))
    texts = texts_of(arcs, time, angle, paths)
    mixed = data.draw(st.permutations(texts[INCIDENCE].splitlines(keepends=True)))
    routes = read_routes(write_texts(tmp_path / "drawn", {**texts, INCIDENCE: "".join(mixed)}))
    assert routes.arcs.tolist() == [list(arc) for arc in arcs]
    assert [path.tolist() for path in routes.paths] == [path for _, path in paths]
    assert routes.time.tolist() == time
    assert routes.turn_angle.tolist() == pytest.approx(
        [np.nan if a is None else a for a in angle], nan_ok=True, rel=0, abs=0
    )
    assert routes.destinations.tolist() == [end for end, _ in paths]
    assert set(map(tuple, routes.destination_arcs.tolist())) == {(p[-1], end) for end, p in paths}

"""Taxi trips in the files of RCM-AIRL, on a folder of five links written here."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks import readers
from relaxboost import InputError
from relaxboost import planning as pl
from tests.benchmarks.readers.made import changed, write

NODES = """osmid,y,x
62917024,31.2238183,121.4630516
63338299,31.2123289,121.4433644
76482203,31.2171151,121.4630494
76482724,31.2123516,121.46534500000001
"""
HEAD = (
    "u,v,name,highway,oneway,length,lanes,bridge,ref,junction,maxspeed,tunnel,access,id,cnt,n_id\n"
)
EDGES = HEAD + (
    "62917024,63338299,成都南路,residential,0,154.185, , , , , , , ,78,54,0\n"
    "63338299,62917024,成都南路,residential,0,154.185, , , , , , , ,79,54,1\n"
    "63338299,76482203,\"['长乐路', '复']\",\"['tertiary', 'residential']\",0,237.125,2, , , , , ,"
    "yes,80,159,2\n"
    "63338299,76482724, ,secondary,1,90.5,2, , ,60, , , ,81,197,3\n"
    "76482203,76482724,思南路,tertiary,1,574.836,1, , , , , , ,330,234,4\n"
)
TRANSIT = np.array([[0, 4, 1], [0, 2, 2], [0, 6, 3], [2, 0, 4], [1, 4, 0]])
PATHS = "ori,des,path,len\n0,4,0_2_4,3\n0,3,0_3,2\n1,2,1_0_2,3\n"


def folder(path, packed=False, **different):
    texts = {"node.txt": NODES, "edge.txt": EDGES, "path.csv": PATHS} | different
    for name, text in texts.items():
        write(path / name, text, packed)
    np.save(path / "transit.npy", TRANSIT)
    return path


@pytest.mark.parametrize("packed", [False, True])
def test_the_network_and_its_trips(tmp_path, packed):
    taxi = readers.read_taxi(folder(tmp_path, packed))
    assert taxi.nodes.loc[62917024].to_dict() == {"lat": 31.2238183, "lon": 121.4630516}
    kinds = ["residential", "residential", "tertiary", "secondary", "tertiary"]
    assert taxi.links["highway"].tolist() == kinds
    assert taxi.links["n_id"].tolist() == [0, 1, 2, 3, 4]
    assert taxi.links["length"].tolist() == [154.185, 154.185, 237.125, 90.5, 574.836]
    assert np.array_equal(taxi.turns, TRANSIT)
    rows = [(0, 0), (0, 2), (0, 4), (1, 0), (1, 3), (2, 1), (2, 0), (2, 2)]
    assert list(taxi.trips.itertuples(index=False, name=None)) == rows


def test_links_and_turns_have_their_features(tmp_path):
    taxi = readers.read_taxi(folder(tmp_path))
    graph = readers.taxi_graph(taxi)
    assert graph.names[0] == "length"
    assert graph.names[-3:] == ("right", "u-turn", "left")
    turns = list(zip(graph.before.tolist(), graph.after.tolist(), strict=True))
    assert turns == [(0, 1), (0, 2), (0, 3), (1, 0), (2, 4)]  # 1 -> 0 too, as it is in transit.npy
    features = graph.arc_features[: len(turns)]
    assert features[:, -3:].tolist() == [[0, 1, 0], [1, 0, 0], [0, 0, 1], [0, 1, 0], [0, 0, 0]]
    assert features[:, 0].tolist() == [154.185, 237.125, 90.5, 154.185, 574.836]
    assert graph.original.position.shape == (4, 2)
    plain = readers.taxi_graph(taxi, ["length"])
    assert plain.names == ("length", "right", "u-turn", "left")


@pytest.mark.filterwarnings("ignore:the learned costs are all 0")
def test_trips_are_paths_of_links_and_turns(tmp_path):
    taxi = readers.read_taxi(folder(tmp_path))
    graph = readers.taxi_graph(taxi)
    tasks = pl.paths_from_pandas(taxi.trips, graph)
    found = [graph.lower(task.demonstration).arcs.tolist() for task in tasks]
    assert found == [[0, 2, 4], [0, 3], [1, 0, 2]]
    assert pl.fit(tasks, pl.Ridge(0.1)).names == graph.names


def test_parts_of_the_trips_and_bad_ones(tmp_path):
    part = {"cross_validation/test_CV0.csv": "ori,des,path,len\n0,3,0_3,2\n"}
    here = folder(tmp_path, **part)
    taxi = readers.read_taxi(here, "cross_validation/test_CV0.csv")
    assert taxi.trips["edge"].tolist() == [0, 3]
    graph = readers.taxi_graph(taxi)
    for path, message in (
        ("0_4", "trip 0, row 1: a gap from 63338299 to 76482203"),
        ("0_9", "trip 0, row 1: edge 9 is not in the graph"),
        ("2_4_3", "trip 0, row 2: 76482724 -> 63338299 is the wrong way"),
        ("1_0_1", "trip 0, row 2: step 3 of the path turns"),
    ):
        write(here / "path.csv", f"path\n{path}\n")
        allowed = TRANSIT[1:] if path == "1_0_1" else TRANSIT
        np.save(here / "transit.npy", allowed)
        taxi = readers.read_taxi(here)
        with pytest.raises(InputError, match=message):
            pl.paths_from_pandas(taxi.trips, readers.taxi_graph(taxi))
    assert graph.arcs > 0


BAD = [
    ("node.txt", changed(NODES, "osmid,", "id,"), "node.txt has no column 'osmid', only id"),
    ("edge.txt", changed(EDGES, "n_id", "n"), "edge.txt has no column 'n_id'; did you mean id"),
    ("edge.txt", EDGES.replace(",159,2\n", ",159,1\n"), "n_id comes twice"),
    ("edge.txt", "", "edge.txt is empty"),
    ("path.csv", changed(PATHS, "0_3", "0-3"), "paths must be such as 8_73_186"),
    ("path.csv", changed(PATHS, "0_2_4", ""), "path.csv, line 2: 'path' is None"),
    ("path.csv", changed(PATHS, "path", "route"), "path.csv has no column 'path'"),
    (
        "path.csv",
        "path\n\ud800\n".encode("utf-8", "surrogatepass"),
        "path.csv, line 2: not in UTF-8",
    ),
]


@pytest.mark.parametrize(("name", "text", "message"), BAD)
def test_bad_files_are_refused(tmp_path, name, text, message):
    here = folder(tmp_path)
    if isinstance(text, bytes):
        (here / name).write_bytes(text)
    else:
        write(here / name, text)
    with pytest.raises(InputError, match=message):
        readers.read_taxi(here)


def test_missing_files_say_where_to_get_them(tmp_path):
    for name in ("node.txt", "edge.txt", "transit.npy", "path.csv"):
        here = folder(tmp_path / f"no {name}")
        (here / name).unlink()
        with pytest.raises(InputError, match=r"does not exist.*liangchunyaobing/RCM-AIRL"):
            readers.read_taxi(here)
    np.save(folder(tmp_path) / "transit.npy", TRANSIT[:, :2])
    with pytest.raises(InputError, match=r"whole numbers, shape \(T, 3\), got \(5, 2\)"):
        readers.read_taxi(tmp_path)

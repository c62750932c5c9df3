"""The tables, trips and options that relaxboost plan reads, and how it refuses them."""

from __future__ import annotations

import ast
import csv
import gzip
import re
from itertools import product
from pathlib import Path

import numpy as np
import pytest

from relaxboost import InputError
from relaxboost import planning as pl
from relaxboost._core.tables import read_csv
from relaxboost.commands import plan_boost, plan_fit, plan_inputs

from .command import ARCS, parsed, refused, run

ROADS = """u;v;edge;metres;class
a;b;1;100;main
a;b;2;90;lane
b;c;3;50;main
c;a;4;10;lane
c;d;5;10;lane
"""


def test_tables_of_roads(folder, capsys):
    """Parallel arcs, classes, products, another separator, gaps, and trips that are no paths."""
    (folder / "roads.csv").write_text(ROADS)
    (folder / "by_edge.csv").write_text("trip;edge;order\nx;3;2\nx;1;1\ny;2;1\ny;3;2\n")
    command = "fit --edges roads.csv --sep ';' --features 'metres*class' --json --trips "
    status, out, err = run(command + "by_edge.csv", capsys)
    assert status == 0
    assert err.startswith("relaxboost: the learned costs are all 0")
    assert list(parsed(out)["weights"]) == ["metres*class=lane", "metres*class=main"]
    assert (parsed(out)["arcs"], parsed(out)["trips"]) == (5, 2)
    (folder / "by_node.csv").write_text("trip;node\nx;a\nx;b\nx;d\ny;a\ny;q\n")
    refused(
        command + "by_node.csv", "by_node.csv, line 3, trip 'x': 'a' -> 'b' is ambiguous", capsys
    )
    command = command.replace("metres*class", "metres")
    options = " --parallel metres --gaps metres --drop-bad --out roads.json"
    status, out, err = run(command + "by_node.csv" + options, capsys)
    assert (status, parsed(out)["trips"]) == (0, 1)
    assert (
        "left out 1 trip; the first because by_node.csv, line 6, trip 'y': node 'q' is not in"
        in err
    )
    assert "joined 1 gap of 1 trip by metres" in err
    times = "trip;node;order\nx;b;2030-05-01 10:00\nx;a;2030-05-01T09:59:30\nx;c;2030-05-01 10:05\n"
    (folder / "timed.csv").write_text(times)
    status, out, err = run(command + "timed.csv" + options, capsys)
    assert (status, parsed(out)["trips"], "joined" in err) == (0, 1, False)
    command = "evaluate roads.json --edges more.csv --trips two.csv --sep ';' --json"
    (folder / "more.csv").write_text("u;v;colour;metres\na;b;red;1\nb;c;blue;1\n")
    (folder / "two.csv").write_text("path\na b c\n")
    status, out, err = run(command, capsys)  # columns that the costs do not know are left alone
    assert (status, err, parsed(out)["metrics"]["exact_match"]) == (0, "", 1.0)
    (folder / "more.csv").write_text("u;v;colour\na;b;red\nb;c;blue\n")
    refused(command, "more.csv has no column 'metres', only u, v, colour", capsys)


def test_names_in_numbers_and_nothing_to_learn_are_noted(folder, capsys):
    (folder / "roads.csv").write_text("u,v,osmid,km\na,b,77,1\nb,c,78,1\na,c,79,3\n")
    (folder / "two.csv").write_text("path\na b c\n")
    _, _, err = run("fit --edges roads.csv --trips two.csv --strength 1", capsys)
    assert "roads.csv: the whole numbers of column 'osmid' look like names of edges" in err
    assert "select the columns that are features, with --features A,B\n" in err
    _, _, err = run("fit --edges roads.csv --trips two.csv --features km --strength 1", capsys)
    assert "osmid" not in err
    (folder / "huge.csv").write_text("u,v,km,m\na,b,1,1\nb,c,1,1e308\na,c,3,2\n")
    _, _, err = run("fit --edges huge.csv --trips two.csv --strength 1", capsys)
    assert "relaxboost: 'm' has numbers whose squares overflow; if such" in err
    (folder / "roads.csv").write_text(",u,v,km\n0,a,b,1\n1,b,c,1\n2,a,c,3\n")  # with an index
    _, out, _ = run("fit --edges roads.csv --trips two.csv --strength 1 --json", capsys)
    assert list(parsed(out)["weights"]) == ["km"]
    (folder / "roads.csv").write_text("u,v,km\na,b,1\nb,c,1\n")  # there is one way only
    _, out, _ = run("fit --edges roads.csv --trips two.csv --strength 1", capsys)
    assert "status:     optimal: the loss is 0 up to rounding\n" in out


def test_lines_are_those_of_the_file_also_packed_and_where_fields_have_several(tmp_path):
    limit = csv.field_size_limit()
    text = '\ufeffu, v,note,x\n\na,b,"two\nlines",1\n , ,,\nb,c,"a ""b""",2\n\nc,d\n'
    (tmp_path / "long.csv").write_text(f"path\n{'a ' * limit}\n")  # a trip of many nodes
    assert len(read_csv(tmp_path / "long.csv")["path"][2]) == 2 * limit - 1
    for path, content in (("a.csv", text.encode()), ("a.csv.gz", gzip.compress(text.encode()))):
        (tmp_path / path).write_bytes(content)
        table = read_csv(tmp_path / path, texts=["note"])
        assert table.index.tolist() == [3, 6, 8]
        assert table["note"].tolist() == ["two\nlines", 'a "b"', None]
        assert table["x"].tolist()[:2] == [1, 2]
        assert np.isnan(table["x"].iloc[2])
        assert csv.field_size_limit() == limit
        with pytest.raises(InputError, match=f"{path}, line 8: 'x' is nan"):
            pl.from_pandas(table, features=["x"])


def test_files_with_different_separators_need_the_same(folder, capsys):
    (folder / "semi.csv").write_text("u;v;km\na;b;1\n")
    (folder / "comma.csv").write_text("path,name\na b,x\n")
    command = "fit --edges semi.csv --trips comma.csv"
    refused(command, "semi.csv has one column, 'u;v;km'; if ';' separates columns, give", capsys)
    said = "separates columns, use the same separator in all files, and pass it as --sep"
    refused(f"{command} --sep ;", said, capsys)


def test_places_of_nodes(folder, capsys):
    (folder / "nodes.csv").write_text("node,x,y\nhome,0,0\nwork,2,0\nford,1,-1\n")
    command = "show --edges edges.csv --nodes nodes.csv --out a.png"
    refused(command, "nodes.csv has no row for the node 'bridge' of edges.csv (1 in all)", capsys)
    (folder / "nodes.csv").write_text("name,x,y\nhome,0,0\n")
    refused(command, "nodes.csv has no column 'node', only name, x, y", capsys)
    degrees = "node,x,y\nhome,15,60\nbridge,15.00001,60\nford,15,60.00001\nwork,15.00002,60\n"
    (folder / "nodes.csv").write_text(degrees)
    refused(command, "nodes.csv: x and y look like degrees, but the lengths are in metres", capsys)
    (folder / "nodes.csv").write_text(degrees.replace("x,y", "lon,lat"))
    assert run(command, capsys)[0] == 0


ENDS = "bad.csv needs two columns for the ends of its edges"
MIXED = "tail,head,x\nhome,ford,much\nford,work,2\n"
LOOP = "tail,head,x\nhome,ford,1\n\nford,ford,1\n"
TWINS = "tail,head,x,edge\nhome,ford,1,a\nhome,ford,2,b\nford,work,1,c\nwork,home,1,d\n"


@pytest.mark.parametrize(
    ("edges", "message"),
    [
        ("tail,head,x\n", "bad.csv has a header but no rows; add rows"),
        ("", "bad.csv is empty"),
        ("tail,x\na,1\n", f"{ENDS}, such as u and v; it has tail, x"),
        ("a,b,-1.5,0\nb,a,2,0\n", "it has a, b, -1.5, 0; if that is a row, write the names"),
        ("tail,head,x,x\na,b,1,2\n", "bad.csv: two columns are named 'x'; rename or drop one"),
        (LOOP, "bad.csv, line 4: 'ford' -> 'ford' is a self-loop, which no shortest path takes"),
        ("u,v,x\na,b,1\n\na,c,\n", "bad.csv, line 4: 'x' is nan (1 in all); fill in"),
        (MIXED, "bad.csv, line 2: x is 'much', but other lines have numbers; write a number"),
        ("tail,head,x\nNA,b,3\n,b,3\n", "bad.csv, line 3: 'tail' is None (1 in all)"),
        (
            "tail,head,x\na,b,3,4\n",
            "bad.csv, line 2: more entries than the header has; entries with",
        ),
        ('tail,head,x\na,b,2\n"a,b,1\n', "bad.csv, line 3: a quote is not closed"),
        ("tail;head;x\na;b;1,5\n", "bad.csv has one column, 'tail;head;x'; if ';' separates"),
        ("tail\thead\na\tb\n", "separates columns, give --sep '\\t'"),
        ("tail,head,x\na,b,1\na,caf\udce9,1\n", "bad.csv, line 3: not in UTF-8; save the file as"),
        (TWINS, "trips.csv, line 2, trip 'monday': 'home' -> 'ford' is ambiguous, because it may"),
        (
            TWINS,
            "name the edges in a column 'edge', or choose the arc of least x with --parallel x (2",
        ),
    ],
)
def test_edges_that_are_wrong(folder, capsys, edges, message):
    (folder / "bad.csv").write_text(edges, "utf-8", "surrogateescape")
    refused("fit --edges bad.csv --trips trips.csv", message, capsys)


@pytest.mark.parametrize(
    ("trips", "message"),
    [
        ("name\nmonday\n", "bad.csv needs a column path with the nodes of a trip"),
        ("path,wieght\nhome ford,1\n", "bad.csv has an unknown column 'wieght'; use only path"),
        ("path\nhome moon\n", "bad.csv, line 2, trip '1': node 'moon' is not in the graph; leave"),
        ("trip,node\na,home\na,work\n", "bad.csv, line 3, trip 'a': 'home' -> 'work' is the wrong"),
        (
            "path\nbridge home\n",
            "is one-way; reverse the trip, add the arc, or fill gaps with the path of least",
        ),
        ("path\nwork bridge\nhome ford\n", "(1 of 2 trips are refused; --drop-bad leaves them out"),
        ("path\nhome ford work home\n", "trip '1': the trip starts and ends at 'home', which"),
        ("path\nhome\n", "bad.csv, line 2, trip '1': the trip has only one node, but a"),
        (
            "path,weight\nhome ford,-1\n",
            "bad.csv, trip 1: weight must be a positive number, got -1",
        ),
        ("name,path\na,home ford\na,home ford\n", "line 3: an earlier trip has the same name 'a'"),
        ("trip,node,order\na,home,1\na,ford,1\n", "bad.csv, line 3: another row of the trip has"),
        (
            "trip,node,order\na,home,9:00\na,ford,10:00\n",
            "bad.csv, line 2: order must be a number or a time, got '9:00'; write numbers, or",
        ),
        ("trip,egde\na,3\n", "it has trip, egde; did you mean edge?"),
        ("trip,node\na,hone\na,work\n", "'hone' is not in the graph; did you mean home?"),
        ("trip,edge\na,3\n", "add a column edge to --edges, or use a column 'node' in trips"),
    ],
)
def test_trips_that_are_wrong(folder, capsys, trips, message):
    (folder / "bad.csv").write_text(trips)
    refused("fit --edges edges.csv --trips bad.csv --out costs.json", message, capsys)
    assert not (folder / "costs.json").exists()


@pytest.mark.parametrize(
    ("command", "message"),
    [
        ("fit --trips trips.csv", "--edges is missing; pass a CSV with a row for each arc"),
        ("fit --map hall.map --trips trips.csv", "planning.grid(layers, passable)"),
        ("evaluate costs.json --scenarios a", "relaxboost plan reads tables; for a grid, build"),
        ("fit --edges no.csv --trips trips.csv", "no.csv does not exist"),
        (
            "fit --edges edges.csv --trips trips.csv --reach 3",
            "--reach applies only to --loss distance",
        ),
        ("fit --edges edges.csv --trips trips.csv --loss distance", "distance needs --reach, the"),
        ("fit --edges edges.csv --trips trips.csv --gaps tol", "got 'tol'; did you mean toll?"),
        ("fit --edges edges.csv --trips trips.csv --out a.txt", "use a name that ends in .json"),
        (
            "fit --edges edges.csv --trips trips.csv --loss strayed --negative exact",
            "--negative simple",
        ),
        (
            "evaluate --edges edges.csv --trips trips.csv --features lengt",
            "pass MODEL, or name the column of costs with --features",
        ),
        (
            "evaluate --edges edges.csv --trips trips.csv --features length,toll",
            "--features names 2 features, but without MODEL it must name one",
        ),
        ("fit --edges edges.csv", "--trips is missing; pass a CSV of demonstrated trips"),
        (
            "boost --edges edges.csv --trips trips.csv --depth 2",
            "--depth applies only to --learner",
        ),
        ("boost --edges edges.csv --trips trips.csv --patience 2", "--patience needs --held-out"),
        ("show --edges edges.csv --trips trips.csv --trip 4 --out a.png", "--trip '4' is unknown"),
        (
            "show --edges edges.csv --trips trips.csv --trip 1 --out a.gif",
            "ends in .png, .pdf, .svg",
        ),
    ],
)
def test_options_that_do_not_fit(folder, capsys, command, message):
    refused(command, message, capsys)


def test_negative_features_are_named(folder, capsys):
    (folder / "edges.csv").write_text(ARCS.replace("ford,work,1.5", "ford,work,-1.5"))
    status, _, err = run("fit --edges edges.csv --trips trips.csv", capsys)
    assert status == 2
    assert "feature 'length' of arc 3 ('ford' -> 'work') is -1.5" in err
    assert "--free-signs" in err
    status, _, err = run("fit --edges edges.csv --trips trips.csv --free-signs", capsys)
    assert (status, err) == (0, "")


def rendered(tree):
    """Yield each literal of a module, with words and numbers where an f-string has values."""
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            places = [k for k, x in enumerate(node.values) if isinstance(x, ast.FormattedValue)]
            parts = [getattr(x, "value", "") for x in node.values]
            for k in places:
                parts[k] = "'x'" if node.values[k].conversion == ord("r") else "1"
            for words in product(VALUES, repeat=min(len(places), 3)):
                for k, word in zip(places, words, strict=False):
                    parts[k] = word
                yield "".join(parts)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value


VALUES = ("1", "'x'")


def test_what_is_said_in_other_words_is_said_by_the_library():
    """Each pattern that a command replaces matches a literal of the library."""
    room = Path(pl.__file__).parent
    files = [*room.rglob("*.py"), *(room.parent / "functional").rglob("*.py")]
    said = {text for file in files for text in rendered(ast.parse(file.read_text()))}
    options = {"regulariser": "ridge", "strength": None, "free_signs": False, "loss": "hamming"}
    words = plan_fit._words(plan_inputs.PlanOptions(**options)) | plan_boost._SPOKEN
    words |= plan_inputs.USED | plan_inputs.TABLES
    idle = [p for p in words if not any(re.search(p, text) for text in said)]
    assert idle == []


def test_names_with_spaces_need_a_row_for_each_step(folder, capsys):
    (folder / "bad.csv").write_text("u,v,x\nold town,ford,1\nford,work,1\n1,work,1\n")
    command = "fit --edges bad.csv --trips spaced.csv"
    (folder / "spaced.csv").write_text("path\nold town ford\n")
    said = "a column path cannot contain 'old town', because spaces separate its nodes; use"
    refused(command, said, capsys)
    (folder / "spaced.csv").write_text("trip,node\na,1.0\na,work\n")
    refused(command, "'1.0' is not in the graph; the graph has '1', so write both", capsys)


def test_costs_to_start_from_are_refused_in_words_of_the_command(folder, capsys):
    files = "--edges edges.csv --trips trips.csv --rounds 2"
    assert run(f"boost {files} --out boosted.json", capsys)[0] == 0
    assert run("fit --edges edges.csv --trips trips.csv --out linear.json", capsys)[0] == 0
    said = "--base must be a number or linear costs, and these costs are not linear; pass a file"
    refused(f"boost {files} --base boosted.json", said, capsys)
    said = "name the features of the costs in --features, or leave --features out"
    refused(f"boost {files} --base linear.json --features length", said, capsys)
    lacking = "evaluate linear.json --edges edges.csv --trips trips.csv --features length"
    refused(lacking, said, capsys)


def test_a_column_of_names_is_named(folder, capsys):
    rows = "".join(f"n{k},n{k + 1},1,street {k}\n" for k in range(120))
    (folder / "bad.csv").write_text(f"u,v,x,street\n{rows}")
    refused("fit --edges bad.csv --trips trips.csv", "names the edges, name it edge", capsys)

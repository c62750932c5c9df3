"""relaxboost plan: fit, boost, evaluate and show, on networks and grids, and what they refuse."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import relaxboost as rb
from relaxboost import functional as fn
from relaxboost import planning as pl
from relaxboost.commands.cli import main

ARCS = """tail,head,length,toll
home,bridge,1,1
bridge,work,1,0
home,ford,2,0
ford,work,1.5,0
work,home,1,1
ford,bridge,0.5,0
"""
TASKS = """name,path,weight
monday,home ford work,1
tuesday,home ford work,2
back,work home,1
"""
MAP = ["......", ".@@@S.", ".@...S", "......"]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "edges.csv").write_text(ARCS)
    (tmp_path / "trips.csv").write_text(TASKS)
    (tmp_path / "held_out.csv").write_text("path\nford work\nhome bridge work\n")
    (tmp_path / "nodes.csv").write_text("node,x,y\nhome,0,0\nbridge,1,1\nford,1,-1\nwork,2,0\n")
    rows = "\n".join(MAP)
    (tmp_path / "hall.map").write_text(f"type octile\nheight 4\nwidth 6\nmap\n{rows}\n")
    # The second is wrong: that path has length 4 + 2√2.
    lines = [(0, 0, 5, 3, 6 + 2**0.5), (0, 3, 5, 0, 2 + 3 * 2**0.5), (0, 0, 5, 0, 5.0)]
    problems = [f"0\thall.map\t6\t4\t{a}\t{b}\t{c}\t{d}\t{x:.8f}" for a, b, c, d, x in lines]
    (tmp_path / "hall.map.scen").write_text("\n".join(["version 1", *problems]) + "\n")
    (tmp_path / "cells.csv").write_text('path\n"0,0 1,0 2,0 3,0 3,1 3,2"\n"3,5 3,4 3,3"\n')
    rng = np.random.default_rng(0)
    layers = {"slope": rng.random((4, 6)), "free": np.array([[c != "@" for c in r] for r in MAP])}
    np.savez(tmp_path / "terrain.npz", **layers)
    return tmp_path


def run(command, capsys):
    """Return status, output and errors of a command."""
    try:
        main(["plan", *shlex.split(command)])
        status = 0
    except SystemExit as ended:
        status = ended.code
    shown = capsys.readouterr()
    return status, shown.out, shown.err


def parsed(text):
    def refuse(constant):
        raise AssertionError(constant)

    return json.loads(text, parse_constant=refuse)


def test_fit_prints_weights_and_bracket(folder, capsys):
    status, out, err = run("fit --edges edges.csv --trips trips.csv --out costs.json", capsys)
    assert (status, err) == (0, "")
    assert "data:       edges.csv, 4 nodes, 6 arcs, 3 trips\n" in out
    lower, upper = map(float, re.search(r"bracket: +(\S+) <= .* <= (\S+)$", out, re.M).groups())
    assert 0.0 < lower <= upper <= 1.01 * lower
    assert re.search(r"^status: +optimal: a relative gap of", out, re.M)
    assert [line.split()[1] for line in out.split("weights:\n")[1].splitlines()[:2]] == [
        "toll",
        "length",
    ]
    assert out.endswith("written:    costs.json\n")


def test_json_is_the_library(folder, capsys):
    options = "--regulariser lasso --strength 0.05 --loss hamming --tol 1e-6"
    status, out, _ = run(f"fit --edges edges.csv --trips trips.csv {options} --json", capsys)
    content = parsed(out)
    assert status == 0
    X = np.array([line.split(",")[2:] for line in ARCS.split()[1:]], dtype=float)
    nodes = ["home", "bridge", "work", "ford"]
    ends = [line.split(",")[:2] for line in ARCS.split()[1:]]
    tail, head = ([nodes.index(end[k]) for end in ends] for k in (0, 1))
    graph = pl.Graph(tail, head, X, names=["length", "toll"], nodes=nodes)
    tasks = [
        pl.Task.along(graph.path(row.split(",")[1].split()), pl.Hamming(), weight=float(row[-1]))
        for row in TASKS.strip().split("\n")[1:]
    ]
    fit = pl.fit(pl.Problem(tasks, pl.Lasso(0.05), negative="relaxed"), tol=1e-6)
    assert content["weights"] == dict(zip(graph.names, fit.w.tolist(), strict=True))
    assert (content["lower"], content["upper"]) == (fit.lower, fit.upper)
    assert content["status"] == fit.status == "optimal"
    assert content["exact"] == fit.exact
    assert content["regulariser"] == "Lasso(strength=0.05)"


def test_a_gap_not_reached_is_status_one(folder, capsys):
    options = "--tol 1e-9 --max-rounds 1 --regulariser radius"
    status, out, _ = run(f"fit --edges edges.csv --trips trips.csv {options}", capsys)
    assert status == 1
    assert "status:     max_rounds: a relative gap of" in out
    assert "L1Radius(radius=1.0)" in out
    status, out, _ = run(f"fit --edges edges.csv --trips trips.csv {options} --json", capsys)
    assert status == 1
    assert parsed(out)["status"] == "max_rounds"


@pytest.mark.parametrize("loss", ["strayed", "distance --reach 2", "none"])
def test_losses_on_a_grid(folder, capsys, loss):
    """The one trip is shortest by each feature alone, and the command says so."""
    command = f"fit --layers terrain.npz --passable free --trips cells.csv --loss {loss} --json"
    status, out, err = run(command, capsys)
    assert status == 0
    assert err.startswith("relaxboost: there is nothing to learn: ")
    assert list(parsed(out)["weights"]) == ["slope", "step"]


def test_evaluate_compares_with_demonstrations(folder, capsys):
    run("fit --edges edges.csv --trips trips.csv --out costs.json", capsys)
    status, out, _ = run("evaluate costs.json --edges edges.csv --trips held_out.csv", capsys)
    assert status == 0
    assert re.search(r"^exact match +0.5$", out, re.M)
    status, out, _ = run(
        "evaluate costs.json --edges edges.csv --trips held_out.csv --json", capsys
    )
    content = parsed(out)
    assert content["metrics"]["exact_match"] == 0.5
    assert content["metrics"]["arc_recall"] == pytest.approx(1 / 3)
    assert [one["exact"] for one in content["each"]] == [True, False]


def test_numbers_that_are_not_there_are_null(folder, capsys):
    run("fit --edges edges.csv --trips trips.csv --loss none --out costs.json", capsys)
    assert json.loads((folder / "costs.json").read_text())["weights"] == [0.0, 0.0]
    _, out, _ = run("evaluate costs.json --edges edges.csv --trips held_out.csv --json", capsys)
    assert parsed(out)["metrics"]["cost_ratio"] is None
    _, out, _ = run("evaluate costs.json --edges edges.csv --trips held_out.csv", capsys)
    assert re.search(r"^cost ratio +nan$", out, re.M)


def test_lengths_of_scenarios_are_checked(folder, capsys):
    status, out, _ = run("evaluate --map hall.map --scenarios hall.map.scen", capsys)
    assert status == 1
    assert re.search(r"lengths confirmed +2 of 3", out)
    assert re.search(
        r"problem 2, \(3, 0\) to \(0, 5\): the file says 6.24\d+, the shortest path has 6.82", out
    )
    command = "evaluate --map hall.map --scenarios hall.map.scen --json --limit 2"
    content = parsed(run(command, capsys)[1])
    assert content["problems"] == 2
    assert [one["planned"] for one in content["each"]] == pytest.approx(
        [6 + 2**0.5, 4 + 2 * 2**0.5]
    )


def test_scenarios_with_learned_costs(folder, capsys):
    fitted = run("fit --map hall.map --trips cells.csv --out costs.json --json", capsys)
    assert list(parsed(fitted[1])["weights"]) == ["step", "swamp", "near_wall"]
    command = "evaluate costs.json --map hall.map --scenarios hall.map.scen"
    status, out, _ = run(command, capsys)
    assert status == 0
    assert "length of plans over the shortest" in out


def test_show_draws(folder, capsys):
    run("fit --edges edges.csv --trips trips.csv --out costs.json", capsys)
    command = "show costs.json --edges edges.csv --trips trips.csv --out {} {}"
    for name, options, magic in (
        ("a.png", "--trip back", b"\x89PNG"),
        ("a.svg", "--trip 2 --nodes nodes.csv --zoom", b"<?xml"),
        ("a.pdf", "--nodes nodes.csv", b"%PDF"),
    ):
        assert run(command.format(name, options), capsys) == (0, f"picture:    {name}\n", "")
        assert (folder / name).read_bytes().startswith(magic)
    command = "show --map hall.map --scenarios hall.map.scen --trip 3 --out b.pdf --json"
    status, out, _ = run(command, capsys)
    assert (status, parsed(out)["ends"]) == (0, [[0, 0], [0, 5]])
    assert (folder / "b.pdf").read_bytes().startswith(b"%PDF")


def test_boosted_costs_are_those_of_the_library(folder, capsys):
    (folder / "more.csv").write_text("path\nhome ford work\n")
    options = "--rounds 6 --held-out more.csv --seed 3 --json"
    status, out, err = run(f"boost --edges edges.csv --trips trips.csv {options}", capsys)
    content = parsed(out)
    assert (status, err) == (0, "")
    frame = pd.read_csv(folder / "edges.csv")
    graph = pl.from_pandas(frame, "tail", "head")
    rows = [row.split(",") for row in TASKS.split("\n")[1:-1]]
    tasks = [pl.Task.along(graph.path(row[1].split()), weight=float(row[2])) for row in rows]
    stop = fn.Stopping(6, validation=tasks[:1])
    loss = pl.PlanningLoss("exponential")
    boosted = pl.boost(tasks, fn.RegressionStumps(), loss, stopping=stop)
    assert content["losses"] == [record.value for record in boosted.history]
    assert content["held_out"] == [record.validation for record in boosted.history]
    assert content["losses"][0] > min(content["losses"])
    assert sum(content["importances"].values()) == pytest.approx(1.0)
    command = "boost --edges edges.csv --trips trips.csv --rounds 6 --out boosted.json"
    status, out, err = run(command, capsys)
    assert (status, err, out.splitlines()[-1]) == (0, "", "written:    boosted.json")
    assert re.search(r"^loss: +1.5 -> \S+, round [1-6]$", out, re.M)
    command = "evaluate boosted.json --edges edges.csv --trips held_out.csv --json"
    report = pl.evaluate([pl.Task.along(graph.path(["ford", "work"]))], boosted)
    status, out, err = run(command, capsys)
    assert (status, err, parsed(out)["each"][0]["exact"]) == (0, "", report.each.exact[0] == 1.0)
    assert parsed(out)["each"][0]["margin_loss"] == report.each.margin[0]
    command = "show boosted.json --edges edges.csv --trips trips.csv --trip back --out b.png"
    assert run(command, capsys)[::2] == (0, "")
    refused(command.replace("boosted", "other"), "other.json does not exist", capsys)
    command = "boost --edges edges.csv --trips trips.csv --base {}.json --rounds 2"
    zero = "fit --edges edges.csv --trips trips.csv --loss none --out costs.json"
    assert run(zero, capsys)[0] == 0
    refused(command.format("costs"), "or leave out --base", capsys)
    assert run(command.format("costs") + " --link additive", capsys)[0] == 0


def test_boosting_says_when_nothing_was_learned(folder, capsys):
    (folder / "edges.csv").write_text(re.sub(r"\d(\.5)?,\d\n", "1,0\n", ARCS))
    status, _, err = run("boost --edges edges.csv --trips trips.csv --rounds 3", capsys)
    assert (status, "nothing was learned: no round" in err) == (0, True), err
    assert run("boost --edges edges.csv --trips trips.csv --rounds 3 --quiet", capsys)[1:] == (
        "",
        "",
    )
    (folder / "back.csv").write_text("path\nwork home\n")
    _, _, err = run("boost --edges edges.csv --trips back.csv --rounds 3", capsys)
    assert "nothing to learn" in err


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
        command + "by_node.csv", "by_node.csv, line 3, trip 'x': 'a' -> 'b' may be arc 0", capsys
    )
    options = " --features metres --parallel metres --gaps metres --drop-bad --out roads.json"
    status, out, err = run(command + "by_node.csv" + options, capsys)
    assert (status, parsed(out)["trips"]) == (0, 1)
    assert (
        "left out 1 trip, the first since by_node.csv, line 6, trip 'y': node 'q' is not in" in err
    )
    assert "joined 1 gap of 1 trip by metres" in err
    command = "evaluate roads.json --edges more.csv --trips two.csv --sep ';' --json"
    (folder / "more.csv").write_text("u;v;colour;metres\na;b;red;1\nb;c;blue;1\n")
    (folder / "two.csv").write_text("path\na b c\n")
    status, out, err = run(command, capsys)  # columns that the costs do not know are left alone
    assert (status, err, parsed(out)["metrics"]["exact_match"]) == (0, "", 1.0)
    (folder / "more.csv").write_text("u;v;colour\na;b;red\nb;c;blue\n")
    refused(command, "more.csv has no column 'metres', only u, v, colour", capsys)


def test_classes_never_seen_are_named(folder, capsys):
    (folder / "roads.csv").write_text(ROADS.replace(";", ","))
    (folder / "by_edge.csv").write_text("trip,edge\nx,1\nx,3\n")
    options = "--trips by_edge.csv --features metres*class --out roads.json"
    assert run(f"fit --edges roads.csv {options}", capsys)[0] == 0
    (folder / "roads.csv").write_text(ROADS.replace(";", ",").replace("50,main", "50,ferry"))
    command = "evaluate roads.json --edges roads.csv --trips by_edge.csv"
    refused(
        command, "roads.csv, line 4: 'class' is 'ferry', which the features do not know", capsys
    )


def test_places_of_nodes(folder, capsys):
    (folder / "nodes.csv").write_text("node,x,y\nhome,0,0\nwork,2,0\nford,1,-1\n")
    command = "show --edges edges.csv --nodes nodes.csv --out a.png"
    refused(command, "no node 'bridge'", capsys)
    (folder / "nodes.csv").write_text("name,x,y\nhome,0,0\n")
    refused(command, "nodes.csv needs a column 'node', and x and y or lon and lat", capsys)
    degrees = "node,x,y\nhome,15,60\nbridge,15.00001,60\nford,15,60.00001\nwork,15.00002,60\n"
    (folder / "nodes.csv").write_text(degrees)
    refused(
        command, "nodes.csv has x and y that look like degrees beside lengths in metres", capsys
    )
    (folder / "nodes.csv").write_text(degrees.replace("x,y", "lon,lat"))
    assert run(command, capsys)[0] == 0


def test_remedies_are_options_and_never_those_that_were_given(folder, capsys):
    fit = "fit --edges edges.csv --trips trips.csv --json --regulariser"
    status, out, err = run(f"{fit} lasso --strength 1e6", capsys)
    assert (status, set(parsed(out)["weights"].values())) == (0, {0.0})
    told = "give a smaller --strength than 1e+06, other features, --free-signs or relaxboost plan"
    assert told in err
    assert err.count("\n") == 1
    _, _, err = run(f"{fit} lasso --strength 1e6 --free-signs", capsys)
    assert "give a smaller --strength than 1e+06, other features or relaxboost plan boost" in err
    assert run(f"{fit} lasso --strength 1e6 --quiet", capsys)[2] == ""
    _, _, err = run(f"{fit} ridge --loss none", capsys)
    assert "there is nothing to learn: " in err
    assert "give trips with alternatives, and --loss missed" in err


def test_the_ridge_is_chosen_on_folds_of_trips(folder, capsys):
    """As the library chooses, on a grid with more clusters of trips than the least for folds."""
    rng = np.random.default_rng(3)
    slope, wood = rng.random((2, 9, 9))
    land = pl.grid([slope, wood])
    np.savez(folder / "land.npz", slope=slope, wood=wood)
    secret = land.arc_features @ [1.0, 0.3]
    ends = [[land.label(n) for n in rng.choice(81, 2, replace=False)] for _ in range(12)]
    paths = [pl.shortest_path(land, secret, *pair).path for pair in ends]
    rows = [" ".join(f"{r},{c}" for r, c in path.nodes) for path in paths]
    (folder / "walks.csv").write_text("path\n" + "".join(f'"{row}"\n' for row in rows))
    command = "fit --layers land.npz --trips walks.csv"
    status, out, err = run(command, capsys)
    assert (status, err) == (0, "")
    assert "), chosen on 3 folds, loss Missed(" in out
    content = parsed(run(command + " --json", capsys)[1])
    free = pl.grid([slope, wood, np.ones((9, 9))])
    tasks = [pl.Task.along(free.path(path.nodes)) for path in paths]
    assert content["regulariser"] == repr(pl.Ridge(pl.fit(tasks).chosen.strength))
    content = parsed(run(command + " --strength 0.5 --json", capsys)[1])
    assert (content["regulariser"], content["folds"]) == ("Ridge(strength=0.5)", 0)


def test_a_short_time_limit_is_kept_while_a_strength_is_chosen(folder, capsys):
    command = "fit --edges edges.csv --trips trips.csv --time-limit 1e-9 --json"
    status, out, _ = run(command, capsys)
    assert (status, parsed(out)["status"]) == (1, "time_limit")


def test_ties_are_told(folder, capsys):
    (folder / "flat.csv").write_text(re.sub(r"\d(\.5)?,\d\n", "1,0\n", ARCS))
    run("fit --edges edges.csv --trips trips.csv --loss none --out costs.json", capsys)
    command = "evaluate costs.json --edges flat.csv --trips trips.csv"
    (folder / "trips.csv").write_text("path\nford bridge work\nhome ford work\n")
    status, _, err = run(command, capsys)
    assert (status, err.count("\n")) == (0, 1)
    assert "every demonstration ties with its plan" in err
    assert err.endswith("learn them with a smaller --strength or more --features\n")
    status, out, err = run(command + " --quiet --json", capsys)
    assert (err, parsed(out)["metrics"]["optimal_match"]) == ("", 1.0)


@pytest.mark.parametrize("name", ["fit", "boost", "evaluate", "show"])
def test_examples_of_the_help_work(folder, capsys, name, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    status, out, _ = run(f"{name} --help", capsys)
    assert status == 0
    assert max(map(len, out.splitlines())) <= 80
    told = out[out.index("Examples:") :].replace("\\\n", " ")
    examples = re.findall(r"^ +relaxboost plan (.*)$", told, re.M)
    assert len(examples) >= 3
    np.savez(folder / "land.npz", slope=np.ones((4, 6)))
    (folder / "walks.csv").write_text('path\n"0,0 0,1 1,1"\n')
    for example in examples:
        if "costs.json" in example and "--out costs.json" not in example:
            graph = "--map hall.map --trips cells.csv"
            if "--edges" in example:
                graph = "--edges edges.csv --trips trips.csv"
            run(f"fit {graph} --out costs.json --max-rounds 2", capsys)
        status, _, err = run(example, capsys)
        wrong = name == "evaluate" and "costs.json" not in example  # a length in the file
        assert status == (1 if wrong else 0), example
        assert err == "" or "--learner trees" in example, err  # too few arcs for trees


ENDS = "bad.csv needs two columns for the ends of its edges"
MIXED = "tail,head,x\nhome,ford,much\nford,work,2\n"
LOOP = "tail,head,x\nhome,ford,1\n\nford,ford,1\n"
TWINS = "tail,head,x,edge\nhome,ford,1,a\nhome,ford,2,b\nford,work,1,c\nwork,home,1,d\n"


@pytest.mark.parametrize(
    ("edges", "message"),
    [
        ("tail,head,x\n", "bad.csv has no rows below its header; add them"),
        ("", "bad.csv cannot be read as CSV: No columns to parse"),
        ("tail,x\na,1\n", f"{ENDS}, such as u and v; it has tail, x"),
        ("tail,head\nhome,ford\n", "bad.csv has no features; add columns"),
        ("tail,head,x,x\na,b,1,2\n", "bad.csv: columns need different names, got tail, head, x"),
        (LOOP, "bad.csv, line 4: 'ford' -> 'ford' is a self-loop, which no shortest path takes"),
        ("u,v,x\na,b,1\n\na,c,\n", "bad.csv, line 4: 'x' is nan (1 rows in all); fill it in"),
        ("from,to,x\na,b,inf\n", "bad.csv, line 2: 'x' is inf"),
        (MIXED, "bad.csv, line 2: x is 'much', and a number in other lines; write a number"),
        ("tail,head,x\nNA,b,3\n,b,3\n", "bad.csv, line 3: 'tail' is nan (1 rows in all)"),
        ("tail,head,x\na,b,3,4\n", "bad.csv: rows have more entries than the header"),
        ("tail,head,x\na,b,3\na,b,3,4\n", "bad.csv cannot be read as CSV: Error tokenizing data."),
        ('tail,head,x\n"a,b,1\n', "bad.csv cannot be read as CSV"),
        (TWINS, "trips.csv, line 2, trip 'monday': 'home' -> 'ford' may be arc 0 (key 'a') or arc"),
        (
            TWINS,
            "name edges in a column 'edge', or take the one of least x with --parallel x (2 of",
        ),
    ],
)
def test_edges_that_are_wrong(folder, capsys, edges, message):
    (folder / "bad.csv").write_text(edges)
    refused("fit --edges bad.csv --trips trips.csv", message, capsys)


@pytest.mark.parametrize(
    ("trips", "message"),
    [
        ("path\n", "bad.csv has no rows below its header; add them"),
        ("name\nmonday\n", "bad.csv has no column 'trip', only name; add or rename one"),
        ("path,wieght\nhome ford,1\n", "bad.csv has a column 'wieght'; trips have path"),
        ("path\nhome moon\n", "bad.csv, line 2, trip '1': node 'moon' is not in the graph; leave"),
        ("trip,node\na,home\na,work\n", "bad.csv, line 3, trip 'a': 'home' -> 'work' is the wrong"),
        (
            "path\nhome ford\nhome ford home\n",
            "line 3, trip '2': 'ford' -> 'home' is the wrong way",
        ),
        ("path\nbridge home\n", "is one-way; turn the trip, add the arc, or join gaps by least"),
        ("path\nwork ford\nhome ford\n", "trip '1': 'work' -> 'ford' is the wrong way of arc 3"),
        ("path\nwork bridge\nhome ford\n", "(1 of 2 trips are refused; --drop-bad leaves them out"),
        ("path\nhome ford work home\n", "trip '1', from 'home' back to it: no shortest path does"),
        ("path\nhome\n", "bad.csv, line 2, trip '1': it has one node, and needs two"),
        (
            "path,weight\nhome ford,-1\n",
            "bad.csv, trip 1: weight must be a positive number, got -1",
        ),
        ("path,weight\nhome ford,\n", "bad.csv, trip 1: weight must be a positive number, got nan"),
        ("name,path\na,home ford\na,home ford\n", "line 3: a trip before is named 'a' too"),
        ("trip,node,order\na,home,1\na,ford,1\n", "bad.csv, line 3: its trip has another row of"),
        ("trip,edge\na,3\n", "add a column edge to --edges, or trips a column of nodes"),
    ],
)
def test_trips_that_are_wrong(folder, capsys, trips, message):
    (folder / "bad.csv").write_text(trips)
    refused("fit --edges edges.csv --trips bad.csv --out costs.json", message, capsys)
    assert not (folder / "costs.json").exists()


def refused(command, message, capsys):
    """Check that a command ends with 2 and one line."""
    status, out, err = run(command, capsys)
    assert (status, out) == (2, "")
    assert message in err
    assert err.startswith("relaxboost: ")
    assert err.count("\n") == 1


@pytest.mark.parametrize(
    ("command", "message"),
    [
        ("fit --trips trips.csv", "give one of --edges, --map and --layers; none was given"),
        ("fit --edges edges.csv --map hall.map --trips trips.csv", "several of them were given"),
        ("fit --edges no.csv --trips trips.csv", "no.csv does not exist"),
        ("fit --edges edges.csv --trips no.csv", "no.csv does not exist"),
        ("fit --edges edges.csv --trips trips.csv --passable x", "--passable names a layer"),
        ("fit --layers terrain.npz --passable x --trips cells.csv", "no layer 'x'; it has"),
        ("fit --edges edges.csv --trips trips.csv --strength 0", "strength must be"),
        ("fit --edges edges.csv --trips trips.csv --tol -1", "tol must be"),
        ("fit --edges edges.csv --trips trips.csv --reach 3", "--reach belongs to --loss distance"),
        ("fit --edges edges.csv --trips trips.csv --loss distance", "--reach belongs to"),
        ("fit --edges edges.csv --trips trips.csv --out a.txt", "use a name that ends in .json"),
        (
            "fit --edges edges.csv --trips trips.csv --loss strayed --negative exact",
            "--negative simple",
        ),
        ("fit --map hall.map --trips trips.csv", "'home' is no cell; paths on a grid are"),
        ("evaluate costs.json --edges edges.csv --trips trips.csv", "costs.json does not exist"),
        ("evaluate --edges edges.csv --trips trips.csv", "--trips needs MODEL"),
        ("evaluate --edges edges.csv", "give either --trips or --scenarios"),
        ("fit --edges edges.csv --trips trips.csv --sep ,,", "--sep must be one character, or"),
        ("fit --edges edges.csv", "give --trips, a CSV of what was done"),
        ("fit --map hall.map --trips cells.csv --nodes a.csv", "--nodes and --features belong"),
        ("boost --edges edges.csv --trips trips.csv --depth 2", "--depth belongs to --learner"),
        ("boost --edges edges.csv --trips trips.csv --patience 2", "--patience needs --held-out"),
        ("evaluate --edges edges.csv --scenarios hall.map.scen", "give --map FILE.map"),
        ("show --edges edges.csv --trips trips.csv --trip 4 --out a.png", "there is no trip '4'"),
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


def test_costs_that_fall_around_a_cycle_are_named(folder, capsys):
    fit = "fit --edges edges.csv --trips trips.csv --loss hamming --negative exact"
    status, _, err = run(fit, capsys)
    assert status == 2
    assert "give --negative simple, for paths that visit no node twice, or relaxed" in err
    (folder / "edges.csv").write_text(ARCS.replace("work,home,1,1", "work,home,-9,1"))
    weights = {"names": ("length", "toll"), "lower": 0.0, "upper": 1.0, "status": "optimal"}
    told = {"regulariser": "Ridge(strength=0.01)", "losses": ("Missed()",), "method": "bundle"}
    rules = {"nonnegative": False, "negative": "relaxed", "power": 1, "rounds": 1, "exact": False}
    pl.save_model(pl.LinearModel(w=np.array([1.0, 0.0]), **weights, **told, **rules), "costs.json")
    for command in ("evaluate costs.json {}", "show costs.json {} --trip back --out a.png"):
        status, _, err = run(command.format("--edges edges.csv --trips trips.csv"), capsys)
        assert status == 2
        assert "a round; fit costs without --free-signs" in err


def test_scenarios_of_another_map_are_refused(folder, capsys):
    scen = folder / "hall.map.scen"
    scen.write_text(scen.read_text().replace("\t6\t4\t", "\t7\t4\t"))
    status, _, err = run("evaluate --map hall.map --scenarios hall.map.scen", capsys)
    assert status == 2
    assert "line 2" in err


def test_cells_in_the_wall_and_broken_paths(folder, capsys):
    for path, message in (
        ("0,0 1,1", "from (0, 0) to (1, 1); give what lies between"),
        ("0,0 9,9", "node (9, 9) is not in the graph"),
        ("0,0 0,1 0,3", "from (0, 1) to (0, 3)"),
    ):
        (folder / "cells.csv").write_text(f'path\n"{path}"\n')
        status, _, err = run("fit --map hall.map --trips cells.csv", capsys)
        assert status == 2
        assert message in err


def test_models_of_other_features_are_refused(folder, capsys):
    run("fit --edges edges.csv --trips trips.csv --out costs.json", capsys)
    status, _, err = run("evaluate costs.json --map hall.map --trips cells.csv", capsys)
    assert status == 2
    assert "the costs were learned from length, toll" in err


def test_as_a_process(folder):
    result = subprocess.run(
        [sys.executable, "-m", "relaxboost", "plan", "fit", "--edges", "edges.csv", "--trips",
         "trips.csv", "--json"],
        capture_output=True,
        text=True,
        check=True,
    )  # fmt: skip
    assert result.stderr == ""
    assert parsed(result.stdout)["status"] == "optimal"
    assert rb.planning.fit is pl.fit


def test_commands_of_the_page_work(folder, capsys):
    page = Path(__file__).parents[2] / "docs" / "planning.md"
    commands = re.findall(r"^relaxboost plan (.*)$", page.read_text(), re.M)
    assert len(commands) >= 4
    for command in commands:
        status, _, err = run(command, capsys)
        assert (status, err) == (1 if "--scenarios" in command else 0, ""), command

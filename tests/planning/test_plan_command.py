"""relaxboost plan: fit, eval and show, on networks and grids, and what they refuse."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import sys

import numpy as np
import pytest

import relaxboost as rb
from relaxboost import planning as pl
from relaxboost.commands.cli import main
from relaxboost.commands.plan import plan

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
    (tmp_path / "arcs.csv").write_text(ARCS)
    (tmp_path / "tasks.csv").write_text(TASKS)
    (tmp_path / "held_out.csv").write_text("path\nford work\nhome bridge work\n")
    rows = "\n".join(MAP)
    (tmp_path / "den312d.map").write_text(f"type octile\nheight 4\nwidth 6\nmap\n{rows}\n")
    # The second is wrong: that path has length 4 + 2√2.
    lines = [(0, 0, 5, 3, 6 + 2**0.5), (0, 3, 5, 0, 2 + 3 * 2**0.5), (0, 0, 5, 0, 5.0)]
    problems = [f"0\tden312d.map\t6\t4\t{a}\t{b}\t{c}\t{d}\t{x:.8f}" for a, b, c, d, x in lines]
    (tmp_path / "den312d.map.scen").write_text("\n".join(["version 1", *problems]) + "\n")
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
    status, out, err = run("fit --arcs arcs.csv --tasks tasks.csv --out costs.json", capsys)
    assert (status, err) == (0, "")
    assert "data:       arcs.csv, 4 nodes, 6 arcs, 3 tasks\n" in out
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
    status, out, _ = run(f"fit --arcs arcs.csv --tasks tasks.csv {options} --json", capsys)
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
    status, out, _ = run(f"fit --arcs arcs.csv --tasks tasks.csv {options}", capsys)
    assert status == 1
    assert "status:     the most rounds were done: a relative gap of" in out
    assert "L1Radius(radius=1.0)" in out
    status, out, _ = run(f"fit --arcs arcs.csv --tasks tasks.csv {options} --json", capsys)
    assert status == 1
    assert parsed(out)["status"] == "max_rounds"


@pytest.mark.parametrize("loss", ["strayed", "distance --reach 2", "none"])
def test_losses_on_a_grid(folder, capsys, loss):
    command = f"fit --layers terrain.npz --passable free --tasks cells.csv --loss {loss} --json"
    status, out, err = run(command, capsys)
    assert (status, err) == (0, "")
    assert list(parsed(out)["weights"]) == ["slope", "step"]


def test_eval_compares_with_demonstrations(folder, capsys):
    run("fit --arcs arcs.csv --tasks tasks.csv --out costs.json", capsys)
    status, out, _ = run("eval costs.json --arcs arcs.csv --tasks held_out.csv", capsys)
    assert status == 0
    assert re.search(r"plans that are the demonstration +1 of 2\n", out)
    status, out, _ = run("eval costs.json --arcs arcs.csv --tasks held_out.csv --json", capsys)
    content = parsed(out)
    assert content["metrics"]["exact_match"] == 0.5
    assert content["metrics"]["arc_recall"] == pytest.approx(1 / 3)
    assert [one["exact"] for one in content["each"]] == [True, False]


def test_numbers_that_are_not_there_are_null(folder, capsys):
    run("fit --arcs arcs.csv --tasks tasks.csv --loss none --out costs.json", capsys)
    assert json.loads((folder / "costs.json").read_text())["weights"] == [0.0, 0.0]
    _, out, _ = run("eval costs.json --arcs arcs.csv --tasks held_out.csv --json", capsys)
    assert parsed(out)["metrics"]["cost_ratio"] is None
    _, out, _ = run("eval costs.json --arcs arcs.csv --tasks held_out.csv", capsys)
    assert re.search(r"cost of demonstrations over that of plans +-\n", out)


def test_lengths_of_scenarios_are_checked(folder, capsys):
    status, out, _ = run("eval --map den312d.map --scenarios den312d.map.scen", capsys)
    assert status == 1
    assert re.search(r"lengths confirmed +2 of 3", out)
    assert re.search(
        r"problem 2, \(3, 0\) to \(0, 5\): the file says 6.24\d+, the shortest path has 6.82", out
    )
    command = "eval --map den312d.map --scenarios den312d.map.scen --json --limit 2"
    content = parsed(run(command, capsys)[1])
    assert content["problems"] == 2
    assert [one["planned"] for one in content["each"]] == pytest.approx(
        [6 + 2**0.5, 4 + 2 * 2**0.5]
    )


def test_scenarios_with_learned_costs(folder, capsys):
    fitted = run("fit --map den312d.map --tasks cells.csv --out costs.json --json", capsys)
    assert list(parsed(fitted[1])["weights"]) == ["step", "swamp", "near_wall"]
    command = "eval costs.json --map den312d.map --scenarios den312d.map.scen"
    status, out, _ = run(command, capsys)
    assert status == 0
    assert "length of plans over the shortest" in out


def test_show_draws(folder, capsys):
    run("fit --arcs arcs.csv --tasks tasks.csv --out costs.json", capsys)
    command = "show costs.json --arcs arcs.csv --tasks tasks.csv --task {} --out {}"
    for task, name, magic in (("back", "a.png", b"\x89PNG"), ("2", "a.svg", b"<?xml")):
        assert run(command.format(task, name), capsys)[:2] == (0, f"picture:    {name}\n")
        assert (folder / name).read_bytes().startswith(magic)
    command = "show --map den312d.map --scenarios den312d.map.scen --task 3 --out b.pdf"
    assert run(command, capsys)[0] == 0
    assert (folder / "b.pdf").read_bytes().startswith(b"%PDF")


@pytest.mark.parametrize("name", ["fit", "eval", "show"])
def test_examples_of_the_help_work(folder, capsys, name):
    status, out, _ = run(f"{name} --help", capsys)
    assert status == 0
    examples = re.findall(rf"^  relaxboost plan ({name} .*)$", plan.commands[name].epilog, re.M)
    assert len(examples) >= 2
    assert all(f"relaxboost plan {example}" in out for example in examples)
    arcs = "arcs.csv" in examples[0]
    graph = "--arcs arcs.csv --tasks tasks.csv" if arcs else "--map den312d.map --tasks cells.csv"
    np.savez(folder / "terrain.npz", slope=np.ones((4, 6)))
    for example in examples:
        if "costs.json" in example and name != "fit":
            grid = "--map den312d.map --tasks cells.csv" if "--map" in example else graph
            run(f"fit {grid} --out costs.json", capsys)
        if "terrain.npz" in example:
            (folder / "tasks.csv").write_text('path\n"0,0 0,1"\n')
        example = example.replace("--task 500", "--task 3")
        status, _, err = run(example, capsys)
        checked = "--scenarios" in example and "costs.json" not in example and name == "eval"
        assert (status, err) == (1 if checked else 0, ""), example


@pytest.mark.parametrize(
    ("arcs", "message"),
    [
        ("tail,head,x\n", "arcs.csv has no arcs; add a line for each"),
        ("", "arcs.csv needs a column 'tail' in its header, which has nothing"),
        ("tail,x\na,1\n", "arcs.csv needs a column 'head' in its header, which has tail, x"),
        ("tail,head\na,b\n", "arcs.csv has no features; add columns of numbers"),
        ("tail,head,x,x\na,b,1,2\n", "columns need different names, got tail, head, x, x"),
        ("tail,head,x\na,b,1\na,a,1\n", "line 3: a -> a is a self-loop"),
        ("tail,head,x\na,b,1\n\na,c,\n", "line 4: x is missing; it must be a finite number"),
        ("tail,head,x\na,b,nan\n", "line 2: x is 'nan'; it must be a finite number"),
        ("tail,head,x\na,b,much\n", "line 2: x is 'much'"),
        ("tail,head,x\na,b\n", "line 2: 2 entries, and the header has 3"),
        ("tail,head,x\na,b,1\na,b,2\n", "line 3: a -> b is in line 2 already"),
        ("tail,head,x\na b,c,1\n", "line 2: tail is 'a b'; nodes need names without spaces"),
        ('tail,head,x\n"a,b,1\n', "arcs.csv cannot be read as CSV"),
    ],
)
def test_arcs_that_are_wrong(folder, capsys, arcs, message):
    (folder / "arcs.csv").write_text(arcs)
    status, out, err = run("fit --arcs arcs.csv --tasks tasks.csv", capsys)
    assert (status, out) == (2, "")
    assert message in err
    assert err.count("\n") == 1


@pytest.mark.parametrize(
    ("tasks", "message"),
    [
        ("path\n", "tasks.csv has no tasks; add a line for each demonstrated path"),
        ("name\nmonday\n", "tasks.csv needs a column 'path'"),
        ("path,wieght\nhome ford,1\n", "tasks.csv has a column 'wieght'; tasks have path"),
        ("path\nhome moon\n", "line 2: task 1: no node 'moon' in the graph of 4 nodes"),
        ("name,path\nx,home ford home\n", "line 2: task x: step 2 of the path, 'ford' -> 'home'"),
        ("path\nhome ford work home\n", "line 2: task 1: source and target are the same node"),
        ("path\nhome\n", "line 2: a path needs at least two nodes"),
        ("path,weight\nhome ford,-1\n", "line 2: task 1: weight must be"),
        ("path,weight\nhome ford,\n", "line 2: weight is missing"),
        ("name,path\na,home ford\na,home ford\n", "line 3: a task before is named 'a' too"),
    ],
)
def test_tasks_that_are_wrong(folder, capsys, tasks, message):
    (folder / "tasks.csv").write_text(tasks)
    status, out, err = run("fit --arcs arcs.csv --tasks tasks.csv --out costs.json", capsys)
    assert (status, out) == (2, "")
    assert message in err
    assert not (folder / "costs.json").exists()


@pytest.mark.parametrize(
    ("command", "message"),
    [
        ("fit --tasks tasks.csv", "give one of --arcs, --map and --layers; none was given"),
        ("fit --arcs arcs.csv --map den312d.map --tasks tasks.csv", "several of them were given"),
        ("fit --arcs no.csv --tasks tasks.csv", "no.csv does not exist"),
        ("fit --arcs arcs.csv --tasks no.csv", "no.csv does not exist"),
        ("fit --arcs arcs.csv --tasks tasks.csv --passable x", "--passable names a layer"),
        ("fit --layers terrain.npz --passable x --tasks cells.csv", "no layer 'x'; it has"),
        ("fit --arcs arcs.csv --tasks tasks.csv --strength 0", "strength must be"),
        ("fit --arcs arcs.csv --tasks tasks.csv --tol -1", "tol must be"),
        ("fit --arcs arcs.csv --tasks tasks.csv --reach 3", "--reach belongs to --loss distance"),
        ("fit --arcs arcs.csv --tasks tasks.csv --loss distance", "--reach belongs to"),
        ("fit --arcs arcs.csv --tasks tasks.csv --out a.txt", "use a name that ends in .json"),
        (
            "fit --arcs arcs.csv --tasks tasks.csv --loss strayed --negative exact",
            "--negative simple",
        ),
        ("fit --map den312d.map --tasks tasks.csv", "'home' is no cell; paths on a grid are"),
        ("eval costs.json --arcs arcs.csv --tasks tasks.csv", "costs.json does not exist"),
        ("eval --arcs arcs.csv --tasks tasks.csv", "--tasks needs MODEL"),
        ("eval --arcs arcs.csv", "give either --tasks or --scenarios"),
        ("eval --arcs arcs.csv --scenarios den312d.map.scen", "give --map FILE.map"),
        ("show --arcs arcs.csv --tasks tasks.csv --out a.png", "say which with --task; there are"),
        ("show --arcs arcs.csv --tasks tasks.csv --task 4 --out a.png", "there is no task '4'"),
        ("show --arcs arcs.csv --tasks tasks.csv --task 1 --out a.gif", "ends in .png, .pdf, .svg"),
    ],
)
def test_options_that_do_not_fit(folder, capsys, command, message):
    status, out, err = run(command, capsys)
    assert (status, out) == (2, "")
    assert message in err


def test_negative_features_are_named(folder, capsys):
    (folder / "arcs.csv").write_text(ARCS.replace("ford,work,1.5", "ford,work,-1.5"))
    status, _, err = run("fit --arcs arcs.csv --tasks tasks.csv", capsys)
    assert status == 2
    assert "feature 'length' of arc 3 ('ford' -> 'work') is -1.5" in err
    assert "--free-signs" in err


def test_costs_that_fall_around_a_cycle_are_named(folder, capsys):
    fit = "fit --arcs arcs.csv --tasks tasks.csv --loss hamming --negative exact"
    status, _, err = run(fit, capsys)
    assert status == 2
    assert "give --negative simple, for paths that visit no node twice, or relaxed" in err
    (folder / "arcs.csv").write_text(ARCS.replace("work,home,1,1", "work,home,-9,1"))
    weights = {"names": ("length", "toll"), "lower": 0.0, "upper": 1.0, "status": "optimal"}
    told = {"regulariser": "Ridge(strength=0.01)", "losses": ("Missed()",), "method": "bundle"}
    rules = {"nonnegative": False, "negative": "relaxed", "power": 1, "rounds": 1, "exact": False}
    pl.save_model(pl.LinearModel(w=np.array([1.0, 0.0]), **weights, **told, **rules), "costs.json")
    for command in ("eval costs.json {}", "show costs.json {} --task back --out a.png"):
        status, _, err = run(command.format("--arcs arcs.csv --tasks tasks.csv"), capsys)
        assert status == 2
        assert "a round; fit costs without --free-signs" in err


def test_scenarios_of_another_map_are_refused(folder, capsys):
    scen = folder / "den312d.map.scen"
    scen.write_text(scen.read_text().replace("\t6\t4\t", "\t7\t4\t"))
    status, _, err = run("eval --map den312d.map --scenarios den312d.map.scen", capsys)
    assert status == 2
    assert "line 2" in err


def test_cells_in_the_wall_and_broken_paths(folder, capsys):
    for path, message in (
        ("0,0 1,1", "step 1 of the path, (0, 0) -> (1, 1), is no arc"),
        ("0,0 9,9", "no cell (9, 9)"),
        ("0,0 0,1 0,3", "step 2 of the path, (0, 1) -> (0, 3), is no arc"),
    ):
        (folder / "cells.csv").write_text(f'path\n"{path}"\n')
        status, _, err = run("fit --map den312d.map --tasks cells.csv", capsys)
        assert status == 2
        assert message in err


def test_models_of_other_features_are_refused(folder, capsys):
    run("fit --arcs arcs.csv --tasks tasks.csv --out costs.json", capsys)
    status, _, err = run("eval costs.json --map den312d.map --tasks cells.csv", capsys)
    assert status == 2
    assert "the costs were learned from length, toll" in err


def test_as_a_process(folder):
    result = subprocess.run(
        [sys.executable, "-m", "relaxboost", "plan", "fit", "--arcs", "arcs.csv", "--tasks",
         "tasks.csv", "--json"],
        capture_output=True,
        text=True,
        check=True,
    )  # fmt: skip
    assert result.stderr == ""
    assert parsed(result.stdout)["status"] == "optimal"
    assert rb.planning.fit is pl.fit

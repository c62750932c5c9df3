"""relaxboost plan: fit, boost, evaluate and show."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from relaxboost import functional as fn
from relaxboost import planning as pl
from relaxboost.planning import boosting, starting
from relaxboost.planning.oracle import Oracle

from .command import ARCS, TASKS, parsed, refused, run


def test_fit_prints_weights_and_bracket(folder, capsys):
    status, out, err = run("fit --edges edges.csv --trips trips.csv --out costs.json", capsys)
    assert (status, err) == (0, "")
    assert "data:       edges.csv, 4 nodes, 6 arcs, 3 trips\n" in out
    lower, upper = map(float, re.search(r"bracket: +(\S+) <= .* <= (\S+)$", out, re.M).groups())
    assert 0.0 < lower <= upper <= 1.01 * lower
    assert re.search(r"^status: +optimal: a relative gap of", out, re.M)
    rows = out.split("RMS of the feature:\n")[1].splitlines()
    assert [line.split()[1:] for line in rows[:2]] == [["toll"], ["1", "other"]]
    assert out.endswith("written:    costs.json\n")


def test_weights_are_sorted_by_what_they_add_to_costs(folder, capsys):
    table = pd.read_csv(folder / "edges.csv")
    table["toll"] *= 1e-4  # its weight is large, because its unit is
    table["noise"] = table["length"] * 1e-9 + 1.0
    table["none"] = 0.0
    table.to_csv(folder / "units.csv", index=False)
    command = "fit --edges units.csv --trips trips.csv --strength 1e-3"
    status, out, _ = run(command, capsys)
    graph = pl.from_pandas(table, "tail", "head")
    nodes = [row.split(",")[1].split() for row in TASKS.split("\n")[1:-1]]
    weights = [1.0, 2.0, 1.0]
    tasks = [pl.Task.along(graph.path(x), weight=w) for x, w in zip(nodes, weights, strict=True)]
    with pytest.warns(UserWarning, match="none is 0 on every arc"):
        found = pl.fit(tasks, pl.Ridge(1e-3))
    sizes = np.abs(found.w) * found.problem.rms
    order = [found.names[k] for k in np.argsort(-sizes) if sizes[k] > 1e-6 * sizes.max()]
    shown = [line.split() for line in out.split("RMS of the feature:\n")[1].splitlines()]
    assert status == 0
    assert order == [word[1] for word in shown[: len(order)]] != sorted(order)
    assert shown[len(order) :] == [["0", "2", "others"]]


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
def test_other_losses(folder, capsys, loss):
    command = f"fit --edges edges.csv --nodes nodes.csv --trips trips.csv --loss {loss} --json"
    status, out, _ = run(command, capsys)
    assert status == 0
    assert list(parsed(out)["weights"]) == ["length", "toll"]


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


def test_show_draws(folder, capsys):
    run("fit --edges edges.csv --trips trips.csv --out costs.json", capsys)
    command = "show costs.json --edges edges.csv --trips trips.csv --out {} {}"
    for name, options, magic in (
        ("a.png", "--trip back", b"\x89PNG"),
        ("a.svg", "--trip 2 --nodes nodes.csv --whole", b"<?xml"),
        ("a.pdf", "--nodes nodes.csv", b"%PDF"),
    ):
        assert run(command.format(name, options), capsys) == (0, f"picture:    {name}\n", "")
        assert (folder / name).read_bytes().startswith(magic)
    command = "show --edges edges.csv --trips trips.csv --trip 3 --out b.pdf --json"
    status, out, _ = run(command, capsys)
    assert (status, parsed(out)["ends"]) == (0, ["work", "home"])
    assert (folder / "b.pdf").read_bytes().startswith(b"%PDF")


def test_boosted_costs_are_those_of_the_library(folder, capsys):
    (folder / "more.csv").write_text("path\nhome ford work\n")
    options = "--rounds 6 --base 1 --held-out more.csv --seed 3 --json"
    status, out, err = run(f"boost --edges edges.csv --trips trips.csv {options}", capsys)
    content = parsed(out)
    assert (status, err) == (0, "")
    frame = pd.read_csv(folder / "edges.csv")
    graph = pl.from_pandas(frame, "tail", "head")
    rows = [row.split(",") for row in TASKS.split("\n")[1:-1]]
    tasks = [pl.Task.along(graph.path(row[1].split()), weight=float(row[2])) for row in rows]
    stop = fn.Stopping(6, validation=tasks[:1])
    loss = pl.PlanningLoss("exponential", 1.0)
    boosted = pl.boost(tasks, fn.RegressionStumps(), loss, stopping=stop)
    assert content["losses"] == [record.value for record in boosted.history]
    assert content["held_out"] == [record.validation for record in boosted.history]
    assert content["losses"][0] > min(content["losses"])
    assert sum(content["importances"].values()) == pytest.approx(1.0)
    command = "boost --edges edges.csv --trips trips.csv --rounds 6 --base 1 --out boosted.json"
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
    refused(command.format("costs"), "or pass --base 1", capsys)
    assert run(command.format("costs") + " --link additive", capsys)[0] == 0


def test_boosting_says_when_nothing_was_learned(folder, capsys):
    line = "boost --edges edges.csv --trips trips.csv --time-limit 1e-9 --out none.json"
    status, _, err = run(line, capsys)
    assert (status, (folder / "none.json").exists()) == (1, False)
    assert err.endswith("before there were linear costs; pass a larger --time-limit\n")
    (folder / "edges.csv").write_text(re.sub(r"\d(\.5)?,\d\n", "1,0\n", ARCS))
    status, _, err = run(line, capsys)
    assert (status, "stopped before the first round; none.json has the costs" in err) == (1, True)
    status, _, err = run("boost --edges edges.csv --trips trips.csv --rounds 3", capsys)
    assert (status, "nothing was learned: no round" in err) == (0, True), err
    assert run("boost --edges edges.csv --trips trips.csv --rounds 3 --quiet", capsys)[1:] == (
        "",
        "",
    )
    (folder / "back.csv").write_text("path\nwork home\n")
    _, _, err = run("boost --edges edges.csv --trips back.csv --rounds 3", capsys)
    assert "nothing to learn" in err


def test_remedies_are_options_and_never_those_that_were_given(folder, capsys):
    fit = "fit --edges edges.csv --trips trips.csv --json --regulariser"
    status, out, err = run(f"{fit} lasso --strength 1e6", capsys)
    assert (status, set(parsed(out)["weights"].values())) == (0, {0.0})
    told = "try a smaller --strength than 1e+06, other features, --free-signs or relaxboost plan"
    assert told in err
    assert err.count("\n") == 1
    _, _, err = run(f"{fit} lasso --strength 1e6 --free-signs", capsys)
    assert "try a smaller --strength than 1e+06, other features or relaxboost plan boost" in err
    assert run(f"{fit} lasso --strength 1e6 --quiet", capsys)[2] == ""
    _, _, err = run(f"{fit} ridge --loss none", capsys)
    assert "there is nothing to learn: " in err
    assert "give trips with alternatives, and --loss missed" in err


def walks(folder):
    """Write a graph with enough clusters of trips for folds; return the rows of nodes."""
    rng = np.random.default_rng(3)
    slope, wood = rng.random((2, 9, 9))
    land = pl.grid([slope, wood])
    names = np.array([f"{r}:{c}" for r, c in map(land.label, range(land.nodes))])
    table = pd.DataFrame(land.arc_features, columns=["slope", "wood"])
    table.insert(0, "u", names[land.tail])
    table.insert(1, "v", names[land.head])
    table.to_csv(folder / "land.csv", index=False)
    secret = land.arc_features @ [1.0, 0.3]
    ends = [[land.label(n) for n in rng.choice(81, 2, replace=False)] for _ in range(12)]
    paths = [pl.shortest_path(land, secret, *pair).path for pair in ends]
    rows = [[f"{r}:{c}" for r, c in path.nodes] for path in paths]
    (folder / "walks.csv").write_text("path\n" + "".join(f"{' '.join(row)}\n" for row in rows))
    return rows


def test_the_ridge_is_chosen_on_folds_of_trips(folder, capsys):
    """The library and the command agree."""
    rows = walks(folder)
    command = "fit --edges land.csv --trips walks.csv"
    status, out, err = run(command, capsys)
    assert (status, err) == (0, "")
    assert re.search(r"Ridge\(strength=[\d.e-]+\), chosen on 3 folds, loss", out)
    content = parsed(run(command + " --json", capsys)[1])
    graph = pl.from_pandas(pd.read_csv(folder / "land.csv"))
    tasks = [pl.Task.along(graph.path(row)) for row in rows]
    assert content["regulariser"] == repr(pl.Ridge(pl.fit(tasks).chosen.strength))
    content = parsed(run(command + " --strength 0.5 --json", capsys)[1])
    assert (content["regulariser"], content["folds"]) == ("Ridge(strength=0.5)", 0)


@pytest.mark.parametrize("place", ["linear", "folds", "last"])
def test_ctrl_c_leaves_the_linear_costs_or_nothing(folder, capsys, monkeypatch, place):
    walks(folder)
    command = "boost --edges land.csv --trips walks.csv --out costs.json"

    def press(*given, **options):
        raise KeyboardInterrupt

    if place == "linear":
        monkeypatch.setattr(Oracle, "evaluate", press)
        status, out, err = run(command, capsys)
        assert (status, out, (folder / "costs.json").exists()) == (130, "", False)
        assert "interrupted before there was anything to report" in err
        return
    monkeypatch.setattr(starting, "f1_scores", press)
    told = "stopped while cross-validation chose the number of rounds; costs.json has the "
    told += "linear costs; --rounds 50 makes 50 rounds without cross-validation"
    if place == "last":
        command += " --rounds 50"
        told = "stopped before the first round; costs.json has the linear costs"
        monkeypatch.setattr(boosting, "first_step", pressed_once(boosting.first_step))
    status, out, err = run(command, capsys)
    assert (status, err) == (1, f"relaxboost: {told}\n")
    assert "status:     interrupted: 0 rounds" in out
    graph = pl.from_pandas(pd.read_csv(folder / "land.csv"))
    frame = pd.read_csv(folder / "walks.csv")
    linear = pl.fit([pl.Task.along(graph.path(row.split())) for row in frame["path"]])
    # The last bits of the costs depend on the layout of the features in memory.
    loaded = pl.load_model("costs.json").costs(graph)
    np.testing.assert_allclose(loaded, linear.costs(graph), rtol=1e-12)


def pressed_once(function):
    """Let Ctrl-C come at the first call of a function."""
    calls = []

    def called(*given):
        calls.append(given)
        if len(calls) == 1:
            raise KeyboardInterrupt
        return function(*given)

    return called


def test_a_short_time_limit_is_kept_while_a_strength_is_chosen(folder, capsys):
    command = "fit --edges edges.csv --trips trips.csv --time-limit 1e-9 --json"
    status, out, _ = run(command, capsys)
    assert (status, parsed(out)["status"]) == (1, "time_limit")
    walks(folder)
    command = "fit --edges land.csv --trips walks.csv --time-limit 1e-9"
    status, out, err = run(command, capsys)
    assert status == 1
    assert "), because the time limit ended its choice, loss" in out
    assert "from the best strength. Pass a larger --time-limit, or pass --strength" in err


def test_ties_are_told(folder, capsys):
    (folder / "flat.csv").write_text(re.sub(r"\d(\.5)?,\d\n", "1,0\n", ARCS))
    run("fit --edges edges.csv --trips trips.csv --loss none --out costs.json", capsys)
    command = "evaluate costs.json --edges flat.csv --trips trips.csv"
    (folder / "trips.csv").write_text("path\nford bridge work\nhome ford work\n")
    status, _, err = run(command, capsys)
    assert (status, err.count("\n")) == (0, 1)
    assert "every demonstration costs as much as its plan" in err
    assert "1: several paths cost the same; the trip takes arc 5 ('ford' -> 'bridge'), arc 1" in err
    assert "and the plan arc 3 ('ford' -> 'work')" in err
    assert err.endswith("learn them with a smaller --strength or more --features\n")
    status, out, err = run(command + " --quiet --json", capsys)
    assert (err, parsed(out)["metrics"]["optimal_match"]) == ("", 1.0)


def test_lengths_are_the_baseline_of_evaluate(folder, capsys):
    command = "evaluate --edges edges.csv --trips held_out.csv --json"
    graph = pl.from_pandas(pd.read_csv(folder / "edges.csv"), "tail", "head")
    tasks = [
        pl.Task.along(graph.path(row)) for row in (["ford", "work"], ["home", "bridge", "work"])
    ]
    for option, column in (("", 0), (" --features toll", 1)):
        status, out, err = run(command + option, capsys)
        report = pl.evaluate(tasks, graph.features[:, column])
        assert (status, err) == (0, "")
        assert parsed(out)["metrics"]["exact_match"] == report.metric("exact_match")
        assert parsed(out)["metrics"]["regret"] == report.metric("regret")
    status, out, _ = run("evaluate --help", capsys)
    assert "the costs are the column length" in " ".join(out.split())


def test_lightgbm_is_named_where_trees_are(folder, capsys):
    _, out, _ = run("boost --help", capsys)
    assert "Trees need LightGBM" in " ".join(out.split())
    page = Path(__file__).parents[2] / "docs" / "path_costs.md"
    assert "trees (with LightGBM)" in page.read_text()


def test_the_folds_and_the_way_back_are_those_of_the_library(folder, capsys):
    command = "boost --edges edges.csv --trips trips.csv --json"
    frame = pd.read_csv(folder / "edges.csv")
    graph = pl.from_pandas(frame, "tail", "head")
    rows = [row.split(",") for row in TASKS.split("\n")[1:-1]]
    tasks = [pl.Task.along(graph.path(row[1].split()), weight=float(row[2])) for row in rows]
    for option, base, stopping in (("", None, None), (" --base 1 --rounds 7", 1.0, 7)):
        status, out, err = run(command + option, capsys)
        loss = None if base is None else pl.PlanningLoss(base=base)
        found = pl.boost(tasks, fn.RegressionStumps(), loss, stopping=stopping)
        assert (status, err) == (0, "")
        assert parsed(out)["losses"] == [record.value for record in found.history]
    refused(f"{command} --base 0", "--base must be", capsys)


@pytest.mark.parametrize("name", ["fit", "boost", "evaluate", "show"])
def test_examples_of_the_help_work(folder, capsys, name, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    status, out, _ = run(f"{name} --help", capsys)
    assert status == 0
    assert max(map(len, out.splitlines())) <= 80
    told = out[out.index("Examples:") :].replace("\\\n", " ")
    examples = re.findall(r"^ +relaxboost plan (.*)$", told, re.M)
    assert len(examples) >= 2
    run("fit --edges edges.csv --trips trips.csv --out costs.json --max-rounds 2", capsys)
    (folder / "trips.csv").rename(folder / "t.csv")
    (folder / "trips.csv").write_text(TASKS)
    for example in examples:
        status, _, err = run(example, capsys)
        assert status == 0, example
        assert err == "" or "--learner trees" in example, err  # too few arcs for trees


def test_costs_that_fall_around_a_cycle_are_named(folder, capsys):
    fit = "fit --edges edges.csv --trips trips.csv --loss hamming --negative exact"
    status, _, err = run(fit, capsys)
    assert status == 2
    assert "sum to" in err
    assert "the costs minus the loss around a cycle" in err
    assert "use --negative simple, for paths that visit no node twice, or relaxed" in err
    (folder / "edges.csv").write_text(ARCS.replace("work,home,1,1", "work,home,-9,1"))
    weights = {"names": ("length", "toll"), "lower": 0.0, "upper": 1.0, "status": "optimal"}
    told = {"regulariser": "Ridge(strength=0.01)", "losses": ("Missed()",), "method": "bundle"}
    rules = {"nonnegative": False, "negative": "relaxed", "power": 1, "rounds": 1, "exact": False}
    pl.save_model(pl.LinearModel(w=np.array([1.0, 0.0]), **weights, **told, **rules), "costs.json")
    for command in ("evaluate costs.json {}", "show costs.json {} --trip back --out a.png"):
        status, _, err = run(command.format("--edges edges.csv --trips trips.csv"), capsys)
        assert status == 2
        assert "; fit costs without --free-signs" in err


def test_commands_of_the_page_work(folder, capsys):
    page = Path(__file__).parents[2] / "docs" / "path_costs.md"
    (folder / "edges.csv").write_text(ARCS.replace("length", "km"))
    text = re.sub(r"\\\n\s*", "", page.read_text())  # long commands take two lines
    commands = re.findall(r"^relaxboost plan (.*)$", text, re.M)
    assert len(commands) >= 1
    for command in commands:
        status, _, err = run(command, capsys)
        assert (status, err) == (0, ""), command

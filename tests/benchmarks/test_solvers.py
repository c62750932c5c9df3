"""The benchmark: real processes that end, crash, hang and devour, scored by the bracket."""

import json
import math
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from scipy.optimize import linprog

import relaxboost as rb
from benchmarks.solvers import page
from benchmarks.solvers.__main__ import main
from benchmarks.solvers.cell import score
from benchmarks.solvers.linear import EDGES, TWICE, linear_program
from benchmarks.solvers.peers import PEERS, Points
from benchmarks.solvers.report import Report
from benchmarks.solvers.running import BenchLimits, bench
from benchmarks.solvers.suite import read_suite
from relaxboost._core.highs import OwnThread
from relaxboost.instances.generators import generate
from tests.processes import ctrl_c

ROOT = Path(__file__).parents[2]
SUITE = """
[[game]]
name = "dense"
group = "dense"
generator = "signs"
lean = 0.3
rows = 60
columns = 8
relaxation = "Capped(k=20)"
[[game]]
name = "sparse"
generator = "sparse"
stored = "sparse"
density = 0.3
rows = 50
columns = 10
relaxation = "HardMargin()"
over = "Simplex()"
[[game]]
name = "stumps"
labelled = "halfspace"
noise = 0.1
rows = 50
features = 2
relaxation = "Capped(fraction=1/5)"
"""


@pytest.fixture
def suite(tmp_path, monkeypatch):
    path = tmp_path / "suite.toml"
    path.write_text(SUITE)
    monkeypatch.setenv("PYTHONPATH", f"{ROOT}{os.pathsep}{os.environ.get('PYTHONPATH', '')}")
    monkeypatch.setenv("BENCH_PIDS", str(tmp_path / "pids"))
    return path


PICTURES = {"suite-profile.png", "suite-ratios.png"}


def alive(pid: int) -> bool:
    state = Path(f"/proc/{pid}/stat")
    return state.exists() and state.read_text().rsplit(")", 1)[1].split()[0] != "Z"


def test_two_games_two_solvers_and_once_more(suite, tmp_path, capsys):
    command = ["--suite", suite, "--out", tmp_path / "out", "--only", "s*"]
    command = [*map(str, command), "--limit", "20", "--peers", "auto,highs-ipm", "--json"]
    assert main(command) == 0
    said = json.loads(capsys.readouterr().out)
    assert [cell["outcome"] for cell in said["cells"]] == ["ended"] * 4
    for cell in said["cells"]:
        best = cell["points"][-1]
        assert 0.0 <= best["upper"] - best["lower"] <= 1e-6
        assert best["cpu"] > 0.0
        assert cell["memory"] > 1e7
    for auto, peer in zip(said["cells"][::2], said["cells"][1::2], strict=True):
        assert auto["points"][-1]["lower"] <= peer["points"][-1]["upper"]
        assert peer["points"][-1]["lower"] <= auto["points"][-1]["upper"]
    assert said["summary"]["games"] == 2
    assert said["summary"]["every_peer_fails"] == []
    files = sorted((tmp_path / "out" / "cells").iterdir())
    stamps = [file.stat().st_mtime_ns for file in files]
    files[0].write_text(files[0].read_text()[:100])  # as no run leaves it
    stamps[0] = 0
    main(command[:-1])
    again = [file.stat().st_mtime_ns for file in files]
    assert [a == b for a, b in zip(again, stamps, strict=True)] == [False] + [True] * 3
    assert "| ratio | `auto`, CPU seconds |" in capsys.readouterr().out
    out = tmp_path / "out"
    assert (out / "suite.md").read_text() == page.markdown(page.read_csv(out / "suite.csv"))
    assert {path.name for path in (out / "images").iterdir()} == PICTURES


def test_what_solvers_do_to_it(suite, tmp_path):
    names = ("crashes", "hangs", "devours", "boasts", "refuses")
    peers = [f"tests.benchmarks.bad_solvers:{name}" for name in names]
    games = read_suite(suite)[:1]
    limits = BenchLimits(seconds=1.0, memory=3e9)
    cells = dict(zip(names, bench(games, tmp_path, peers, limits), strict=True))
    ended = {name: cell["outcome"] for name, cell in cells.items()}
    assert ended.pop("devours") == "memory"
    assert ended == {
        "crashes": "crashed",
        "hangs": "limit",
        "boasts": "ended",
        "refuses": "crashed",
    }
    assert "SIGSEGV" in cells["crashes"]["reason"]
    assert "not today" in cells["refuses"]["reason"]
    assert "killed past its limit" in cells["hangs"]["reason"]
    assert not any(alive(int(pid)) for pid in (tmp_path / "pids").read_text().split())
    (boast,) = cells["boasts"]["points"]
    assert boast["upper"] is None
    assert "nan" in boast["unusable"]
    report = Report(cells.values(), limits)
    assert report.text(cells["hangs"]) == "limit"
    assert report.summary()["games"] == 0
    assert report.summary()["geometric_mean"] is None


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGKILL])
def test_stopping_keeps_what_is_done_and_kills_what_runs(suite, tmp_path, how):
    peers = "tests.benchmarks.bad_solvers:misleads,tests.benchmarks.bad_solvers:hangs"
    command = [sys.executable, "-m", "benchmarks.solvers", "--suite", str(suite)]
    command += ["--out", str(tmp_path), "--only", "dense", "--limit", "300", "--peers", peers]
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=ROOT
    )
    pids, end = tmp_path / "pids", time.monotonic() + 60.0
    while not (pids.exists() and pids.read_text()) and time.monotonic() < end:
        time.sleep(0.05)
    runs, *children = map(int, pids.read_text().split())
    if how == signal.SIGINT:
        status, _, err = ctrl_c(process)
        assert status == 130
        assert "the same command continues" in err
    else:
        process.kill()
        process.communicate()
        while alive(runs) and time.monotonic() < end:
            time.sleep(0.05)
        os.kill(children.pop(), signal.SIGKILL)  # of its own children nobody is told
    assert [file.name for file in (tmp_path / "cells").iterdir()] == [
        "dense--tests.benchmarks.bad_solvers.misleads.json"
    ]
    assert not any(map(alive, [runs, *children]))


def test_what_took_too_long_is_tried_again_with_more_time(suite, tmp_path):
    games, peer = read_suite(suite)[:1], ["tests.benchmarks.bad_solvers:misleads"]
    (cell,) = bench(games, tmp_path, peer, BenchLimits(seconds=5.0))
    report = Report([cell], BenchLimits())
    assert report.seconds(cell) is None
    assert report.text(cell).startswith("ended (")
    (file,) = (tmp_path / "cells").iterdir()
    for outcome, seconds, played in (("ended", 9.0, 0), ("limit", 4.0, 0), ("limit", 9.0, 1)):
        file.write_text(json.dumps({**cell, "outcome": outcome, "m": -1}))
        (found,) = bench(games, tmp_path, peer, BenchLimits(seconds=seconds))
        assert (found["m"] == 60) == bool(played)


def test_a_solver_of_your_own_that_is_mended_is_played_again(suite, tmp_path, monkeypatch):
    monkeypatch.setenv("PYTHONPATH", f"{tmp_path}{os.pathsep}{os.environ['PYTHONPATH']}")
    monkeypatch.syspath_prepend(tmp_path)
    games, limits = read_suite(suite)[:1], BenchLimits(seconds=5.0)
    file = tmp_path / "my_peer.py"
    mended = "lambda tol, seconds: ([1.0] * game.m, [1.0] * game.n)"
    outcomes = []
    for body in ("None", mended, f"{mended}  # faster"):
        file.write_text(f"def prepare(game):\n    return {body}\n")
        (cell,) = bench(games, tmp_path, ["my_peer:prepare"], limits)
        outcomes.append(cell["outcome"])
        (kept,) = (tmp_path / "cells").iterdir()
        if body == "None":
            assert "my_peer:prepare on dense: TypeError" in Report([cell], limits).markdown()
            kept.write_text(kept.read_text().replace("TypeError", "another"))
            (again,) = bench(games, tmp_path, ["my_peer:prepare"], limits)
            assert "TypeError" in again["reason"]  # what crashed is not kept
        else:
            kept.write_text(kept.read_text().replace('"ended"', '"kept"'))
            assert next(bench(games, tmp_path, ["my_peer:prepare"], limits))["outcome"] == "kept"
    assert outcomes == ["crashed", "ended", "ended"]
    (point,) = cell["points"]
    assert -1.0 <= point["lower"] <= point["upper"] <= 1.0


def test_a_race_stops_general_solvers_that_are_behind(suite, tmp_path):
    games = read_suite(suite)[:1]
    peers = ["highs-ipm", "tests.benchmarks.bad_solvers:hangs", "auto"]
    limits = BenchLimits(seconds=250.0, race=2.0)
    fast, behind, auto = bench(games, tmp_path, peers, limits)
    stop = 2.0 * max(point["wall"] for point in fast["points"]) + 2.0
    assert behind["outcome"] == "limit"
    assert 2.0 <= behind["limit"] <= stop
    assert (fast["limit"], auto["limit"]) == (250.0, 250.0)
    report = Report([fast, behind, auto], limits)
    assert report.text(behind) == f"> {behind['limit']:.4g}"
    assert report.summary()["ratios"]["dense"] > 0.0
    (file,) = (tmp_path / "cells").glob("*hangs*")
    stamp = file.stat().st_mtime_ns
    list(bench(games, tmp_path, peers, limits))
    assert file.stat().st_mtime_ns == stamp


def games():
    rng = np.random.default_rng(5)
    signs = rng.choice([-1.0, 1.0, 1.0], (30, 6))
    real = np.round(rng.uniform(-1.0, 1.0, (12, 20)), 2)
    yield rb.Game(signs, rb.Capped(k=10))
    yield rb.Game(real, rb.HardMargin(), over=rb.L1Ball(2))
    yield rb.Game(real, rb.NormPenalty(np.inf, 0.5), over=rb.Simplex(2))
    yield rb.Game(real, rb.Capped(4), over=rb.FullSimplex(2))
    yield rb.Game(signs, rb.relaxations.SpectralRisk([3, 10], [0.5, 0.5]))


@pytest.mark.parametrize("game", list(games()), ids=str)
@pytest.mark.parametrize("shape", [EDGES, TWICE])
def test_the_linear_program_is_the_game(game, shape):
    """Solved by SciPy, its points close the bracket; a wrong sign or row would not."""
    program = linear_program(game, shape)
    cost, lower, upper = program.columns
    low, high = program.sides
    equal = low == high
    both = np.isfinite(low) & ~equal, np.isfinite(high) & ~equal
    M = program.rows.toarray()
    found = linprog(
        cost,
        np.vstack([M[both[1]], -M[both[0]]]),
        np.concatenate([high[both[1]], -low[both[0]]]),
        M[equal],
        high[equal],
        np.column_stack([lower, upper]),
    )
    y = np.zeros(len(low))
    tops = int(both[1].sum())
    y[both[1]] = -found.ineqlin.marginals[:tops]
    y[both[0]] += found.ineqlin.marginals[tops:]
    y[equal] = -found.eqlin.marginals
    assert found.fun == pytest.approx(rb.solve(game, 1e-9).lower, abs=1e-8)
    bracket = game.bracket(*program.points(found.x, y))
    assert bracket[1] - bracket[0] <= 1e-8


@pytest.mark.parametrize("peer", list(PEERS.values()), ids=list(PEERS))
def test_every_solver_that_is_there_solves_a_game_and_others_say_what_to_install(peer):
    if peer.missing:
        assert peer.missing.startswith("pip install ")
        assert peer.name in ("highs-hipo", "ortools-pdlp", "cvqp", "piqp-dense", "moreau", "qoco")
        return
    game = next(games())
    found = OwnThread()(solved, peer, game)
    value = rb.solve(game, 1e-8)
    lower, upper = value.lower, value.upper
    scores = score(game, found)
    assert lower - 5e-3 <= scores["lower"] <= upper
    if found.d is not None:
        assert lower <= scores["upper"] <= upper + 5e-3


def solved(peer, game):
    return Points(*peer.prepare(game)(peer.ladder[0] if peer.ladder else 1e-3, 60.0))


def cell(game, peer, seconds, outcome="ended", **more):
    outcome = {"-": "unfit"}.get(outcome, outcome)
    kind = "ours" if peer == "auto" else "general"
    point = {"effort": 1, "cpu": seconds, "wall": seconds, "lower": 0.5, "upper": 0.5, **more}
    points = [] if seconds is None else [point]
    group = "dense" if game in "ab" else "other"
    found = {"game": game, "peer": peer, "kind": kind, "group": group, "points": points}
    return {**found, "outcome": outcome, "reason": ""}


def test_the_figures_of_the_summary():
    cells = [
        cell("a", "auto", 1.0), cell("a", "fast", 8.0), cell("a", "slow", 9.0),
        cell("b", "auto", 0.5), cell("b", "fast", None, "memory"), cell("b", "slow", None, "limit"),
        cell("c", "auto", 2.0), cell("c", "fast", 1.0), cell("c", "slow", 0.1, lower=0.4),
        cell("d", "auto", 1e-3), cell("d", "fast", None, "crashed"), cell("d", "slow", None, "-"),
        cell("e", "auto", 1.0), cell("e", "fast", None, "missing"), cell("e", "slow", None, "-"),
        cell("f", "auto", 1.0, upper=0.6), cell("f", "fast", 6.0), cell("f", "slow", None, "limit"),
    ]  # fmt: skip
    summary = Report(cells, BenchLimits(seconds=60.0)).summary()
    assert summary["ratios"] == {"a": 8.0, "b": 120.0, "c": 0.5, "d": 1000.0, "f": 0.1}
    mean = (8.0 * 120.0 * 0.5 * 1000.0 * 0.1) ** (1 / 5)
    assert summary["geometric_mean"] == pytest.approx(mean, abs=1e-3)
    assert summary["of_groups"]["dense"] == pytest.approx(math.sqrt(8.0 * 120.0), abs=1e-3)
    assert summary["slower_than_the_fastest_peer"] == ["c", "f"]
    assert summary["every_peer_fails"] == ["b", "d"]
    assert summary["auto_fails"] == ["f"]


def test_a_page_without_auto_compares_nothing_with_it():
    cells = [cell("a", "fast", 1.0), cell("a", "pairwise", 2.0)]
    text = Report(cells, BenchLimits()).markdown()
    assert "| a | 1.00 | 2.00 |" in text
    assert "| ratio |" not in text
    assert "| ratio | `auto`" in Report([*cells, cell("a", "auto", 0.5)], BenchLimits()).markdown()


def test_the_page_of_the_suite_is_made_from_its_table():
    rows = page.read_csv(ROOT / "docs" / "suite.csv")
    written = (ROOT / "docs" / "suite.md").read_text()
    assert page.markdown(rows) == written, "run `python -m benchmarks.solvers.page docs`"
    assert page.to_csv(rows) == (ROOT / "docs" / "suite.csv").read_text()
    assert {name for name in PICTURES if f"](images/{name})" in written} == PICTURES
    prose = [line for line in written.splitlines() if not line.startswith("|")]
    assert len(" ".join(prose).split()) <= 600


def test_a_solver_without_d_is_held_against_the_best_upper_bound():
    cells = [
        cell("a", "auto", 1.0, lower=0.4999999, upper=0.5),
        cell("a", "w-only", 2.0, lower=0.4, upper=None),
        cell("b", "auto", None, "limit"),
        cell("b", "w-only", 2.0, lower=0.4, upper=None),
    ]
    report = Report(cells, BenchLimits())
    assert report.gaps(cells[1])[0][0] == pytest.approx(0.1)
    assert report.gaps(cells[3])[0][0] == math.inf
    assert report.text(cells[1]) == "ended (1e-01)"


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("generator = 'sings'\nrows = 3\ncolumns = 2", "no generator is called 'sings'"),
        ("generator = 'signs'\nrows = 3", "columns must be a whole number"),
        (
            "generator = 'signs'\nrows = 3\ncolumns = 2\nlean = 2",
            "lean must be a number from 0 to 1",
        ),
        ("generator = 'signs'\nrows = 3\ncolumns = 2\nk = 2", "has no option 'k'"),
        ("bundled = 'breast-cancer'\nrelaxation = 'Capt(k=2)'", "no relaxation is called Capt"),
        ("bundled = 'breast-cancer'\nseed = 2", "does not know seed"),
        ("relaxation = 'HardMargin()'", "needs one of generator, labelled"),
        ("data = 'a.csv'\nover = 'Cube()'", "cannot read over"),
    ],
)
def test_suites_that_are_wrong(tmp_path, line, says):
    path = tmp_path / "suite.toml"
    path.write_text(f"[[game]]\nname = 'a'\n{line}\n")
    with pytest.raises(rb.InputError, match=says):
        read_suite(path)


def test_bad_input_ends_before_work(suite, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    out = ["--out", str(tmp_path / "file" / "out")]
    (tmp_path / "file").write_text("")
    Path("raising.py").write_text("1 / 0")
    monkeypatch.syspath_prepend(tmp_path)  # as `python -m` does with the current folder
    for arguments, says in (
        (["--suite", str(suite), "--peers", "nowhere:x"], "No module named 'nowhere'; its module"),
        (["--suite", str(suite), "--peers", "raising:x"], "ZeroDivisionError: division by zero"),
        (["--suite", str(suite), "--peers", "math:x"], "'math' has no attribute 'x'"),
        (["--suite", str(suite), "--peers", "math:"], "no solver is called 'math:'"),
        (["--suite", "no.toml"], "no.toml does not exist; check the path"),
        (["--suite", str(suite), "--only", "x*"], "no game that --only 'x\\*' fits"),
        (["--suite", str(suite), "--peers", "gurobi"], "no solver is called 'gurobi'"),
        (["--suite", str(suite), "--limit", "0"], "seconds"),
        (["--suite", str(suite), *out], "cannot hold results"),
    ):
        assert main(arguments) == 2
        assert says.replace("\\", "") in capsys.readouterr().err
    both = tmp_path / "both.toml"
    both.write_text(SUITE + SUITE)
    with pytest.raises(rb.InputError, match="two games called 'dense'"):
        read_suite(both)


def test_public_data_and_files_of_ones_own(tmp_path, rng):
    X = np.round(rng.normal(size=(30, 2)), 2)
    rows = [f"{a}\t{b}\t{'g' if a > b else 'h'}" for a, b in X.tolist()]
    (tmp_path / "set.tsv").write_text("\n".join(rows))
    np.save(tmp_path / "own.npy", rng.uniform(-1.0, 1.0, (20, 5)))
    path = tmp_path / "suite.toml"
    path.write_text(
        "[[game]]\nname = 'set'\ndata = 'set.tsv'\nseparator = \"\\t\"\nheader = false\n"
        "positive = 'g'\n[[game]]\nname = 'own'\nnpy = 'own.npy'\nrelaxation = 'Capped(k=5)'\n"
        "[[game]]\nname = 'ball'\ngenerator = 'uniform'\nrows = 20\ncolumns = 4\n"
        "ellipsoid = {rank = 3, radius = 2, seed = 0}\n"
    )
    known, own, ball = read_suite(path, tmp_path)
    matrix = rb.matrices.stumps(X, np.where(X[:, 0] > X[:, 1], 1.0, -1.0))
    assert known.game().matrix.digest() == matrix.digest()
    assert own.game().matrix.n == 5
    assert type(ball.game().relaxation).__name__ == "MahalanobisBall"
    assert ball.small(10).m == 10
    absent = read_suite(path, tmp_path / "nowhere")[0]
    (cell,) = bench([absent], tmp_path, ["auto"])
    assert cell["outcome"] == "missing"
    assert "no set.tsv" in cell["reason"]
    assert "needs --data" in read_suite(path)[0].missing


def test_the_suite_of_the_package_is_right():
    games = read_suite(ROOT / "benchmarks" / "suite.toml", "nowhere")
    assert sum(not game.missing for game in games) >= 24
    assert {game.group for game in games} == {"dense", "sparse", "stumps", "curved", "data"}
    for game in games:
        if not game.missing:
            assert game.small(40).m >= 20


def test_lean_matrices_lean():
    """Before it is clipped; the default leaves the games on file as they are, which they check."""
    signs = generate("signs", 400, 100, 3, lean=0.5)
    assert signs.mean() == pytest.approx(0.5, abs=0.02)
    assert generate("gaussian", 400, 100, 3, lean=0.2).mean() == pytest.approx(0.2, abs=0.02)
    sparse = generate("sparse", 400, 100, 3, lean=0.5)
    assert (sparse > 0.0).mean() == pytest.approx(0.2 * 0.75, abs=0.01)
    assert (sparse < 0.0).mean() == pytest.approx(0.2 * 0.25, abs=0.01)

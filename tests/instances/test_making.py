"""Making a set: complete after any interruption, the same bytes, nothing done twice."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from fractions import Fraction

import pytest

import relaxboost as rb
from relaxboost.instances import making
from relaxboost.instances.corners import CORNERS
from relaxboost.instances.sets import CORNER_CASES, LARGER_GAMES

RELAXATIONS = [
    "HardMargin()",
    "Capped(k=2)",
    "NormPenalty(inf, 1/4)",
    "NormPenalty(1, 1/8)",
]
MANY = "tol = 1e-9\n" + "".join(
    f'[[game]]\ngenerator = "{kind}"\nrows = {m}\ncolumns = {n}\ncount = 8\n'
    f"relaxations = {json.dumps([relaxation])}\n"
    for (kind, m, n), relaxation in zip(
        [
            ("uniform", 6, 4),
            ("signs", 8, 8),
            ("ties", 5, 5),
            ("sparse", 8, 5),
            ("duplicated", 7, 3),
            ("gaussian", 4, 8),
            ("separable", 8, 6),
            ("normalised", 2, 2),
        ],
        2 * RELAXATIONS,
        strict=True,
    )
)


def contents(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def start(spec, out, **options):
    command = [sys.executable, "-m", "relaxboost", "instances", "make", str(spec), "-o", str(out)]
    return subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **options
    )


KILLED = """
import os, signal, sys
import relaxboost as rb

honest, left = os.fsync, int(sys.argv[3])

def fsync(file):
    global left
    if not left:  # of a file that is written, and has not yet got its name, only the start
        os.ftruncate(file, 100)
        os.kill(os.getpid(), signal.SIGKILL)
    left -= 1
    honest(file)

os.fsync = fsync
rb.instances.make(sys.argv[1], sys.argv[2])
"""
"""A run that is killed, SIGKILL, while it writes the certificate after so many."""


def test_many_games_killed_twice(tmp_path):
    """Ends complete and byte for byte as an uninterrupted run; nothing finished is lost."""
    spec = tmp_path / "many.toml"
    spec.write_text(MANY)
    rb.instances.make(spec, tmp_path / "whole")
    whole = contents(tmp_path / "whole")
    assert len(whole) == 65
    out, finished = tmp_path / "killed", {}
    for count in (20, 25):
        command = [sys.executable, "-c", KILLED, str(spec), str(out), str(count)]
        assert subprocess.run(command, check=False).returncode == -signal.SIGKILL
        there = contents(out)
        after = {name: text for name, text in there.items() if not name.startswith(".")}
        assert len(after) == len(finished) + count
        assert len(there) == len(after) + 1  # what it was writing
        assert "index.json" not in after
        assert finished.items() <= after.items()
        assert after.items() <= whole.items()  # and so none is half written
        finished = after
    (out / ".index.json.abc").write_text("{")  # as if killed while writing
    process = start(spec, out)
    printed, said = process.communicate()
    assert (process.returncode, said) == (0, "")
    assert int(printed.split(" made, ")[1].split(" kept")[0]) == len(finished) == 45
    assert contents(out) == whole


def test_what_is_there_and_holds_is_kept(own):
    before = contents(own / "games")
    times = {path.name: path.stat().st_mtime_ns for path in (own / "games").iterdir()}
    (own / "games" / "identity-3.json").unlink()
    (own / "games" / "matching-pennies.json").write_text("{}")
    spoiled = json.loads(before["identity-3.capped-k-2.json"])
    spoiled["lower"] = "1"
    (own / "games" / "identity-3.capped-k-2.json").write_text(json.dumps(spoiled))
    (own / "games" / "index.json").unlink()
    made = rb.instances.make(own / "games.toml", own / "games")
    assert set(made.made) == {"identity-3", "matching-pennies", "identity-3.capped-k-2"}
    assert contents(own / "games") == before
    for name in made.kept:
        assert (own / "games" / f"{name}.json").stat().st_mtime_ns == times[f"{name}.json"]


def test_another_game_tol_or_level_is_made_again(own):
    spec, out = own / "games.toml", own / "games"
    text = spec.read_text()
    for old, new, names in (
        (
            "seed = 4",
            "seed = 5",
            {"over-the-simplex.plain.simplex", "over-the-simplex.both.simplex"},
        ),
        ("Capped(k=3/2)", "Capped(k=7/4)", {"over-the-simplex.both.simplex"}),
        ('"plain"', '"plain"', set()),
        ("seed = 4", 'seed = 4\nlevel = "enclosed"', {"over-the-simplex.plain.simplex"}),
        (
            "seed = 4",
            "seed = 4\ntol = 1e-6",
            {"over-the-simplex.plain.simplex", "over-the-simplex.both.simplex"},
        ),
    ):
        rb.instances.make(spec, out)
        spec.write_text(text.replace(old, new))
        assert names <= set(rb.instances.make(spec, out).made)
        assert len(rb.instances.make(spec, out).made) == 0
        assert rb.instances.check(out)
        spec.write_text(text)


def test_neither_threads_nor_processes_change_a_byte(made, tmp_path):
    names = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS")
    env = {**os.environ, **dict.fromkeys(names, "1")}
    process = start(made / "games.toml", tmp_path / "one", env=env)
    process.communicate()
    assert process.returncode == 0
    assert contents(tmp_path / "one") == contents(made / "games")


def test_ctrl_c_leaves_a_set_that_can_be_continued(made, tmp_path, monkeypatch):
    solve, calls = making.solve, []

    def interrupted(*arguments, **options):
        calls.append(arguments)
        if len(calls) == 4:  # solvers swallow it, and return what they have
            options["callback"] = lambda state: (_ for _ in ()).throw(KeyboardInterrupt)
        return solve(*arguments, **options)

    monkeypatch.setattr(making, "solve", interrupted)
    with pytest.raises(KeyboardInterrupt):
        rb.instances.make(made / "games.toml", tmp_path / "games")
    assert len(list((tmp_path / "games").iterdir())) == 3
    assert len(rb.instances.make(made / "games.toml", tmp_path / "games").kept) == 3
    assert contents(tmp_path / "games") == contents(made / "games")


def test_two_runs_at_once_are_refused(own):
    seen = []

    def progress(done, total, name):
        seen.append((done, total, name))
        if done == 1:
            with pytest.raises(rb.InputError, match="another run is making"):
                rb.instances.make(own / "games.toml", own / "games")

    rb.instances.make(own / "games.toml", own / "games", progress)
    assert seen[0] == (0, len(seen) - 1, "")
    assert seen[-1] == (len(seen) - 1, len(seen) - 1, "identity-3.klpenalty-1-10")


def test_times_and_solvers_are_beside_the_set(made):
    log = (made / "games.log").read_text()
    assert "uniform-6x4-000: made by lpboost (lp), " in log
    assert log.endswith(" s\n")
    everything = b"".join(contents(made / "games").values())
    assert b"lpboost" not in everything
    assert b"seconds" not in everything


def test_a_gap_that_is_not_reached_is_said(own):
    spec = own / "one.toml"
    spec.write_text(
        '[[game]]\ngenerator = "uniform"\nrows = 9\ncolumns = 7\nrelaxations = "KLPenalty(0.1)"\n'
        "tol = 1e-30\n"
    )
    made = rb.instances.make(spec, own / "one")
    assert made.wide == made.made == ("uniform-9x7-000.klpenalty-0.1",)
    assert rb.instances.check(own / "one")
    assert float(rb.instances.load(own / "one")[made.wide[0]].gap) < 1e-8


def test_a_matrix_too_large_to_write_down_is_made_again(tmp_path):
    spec = tmp_path / "large.toml"
    spec.write_text('[[game]]\ngenerator = "signs"\nrows = 500\ncolumns = 410\ntol = 0.5\n')
    rb.instances.make(spec, tmp_path / "large")
    certified = rb.instances.load(tmp_path / "large")["signs-500x410-000"]
    assert certified.path.stat().st_size < 200_000
    assert rb.instances.check(tmp_path / "large")
    assert rb.instances.make(spec, tmp_path / "large").made == ()
    assert certified.A.shape == (500, 410)


@pytest.mark.parametrize("folder", [CORNER_CASES, LARGER_GAMES], ids=lambda path: path.name)
def test_the_packaged_sets_are_up_to_date(folder, tmp_path):
    """Last digits are those of the machine; games and brackets are not."""
    assert rb.instances.check(folder)
    rb.instances.make(folder.with_suffix(".toml"), tmp_path / "now")
    packaged, now = rb.instances.load(folder), rb.instances.load(tmp_path / "now")
    assert list(packaged) == list(now)
    for name, certified in packaged.items():
        assert certified.game_digest == now[name].game_digest
        assert (certified.source, certified.level) == (now[name].source, now[name].level)
        assert max(certified.lower, now[name].lower) <= min(certified.upper, now[name].upper)
        assert max(certified.gap, now[name].gap) <= 1e-9


OPTIMA = {
    "one-by-one": "1/2",
    "one-by-one.simplex": "-1/2",
    "one-by-one.normpenalty-inf-1-2": "1",
    "single-row": "3/4",
    "single-row.simplex": "1/2",
    "single-column": "1/4",
    "single-column.capped-fraction-1": "7/12",
    "single-column.capped-k-3-2": "1/3",
    "single-column-with-ties.capped-k-2": "1/2",
    "single-column-with-ties.capped-k-3": "2/3",
    "single-column-of-both-signs": "0",
    "single-column-of-both-signs.simplex": "-1/4",
    "single-column-of-both-signs.capped-fraction-1": "1/8",
    "matching-pennies": "0",
    "matching-pennies.simplex": "0",
    "matching-pennies.normpenalty-inf-1-2": "1/4",
    "rock-paper-scissors.simplex": "0",
    "identity-2": "1/2",
    "identity-3": "1/3",
    "identity-3.normpenalty-inf-1-2": "1/2",
    "identity-3.squarednorm-1": "1/12",
    "identity-7.capped-k-5": "1/7",
    "hadamard-4": "1/2",
    "hadamard-16": "1/4",
    "hadamard-16.capped-k-7": "1/4",
    "opposite-rows": "0",
    "opposite-rows-among-others.capped-k-3": "1/3",
    "opposite-columns": "1/4",
    "all-ones": "1",
    "all-ones.squarednorm-1": "1",
    "all-minus-ones": "1",
    "all-minus-ones.simplex": "-1",
    "all-zeros": "0",
    "equal-rows": "1",
    "ties-at-the-cap": "1/2",
}


@pytest.mark.parametrize("name", OPTIMA)
def test_corner_cases_have_the_optima_they_have(name):
    rb.instances.assert_bracketed(Fraction(OPTIMA[name]), rb.instances.load()[name])


def test_every_corner_is_in_the_packaged_set():
    packaged = rb.instances.load(CORNER_CASES)
    assert {certified.source["builtin"] for certified in packaged.values()} == set(CORNERS)
    assert {certified.level for certified in packaged.values()} == {"exact", "enclosed"}


def test_the_larger_games_are_there_in_both_sizes():
    larger = rb.instances.load(LARGER_GAMES)
    assert {(game.m, game.n) for game in larger.values()} == {(40, 30), (200, 100)}
    assert {game.level for game in larger.values()} == {"exact", "enclosed"}
    assert all(game.gap == 0 for game in larger.values() if game.level == "exact")
    assert all(game.gap < 1e-9 for game in larger.values())
    assert sum(path.stat().st_size for path in LARGER_GAMES.iterdir()) < 1_000_000
    assert set(rb.instances.load()) == {*larger, *rb.instances.load(CORNER_CASES)}

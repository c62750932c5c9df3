"""A run that was killed goes on from its file, which is never half written."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import textwrap
import time

import numpy as np
import pytest

import relaxboost as rb
from relaxboost._core import files
from relaxboost.solvers import checkpoint as checkpoints
from tests.processes import ctrl_c


@pytest.fixture
def game(rng):
    return rb.Game(np.clip(rng.uniform(-1, 1, (60, 25)) + 0.1, -1, 1), rb.Capped(7))


@pytest.fixture
def often(monkeypatch):
    """Write after every round."""
    monkeypatch.setattr(files, "SECONDS_BETWEEN_UPDATES", 0.0)
    monkeypatch.setattr(files, "WAIT_PER_WRITE", 0.0)


@pytest.mark.parametrize("method", ["auto", "corrective", "interior-point"])
def test_a_run_goes_on_where_it_stopped(game, tmp_path, often, method):
    file = tmp_path / "run.json"
    first = rb.solve(game, 1e-7, method, max_rounds=6, checkpoint=file)
    kept = json.loads(file.read_text())
    assert (kept["lower"], kept["upper"], kept["rounds"]) == (first.lower, first.upper, 6)
    assert kept["d"] == first.d.tolist()
    second = rb.solve(game, 1e-7, method, max_rounds=5, checkpoint=file)
    assert second.lower >= first.lower - 1e-15
    assert second.upper <= first.upper + 1e-15
    assert second.rounds == 11
    assert [record.round for record in second.history] == list(range(7, 12))
    assert second.seconds >= second.history[0].seconds > kept["seconds"] - 1e-3
    assert f"resumed after 6 rounds at a gap of {first.gap:.3g}" in second.message


def test_a_finished_run_is_read_again_in_no_round(game, tmp_path):
    file = tmp_path / "run.json"
    first = rb.solve(game, 1e-6, checkpoint=file)
    again = rb.solve(game, 1e-6, checkpoint=file)
    assert (again.rounds, again.lower, again.upper) == (first.rounds, first.lower, first.upper)
    assert (again.basis, again.history, again.status) == (first.basis, (), "optimal")
    tighter = rb.solve(game, 1e-9, checkpoint=file)
    assert tighter.status == "optimal"
    assert tighter.rounds <= first.rounds + rb.solve(game, 1e-9).rounds
    program = tmp_path / "program.json"
    first = rb.solve(game, 1e-6, "lpboost", checkpoint=program)
    tighter = rb.solve(game, 1e-9, "lpboost", checkpoint=program)
    assert tighter.status == "optimal"
    assert tighter.rounds <= first.rounds + 2  # it continues from its basis


def test_the_better_of_start_and_file(game, tmp_path):
    file = tmp_path / "run.json"
    rb.solve(game, 1e-1, checkpoint=file)
    good = rb.solve(game, 1e-6)
    assert rb.solve(game, 1e-6, start=good, checkpoint=file).history == ()
    assert rb.solve(game, 1e-6, start=(np.ones(60), None), checkpoint=file).history == ()


def test_writing_takes_a_twentieth_of_the_time(game, tmp_path, monkeypatch):
    written = []
    own = checkpoints.write_atomically

    def slowly(*args):
        written.append(time.perf_counter())
        time.sleep(0.02)
        own(*args)

    monkeypatch.setattr(files, "SECONDS_BETWEEN_UPDATES", 0.01)
    monkeypatch.setattr(checkpoints, "write_atomically", slowly)
    rb.solve(game, 1e-9, "corrective", time_limit=1.5, checkpoint=tmp_path / "run.json")
    assert len(written) >= 2
    assert np.diff(written[:-1]).min(initial=9.0) >= 0.4  # the last is at the end


RUN = """
import sys
import numpy as np
import relaxboost as rb
from relaxboost._core import files

files.SECONDS_BETWEEN_UPDATES = files.WAIT_PER_WRITE = 0.0
rng = np.random.default_rng(3)
game = rb.Game(np.clip(rng.uniform(-1, 1, (300, 40)) + 0.1, -1, 1), rb.Capped(30))
found = rb.solve(game, 1e-9, "corrective", checkpoint=sys.argv[1])
print(found.status, found.rounds)
"""


def started(file):
    command = [sys.executable, "-c", textwrap.dedent(RUN), str(file)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def wait_for(test, process, seconds=60.0):
    end = time.monotonic() + seconds
    while not test():
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < end
        time.sleep(0.002)


def rounds_of(file):
    return json.loads(file.read_text())["rounds"] if file.exists() else 0


def test_a_killed_process_leaves_a_whole_file_and_another_goes_on(tmp_path):
    """It writes after every round, so that most kills meet a write; then Ctrl-C."""
    file = tmp_path / "run.json"
    last = {"rounds": 0, "lower": -np.inf, "upper": np.inf}
    for pause in (0.0, 0.03):
        process = started(file)
        wait_for(lambda past=last["rounds"]: rounds_of(file) > past + 20, process)
        time.sleep(pause)
        os.kill(process.pid, signal.SIGKILL)
        assert process.wait() == -signal.SIGKILL
        process.communicate()
        kept = json.loads(file.read_text())
        assert kept["rounds"] > last["rounds"] + 20
        assert last["lower"] <= kept["lower"] <= kept["upper"] <= last["upper"]
        last = kept
    process = started(file)
    wait_for(lambda: rounds_of(file) > last["rounds"] + 20, process)
    status, out, err = ctrl_c(process)
    assert (status, err) == (0, "")
    assert out.split()[0] == "interrupted"
    assert int(out.split()[1]) == rounds_of(file) > last["rounds"] + 20


def test_a_file_of_another_game_is_refused_with_the_reason(game, tmp_path):
    file = tmp_path / "run.json"
    rb.solve(game, 0.1, checkpoint=file)
    before = file.read_bytes()
    A = game.matrix.toarray()
    for other, reason in (
        (rb.Game(A, rb.Capped(8)), "its relaxation is .*k=7.*, but .* this game is .*k=8"),
        (rb.Game(A, rb.Capped(7), over=rb.L1Ball(2)), "its domain is"),
        (rb.Game(A * 0.5, rb.Capped(7)), "its matrix is"),
    ):
        with pytest.raises(rb.InputError, match=f"run.json: .*for another game: {reason}"):
            rb.solve(other, 0.1, checkpoint=file)
    assert file.read_bytes() == before


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda c: "[1, 2", "the file is not a checkpoint"),
        (lambda c: "[1, 2]", "the file is not a checkpoint"),
        (lambda c: "{}", "the file is not a checkpoint"),
        (lambda c: {**c, "format": "relaxboost checkpoint 2"}, "checkpoint 2', but this version"),
        (lambda c: {**c, "game": {}}, "its matrix is None"),
        (lambda c: {k: v for k, v in c.items() if k != "d"}, "the file is damaged .'d'"),
        (lambda c: {**c, "d": [1.0]}, "damaged .d must have shape"),
        (lambda c: {**c, "support": [25], "coefficients": [1.0]}, "columns outside 0..24"),
        (
            lambda c: {**c, "basis": {"columns": [[99, 1]], "sides": ""}},
            "the basis in .* has a column",
        ),
    ],
)
def test_a_damaged_file_is_refused(game, tmp_path, change, message):
    file = tmp_path / "run.json"
    rb.solve(game, 0.1, checkpoint=file)
    changed = change(json.loads(file.read_text()))
    file.write_text(changed if isinstance(changed, str) else json.dumps(changed))
    with pytest.raises(rb.InputError, match=f"cannot continue from .*{message}.*remove the file"):
        rb.solve(game, 0.1, checkpoint=file)


def test_what_cannot_have_a_checkpoint(game, tmp_path):
    with pytest.raises(rb.InputError, match=r"folder .* does not exist"):
        rb.solve(game, checkpoint=tmp_path / "none" / "run.json")
    hard = rb.Game(game.matrix)
    with pytest.raises(rb.InputError, match="leave start and checkpoint out"):
        rb.solve(hard, method="adaboost", max_rounds=3, checkpoint=tmp_path / "run.json")
    X, y = np.random.default_rng(0).normal(size=(20, 2)), np.tile([-1.0, 1.0], 10)
    oracle = rb.matrices.oracle(lambda X, y, d: lambda X: np.sign(X[:, 0]), X, y, slack=0)
    with pytest.raises(rb.InputError, match="in the order in which a run finds them"):
        rb.solve(rb.Game(oracle), checkpoint=tmp_path / "run.json")


def test_a_disk_that_is_full_does_not_end_the_run(game, tmp_path, often, monkeypatch):
    def full(*args):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(checkpoints, "write_atomically", full)
    solution = rb.solve(game, 1e-6, checkpoint=tmp_path / "run.json")
    assert solution.status == "optimal"
    assert solution.message.endswith("run.json could not be written: No space left on device")

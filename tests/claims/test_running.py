"""Many claims in several processes: the same results, in the same order, whatever happens."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import textwrap
import time

import pytest
from joblib.externals.loky import get_reusable_executor

from relaxboost import InputError, claims
from relaxboost.claims import Failure, Real, Source, Space, at_most
from tests.claims.toys import HEAD, TOYS, without_time


@pytest.fixture
def file(tmp_path):
    """Write a file of claims; return them."""

    def write(lines, head=HEAD):
        (tmp_path / "mine.py").write_text(head + lines)
        return claims.load(tmp_path / "mine.py")

    return write


@pytest.fixture(autouse=True)
def new_workers():
    """Start and end each test without workers: they keep the standard error of their first test."""
    get_reusable_executor().shutdown(kill_workers=True)
    yield
    get_reusable_executor().shutdown(kill_workers=True)


def found(runs):
    return [(claim.id, outcome) for claim, outcome in runs]


def test_the_results_depend_on_the_seed_and_not_on_the_jobs(file):
    chosen = claims.select(["SS09-T4", "SS09-T9-capped"], claims.all())
    ways = ((0, 1), (0, 2), (1, 1))
    runs = [found(claims.check_all(chosen, 5, seed, jobs=jobs)) for seed, jobs in ways]
    ids = [claim.id for claim in chosen]
    assert [[id for id, _ in run] for run in runs] == 3 * [ids]
    data = [without_time([verdict.data() for _, verdict in run]) for run in runs]
    assert data[0] == data[1]
    assert data[0] != data[2]
    toys = file("", TOYS)
    for run in (claims.check_all, claims.attack_all):
        one, two = (found(run(toys, 20, jobs=jobs)) for jobs in (1, 2))
        data = [without_time([verdict.data() for _, verdict in run]) for run in (one, two)]
        assert data[0] == data[1]
        assert [verdict.status for _, verdict in one] == ["holds", "false as stated"]


def test_order_and_progress(file):
    lines = "".join(f"claim('{name}', true)\n" for name in "abcdef")
    chosen = file(lines.replace("'a', true", "'a', lambda x: time.sleep(0.2) or true(x)"))
    for jobs in (1, 2):
        told = []

        def tell(*state, told=told):
            told.append(state)

        runs = claims.check_all(chosen, jobs=jobs, progress=tell)
        assert [id for id, _ in found(runs)] == [f"X-{name}" for name in "abcdef"]
        assert [(finished, total) for finished, total, _ in told] == [(i, 6) for i in range(1, 7)]
        assert sorted(id for *_, id in told) == [f"X-{name}" for name in "abcdef"]
    backwards = found(claims.check_all(chosen[::-1], 1, jobs=2))
    assert [id for id, _ in backwards] == [f"X-{name}" for name in "fedcba"]


def test_an_error_in_one_claim_loses_no_other(file, capfd):
    chosen = file("claim('a', true)\nclaim('b', raises)\nclaim('c', prints)\nclaim('d', true)\n")
    for jobs in (1, 2):
        runs = dict(found(claims.check_all(chosen, jobs=jobs)))
        assert [outcome.status for outcome in runs.values()] == ["holds", "error", "holds", "holds"]
        failure = runs["X-b"]
        assert isinstance(failure, Failure)
        assert not failure.agrees
        assert "ZeroDivisionError: no x is small enough (in X-b, instance 0: {'x': " in str(failure)
        assert "in raises" in failure.trace
        assert failure.data()["id"] == "X-b"
        assert "a check prints this" in "".join(capfd.readouterr())


@pytest.mark.parametrize("death", ["dies", "lambda x: os.kill(os.getpid(), 9)"])
def test_a_process_that_dies_ends_the_check(death, file, capfd, tmp_path):
    """The finished claims keep their verdicts, and the others name the remedy."""
    wait = f"while not os.path.exists('{tmp_path}/a'):\n        time.sleep(0.01)\n"
    chosen = file(
        f"def late(x):\n    {wait}    return ({death})(x)\n"
        "claim('a', true)\nclaim('b', late)\nclaim('c', slow)\nclaim('d', true)\n"
    )

    def progress(finished, total, id):
        (tmp_path / "a").touch()

    runs = dict(found(claims.check_all(chosen, jobs=2, progress=progress)))
    assert [outcome.status for outcome in runs.values()] == ["holds", "error", "error", "error"]
    lost = "a worker process died; run with --jobs 1 to see which claim ends it"
    assert {outcome.error for id, outcome in runs.items() if id != "X-a"} == {lost}
    assert capfd.readouterr() == ("", "")
    again = claims.check_all([chosen[0], chosen[3]], jobs=2)
    assert [outcome.status for _, outcome in found(again)] == ["holds", "holds"]


def test_a_check_that_leaves_ends_nothing_else(file):
    chosen = file("def leaves(x):\n    raise SystemExit(3)\nclaim('a', leaves)\nclaim('b', true)\n")
    for jobs in (1, 2):
        runs = dict(found(claims.check_all(chosen, jobs=jobs)))
        assert [outcome.status for outcome in runs.values()] == ["error", "holds"]
        assert runs["X-a"].error.startswith("SystemExit: 3 (in X-a")


def test_a_check_that_reads_finds_nothing(file):
    chosen = file("claim('a', lambda x: input() and true(x))\nclaim('b', true)\n")
    runs = dict(found(claims.check_all(chosen, jobs=2)))
    assert [outcome.status for outcome in runs.values()] == ["error", "holds"]
    assert runs["X-a"].error.startswith("EOFError: ")


def test_a_file_that_changed(file, tmp_path):
    chosen = file("claim('a', true)\nclaim('b', true)\n")
    (tmp_path / "mine.py").write_text(HEAD + "claim('a', true)\n")
    runs = dict(found(claims.check_all(chosen, jobs=2)))
    assert runs["X-a"].agrees
    assert (
        runs["X-b"].error == f"InputError: {tmp_path / 'mine.py'} no longer defines the claim 'X-b'"
    )
    (tmp_path / "mine.py").write_text(HEAD + "claim('a', raises)\nclaim('b', true)\n")
    runs = dict(found(claims.check_all(chosen, jobs=2)))  # The same workers.
    assert [outcome.status for outcome in runs.values()] == ["error", "holds"]


def test_paths_are_those_of_the_working_directory(file, tmp_path, monkeypatch):
    """Also with workers that were started in another one."""
    lines = "".join(f"claim('{name}', true)\n" for name in "ab")
    found(claims.check_all(file(lines), jobs=2))
    (tmp_path / "other").mkdir()
    monkeypatch.chdir(tmp_path / "other")
    (tmp_path / "other/yours.py").write_text(HEAD + TOYS)
    chosen = claims.load("yours.py")
    runs = dict(found(claims.check_all(chosen, 2, jobs=2, certificates="proofs")))
    assert [outcome.status for outcome in runs.values()] == ["holds", "false as stated"]
    assert list((tmp_path / "other/proofs").iterdir())
    assert not (tmp_path / "proofs").exists()


def test_claims_made_on_the_spot_are_checked_here():
    source = Source("SPOT", "")
    pids = []
    for name in "ab":

        @source.claim(name, "", "", formula="", space=Space(x=Real(0, 1))).checked(trials=1)
        def check(x):
            pids.append(os.getpid())
            return at_most(x.x, 1)

    runs = found(claims.check_all(source.claims.values(), jobs=2))
    assert [verdict.status for _, verdict in runs] == ["holds", "holds"]
    assert pids == 2 * [os.getpid()]


def test_no_more_than_asked_for_is_done(file, tmp_path):
    """Who stops listening stops the processes too."""
    write = f"lambda x: open('{tmp_path}/late', 'w') and true(x)"
    chosen = file(f"claim('a', true)\nclaim('b', slow)\nclaim('c', slow)\nclaim('d', {write})\n")
    start = time.monotonic()
    with contextlib.closing(claims.check_all(chosen, jobs=2)) as runs:
        assert next(runs)[0].id == "X-a"
    assert time.monotonic() - start < 200  # of the 300 s that b and c take
    assert not (tmp_path / "late").exists()
    assert found(claims.check_all([])) == []


def test_wrong_arguments_are_said_before_work(file, tmp_path):
    (toy, *_) = file("claim('a', raises)\n")
    for options in ({"trials": 0}, {"seed": -1}, {"jobs": 0}, {"trials": 1.5}):
        with pytest.raises(InputError, match="must be a whole number >="):
            claims.check_all([toy], **options)
    with pytest.raises(InputError, match="budget must be a whole number >= 1"):
        claims.attack_all([toy], 0)
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match=r"cannot write certificates to .*file: File exists"):
        claims.check_all([toy], certificates=tmp_path / "file")


@pytest.mark.parametrize("way", ["script", "standard input"])
def test_a_script_needs_no_guard(way, tmp_path):
    (tmp_path / "mine.py").write_text(HEAD + "claim('a', true)\nclaim('b', true)\n")
    script = textwrap.dedent(
        """
        from relaxboost import claims
        for claim, verdict in claims.check_all(claims.load("mine.py"), 3, jobs=2):
            print(claim.id, verdict.status)
        """
    )
    (tmp_path / "script.py").write_text(script)
    result = subprocess.run(
        [sys.executable, "-P", *(["script.py"] if way == "script" else ["-"])],
        input=None if way == "script" else script,
        capture_output=True,
        text=True,
        cwd=tmp_path,
        check=True,
    )
    assert result.stdout == "X-a holds\nX-b holds\n"
    assert result.stderr == ""


def test_ctrl_c_still_ends_a_process_in_which_joblib_starts_no_workers():
    code = """
        import signal
        import warnings
        from relaxboost import claims
        warnings.simplefilter("ignore")  # joblib warns that it falls back to threads
        chosen = claims.select(["SS09-T4", "SS09-L15"], claims.all())
        print(*(verdict.status for _, verdict in claims.check_all(chosen, 3, jobs=2)))
        assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    """
    alone = {**os.environ, "JOBLIB_MULTIPROCESSING": "0"}
    command = [sys.executable, "-c", textwrap.dedent(code)]
    done = subprocess.run(command, env=alone, capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr) == ("holds holds\n", "")

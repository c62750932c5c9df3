"""Passes on dask workers: the same bits as here, and an end when something dies."""

from __future__ import annotations

import os
import pickle
import re
import shutil
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import relaxboost as rb
from relaxboost.matrices import ClusterError, chunked
from relaxboost.matrices.chunks.cluster import Cluster

dask = pytest.importorskip("dask")
distributed = pytest.importorskip("distributed")
SHORT_PATIENCE = {"distributed.comm.timeouts.connect": "500ms"}
METHOD = rb.solvers.Corrective(step="pairwise")


def data(seed=0, m=500, features=5):
    rng = np.random.default_rng(seed)
    X = np.round(rng.normal(size=(m, features)), 2)
    return X, np.where(X[:, 0] + rng.normal(size=m) > 0, 1.0, -1.0)


def solved(matrix, callback=None, rounds=6):
    return rb.solve(
        rb.Game(matrix, rb.Capped(fraction=0.1)),
        1e-4,
        METHOD,
        max_rounds=rounds,
        callback=callback,
    )


def bits(solution):
    return (
        solution.d.tobytes(),
        solution.support.tobytes(),
        solution.coefficients.tobytes(),
        (solution.lower, solution.upper),
    )


@pytest.fixture(scope="module")
def processes():
    """Two worker processes, which are started again when they die."""
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, dashboard_address=":0"
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


@pytest.fixture
def threads():
    """A cluster of threads, which a test may spoil."""
    with (
        distributed.LocalCluster(
            n_workers=1, threads_per_worker=3, processes=False, dashboard_address=":0"
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


def test_processes_give_the_same_bits_also_when_one_is_killed(processes):
    X, y = data()
    want = bits(solved(chunked(X, y)))
    matrix = chunked(X, y, client=processes)
    assert bits(solved(matrix)) == want
    pids = processes.run(os.getpid)
    killed = []

    def kill(state):
        if state.round == 3:
            killed.append(next(iter(pids.values())))
            os.kill(killed[0], signal.SIGKILL)

    assert bits(solved(matrix, kill)) == want
    assert len(killed) == 1
    assert matrix.cluster is not None  # it was not left for passes made here
    assert killed[0] not in processes.run(os.getpid).values()


def test_fits_at_the_same_time_do_not_mix(processes):
    """LightGBM's issue 4942: many at once hang. One matrix twice, and two others."""
    one, two = data(1), data(2, m=300)
    want = [bits(solved(chunked(*one))), bits(solved(chunked(*two)))]
    shared = chunked(*one, client=processes)
    other = chunked(*two, client=processes)
    with ThreadPoolExecutor(4) as pool:
        got = list(pool.map(lambda matrix: bits(solved(matrix)), [shared, other, shared, other]))
    assert got == want * 2


def test_an_error_on_a_worker_ends_the_run_and_leaves_the_cluster_well(processes, tmp_path):
    """LightGBM's issue 4771: hangs for ever after an error."""
    X, y = data()
    for spoil, message in (
        (lambda codes: codes.write_bytes(b"\0" * codes.stat().st_size), "have changed since"),
        (lambda codes: codes.unlink(), "directory= must be a directory that all workers can read"),
    ):
        matrix = chunked(X, y, directory=tmp_path)
        spoil(matrix._pages.folder / "codes")
        with pytest.raises(ClusterError, match=message):
            Cluster(processes, matrix._pages)
    assert bits(solved(chunked(X, y, client=processes))) == bits(solved(chunked(X, y)))


def test_pages_taken_away_in_a_run_fail_it_with_its_bracket(processes, tmp_path):
    X, y = data()
    matrix = chunked(X, y, client=processes, directory=tmp_path)

    def take_away(state):
        if state.round == 3:
            shutil.move(matrix._pages.folder, tmp_path / "elsewhere")

    assert_failed_with_bracket(
        solved(matrix, take_away), X, y, "the vector for the workers cannot be written"
    )


def assert_failed_with_bracket(solution, X, y, message):
    """The run of three rounds, evaluated here, and one error that says what happened."""
    assert solution.status == "failed"
    assert re.search(message, solution.message)
    assert "in this process if it is used again; the bracket is valid" in solution.message
    short = solved(chunked(X, y), rounds=3)
    assert (solution.lower, solution.upper) == (short.lower, short.upper)
    assert solution.game.matrix.cluster is None
    assert bits(solved(solution.game.matrix)) == bits(solved(chunked(X, y)))


def test_a_cluster_that_is_closed_fails_the_run_with_its_bracket(threads):
    X, y = data()
    matrix = chunked(X, y, client=threads)
    solution = solved(matrix, lambda state: state.round == 3 and threads.close())
    assert_failed_with_bracket(solution, X, y, "the cluster of .* is no longer available")


def test_workers_that_all_leave_are_not_waited_for(threads):
    """xgboost's issues 9419 and 9420: stuck indefinitely when a worker left."""
    X, y = data()
    matrix = chunked(X, y, client=threads)

    def leave(state):
        if state.round == 3:
            for worker in list(threads.cluster.workers.values()):
                threads.sync(worker.close, executor_wait=False, reason="it leaves")
            assert not threads.nthreads()

    with dask.config.set(SHORT_PATIENCE):
        solution = solved(matrix, leave)
    assert_failed_with_bracket(solution, X, y, "the cluster of .* is no longer available")


def test_a_scheduler_that_is_killed_fails_the_run_with_its_bracket():
    script = (
        "import time\n"
        "from distributed import LocalCluster\n"
        "options = {'processes': False, 'protocol': 'tcp', 'dashboard_address': ':0'}\n"
        "cluster = LocalCluster(n_workers=1, **options)\n"
        "print(cluster.scheduler_address, flush=True)\n"
        "time.sleep(600)\n"
    )
    with subprocess.Popen(
        [
            sys.executable,
            "-c",
            script,
        ],
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        try:
            with distributed.Client(process.stdout.readline().strip()) as client:
                X, y = data()
                matrix = chunked(X, y, client=client)

                def kill(state):
                    if state.round == 3:
                        process.kill()

                start = time.monotonic()
                with dask.config.set(SHORT_PATIENCE):
                    solution = solved(matrix, kill)
                assert time.monotonic() - start < 60
                assert_failed_with_bracket(
                    solution, X, y, "the cluster of .* is no longer available"
                )
        finally:
            process.kill()


@pytest.mark.parametrize(
    ("m", "features", "page"), [(500, 1, 40), (500, 2, 499), (20, 1, 15), (20, 1, 99)]
)
def test_more_threads_than_features_or_pages(m, features, page, threads):
    """LightGBM's issue 3882: workers without data kill the training. Here they idle."""
    X, y = data(3, m, features)
    y[0] = -y[1]
    matrix = chunked(X, y, page=page, client=threads)
    here = chunked(X, y)
    d = np.random.default_rng(0).dirichlet(np.ones(m))
    assert matrix.best(d) == here.best(d)
    assert np.array_equal(matrix.edges(d), here.edges(d))
    assert bits(solved(matrix)) == bits(solved(here))
    rows = matrix.cluster._rows
    assert len(rows) == min(-(-3 // features), -(-m // page))
    assert [i for part in rows for i in part] == list(range(m))


def test_neither_data_nor_codes_travel(processes, monkeypatch):
    """xgboost's issue 11614 and others: two copies of the data, one of them on the wire."""
    X, y = data(m=20_000)
    matrix = chunked(X, y, client=processes)
    sent, back = [], []
    run = matrix.cluster._run

    def watched(function, *arguments):
        sent.append(len(pickle.dumps((function, arguments))))
        results = run(function, *arguments)
        back.append(len(pickle.dumps(results)))
        return results

    monkeypatch.setattr(matrix.cluster, "_run", watched)
    solved(matrix)
    assert max(sent) < 3_000
    assert max(back) < 3_000


def test_what_is_no_client():
    X, y = data()
    with pytest.raises(
        rb.InputError, match=r"client must be a synchronous dask\.distributed\.Client"
    ):
        chunked(X, y, client="processes")

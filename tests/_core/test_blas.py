"""The threads of BLAS: one for small work, and as many as before after it."""

from threading import Barrier, Thread

import numpy as np
import pytest
import scipy.linalg.lapack
from threadpoolctl import threadpool_info, threadpool_limits

import relaxboost as rb
from relaxboost._core.blas import one_blas_thread, threads_for
from relaxboost.solvers.interior_point.factor import Factor


def used():
    """Return the threads of each BLAS but those that were built without."""
    libraries = [one for one in threadpool_info() if one["user_api"] == "blas"]
    return {one["num_threads"] for one in libraries if one.get("threading_layer") != "disabled"}


@pytest.fixture(autouse=True)
def two():
    with threadpool_limits(2, user_api="blas"):
        assert used() == {2}
        yield
        assert used() == {2}


@pytest.mark.parametrize(
    ("m", "n", "threads"), [(1000, None, 1), (10**6, 1, 1), (10**4, 101, 2), (1001, None, 2)]
)
def test_few_rows_or_columns_have_one_thread(m, n, threads):
    with threads_for(m, n):
        assert used() == {threads}


def test_the_last_of_several_threads_restores_what_was():
    first, second, seen = Barrier(2, timeout=60), Barrier(2, timeout=60), []

    def outlasts():
        with one_blas_thread():
            first.wait()
            second.wait()
            seen.append(used())
        seen.append(used())

    with one_blas_thread():
        other = Thread(target=outlasts)
        other.start()
        first.wait()
    assert used() == {1}
    second.wait()
    other.join()
    assert seen == [{1}, {2}]


def test_runs_of_small_games_and_small_factors_have_one(monkeypatch):
    seen = []
    A = np.random.default_rng(0).choice([-1.0, 1.0], (30, 20))
    rb.solve(rb.Game(A), callback=lambda state: seen.append(used()))
    assert seen
    assert all(one == {1} for one in seen)
    seen.clear()
    own = scipy.linalg.lapack.dpotrf
    for order in (300, 1001):
        monkeypatch.setattr(
            scipy.linalg.lapack, "dpotrf", lambda *a, **b: seen.append(used()) or own(*a, **b)
        )
        factor = Factor(2.0 * np.eye(order))
        assert factor.solve(np.ones(order)) == pytest.approx(0.5)
    assert seen == [{1}, {2}]

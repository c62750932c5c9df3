"""Settings and data shared by the tests: everything is deterministic and offline."""

from __future__ import annotations

import os
import signal
import subprocess

# A second thread of BLAS waits busily beside work as small as that of tests, and in the processes
# that they start. NumPy reads this once, so it comes first; `test_blas` asks for two.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np
import pytest
from hypothesis import HealthCheck, settings

import relaxboost as rb
from tests.processes import Mortal
from tests.within import entry_points

settings.register_profile(
    "relaxboost",
    derandomize=True,
    deadline=None,
    database=None,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("relaxboost")

# Without bytecode each of the many processes that tests start compiles the package anew.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

# A shell that runs the tests in the background has them, and what they start, ignore Ctrl-C.
signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(autouse=True)
def _no_process_outlives_its_test(monkeypatch):
    monkeypatch.setattr(subprocess, "Popen", Mortal)
    yield
    while Mortal.started:
        Mortal.started.pop().end()


@pytest.fixture(scope="session")
def cancer() -> rb.matrices.datasets.Dataset:
    return rb.matrices.datasets.breast_cancer()


@pytest.fixture(scope="session")
def cancer_stumps(cancer: rb.matrices.datasets.Dataset) -> rb.matrices.StumpMatrix:
    return rb.matrices.stumps(cancer.X, cancer.y, cancer.feature_names)


@pytest.fixture(scope="session")
def installed(tmp_path_factory):
    """A folder in which the pytest plugins of the package are known."""
    return entry_points(tmp_path_factory.mktemp("site"))


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(20091026)

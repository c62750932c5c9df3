"""Kernels loaded from the cache without numba's compiler, and what is said of compiling."""

import signal
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace

import pytest
from numba.core.event import Event, EventStatus

from relaxboost._core import compiled
from relaxboost.matrices.kernels import stump_rows


class Cached:
    """A dispatcher of numba whose cache fails where it is told to."""

    def __init__(self, error=None):
        self.error = error
        self._cache = self

    def load_overload(self, signature, context):
        return "numba's own way"

    def _load_overload(self, signature, context):
        if self.error:
            raise self.error
        return "alone"


@pytest.mark.parametrize(
    ("error", "version", "way"),
    [
        (None, compiled._TRIED[0], "alone"),
        (None, compiled._TRIED[1], "alone"),
        (None, (0, 60), "numba's own way"),
        (None, (0, 69), "numba's own way"),
        (PermissionError("another process writes it"), (0, 68), "numba's own way"),
        (AttributeError("a private name that went"), (0, 68), "numba's own way"),
    ],
)
def test_a_kernel_is_loaded_alone_only_where_that_was_tried(error, version, way, monkeypatch):
    monkeypatch.setattr(compiled.numba, "version_info", SimpleNamespace(short=version))
    monkeypatch.setattr(compiled, "rtsys", SimpleNamespace(initialize=lambda context: None))
    made = Cached(error)
    compiled._load_alone(made)
    assert made._cache.load_overload("signature", "context") == way


def test_the_kernels_here_are_loaded_alone():
    assert stump_rows._cache.load_overload.__module__ == compiled.__name__


def test_a_kernel_that_compiles_another_is_timed_as_one():
    said, (start, end) = compiled._Saying(), (Event("numba:compile", s) for s in EventStatus)
    for event in (start, start, end):
        said.notify(event)
    assert not said.done
    said.notify(end)
    assert said.duration < 1.0


def test_ctrl_c_waits_for_the_call_that_it_meets():
    before, made = signal.getsignal(signal.SIGINT), []

    def compile_a_kernel():
        signal.raise_signal(signal.SIGINT)
        made.append("the first")

    with pytest.raises(KeyboardInterrupt):
        compiled.ready(compile_a_kernel, lambda: made.append("the second"))
    assert made == ["the first"]
    assert signal.getsignal(signal.SIGINT) is before


def test_calls_that_get_kernels_ready_are_made_in_any_thread():
    made = []
    with ThreadPoolExecutor(1) as pool:
        pool.submit(compiled.ready, lambda: made.append("here")).result()
    compiled.ready(lambda: made.append("and here"))
    assert made == ["here", "and here"]

"""Compilation of kernels: its message, and Ctrl-C during it."""

import signal
from concurrent.futures import ThreadPoolExecutor

import pytest
from numba.core.event import Event, EventStatus

from relaxboost._core import compiled


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

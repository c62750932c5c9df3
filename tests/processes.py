"""Real processes that are told to stop while they work."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any, ClassVar

LIMIT = 200.0
"""Seconds that a process of a test may take, fewer than those of the test (pyproject.toml)."""


class Mortal(subprocess.Popen[Any]):
    """A process that is killed after a while, by which whatever reads from it or waits goes on."""

    started: ClassVar[list[Mortal]] = []

    def __init__(self, *given: Any, **options: Any) -> None:
        super().__init__(*given, **options)
        self.started.append(self)
        self.timer = threading.Timer(LIMIT, self.end)
        self.timer.daemon = True
        self.timer.start()

    def end(self) -> None:
        """Kill it, with its group if it leads one."""
        self.timer.cancel()
        if self.poll() is None:
            with contextlib.suppress(ProcessLookupError):
                leads = os.getpgid(self.pid) == self.pid
                (os.killpg if leads else os.kill)(self.pid, signal.SIGKILL)
            with contextlib.suppress(subprocess.TimeoutExpired):
                self.wait(10)


def started(*arguments: object, **options: Any) -> subprocess.Popen[str]:
    """Return a process of the command line, the first of its group: Ctrl-C may be for all of it."""
    return subprocess.Popen(
        [sys.executable, "-m", "relaxboost", *map(str, arguments)],
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
        **options,
    )


def ctrl_c(
    process: subprocess.Popen[str], *, group: bool = False, how: int = signal.SIGINT
) -> tuple[int, str, str]:
    """Press Ctrl-C, for a whole group on request; return (status, out, err).

    Once in a hundred times Python or numba swallows it inside a callback of compiled code. A user
    presses again, and so does this.
    """
    for _ in range(3):
        (os.killpg if group else os.kill)(process.pid, how)
        with contextlib.suppress(subprocess.TimeoutExpired):
            out, err = process.communicate(timeout=20)
            return process.returncode, out, err
    process.kill()
    raise AssertionError("it goes on")


def on_a_terminal(process: subprocess.Popen[str], leader: int) -> tuple[str, bytes]:
    """Return what it prints and what its terminal shows; both are read, lest it wait for one."""
    with ThreadPoolExecutor(1) as pool:
        shown = pool.submit(shown_on, leader)
        return process.communicate()[0], shown.result()


def shown_on(leader: int) -> bytes:
    """Return all that a terminal shows till it is closed."""
    shown = b""
    with contextlib.suppress(OSError):  # a closed terminal
        while part := os.read(leader, 4096):
            shown += part
    os.close(leader)
    return shown

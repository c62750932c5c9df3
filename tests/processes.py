"""Real processes that are told to stop while they work."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
from concurrent.futures import ThreadPoolExecutor


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
        out = pool.submit(lambda: process.communicate()[0])
        shown = b""
        with contextlib.suppress(OSError):  # a closed terminal
            while part := os.read(leader, 4096):
                shown += part
        os.close(leader)
        return out.result(), shown

"""Real processes that are told to stop while they work."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess


def ctrl_c(process: subprocess.Popen[str], *, group: bool = False) -> tuple[int, str, str]:
    """Press Ctrl-C, for a whole group on request; return (status, out, err).

    Once in a hundred times Python or numba swallows it inside a callback of compiled code. A user
    presses again, and so does this.
    """
    for _ in range(3):
        (os.killpg if group else os.kill)(process.pid, signal.SIGINT)
        with contextlib.suppress(subprocess.TimeoutExpired):
            out, err = process.communicate(timeout=20)
            return process.returncode, out, err
    process.kill()
    raise AssertionError("it goes on")

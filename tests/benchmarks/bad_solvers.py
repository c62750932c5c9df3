"""Solvers that a benchmark has to survive; each is a `prepare` of `Peer`."""

import os
import signal
import subprocess
import time
from pathlib import Path

import numpy as np

from benchmarks.solvers.peers import Points


def crashes(game):
    return lambda tol, seconds: os.kill(os.getpid(), signal.SIGSEGV)


def hangs(game):
    """Never return, deaf to SIGTERM and Ctrl-C, with a child that would outlive it."""
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    signal.signal(signal.SIGINT, signal.SIG_IGN)

    def run(tol, seconds):
        if game.m > 40:  # the game that counts, not the first small one
            child = subprocess.Popen(["sleep", "600"])
            Path(os.environ["BENCH_PIDS"]).write_text(f"{os.getpid()} {child.pid}")
            while True:
                time.sleep(1.0)
        return Points(None, None)

    return run


def devours(game):
    def run(tol, seconds):
        held = []
        while True:
            held.append(np.empty(10**8))  # not even written to: that takes seconds

    return run


def boasts(game):
    """Call anything an optimum: numbers that are none for d, and a w far outside the ball."""
    return lambda tol, seconds: Points(np.full(game.m, np.nan), np.full(game.n, 1e9))


def misleads(game):
    """Return points that are feasible and far from optimal."""
    d, w = np.full(game.m, 1.0 / game.m), np.zeros(game.n)
    return lambda tol, seconds: Points(d, w)


def refuses(game):
    raise ValueError("not today")

"""Run one solver on one game, in a process of its own.

The process appends its results to a file, one line of JSON each, so that its parent has those that
were written before a crash. An alarm of the kernel ends the process if a run exceeds its limit.
"""

from __future__ import annotations

import ctypes
import json
import math
import resource
import signal
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from benchmarks.solvers.peers import Peer, Points, peer_called
from benchmarks.solvers.suite import BenchGame
from relaxboost._core.errors import InputError
from relaxboost.game import bounds
from relaxboost.game.game import Game

WARM_UP_ROWS = {"general": (40,), "ours": (600, 5000)}
"""Rows of the games that are played first; our projections above 4096 rows have other kernels."""
WARM_UP_SECONDS = 2.0
PARENT_DIED = 1
"""PR_SET_PDEATHSIG of prctl(2)."""


def late_after(limit: float) -> float:
    """Return the seconds after which a run with a limit is killed: it may end by itself first."""
    return 1.05 * limit + 2.0


def cpu_seconds() -> float:
    """Return the user and system seconds of this process and its children."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(each.ru_utime + each.ru_stime for each in used)


def score(game: Game, found: Points) -> dict[str, Any]:
    """Return the bracket of the points that a solver found.

    A bound is None if the solver has no such point, or one that cannot be repaired.
    """
    scores: dict[str, Any] = {"lower": None, "upper": None}
    try:
        if found.w is not None:
            w = game.repair_w(found.w)
            scores["lower"] = bounds.evaluate_lower(game.matrix, game.relaxation, *w, game.over)[0]
        if found.d is not None:
            d = game.repair_d(found.d)
            upper = bounds.evaluate_upper(game.matrix, game.relaxation, d, game.over)
            scores["upper"] = upper if upper < math.inf else None
    except InputError as error:
        scores["unusable"] = str(error)
    return scores


def play(given: dict[str, Any], peer: Peer, say: Callable[..., None]) -> None:
    """Run a solver on a game, from the loosest tolerance until its bracket is narrow enough."""
    entry, tol, limit = BenchGame(**given["game"]), given["tol"], given["limit"]
    game = entry.game()
    say(m=game.m, n=game.n)
    tolerances = peer.ladder or (tol,)
    try:
        with suppress(Exception):  # an error in the warm-up returns in the run that counts
            for rows in WARM_UP_ROWS[peer.kind]:
                peer.prepare(entry.small(rows))(tolerances[0], WARM_UP_SECONDS)
        run = peer.prepare(game)
    except InputError as error:
        say(outcome="unfit", reason=str(error))
        return
    for effort in tolerances:
        signal.setitimer(signal.ITIMER_REAL, late_after(limit))
        wall = time.perf_counter()
        used = cpu_seconds()
        found = Points(*run(effort, limit))
        used = cpu_seconds() - used
        wall = time.perf_counter() - wall
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        point = {"effort": effort, "wall": wall, "cpu": used, **score(game, found)}
        say(point=point, memory=1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
        whole = point["lower"] is not None and point["upper"] is not None
        if wall >= limit or (whole and point["upper"] - point["lower"] <= tol):
            break
    say(outcome="limit" if wall >= 0.98 * limit else "ended", reason="")


def main() -> None:
    """Do what the arguments say: a description in JSON, and the file of the results."""
    given = json.loads(sys.argv[1])
    resource.setrlimit(resource.RLIMIT_AS, (int(given["memory"]), int(given["memory"])))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    with suppress(OSError, AttributeError):  # only Linux can end a process with its parent
        ctypes.CDLL(None).prctl(PARENT_DIED, signal.SIGKILL)

    def say(**what: Any) -> None:
        with open(sys.argv[2], "a") as results:
            results.write(json.dumps(what) + "\n")

    try:
        play(given, peer_called(given["peer"]), say)
    except MemoryError as error:
        say(outcome="memory", reason=str(error) or "the solver requested more than the limit")
    except Exception as error:
        say(outcome="crashed", reason=f"{type(error).__name__}: {error}")
        raise


if __name__ == "__main__":
    main()

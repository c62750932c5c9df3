"""One solver on one game, in a process of its own that may be killed at any time.

It says on a pipe, a line of JSON each, what it is doing: its parent holds it to its limits, and
whatever has been said by then is kept.
"""

from __future__ import annotations

import ctypes
import json
import math
import os
import resource
import signal
import sys
import time
from contextlib import suppress
from typing import Any

from relaxboost._core.errors import InputError
from relaxboost.game import bounds
from relaxboost.game.game import Game
from relaxboost.testing.bench.baselines import PeerPoints
from relaxboost.testing.bench.peers import Peer, peer_called
from relaxboost.testing.bench.suite import BenchGame

MOST_POINTS = 200
"""How many points of a history are kept."""
_WARM = (600, 5000)
"""Examples of games that warm our own solvers; projections of more than 4096 have own kernels."""
_PARENT_DIED = 1
"""PR_SET_PDEATHSIG of prctl(2)."""


def cpu() -> float:
    """Return user and system seconds of this process and its children."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(each.ru_utime + each.ru_stime for each in used)


def scored(game: Game, found: PeerPoints) -> dict[str, Any]:
    """Return the bracket of what a solver found; an end is None where its point is unusable."""
    score: dict[str, Any] = {"lower": None, "upper": None}
    try:
        if found.w is not None:
            w = game.repair_w(found.w)
            score["lower"] = bounds.evaluate_lower(game.matrix, game.relaxation, *w, game.over)[0]
        if found.d is not None:
            d = game.repair_d(found.d)
            upper = bounds.evaluate_upper(game.matrix, game.relaxation, d, game.over)
            score["upper"] = upper if upper < math.inf else None
    except InputError as error:
        score["unusable"] = str(error)
    return score


def play(given: dict[str, Any], peer: Peer, say: Any) -> None:
    """Run a solver on a game, from the loosest tolerance until its bracket is narrow enough."""
    entry, tol, limit = BenchGame(**given["game"]), given["tol"], given["limit"]
    game = entry.game()
    say(m=game.m, n=game.n)
    try:
        with suppress(Exception):  # what is compiled or loaded late is so before the clock starts
            for rows in (40,) if peer.kind == "general" else _WARM:
                peer.prepare(entry.small(rows))(peer.ladder[0] if peer.ladder else tol, 2.0)
        run = peer.prepare(game)
    except InputError as error:
        say(unfit=str(error))
        return
    for effort in peer.ladder or (tol,):
        say(begun=effort)
        wall, used = time.perf_counter(), cpu()
        found = PeerPoints(*run(effort, limit))
        wall, used = time.perf_counter() - wall, cpu() - used
        say(ended=effort)
        score = scored(game, found)
        points = [tuple(map(float, point)) for point in found.history]
        history = [point for point in points if math.isfinite(sum(point))]
        thin = history[:: len(history) // MOST_POINTS + 1]
        say(point={"effort": effort, "wall": wall, "cpu": used, **score}, history=thin)
        whole = score["lower"] is not None and score["upper"] is not None
        if (whole and score["upper"] - score["lower"] <= tol) or wall >= limit:
            return


def main() -> None:
    """Do what the command line says: a description in JSON, and the number of a pipe."""
    given = json.loads(sys.argv[1])
    resource.setrlimit(resource.RLIMIT_AS, (int(given["memory"]), int(given["memory"])))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    with suppress(OSError, AttributeError):  # Linux alone can tell it that its parent has died
        ctypes.CDLL(None).prctl(_PARENT_DIED, signal.SIGKILL)

    def say(**what: Any) -> None:
        os.write(int(sys.argv[2]), json.dumps(what).encode() + b"\n")

    try:
        play(given, peer_called(given["peer"]), say)
    except MemoryError as error:
        say(memory=str(error) or "it asked for more")
    except Exception as error:
        say(crashed=f"{type(error).__name__}: {error}")
        raise
    finally:
        say(done=True)


if __name__ == "__main__":
    main()

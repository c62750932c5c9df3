"""Run every solver on every game, each in a process that is killed if it exceeds its limits."""

from __future__ import annotations

import json
import math
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from benchmarks.solvers.cell import late_after
from benchmarks.solvers.peers import PEERS, Peer, peer_called
from benchmarks.solvers.suite import BenchGame
from relaxboost._core.errors import InputError
from relaxboost._core.files import write_atomically
from relaxboost._core.parameters import positive

ROOT = Path(__file__).parents[2]
SPARE_SECONDS = 300.0
"""Time for all that the clock does not count: loading, writing the program down, scoring."""
THREADS = (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "NUMBA_NUM_THREADS",
    "RAYON_NUM_THREADS",
)
MEMORY_ERRORS = ("bad_alloc", "MemoryError", "annot allocate memory", "out of memory")
Cell = dict[str, Any]
"""The result of one solver on one game; `outcome` says how the run ended."""


@dataclass(frozen=True)
class BenchLimits:
    """The limits of each run.

    `tol` is the certified gap to reach, `seconds` the wall clock of each run of a solver, `memory`
    the bytes of its address space, and `spare` the seconds for all that the clock does not count.
    On each game, a general solver stops at `race` times the seconds of the fastest one before it,
    and two more.
    """

    tol: float = 1e-6
    seconds: float = 60.0
    memory: float = 20e9
    spare: float = SPARE_SECONDS
    race: float = math.inf

    def __post_init__(self) -> None:
        for name, value in asdict(self).items():
            if name != "race" or value != math.inf:
                positive(name, value)

    def after(self, cell: Cell) -> BenchLimits:
        """Return the limits of the general solvers that follow."""
        if cell["kind"] != "general":
            return self
        proved = [p for p in cell["points"] if None not in (p["lower"], p["upper"])]
        walls = [p["wall"] for p in proved if p["upper"] - p["lower"] <= self.tol]
        return replace(self, seconds=min([self.seconds, *(self.race * w + 2.0 for w in walls)]))


def bench(
    games: Sequence[BenchGame],
    out: str | os.PathLike[str],
    peers: Sequence[str] = (),
    limits: BenchLimits | None = None,
    progress: Callable[[int, int, str], None] | None = None,
) -> Iterator[Cell]:
    """Yield the result of every solver on every game.

    A result that OUT holds is not computed again, unless the solver crashed, has more time than
    before, or is a user's whose file has changed.

    `peers` are names in `PEERS`, or ``module:function``; by default all of `PEERS`. `progress` is
    called with the number of finished results, the number of all, and the name of the next.

    A result has ``game``, ``peer``, ``kind``, ``outcome`` (ended, limit, memory, crashed, unfit,
    missing), ``reason``, ``points`` (effort, wall, cpu, lower, upper) and ``memory`` in bytes.

    Raises
    ------
    InputError
        If a solver is unknown or the folder cannot be written; this comes before any work.
    """
    chosen = [peer_called(name) for name in peers or PEERS]
    limits = limits or BenchLimits()
    folder = Path(out) / "cells"
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"{out} cannot hold results: {error}") from None
    for place, game in enumerate(games):
        left = limits
        for number, peer in enumerate(chosen, place * len(chosen)):
            if progress is not None:
                progress(number, len(games) * len(chosen), f"{game.name}, {peer.name}")
            cell = _cell(game, peer, folder, left if peer.kind == "general" else limits)
            left = left.after(cell)
            yield cell


def _cell(game: BenchGame, peer: Peer, folder: Path, limits: BenchLimits) -> Cell:
    """Return the stored result if it still holds, or a new one."""
    cell: Cell = {"game": game.name, "group": game.group, "peer": peer.name, "kind": peer.kind}
    lacking = game.missing or peer.missing
    if lacking:
        return {**cell, "outcome": "missing", "reason": lacking, "points": []}
    cell["key"] = [json.loads(game.key), peer.versions, limits.tol, limits.memory]
    cell["limit"] = limits.seconds
    path = folder / f"{game.name}--{peer.name.replace(':', '.')}.json"
    with suppress(OSError, ValueError, KeyError, TypeError):  # no file yet, or a damaged one
        stored = json.loads(path.read_text())
        short = stored["outcome"] == "limit" and stored["limit"] < limits.seconds
        if stored["key"] == cell["key"] and stored["outcome"] != "crashed" and not short:
            return dict(stored)
    cell |= _play(game, peer, limits)
    write_atomically(path, json.dumps(cell, indent=1).encode())
    return cell


def _play(game: BenchGame, peer: Peer, limits: BenchLimits) -> Cell:
    """Run a process, kill it if it is late, and return the result that it wrote."""
    task = {"game": asdict(game), "peer": peer.name, "tol": limits.tol}
    task |= {"limit": limits.seconds, "memory": limits.memory}
    paths = [str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])]
    environment = {**os.environ, **dict.fromkeys(THREADS, "1")}
    environment["PYTHONPATH"] = os.pathsep.join(paths)
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryFile() as errors:
        results = Path(folder, "results")
        results.touch()
        process = subprocess.Popen(
            [sys.executable, "-m", "benchmarks.solvers.cell", json.dumps(task), str(results)],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=errors,
            start_new_session=True,
            env=environment,
        )
        late = False
        try:
            # The process ends itself when a run is late; this is for one that cannot do so.
            process.wait(limits.spare + max(1, len(peer.ladder)) * late_after(limits.seconds))
        except subprocess.TimeoutExpired:
            late = True
        finally:  # also on Ctrl-C, the children of the process end with it
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            code = process.wait()
        errors.seek(max(0, errors.seek(0, os.SEEK_END) - 4000))
        said = errors.read().decode(errors="replace").strip().splitlines()[-1:]
        lines = [json.loads(line) for line in results.read_text().splitlines()]
    found: Cell = {"points": [line.pop("point") for line in lines if "point" in line]}
    for line in lines:
        found |= line
    if late or code == -signal.SIGALRM:
        found |= {"outcome": "limit", "reason": "killed past its limit"}
    elif "outcome" not in found:  # the process ended before it said that it was done
        why = signal.Signals(-code).name if code < 0 else f"exit status {code}"
        # The kernel sends SIGKILL if the machine has no memory left.
        short = code == -signal.SIGKILL or any(word in str(said) for word in MEMORY_ERRORS)
        found |= {"outcome": "memory" if short else "crashed", "reason": f"{why}; {said}"}
    return found

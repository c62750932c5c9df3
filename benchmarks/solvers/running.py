"""Every solver on every game, each in a process that is killed where it passes its limits."""

from __future__ import annotations

import json
import math
import os
import selectors
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from relaxboost._core.errors import InputError
from relaxboost._core.files import write_atomically
from relaxboost._core.parameters import positive
from relaxboost.testing.bench.peers import PEERS, Peer, peer_called
from relaxboost.testing.bench.suite import BenchGame

SPARE = 300.0
"""Seconds for what the clock does not count: loading, writing the program down, scoring."""
THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")
_NO_MEMORY = ("bad_alloc", "MemoryError", "annot allocate memory", "out of memory")
Cell = dict[str, Any]
"""What is known of one solver on one game; `outcome` says how it ended."""


@dataclass(frozen=True)
class BenchLimits:
    """What each run is held to.

    Parameters
    ----------
    tol : float
        The certified gap to reach.
    seconds : float
        Of wall clock, for each run of a solver.
    memory : float
        Bytes of address space.
    spare : float
        Seconds for all that is not the run itself.
    race : float
        On each game, a general solver is stopped at so many times the seconds of the fastest
        one before it, and two more; infinite to let each have its time.
    """

    tol: float = 1e-6
    seconds: float = 60.0
    memory: float = 20e9
    spare: float = SPARE
    race: float = math.inf

    def __post_init__(self) -> None:
        for name, value in asdict(self).items():
            if name != "race" or value != math.inf:
                positive(name, value)

    def after(self, cell: Cell) -> BenchLimits:
        """Return the limits of the general solvers that come after one."""
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
    """Yield what became of every solver on every game; what OUT holds already is not run again,
    but for what crashed and for solvers of your own whose file has changed.

    Parameters
    ----------
    games : sequence of BenchGame
        From `read_suite`.
    out : path
        A folder for the results, a file each, written whole or not at all.
    peers : sequence of str
        Names in `PEERS`, or ``module:function``; by default all of `PEERS`.
    limits : BenchLimits, optional
    progress : callable, optional
        Called with (finished, all, name of the next).

    Yields
    ------
    dict
        ``game``, ``peer``, ``kind``, ``outcome`` (ended, limit, memory, crashed, unfit, missing),
        ``reason``, ``points`` (effort, wall, cpu, lower, upper), ``history``, ``memory`` in bytes.

    Raises
    ------
    InputError
        For an unknown solver, or a folder that cannot be written, before any work.
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
    """Return the result that is kept, or a new one."""
    cell: Cell = {"game": game.name, "group": game.group, "peer": peer.name, "kind": peer.kind}
    cell |= {"points": [], "history": [], "reason": ""}
    if peer.missing or game.missing:
        reason = f"not installed: {peer.missing}" if peer.missing else game.missing
        return {**cell, "outcome": "missing", "reason": reason}
    cell["key"] = [json.loads(game.key), peer.versions, limits.tol, limits.memory]
    cell["limit"] = limits.seconds
    path = folder / f"{game.name}--{peer.name.replace(':', '.')}.json"
    with suppress(OSError, ValueError, KeyError, TypeError):
        kept = json.loads(path.read_text())
        again = kept["outcome"] == "crashed" or (
            kept["outcome"] == "limit" and kept["limit"] < limits.seconds
        )
        if kept["key"] == cell["key"] and not again:
            return dict(kept)
    cell |= _played(game, peer, limits)
    write_atomically(path, json.dumps(cell, indent=1).encode())
    return cell


def _played(game: BenchGame, peer: Peer, limits: BenchLimits) -> Cell:
    """Run a process, listen to it, kill it where it is late; return what became of it."""
    task = {"game": asdict(game), "peer": peer.name, "tol": limits.tol}
    task |= {"limit": limits.seconds, "memory": limits.memory}
    reader, writer = os.pipe()
    with tempfile.TemporaryFile() as errors:
        process = subprocess.Popen(
            [sys.executable, "-m", "relaxboost.testing.bench.cell", json.dumps(task), str(writer)],
            pass_fds=(writer,),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=errors,
            start_new_session=True,
            env={**os.environ, **dict.fromkeys(THREADS, "1")},
        )
        os.close(writer)
        try:
            found = _Listener(reader, limits).listen()
        finally:  # whatever it started goes with it, also on Ctrl-C
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            _, status, used = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
            os.close(reader)
        errors.seek(max(0, errors.seek(0, os.SEEK_END) - 4000))
        said = errors.read().decode(errors="replace").strip()
    found["memory"] = used.ru_maxrss * 1024
    if "outcome" not in found:  # it ended before it said that it was done
        code = process.returncode
        why = signal.Signals(-code).name if code < 0 else f"exit status {code}"
        # The kernel kills where memory runs out.
        short = code == -signal.SIGKILL or any(word in said for word in _NO_MEMORY)
        outcome = "memory" if short else "crashed"
        found |= {"outcome": outcome, "reason": f"{why}; {said.splitlines()[-1:]}"}
    return found


class _Listener:
    """Reads what a process says, and knows until when it may go on."""

    def __init__(self, reader: int, limits: BenchLimits) -> None:
        self._reader, self._limits = reader, limits
        self._found: Cell = {"points": [], "history": []}
        self._running = False
        self._due = time.monotonic() + limits.spare

    def listen(self) -> Cell:
        """Return what was said when the process was done, had closed its pipe, or was late."""
        rest = b""
        with selectors.DefaultSelector() as selector:
            selector.register(self._reader, selectors.EVENT_READ)
            while "outcome" not in self._found:
                if not selector.select(max(0.0, self._due - time.monotonic())):
                    late = "its limit" if self._running else "what is spare"
                    self._found |= {"outcome": "limit", "reason": f"killed past {late}"}
                    break
                more = os.read(self._reader, 1 << 20)
                if not more:
                    break
                *lines, rest = (rest + more).split(b"\n")
                for line in lines:
                    self._hear(json.loads(line))
        return self._found

    def _hear(self, said: Cell) -> None:
        limits = self._limits
        if "begun" in said or "ended" in said:
            self._running = "begun" in said
            wait = 1.05 * limits.seconds + 2.0 if self._running else limits.spare
            self._due = time.monotonic() + wait
        if "point" in said:
            self._found["points"].append(said["point"])
            self._found["history"] = said["history"]
        self._found |= {key: said[key] for key in ("m", "n") if key in said}
        for outcome in ("unfit", "memory", "crashed"):
            if outcome in said:
                self._found |= {"outcome": outcome, "reason": said[outcome]}
        if "done" in said:
            points = self._found["points"]
            late = points and points[-1]["wall"] >= 0.98 * limits.seconds
            self._found.setdefault("outcome", "limit" if late else "ended")
            self._found.setdefault("reason", "")

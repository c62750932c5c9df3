"""Many claims, checked or attacked in several processes; the results do not depend on how many.

The processes are those of joblib's loky. They are told the id of a claim, and the reader's file it
comes from, and load it themselves. The caller's own script is not run again, so that it needs no
``if __name__ == "__main__"``.
"""

from __future__ import annotations

import os
import re
import signal
import sys
import threading
import time
import traceback
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, wait
from contextlib import closing, contextmanager, redirect_stdout, suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, TypeAlias

from relaxboost._core.compiled import is_interrupt
from relaxboost._core.errors import InputError, MissingDependencyError
from relaxboost._core.parameters import count, natural
from relaxboost.claims import registry
from relaxboost.claims.claim import Claim, certificate_folder
from relaxboost.claims.verdict import ClaimVerdict

Progress: TypeAlias = Callable[[int, int, str], None]
"""Called with how many claims are finished, how many there are, and the id of the last."""
_INTERRUPT = getattr(signal, "SIGUSR1", None)
"""What tells a worker to end, and to say what it has found; Windows has nothing of the kind."""
_PATIENCE = 5.0
"""Seconds for that: one that is in compiled code for longer is ended."""
_STATE = {"working": False, "ended": False}
"""Of a worker: whether it is at a task, and whether it was told to end."""


@dataclass(frozen=True)
class Failure:
    """The error that a check of a claim ended in, in place of a verdict."""

    id: str
    error: str
    """The error in one line, with the instance at which it came."""
    trace: str = ""
    """The traceback."""

    status = "error"
    agrees = interrupted = False
    optima = 0

    def data(self) -> dict[str, Any]:
        """Return the failure as JSON has it."""
        return {"id": self.id, "status": self.status, "agrees": self.agrees, "error": self.error}

    def __str__(self) -> str:
        return f"{self.id}: error: {self.error}"


Outcome: TypeAlias = ClaimVerdict | Failure
Results: TypeAlias = Generator[tuple[Claim, Outcome], None, None]
Task: TypeAlias = tuple[str, str, str, dict[str, Any]]
"""File ("" for the claims built in), id, "check" or "attack", options."""


def check_all(
    claims: Iterable[Claim],
    trials: int | None = None,
    seed: int = 0,
    *,
    certificates: Path | str | None = None,
    jobs: int | None = None,
    progress: Progress | None = None,
) -> Results:
    """Check claims, and yield each with its verdict as soon as those before it are done.

    After Ctrl-C it yields what else is finished, and what those that run have found, and ends.

    Parameters
    ----------
    claims : iterable of Claim
    trials : int, optional
        Instances for each; by default as many as each claim says.
    seed : int
    certificates : path, optional
        A folder for the certificate of every optimum used.
    jobs : int, optional
        Processes; by default 2, or 1 where there is one core only. The results do not depend on
        it. Claims that are neither built in nor from a file are checked in this process.
    progress : callable, optional
        Called with (finished, all, id of the last one finished).

    Yields
    ------
    (Claim, ClaimVerdict or Failure)
        A failure where the check raised an error or took its process down.

    Raises
    ------
    MissingDependencyError
        Where a check needs a library that is not installed.
    """
    if trials is not None:
        count("trials", trials)
    if certificates is not None:
        certificate_folder(certificates)
    options = {"trials": trials, "seed": natural("seed", seed), "certificates": certificates}
    return _run(list(claims), "check", options, jobs, progress)


def attack_all(
    claims: Iterable[Claim],
    budget: int = 2000,
    seed: int = 0,
    *,
    jobs: int | None = None,
    progress: Progress | None = None,
) -> Results:
    """Attack claims; yield each with its verdict, as `check_all` does.

    Parameters
    ----------
    claims : iterable of Claim
    budget : int
        Instances to try for each statement.
    seed : int
    jobs, progress
        As for `check_all`.

    Yields
    ------
    (Claim, ClaimVerdict or Failure)
    """
    options = {"budget": count("budget", budget), "seed": natural("seed", seed)}
    return _run(list(claims), "attack", options, jobs, progress)


def _run(
    claims: list[Claim],
    action: str,
    options: dict[str, Any],
    jobs: int | None,
    progress: Progress | None,
) -> Results:
    jobs = min(2, os.cpu_count() or 1) if jobs is None else count("jobs", jobs)
    jobs = min(jobs, len(claims))
    tell = progress or (lambda finished, total, id: None)
    own = {id(claim) for claim in claims if claim.file is None}  # those in files a worker can find
    if jobs > 1 and (not own or own <= {id(claim) for claim in registry.all()}):
        tasks = [(str(claim.file or ""), claim.id, action, options) for claim in claims]
        return _elsewhere(claims, tasks, jobs, tell)
    return _here(claims, action, options, tell)


def _here(claims: list[Claim], action: str, options: dict[str, Any], tell: Progress) -> Results:
    for number, claim in enumerate(claims, 1):
        try:
            outcome = attempt(claim, action, options)
        except KeyboardInterrupt:
            return
        if not outcome.interrupted:
            tell(number, len(claims), claim.id)
        yield claim, outcome
        if outcome.interrupted:
            return


def _elsewhere(claims: list[Claim], tasks: list[Task], jobs: int, tell: Progress) -> Results:
    yielded = 0
    with closing(_Workers(tasks, jobs)) as workers:
        found = workers.found
        try:
            for number in workers.finished():
                tell(len(found), len(claims), claims[number].id)
                while yielded in found:
                    yielded += 1
                    yield claims[yielded - 1], found[yielded - 1]
        except KeyboardInterrupt:
            workers.interrupt()
    for number in sorted(found):
        if number >= yielded:
            yield claims[number], found[number]


class _Workers:
    """Processes that do tasks; each is a pool of its own: one that dies takes no other task along.

    Parameters
    ----------
    tasks : list of Task
    jobs : int
        How many there are at a time.
    """

    def __init__(self, tasks: list[Task], jobs: int) -> None:
        self.found: dict[int, Outcome] = {}
        """The outcomes so far, by the number of the task."""
        self._tasks, self._waiting, self._jobs = tasks, iter(enumerate(tasks)), jobs
        self._pools: dict[int, tuple[Any, Future[int]]] = {}
        """By the place of a process; and the id that it has, once it is there."""
        self._running: dict[Future[Outcome | None], tuple[int, int]] = {}
        """The number of the task, and the place."""

    def finished(self) -> Iterator[int]:
        """Yield the numbers of tasks, in the order in which they are done."""
        for place in range(self._jobs):
            self._start(place)
        while self._running:
            for future in wait(self._running, return_when=FIRST_COMPLETED).done:
                number, place = self._running[future]
                error = future.exception()
                if isinstance(error, MissingDependencyError):
                    raise error
                outcome = _died(self._tasks[number], error) if error else future.result()
                if outcome is not None:
                    self.found[number] = outcome
                del self._running[future]
                if error is not None:
                    self._pools.pop(place)[0].shutdown(kill_workers=True)
                self._start(place)
                yield number

    def _start(self, place: int) -> None:
        for number, task in self._waiting:
            pool, id = self._pools.get(place, (None, None))
            pool = pool or _pool()
            with _no_interrupts():
                self._pools[place] = pool, id or pool.submit(os.getpid)
                future = pool.submit(perform, task)
                self._running[future] = number, place
                while not (future.running() or future.done()):
                    time.sleep(0.001)  # a pool that is stopped must have begun its task
            return

    def interrupt(self) -> None:
        """End what runs, and wait a while for what it has found."""
        asked = []
        with suppress(KeyboardInterrupt):  # whoever presses twice waits no longer
            for future, (_, place) in self._running.items():
                id = self._pools[place][1]
                if _INTERRUPT is not None and id.done() and id.exception() is None:
                    with suppress(ProcessLookupError):  # it has died
                        os.kill(id.result(), _INTERRUPT)
                        asked.append(future)
            wait(asked, timeout=_PATIENCE)
        for future in filter(Future.done, asked):
            outcome = None if future.exception() else future.result()
            if outcome is not None:
                self.found[self._running[future][0]] = outcome

    def close(self) -> None:
        """End the processes, with what they do."""
        for pool, _ in self._pools.values():
            pool.shutdown(kill_workers=True)


def _pool() -> Any:
    """Return a pool with one worker process, which is started when a task is submitted."""
    from multiprocessing import resource_tracker

    from joblib.externals.loky import ProcessPoolExecutor
    from joblib.externals.loky.backend import resource_tracker as loky_tracker

    # A tracker that starts lets Ctrl-C through again: it must not start between the block of
    # `_no_interrupts` and the process that is to inherit it.
    loky_tracker.ensure_running()
    resource_tracker.ensure_running()
    # Modules are looked for where this process looks, never in the folder it was started in.
    env = {"PYTHONSAFEPATH": "1"}
    return ProcessPoolExecutor(1, initializer=_begin, initargs=(os.getpid(),), env=env)


def _begin(parent: int) -> None:
    """Make a new process leave Ctrl-C and standard output to the one that started it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if _INTERRUPT is not None:
        signal.signal(_INTERRUPT, _interrupted)
    os.dup2(2, 1)  # what a check prints is no outcome
    threading.Thread(target=_end_with, args=(parent,), daemon=True).start()


def _end_with(parent: int) -> None:
    """End this process, in the middle of a check too, when nobody is left to ask."""
    while os.getppid() == parent:
        time.sleep(0.5)
    os._exit(1)


@contextmanager
def _no_interrupts() -> Iterator[None]:
    """Hold Ctrl-C back; processes and threads that are started meanwhile never see it."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _died(task: Task, error: BaseException) -> Failure:
    """Return the failure of a task whose process ended; loky tells the status in words only."""
    status = re.search(r"\((-?\d+)\)\}", str(error))
    return Failure(task[1], f"its process ended with {f'status {status[1]}' if status else error}")


def attempt(claim: Claim, action: str, options: dict[str, Any]) -> Outcome:
    """Return the verdict of a claim, or the failure that came in its place."""
    try:
        with redirect_stdout(sys.stderr):  # what a check prints is no outcome
            return claim.check(**options) if action == "check" else claim.attack(**options)
    except MissingDependencyError:  # of the installation: it says nothing about the claim
        raise
    except (Exception, SystemExit) as error:
        if is_interrupt(error):
            raise KeyboardInterrupt from None
        return _failure(claim.id, error)


def perform(task: Task) -> Outcome | None:
    """Do what a worker is told; return None where that is interrupted with nothing to tell."""
    try:
        _STATE["working"] = True
        return None if _STATE["ended"] else _perform(task)
    except KeyboardInterrupt:
        return None
    finally:
        _STATE["working"] = False


def _interrupted(number: int, frame: object) -> None:
    """End what this worker does, and do nothing more."""
    again, _STATE["ended"] = _STATE["ended"], True
    if _STATE["working"] and not again:
        raise KeyboardInterrupt


def _perform(task: Task) -> Outcome:
    file, id, action, options = task
    try:
        claim = registry.get(id) if not file else _load(file).get(id)
        if claim is None:
            raise InputError(f"{file} has no claim {id!r} any more")
    except Exception as error:
        return _failure(id, error)
    return attempt(claim, action, options)


@cache
def _load(file: str) -> dict[str, Claim]:
    return {claim.id: claim for claim in registry.load(file)}


def _failure(id: str, error: BaseException) -> Failure:
    notes = "; ".join(getattr(error, "__notes__", ()))
    text = f"{type(error).__name__}: {error}" + (f" ({notes})" if notes else "")
    return Failure(id, text, "".join(traceback.format_exception(error)))

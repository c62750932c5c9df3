"""Many claims, checked or attacked in several processes; the results do not depend on how many.

The processes are Python with `relaxboost.claims.worker`: they are told the id of a claim, and the
reader's file it comes from, and load it themselves. The caller's own script is not run again, so
that it needs no ``if __name__ == "__main__"``.
"""

from __future__ import annotations

import contextlib
import os
import pickle
import queue
import signal
import subprocess
import sys
import threading
import traceback
from collections.abc import Callable, Generator, Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, TypeAlias

from relaxboost.claims import registry
from relaxboost.claims.checking import made
from relaxboost.claims.claim import Claim
from relaxboost.claims.verdict import Verdict
from relaxboost.errors import InputError
from relaxboost.parameters import count, natural

Progress: TypeAlias = Callable[[int, int, str], None]
"""Called with how many claims are finished, how many there are, and the id of the last."""


@dataclass(frozen=True)
class Failure:
    """What comes in place of a verdict where the check of a claim ended in an error."""

    id: str
    error: str
    """The error in one line, with the instance at which it came."""
    trace: str = ""
    """The traceback."""

    status = "error"
    agrees = False

    def data(self) -> dict[str, Any]:
        """Return the failure as JSON has it."""
        return {"id": self.id, "status": self.status, "agrees": self.agrees, "error": self.error}

    def __str__(self) -> str:
        return f"{self.id}: error: {self.error}"


Outcome: TypeAlias = Verdict | Failure
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
    """Check claims; yield each with its verdict, in the order given, as soon as can be.

    After Ctrl-C it yields what else is finished and ends early.

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
    (Claim, Verdict or Failure)
        A failure where the check raised an error or took its process down.
    """
    if trials is not None:
        count("trials", trials)
    if certificates is not None:
        made(certificates)
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
    (Claim, Verdict or Failure)
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
    if jobs > 1:
        tasks = [_task(claim, action, options) for claim in claims]
        known = [task for task in tasks if task is not None]
        if len(known) == len(claims):
            return _elsewhere(claims, known, jobs, tell)
    return _here(claims, action, options, tell)


def _task(claim: Claim, action: str, options: dict[str, Any]) -> Task | None:
    """Return what a worker is told; None for a claim that it could not find."""
    if claim.file is not None:
        return str(claim.file), claim.id, action, options
    built_in = any(claim is known for known in registry.all())
    return ("", claim.id, action, options) if built_in else None


def _here(claims: list[Claim], action: str, options: dict[str, Any], tell: Progress) -> Results:
    for number, claim in enumerate(claims, 1):
        try:
            outcome = attempt(claim, action, options)
        except KeyboardInterrupt:
            return
        tell(number, len(claims), claim.id)
        yield claim, outcome


def _elsewhere(claims: list[Claim], tasks: list[Task], jobs: int, tell: Progress) -> Results:
    found: dict[int, Outcome] = {}
    yielded = 0
    with _crew(tasks, jobs) as answers:
        try:
            while len(found) < len(claims):
                number, outcome = answers.get()
                found[number] = outcome
                tell(len(found), len(claims), claims[number].id)
                while yielded in found:
                    yielded += 1
                    yield claims[yielded - 1], found[yielded - 1]
        except KeyboardInterrupt:
            pass
    for number in sorted(found):
        if number >= yielded:
            yield claims[number], found[number]


@contextlib.contextmanager
def _crew(tasks: list[Task], jobs: int) -> Iterator[queue.SimpleQueue[tuple[int, Outcome]]]:
    """Give a queue of (number of the task, outcome), filled by a thread for each process."""
    waiting: queue.SimpleQueue[int] = queue.SimpleQueue()
    answers: queue.SimpleQueue[tuple[int, Outcome]] = queue.SimpleQueue()
    for number in range(len(tasks)):
        waiting.put(number)
    members = [_Member(tasks, waiting, answers) for _ in range(jobs)]
    for member in members:
        member.start()
    try:
        yield answers
    finally:
        for member in members:
            member.stop()
        for member in members:
            member.join()


class _Member(threading.Thread):
    """A thread that hands tasks to a process of its own, and starts another when that one dies."""

    def __init__(
        self,
        tasks: list[Task],
        waiting: queue.SimpleQueue[int],
        answers: queue.SimpleQueue[tuple[int, Outcome]],
    ) -> None:
        super().__init__(daemon=True)
        self.tasks, self.waiting, self.answers = tasks, waiting, answers
        self.process: subprocess.Popen[bytes] | None = None
        self.stopped = False
        self.lock = threading.Lock()

    def run(self) -> None:
        """Work until nothing is left."""
        if hasattr(signal, "pthread_sigmask"):  # the process inherits it: Ctrl-C is for us
            signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        while not self.stopped:
            try:
                number = self.waiting.get_nowait()
            except queue.Empty:
                return self.stop()
            outcome = self._ask(self.tasks[number])
            if not self.stopped:
                self.answers.put((number, outcome))

    def stop(self) -> None:
        """End the process, whatever it is doing; start no other."""
        with self.lock:
            self.stopped = True
            self._end()

    def _ask(self, task: Task) -> Outcome:
        try:
            with self.lock:
                if self.process is None and not self.stopped:
                    self.process = _start()
                process = self.process
            assert process is not None
            assert process.stdin is not None
            assert process.stdout is not None
            pickle.dump(task, process.stdin)
            process.stdin.flush()
            answer: Outcome = pickle.load(process.stdout)
            return answer
        except Exception as error:  # it died, or was stopped
            with self.lock:
                status = self._end()
            why = f"status {status}" if status is not None else str(error)
            return Failure(task[1], f"its process ended with {why}")

    def _end(self) -> int | None:
        process, self.process = self.process, None
        if process is None:
            return None
        try:  # what has died by itself says how; nothing is lost of what still runs
            status = process.wait(0.0 if self.stopped else 1.0)
        except subprocess.TimeoutExpired:
            process.kill()
            status = process.wait()
        for stream in (process.stdin, process.stdout):
            if stream is not None:
                with contextlib.suppress(OSError):
                    stream.close()
        return status


def _start() -> subprocess.Popen[bytes]:
    """Return a process that looks for modules where this one does."""
    return subprocess.Popen(
        [sys.executable, "-P", "-m", "relaxboost.claims.worker"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )


def attempt(claim: Claim, action: str, options: dict[str, Any]) -> Outcome:
    """Return the verdict of a claim, or the failure that came in its place."""
    try:
        verdict: Verdict = getattr(claim, action)(**options)
    except Exception as error:
        return _failure(claim.id, error)
    return verdict


def perform(task: Task) -> Outcome:
    """Do what a worker is told."""
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


def _failure(id: str, error: Exception) -> Failure:
    notes = "; ".join(getattr(error, "__notes__", ()))
    text = f"{type(error).__name__}: {error}" + (f" ({notes})" if notes else "")
    return Failure(id, text, "".join(traceback.format_exception(error)))

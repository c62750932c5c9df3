"""Checks of many claims, and attacks on many claims, in several processes.

The number of processes does not change the results.
"""

import os
import signal
import sys
import threading
import traceback
import warnings
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager, redirect_stdout
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
"""A progress callback with three arguments: the number of finished claims, the number of all
claims, and the id of the claim that finished last."""


@dataclass(frozen=True)
class Failure:
    """An error that ended a check. `check_all` and `attack_all` yield it instead of a verdict."""

    id: str
    error: str
    """The error message on one line, with the instance on which the error occurred."""
    trace: str = ""
    """The traceback of the error."""

    status = "error"
    agrees = interrupted = False
    optima = 0

    def data(self) -> dict[str, Any]:
        """Return the failure in a form that JSON can store."""
        return {"id": self.id, "status": self.status, "agrees": self.agrees, "error": self.error}

    def __str__(self) -> str:
        return f"{self.id}: error: {self.error}"


Outcome: TypeAlias = ClaimVerdict | Failure
Results: TypeAlias = Generator[tuple[Claim, Outcome], None, None]
Task: TypeAlias = tuple[str, str, str, dict[str, Any]]
"""A task for a worker process: the user's file ("" for a built-in claim), the claim id, the action
("check" or "attack"), and the options of the action."""


def check_all(
    claims: Iterable[Claim],
    trials: int | None = None,
    seed: int = 0,
    *,
    certificates: Path | str | None = None,
    jobs: int | None = None,
    progress: Progress | None = None,
) -> Results:
    """Check claims, and yield each claim with its verdict, in the given order.

    A verdict is yielded as soon as the verdicts on all earlier claims are known. After Ctrl-C, the
    generator yields the other finished verdicts, and then it ends. With one job, it also yields the
    partial verdict of the claim that was interrupted.

    Parameters
    ----------
    claims : iterable of Claim
        The claims to check, such as the values of `claims.all()`.
    trials : int, optional
        The number of drawn instances for each claim. By default it is the `trials` of the claim.
    seed : int
        The seed of the instances, an integer as in `Claim.check`.
    certificates : path, optional
        A folder to which the certificate of every optimum is saved.
    jobs : int, optional
        The number of processes. By default it is 2, or 1 on a machine with one core. The results do
        not depend on this number. If a claim is neither built in nor from a file, all claims are
        checked in this process.
    progress : callable, optional
        A function that is called after each claim with three arguments: the number of finished
        claims, the total number of claims, and the id of the claim that has finished.

    Yields
    ------
    (Claim, ClaimVerdict or Failure)
        The second entry is a `Failure` if the check raised an error. If a process dies, every
        claim that has no verdict yet has a `Failure`.

    Raises
    ------
    MissingDependencyError
        If a check needs a library that is not installed.
    """
    if trials is not None:
        count("trials", trials)
    if certificates is not None:
        # The path is made absolute, because joblib may reuse a worker that was started in another
        # working directory.
        certificates = certificate_folder(certificates).resolve()
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
    """Search for counterexamples, and yield each claim with its verdict, in the given order.

    Parameters
    ----------
    claims : iterable of Claim
        The claims to attack.
    budget : int
        The number of instances to try for each statement.
    seed : int
        The seed of the search, an integer as in `Claim.attack`.
    jobs : int, optional
        The number of processes, as for `check_all`.
    progress : callable, optional
        A function that is called after each claim, as for `check_all`.
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
    # A worker process finds only built-in claims and those of files.
    own = {id(claim) for claim in claims if claim.file is None}
    if jobs > 1 and (not own or own <= {id(claim) for claim in registry.all()}):
        tasks = [
            (str(claim.file.resolve()) if claim.file else "", claim.id, action, options)
            for claim in claims
        ]
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
    from joblib import Parallel, delayed  # The import is here because joblib loads slowly.

    found: dict[int, Outcome] = {}
    yielded = 0
    pool = Parallel(jobs, backend="loky", batch_size=1, return_as="generator_unordered")
    with _ctrl_c_ignored():
        answers = pool(delayed(_perform)(number, task) for number, task in enumerate(tasks))
    try:
        for number, outcome in answers:
            if outcome.interrupted:
                break
            found[number] = outcome
            tell(len(found), len(claims), claims[number].id)
            while yielded in found:
                yielded += 1
                yield claims[yielded - 1], found[yielded - 1]
    except KeyboardInterrupt:
        pass  # The claims that have finished are yielded below.
    except BrokenProcessPool:
        lost = "a worker process died; run with --jobs 1 to see which claim ends it"
        found = {n: found.get(n, Failure(claim.id, lost)) for n, claim in enumerate(claims)}
    finally:
        with warnings.catch_warnings():
            # The warning of joblib that it kills workers is suppressed.
            warnings.simplefilter("ignore")
            answers.close()
    for number in sorted(found):
        if number >= yielded:
            yield claims[number], found[number]


@contextmanager
def _ctrl_c_ignored() -> Iterator[None]:
    """Ignore Ctrl-C within this context, and in all processes that start in it.

    Only the main process reacts to Ctrl-C and ends its workers. Otherwise a worker that is
    interrupted between two tasks would print a traceback.
    """
    before = signal.getsignal(signal.SIGINT)
    # Only the main thread may change a handler, and `before` is None if it is not of Python.
    if before is None or threading.current_thread() is not threading.main_thread():
        yield
        return
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def attempt(claim: Claim, action: str, options: dict[str, Any]) -> Outcome:
    """Check or attack a claim. Return the verdict, or a `Failure` if the check raised an error."""
    try:
        # Output of a check goes to standard error, so that it does not mix with the verdicts on
        # standard output.
        with redirect_stdout(sys.stderr):
            return claim.check(**options) if action == "check" else claim.attack(**options)
    # A missing library says nothing about the claim, so that the error is raised and not recorded
    # as a failure.
    except MissingDependencyError:
        raise
    except (Exception, SystemExit) as error:
        if is_interrupt(error):
            raise KeyboardInterrupt from None
        return _failure(claim.id, error)


def _perform(number: int, task: Task) -> tuple[int, Outcome]:
    file, id, action, options = task
    try:
        claim = _load(file, os.stat(file).st_mtime_ns).get(id) if file else registry.get(id)
        if claim is None:
            raise InputError(f"{file} no longer defines the claim {id!r}")
    except Exception as error:
        return number, _failure(id, error)
    return number, attempt(claim, action, options)


@cache
def _load(file: str, modified: int) -> dict[str, Claim]:
    return {claim.id: claim for claim in registry.load(file)}


def _failure(id: str, error: BaseException) -> Failure:
    notes = "; ".join(getattr(error, "__notes__", ()))
    text = f"{type(error).__name__}: {error}" + (f" ({notes})" if notes else "")
    return Failure(id, text, "".join(traceback.format_exception(error)))

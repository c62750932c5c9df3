"""A pool of worker processes that check claims in parallel.

Each worker process has one pipe for its tasks and one pipe for its answers. It does not rerun the
script of the caller, which therefore needs no ``if __name__ == "__main__"`` block.
"""

import os
import pickle
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, as_completed, wait
from contextlib import suppress
from queue import SimpleQueue
from threading import Lock, Thread
from typing import Any, BinaryIO

_INTERRUPT = getattr(signal, "SIGUSR1", None)
"""The signal that makes a worker process interrupt its task. On Windows it is None."""
SECONDS_TO_ANSWER = 5.0
"""The number of seconds that the parent process waits after Ctrl-C for the results so far of its
worker processes. The results of slower workers are lost."""
# The worker imports modules from the paths of the parent, never from its working directory.
_START = """
import os, pickle, sys
tasks = open(os.dup(0), "rb")
sys.path[:] = pickle.load(tasks)
from relaxboost.claims.processes import serve
serve(pickle.load(tasks), tasks)
"""


class Died(Exception):
    """Raised when the worker process of a task has ended without an answer."""


class Processes:
    """A pool of `jobs` worker processes that apply a picklable `function` to tasks.

    If a worker process dies, only its current task is lost.
    """

    def __init__(self, function: Callable[[Any], Any], tasks: Sequence[Any], jobs: int) -> None:
        self._function = function
        self._lock = Lock()
        self._closed = False
        self._all: list[subprocess.Popen[bytes]] = []
        self._idle: list[subprocess.Popen[bytes]] = []
        # One thread waits for the answers of each worker. A worker inherits the blocked signals of
        # its thread.
        self._threads = ThreadPoolExecutor(jobs, initializer=_block, initargs=(True,))
        self._numbers = {
            self._threads.submit(self._do, task): number for number, task in enumerate(tasks)
        }

    def answers(self) -> Iterator[tuple[int, Future[Any]]]:
        """Yield the number and the future of each task, in the order in which the tasks finish.

        The future raises the exception of the function, or `Died` if the worker process has died.
        """
        for future in as_completed(self._numbers):
            yield self._numbers[future], future

    def interrupt(self) -> Iterator[tuple[int, Any]]:
        """Raise KeyboardInterrupt in all workers. Yield the number and the answer of each task.

        Tasks of workers that do not answer in time are left out.
        """
        self._stop()
        # Compiled code cannot be interrupted, so the wait has a limit.
        with suppress(KeyboardInterrupt):  # A second Ctrl-C ends the wait.
            if _INTERRUPT is not None:
                for process in self._all:
                    process.send_signal(_INTERRUPT)
            wait([future for future in self._numbers if future.running()], SECONDS_TO_ANSWER)
        for future, number in self._numbers.items():
            if future.done() and not future.cancelled() and not future.exception():
                yield number, future.result()

    def close(self) -> None:
        """Kill all worker processes together with the tasks that they run."""
        self._stop()
        for process in self._all:
            process.kill()
        self._threads.shutdown()
        for process in self._all:
            process.__exit__(None, None, None)  # This waits for it, and closes its pipes.

    def _stop(self) -> None:
        with self._lock:  # After this, `_do` starts no process.
            self._closed = True
        self._threads.shutdown(wait=False, cancel_futures=True)

    def _do(self, task: Any) -> Any:
        with self._lock:
            if self._closed:
                raise Died
            if self._idle:
                process = self._idle.pop()
            else:
                process = _started(self._function)
                self._all.append(process)
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            os.write(process.stdin.fileno(), pickle.dumps(task))
            raised, answer = pickle.load(process.stdout)
        except (OSError, EOFError, pickle.UnpicklingError):
            raise Died(f"its worker process ended with status {process.wait()}") from None
        self._idle.append(process)
        if raised:
            raise answer
        return answer


def _started(function: Callable[[Any], Any]) -> subprocess.Popen[bytes]:
    pipe = subprocess.PIPE
    process = subprocess.Popen([sys.executable, "-P", "-c", _START], stdin=pipe, stdout=pipe)
    assert process.stdin is not None
    os.write(process.stdin.fileno(), pickle.dumps(sys.path) + pickle.dumps(function))
    return process


def _block(blocked: bool) -> None:
    # In this thread, block or unblock Ctrl-C and the signal that interrupts workers.
    if _INTERRUPT is not None:
        how = signal.SIG_BLOCK if blocked else signal.SIG_UNBLOCK
        signal.pthread_sigmask(how, {signal.SIGINT, _INTERRUPT})


def serve(function: Callable[[Any], Any], tasks: BinaryIO) -> None:
    """Run tasks in this worker process until the parent process ends."""
    answers = os.dup(1)
    os.dup2(2, 1)  # What a task prints goes to standard error.
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    waiting: SimpleQueue[Any] = SimpleQueue()
    Thread(target=_receive, args=(tasks, waiting), daemon=True).start()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if _INTERRUPT is not None:
        signal.signal(_INTERRUPT, signal.default_int_handler)
    # The interrupt signal is blocked except during a task. So a task that is about to start
    # receives it.
    with suppress(KeyboardInterrupt):
        while True:
            task = waiting.get()
            try:
                _block(False)
                answer = False, function(task)
            except BaseException as error:
                answer = True, error
            _block(True)
            with open(answers, "wb", closefd=False) as pipe:
                pickle.dump(answer, pipe)


def _receive(tasks: BinaryIO, waiting: SimpleQueue[Any]) -> None:
    try:
        while True:
            waiting.put(pickle.load(tasks))
    finally:
        # The parent process has ended, so this process ends too, even during a task.
        os._exit(1)

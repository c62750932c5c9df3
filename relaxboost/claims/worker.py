"""A process that checks claims for another one: tasks from standard input, outcomes to the output.

Run by `relaxboost.claims.running`.
"""

from __future__ import annotations

import os
import pickle
import queue
import signal
import threading
from typing import Any, BinaryIO


def main() -> None:
    """Do one task after the other until there are no more."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the process that started this one sees to it
    tasks, outcomes = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)  # a check that reads must not read tasks
    os.dup2(2, 1)  # what a check prints is no outcome
    waiting: queue.SimpleQueue[Any] = queue.SimpleQueue()
    threading.Thread(target=_listen, args=(tasks, waiting), daemon=True).start()
    from relaxboost.claims.running import perform

    while True:
        pickle.dump(perform(waiting.get()), outcomes)
        outcomes.flush()


def _listen(tasks: BinaryIO, waiting: queue.SimpleQueue[Any]) -> None:
    """Pass tasks on; end this process, in the middle of a check too, when nobody is left to ask."""
    try:
        while True:
            waiting.put(pickle.load(tasks))
    finally:
        os._exit(1)


if __name__ == "__main__":
    main()

"""A process that checks claims for another one: tasks from standard input, outcomes to the output.

Run by `relaxboost.claims.running`.
"""

from __future__ import annotations

import os
import pickle
import signal
import sys


def main() -> None:
    """Do one task after the other until there are no more."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the process that started this one sees to it
    outcomes = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what a check prints is no outcome
    from relaxboost.claims.running import perform

    while True:
        try:
            task = pickle.load(sys.stdin.buffer)
        except EOFError:
            return
        pickle.dump(perform(task), outcomes)
        outcomes.flush()


if __name__ == "__main__":
    main()

"""The command line: `cli` puts it together, each verb has a file of its own."""

import os
import signal
import sys


def main() -> None:
    """Load the command line and run it; Ctrl-C while it loads ends with one line too.

    SIGTERM is taken as Ctrl-C: a run ends with the best bracket so far.
    """
    _terminate_like_interrupt()
    try:
        from relaxboost.commands import cli
    except KeyboardInterrupt:
        sys.stderr.write("relaxboost: interrupted before there was anything to report\n")
        sys.stderr.flush()
        os._exit(130)  # at once: libraries that are half loaded may fail in the end
    cli.main()


def _terminate_like_interrupt() -> None:
    """Let SIGTERM raise KeyboardInterrupt in this process; in a fork it ends it, as always."""
    owner = os.getpid()

    def handle(number: int, frame: object) -> None:
        if os.getpid() == owner:
            raise KeyboardInterrupt
        signal.signal(number, signal.SIG_DFL)
        os.kill(os.getpid(), number)

    if signal.getsignal(signal.SIGTERM) is signal.SIG_DFL:
        signal.signal(signal.SIGTERM, handle)

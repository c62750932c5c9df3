"""The command line. The module `cli` lists the commands, and each command has its own module."""

import os
import signal
import sys


def main() -> None:
    """Load and run the command line. SIGTERM has the same effect as Ctrl-C."""
    _terminate_like_interrupt()
    try:
        from relaxboost.commands import cli
    except KeyboardInterrupt:
        sys.stderr.write("relaxboost: interrupted before there was anything to report\n")
        sys.stderr.flush()
        # The process ends without clean-up, because libraries that are only partly loaded may fail
        # in it.
        os._exit(130)
    cli.main()


def _terminate_like_interrupt() -> None:
    # In forked processes SIGTERM keeps its default effect and ends the process.
    # A forked process inherits the handler, but only the process of the command should print a
    # result.
    owner = os.getpid()

    def handle(number: int, frame: object) -> None:
        if os.getpid() == owner:
            raise KeyboardInterrupt
        signal.signal(number, signal.SIG_DFL)
        os.kill(os.getpid(), number)

    if signal.getsignal(signal.SIGTERM) is signal.SIG_DFL:
        signal.signal(signal.SIGTERM, handle)

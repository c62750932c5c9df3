"""The command line: `cli` puts it together, each verb has a file of its own."""

import os
import sys


def main() -> None:
    """Load the command line and run it; Ctrl-C while it loads ends with one line too."""
    try:
        from relaxboost.commands import cli
    except KeyboardInterrupt:
        sys.stderr.write("relaxboost: interrupted before there was anything to report\n")
        sys.stderr.flush()
        os._exit(130)  # at once: libraries that are half loaded may fail in the end
    cli.main()

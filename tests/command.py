"""The command line, in this process."""

from __future__ import annotations

from typing import Any

from relaxboost.commands.cli import main


def run(capture: Any, *words: Any) -> tuple[int, str, str]:
    """Run a command; return its status, and what pytest's `capsys` or `capfd` has of it."""
    status: Any = 0
    try:
        main([str(word) for word in words])
    except SystemExit as ended:
        status = ended.code
    return status or 0, *capture.readouterr()

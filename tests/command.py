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


def refused(capture: Any, message: str, *words: Any) -> None:
    """Check that a command ends with 2, and one line that has the message."""
    status, out, err = run(capture, *words)
    assert (status, out) == (2, "")
    assert message in err
    assert err.startswith("relaxboost: ")
    assert err.count("\n") == 1

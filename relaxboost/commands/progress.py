"""Progress on a terminal."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import click


@contextmanager
def bar(label: str) -> Iterator[Callable[[int, int, str], None]]:
    """Give what shows progress on a terminal (standard error), and nothing elsewhere."""
    if not sys.stderr.isatty():
        yield lambda done, total, name: None
        return
    with click.progressbar(length=1, label=label, file=sys.stderr, item_show_func=_shown) as shown:

        def show(done: int, total: int, name: str) -> None:
            shown.length = total
            shown.update(done - shown.pos, name)

        yield show


def _shown(name: str | None) -> str:
    return name or ""

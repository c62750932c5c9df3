"""Progress on a terminal."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

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


@contextmanager
def closing(label: str, tol: float) -> Iterator[Callable[[Any], None]]:
    """Give a callback that shows how a bracket closes on a terminal, and nothing elsewhere.

    A gap falls by factors, so the bar shows how many digits of those between 1 and `tol` are done.
    """
    if not sys.stderr.isatty():
        yield lambda step: None
        return
    best, most = math.inf, 0
    with click.progressbar(
        length=1000, label=label, file=sys.stderr, show_eta=False, item_show_func=_shown
    ) as shown:

        def show(step: Any) -> None:
            nonlocal best, most
            if step.point is not None:  # some rounds look at a few tasks only
                best = min(best, step.point.value)
            gap = 1.0 if best == math.inf else (best - step.lower) / best if best > 0.0 else 0.0
            digits = math.log(max(gap, tol)) / math.log(tol) if tol < 1.0 else 1.0
            done = max(most, int(1000 * min(max(digits, 0.0), 1.0)))
            shown.update(done - most, f"gap {gap:.2g}")
            most = done

        yield show

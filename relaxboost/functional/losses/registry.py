"""The known losses, by name and by task."""

from __future__ import annotations

from typing import Any

from relaxboost._core.registry import Registry

LOSSES: Registry[Any] = Registry("loss")
"""Classes of `Loss` by name; a name stands for the loss with its defaults."""


def fitting(*tasks: str) -> str:
    """Return the losses for some tasks as text for messages: "Squared() or Huber()"."""
    *most, last = [f"{kind.__name__}()" for kind in LOSSES.values() if kind.task in tasks]
    return f"{', '.join(most)} or {last}" if most else last

"""The known losses, by name and by task."""

from __future__ import annotations

from typing import Any

from relaxboost._core.registry import Registry

LOSSES: Registry[Any] = Registry("loss")
"""The subclasses of `Loss` by name. A name means the loss with its default parameters."""


def fitting(*tasks: str) -> str:
    """Return the losses for some tasks as text for messages, such as "Squared() or Huber()"."""
    *most, last = [f"{kind.__name__}()" for kind in LOSSES.values() if kind.task in tasks]
    return f"{', '.join(most)} or {last}" if most else last

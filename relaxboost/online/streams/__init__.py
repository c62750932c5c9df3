"""Base functions, streams of examples, and progressive learning from streams."""

from relaxboost.online.streams.bases import (
    BaseFunctions,
    Experts,
    LinearBasis,
    StumpBasis,
    WithIntercept,
)
from relaxboost.online.streams.running import Progressive, ProgressRecord, progressive
from relaxboost.online.streams.streaming import Page, Stream, stream

__all__ = [
    "BaseFunctions",
    "Experts",
    "LinearBasis",
    "Page",
    "ProgressRecord",
    "Progressive",
    "Stream",
    "StumpBasis",
    "WithIntercept",
    "progressive",
    "stream",
]

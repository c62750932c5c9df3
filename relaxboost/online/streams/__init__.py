"""Base functions, streams of examples, and progressive learning from streams."""

from relaxboost.online.streams.bases import (
    BaseFunctions,
    Experts,
    FittedBasis,
    LinearBasis,
    StumpBasis,
    Symmetric,
    WithIntercept,
)
from relaxboost.online.streams.running import Progressive, ProgressRecord, progressive
from relaxboost.online.streams.streaming import Page, Stream, stream

__all__ = [
    "BaseFunctions",
    "Experts",
    "FittedBasis",
    "LinearBasis",
    "Page",
    "ProgressRecord",
    "Progressive",
    "Stream",
    "StumpBasis",
    "Symmetric",
    "WithIntercept",
    "progressive",
    "stream",
]

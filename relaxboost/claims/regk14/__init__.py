"""De Rooij, van Erven, Grünwald & Koolen (2014): AdaHedge, and `HedgedDescent`, which uses it."""

from pathlib import Path

from relaxboost.claims.source import Source

SOURCE = Source.read(Path(__file__).with_name("statements.toml"))

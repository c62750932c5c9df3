"""Claims of Freund & Schapire (1999), Adaptive Game Playing Using Multiplicative Weights."""

from pathlib import Path

from relaxboost.claims.source import Source

SOURCE = Source.read(Path(__file__).with_name("statements.toml"))

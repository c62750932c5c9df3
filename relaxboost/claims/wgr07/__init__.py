"""Claims of Warmuth, Glocer & Rätsch (2007), Boosting Algorithms for Maximizing the Soft Margin."""

from pathlib import Path

from relaxboost.claims.source import Source

SOURCE = Source.read(Path(__file__).with_name("statements.toml"))

"""Claims of Rätsch & Warmuth (2005), Efficient Margin Maximizing with Boosting."""

from pathlib import Path

from relaxboost.claims.source import Source

SOURCE = Source.read(Path(__file__).with_name("statements.toml"))

"""Claims of Warmuth, Liao & Rätsch (2006), Totally Corrective Boosting Algorithms."""

from pathlib import Path

from relaxboost.claims.source import Source

SOURCE = Source.read(Path(__file__).with_name("statements.toml"))

"""Claims of Servedio (2003), Smooth Boosting and Learning with Malicious Noise."""

from pathlib import Path

from relaxboost.claims.source import Source

SOURCE = Source.read(Path(__file__).with_name("statements.toml"))

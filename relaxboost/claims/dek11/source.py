"""The `Source` object to which the claims of this folder belong."""

from pathlib import Path

from relaxboost.claims.source import Source

SOURCE = Source.read(Path(__file__).with_name("statements.toml"))

"""The `Source` object that contains the claims of this folder."""

from pathlib import Path

from relaxboost.claims.source import Source

SOURCE = Source.read(Path(__file__).with_name("statements.toml"))

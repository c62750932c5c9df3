"""Every statement of Grubb & Bagnell (2011) on boosting, in the order of the text."""

from pathlib import Path

from relaxboost.claims.source import Source

SOURCE = Source.read(Path(__file__).with_name("statements.toml"))

"""Every statement of Juditsky, Nazin, Tsybakov & Vayatis (2005) on mirror descent."""

from pathlib import Path

from relaxboost.claims.source import Source

SOURCE = Source.read(Path(__file__).with_name("statements.toml"))

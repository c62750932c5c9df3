"""Every statement of Telgarsky's lecture on AdaBoost, in the order of the text."""

from pathlib import Path

from relaxboost.claims.source import Source

SOURCE = Source.read(Path(__file__).with_name("statements.toml"))

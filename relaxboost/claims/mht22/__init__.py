"""Claims of Mitsuboshi, Hatano & Takimoto (2022), Boosting as Frank-Wolfe."""

from pathlib import Path

from relaxboost.claims.source import Source

SOURCE = Source.read(Path(__file__).with_name("statements.toml"))

"""Claims of Rudin, Daubechies & Schapire (2004), The Dynamics of AdaBoost."""

from pathlib import Path

from relaxboost.claims.source import Source

SOURCE = Source.read(Path(__file__).with_name("statements.toml"))

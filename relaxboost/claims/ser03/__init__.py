"""Claims of Servedio (2003), Smooth Boosting and Learning with Malicious Noise."""

from relaxboost.claims.registry import gather

SOURCE = gather(__name__, "")

"""Claims of Rudin, Daubechies & Schapire (2004), The Dynamics of AdaBoost."""

from relaxboost.claims.registry import gather

SOURCE = gather(__name__, "")

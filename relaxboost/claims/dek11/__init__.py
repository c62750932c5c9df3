"""Every statement of Dekel's lecture on online-to-batch conversion, in the order of the text."""

from relaxboost.claims.registry import gather

SOURCE = gather(__name__, "descent learning derandomised validation experts")

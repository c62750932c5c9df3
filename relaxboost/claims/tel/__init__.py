"""Every statement of Telgarsky's lecture on AdaBoost, in the order of the text."""

from relaxboost.claims.registry import gather

SOURCE = gather(__name__, "algorithm classical weak theorem closing")

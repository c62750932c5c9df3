"""Every numbered statement of Shalev-Shwartz & Singer (2009), in the order of the text."""

from relaxboost.claims.registry import gather

SOURCE = gather(
    __name__,
    "learnability relaxing examples algorithm progress totally sharper "
    "rates projection figure2 appendix",
)

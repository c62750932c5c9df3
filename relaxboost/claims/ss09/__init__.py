"""Shalev-Shwartz & Singer (2009): every numbered statement, in the order of the text."""

from relaxboost.claims.registry import gather

SOURCE = gather(
    __name__,
    "fenchel learnability relaxing examples algorithm progress totally sharper "
    "rates small projection figure2 appendix",
)

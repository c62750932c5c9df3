"""Shalev-Shwartz & Singer (2009): every numbered statement, in the order of the text."""

from relaxboost.claims.registry import gather

SOURCE = gather(
    __name__,
    "duality fenchel learnability choosing relaxing examples lemma algorithm "
    "progress totally sharper rates small convexity bregman projection figure2 appendix "
    "conjugates",
)

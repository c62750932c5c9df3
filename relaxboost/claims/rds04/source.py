"""The source that the claims of this folder belong to."""

from relaxboost.claims.claim import Source

SOURCE = Source(
    "RDS04",
    "C. Rudin, I. Daubechies and R. E. Schapire (2004), The Dynamics of AdaBoost: Cyclic Behavior "
    "and Convergence of Margins, JMLR 5:1557-1595",
    place=3,
)

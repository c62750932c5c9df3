"""The source that the claims of this folder belong to."""

from relaxboost.claims.claim import Source

SOURCE = Source(
    "JNTV05",
    "A. B. Juditsky, A. V. Nazin, A. B. Tsybakov and N. Vayatis (2005), Recursive Aggregation of "
    "Estimators by the Mirror Descent Algorithm with Averaging, Problems of Information "
    "Transmission 41(4)",
    place=6,
)

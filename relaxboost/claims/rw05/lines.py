"""RW05, its abstract line by line; the rest of the text is not at hand."""

from relaxboost.claims.rw05.source import SOURCE

line = SOURCE.line
line(
    "Abstract",
    "The generalisation error improves after all examples are right, as the margins increase.",
    reason="An observation on experiments of other papers.",
)
line("Abstract", "AdaBoost* maximises the margin up to a given precision.", "T")
line("Abstract", "Its steps use an estimate of the margin.", "step", "one-round")
line("Abstract", "The rounds are as many as where the margin is known.", "T", "invariant")
line(
    "Abstract",
    "It takes fewer than other algorithms that aim at the margin.",
    reason="An experiment, on data that are not at hand.",
)

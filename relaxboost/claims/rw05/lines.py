"""RW05, its abstract line by line; the rest of the text is not at hand."""

from relaxboost.claims.rw05.source import SOURCE

SOURCE.outline(
    """
Abstract | The generalisation error improves after all examples are right, as the margins increase.
    | - | An observation on experiments of other papers.
| AdaBoost* maximises the margin up to a given precision. | T
| Its steps use an estimate of the margin. | step, one-round
| The rounds are as many as where the margin is known. | T, invariant, adaptive
| It takes fewer than other algorithms that aim at the margin. | - | An experiment, on data that are
    not at hand.
"""
)

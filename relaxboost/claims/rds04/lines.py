"""RDS04, its abstract line by line; the rest of the text is not at hand."""

from relaxboost.claims.rds04.source import SOURCE

SOURCE.outline(
    """
Abstract | AdaBoost as a nonlinear iterated map. | map
| Stable cycles, and the output, in certain cases. | cycle-3x3
| It does not always converge to the maximum margin. | maximum-margin
| Non-optimal AdaBoost may fail where optimal AdaBoost does not. | non-optimal
| It cycles among support vectors. | cycle-margin
Of others | Bounds of the margin, half of it, and of the error. | margin-bound, between
| SS09 on half of the margin; Freund & Schapire. | half, training-error
"""
)

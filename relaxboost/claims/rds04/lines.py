"""RDS04, its abstract line by line; the rest of the text is not at hand."""

from relaxboost.claims.rds04.source import SOURCE

line = SOURCE.line
line("Abstract", "AdaBoost as a nonlinear iterated map.", "map")
line("Abstract", "Stable cycles, and the output, in certain cases.", "cycle-3x3")
line("Abstract", "It does not always converge to the maximum margin.", "maximum-margin")
line("Abstract", "Non-optimal AdaBoost may fail where optimal AdaBoost does not.", "non-optimal")
line("Abstract", "It cycles among support vectors.", "cycle-margin")
line("Of others", "Bounds of the margin, half of it, and of the error.", "margin-bound", "between")
line("Of others", "SS09 on half of the margin; Freund & Schapire.", "half", "training-error")

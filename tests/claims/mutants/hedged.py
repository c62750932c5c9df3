"""Errors planted in the claims of AdaHedge and of `HedgedDescent`."""

from __future__ import annotations

from tests.claims.mutants.mutant import Mutant

MUTANTS = (
    Mutant("REGK14-T", "constant", "2.0 * math.sqrt", "1.6 * math.sqrt", at="bound"),
    Mutant("REGK14-T", "hypothesis", "now.variance * now.logarithm", "now.variance", at="bound"),
    Mutant("REGK14-T", "direction", "now.regret, bound(now)", "bound(now), now.regret"),
    Mutant("REGK14-T", "constant", "2.0 * now.gap", "1.9 * now.gap", step=1),
    Mutant("REGK14-T", "constant", "= now.variance *", "= 0.8 * now.variance *", step=2),
    Mutant("REGK14-T", "hypothesis", "variance * now.logarithm", "variance", step=2),
    Mutant(
        "REGK14-descent", "constant", "(2.0 * self.steps)", "(3.0 * self.steps)", at="Descents.of"
    ),
    Mutant("REGK14-descent", "constant", "+ self.spent", "+ 0.5 * self.spent", at="Descents.of"),
    Mutant("REGK14-descent", "index", "2.0 * self.steps", "2.0 * self.eta", at="Descents.of"),
    Mutant("REGK14-descent", "direction", "run.loss, run.hedge.loss", "run.hedge.loss, run.loss"),
    Mutant("REGK14-descent", "hypothesis", " + correct", "", step=1),
    Mutant(
        "REGK14-descent", "hypothesis", "0.0 if slopes[0] * (x.F - clipped) < 0.0 else ", "", step=1
    ),
    Mutant("REGK14-descent", "constant", "squares) / 2.0", "squares) / 2.4", step=2),
    Mutant("REGK14-descent", "constant", "(2.0 * last)", "(2.4 * last)", step=2),
    Mutant("REGK14-descent", "index", "roots[-1]", "roots[0]", step=2),
)

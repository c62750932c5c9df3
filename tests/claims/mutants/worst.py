"""Errors planted in steps about worst cases, that are found where the worst case is near."""

from __future__ import annotations

from tests.claims.mutants.mutant import Mutant

OF_GB11 = (
    Mutant("GB11-T3", "constant", "bracket, 1,", "bracket, 0.95,", step=2),
    Mutant("GB11-T3-edge", "constant", "gamma**2 / 2,", "gamma**2 / 1.8,", correction=1, step=2),
    Mutant("GB11-T5-h", "constant", "(1 - gamma**2)", "(1 - 1.1 * gamma**2)", correction=1, step=3),
    Mutant("GB11-T5-h", "constant", "1.0 if x.T == 1", "0.9 if x.T == 1", correction=1, step=2),
    Mutant("GB11-T6-sharp", "constant", "/ (2 * t)", "/ (2.2 * t)", step=3),
    Mutant("GB11-T6-h", "index", "q**x.T", "q ** (x.T - 1)", correction=1, step=2),
)

OF_DEK11 = (
    Mutant("DEK11-T1", "constant", "math.sqrt(", "0.95 * math.sqrt(", correction=1, step=3),
    Mutant("DEK11-T1-regret", "constant", "math.sqrt(", "0.95 * math.sqrt(", correction=1, step=3),
    Mutant("DEK11-T1-rate", "constant", "1.0 / math.sqrt(", "0.95 / math.sqrt(", step=2),
    Mutant(
        "DEK11-T1-closer",
        "constant",
        "- (v - best) @ (v - best)",
        "- 0.9 * ((v - best) @ (v - best))",
        correction=1,
        step=2,
    ),
    Mutant(
        "DEK11-T1-alpha-1",
        "constant",
        "- moved @ moved)",
        "- 0.9 * (moved @ moved))",
        correction=1,
        step=2,
    ),
    Mutant("DEK11-T1-alpha-2-4", "constant", "eta**2 / 2 ", "eta**2 / 2.2 ", step=3),
    Mutant("DEK11-T1-sum", "constant", "eta**2 / 2", "eta**2 / 2.2", step=2),
    Mutant("DEK11-T1-divided", "constant", "x.m / 2.0", "x.m / 2.2", correction=1, step=2),
)

OF_JNTV05 = (
    Mutant("JNTV05-affine", "constant", "(v - f @ g)", "(v - 0.9 * (f @ g))", step=2),
    Mutant("JNTV05-P2", "constant", "(2 * b)", "(2.2 * b)", correction=2, step=4),
    Mutant("JNTV05-P2-proof", "constant", "z @ z / 2,", "z @ z / 2.2,", step=2),
    Mutant("JNTV05-P3", "constant", "(2.0 * b)", "(2.5 * b)", correction=1, step=3),
    Mutant("JNTV05-Eq27", "constant", "(f @ g * w", "(0.9 * (f @ g) * w", step=3),
    Mutant("JNTV05-Eq28", "constant", "math.sqrt(", "0.7 * math.sqrt(", step=2),
    Mutant("JNTV05-Eq29", "constant", "2.0 * math.sqrt(", "1.4 * math.sqrt(", step=2),
    Mutant("JNTV05-L-assumption", "constant", "bracket, 1,", "bracket, 0.9,", step=2),
    Mutant("JNTV05-B-end", "constant", "(after @ after +", "(1.1 * (after @ after) +", step=2),
)

MUTANTS = OF_GB11 + OF_DEK11 + OF_JNTV05

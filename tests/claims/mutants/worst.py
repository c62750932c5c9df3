"""Errors planted in steps about worst cases, that are found where the worst case is near."""

from __future__ import annotations

from tests.claims.mutants.mutant import Mutant

OF_GB11 = (
    Mutant("GB11-T3", "constant", "bracket, 1,", "bracket, 0.95,", step=2),
    Mutant("GB11-T3-edge", "constant", "gamma**2 / 2,", "gamma**2 / 1.8,", correction=1, step=2),
    Mutant("GB11-T5-h", "constant", "1.0 if x.T == 1", "0.9 if x.T == 1", correction=1, step=2),
    Mutant("GB11-T6-sharp", "constant", "/ (2 * t)", "/ (2.2 * t)", step=3),
)

OF_DEK11 = (
    Mutant("DEK11-T1", "constant", "math.sqrt(", "0.95 * math.sqrt(", correction=1, step=2),
    Mutant("DEK11-T1", "constant", "x.m / 2.0", "x.m / 2.2", correction=1, step=3),
)

OF_JNTV05 = (
    Mutant("JNTV05-P2", "constant", "(2 * b)", "(2.2 * b)", correction=1, step=3),
    Mutant("JNTV05-P3", "constant", "(2.0 * b)", "(2.5 * b)", correction=1, step=2),
    Mutant("JNTV05-L-assumption", "constant", "bracket, 1,", "bracket, 0.9,", step=2),
)

MUTANTS = OF_GB11 + OF_DEK11 + OF_JNTV05

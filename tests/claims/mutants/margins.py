"""Errors planted in claims of RDS04 and RW05."""

from __future__ import annotations

from tests.claims.mutants.mutant import Mutant

MUTANTS = (
    Mutant("RDS04-map", "constant", "1.0 + a * edge", "1.0 + 0.9 * a * edge"),
    Mutant("RDS04-map", "constant", "- x.gamma**2", "- 0.9 * x.gamma**2", step=1),
    Mutant("RDS04-cycle-3x3", "constant", "GOLDEN,", "1.1 * GOLDEN,"),
    Mutant("RDS04-cycle-margin", "constant", 'rho / 2.0, "', 'rho / 1.4, "'),  # Υ(ρ) -> ρ/2
    Mutant("RDS04-cycle-margin", "constant", "- x.gamma**2", "- 0.9 * x.gamma**2", step=1),
    Mutant("RDS04-non-optimal", "index", "x.m - 2", "x.m - 1"),
    Mutant("RDS04-cycle-margin", "hypothesis", "if least[i] > 1e-2", "if True"),
    Mutant(
        "RDS04-margin-bound",
        "constant",
        "math.sqrt(1.0 - gamma**2)",
        "(1.0 - gamma**2) ** 0.6",
        step=1,
    ),
    Mutant("RDS04-margin-bound", "direction", "at_most(", "at_least(", step=2),
    Mutant("RDS04-half", "constant", "12.0 * math", "11.0 * math"),
    # 11ᵀ − 2I of order 400 has less than half of its margin at .63 of it
    Mutant("RDS04-half", "constant", "enough = math.log", "enough = 0.55 * math.log"),
    Mutant("RDS04-half", "constant", "1.0 / 12.0", "1.0 / 11.0", step=1),
    Mutant("RDS04-training-error", "constant", "-total / 2.0", "-total / 1.8"),  # small edges
    Mutant("RDS04-training-error", "direction", "-math.atanh", "math.atanh", step=1),
    Mutant(
        "RW05-T", "hypothesis", "max(margin, 0.0) if float(rho.upper) < x.nu else margin", "margin"
    ),
    Mutant("RW05-T", "constant", 'exp(-kl), "Z', 'exp(-1.1 * kl), "Z', step=1),
    Mutant("RW05-invariant", "constant", "lowest - x.nu", "lowest - 0.9 * x.nu"),
    Mutant("RW05-invariant", "constant", 'exp(-kl), "Z', 'exp(-1.1 * kl), "Z', step=1),
    Mutant("RW05-invariant", "constant", "** 2 / 2.0", "** 2 / 1.8", step=1),
    Mutant("RW05-invariant", "constant", "exp(-divergence", "exp(-1.1 * divergence"),
    Mutant("RW05-invariant", "constant", "/ 2.0 - math", "/ 1.1 - math"),
    Mutant("RDS04-margin-bound", "constant", "gained - math.log", "gained - 0.5 * math.log"),
)

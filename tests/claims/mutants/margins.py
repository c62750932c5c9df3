"""Errors planted in claims of RDS04 and RW05."""

from __future__ import annotations

from tests.claims.mutants.mutant import Mutant

MUTANTS = (
    Mutant("RDS04-map", "constant", "1.0 + a * edge", "1.0 + 0.9 * a * edge"),
    Mutant("RDS04-map", "constant", "- x.gamma**2", "- 0.9 * x.gamma**2", step=1),
    Mutant("RDS04-map", "constant", "1.0 + a * gamma", "1.0 + 0.9 * a * gamma", step=2),
    Mutant("RDS04-cycle-3x3", "constant", "GOLDEN,", "1.1 * GOLDEN,"),
    Mutant("RDS04-between", "constant", 'rho / 2.0, "', 'rho / 1.8, "'),  # Υ(ρ) -> ρ/2
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
    Mutant(
        "RW05-T", "hypothesis", "max(margin, 0.0) if float(rho.upper) < x.nu else margin", "margin"
    ),
    Mutant("RW05-step", "constant", "least - x.nu", "least - 0.9 * x.nu", at="_rounds"),
    Mutant("RW05-invariant", "constant", 'exp(-kl), "Z', 'exp(-1.1 * kl), "Z', step=1),
    Mutant("RW05-invariant", "constant", "** 2 / 2.0", "** 2 / 1.8", step=2),
    Mutant("RW05-one-round", "constant", 'exp(-kl), "L', 'exp(-1.1 * kl), "L'),
    Mutant("RW05-one-round", "constant", "x.nu**2, ", "1.1 * x.nu**2, "),
    Mutant("RW05-invariant", "constant", "/ 2.0 - math", "/ 1.1 - math"),
    Mutant("RDS04-margin-bound", "constant", "gained - math.log", "gained - 0.5 * math.log"),
)

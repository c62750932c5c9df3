"""Errors planted in claims of WLR06, WGR07, SER03, MHT22, FS99 and in RW05-adaptive."""

from __future__ import annotations

from tests.claims.mutants.mutant import Mutant

MUTANTS = (
    Mutant("WLR06-T", "constant", "x.nu**2 / 2.0", "x.nu**2 / 0.1", step=1),
    Mutant("WLR06-T", "constant", "apart**2 / 2.0", "apart**2 / 1.5", step=2),
    Mutant("WGR07-T", "constant", "most + 2.0", "0.5 * most"),
    Mutant("WGR07-T", "constant", "x.nu**2 / 2.0", "x.nu**2 / 1.6", step=1),
    Mutant("SER03-T", "index", "x.k - 1, ", "x.k - 2, "),
    Mutant("SER03-T", "constant", "-x.c * x.delta) / x.c", "-0.9 * x.c * x.delta) / x.c", step=1),
    Mutant("SER03-T", "constant", "1.0 - x.gamma) / 2.0", "1.0 - x.gamma) / 1.4", step=2),
    Mutant(
        "SER03-soft", "constant", "-x.c * x.delta) / x.c", "-0.9 * x.c * x.delta) / x.c", step=1
    ),
    Mutant("SER03-soft", "constant", "1.0 - x.gamma) / 2.0", "1.0 - x.gamma) / 1.4", step=2),
    Mutant("MHT22-T", "constant", "gap**2 / 8.0", "gap**2 / 0.5", step=1),
    Mutant("FS99-T", "constant", "1.0 / (2.0 * x.beta)", "1.0 / (20.0 * x.beta)", step=1),
    Mutant("FS99-regret", "constant", "1.0 / (2.0 * x.beta)", "1.0 / (20.0 * x.beta)", step=1),
    Mutant("FS99-regret", "constant", "T / (2.0 * x.beta)", "T / (20.0 * x.beta)"),
    Mutant("RW05-adaptive", "constant", "steps + stages,", "0.05 * steps + stages,"),
)

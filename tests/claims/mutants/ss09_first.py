"""Errors planted in claims of SS09, Sections 2 to 4 and appendix."""

from __future__ import annotations

from tests.claims.mutants.mutant import Mutant

SECTION_2 = (
    Mutant("SS09-T3", "direction", "(-x.A @ x.w", "(x.A @ x.w", step=1),
    Mutant("SS09-T3-exclusion", "hypothesis", "assume(x.r > x.s)", "pass", correction=1),
)
SECTION_4_1 = (
    Mutant("SS09-T4", "norm", "max(abs(e) for", "max(e for", at="largest_edge"),
    Mutant(
        "SS09-C5",
        "index",
        'x.k), rho, "average and ρ"',
        'max(1, x.k - 1)), rho, "average and ρ"',
    ),
    Mutant("SS09-C5", "direction", "at_most(", "at_least("),
    Mutant("SS09-remark-noise", "hypothesis", "assume(x.nu <= x.k)", "pass", correction=1),
    Mutant(
        "SS09-remark-noise",
        "index",
        "(k - x.nu)",
        "(k - x.nu + 1)",
        at="_worst",
        correction=1,
        step=1,
    ),
    Mutant("SS09-remark-noise-k", "constant", "ceil(2 * x.nu", "ceil(1.6 * x.nu"),
    Mutant("SS09-remark-noise-k", "constant", "least = 2 *", "least = 1.9 *", step=1),
)
SECTION_4_2 = (
    Mutant("SS09-T7", "hypothesis", "assume(x.f in CLOSED)", "pass", correction=1),
    Mutant(
        "SS09-T7",
        "constant",
        "gamma - f.f_star(",
        "gamma - 0.8 * f.f_star(",
        at="hinge_side",
        correction=1,
    ),
    Mutant(
        "SS09-E1",
        "hypothesis",
        'assume(x.norm in MONOTONE or (x.norm == "ellipsoid" and x.c == 0.0))',
        "pass",
        correction=1,
    ),
    Mutant(
        "SS09-E1-soft-margin", "index", "Fraction(0)) / k", "Fraction(0)) / (k + 1)", at="_soft"
    ),
    Mutant("SS09-E1-soft-margin", "direction", "at_least(", "at_most(", step=1),
    Mutant(
        "SS09-E2",
        "hypothesis",
        "x.nu >= 0.0 and x.norm in MONOTONE",
        "x.nu >= 0.0",
        correction=1,
    ),
    Mutant("SS09-L8", "hypothesis", "assume(x.f in CLOSED)", "pass", correction=1),
    Mutant(
        "SS09-L8",
        "hypothesis",
        "np.maximum(gamma - u, 0.0)",
        "gamma - u",
        at="hinge_side",
        correction=1,
    ),
    Mutant("SS09-L8", "direction", "gamma - u", "gamma + u", at="hinge_side", correction=1),
)
APPENDIX = (
    Mutant(
        "SS09-Sec5.1-soft-max",
        "direction",
        "at_least(soft, rho - solved(0.0)",
        "at_most(soft, rho + solved(0.0)",
    ),
    Mutant(
        "SS09-Sec5.1-soft-max", "constant", "entropy(best)), ", "0.8 * entropy(best)), ", step=1
    ),
    Mutant("SS09-L17", "constant", "+ f.conj", "+ 0.9 * f.conj"),
    Mutant("SS09-L17", "direction", "at_most(", "at_least(", step=1),
    Mutant("SS09-L18", "constant", "(2.0 * f.sigma)", "(2.4 * f.sigma)"),
    Mutant("SS09-L18", "constant", "f.sigma / 2.0", "f.sigma / 1.6", step=1),
    Mutant("SS09-L19", "hypothesis", "c * exactly", "2 * c * exactly", at="_between"),
    Mutant("SS09-L20", "index", "(t + 1)", "(t + 2)"),
    Mutant("SS09-L20", "constant", "1 / (Fraction", "0.95 / (Fraction"),
    Mutant("SS09-L20", "hypothesis", "Fraction(x.first)", "2 * Fraction(x.first)", at="sequence"),
)
MORE = (
    Mutant(
        "SS09-E1",
        "hypothesis",
        'assume(x.norm in MONOTONE or (x.norm == "ellipsoid" and x.c == 0.0))',
        "pass",
        correction=1,
        step=1,
    ),
    Mutant("SS09-C5", "direction", "(-u, x.k)", "(u, x.k)", step=1),
    Mutant("SS09-T7", "constant", "- f.f_star(", "- 0.7 * f.f_star(", correction=1, step=1),
    Mutant("SS09-L8", "direction", "x.theta).min()", "x.theta).max()", correction=1, step=1),
)
SHARED = (
    Mutant("SS09-T3", "direction", "(-x.A @ x.w", "(x.A @ x.w"),
    Mutant("SS09-T3", "constant", "_conjugate(x.w, x.c)", "0.6 * _conjugate(x.w, x.c)", step=1),
    Mutant(
        "SS09-T3-exclusion",
        "direction",
        "x.v - x.d @ x.A",
        "x.v + x.d @ x.A",
        correction=1,
        step=1,
    ),
    Mutant("SS09-T4", "direction", "min(A @ w)", "max(A @ w)", step=1),
    Mutant("SS09-T4", "norm", "largest_edge(A, d)", "min(abs(e) for e in d @ A)", step=1),
    Mutant("SS09-C5", "index", "-avg_min(u, x.k)", "-avg_min(u, max(1, x.k - 1))", step=1),
    Mutant(
        "SS09-E2",
        "hypothesis",
        'assume(x.norm in MONOTONE or (x.norm == "ellipsoid" and x.c == 0.0))',
        "pass",
        correction=1,
        step=1,
    ),
    Mutant(
        "SS09-C14", "hypothesis", "assume(bool((d0 == theta).all()))", "pass", correction=1, step=1
    ),
    Mutant("SS09-Eq14", "constant", "short = ", "short = 0.9 * ", step=1),
    Mutant("SS09-L15", "direction", "x.d[j] - x.d[i]", "x.d[i] - x.d[j]", step=1),
    Mutant("SS09-L18", "direction", "at_least(left", "at_most(left"),
    Mutant(
        "SS09-L19", "constant", "above + Fraction(x.c)", "above + Fraction(x.c) * 4 / 5", step=1
    ),
    Mutant("SS09-L20", "index", "(x.t + 2)", "(x.t + 3)", step=1),
    Mutant("SS09-AppB-1", "norm", "dual(ORDERS[x.p])", "ORDERS[x.p]"),
    Mutant("SS09-AppB-1", "norm", "dual(p)", "p", step=1),
)
MUTANTS = SECTION_2 + SECTION_4_1 + SECTION_4_2 + APPENDIX + MORE + SHARED

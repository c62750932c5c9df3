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
    Mutant("SS09-remark-k-share", "index", "[x.k - 1]", "[x.k - 2]", step=1),
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
    Mutant("SS09-T7", "hypothesis", "assume(PENALTIES[x.f].closed)", "pass", correction=1),
    Mutant(
        "SS09-T7",
        "constant",
        "gamma - f.f_star(",
        "gamma - 0.8 * f.f_star(",
        at="hinge_side",
        correction=1,
    ),
    Mutant("SS09-T7-max", "constant", "/ (2 * gap)", "/ (Fraction(5, 2) * gap)", correction=1),
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
    Mutant("SS09-L8", "hypothesis", "assume(PENALTIES[x.f].closed)", "pass", correction=1),
    Mutant(
        "SS09-L8",
        "hypothesis",
        "np.maximum(gamma - u, 0.0)",
        "gamma - u",
        at="hinge_side",
        correction=1,
    ),
    Mutant("SS09-L8", "direction", "gamma - u", "gamma + u", at="hinge_side", correction=1),
    Mutant("SS09-remark-hard-margin", "direction", "), min(u), ", "), max(u), ", correction=1),
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
    Mutant("SS09-L17", "constant", "value + conjugate", "value + 0.9 * conjugate"),
    Mutant("SS09-L17", "direction", "at_most(near", "at_least(near", step=1),
    Mutant("SS09-L18", "constant", "(2.0 * f.sigma)", "(2.4 * f.sigma)"),
    Mutant("SS09-L18", "constant", "f.sigma / 2.0", "f.sigma / 1.6", step=1),
    Mutant("SS09-L19", "hypothesis", "c * exactly", "2 * c * exactly", at="_between"),
    Mutant("SS09-L20", "index", "(t + 1)", "(t + 2)"),
    Mutant("SS09-L20", "constant", "1 / (Fraction", "0.95 / (Fraction"),
    Mutant("SS09-L20", "hypothesis", "Fraction(x.first)", "2 * Fraction(x.first)", at="sequence"),
    Mutant("SS09-AppB-3", "index", "/ len(x.theta))", "/ (len(x.theta) + 1))"),
    Mutant("SS09-AppB-3", "constant", "short = ", "short = 0.9 * ", step=1),
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
    Mutant(
        "SS09-remark-hard-margin", "direction", "min(gamma, *", "max(gamma, *", correction=1, step=1
    ),
    Mutant("SS09-L20-sharp", "index", "(t + 2)", "(t + 3)"),
)
SHARED = (
    Mutant("SS09-Eq1", "hypothesis", "assume(x.left <= x.right)", "pass", correction=1),
    Mutant("SS09-Eq1", "hypothesis", "assume(x.left <= x.right)", "pass", correction=1, step=1),
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
    Mutant(
        "SS09-remark-opposite",
        "direction",
        "= -A[x.i - 1]",
        "= A[x.i - 1]",
        at="_opposed",
        correction=1,
    ),
    Mutant("SS09-remark-opposite", "direction", "min(margins", "max(margins", correction=1, step=1),
    Mutant("SS09-C5", "index", "-avg_min(u, x.k)", "-avg_min(u, max(1, x.k - 1))", step=1),
    Mutant(
        "SS09-remark-k-m", "direction", "one_hypothesis(x, True)", "one_hypothesis(x)", correction=1
    ),
    Mutant(
        "SS09-remark-k-m",
        "index",
        "for column in A.T) / len(A)",
        "for column in A.T) / (len(A) + 1)",
        correction=1,
        step=1,
    ),
    # m − k + 1 is true, m − k + 2 is not.
    Mutant("SS09-remark-k-share", "index", "m - x.k + 1", "m - x.k + 2"),
    Mutant("SS09-remark-k-share", "index", "i >= x.k - 1", "i >= x.k - 2"),
    Mutant("SS09-D6", "constant", "(1, 10**9), ", "(3, 4 * 10**9), ", correction=1),
    Mutant("SS09-D6", "direction", "at_most(_sum", "at_least(_sum", correction=1, step=1),
    Mutant("SS09-T7", "norm", "p / (p - 1.0)", "p", at="dual", correction=1),
    # at u = (0, 0), γ = 1 both sides are 1
    Mutant("SS09-T7-max", "constant", "min(gamma, v)", "min(gamma, v - 0.1)", correction=1, step=1),
    Mutant(
        "SS09-E1", "norm", "norm(x).dual_order", "norm(x).order", at="_margin_side", correction=2
    ),
    Mutant("SS09-E1", "hypothesis", "+ exactly(x.more)", "- exactly(x.more)", correction=2, step=1),
    Mutant("SS09-E2", "norm", "norm(x).dual(at)", "norm(x).size(at)", correction=2, step=1),
    Mutant(
        "SS09-E2",
        "hypothesis",
        'assume(x.norm in MONOTONE or (x.norm == "ellipsoid" and x.c == 0.0))',
        "pass",
        correction=1,
        step=1,
    ),
    Mutant(
        "SS09-D10-entropy",
        "constant",
        "near(entropy(z) + apart)",
        "near(entropy(z) + 0.9 * apart)",
        step=1,
    ),
    Mutant(
        "SS09-C14", "hypothesis", "assume(bool((d0 == theta).all()))", "pass", correction=1, step=1
    ),
    Mutant("SS09-Eq14", "constant", "short = ", "short = 0.9 * ", step=1),
    Mutant("SS09-L15", "direction", "x.d[j] - x.d[i]", "x.d[i] - x.d[j]", step=1),
    Mutant("SS09-L16-first", "index", "d0[first - 1]", "d0[first - 2]", step=1),
    Mutant("SS09-L16-first", "direction", "at_least(xi", "at_most(xi", step=1),
    Mutant("SS09-L18", "direction", "at_least(left", "at_most(left"),
    Mutant(
        "SS09-L19", "constant", "above + Fraction(x.c)", "above + Fraction(x.c) * 4 / 5", step=1
    ),
    Mutant("SS09-L20", "index", "(x.t + 2)", "(x.t + 3)", step=1),
    Mutant("SS09-L20-sharp", "constant", "1 / (Fraction", "0.95 / (Fraction"),
    Mutant("SS09-L20-sharp", "index", "(x.t + 3)", "(x.t + 4)", step=1),
    Mutant("SS09-AppB-1", "norm", "dual(ORDERS[x.p])", "ORDERS[x.p]"),
    Mutant("SS09-AppB-1", "norm", "dual(p)", "p", step=1),
)
MUTANTS = SECTION_2 + SECTION_4_1 + SECTION_4_2 + APPENDIX + MORE + SHARED

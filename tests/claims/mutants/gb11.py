"""Errors planted in claims of GB11."""

from __future__ import annotations

from tests.claims.mutants.mutant import Mutant

OF_SECTIONS_2_AND_3 = (
    Mutant("GB11-Eq1", "constant", "4 * sum(middle**2)", "3 * sum(middle**2)"),
    Mutant("GB11-inner", "constant", "2.0 * g**2", "1.9 * g**2"),
    Mutant("GB11-inner-empirical", "index", "/ x.at.size, ", "/ (x.at.size + 1), "),
    Mutant("GB11-subgradient", "direction", "at_least(", "at_most(", correction=1),
    # the square falls off / 2 short, exactly
    Mutant(
        "GB11-subgradients-emp",
        "constant",
        "x.off / 2.0 * share",
        "x.off / 1.8 * share",
        at="_nothing_else",
        correction=1,
    ),
    Mutant(
        "GB11-subgradients-emp",
        "hypothesis",
        "assume(len(set(x.at.tolist())) == x.at.size)",
        "pass",
        correction=1,
    ),
    Mutant(
        "GB11-subgradients-emp",
        "norm",
        "v[x.at == point].mean()",
        "v[x.at == point].max()",
        at="_at_points",
        correction=2,
    ),
    Mutant("GB11-subgradients-expected", "constant", "(h * h) / 2.0", "(h * h) / 1.8"),
    Mutant("GB11-Eq2", "constant", "- best) ** 2 *", "- best) ** 2 * Fraction(11, 10) *"),
    Mutant("GB11-Eq3", "hypothesis", "np.hstack([x.H, -x.H])", "x.H", correction=1),
    Mutant("GB11-Eq4", "constant", "- length**2", "- 0.9 * length**2"),
    Mutant("GB11-D1", "constant", "- gamma**2", "- 0.9 * gamma**2", correction=1),
    Mutant(
        "GB11-D1",
        "constant",
        "gamma * square *",
        "gamma * square * Fraction(11, 10) *",
        correction=2,
    ),
    Mutant("GB11-classification", "constant", "2 * wrong", "wrong"),
    Mutant("GB11-regression", "index", "/ len(x.v), ", "/ (len(x.v) + 1), ", correction=1),
)

OF_APPENDIX_A = (
    Mutant("GB11-T1", "constant", "float(delta) /", "1.1 * float(delta) /", correction=1),
    Mutant("GB11-T1", "constant", "- wrong, ", "- wrong * Fraction(9, 10), ", correction=1, step=1),
    Mutant("GB11-T1", "direction", "at_least(", "at_most(", correction=1, step=2),
    # one point, both signs: δ = γ = 1
    Mutant("GB11-T1-converse", "constant", "advantage(x), gamma", "advantage(x), 1.1 * gamma"),
    Mutant("GB11-T1-converse", "index", "len(w) *", "(len(w) - 1) *", step=1),
    Mutant("GB11-T1-chain", "constant", "gamma * float(", "1.1 * gamma * float(", correction=1),
    Mutant("GB11-T1-sums", "index", "** 2 / len(w)", "** 2 / max(len(w) - 1, 1)"),
    Mutant("GB11-T1-necessary", "constant", "1.0 / math", "1.1 / math"),
    # all classes on one point attain K − 1 = 2
    Mutant("GB11-T2", "constant", "(K - 1.0)", "(K - 1.2)", correction=1),
    Mutant("GB11-T2-label", "constant", "(K - 1.0)", "(K - 1.2)", correction=1),  # (1, 1, −2)
    Mutant("GB11-T2-norms", "constant", "/ 2.0)", "/ 1.8)", correction=1),  # (1, −1, 0)
    Mutant("GB11-T2-norms", "index", "(K - 1.0)", "(K - 2.0)", correction=2),  # (1, 1, −2)
    Mutant("GB11-T2-last-step", "norm", "np.abs(w).max()", "np.abs(w).sum()", correction=1),
    Mutant("GB11-T2-sizes", "constant", "rows.sum()) / N", "rows.sum()) * 1.1 / N"),
    Mutant("GB11-T2-sizes", "norm", "/ math.sqrt(N)", "/ N"),
    Mutant("GB11-T2-sizes", "index", "/ len(x.w), ", "/ (len(x.w) + 1), ", step=1),
    Mutant("GB11-T2-bounds", "index", "math.sqrt(K)", "math.sqrt(K - 1.0)"),  # (1, −1, 1)
    Mutant("GB11-T2-centring", "index", "x.delta) / K", "x.delta) / (K - 1)"),
    Mutant("GB11-T2-outputs", "constant", 'K / (K - 1.0), "‖', 'K / (K - 0.9), "‖'),
    Mutant("GB11-T2-rearranged", "index", "- x.s / x.K", "- x.s / (x.K + 1)"),
)

OF_SECTION_4_1 = (
    # (1, 1) along the axes: equal in the first round
    Mutant("GB11-T3", "index", "rate**t", "rate ** (t + 1)", at="_rate"),
    Mutant("GB11-T3", "constant", "_edges(x, 2)", "_edges(x, 1)", step=1),
    Mutant("GB11-T3", "constant", "2.0 * x.lam", "2.2 * x.lam", step=2, at="_dominance"),
    Mutant("GB11-T3-tight", "constant", "1.0 - 1.0", "1.0 - 1.1"),
    Mutant("GB11-T3-rounds", "index", "2.0**-t", "2.0 ** -(t + 1)"),
    # signs that err equally in the first round
    Mutant("GB11-adaboost", "constant", "4.0 * gamma**2", "4.4 * gamma**2"),
    Mutant("GB11-T3-step", "constant", "(2.0 * run", "(1.8 * run", correction=1),
    Mutant("GB11-T3-edge", "constant", "/ (2.0 *", "/ (1.8 *", correction=1, at="_edges"),
    Mutant("GB11-T3-dominance", "constant", "2.0 * x.lam", "2.2 * x.lam", at="_dominance"),
    Mutant("GB11-example-select", "constant", "> 0.5", "> 0.3", correction=1),
    Mutant("GB11-example-select", "hypothesis", "before.F[0] == 0.0", "False", correction=2),
    Mutant("GB11-example-select", "constant", "< 0.5", "< 0.7", correction=3),
    Mutant("GB11-example-stuck", "constant", "eta, 2.0 * eta", "eta, 1.5 * eta"),
)

OF_ALGORITHM_2 = (
    # .59 of the bound after two rounds on f²/2
    Mutant("GB11-T4", "constant", "G**2 / (", "0.5 * G**2 / (", at="_bound"),
    Mutant("GB11-T4", "index", "inner(r, z)", "inner(r, then)", step=1),
    Mutant("GB11-T4", "constant", "4.0 * inner(tight", "5.0 * inner(tight", step=2),
    Mutant("GB11-T4", "constant", "x.lam / 2.0", "x.lam / 1.8", step=3),
    Mutant("GB11-T4", "constant", "x.lam / 4.0 * inner(z", "x.lam / 4.4 * inner(z", step=4),
    Mutant("GB11-T4", "index", "** after.round", "** (after.round + 1)", step=5, at="_left_over"),
    Mutant("GB11-T4", "constant", '1.0 + math.log(x.T), "Σ', '0.6 + math.log(x.T), "Σ', step=6),
    Mutant("GB11-T4-sharp", "index", "harmonic + 1.0 / t", "harmonic + 1.0 / (t + 1)"),
    Mutant("GB11-T4-h", "constant", "float = 2.0", "float = 1.05"),  # 1.1456 at ±30°
    Mutant("GB11-T4-error", "index", "** after.round", "** (after.round + 1)", at="_left_over"),
    Mutant("GB11-D1-gradients", "hypothesis", "(x, True)", "(x, False)", correction=1),
    Mutant("GB11-T4-potential", "constant", "eta / 2.0", "eta / 2.2"),
    Mutant("GB11-T4-sum", "constant", "first * start / 2.0\n", "first * start / 2.2\n"),
    Mutant("GB11-T4-series", "index", "range(1, 4001)", "range(4000)"),
    Mutant("GB11-T4-G", "constant", "x.lam * distance", "1.1 * x.lam * distance", correction=1),
    Mutant("GB11-T5", "constant", "2.0 if centre", "1.0 if centre", correction=1),
    Mutant("GB11-T5-h", "index", ") ** t", ") ** (t + 1)", correction=1),  # 1.1456 > 1.125
    Mutant("GB11-T5-h", "index", "** t + 1e-8", "** (t + 1) + 1e-8", correction=1, step=1),
    Mutant("GB11-T5-series", "constant", "2.0 * q /", "1.8 * q /", correction=1),
    Mutant("GB11-T5-display", "constant", "math.sqrt(t) / 2.0", "math.sqrt(t) / 3.0", correction=1),
    Mutant("GB11-T5-sum", "constant", "squares[0] / 2.0", "squares[0] / 1.4"),
    Mutant("GB11-T5-roots", "constant", '2.0 * math.sqrt(x.T), "Σ', '1.9 * math.sqrt(x.T), "Σ'),
)

OF_ALGORITHM_3 = (
    # f²/2, T = 1
    Mutant("GB11-T6-sharp", "constant", "G**2 / (2.0 * x.lam", "G**2 / (2.2 * x.lam"),
    Mutant("GB11-T6-sharp", "constant", "inner(whole, v) -", "inner(whole, v) * 0.9 -"),
    Mutant("GB11-T6-sharp", "constant", "inner(rest, after", "1.1 * inner(rest, after", step=1),
    Mutant("GB11-T6-sharp", "constant", "x.lam / 2.0 * inner(z", "x.lam / 2.2 * inner(z", step=2),
    Mutant("GB11-T6-sharp", "constant", "x.lam / 2.0", "x.lam / 1.8", step=3),
    Mutant(
        "GB11-T6-sharp",
        "constant",
        "- inner(rest, rest) / t",
        "- 1.1 * inner(rest, rest) / t",
        step=4,
    ),
    Mutant("GB11-T6-sharp", "index", "q**t", "q ** (t - 1)", step=5),
    Mutant("GB11-T6-sharp", "constant", "(2.0 * x.lam", "(2.2 * x.lam", step=6),
    Mutant("GB11-T6-residual", "norm", "True", "False", correction=1),  # the root is lost
    Mutant("GB11-T6-c", "index", "q**t", "q ** (t - 1)"),
    Mutant("GB11-T6-parts", "index", "inner(z, last)", "inner(z, rest)"),
    Mutant("GB11-T6-display", "constant", "- lengths", "- 0.9 * lengths", correction=1),
    Mutant("GB11-T7", "constant", "2.0 if centre", "1.0 if centre", correction=1),
    Mutant("GB11-T7-display", "constant", "0.5", "0.4", correction=1),
    Mutant("GB11-average", "index", "(k * (k + 1.0))", "((k + 1.0) * (k + 2.0))", step=1),
    Mutant("GB11-average", "constant", "** 2 / 2.0 + eta", "** 2 / 2.5 + eta", step=2),
    Mutant("GB11-average", "direction", "at_most(after", "at_least(after", step=3),
    Mutant("GB11-average", "direction", "at_least(float(", "at_most(float(", step=4),
    Mutant("GB11-average", "constant", "2.0 + math.log", "1.5 + math.log", step=5),
    Mutant("GB11-average-best", "direction", "at_most(float(", "at_least(float("),
    Mutant("GB11-threshold", "index", "math.ceil(", "math.floor("),
    Mutant("GB11-learners", "index", "(t + 1) // 2", "(t - 1) // 2"),
    Mutant("GB11-efficiency", "index", "(gamma**2 * t)", "(gamma**2 * (t + 1))"),
    Mutant(
        "GB11-T6",
        "constant",
        "2.0 * (c",
        "1.0 * (c",
        survives="true: GB11-T6-sharp proves .106 of what is printed",
    ),
)

_HIT = ("constant", "(float((h * h).sum()) / len(h)", "(float((h * h).sum()) * 1.1 / len(h)")
_ROWS = ("norm", "/ math.sqrt(N)", "/ N")
_LEFT = ("index", "** after.round", "** (after.round + 1)")
_ROOTS = ("constant", "2.0 * math.sqrt(x.T)", "1.9 * math.sqrt(x.T)")
_PAID = ("constant", "root / 2.0", "root / 2.2")

OF_STEPS_SHARED = (
    Mutant("GB11-T2", *_HIT, correction=1, step=1),
    Mutant("GB11-T2", *_ROWS, correction=1, step=2),
    Mutant("GB11-T2", "index", "(K - 1.0)", "(K - 2.0)", correction=1, step=3),
    Mutant("GB11-T2-converse", *_HIT, step=1),
    Mutant("GB11-T2-converse", *_ROWS, step=2),
    Mutant("GB11-T2-converse", "norm", "np.abs(w).max()", "np.abs(w).sum()", step=3),
    Mutant("GB11-T4-sharp", "index", "inner(r, z)", "inner(r, then)", step=1),
    Mutant("GB11-T4-sharp", "constant", "4.0 * inner(tight", "5.0 * inner(tight", step=2),
    Mutant("GB11-T4-sharp", "constant", "x.lam / 2.0", "x.lam / 1.8", step=3),
    Mutant("GB11-T4-sharp", "constant", "x.lam / 4.0 * inner(z", "x.lam / 4.4 * inner(z", step=4),
    Mutant("GB11-T4-sharp", *_LEFT, step=5, at="_left_over"),
    Mutant("GB11-T4-h", *_LEFT, step=1, at="_left_over"),
    Mutant("GB11-T4-error", "constant", "1.0 - part.edge", "1.0 - 0.9 * part.edge", step=1),
    Mutant("GB11-T5", "constant", "math.sqrt(t) / 2.0", "math.sqrt(t) / 3.0", correction=1, step=1),
    Mutant("GB11-T5", "index", "(v - h, then)", "(v - h, z)", correction=1, step=2),
    Mutant("GB11-T5", *_ROOTS, correction=1, step=3),
    Mutant("GB11-T5", *_LEFT, correction=1, step=4, at="_left_over"),
    Mutant("GB11-T5", *_PAID, correction=1, step=5),
    Mutant("GB11-T6-c", "norm", "True", "False", step=1),
    Mutant("GB11-T7", "constant", "+ lengths +", "+ 0.8 * lengths +", correction=1, step=1),
    Mutant(
        "GB11-T7", "constant", "inner(whole, v) -", "inner(whole, v) * 0.9 -", correction=1, step=2
    ),
    Mutant("GB11-T7", "index", "q**t", "q ** (t - 1)", correction=1, step=3),
    Mutant("GB11-T7", *_ROOTS, correction=1, step=4),
    Mutant("GB11-T7", *_PAID, correction=1, step=5),
    Mutant("GB11-average-residual", "constant", "inner(v, v) / 2.0", "inner(v, v) / 2.5", step=1),
    Mutant("GB11-average-residual", "direction", "at_most(squares", "at_least(squares", step=2),
)

_LEFT = ("constant", "square + taken, mean", "square + taken * Fraction(9, 10), mean")
_SMOOTH = ("direction", "at_most(risk", "at_least(risk")
_STRONGLY = ("constant", "x.lam / 2.0", "x.lam / 1.5")
_FACTORS = ("constant", "2.0 * q", "1.9 * q")
_SUMS = ("index", "(x.T + 1), ", "x.T, ")
_PARTS = ("index", "1 / eta[t - 1] - 1 / eta[t] +", "1 / eta[t] - 1 / eta[t - 1] +")
_MOVED = ("direction", "eta * sum(h * rest) -", "-eta * sum(h * rest) -")
_POTENTIAL = ("constant", "math.sqrt(t) / 2.0", "math.sqrt(t) / 3.0")

OF_SHORT_PROOFS = (
    Mutant("GB11-subgradient", "direction", "at_least(", "at_most(", correction=1, step=1),
    Mutant("GB11-Eq2", "constant", "- best *", "- Fraction(11, 10) * best *", step=1),
    Mutant("GB11-Eq3", *_LEFT, correction=1, step=1),
    Mutant("GB11-Eq4", *_LEFT, step=1),
    Mutant("GB11-D1", *_LEFT, correction=1, step=1),
    Mutant("GB11-D1", "constant", "2 * a * b", "3 * a * b", correction=2, step=1),
    Mutant("GB11-classification", "constant", "2 * wrong", "3 * wrong", step=1),
    Mutant(
        "GB11-T1-strict",
        "constant",
        "- wrong, ",
        "- wrong * Fraction(9, 10), ",
        correction=1,
        step=1,
    ),
    Mutant("GB11-T1-strict", "direction", "at_least(", "at_most(", correction=1, step=2),
    Mutant("GB11-T1-chain", "index", "len(w) *", "(len(w) - 1) *", correction=1, step=1),
    Mutant("GB11-T1-sums", "direction", "at_least(", "at_most(", step=1),
    Mutant("GB11-T1-sums", "index", "len(w) *", "(len(w) - 1) *", step=2),
    Mutant(
        "GB11-T2-all-gradients",
        "constant",
        'K / (K - 1.0), "‖',
        'K / (K - 0.9), "‖',
        correction=1,
        step=1,
    ),
    Mutant("GB11-T2-all-gradients", "norm", "/ math.sqrt(N)", "/ N", correction=1, step=2),
    Mutant("GB11-T2-all-gradients", "index", "(K - 1.0)", "(K - 2.0)", correction=1, step=3),
    Mutant("GB11-T2-centring", "index", "* x.K * c", "* (x.K - 1) * c", step=1),
    Mutant("GB11-T2-label", "index", "(K - 1) *", "(K - 2) *", correction=1, step=1),
    Mutant("GB11-T2-norms", "direction", "(a + b) **", "(a - b) **", correction=1, step=1),
    Mutant("GB11-T2-norms", "index", "- K * top", "- (K - 1) * top", correction=2, step=1),
    Mutant("GB11-T2-last-step", "index", "/ (K - 1)", "/ (K - 2)", correction=1, step=1),
    Mutant("GB11-T2-outputs", "index", "Fraction(x.K, x.K - 1)", "Fraction(x.K, x.K + 1)", step=1),
    Mutant("GB11-T2-outputs", "index", "Fraction(K, K - 1)", "Fraction(K, K + 1)", step=2),
    Mutant("GB11-T2-bounds", "index", "K * square", "(K - 1) * square", step=1),
    Mutant("GB11-T3-step", *_SMOOTH, correction=1, step=1),
    Mutant("GB11-T3-edge", *_SMOOTH, correction=1, step=1),
    Mutant("GB11-T3-dominance", *_STRONGLY, step=1),
    Mutant("GB11-T3-rate", *_SMOOTH, correction=1, step=1),
    Mutant("GB11-T3-rate", *_STRONGLY, correction=1, step=2),
    Mutant("GB11-T3-last", *_SMOOTH, correction=1, step=1),
    Mutant("GB11-T3-last", *_STRONGLY, correction=1, step=2),
    Mutant("GB11-T3-line-search", *_SMOOTH, step=1),
    Mutant("GB11-T3-line-search", *_STRONGLY, step=2),
    Mutant("GB11-T3-rounds", "constant", "-x.c", "-1.2 * x.c", step=1),
    Mutant("GB11-T4-G", "constant", "x.lam *", "1.2 * x.lam *", correction=1, step=1),
    Mutant("GB11-T4-potential", "constant", "2 * eta *", "3 * eta *", step=1),
    Mutant("GB11-T4-sum", "constant", "x.lam / 2.0", "x.lam / 1.5", step=1),
    Mutant("GB11-T4-sum", *_PARTS, step=2),
    Mutant("GB11-T4-display", "index", "(x.t + 1) / 2", "x.t / 2", correction=1, step=1),
    Mutant("GB11-T4-completed", "constant", "lam / 4", "lam / 5", step=1),
    Mutant("GB11-T4-completed", "constant", "1.0 + math.log", "0.6 + math.log", step=2),
    Mutant("GB11-T4-series", *_SUMS, step=1),
    Mutant("GB11-T5", *_FACTORS, correction=2, step=1),
    Mutant("GB11-T5", *_POTENTIAL, correction=3, step=1),
    Mutant("GB11-T5-series", *_SUMS, correction=1, step=1),
    Mutant("GB11-T5-sum", "constant", "risk.measure", "0.9 * risk.measure", step=1),
    Mutant("GB11-T5-sum", *_PARTS, step=2),
    Mutant("GB11-T5-display", "constant", "sum(rises) / 2", "sum(rises) / 3", correction=1, step=1),
    Mutant("GB11-T5-roots", "index", "math.sqrt(t - 1)", "math.sqrt(t - 0.5)", step=1),
    Mutant("GB11-T6", "direction", "at_most(", "at_least(", step=1),
    Mutant("GB11-T6-end", "direction", "at_most(", "at_least(", step=1),
    Mutant("GB11-T6-residual", *_LEFT, correction=1, step=1),
    Mutant("GB11-T6-h", *_LEFT, correction=1, step=1),
    Mutant("GB11-T6-parts", *_MOVED, step=1),
    Mutant("GB11-T6-display", "index", "(x.t + 1)", "(x.t + 2)", correction=1, step=1),
    Mutant("GB11-T7", *_POTENTIAL, correction=2, step=1),
    Mutant("GB11-T7-display", *_MOVED, correction=1, step=1),
    Mutant("GB11-T7-c", *_FACTORS, correction=1, step=1),
    Mutant("GB11-average-best", "direction", "at_most(", "at_least(", step=1),
    Mutant("GB11-average-best", "direction", "at_most(", "at_least(", step=2),
    Mutant("GB11-threshold", "index", "math.ceil(", "math.floor(", step=1),
    Mutant("GB11-learners", "index", "(x.T + 1) // 2", "(x.T - 1) // 2", step=1),
    Mutant("GB11-efficiency", "constant", "1 / square, ", "Fraction(9, 10) / square, ", step=1),
    Mutant("GB11-T2-rearranged", "index", "- s / x.K", "- s / (x.K + 1)", step=1),
    Mutant("GB11-T3-tight", "index", "Fraction(1, x.N)", "Fraction(1, x.N + 1)", step=1),
    Mutant("GB11-T3-tight", "index", "len(v) *", "(len(v) - 1) *", step=2),
    Mutant("GB11-regression", *_LEFT, correction=1, step=1),
    Mutant("GB11-Alg2", *_LEFT, correction=1, step=1),
    Mutant("GB11-T4-proof", "constant", '1.0, "(1', '0.8, "(1', step=1),
    Mutant("GB11-T4-eta", "constant", "x.h), 0", "x.h), Fraction(1, 10)", correction=1, step=1),
    Mutant("GB11-T6-eta", "constant", "x.h), 0", "x.h), Fraction(1, 10)", correction=1, step=1),
    Mutant("GB11-efficiency", "constant", "4.0 *", "3.0 *", step=2),
)
"""Of steps that are numbers, vectors, or shared."""

MUTANTS = (
    *OF_SHORT_PROOFS,
    *OF_STEPS_SHARED,
    *OF_SECTIONS_2_AND_3,
    *OF_APPENDIX_A,
    *OF_SECTION_4_1,
    *OF_ALGORITHM_2,
    *OF_ALGORITHM_3,
)

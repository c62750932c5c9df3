"""Errors planted in claims of GB11."""

from __future__ import annotations

from tests.claims.mutants.mutant import Mutant

_LEFT = ("constant", "square + taken, mean", "square + taken * Fraction(9, 10), mean")
_PAIRED = ("index", "inner(r, then)", "inner(r, z)")
_REST = ("index", "- K * top", "- (K - 1) * top")
_GAIN = ("constant", "printed_edge(x, 2)", "printed_edge(x, 1)")
_END = ("constant", "inner(rest, after", "1.1 * inner(rest, after")
_POTENTIAL = ("constant", "math.sqrt(after.round) / 2.0", "math.sqrt(after.round) / 3.0")
_LENGTHS = ("constant", "2.0 * inner(whole", "1.9 * inner(whole")

OF_SECTIONS_2_AND_3 = (
    Mutant(
        "GB11-subgradients-emp",
        "norm",
        "v[points == point].mean()",
        "v[points == point].max()",
        at="_at_points",
        correction=1,
    ),
    # the square falls off / 2 short, exactly
    Mutant(
        "GB11-subgradients-emp",
        "constant",
        "x.off / 2.0) *",
        "x.off / 1.8) *",
        correction=1,
        step=1,
    ),
    Mutant("GB11-Eq3", "hypothesis", "np.hstack([x.H, -x.H])", "x.H", correction=1),
    Mutant("GB11-Eq3", *_LEFT, correction=1, step=1),
    Mutant("GB11-D1", "constant", "- gamma**2", "- 0.9 * gamma**2", correction=1),
    Mutant("GB11-D1", *_LEFT, correction=1, step=1),
    Mutant("GB11-classification", "constant", "2 * taken", "taken"),
    Mutant("GB11-classification", "constant", "2 * wrong", "3 * wrong", step=1),
)

OF_APPENDIX_A = (
    Mutant("GB11-T1", "constant", "float(delta) /", "1.1 * float(delta) /", correction=1),
    Mutant("GB11-T1", "constant", "2 * right", "1.9 * right", correction=1, step=1),
    # one point, both signs: δ = γ = 1
    Mutant("GB11-T1-converse", "constant", "advantage(x), gamma", "advantage(x), 1.1 * gamma"),
    Mutant("GB11-T1-converse", "index", "len(w) *", "(len(w) - 1) *", step=1),
    # all classes on one point attain K − 1 = 2
    Mutant("GB11-T2-all-gradients", "constant", "(K - 1.0)", "(K - 1.2)", correction=1),
    Mutant("GB11-T2-all-gradients", *_REST, correction=1, step=1),
    Mutant("GB11-T2-converse", "index", "/ (K - 1)", "/ (K - 2)", step=1),
)

OF_SECTION_4_1 = (
    # (1, 1) along the axes: equal in the first round
    Mutant("GB11-T3", "index", "rate**t", "rate ** (t + 1)"),
    Mutant("GB11-T3", *_GAIN, step=1),
    Mutant("GB11-T3-edge", "constant", "/ (2.0 *", "/ (1.8 *", correction=1, at="stated"),
    Mutant("GB11-T3-edge", "direction", "at_most(risk", "at_least(risk", correction=1, step=1),
    Mutant("GB11-example-select", "constant", "> 0.5", "> 0.3", correction=1, at="stated"),
    Mutant("GB11-example-select", "constant", "2.0 * slope", "1.8 * slope", correction=1, step=1),
    Mutant("GB11-example-stuck", "constant", "eta, 2.0 * eta", "eta, 1.5 * eta"),
    Mutant("GB11-example-stuck", "constant", "x.eta, 2.0 *", "x.eta, 1.5 *", step=1),
)

OF_ALGORITHM_2 = (
    Mutant("GB11-Alg2", *_LEFT, correction=1, step=1),
    # .59 of the bound after two rounds on f²/2
    Mutant("GB11-T4", "constant", "G**2 / (", "0.5 * G**2 / (", at="bound4"),
    Mutant("GB11-T4", *_PAIRED, step=1),
    Mutant("GB11-T4", "constant", '1.0 + math.log(x.T), "Σ', '0.6 + math.log(x.T), "Σ', step=2),
    Mutant("GB11-T4-sharp", "index", "harmonic += 1.0 / t", "harmonic += 1.0 / (t + 1)"),
    Mutant("GB11-T4-sharp", *_PAIRED, step=1),
    Mutant("GB11-T5-h", "index", ") ** 2) ** t", ") ** 2) ** (t + 1)", correction=1),  # 1.1456
    Mutant(
        "GB11-T5-h",
        "constant",
        "1.0 - part.edge",
        "1.0 - 0.9 * part.edge",
        correction=1,
        step=1,
    ),
    Mutant("GB11-T5", "constant", "2.0 * run.radius", "1.0 * run.radius", correction=1),
    Mutant("GB11-T5", *_POTENTIAL, correction=1, step=1),
    Mutant("GB11-T5", *_PAIRED, correction=1, step=2),
    Mutant(
        "GB11-T5", "constant", "2.0 * math.sqrt(x.T)", "1.9 * math.sqrt(x.T)", correction=1, step=3
    ),
)

OF_ALGORITHM_3 = (
    Mutant("GB11-T6", "direction", "at_most(", "at_least(", step=1),
    # f²/2, T = 1
    Mutant("GB11-T6-sharp", "constant", "G**2 / (2.0 * x.lam", "G**2 / (2.2 * x.lam"),
    Mutant("GB11-T6-sharp", "constant", "inner(whole, v) -", "inner(whole, v) * 0.9 -"),
    Mutant("GB11-T6-sharp", *_END, step=1),
    Mutant("GB11-T6-sharp", *_LENGTHS, step=2),
    Mutant("GB11-T6-h", "index", "q**t", "q ** (t - 1)", correction=1),
    Mutant("GB11-T6-h", *_LEFT, correction=1, step=1),
    Mutant("GB11-T7", "constant", "2.0 * run.radius", "1.0 * run.radius", correction=1),
    Mutant("GB11-T7", *_END, correction=1, step=1),
    Mutant("GB11-T7", *_LENGTHS, correction=1, step=2),
    Mutant("GB11-average", "index", "(k * (k + 1.0))", "((k + 1.0) * (k + 2.0))", step=1),
    Mutant("GB11-average", "direction", "at_least(float(", "at_most(float(", step=2),
    Mutant("GB11-average", "constant", "2.0 + log", "1.5 + log", step=3),
    Mutant("GB11-threshold", "index", "math.ceil(", "math.floor("),
    Mutant("GB11-threshold", "index", "math.ceil(", "math.floor(", step=1),
    Mutant("GB11-efficiency", "index", "(gamma**2 * T)", "(gamma**2 * (T + 1))"),
    Mutant("GB11-efficiency", "constant", "4.0 *", "3.0 *", step=1),
    Mutant(
        "GB11-T6",
        "constant",
        "2.0 * (c",
        "1.0 * (c",
        survives="true: GB11-T6-sharp proves .106 of what is printed",
    ),
)

MUTANTS = (
    *OF_SECTIONS_2_AND_3,
    *OF_APPENDIX_A,
    *OF_SECTION_4_1,
    *OF_ALGORITHM_2,
    *OF_ALGORITHM_3,
)

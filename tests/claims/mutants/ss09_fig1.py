"""Errors planted in claims of SS09, Sec. 5 to 5.2: Fig. 1, Theorem 9 and its proof, remarks."""

from __future__ import annotations

from tests.claims.mutants.mutant import Mutant

MUTANTS = (
    # Theorem 9: errors of 1.125 ε and 1.19 ε are on record, and 3ε/2 is approached.
    Mutant("SS09-T9", "constant", "1.5 * x.epsilon", "1.1 * x.epsilon", correction=1),
    Mutant("SS09-T9", "hypothesis", "float(run.slope[-1]) + ", "", correction=1),
    Mutant(
        "SS09-T9",
        "constant",
        "math.log(len(x.u) / x.k)",
        "0.8 * math.log(len(x.u) / x.k)",
        correction=1,
        step=1,
    ),
    Mutant("SS09-T9", "direction", "at_least", "at_most", correction=1, step=1),
    Mutant("SS09-T9", "constant", "x.beta * most", "x.beta * most / 1.05", correction=2, step=1),
    Mutant("SS09-T9", "constant", "/ math.e", "/ 3.0", correction=2, step=1),
    Mutant("SS09-T9", "constant", "0.5 * x.epsilon", "0.9 * x.epsilon", correction=3),
    Mutant("SS09-T9", "constant", "half**2 / 8.0", "half**2 / 7.0", correction=3, step=1),
    Mutant("SS09-T9", "direction", "at_most", "at_least", correction=4, step=1),
    # The rounds: 2I − 1 with m = 100 and ε = 9/400 takes 7.02 log(m)/ε².
    Mutant("SS09-T9-rounds-worst", "constant", "32.0", "7.0"),
    Mutant("SS09-T9-rounds", "norm", "size**2", "(0.5 * size) ** 2", step=1),
    Mutant("SS09-T9-rounds", "direction", "at_least", "at_most", step=1),
    Mutant("SS09-T9-rounds", "direction", "at_most", "at_least", step=2),
    Mutant("SS09-T9-rounds", "constant", "phase = 8.0", "phase = 7.0", step=3),
    Mutant(
        "SS09-T9-capped",
        "hypothesis",
        "max(2.0, 32.0 * range_ / x.epsilon**2)",
        "32.0 * range_ / x.epsilon**2",
    ),
    # Sec. 5.1
    Mutant(
        "SS09-Sec5.1-beta", "constant", "2.0 * math.log(2.0)", "2.5 * math.log(2.0)", correction=1
    ),
    Mutant("SS09-Sec5.1-entropy", "constant", "0.5 * x.epsilon", "0.4 * x.epsilon"),
    Mutant("SS09-Sec5.1-entropy", "index", "math.log(m)", "math.log(m - 0.5)"),
    Mutant("SS09-Sec5.1-entropy", "constant", "s - 1.0", "s - 0.9", step=1),
    Mutant("SS09-Eq7", "constant", "0.5 * x.epsilon", "0.4 * x.epsilon"),
    Mutant("SS09-Eq7", "direction", "hat, rough", "rough, hat"),
    Mutant("SS09-Eq7", "constant", "less + x.c", "less + 0.9 * x.c", step=1),
    Mutant("SS09-Eq7-maximiser", "constant", "share = 0.5", "share = 0.35"),
    Mutant("SS09-Eq7-maximiser-worst", "constant", "0.5 * x.epsilon", "0.35 * x.epsilon"),
    Mutant("SS09-Eq7-maximiser-worst", "constant", "/ math.e", "/ 3.0"),
    Mutant("SS09-Eq8", "direction", "at_least(float(np.min(", "at_most(float(np.min("),
    Mutant("SS09-Eq8", "norm", "np.max(np.abs(d @ x.A))", "np.max(d @ x.A)", step=1),
    Mutant("SS09-L11", "constant", 'slope, "ε_t"', '0.9 * slope, "ε_t"'),
    Mutant("SS09-L11", "index", "run.slope[t]", "run.slope[min(t + 1, len(run.slope) - 1)]"),
    Mutant("SS09-L11", "norm", "np.max(np.abs(d[0] @ x.A))", "np.linalg.norm(d[0] @ x.A)", step=1),
    Mutant(
        "SS09-L12",
        "direction",
        "least_gain(left, run.beta), float(step)",
        "float(step), least_gain(left, run.beta)",
    ),
    Mutant("SS09-L12", "constant", "beta / 8.0", "beta / 1.0", at="least_gain"),
    Mutant("SS09-L12", "constant", "/ 8.0", "/ 7.0", step=1),
    Mutant("SS09-Eq9", "index", "run.u[t] + step", "run.u[t + 1] + step"),
    Mutant("SS09-Eq9", "direction", "+ step * run.v", "- step * run.v"),
    Mutant("SS09-Eq10-smooth", "constant", "2.0 * x.beta", "2.2 * x.beta"),
    Mutant("SS09-Eq10-smooth", "norm", "np.max(np.abs(x.two))", "np.mean(np.abs(x.two))"),
    Mutant("SS09-Eq10", "constant", "chain, 2.0", "chain, 1.8"),
    Mutant("SS09-Eq10", "norm", "np.max(np.abs(run.v[t]))", "np.mean(np.abs(run.v[t]))"),
    Mutant("SS09-T9-proof", "constant", "float(run.slope[0]), 1.0", "float(run.slope[0]), 0.9"),
    Mutant("SS09-T9-proof", "direction", "at_most(suboptimal, 8.0", "at_least(suboptimal, 8.0"),
    # Remarks
    Mutant("SS09-remark-sparsity", "index", "(x.w)) + 1", "(x.w))", step=1),
    Mutant("SS09-remark-sparsity", "index", "now.number - 1", "now.number - 2"),
    Mutant(
        "SS09-remark-half-margin",
        "constant",
        "gamma / 3.0, gamma / 3.0",
        "gamma / 1.5, gamma / 1.5",
        correction=1,
    ),
    Mutant("SS09-remark-adaboost-loss", "constant", "0.5", "0.6"),
    Mutant("SS09-remark-adaboost-loss", "constant", "** 0.5", "** 0.6", step=1),
    Mutant("SS09-remark-adaboost-loss", "constant", "-0.5 * x.r**2", "-0.6 * x.r**2", step=2),
    Mutant("SS09-remark-adaboost-error", "constant", "rate = 0.5", "rate = 0.7", correction=1),
    Mutant("SS09-remark-adaboost-error", "direction", "at_most", "at_least", correction=1, step=1),
    Mutant("SS09-remark-adaboost-error-sharp", "constant", "-0.5 * x.gamma", "-0.7 * x.gamma"),
    Mutant("SS09-remark-adaboost-error-sharp", "index", "(2.0 * (x.t + 1))", "(x.t + 1)"),
    Mutant("SS09-remark-adaboost-error-sharp", "index", "x.ones + 1)", "x.ones)", step=1),
    Mutant("SS09-remark-adaboost-error-sharp", "constant", "4 * x.n)", "3 * x.n)", step=2),
    Mutant("SS09-remark-one-over-gamma-worst", "index", "* n + 1", "* n + 2"),
    Mutant(
        "SS09-remark-one-over-gamma-worst",
        "index",
        "2 * minus]] = x.rng.exponential(size=2 * minus)",
        "2 * minus + 1]] = x.rng.exponential(size=2 * minus + 1)",
    ),
)

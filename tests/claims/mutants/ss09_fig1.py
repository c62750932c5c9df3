"""Errors planted in claims of SS09, Sec. 5 to 5.2: Fig. 1, Theorem 9 and its proof, remarks."""

from __future__ import annotations

from tests.claims.mutants.mutant import Mutant

MUTANTS = (
    # Theorem 9: an error of 1.125 ε is on record, and 3ε/2 is approached.
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
    Mutant("SS09-T9", "constant", "0.5 * x.epsilon", "0.9 * x.epsilon", correction=2),
    Mutant("SS09-T9", "direction", "at_most", "at_least", correction=2, step=1),
    Mutant("SS09-T9-family", "constant", "1.5 * x.epsilon", "x.epsilon", correction=1),
    Mutant("SS09-T9-family", "direction", "at_least", "at_most", correction=1, step=1),
    Mutant("SS09-T9-many-rows", "hypothesis", " + cost", "", at="stated", correction=1),
    Mutant(
        "SS09-T9-many-rows",
        "constant",
        "x.beta * most",
        "x.beta * most / 1.05",
        correction=1,
        step=1,
    ),
    Mutant("SS09-T9-many-rows", "constant", "/ math.e", "/ 3.0", correction=1, step=1),
    Mutant(
        "SS09-T9-many-rows",
        "constant",
        "0.5 * x.epsilon",
        "0.35 * x.epsilon",
        correction=1,
        step=2,
    ),
    Mutant("SS09-T9-many-rows", "constant", "/ math.e", "/ 3.0", correction=1, step=2),
    Mutant("SS09-T9-small", "constant", "share * x.epsilon", "0.999 * share * x.epsilon"),
    # The rounds: 2I − 1 with m = 100 and ε = 9/400 takes 7.02 log(m)/ε².
    Mutant("SS09-T9-rounds-worst", "constant", "32.0", "7.0"),
    Mutant("SS09-T9-rounds", "direction", "at_most", "at_least", step=1),
    Mutant(
        "SS09-T9-capped",
        "hypothesis",
        "max(2.0, 32.0 * range_ / x.epsilon**2)",
        "32.0 * range_ / x.epsilon**2",
    ),
    # Sec. 5.1
    Mutant("SS09-L11", "constant", 'slope, "ε_t"', '0.9 * slope, "ε_t"'),
    Mutant("SS09-L11", "index", "run.slope[t]", "run.slope[min(t + 1, len(run.slope) - 1)]"),
    Mutant("SS09-L11", "constant", "float(d @ u)", "0.9 * float(d @ u)", step=1),
    Mutant(
        "SS09-L12",
        "direction",
        "least_gain(left, run.beta), float(step)",
        "float(step), least_gain(left, run.beta)",
    ),
    Mutant("SS09-L12", "constant", "beta / 8.0", "beta / 1.0", at="least_gain"),
    Mutant("SS09-L12", "norm", "size**2", "(0.5 * size) ** 2", step=1),
    Mutant("SS09-L12", "norm", "np.max(np.abs(run.v[t]))", "np.mean(np.abs(run.v[t]))", step=1),
    Mutant("SS09-L12", "direction", "at_least", "at_most", step=1),
    Mutant("SS09-L12", "constant", "size, 2.0", "size, 1.2", step=1),
    # Remarks
    Mutant("SS09-remark-adaboost-error", "constant", "rate = 0.5", "rate = 0.7", correction=1),
    Mutant("SS09-remark-adaboost-error", "constant", "** 0.5", "** 0.6", correction=1, step=1),
    Mutant("SS09-remark-adaboost-error-sharp", "constant", "-0.5 * x.gamma", "-0.7 * x.gamma"),
    Mutant("SS09-remark-adaboost-error-sharp", "index", "(2.0 * (x.t + 1))", "(x.t + 1)"),
    Mutant("SS09-remark-adaboost-error-sharp", "index", "x.ones + 1)", "x.ones)", step=1),
    Mutant("SS09-remark-one-over-gamma", "index", "* n + 1", "* n + 2", correction=1, step=1),
    Mutant(
        "SS09-remark-one-over-gamma",
        "index",
        "2 * minus]] = rng.exponential(size=2 * minus)",
        "2 * minus + 1]] = rng.exponential(size=2 * minus + 1)",
        correction=1,
        step=1,
    ),
)

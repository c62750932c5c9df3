"""Errors planted in claims of DEK11."""

from __future__ import annotations

from tests.claims.mutants.mutant import Mutant

MUTANTS = (
    Mutant("DEK11-E1", "constant", "1.0, N", "0.9, N", at="tossed"),
    Mutant("DEK11-E1", "index", "run.before", "run.w[:, 1:]", at="deviations"),
    Mutant("DEK11-E1", "constant", 'law.c, "length', '0.8 * law.c, "length', step=1),
    Mutant("DEK11-E1", "index", "law.risk(run.before)", "law.risk(run.w[:, 1:])", step=1),
    Mutant("DEK11-E1", "index", "w = run.before[:, i]", "w = run.w[:, i + 1]", step=1),
    Mutant(
        "DEK11-projection",
        "norm",
        "np.linalg.norm(v, axis=-1",
        "np.abs(v).max(axis=-1",
        at="project",
        correction=1,
    ),
    Mutant("DEK11-projection", "direction", "at_most(", "at_least(", correction=1, step=1),
    Mutant(
        "DEK11-projection", "constant", "image - w", "1.1 * (image - w)", at="stated", correction=1
    ),
    Mutant("DEK11-A1", "constant", "step(x)[1]", "1.05 * step(x)[1]"),
    Mutant("DEK11-A1", "index", "math.sqrt(len(x.A))", "math.sqrt(len(x.A) + 1)", at="step"),
    Mutant(
        "DEK11-T1", "constant", "right = steep", "right = 0.9 * steep", at="stated", correction=1
    ),
    Mutant("DEK11-T1", "constant", '-0.5, "−1/2', '-0.47, "−1/2', correction=1, step=1),
    Mutant(
        "DEK11-T2",
        "constant",
        "law.regret / law.m",
        "0.7 * law.regret / law.m",
        at="excess",
        survives="not known to be false: it adds three worst cases that exclude each other",
    ),
    Mutant("DEK11-T2", "index", "law.run()) - seen", "law.run())", step=1),
    Mutant(
        "DEK11-mean-risk",
        "index",
        "run.w[:, first : first + law.m]",
        "run.w[:, first + 1 : first + 1 + law.m]",
        at="stated",
        correction=1,
    ),
    Mutant(
        "DEK11-mean-risk",
        "constant",
        "(1.0 - x.r) * float(one)",
        "(0.9 - x.r) * float(one)",
        correction=1,
        step=1,
    ),
    Mutant("DEK11-mean-risk", "constant", "1.0)[0]", "0.7)[0]", correction=2),
    Mutant(
        "DEK11-mean-risk", "constant", "law.B / law.m", "0.9 * law.B / law.m", correction=2, step=1
    ),
    Mutant("DEK11-majority", "constant", "2.0 * errors", "1.8 * errors"),
    Mutant("DEK11-majority", "index", "first + 1", "first + 2"),
    Mutant("DEK11-majority", "constant", "2.0 * float(each.mean", "1.9 * float(each.mean", step=1),
    Mutant("DEK11-majority", "constant", "2.0 * (zero", "1.9 * (zero", step=1),
    Mutant("DEK11-majority-zero", "index", "voters.sum(", "voters[:, :-1].sum(", correction=1),
    Mutant("DEK11-surrogate", "hypothesis", "LOSSES[x.loss]", "LOSSES['logistic']", step=1),
    Mutant("DEK11-surrogate", "constant", "2.0 * law.risk", "1.8 * law.risk"),
    Mutant("DEK11-surrogate", "constant", 'value, "[u', '0.95 * value, "[u', step=1),
    Mutant("DEK11-radius", "constant", "radius(x, 2.0)", "radius(x, 1.6)", correction=1),
    Mutant("DEK11-radius", "index", "2.0 * rest", "2.0 * (rest + 1)", at="stated", correction=1),
    Mutant("DEK11-radius", "constant", "1.0, N", "0.9, N", correction=1, step=1, at="tossed"),
    Mutant(
        "DEK11-as-good",
        "direction",
        "chosen - bounds.min(axis=1)",
        "bounds.min(axis=1) - chosen",
        correction=1,
    ),
    Mutant(
        "DEK11-as-good",
        "hypothesis",
        "radii - excess",
        "radii",
        correction=1,
        step=1,
    ),
    Mutant("DEK11-chosen", "constant", "2.0 * x.over", "1.0 * x.over"),
    Mutant("DEK11-chosen", "hypothesis", "radii - excess", "radii", step=1),
    Mutant("DEK11-chosen", "constant", "0.6,", "0.5,", step=2),
    Mutant("DEK11-chosen", "constant", "0.2,", "0.15,", step=3),
    Mutant(
        "DEK11-half", "constant", "/ (2 * x.h))", "/ (8 * x.h))", at="half_radius", correction=1
    ),
    Mutant("DEK11-A2", "constant", "exponentiated(eta)", "exponentiated(1.05 * eta)"),
    Mutant("DEK11-A2", "direction", "sums = -eta", "sums = eta"),
    Mutant(
        "DEK11-T3",
        "constant",
        "2.0 * m * math.log(2.0))\n",
        "1.9 * m * math.log(2.0))\n",
        at="turned",
        correction=1,
    ),
    Mutant(
        "DEK11-half", "constant", "x.h * math.exp(-2.0", "x.h * math.exp(-1.2", correction=1, step=1
    ),
    Mutant("DEK11-T1-regret", "constant", '-0.5, "−1/2', '-0.47, "−1/2', correction=1, step=1),
    Mutant("DEK11-T2-order", "index", "[:, ::-1]", "[:, 1:]", correction=1, step=1),
    Mutant("DEK11-T3", "direction", "gain + logs", "gain - logs", correction=1, step=1),
    Mutant(
        "DEK11-T3",
        "hypothesis",
        "Z - (w * Z).sum(axis=1, keepdims=True)",
        "Z",
        correction=1,
        step=1,
    ),
    Mutant("DEK11-T3", "constant", "-0.5,", "-0.47,", correction=1, step=2),
    Mutant(
        "DEK11-majority-zero",
        "constant",
        "2.0 * float((votes",
        "1.9 * float((votes",
        correction=1,
        step=1,
    ),
)

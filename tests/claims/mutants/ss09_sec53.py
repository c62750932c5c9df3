"""Errors planted in claims of SS09: Fig. 1, strong convexity, Sec. 5.2 and 5.3, Fig. 2, Sec. 6."""

from __future__ import annotations

from tests.claims.mutants.mutant import Mutant

MUTANTS = (
    # Sec. 5 and Fig. 1
    Mutant("SS09-F1-beta", "hypothesis", "2 if alone else ", "", correction=1),
    # Strong convexity
    Mutant("SS09-D10-entropy", "constant", "0.5 * a", "0.55 * a"),
    Mutant(
        "SS09-D10-entropy",
        "norm",
        "np.abs(x.v - x.u).sum()) ** 2",
        "len(x.v) * ((x.v - x.u) ** 2).sum())",
    ),
    # Sec. 5.2, and sharper constants
    Mutant("SS09-Eq13-rounds", "index", "x.A.shape[1] + 1", "x.A.shape[1]"),
    Mutant("SS09-Eq13-rounds", "direction", "at_most(left, now.slope", "at_least(left, now.slope"),
    Mutant("SS09-Eq13-rounds", "index", "(now.w, now.seen)", "(now.w, now.seen[1:])", step=1),
    Mutant("SS09-Eq13-rounds", "direction", "at_least(now.best", "at_most(now.best", step=1),
    Mutant("SS09-L12-sharper", "direction", "at_least(float(gain)", "at_most(float(gain)"),
    Mutant("SS09-L12-sharper", "constant", "SPREAD", "0.9", step=1),
    Mutant("SS09-L12-sharper", "constant", "** 2 / 4.0", "** 2 / 5.0", step=1),
    Mutant("SS09-L12-sharper", "constant", "deviation) ** 2", "0.9 * deviation) ** 2", step=2),
    Mutant("SS09-L12-sharper", "constant", "3.0 / 16.0", "3.2 / 16.0", step=3),
    Mutant("SS09-Eq13-accuracy", "constant", "1.5 * x.epsilon", "1.1 * x.epsilon", correction=1),
    Mutant("SS09-Eq13-accuracy", "hypothesis", "run.gap + ", "", correction=1),
    Mutant("SS09-Eq13-accuracy", "hypothesis", " + most", "", correction=1, step=1),
    Mutant("SS09-Eq13-sharper", "direction", "at_least(now.best", "at_most(now.best"),
    Mutant("SS09-Eq13-sharper", "constant", "9.0 / 4.0", "8.5 / 4.0", step=1),
    # Sec. 5.3
    Mutant(
        "SS09-L13",
        "hypothesis",
        "assume(bool((_clipped(theta) == theta).all()))",
        "pass",
        correction=1,
    ),
    Mutant(
        "SS09-L13", "hypothesis", "assume(bool((d0 == theta).all()))", "pass", correction=1, step=1
    ),
    Mutant(
        "SS09-C14",
        "hypothesis",
        "assume(bool((_clipped(theta) == theta).all()))",
        "pass",
        correction=1,
    ),
    Mutant("SS09-Eq14", "direction", "theta = -u", "theta = u"),
    Mutant("SS09-Eq14", "constant", "1.0 / x.k", "1.1 / x.k"),
    Mutant("SS09-L15", "direction", "if a > b", "if a < b"),
    Mutant("SS09-L16", "index", "1.0 - nu * first", "1.0 - nu * (first + 1)"),
    Mutant("SS09-L16", "index", "d0[first:]", "d0[first + 1 :]"),
    Mutant("SS09-L16", "constant", "tau * rates[1]", "0.9 * tau * rates[0]", step=1),
    Mutant("SS09-L16", "direction", "at_least(change", "at_most(change", step=1),
    Mutant("SS09-L16-first", "index", "at_most(values[0], value", "at_most(values[-1], value"),
    # Fig. 2
    Mutant(
        "SS09-F2",
        "hypothesis",
        "assume(Fraction(x.nu) * int(np.count_nonzero(x.d0)) >= 1)",
        "pass",
        correction=1,
    ),
    Mutant("SS09-F2", "index", "int(np.count_nonzero(x.d0))", "len(x.d0)", correction=1),
    Mutant("SS09-F2-ENDFOR", "index", "nu * (i - 1)", "nu * i", at="fig2", correction=1),
    # Sec. 5.1, AdaBoost; Sec. 6
    Mutant("SS09-remark-approximate", "hypothesis", "gap + x.delta", "0.9 * gap"),
    Mutant("SS09-remark-approximate", "direction", "at_least", "at_most"),
    Mutant("SS09-remark-approximate", "norm", "margin(u, x.k)", "np.min(u) / x.k", step=1),
)

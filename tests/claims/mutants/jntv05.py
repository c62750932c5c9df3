"""Errors planted in claims of JNTV05; what is not plainly false says why."""

from __future__ import annotations

from tests.claims.mutants.mutant import Mutant

OF_STEPS = (
    Mutant("JNTV05-L-assumption", "direction", "at_least(rise", "at_most(rise", step=1),
    Mutant("JNTV05-L-assumption", "constant", "alpha / 2.0", "alpha / 1.2", step=1),
    Mutant("JNTV05-P1-1", "direction", "(-x.beta * slope", "(x.beta * slope", correction=1, step=1),
    Mutant("JNTV05-P1-1", "direction", "(x.z, at_most)", "(x.z, at_least)", correction=1, step=1),
    Mutant("JNTV05-P1-2ii", "direction", "x.v - x.z", "x.z - x.v", correction=1, step=1),
    Mutant("JNTV05-P1-2ii", "direction", "at_most(", "at_least(", correction=1, step=1),
    Mutant("JNTV05-D1", "constant", "size**2 / x.radius", "1.1 * size**2 / x.radius", step=1),
    Mutant("JNTV05-Eq10", "hypothesis", "x.radius * x.beta * div", "x.beta * div", step=1),
    Mutant("JNTV05-Eq10", "constant", "+= x.beta", "+= 0.9 * x.beta", step=1),
    Mutant("JNTV05-Eq22-Eq24", "direction", "b - a", "b + a", step=1),
    Mutant("JNTV05-P2", "constant", "(2.0 * x.beta)", "(2.1 * x.beta)", correction=1, step=1),
    Mutant("JNTV05-P2", "norm", "np.abs(u).max()", "np.abs(u).mean()", correction=1, step=1),
    Mutant(
        "JNTV05-P2",
        "direction",
        "at_most(after, before",
        "at_least(after, before",
        correction=1,
        step=2,
    ),
    Mutant(
        "JNTV05-P2-start", "direction", "(first - at) @ x", "(at - first) @ x", correction=1, step=1
    ),
    Mutant("JNTV05-P3", "hypothesis", "(u - x.p @ u)", "u", correction=1, step=1),
    Mutant("JNTV05-P3", "norm", ".max(axis=1)", ".sum(axis=1)", correction=1, step=1),
    Mutant(
        "JNTV05-P3",
        "constant",
        "found.lipschitz**2",
        "0.9 * found.lipschitz**2",
        correction=1,
        step=1,
    ),
    Mutant("JNTV05-R4", "hypothesis", "x.factor * x.beta", "x.beta", correction=1, step=1),
    # √t for √(t + 1) in both terms: at t = 1 and small L the first is √2 of it.
    Mutant("JNTV05-T1", "index", "math.sqrt(x.t + 1)", "math.sqrt(x.t)", step=1),
    # (29) is attained at the best β_0.
    Mutant("JNTV05-T1", "constant", "2.0 * x.L", "1.9 * x.L", step=1),
    Mutant("JNTV05-T1", "hypothesis", "/ x.t, math", ", math", step=1),
    Mutant("JNTV05-T2", "constant", "2.0 * x.L", "2.1 * x.L", correction=1, step=1),
    Mutant("JNTV05-Eq38", "constant", "2.0 * x.most /", "2.2 * x.most /", step=1),
    Mutant("JNTV05-Eq38", "index", "t**-0.5", "(t + 1) ** -0.5", step=1),
    Mutant("JNTV05-Eq38", "hypothesis", "np.append(0.0, ", "-0.47 * np.append(0.0, ", step=1),
    Mutant("JNTV05-Eq35", "constant", "x.s) / math", "x.s) * 1.5 / math", correction=1, step=1),
    Mutant("JNTV05-Eq36-strong", "constant", "least = mod", "least = 1.1 * mod", step=1),
    Mutant("JNTV05-Eq36-strong", "index", "size, 1.0)", "size - 1, 1.0)", step=1),
    Mutant("JNTV05-ratio-others", "constant", '0.5, "1/2', '0.6, "1/2', correction=1, step=1),
    Mutant(
        "JNTV05-ratio-others",
        "constant",
        "(math.e - 1.0) * s)",
        "(math.e - 0.9) * s)",
        correction=1,
        step=1,
    ),
    Mutant("JNTV05-conjecture", "norm", "sum(abs(e) for", "max(abs(e) for", correction=1, step=1),
    Mutant("JNTV05-conjecture", "index", "argmin", "argmax", correction=1, step=1),
    Mutant("JNTV05-R1", "constant", "/ 2.0", "/ 2.5", step=1),
)

MUTANTS = (
    *OF_STEPS,
    # Without the jump left out V is not closed: the statement as printed.
    Mutant("JNTV05-P1-1", "hypothesis", "True", "False", correction=1),
    Mutant("JNTV05-L-assumption", "constant", "(alpha * x.beta)", "(2.0 * alpha * x.beta)"),
    Mutant("JNTV05-P1-2ii", "hypothesis", "True", "False", correction=1),
    # 2 ln 2 = 1.39 of 2 is attained between vertices for M = 2.
    Mutant("JNTV05-D1", "constant", "(2.0 * x.radius)", "(1.2 * x.radius)"),
    Mutant("JNTV05-Eq10", "direction", "-float(theta @ h), ", "float(theta @ h), "),
    Mutant("JNTV05-Eq10", "norm", "np.abs(h).max()", "np.abs(h).min()"),
    # θ_i minimises, so that it is below every θ, and strictly but for θ = θ_i.
    Mutant("JNTV05-Eq11", "direction", "at_most(least", "at_least(least"),
    Mutant("JNTV05-Eq22-Eq24", "direction", "x.gamma * x.u - slope", "-x.gamma * x.u - slope"),
    Mutant(
        "JNTV05-P2", "hypothesis", "abs(x.shift), abs(x.shift)", "x.shift, x.shift", correction=1
    ),
    Mutant("JNTV05-P2", "constant", "(2.0 * alpha)", "(3.0 * alpha)", at="_regret", correction=1),
    Mutant("JNTV05-P2", "index", "beta[-1] * value", "beta[0] * value", at="_regret", correction=1),
    Mutant("JNTV05-P2-start", "hypothesis", "0.0)", "0.0, x.radius * x.first)", correction=1),
    Mutant(
        "JNTV05-P3", "hypothesis", "_excess(x, abs(x.shift))", "_excess(x, x.shift)", correction=1
    ),
    Mutant("JNTV05-R4", "hypothesis", "c * x.beta", "x.beta", correction=1),
    # 1.09 of it at t = 2, M = 4.
    Mutant("JNTV05-T1", "constant", "2.0 * x.radius", "1.0 * x.radius", at="_theorem_1"),
    Mutant("JNTV05-R2", "constant", "rate / 2.0) / 2.0", "rate / 2.0) / 3.0", correction=1),
    Mutant("JNTV05-Eq38", "index", "math.sqrt(x.t / (2.0", "math.sqrt((x.t + 1) / (2.0"),
    Mutant("JNTV05-T2", "hypothesis", "abs(x.shift)", "x.shift", correction=1),
    Mutant("JNTV05-R5-proof", "norm", "max(x.steep, x.flat)", "min(x.steep, x.flat)", correction=1),
    Mutant("JNTV05-Eq35", "index", "x.x.size >= 3", "x.x.size >= 2", correction=1),
    Mutant("JNTV05-Eq36-strong", "index", "np.full(x.x.size,", "np.full(x.x.size + 1,"),
    Mutant("JNTV05-ratio-others", "constant", "log / 2.0", "log / 1.05", correction=1),
    # For M = 2 the first bound is attained, by the squares.
    Mutant("JNTV05-conjecture", "constant", "2.0 * square", "2.2 * square", correction=1),
    # g_M² is above the ratio of the tilted proxy from M = 10 on.
    Mutant("JNTV05-conjecture", "constant", "** 2 / 2.0", "** 2 / 1.0", correction=1),
    Mutant("JNTV05-R1", "index", "(size - 1) / 2.0", "size / 2.0"),
    Mutant("JNTV05-Sec6.2", "direction", "at_most(least, value", "at_least(least, value"),
)

"""Errors planted in claims of JNTV05; what is not plainly false says why."""

from __future__ import annotations

from tests.claims.mutants.mutant import Mutant

MUTANTS = (
    Mutant("JNTV05-Eq1", "constant", "error(-1e-9), 1,", "error(-1e-9), Fraction(11, 10),"),
    Mutant("JNTV05-unbiased", "constant", "/ 2.0", "/ 1.9"),
    Mutant("JNTV05-calibration", "direction", "best > 0.0", "best < 0.0"),
    # The exponential loss is strictly convex.
    Mutant("JNTV05-losses", "direction", "at_most(low,", "at_least(low,"),
    # Where A is linear the sub-gradient inequality is an equality; a slope of 3/4 of it is none.
    Mutant("JNTV05-Eq4", "constant", "risks[0] + rise", "risks[0] + rise * Fraction(3, 4)"),
    Mutant("JNTV05-L", "norm", ".max(axis=1)", ".sum(axis=1)"),
    Mutant("JNTV05-L", "constant", "found.lipschitz,", "0.9 * found.lipschitz,"),
    Mutant("JNTV05-T1-C", "constant", "2.0 * x.radius", "1.9 * x.radius"),
    Mutant("JNTV05-R3", "constant", "(2 * len(w))", "(3 * len(w))"),
    # θ_i minimises, so that it is below every θ, and strictly but for θ = θ_i.
    Mutant("JNTV05-Eq11", "direction", "at_most(least", "at_least(least"),
    Mutant("JNTV05-Eq13", "constant", "iterates(x.U, x.gamma,", "iterates(x.U, 0.9 * x.gamma,"),
    Mutant("JNTV05-Eq12", "index", "theta[i - 1]) / i", "theta[i - 1]) / (i + 1)"),
    Mutant("JNTV05-Eq12", "direction", "recursive - (", "recursive + ("),
    Mutant("JNTV05-affine", "direction", "at_most(value,", "at_least(value,"),
    Mutant("JNTV05-Eq17", "constant", "x.K / math.sqrt", "0.9 * x.K / math.sqrt"),
    Mutant("JNTV05-Eq17", "direction", "at_most(before,", "at_least(before,"),
    Mutant("JNTV05-Eq22-Eq24", "direction", "x.gamma * x.u - slope", "-x.gamma * x.u - slope"),
    Mutant("JNTV05-Eq22-gradient", "constant", "/ 2\n    return", "/ 3\n    return"),
    Mutant("JNTV05-Eq23", "direction", "np.exp(-(x.gamma[:i]", "np.exp((x.gamma[:i]"),
    Mutant("JNTV05-Sec3.5-growing", "index", "divisors[t],", "divisors[t - 1],"),
    Mutant("JNTV05-Sec3.5-differ", "constant", "(g - 1) / 2,", "(g - 1) / 3,"),
    Mutant("JNTV05-Sec3.5-start", "direction", "ratios[0]", "ratios[-1] ** -1"),
    Mutant(
        "JNTV05-norms",
        "norm",
        'max(abs(each) for each in z), "zᵀθ',
        'sum(abs(each) for each in z), "zᵀθ',
    ),
    # Without the jump left out V is not closed: the statement as printed.
    Mutant("JNTV05-P1-1", "hypothesis", "Fraction(0)", "_stretch(x)", correction=1),
    Mutant("JNTV05-P1-2ii", "hypothesis", "False", "True", correction=1),
    # 2 ln 2 = 1.39 of 2 is attained between vertices for M = 2.
    Mutant("JNTV05-D1", "constant", "(2.0 * x.radius)", "(1.2 * x.radius)"),
    Mutant("JNTV05-D1", "constant", "size**2 / x.radius", "1.1 * size**2 / x.radius"),
    Mutant("JNTV05-Eq9", "direction", "at_most(less", "at_least(less"),
    # The mean of exponentials without 1/M.
    Mutant("JNTV05-Eq9", "constant", "value = free_energy", "value = 0.9 * free_energy"),
    Mutant("JNTV05-Eq10", "direction", "x.z[k] - x.z[j]", "x.z[j] - x.z[k]"),
    Mutant("JNTV05-KL", "index", "theta * x.theta.size", "theta * (x.theta.size + 1)"),
    # (29) is attained at the best β_0.
    Mutant("JNTV05-Eq29", "constant", "2.0 * x.L", "2.1 * x.L"),
    Mutant("JNTV05-Eq29", "constant", "2.0 * x.L", "1.9 * x.L", step=1),
    Mutant("JNTV05-Eq28", "constant", "2.0 * rise", "1.9 * rise", step=1),
    # √t for √(t + 1) in both terms: at t = 1 and small L the first is √2 of it.
    Mutant("JNTV05-Eq28", "index", "math.sqrt(x.t + 1)", "math.sqrt(x.t)"),
    Mutant("JNTV05-Eq28", "constant", "2.0 * rise", "1.8 * rise", step=1),
    Mutant("JNTV05-Eq30", "hypothesis", "x.radius * math.log", "math.log"),
    Mutant("JNTV05-Eq30", "direction", "at_most(", "at_least(", step=1),
    Mutant("JNTV05-Eq37", "constant", "2.0 * most / (alpha * t)", "2.2 * most / (alpha * t)"),
    Mutant(
        "JNTV05-Eq37",
        "index",
        "x.gamma.size * beta[-1]",
        "(x.gamma.size - 1 or 1) * beta[-1]",
        step=1,
    ),
    Mutant("JNTV05-Eq37", "constant", "2.0 * most", "2.2 * most", step=2),
    # At t = 1 the factor is 2.
    Mutant("JNTV05-Sec6.3", "constant", "2.0 * best", "1.8 * best"),
    Mutant(
        "JNTV05-P2", "hypothesis", "abs(x.shift), abs(x.shift)", "x.shift, x.shift", correction=1
    ),
    Mutant("JNTV05-P2", "constant", "(2.0 * alpha)", "(3.0 * alpha)", at="_regret", correction=2),
    Mutant("JNTV05-P2", "index", "beta[-1] * value", "beta[0] * value", at="_regret", correction=2),
    Mutant(
        "JNTV05-P2-start",
        "hypothesis",
        "yield _regret(x, 0.0, 0.0)",
        "yield _regret(x, 0.0, 0.0, x.radius * x.first)",
        correction=1,
    ),
    Mutant("JNTV05-P2-proof", "direction", "linear + square", "linear - square"),
    Mutant("JNTV05-P2-falling", "hypothesis", "abs(x.shift)", "x.shift", correction=1),
    Mutant("JNTV05-P2-falling", "direction", "at_most(", "at_least(", correction=1, step=1),
    Mutant("JNTV05-P2-end", "direction", "at_most(value", "at_least(value"),
    Mutant(
        "JNTV05-P3", "hypothesis", "_excess(x, abs(x.shift))", "_excess(x, x.shift)", correction=1
    ),
    Mutant("JNTV05-Eq27", "direction", "at_most(", "at_least("),
    Mutant("JNTV05-Eq27", "direction", "at_most(", "at_least(", step=1),
    Mutant("JNTV05-Eq27", "constant", "fall, float((", "fall, 0.8 * float((", step=2),
    Mutant("JNTV05-noise", "norm", ".max(axis=2)", ".sum(axis=2)"),
    Mutant("JNTV05-R4-bounds", "hypothesis", "x.factor * beta", "beta"),
    Mutant("JNTV05-R4", "hypothesis", "c * x.beta", "x.beta", correction=1),
    Mutant("JNTV05-R4", "hypothesis", "x.factor * x.beta", "x.beta", correction=1, step=1),
    Mutant(
        "JNTV05-T2",
        "hypothesis",
        "_below_roof(x, abs(x.shift))",
        "_below_roof(x, x.shift)",
        correction=1,
    ),
    Mutant("JNTV05-T2-squared", "constant", "4 * K**2", "3 * K**2", correction=1),
    Mutant("JNTV05-T2-max", "norm", "max(_disc", "min(_disc", correction=1),
    Mutant("JNTV05-R5-proof", "norm", "max(x.steep, x.flat)", "min(x.steep, x.flat)", correction=1),
    Mutant("JNTV05-Eq35", "index", "x.x.size >= 3", "x.x.size >= 2", correction=1),
    Mutant("JNTV05-Eq35-ratio", "constant", "math.e**2 / 2.0", "math.e**2 / 4.0"),
    Mutant("JNTV05-Eq36", "constant", "/ math.e", "/ 2.0", step=1),
    Mutant("JNTV05-Eq36", "index", "np.full(size,", "np.full(size + 1,"),
    Mutant("JNTV05-Eq36-strong", "constant", 'alpha, "hᵀ', '1.1 * alpha, "hᵀ'),
    Mutant("JNTV05-Eq36-divergence", "constant", "(math.e * s", "(3.0 * s"),
    Mutant("JNTV05-divergences", "index", "size - 1.0", "size - 0.0"),
    Mutant(
        "JNTV05-Eq36-ratio",
        "constant",
        "(math.e - 1.0) * x.radius**2 * log**2",
        "(math.e - 0.9) * x.radius**2 * log**2",
    ),
    # For M = 2 the first bound is attained, by the squares.
    Mutant("JNTV05-conjecture", "constant", "2.0 * square", "2.2 * square", correction=1),
    Mutant("JNTV05-ratio-l2", "index", "size % 2", "(size + 1) % 2", correction=2),
    Mutant(
        "JNTV05-ratio-l2", "constant", "Fraction(2, size)", "Fraction(9, 4 * size)", correction=1
    ),
    Mutant("JNTV05-R1", "index", "(size - 1) / 2.0", "size / 2.0"),
    Mutant("JNTV05-l1", "norm", "max(h) - min(h)", "sum(abs(h))"),
    Mutant("JNTV05-Sec6.2", "direction", "at_most(least, value", "at_least(least, value"),
    Mutant("JNTV05-A-hessian", "constant", "2.0 * (a * h", "1.9 * (a * h"),
    Mutant("JNTV05-Eq39", "direction", "at_most(middle", "at_least(middle"),
    Mutant("JNTV05-Eq39", "direction", "v[0] - v", "v - v[0]", step=1),
    Mutant("JNTV05-Eq39", "constant", "term, a[i]", "term, Fraction(9, 10) * a[i]", step=2),
    Mutant("JNTV05-A-vertices", "constant", "4 * plus", "3 * plus"),
    Mutant("JNTV05-A-vertices", "constant", "most, 1,", "most, Fraction(9, 10),"),
    Mutant("JNTV05-A-vertices", "direction", "at_most(", "at_least(", step=1),
    Mutant("JNTV05-A-vertices", "constant", "1 - 2 * plus", "1 - 3 * plus", step=2),
    Mutant("JNTV05-Eq40", "constant", "alpha / 2.0", "alpha / 1.2"),
    Mutant("JNTV05-B-chain", "constant", "square / 2.0", "square / 1.2"),
    Mutant("JNTV05-B-chain", "direction", "(x.z - x.v)", "(x.v - x.z)"),
    # In the interior ‖θ‖_2²/2 has (z_1 − z_2)ᵀ(x_2 − x_1) = β‖x_1 − x_2‖².
    Mutant("JNTV05-B-end", "constant", "alpha * x.beta", "1.1 * alpha * x.beta"),
    Mutant("JNTV05-Eq41-43", "norm", "np.abs(h).sum()) ** 2", "np.abs(h).sum()) ** 2 * h.size"),
    # Equal where all |z_j| agree.
    Mutant("JNTV05-P1-finite", "constant", "** 2 / (2.0", "** 2 / (2.1", correction=1),
    # g_M² is above the ratio of the tilted proxy from M = 10 on.
    Mutant("JNTV05-conjecture", "constant", "** 2 / 2.0", "** 2 / 1.0", correction=1),
    Mutant("JNTV05-A-sup", "norm", "np.abs(forms).max()", "np.abs(forms).min()"),
    Mutant("JNTV05-R2", "constant", "rate / 2.0) / 2.0", "rate / 2.0) / 3.0", correction=1),
    # 1.09 of it at t = 2, M = 4.
    Mutant("JNTV05-T1", "constant", "2.0 * x.radius", "1.0 * x.radius"),
    Mutant("JNTV05-Sec3.5-agree", "constant", "Constant(x.beta)", "Growing(x.beta)"),
    # Steps of the proof of Theorem 1, from the strong convexity of the entropy on.
    Mutant("JNTV05-D1", "constant", "size**2 / x.radius", "1.1 * size**2 / x.radius", step=1),
    Mutant("JNTV05-Eq40", "direction", "at_least(rise", "at_most(rise", step=1),
    Mutant(
        "JNTV05-B-chain",
        "index",
        "s * (1 - s) * squares[2]",
        "s * (1 - s) ** 2 * squares[2]",
        step=1,
    ),
    Mutant("JNTV05-B-end", "norm", "np.abs(x.z).max())", "np.abs(x.z).mean())", step=1),
    Mutant("JNTV05-B-end", "norm", "np.linalg.norm(d))", "np.abs(d).max())", step=1),
    Mutant(
        "JNTV05-L-assumption", "norm", "np.abs(x.z - x.v).max()", "np.abs(x.z - x.v).min()", step=1
    ),
    Mutant("JNTV05-L-assumption", "constant", "(alpha * x.beta)", "(2.0 * alpha * x.beta)"),
    Mutant("JNTV05-P2", "constant", "(2.0 * x.beta)", "(2.1 * x.beta)", correction=2, step=1),
    Mutant("JNTV05-P2", "norm", "np.abs(u).max()", "np.abs(u).mean()", correction=2, step=1),
    Mutant(
        "JNTV05-P2",
        "direction",
        "at_most(after, before",
        "at_least(after, before",
        correction=2,
        step=2,
    ),
    Mutant("JNTV05-P2", "direction", "-free_energy", "free_energy", correction=2, step=3),
    Mutant("JNTV05-P2", "hypothesis", "abs(x.shift)", "x.shift", correction=1, step=1),
    Mutant("JNTV05-P3", "hypothesis", "(u - x.p @ u)", "u", correction=1, step=1),
    Mutant("JNTV05-P3", "norm", ".max(axis=1)", ".sum(axis=1)", correction=1, step=2),
    Mutant("JNTV05-T1", "constant", "2.0 * x.radius", "1.9 * x.radius", step=1),
    Mutant("JNTV05-Eq38", "constant", "2.0 * math.log", "1.9 * math.log", step=1),
    Mutant("JNTV05-norms", "norm", "max(abs(each) for each in z)", "abs(sum(z)) / len(z)", step=1),
    Mutant("JNTV05-Eq9", "hypothesis", "x.radius * x.beta * div", "x.beta * div", step=1),
    Mutant("JNTV05-Eq9", "direction", "q - g", "g - q", step=2),
    Mutant(
        "JNTV05-T2-squared",
        "norm",
        "K * sum(abs(e) for e in w)",
        "K * max(abs(e) for e in w)",
        correction=1,
        step=1,
    ),
    Mutant("JNTV05-ratio-l2", "index", "len(h) * sum", "(len(h) - 1) * sum", correction=1, step=1),
    Mutant(
        "JNTV05-L",
        "norm",
        "max(abs(e) for row in S for e in row)",
        "min(max(abs(e) for e in row) for row in S)",
        step=1,
    ),
    Mutant("JNTV05-R3", "direction", "a + b,", "a - b,", step=1),
    Mutant("JNTV05-R3", "constant", "2 * left", "3 * left", step=2),
)

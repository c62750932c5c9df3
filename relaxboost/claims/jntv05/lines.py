"""JNTV05, line by line: what the paper says, and which claims are about it or why none is."""

from relaxboost.claims.jntv05.source import SOURCE

SOURCE.unchecked(
    "R1-cost",
    "Remark 1, (ii); Sec. 6.1",
    "Mirror descent is cheaper than batch procedures in high dimension, in time and memory; where "
    "∇W_β has no closed form it might become time-consuming.",
    "Orders of cost of procedures that are not specified.",
)
SOURCE.unchecked(
    "R1-rates",
    "Remark 1",
    "The rate √(ln M/t) is typical, and batch procedures have a similar one.",
    "A comparison in words with methods of other papers; the rate itself is JNTV05-T1.",
)
SOURCE.unchecked(
    "R3-advice",
    "Remark 3",
    "The choice of the base class is crucial: stumps, symmetric classes, eigenfunctions; λ may grow"
    " slowly with t.",
    "Advice; approximation errors are left beyond the scope of the paper.",
)
SOURCE.unchecked(
    "EG-deterministic",
    "Sec. 3.5, on EG",
    "Deterministic bounds of EG do not imply that its expected risk is close to the minimum.",
    "About what proofs of other papers imply. Averages of EG do have the expected risk: DEK11.",
)
SOURCE.unchecked(
    "Sec6.3-horizon",
    "Sec. 6.3, last sentence",
    "The better constant needs t in advance, which is not compatible with the online framework.",
    "A remark on what is known when; (37) depends on t, which JNTV05-Eq37 shows.",
)

SOURCE.outline(
    """
Abstract | A bound of the order √(ln M/t) with an explicit and small constant. | T1, T2
Sec. 1 | History, and the advantage of mirror descent in high dimension. | R1-rates, R1
Sec. 2 | Decision rules g_f, the risk R, the optimal rule. | - | A definition.
Eq. 1 | The empirical error; it is not convex or even continuous. | Eq1
Sec. 2 | The φ-risk has the same optimal rule. | calibration
| Typical choices of φ, convex with values ≥ 0. | losses
| A_n is unbiased and convex. | unbiased, losses
Eq. 2 | Base functions h_j with values in [−K, K], M ≥ 2; the λ-simplex. | - | A definition.
Eq. 3 | Minimising A(f) over the λ-convex combinations is minimising A(θ). | - | A substitution; the
    minimum exists, as A is continuous and the simplex compact.
Eq. 4 | Realisations of a sub-gradient of A. | Eq4
Before Theorem 1 | θ̂_t is measurable by θ̂_{t−1}, X_{t−1} and Y_{t−1}. | measurable
Theorem 1, Eq. 5 | The expected excess risk, C = 2λL. | T1, T1-learner, T1-start
Theorem 1 | L_φ(λ) = K sup |φ'|. | L
After Theorem 1 | C = 2 for the hinge; any distribution. | T1-C, T1
Remark 1 | Efficiency: rates and costs. | R1, R1-rates, R1-cost
Remark 2 | The rate is optimal for M ≥ t^(1/2 + δ). | R2
Remark 3 | Choice of the base class. | R3, R3-advice
Sec. 3.1 | The norms of E and E*. | norms
Eq. 6 | The β-conjugate. | P1-1, P1-finite
Assumption (L) | ∇W_β is Lipschitz with 1/(αβ). | L-assumption, A-sup, B-end
Definition 1, Eq. 7 | Strong convexity in ℓ1. | D1
Proposition 1, 1 | W_β is convex and finite, its conjugate is βV. | P1-1, P1-finite
Proposition 1, 2(i) | Strong convexity gives (L). | L-assumption, B-end
Proposition 1, 2(ii) | The argmax is −∇W_β. | P1-2ii, P1-2ii-proxies
Definition 2 | Proxy functions. | D2, P2, P2-falling, T2-max
Eq. 8 | The entropy, its minimiser, α = 1/λ. | D1, D2, Eq41-43
Eq. 9 | W_β of the entropy. | Eq9
Eq. 10 | Its gradient; a Gibbs distribution at temperature β. | Eq10
After Eq. 10 | (L) holds for (8) by direct calculations. | A-sup, A-vertices
| The Kullback divergence, for λ = 1. | KL
Sec. 3.2 | θ_0 ∈ Θ, ζ_0 = 0, β_i ≥ β_{i−1}. | P2-start, T1-start, Eq17
Eq. 11 | The algorithm. | Eq11
Eq. 12 | The average. | Eq12
Eq. 13 | The components of θ_i with the entropy. | Eq13
Sec. 3.3 | Affine approximations φ_i and their average. | affine
Eq. 14 | Their minimiser makes no progress. | Eq14
Eq. 15 | A penalty B_t(θ, θ_{t−1}) keeps the next point in the desired region. | Eq11 | A heuristic;
    for B_t = β_t V it is (16)
Eq. 16 | The scheme as regularised minimisation. | Eq11, Eq14
Eqs. 17, 18 | γ_i = 1, β_i = β_0 √(i + 1), β_0 = L (ln M)^(−1/2). | Eq17, Eq29
Eqs. 19, 20 | (11) with γ_i = 1. | Eq13
Eq. 21 | The average, recursively. | Eq12
Eq. 22 | Mirror descent of another kind; the ordinary gradient. | Eq22-Eq24, Eq22-gradient
Eq. 23 | Exponentiated gradient. | Eq23
After Eq. 23 | (11) differs from (22) and (23): β_i, the use of θ_0, averaging. | Sec3.5-growing,
    Sec3.5-agree, Sec3.5-differ, Sec3.5-start
Sec. 3.5 | What is known of EG. | EG-deterministic
Eq. 24 | (22) as proximal minimisation with a Bregman divergence. | Eq22-Eq24
Sec. 4, notation | ∇A, ξ_i, and E ‖u_i‖² ≤ L². | noise, L
Sec. 4, before Proposition 2 | Any closed convex Θ; compact for what follows (28), and no other
    property of u_i is used. | T2-unbounded, T2-max, R5-proof
Proposition 2 | The regret of (11). | P2, P2-start
Proof of Proposition 2 | Its displays. | P2-proof, P2-falling, P2-end
Proposition 3, Eq. 25 | The expected risk, with an infimum. | P3
Eq. 26 | The same at θ*. | P3
Eq. 27 | Convexity. | Eq27, noise
Remark 4 | Change of scale of β_i and γ_i. | R4-bounds, R4
Eq. 28 | (26) with (17). | Eq28
Eq. 29 | The best β_0. | Eq29
Eq. 30 | V* = λ ln M, at every vertex. | Eq30
Sec. 5 | The proof needs no specific loss or proxy. | T2, P3
| Z, Q(θ, Z), A(θ) = E Q(θ, Z). | - | A definition.
Eq. 31 | Stochastic sub-gradients. | Eq4, T2
Eq. 32 | Their bound. | T2-squared
Theorem 2, Eq. 33 | Any proxy, any β_0. | T2, T2-unbounded
Theorem 2, Eq. 34 | The best β_0, V̄ = max V. | T2, T2-max
After Theorem 2 | Classification and regression are cases. | T1, T2-squared
Remark 5 | Dependent data. | R5, R5-proof
Sec. 6.1 | Strong convexity in ℓ1 is the key condition. | L-assumption, B-end
Eq. 35 | Half the squared p-norm. | Eq35, Eq35-ratio
Eq. 36 | Sums of powers. | Eq36, Eq36-strong, Eq36-divergence, Eq36-ratio
Sec. 6.1 | Other f-divergences presumably. | divergences
| Gradients that cannot be written down. | R1-cost
| The conjecture that the entropy is the optimal proxy. | conjecture
| The ratio of other proxies is of the same order. | ratio-others
| The ratios of (35) and (36) are O(1) λ² ln M. | Eq35-ratio, Eq36-ratio, package
| ‖·‖_1 is no proxy. | l1
| The ratio of ‖θ‖_2². | ratio-l2
Sec. 6.2 | Any closed convex Θ; simple sets. | Sec6.2, T2-unbounded
Eq. 37 | The optimal sequences. | Eq37, Sec6.3
Eq. 38 | The bound with them. | Eq38, Sec6.3, Sec6.3-horizon
Appendix A | Second derivatives, the sup of xᵀ∇²W_β y. | A-hessian, A-sup
Eq. 39 | The form as a sum of differences, and its bound by 1. | Eq39, A-vertices
Eq. 40 | Growth from the minimiser. | Eq40, P1-2ii
Appendix B | The displays between (40) and Assumption (L). | B-chain, B-end
Eqs. 41, 42, 43 | The entropy is strongly convex. | Eq41-43, D1
"""
)

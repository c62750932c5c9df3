"""SS09, line by line: what the paper says, and which claims are about it or why none is."""

from relaxboost.claims.ss09.source import SOURCE

_DEFINITION = "A definition, which the claims after it use."
_HISTORY = "History and references, which nothing here depends on."
_PLAN = "Says what the paper does."

SOURCE.unchecked(
    "Sec1-weak-strong",
    "Sec. 1, par. 1",
    "Weak learnability with any distribution makes a majority tree that is right on the whole "
    "training set; boost-by-majority implies linear separability.",
    "Results of other papers; that an edge implies separability is SS09-T4.",
)
SOURCE.unchecked(
    "Sec1-erf",
    "Sec. 1, related work",
    "erf is bounded for margins to −∞, and not convex, so that the results do not apply to "
    "BrownBoost; the log-loss is less sensitive to noise.",
    "About losses of other papers, none of which is used here.",
)

line = SOURCE.line
line("Abstract", "Weak learnability is separability with ℓ1 margin.", "T4", "T3", "T3-strong")
line("Abstract", "A family of relaxations of the one gives one of the other.", "T7", "C5")
line("Abstract", "Hard and soft versions of the ℓ1 margin are maximised efficiently.", "T9")
line("Sec. 1, par. 1", "What boosting is; weak and strong learnability.", "Sec1-weak-strong")
line(
    "Sec. 1, par. 2",
    "AdaBoost does not converge to the max margin solution.",
    reason="Cited; what is known of it is under RDS04 and RW05.",
)
line("Sec. 1, par. 2", "Weak learnability with edge γ is separability with margin γ.", "T4")
line("Sec. 1, par. 3", "Two examples of one instance and opposite labels.", "remark-opposite")
line("Sec. 1, par. 3", "So the assumption must be relaxed.", reason=_PLAN)
line(
    "Sec. 1, par. 4",
    "At most O(log(m)/ε²) iterations to an ε-accurate solution.",
    "T9",
    "T9-rounds",
)
line("Sec. 1, par. 4", "Iterations bound the number of hypotheses.", "remark-sparsity")
line("Sec. 1, par. 4", "Projections onto the ball in O(m log m).", "F2-time")
line(
    "Sec. 1, related work", "von Neumann, Freund and Schapire, Rätsch and Warmuth.", reason=_HISTORY
)
line("Sec. 1, related work", "MadaBoost, Rudin et al.: rates of others.", "Sec1-others")
line("Sec. 1, related work", "BrownBoost, the log-loss.", "Sec1-erf")
line(
    "Sec. 1, related work",
    "Maximising the margin while minimising the hinge-loss is maximising the average margin of the "
    "k worst examples.",
    "E1-soft-margin",
    "C5",
)
line("Sec. 1, related work", "SoftBoost needs totally corrective updates.", "Eq13-runtime")
line("Sec. 1, last par.", "Generalisation is left out of scope.", reason=_PLAN)
line(
    "Sec. 2, par. 1",
    "m examples, H = {h_1, ..., h_n}, A_ij = y_i h_j(x_i) over [+1, −1].",
    reason="A definition. [+1, −1] is printed for [−1, 1], as the claims take it.",
)
line("Sec. 2, par. 2", "Vectors, products, the simplex, ℓ1 and ℓp balls.", reason=_DEFINITION)
line("Definition 1", "Separability with ℓ1 margin γ, and its display.", "D1")
line(
    "After Definition 1",
    "γ = max min_i y_i <w, φ(x_i)>.",
    "D1",
    reason="The definition of A put in.",
)
line(
    "After Definition 1",
    "The hard-margin SVM has w in the ℓ2 ball.",
    reason="A comparison with another problem.",
)
line("Definition 2", "γ-weak-learnability, and its display.", "D2")
line(
    "After Definition 2",
    "The edge (dᵀA)_j = Σ_i d_i y_i h_j(x_i).",
    reason="The definition of A put in.",
)
line("Sec. 2, convex analysis", "Convex sets.", "Sec2-convex-set")
line("Sec. 2, convex analysis", "Closed and convex functions, by level sets.", "Eq1")
line("Sec. 2, convex analysis", "+∞ as a value, dom(f).", reason=_DEFINITION)
line("Sec. 2, convex analysis", "The core.", "Sec2-core")
line("Eq. 1", "The Fenchel conjugate.", "Eq1-max")
line("After Eq. 1", "f** = f.", "Eq1")
line("Theorem 3", "Fenchel's inequality.", "T3", "T3-min")
line("Table 1", "Notation; the indicator, the positive part, dual norms.", reason=_DEFINITION)
line("Theorem 3, second part", "Equality.", "T3-strong", "T3-min")
line("Theorem 3, last line", "− is the exclusion of sets.", "T3-exclusion")
line("After Theorem 3", "Weak and strong duality.", "T3", "T3-strong")
line("After Theorem 3", "The dual norm.", "Sec2-dual")
line("After Theorem 3", "ℓ1 and ℓ∞.", "Sec2-dual-norms")
line("Sec. 2, last par.", "The indicator of the unit ball has the conjugate ‖·‖_*.", "AppB-1")
line("Sec. 3, par. 1", "The equivalence is known.", reason=_HISTORY)
line("Theorem 4", "γ-weak-learnable if and only if separable with margin γ.", "T4")
line("Proof of Theorem 4", "P*, with f = I_S and g = ‖·‖_∞.", "D2")
line("Proof of Theorem 4", "The conjugates of g and f.", "Sec2-dual-norms", "AppB-2")
line("Proof of Theorem 4", "D*.", "D1", "T4")
line("Proof of Theorem 4", "D* ≥ 0 by w = 0, which settles P* = 0.", "T4")
line(
    "Proof of Theorem 4", "P* > 0: short vectors are not of the form Aᵀd.", "T4-end", "T3-exclusion"
)
line(
    "Sec. 4, par. 1",
    "A perturbation of a single example can break separability.",
    "remark-opposite",
)
line("Sec. 4.1, par. 1", "Row i the negation of row j; a d without edges.", "remark-opposite")
line("Sec. 4.1, par. 2", "AdaBoost over-weighs examples.", "remark-overweight")
line("Sec. 4.1, par. 2", "Capping: ‖d‖_∞ ≤ 1/k, k in [m].", reason=_DEFINITION)
line("Eq. 2", "The relaxed weak learnability value.", "Eq2")
line("After Eq. 2", "Eq. 2 as min f(d) + g(dᵀA).", "Eq2", "Eq4")
line("Before Eq. 3", "The conjugate f* as a maximum.", "remark-conjugate")
line(
    "Before Eq. 3", "The greatest weights to the greatest elements; their mean.", "remark-conjugate"
)
line("Eq. 3", "The dual of Eq. 2.", "Eq3")
line("After Eq. 3", "Strong duality holds as well.", "C5")
line("Corollary 5", "AvgMin_k.", "C5")
line("After Corollary 5", "k = 1.", "remark-k-1")
line("After Corollary 5", "k = m.", "remark-k-m")
line("After Corollary 5", "k = 0.1m.", "remark-k-share", "remark-k-share-sharp")
line("Sec. 4.1, last par.", "The worst objective value with ν noisy examples.", "remark-noise")
line("Sec. 4.1, last par.", "k ≥ 2ν(γ + 1)/γ.", "remark-noise-k")
line("Eq. 4", "Eq. 2 with an indicator.", "Eq4")
line("Definition 6", "(ρ, f)-weak-learnability.", "D6")
line(
    "After Definition 6",
    "The maximal edge plus a regularisation; a barrier for caps.",
    "Eq4",
    reason="Eq. 4 in words.",
)
line("Theorem 7", "Its conditions and its display.", "T7", "T7-max")
line("After Theorem 7", "[γ − Aw]_+ is the vector of hinge-losses.", reason=_DEFINITION)
line("Example 1", "(i) and (ii).", "E1-core")
line("Example 1", "f* = ν‖·‖_* and (iii).", "AppB-1", "E1-conditions")
line("Example 1", "The display: a ball of an arbitrary norm.", "E1")
line("Example 1", "ℓ∞: capped weights again.", "Eq4", "Sec2-dual-norms")
line("Example 1", "AvgMin_k is the soft margin.", "E1-soft-margin")
line("Example 2", "f* is the indicator of a ball.", "E2-conjugate")
line("Example 2", "The dual problem; w in the ball of ℝ^m is printed.", "E2")
line("Lemma 8", "The conjugate of f + I_S.", "L8", "T7-max")
line(
    "Proof of Lemma 8",
    "f̃* rewritten as −min f(d) + g(d).",
    reason="The definition of f̃* with a sign taken out.",
)
line("Proof of Lemma 8", "g and g*.", "L8-conjugate")
line("Proof of Lemma 8", "Strong duality holds.", "L8-core")
line("Proof of Lemma 8", "−f̃* as a maximum over x.", "L8-dual", "L8")
line(
    "Proof of Lemma 8",
    "The infimal convolution.",
    reason="A reference; what it needs is in the correction of SS09-L8.",
)
line("Proof of Lemma 8", "[θ + γ]_+ is a minimiser over C_γ.", "L8-minimiser")
line("Proof of Lemma 8", "−f̃* as a maximum over γ.", "L8", "T7-max")
line("Proof of Lemma 8", "Entries moved one by one, above and below.", "L8-minimiser")
line("Proof of Theorem 7", "The dual of min f̃(d) + ‖dᵀA‖_∞.", "L8", "T7")
line("Proof of Theorem 7", "f*(0) = 0, and ρ = 0.", "T7-zero")
line("Proof of Theorem 7", "ρ > 0.", "T7-positive")

# Sec. 5 and 6

line("Lemma 17", "The Fenchel–Young inequality with equality.", "L17")
line("Lemma 18", "The gradient of the conjugate.", "L18-gradient")
line("Lemma 18", "Its smoothness.", "L18")
line("Lemma 19", "Conjugates of functions near each other.", "L19")
line("Proof of Lemma 19", "There is a w' that attains g*(θ).", "L19-attained")
line("Proof of Lemma 19", "The chain, and the conjugate of g − c.", "L19")
line("Lemma 20", "A recursion.", "L20", "L20-sharp")
line("Eq. 15", "The induction, and the display after it.", "Eq15")
line("Appendix B, row 1", "Balls.", "AppB-1")
line("Appendix B, row 2", "The simplex.", "AppB-2")
line("Appendix B, row 3", "The relative entropy.", "AppB-3")
line("Appendix B, row 4", "Half a squared norm.", "AppB-4")
line("Appendix B, row 5", "A multiple.", "AppB-5")
line("Appendix B, row 6", "A translation.", "AppB-6")
line("Appendix B, row 7", "A dilation.", "AppB-7")

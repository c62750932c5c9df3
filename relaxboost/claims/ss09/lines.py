"""SS09, line by line: what the paper says, and which claims are about it or why none is."""

from relaxboost.claims.ss09.source import SOURCE

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

SOURCE.outline(
    """
Abstract | Weak learnability is separability with ℓ1 margin. | T4, T3, T3-strong
| A family of relaxations of the one gives one of the other. | T7, C5
| Hard and soft versions of the ℓ1 margin are maximised efficiently. | T9
Sec. 1, par. 1 | What boosting is; weak and strong learnability. | Sec1-weak-strong
Sec. 1, par. 2 | AdaBoost does not converge to the max margin solution. | - | Cited; what is known
    of it is under RDS04 and RW05.
| Weak learnability with edge γ is separability with margin γ. | T4
Sec. 1, par. 3 | Two examples of one instance and opposite labels. | remark-opposite
| So the assumption must be relaxed. | - | Says what the paper does.
Sec. 1, par. 4 | At most O(log(m)/ε²) iterations to an ε-accurate solution. | T9, T9-rounds
| Iterations bound the number of hypotheses. | remark-sparsity
| Projections onto the ball in O(m log m). | F2-time
Sec. 1, related work | von Neumann, Freund and Schapire, Rätsch and Warmuth. | - | History and
    references, which nothing here depends on.
| MadaBoost, Rudin et al.: rates of others. | Sec1-others
| BrownBoost, the log-loss. | Sec1-erf
| Maximising the margin while minimising the hinge-loss is maximising the average margin of the k
    worst examples. | E1-soft-margin, C5
| SoftBoost needs totally corrective updates. | Eq13-runtime
Sec. 1, last par. | Generalisation is left out of scope. | - | Says what the paper does.
Sec. 2, par. 1 | m examples, H = {h_1, ..., h_n}, A_ij = y_i h_j(x_i) over [+1, −1]. | - | A
    definition. [+1, −1] is printed for [−1, 1], as the claims take it.
Sec. 2, par. 2 | Vectors, products, the simplex, ℓ1 and ℓp balls. | - | A definition, which the
    claims after it use.
Definition 1 | Separability with ℓ1 margin γ, and its display. | D1, remark-opposite
After Definition 1 | γ = max min_i y_i <w, φ(x_i)>. | D1 | The definition of A put in.
| The hard-margin SVM has w in the ℓ2 ball. | - | A comparison with another problem.
Definition 2 | γ-weak-learnability, and its display. | D2
After Definition 2 | The edge (dᵀA)_j = Σ_i d_i y_i h_j(x_i). | - | The definition of A put in.
Sec. 2, convex analysis | Convex sets. | Sec2-convex-set
| Closed and convex functions, by level sets. | Eq1
| +∞ as a value, dom(f). | - | A definition, which the claims after it use.
| The core. | Sec2-core
Eq. 1 | The Fenchel conjugate. | Eq1-max
After Eq. 1 | f** = f. | Eq1
Theorem 3 | Fenchel's inequality. | T3, T3-min
Table 1 | Notation; the indicator, the positive part, dual norms. | - | A definition, which the
    claims after it use.
Theorem 3, second part | Equality. | T3-strong, T3-min
Theorem 3, last line | − is the exclusion of sets. | T3-exclusion
After Theorem 3 | Weak and strong duality. | T3, T3-strong
| The dual norm. | Sec2-dual
| ℓ1 and ℓ∞. | Sec2-dual-norms
Sec. 2, last par. | The indicator of the unit ball has the conjugate ‖·‖_*. | AppB-1
Sec. 3, par. 1 | The equivalence is known. | - | History and references, which nothing here depends
    on.
Theorem 4 | γ-weak-learnable if and only if separable with margin γ. | T4
Proof of Theorem 4 | P*, with f = I_S and g = ‖·‖_∞. | D2
| The conjugates of g and f. | Sec2-dual-norms, AppB-2
| D*. | D1, T4
| D* ≥ 0 by w = 0, which settles P* = 0. | T4
| P* > 0: short vectors are not of the form Aᵀd. | T4-end, T3-exclusion
Sec. 4, par. 1 | A perturbation of a single example can break separability. | remark-opposite
Sec. 4.1, par. 1 | Row i the negation of row j; a d without edges. | remark-opposite
Sec. 4.1, par. 2 | AdaBoost over-weighs examples. | remark-overweight
| Capping: ‖d‖_∞ ≤ 1/k, k in [m]. | - | A definition, which the claims after it use.
Eq. 2 | The relaxed weak learnability value. | Eq2
After Eq. 2 | Eq. 2 as min f(d) + g(dᵀA). | Eq2, Eq4
Before Eq. 3 | The conjugate f* as a maximum. | remark-conjugate
| The greatest weights to the greatest elements; their mean. | remark-conjugate
Eq. 3 | The dual of Eq. 2. | Eq3
After Eq. 3 | Strong duality holds as well. | C5
Corollary 5 | AvgMin_k. | C5, C5-small
After Corollary 5 | k = 1. | remark-k-1
| k = m. | remark-k-m
| k = 0.1m. | remark-k-share, remark-k-share-sharp
Sec. 4.1, last par. | The worst objective value with ν noisy examples. | remark-noise
| k ≥ 2ν(γ + 1)/γ. | remark-noise-k
Eq. 4 | Eq. 2 with an indicator. | Eq4
Definition 6 | (ρ, f)-weak-learnability. | D6
After Definition 6 | The maximal edge plus a regularisation; a barrier for caps. | Eq4 | Eq. 4 in
    words.
Theorem 7 | Its conditions and its display. | T7, T7-max
After Theorem 7 | [γ − Aw]_+ is the vector of hinge-losses. | - | A definition, which the claims
    after it use.
Example 1 | (i) and (ii). | E1-core
| f* = ν‖·‖_* and (iii). | AppB-1, E1-conditions
| The display: a ball of an arbitrary norm. | E1
| ℓ∞: capped weights again. | Eq4, Sec2-dual-norms
| AvgMin_k is the soft margin. | E1-soft-margin, E1-soft-margin-inference
Example 2 | f* is the indicator of a ball. | E2-conjugate
| The dual problem; w in the ball of ℝ^m is printed. | E2
Lemma 8 | The conjugate of f + I_S. | L8, T7-max
Proof of Lemma 8 | f̃* rewritten as −min f(d) + g(d). | - | The definition of f̃* with a sign taken
    out.
| g and g*. | L8-conjugate
| Strong duality holds. | L8-core
| −f̃* as a maximum over x. | L8-dual, L8
| The infimal convolution. | - | A reference; what it needs is in the correction of SS09-L8.
| [θ + γ]_+ is a minimiser over C_γ. | L8-minimiser
| −f̃* as a maximum over γ. | L8, T7-max
| Entries moved one by one, above and below. | L8-minimiser
Proof of Theorem 7 | The dual of min f̃(d) + ‖dᵀA‖_∞. | L8, T7
| f*(0) = 0, and ρ = 0. | T7-zero
| ρ > 0. | T7-positive
Eq. 5 | The max-relaxed-margin problem; f* as in Theorem 7. | Eq5, T7
Eq. 6 | f* = ν‖·‖_1: the soft margin problem. | Eq6
After Eq. 6 | f* = max_i x_i: the max margin problem. | Eq6-hard, remark-hard-margin
| Its f is the indicator of the simplex, by the proof of Theorem 4. | AppB-2
Before Fig. 1 | The display of d_t, as argmax and as argmin. | F1-d
| d_t is a gradient of (βh)*, by Lemma 18. | L18-gradient, F1-softmax
| The conjugate of h is the soft-max. | AppB-3
| (βh)*(θ) = βh*(θ/β). | AppB-5
| d_{t,i} ∝ e^{−(Aw_t)_i/β}. | F1-softmax
Fig. 1, input | A in [+1, −1]^{m,n}, f*, ε. | - | A definition. [+1, −1] is printed for [−1, +1],
    which Sec. 5.1 has.
Fig. 1, definitions | h, and f the conjugate of f*. | AppB-3, Eq1
Fig. 1, first line | w_1 = 0, β = ε/(2 log m). | F1-beta
Fig. 1, d_t | The argmin. | F1-d
Fig. 1, j_t | The largest edge, without loss of generality positive. | F1-j | The ball has −e^j,
    too: a column of negative edge enters with the sign −1.
Fig. 1, the test | gap ≤ ε. | F1-j, T9
Fig. 1, η_t | The step, clipped to [0, 1]. | F1-eta, F1-clip
Fig. 1, update | w_{t+1}. | F1-norm
After Fig. 1 | The log of a weight is negatively proportional to the margin. | F1-softmax | Up to a
    constant: log d_i = −u_i/β − log Σ e^{−u/β}
| Erroneous examples get larger weights. | F1-softmax
| Weak learners whose column is nearly the best. | remark-approximate
| When the test is met, w_t is ε-accurate. | T9
| η_t is calculated analytically. | F1-eta
| ‖w_t‖_1 ≤ 1. | F1-norm
| Other f change d_t only. | F1-d, L11, L12
| An efficient procedure for caps. | F2
Theorem 9 | ε-accurate. | T9, T9-family, T9-many-rows, T9-capped, T9-small
| 32 log(m)/ε² iterations. | T9-rounds, T9-rounds-worst, T9-rounds-open, T9-phases
After Theorem 9 | Iterations bound the non-zero elements. | remark-sparsity
| The hard margin in O(log(m)/ε²) iterations. | T9-rounds
| AdaBoost*, Rudin et al.: rates of others. | remark-other-rates
| ε = γ/2 gives half the margin. | remark-half-margin
| AdaBoost's error decays like e^{−γ²t}. | remark-adaboost-error, remark-adaboost-error-sharp,
    remark-adaboost-loss, remark-adaboost-small
| t should be at least 1/γ². | remark-one-over-gamma, remark-one-over-gamma-worst
| A factor of log m in AdaBoost's rate. | remark-adaboost-log-m
| Both algorithms obtain half of the optimal margin. | remark-half-margin | AdaBoost's half, and how
    many rounds it takes, is RDS04-half.
| The soft margin of Eq. 6; d_t in Õ(m) time. | T9, F2-time
| SoftBoost: its bound and its iterations. | remark-other-rates
Sec. 5.1, par. 1 | AdaBoost's soft-max, the exp-loss, as a relaxation. | Sec5.1-soft-max,
    Sec5.1-soft-max-sharp, Sec5.1-exp-loss
| The relative entropy is strongly convex. | D10-entropy
Definition 10 | Strong convexity, and its display. | - | A definition, which the claims after it
    use.
After Definition 10 | σ = 0 is convexity. | D10-zero
| σ bounds the second derivative. | D10-curvature
| The relative entropy has σ = 1 in ℓ1. | D10-entropy
Sec. 5.1, f̂ | Eq. 5 is to maximise −f̃*(−Aw). | Eq5, L8
| f̂ = f̃ + βh, β in (0, 1). | Sec5.1-beta
Before Eq. 7 | 0 ≤ h ≤ log m; f̂ − ε/2 ≤ f̃ ≤ f̂. | Sec5.1-entropy
Eq. 7 | The conjugates. | Eq7, L19
After Eq. 7 | A maximiser is ε/2-accurate, for the whole family. | Eq7-maximiser,
    Eq7-maximiser-worst, Eq7
| Sums retain strong convexity. | D10-sum
| So does f̂, for all f of Sec. 4. | D10-retained
| Fig. 1 is designed to maximise −f̂*(−Aw). | L11, L12
Eq. 8 | D and P. | Eq8
After Eq. 8 | max D ≤ min P. | Eq8
| ε_t. | - | A definition, which the claims after it use.
Lemma 11 | ε_t is at most the gap. | L11
Proof of Lemma 11 | Its displays. | L11, L17
Lemma 12 | Progress. | L12, L12-sharper
Proof of Lemma 12 | Δ_t along the step. | Eq9
Eq. 9 | Δ_t as a difference of f̂*. | Eq9
Before Eq. 10 | f̂* is smooth. | Eq10-smooth, L18
Eq. 10 | The first lower bound. | Eq10
Before Eq. 11 | ‖A(e^j − w_t)‖_∞ ≤ 2. | Eq10
Eqs. 11, 12 | The other two; η'. | Eq10, L12
Proof of Lemma 12 | η_t maximises Eq. 10. | F1-eta
Proof of Theorem 9 | Its displays. | T9-proof, L20
Sec. 5.2, par. 1 | The algorithms of Warmuth et al. are totally corrective. | - | About other
    papers.
Eq. 13 | The totally corrective update. | Eq13
After Eq. 13 | It gains at least as much. | Eq13, Eq13-sharper
| Lemma 12 and Theorem 9 hold as well. | Eq13-rounds, Eq13-accuracy
Sec. 5.2, last par. | Running times and experiments. | Eq13-runtime
Sec. 5.3, par. 1 | Caps correspond to the soft margin. | Eq6, E1-soft-margin
Before Lemma 13 | The Bregman divergence. | - | A definition, which the claims after it use.
Fig. 2 | The procedure. | F2, F2-ENDFOR, F2-doubles
Lemma 13 | ∇f̂* as an argmin. | L13, L13-closed, L13-entropy
Proof of Lemma 13 | ∇h(d_0) = θ, and the four lines. | L13-proof, L13
Corollary 14 | Bregman projections. | C14
Eq. 14 | The entropic projection. | Eq14
After Eq. 14 | Herbster and Warmuth. | Sec5.3-others
Lemma 15 | The order is preserved. | L15
After Lemma 15 | The form of d_t. | L15-form
Lemma 16 | ξ. | L16
After Lemma 16 | No element is zero. | L16-zeros
| The objective value. | L16-objective
| Monotone in ξ; ξ decreases with j. | L16-monotone
Sec. 5.3, the index i | The first with d_{t,i} < ν. | F2-strict
| The fewest capped weights are optimal. | L16-first
Sec. 5.3, last par. | O(m log m). | F2-time
| O(m) by a search for the median. | F2-linear, Sec5.3-others
Sec. 6 | What the paper has shown; ℓ2 constraints; another g. | - | Says what the paper does.
| Binary entropies give the log-loss. | Sec6-log-loss
Lemma 17 | The Fenchel–Young inequality with equality. | L17
Lemma 18 | The gradient of the conjugate. | L18-gradient
| Its smoothness. | L18
Lemma 19 | Conjugates of functions near each other. | L19
Proof of Lemma 19 | There is a w' that attains g*(θ). | L19-attained
| The chain, and the conjugate of g − c. | L19
Lemma 20 | A recursion. | L20, L20-sharp
Eq. 15 | The induction, and the display after it. | Eq15
Proof of Lemma 15 | The difference of the divergences. | L15-proof
Proof of Lemma 16 | The gradient, ξ' and ξ. | L16-proof, L16
Appendix B, row 1 | Balls. | AppB-1
Appendix B, row 2 | The simplex. | AppB-2
Appendix B, row 3 | The relative entropy. | AppB-3
Appendix B, row 4 | Half a squared norm. | AppB-4
Appendix B, row 5 | A multiple. | AppB-5
Appendix B, row 6 | A translation. | AppB-6
Appendix B, row 7 | A dilation. | AppB-7
"""
)

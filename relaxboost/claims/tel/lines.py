"""TEL, line by line: each display and statement, with the claims about it or why there is none."""

from relaxboost.claims.tel.source import SOURCE

SOURCE.outline(
    """
Line 3 | Where boosting and this analysis were first described. | - | history and references, which
    nothing here depends on
Line 5 | The exponential loss, or the logistic one. | - | a definition, or a choice, which the
    claims after it use
Line 6 | Examples and labels; no vector space structure. | - | a definition, or a choice, which the
    claims after it use
Line 7 | Elementary hypotheses, and predictions Σ_j v_j h_j(x). | - | a definition, or a choice,
    which the claims after it use
| Hypotheses that are not very good may be merged into one that is. | rate, T | a motive; what is
    reached under the WLA is the theorem
Line 8 | The data matrix A. | - | a definition, or a choice, which the claims after it use
Line 9 | Empirical risk, written in four ways. | risk
Line 10 | AdaBoost is ℓ1 steepest descent. | algorithm, T
Line 11 | After t iterations w_t has t nonzero entries at most. | sparsity
Line 13 | v_s, two expressions that are equated. | gradient, algorithm
| The maximum is at a coordinate with a sign. | vertex
| j, two expressions that are equated; re-weighted ERM. | selection, ERM
| r, the sign of the step. | algorithm
Line 14 | The update; the step of plain steepest descent. | algorithm, plain
Line 16 | Separable: no minimum, no strong convexity. | infimum, inner-matrix
| One could switch to constrained optimization. | - | what the lecture does not do; that far out the
    loss is small is TEL-infimum
Line 17 | Strong convexity in ℓ2 implies that in ℓ1. | l2-l1
| The Hessian. | hessian
| The inner matrix went to zero if Av > 0. | inner-matrix
| If each v is right and wrong: a strong convexity. | strong-convexity
Line 18 | The rate is the classical one. | rate, rate-product
| The step size is the classical one. | step-classical
| The iterate sequences are the same. | iterates, columns
Line 19 | The weak learning assumption, another way of separability. | WLA, Gordan
Line 21 | WLA holds iff A is separable, which is Gordan's theorem. | Gordan
Line 22 | The upper bound of steepest descent. | plain, one-round
| ‖∇f‖_* is bounded by f(w_i) − f(w̄): a recurrence and a rate. | strongly-convex-rate
| ‖Aᵀ∇L‖_∞ ≥ γ‖∇L‖_1. | edge
Line 23 | The re-weighted ERM problem; a chain of four. | ERM, ERM-index, edge
| ∇L ≠ 0, and the re-weighting is a distribution. | reweighting, first-order, norm
| It is solved to accuracy 1/2 + γ/2. | accuracy
| WLA bounds the quality of H for any reweighting. | WLA, accuracy
Line 25 | The theorem. | T
Line 27 | inf L = 0, and the objective becomes flat. | infimum, step-larger
| ℓ' = ℓ. | norm
| The step is larger than ‖∇f‖_*/β, which shrinks. | step-larger
| That is inadequate; the step is a key to the rate. | plain
Line 28 | The rate of strongly convex, smooth problems. | strongly-convex-rate
| β/λ is replaced with 2/γ². | condition-number
Line 29 | Smooth in iteration i, and the step for it. | - | a definition, or a choice, which the
    claims after it use
| What one round gains, two lines. | one-round
Line 31 | The lemma. | L
Line 32 | β_i = L(−A w_{i−1}) gives the step of the theorem. | L, norm, T
| ‖∇L‖_1 = L. | norm
| What is left of the loss after a round, two lines. | end
Line 34 | Proof of the lemma, lines one to three. | L-lines-1-3
| Proof of the lemma, lines four and five. | L-lines-4-5
| Proof of the lemma, line six. | L-line-6
Line 37 | A set on which convex risk minimisers fail. | bad-set
Line 38 | Growing classes come close to the optimum. | growing-class
"""
)

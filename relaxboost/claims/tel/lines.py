"""TEL, line by line: each display and statement, with the claims about it or why there is none."""

from relaxboost.claims.tel.source import SOURCE

_DEFINITION = "a definition, or a choice, which the claims after it use"
_HISTORY = "history and references, which nothing here depends on"

SOURCE.line("Line 3", "Where boosting and this analysis were first described.", reason=_HISTORY)
SOURCE.line("Line 5", "The exponential loss, or the logistic one.", reason=_DEFINITION)
SOURCE.line("Line 6", "Examples and labels; no vector space structure.", reason=_DEFINITION)
SOURCE.line("Line 7", "Elementary hypotheses, and predictions Σ_j v_j h_j(x).", reason=_DEFINITION)
SOURCE.line(
    "Line 7",
    "Hypotheses that are not very good may be merged into one that is.",
    "rate",
    "T",
    reason="a motive; what is reached under the WLA is the theorem",
)
SOURCE.line("Line 8", "The data matrix A.", reason=_DEFINITION)
SOURCE.line("Line 9", "Empirical risk, written in four ways.", "risk")
SOURCE.line("Line 10", "AdaBoost is ℓ1 steepest descent.", "algorithm", "T")
SOURCE.line("Line 11", "After t iterations w_t has t nonzero entries at most.", "sparsity")
SOURCE.line("Line 13", "v_s, two expressions that are equated.", "gradient", "algorithm")
SOURCE.line("Line 13", "The maximum is at a coordinate with a sign.", "vertex")
SOURCE.line("Line 13", "j, two expressions that are equated; re-weighted ERM.", "selection", "ERM")
SOURCE.line("Line 13", "r, the sign of the step.", "algorithm")
SOURCE.line("Line 14", "The update; the step of plain steepest descent.", "algorithm", "plain")
SOURCE.line("Line 16", "Separable: no minimum, no strong convexity.", "infimum", "inner-matrix")
SOURCE.line(
    "Line 16",
    "One could switch to constrained optimization.",
    reason="what the lecture does not do; that far out the loss is small is TEL-infimum",
)
SOURCE.line("Line 17", "Strong convexity in ℓ2 implies that in ℓ1.", "l2-l1")
SOURCE.line("Line 17", "The Hessian.", "hessian")
SOURCE.line("Line 17", "The inner matrix went to zero if Av > 0.", "inner-matrix")
SOURCE.line("Line 17", "If each v is right and wrong: a strong convexity.", "strong-convexity")
SOURCE.line("Line 18", "The rate is the classical one.", "rate", "rate-product")
SOURCE.line("Line 18", "The step size is the classical one.", "step-classical")
SOURCE.line("Line 18", "The iterate sequences are the same.", "iterates", "columns")
SOURCE.line(
    "Line 19", "The weak learning assumption, another way of separability.", "WLA", "Gordan"
)
SOURCE.line("Line 21", "WLA holds iff A is separable, which is Gordan's theorem.", "Gordan")
SOURCE.line("Line 22", "The upper bound of steepest descent.", "plain", "one-round")
SOURCE.line(
    "Line 22",
    "‖∇f‖_* is bounded by f(w_i) − f(w̄): a recurrence and a rate.",
    "strongly-convex-rate",
)
SOURCE.line("Line 22", "‖Aᵀ∇L‖_∞ ≥ γ‖∇L‖_1.", "edge")
SOURCE.line("Line 23", "The re-weighted ERM problem; a chain of four.", "ERM", "ERM-index", "edge")
SOURCE.line("Line 23", "∇L ≠ 0, and the re-weighting is a distribution.", "reweighting", "norm")
SOURCE.line("Line 23", "It is solved to accuracy 1/2 + γ/2.", "accuracy")
SOURCE.line("Line 23", "WLA bounds the quality of H for any reweighting.", "WLA", "accuracy")
SOURCE.line("Line 25", "The theorem.", "T")
SOURCE.line("Line 27", "inf L = 0, and the objective becomes flat.", "infimum", "step-larger")
SOURCE.line("Line 27", "ℓ' = ℓ.", "norm")
SOURCE.line("Line 27", "The step is larger than ‖∇f‖_*/β, which shrinks.", "step-larger")
SOURCE.line("Line 27", "That is inadequate; the step is a key to the rate.", "plain")
SOURCE.line("Line 28", "The rate of strongly convex, smooth problems.", "strongly-convex-rate")
SOURCE.line("Line 28", "β/λ is replaced with 2/γ².", "condition-number")
SOURCE.line("Line 29", "Smooth in iteration i, and the step for it.", reason=_DEFINITION)
SOURCE.line("Line 29", "What one round gains, two lines.", "one-round")
SOURCE.line("Line 31", "The lemma.", "L")
SOURCE.line("Line 32", "β_i = L(−A w_{i−1}) gives the step of the theorem.", "L", "norm", "T")
SOURCE.line("Line 32", "‖∇L‖_1 = L.", "norm")
SOURCE.line("Line 32", "What is left of the loss after a round, two lines.", "end")
SOURCE.line("Line 34", "Proof of the lemma, lines one to three.", "L-lines-1-3")
SOURCE.line("Line 34", "Proof of the lemma, lines four and five.", "L-lines-4-5")
SOURCE.line("Line 34", "Proof of the lemma, line six.", "L-line-6")
SOURCE.line("Line 37", "A set on which convex risk minimisers fail.", "bad-set")
SOURCE.line("Line 38", "Growing classes come close to the optimum.", "growing-class")

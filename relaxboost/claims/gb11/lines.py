"""GB11, line by line: what the paper says, and which claims are about it or why none is."""

from relaxboost.claims.gb11.source import SOURCE

_DEFINITION = "A definition."
_HISTORY = "About other papers."
_PLAN = "A plan of the paper."

line = SOURCE.line
line("Abstract", "Weak to strong learning for smooth, strongly convex objectives.", "T3")
line(
    "Abstract", "Existing work fails for non-smooth objectives.", "example-select", "example-stuck"
)
line("Abstract", "New algorithms for arbitrary convex losses.", "T4", "T5", "T6", "T7")
line("Abstract", "Experiments show the need for them.", "experiments")
line("Sec. 1", "Weak to strong learning, AdaBoost, its extensions, Zheng et al.", reason=_HISTORY)
line("Sec. 1", "Boosting as gradient descent; Mason et al., Rätsch et al.", reason=_HISTORY)
line("Sec. 1", "The existing algorithm can fail to converge.", "example-stuck", "example-select")
line("Sec. 1", "The new algorithms converge for all convex objectives.", "T5", "T7")
line("Sec. 1", "They often outperform the existing one in practice.", "experiments")
line("Sec. 1", "Budgeted learning, gradient errors; outline.", reason=_PLAN)
line("Sec. 2", "L² fits gradient descent; later sections do for any Hilbert space.", "inner")
line("Eq. 1", "L²(X, V, μ): the integral of ‖f(x)‖² is finite.", reason=_DEFINITION)
line("After Eq. 1", "For μ = P it is E_P ‖f(x)‖².", "Eq1")
line("Sec. 2, display 2", "The inner product and the norm.", "inner")
line("Sec. 2, display 3", "The empirical inner product.", "inner-empirical")
line("Sec. 2, display 4", "The definition of a subgradient.", "subgradient")
line("Sec. 2, display 5", "The empirical risk.", reason=_DEFINITION)
line("Sec. 2, display 6", "Its subgradients.", "subgradients-emp")
line("Sec. 2", "For differentiable l the partial derivative.", "subgradients-emp")
line("Sec. 2, display 7", "The expected loss.", reason=_DEFINITION)
line("Sec. 2, display 8", "Its subgradients.", "subgradients-expected")
line("Sec. 3", "Restricted gradient descent, the restriction set.", reason=_DEFINITION)
line(
    "Sec. 3",
    "Gradients are difficult to manipulate and do not generalise; a projection is necessary.",
    reason="A motive, about computing and inputs not seen.",
)
line("Eq. 2", "The closest point along h.", "Eq2")
line("Eq. 3", "The least error maximises the projected length.", "Eq3")
line("After Eq. 3", "It generalises Mason et al.; for classifiers see Sec. 3.1.", "classification")
line("Eq. 4", "The projection for H closed under scaling.", "Eq4")
line(
    "After Eq. 4", "It reduces the projected distance; Friedman's projection.", "Eq4", "regression"
)
line("Algorithm 1", "Naive gradient projection.", "T3-step", reason="A definition; its step")
line("Sec. 3, displays 4 and 5", "The two requirements with cos θ, called equivalent.", "D1")
line("Definition 1", "The edge; larger means less error and faster.", "D1", "D1-gradients", "T3")
line("Sec. 3.1", "Eq. 3 for outputs ±1 is weighted classification.", "classification")
line("Sec. 3.1, display", "Eq. 4 is regression.", "regression")
line(
    "Sec. 3.1",
    "The edge is an advantage over h = 0, as others are over random prediction.",
    "D1",
    "T1",
)
line("Theorem 1", "Edges and weak learning are equivalent.", "T1", "T1-converse")
line("Theorem 2", "The same for several classes.", "T2-all-gradients", "T2", "T2-converse")
line("Sec. 4, display", "The problem; training risk only.", reason=_DEFINITION)
line("Sec. 4", "The analysis can be extended to any Hilbert space.", "inner", "T3", "T4", "T6")
line("Sec. 4.1", "Rätsch et al. have (1 − 1/C)^T, and so O(log(1/ε)).", "T3-rounds")
line("Sec. 4.1", "Their edge is narrower, their bound depends on sizes.", reason=_HISTORY)
line("Sec. 4.1, displays 1 and 2", "λ-strongly convex, Λ-strongly smooth.", reason=_DEFINITION)
line("Theorem 3", "The rate of Algorithm 1.", "T3", "T3-tight")
line("After Theorem 3", "It holds for a line search.", "T3-line-search")
line("After Theorem 3", "How the proof goes; larger gains for larger γ.", "T3-step", "T3-edge")
line("After Theorem 3", "O((1 − γ²λ/Λ)^T).", "T3")
line("After Theorem 3", "AdaBoost's rate, and O(log(1/ε)) rounds.", "adaboost", "T3-rounds")
line("After Theorem 3", "AdaBoost is tighter, this is more general.", "rates")
line("Sec. 4.1, example", "h(x_2) = 0 is always selected.", "example-select")
line("Sec. 4.1, example", "Perfect on x_1, unchanged on x_2.", "example-stuck")
line(
    "Sec. 4.1, last paragraph",
    "No algorithm that projects subgradients will do for such cases.",
    "example-select",
    "example-stuck",
)
line("Sec. 4.1, last paragraph", "The next algorithms overcome this.", "example-others")
line("Sec. 4.2, display", "The average optimality gap; f* minimises it.", "average-best")
line("Sec. 4.2", "Where it goes to 0, the gap of f_t does.", "average", "average-residual")
line("Sec. 4.2", "Online learning is beyond the scope.", reason=_PLAN)
line("Sec. 4.2", "Similar to the results of gradient descent; Sutskever.", reason=_HISTORY)
line("Algorithm 2", "Repeated gradient projection.", "Alg2")
line("After Algorithm 2", "More projections, less error.", "T4-error", "example-others")
line("Theorem 4", "Algorithm 2, strongly convex.", "T4", "T4-sharp", "T4-G", "D1-gradients")
line(
    "After Theorem 4",
    "The error falls as Theorem 3 says; a geometric series.",
    "T4-error",
    "T4-series",
)
line("Theorem 5", "Algorithm 2, convex.", "T5")
line("After Theorem 5", "A variable number of weak learners.", "threshold")
line("Algorithm 3", "Residual gradient projection.", "T6-parts", reason="A definition; its step")
line(
    "After Algorithm 3",
    "Past errors are accounted for in the end.",
    "T6-parts",
    "T6-sharp",
    "example-others",
)
line("Theorem 6", "Algorithm 3, strongly convex.", "T6", "T6-sharp", "T4-G")
line("Theorem 7", "Algorithm 3, convex.", "T7")
line("After Theorem 7", "The residual grows by the gradient and shrinks.", "T6-residual", "T6-c")
line("Sec. 4.2, last paragraph", "Average regrets and weak learners.", "efficiency", "learners")
line("Sec. 4.2, last paragraph", "The gradient is evaluated less often.", "learners")
line("Sec. 5", "Three experiments, Figs. 1 to 3.", "experiments")
line("Sec. 5", "Previous work on planning has no convergence results.", reason=_HISTORY)
line("Appendix A, Theorem 1, displays 1 to 3", "Weights, sums, norms.", "T1-sums")
line("Appendix A, Theorem 1, display 4", "δ/sqrt(N), and > for the edge.", "T1", "T1-strict")
line("Appendix A, Theorem 1, display 5", "The converse, expanded.", "T1-sums", "T1-converse")
line("Appendix A, Theorem 1, display 6", "‖w‖_1/N; the converse.", "T1-chain", "T1-converse")
line("Appendix A, after Theorem 1", "1/sqrt(N) is necessary.", "T1-necessary")
line(
    "Appendix A, after Theorem 1",
    "Strong learning here is for any convex loss, elsewhere for classification.",
    "T4",
    "adaboost",
)
line("Appendix A, Theorem 2", "The hypotheses h'; rewards for costs.", "T2-outputs")
line("Appendix A, Theorem 2", "Rows of mean 0.", "T2-centring", "T2-all-gradients")
line("Appendix A, Theorem 2, display 1", "The requirement.", reason=_DEFINITION)
line("Appendix A, Theorem 2, display 2", "Times K/(K−1); max-norms.", "T2-label", "T2-outputs")
line("Appendix A, Theorem 2, display 3", "The inner product.", "T2-outputs")
line("Appendix A, Theorem 2", "‖∇‖ and ‖h'‖.", "T2-sizes", "T2-outputs")
line("Appendix A, Theorem 2, display 4", "The chain to the edge.", "T2-norms", "T2-sizes", "T2")
line("Appendix A, Theorem 2", "The implication weakens with N.", "T2", "T1-necessary")
line("Appendix A, Theorem 2, display 5", "The converse, expanded.", "T2-outputs")
line("Appendix A, Theorem 2, display 6", "‖h'‖, and ‖∇‖ from below.", "T2-sizes", "T2-outputs")
line("Appendix A, Theorem 2, display 7", "Rearranged.", "T2-rearranged")
line("Appendix A, Theorem 2", "Bounds of the 2-norm.", "T2-bounds")
line("Appendix A, Theorem 2, display 8", "The requirement again.", "T2-last-step", "T2-converse")
line("Appendix B, display 1", "Strong smoothness at f_{t+1}.", reason=_DEFINITION)
line("Appendix B, display 2", "The gain of a step.", "T3-step")
line("Appendix B, display 3", "With the edge.", "T3-edge")
line("Appendix B", "‖∇R‖² and the gap.", "T3-dominance")
line("Appendix B, display 4", "One round.", "T3-rate")
line("Appendix B, last line", "The final bound.", "T3-last")
line("Appendix C, Theorem 4, display 1", "The potential.", "T4-potential")
line("Appendix C, Theorem 4, display 2", "Summed.", "T4-sum")
line("Appendix C, Theorem 4", "The step size; ‖h_t‖ ≤ 2G.", "T4-eta", "T4-h")
line("Appendix C, Theorem 4, display 3", "Completing squares.", "T4-display", "T4-completed")
line("Appendix C, Theorem 4, display 4", "The series.", "T4-error", "T4-series")
line("Appendix C, Theorem 4", "It gives the final bound: with 4G² for G².", "T4-proof", "T4")
line("Appendix C, Theorem 5, display 1", "Summed.", "T5-sum")
line("Appendix C, Theorem 5", "‖h_t‖ ≤ G; the step size is as stated.", "T5-h")
line(
    "Appendix C, Theorem 5, display 2",
    "Distances, roots, the series.",
    "T5-display",
    "T5-roots",
    "T5-series",
    "T5",
)
line("Appendix C, Theorem 6, display 1", "By parts.", "T6-parts", "T4-sum")
line("Appendix C, Theorem 6", "The step size; ‖h_t‖ ≤ G.", "T6-eta", "T6-h")
line("Appendix C, Theorem 6, display 2", "Telescoped.", "T6-display")
line("Appendix C, Theorem 6", "The residual, 1 − γ², and c.", "T6-residual", "T6-c")
line("Appendix C, Theorem 6, display 3", "The final bound.", "T6-end")
line("Appendix C, Theorem 7, display 1", "Telescoped.", "T7-display")
line("Appendix C, Theorem 7", "‖Δ_t‖ ≤ c; the step size is as stated.", "T7-c")
line(
    "Appendix C, Theorem 7, display 2", "The final bound.", "T7", reason="Times T, it is Theorem 7"
)

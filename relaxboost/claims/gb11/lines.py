"""GB11, line by line: what the paper says, and which claims are about it or why none is."""

from relaxboost.claims.gb11.source import SOURCE

SOURCE.outline(
    """
Abstract | Weak to strong learning for smooth, strongly convex objectives. | T3
| Existing work fails for non-smooth objectives. | example-select, example-stuck
| New algorithms for arbitrary convex losses. | T4, T5, T6, T7
| Experiments show the need for them. | experiments
Sec. 1 | Weak to strong learning, AdaBoost, its extensions, Zheng et al. | - | About other papers.
| Boosting as gradient descent; Mason et al., Rätsch et al. | - | About other papers.
| The existing algorithm can fail to converge. | example-stuck, example-select
| The new algorithms converge for all convex objectives. | T5, T7
| They often outperform the existing one in practice. | experiments
| Budgeted learning, gradient errors; outline. | - | A plan of the paper.
Sec. 2 | L² fits gradient descent; later sections do for any Hilbert space. | inner
Eq. 1 | L²(X, V, μ): the integral of ‖f(x)‖² is finite. | - | A definition.
After Eq. 1 | For μ = P it is E_P ‖f(x)‖². | Eq1
Sec. 2, display 2 | The inner product and the norm. | inner
Sec. 2, display 3 | The empirical inner product. | inner-empirical
Sec. 2, display 4 | The definition of a subgradient. | subgradient
Sec. 2, display 5 | The empirical risk. | - | A definition.
Sec. 2, display 6 | Its subgradients. | subgradients-emp
Sec. 2 | For differentiable l the partial derivative. | subgradients-emp
Sec. 2, display 7 | The expected loss. | - | A definition.
Sec. 2, display 8 | Its subgradients. | subgradients-expected
Sec. 3 | Restricted gradient descent, the restriction set. | - | A definition.
| Gradients are difficult to manipulate and do not generalise; a projection is necessary. | - | A
    motive, about computing and inputs not seen.
Eq. 2 | The closest point along h. | Eq2
Eq. 3 | The least error maximises the projected length. | Eq3
After Eq. 3 | It generalises Mason et al.; for classifiers see Sec. 3.1. | classification
Eq. 4 | The projection for H closed under scaling. | Eq4
After Eq. 4 | It reduces the projected distance; Friedman's projection. | Eq4, regression
Algorithm 1 | Naive gradient projection. | T3-step | A definition; its step
Sec. 3, displays 4 and 5 | The two requirements with cos θ, called equivalent. | D1
Definition 1 | The edge; larger means less error and faster. | D1, D1-gradients, T3
Sec. 3.1 | Eq. 3 for outputs ±1 is weighted classification. | classification
Sec. 3.1, display | Eq. 4 is regression. | regression
Sec. 3.1 | The edge is an advantage over h = 0, as others are over random prediction. | D1, T1
Theorem 1 | Edges and weak learning are equivalent. | T1, T1-converse
Theorem 2 | The same for several classes. | T2-all-gradients, T2, T2-converse
Sec. 4, display | The problem; training risk only. | - | A definition.
Sec. 4 | The analysis can be extended to any Hilbert space. | inner, T3, T4, T6
Sec. 4.1 | Rätsch et al. have (1 − 1/C)^T, and so O(log(1/ε)). | T3-rounds
| Their edge is narrower, their bound depends on sizes. | - | About other papers.
Sec. 4.1, displays 1 and 2 | λ-strongly convex, Λ-strongly smooth. | - | A definition.
Theorem 3 | The rate of Algorithm 1. | T3, T3-tight
After Theorem 3 | It holds for a line search. | T3-line-search
| How the proof goes; larger gains for larger γ. | T3-step, T3-edge
| O((1 − γ²λ/Λ)^T). | T3
| AdaBoost's rate, and O(log(1/ε)) rounds. | adaboost, T3-rounds
| AdaBoost is tighter, this is more general. | rates
Sec. 4.1, example | h(x_2) = 0 is always selected. | example-select
| Perfect on x_1, unchanged on x_2. | example-stuck
Sec. 4.1, last paragraph | No algorithm that projects subgradients will do for such cases. |
    example-select, example-stuck
| The next algorithms overcome this. | example-others
Sec. 4.2, display | The average optimality gap; f* minimises it. | average-best
Sec. 4.2 | Where it goes to 0, the gap of f_t does. | average, average-residual
| Online learning is beyond the scope. | - | A plan of the paper.
| Similar to the results of gradient descent; Sutskever. | - | About other papers.
Algorithm 2 | Repeated gradient projection. | Alg2
After Algorithm 2 | More projections, less error. | T4-error, example-others
Theorem 4 | Algorithm 2, strongly convex. | T4, T4-sharp, T4-G, D1-gradients
After Theorem 4 | The error falls as Theorem 3 says; a geometric series. | T4-error, T4-series
Theorem 5 | Algorithm 2, convex. | T5
After Theorem 5 | A variable number of weak learners. | threshold
Algorithm 3 | Residual gradient projection. | T6-parts | A definition; its step
After Algorithm 3 | Past errors are accounted for in the end. | T6-parts, T6-sharp, example-others
Theorem 6 | Algorithm 3, strongly convex. | T6, T6-sharp, T4-G
Theorem 7 | Algorithm 3, convex. | T7
After Theorem 7 | The residual grows by the gradient and shrinks. | T6-residual, T6-c
Sec. 4.2, last paragraph | Average regrets and weak learners. | efficiency, learners
| The gradient is evaluated less often. | learners
Sec. 5 | Three experiments, Figs. 1 to 3. | experiments
| Previous work on planning has no convergence results. | - | About other papers.
Appendix A, Theorem 1, displays 1 to 3 | Weights, sums, norms. | T1-sums
Appendix A, Theorem 1, display 4 | δ/sqrt(N), and > for the edge. | T1, T1-strict
Appendix A, Theorem 1, display 5 | The converse, expanded. | T1-sums, T1-converse
Appendix A, Theorem 1, display 6 | ‖w‖_1/N; the converse. | T1-chain, T1-converse
Appendix A, after Theorem 1 | 1/sqrt(N) is necessary. | T1-necessary
| Strong learning here is for any convex loss, elsewhere for classification. | T4, adaboost
Appendix A, Theorem 2 | The hypotheses h'; rewards for costs. | T2-outputs
| Rows of mean 0. | T2-centring, T2-all-gradients
Appendix A, Theorem 2, display 1 | The requirement. | - | A definition.
Appendix A, Theorem 2, display 2 | Times K/(K−1); max-norms. | T2-label, T2-outputs
Appendix A, Theorem 2, display 3 | The inner product. | T2-outputs
Appendix A, Theorem 2 | ‖∇‖ and ‖h'‖. | T2-sizes, T2-outputs
Appendix A, Theorem 2, display 4 | The chain to the edge. | T2-norms, T2-sizes, T2
Appendix A, Theorem 2 | The implication weakens with N. | T2, T1-necessary
Appendix A, Theorem 2, display 5 | The converse, expanded. | T2-outputs
Appendix A, Theorem 2, display 6 | ‖h'‖, and ‖∇‖ from below. | T2-sizes, T2-outputs
Appendix A, Theorem 2, display 7 | Rearranged. | T2-rearranged
Appendix A, Theorem 2 | Bounds of the 2-norm. | T2-bounds
Appendix A, Theorem 2, display 8 | The requirement again. | T2-last-step, T2-converse
Appendix B, display 1 | Strong smoothness at f_{t+1}. | - | A definition.
Appendix B, display 2 | The gain of a step. | T3-step
Appendix B, display 3 | With the edge. | T3-edge
Appendix B | ‖∇R‖² and the gap. | T3-dominance
Appendix B, display 4 | One round. | T3-rate
Appendix B, last line | The final bound. | T3-last
Appendix C, Theorem 4, display 1 | The potential. | T4-potential
Appendix C, Theorem 4, display 2 | Summed. | T4-sum
Appendix C, Theorem 4 | The step size; ‖h_t‖ ≤ 2G. | T4-eta, T4-h
Appendix C, Theorem 4, display 3 | Completing squares. | T4-display, T4-completed
Appendix C, Theorem 4, display 4 | The series. | T4-error, T4-series
Appendix C, Theorem 4 | It gives the final bound: with 4G² for G². | T4-proof, T4
Appendix C, Theorem 5, display 1 | Summed. | T5-sum
Appendix C, Theorem 5 | ‖h_t‖ ≤ G; the step size is as stated. | T5-h
Appendix C, Theorem 5, display 2 | Distances, roots, the series. | T5-display, T5-roots, T5-series,
    T5
Appendix C, Theorem 6, display 1 | By parts. | T6-parts, T4-sum
Appendix C, Theorem 6 | The step size; ‖h_t‖ ≤ G. | T6-eta, T6-h
Appendix C, Theorem 6, display 2 | Telescoped. | T6-display
Appendix C, Theorem 6 | The residual, 1 − γ², and c. | T6-residual, T6-c
Appendix C, Theorem 6, display 3 | The final bound. | T6-end
Appendix C, Theorem 7, display 1 | Telescoped. | T7-display
Appendix C, Theorem 7 | ‖Δ_t‖ ≤ c; the step size is as stated. | T7-c
Appendix C, Theorem 7, display 2 | The final bound. | T7 | Times T, it is Theorem 7
"""
)

"""DEK11, line by line: each display and statement, and the claims about it or why there is none."""

from relaxboost.claims.dek11.source import SOURCE

SOURCE.outline(
    """
Sec. 1, line 11 | What supervised and online learning assume and aim at. | online
Sec. 1, line 13 | Regret. | online, T1, T3
Sec. 1, line 15 | Online learning as a zero-sum repeated game. | zero-sum
Sec. 1, line 17 | Any online algorithm may be used, in any arbitrary order. | E1-order
| Q, the uniform distribution on h_0, ..., h_{m−1}. | - | a definition, which the claims after it
    use
| The argument by a Doob martingale and Azuma's inequality. | martingale
Eq. 1, line 19 | The risk of Q and the mean loss on the way. | E1
Sec. 1, line 22 | Regret bounds, Eq. 1 and Hoeffding bound the excess risk. | T2
Sec. 2, line 26 | H, X, and l λ-Lipschitz, convex, in [0, c]. | class
| The projection, Π[w] = B w/‖w‖. | projection
Thm 1, line 30 | H, X, the loss, S, and the step η. | - | a definition, which the claims after it
    use
Alg. 1, line 34 | Constrained gradient descent. | A1
Thm 1, line 38 | Regret ≤ λXB√m against any w*, in any order. | T1
Thm 1, line 43 | In particular for the best w*: Regret ≤ λBX√n. | T1-regret
Thm 1, proof, line 47 | α_i. | - | a definition, which the claims after it use
Thm 1, proof, line 49 | The projection brings points closer to H. | T1-closer
Thm 1, proof, line 51 | α_i ≥ ..., line 1. | T1-alpha-1
| α_i ≥ ..., lines 2, 3 and 4. | T1-alpha-2-4
Thm 1, proof, line 55 | Σ α_i telescopes, and is at most B²/2. | T1-sum
Thm 1, proof, line 59 | Σ α_i is at least −mη²λ²X²/2 + η Regret. | T1-sum
Thm 1, proof, line 63 | Divided by η: B²/(2η) + ηλ²X²m/(2η). | T1-divided
Thm 1, proof, line 65 | η minimises the right side, λXB√m. | T1-eta, T1
Thm 1, proof, line 67 | The bound of the theorem again. | T1
Sec. 2.1, line 69 | Sub-linear regret; per example at the rate 1/√m. | T1-rate
Thm 2, line 73 | Q, and S given in any arbitrary order. | T2-order
Thm 2, line 75 | The excess risk of Q. | T2
Thm 2, proof, line 79 | Eq. 1 again. | E1
Thm 2, proof, line 83 | Theorem 1 for w*. | T2-regret
Thm 2, proof, line 87 | The two together. | T2-middle
Thm 2, proof, line 91 | Hoeffding for l(w*; S). | T2-Hoeffding
Thm 2, proof, line 95 | The union, 1 − 2δ. | T2
Eq. 3, line 99 | The excess risk, with probability 1 − δ. | T2
Sec. 2.3, 1, line 106 | The mean is Exp_Q[w], and in H. | mean
Sec. 2.3, 1, line 108 | Its risk is at most that of Q. | mean-risk
Sec. 2.3, 1, line 110 | Thus the average can be output. | mean-risk
Sec. 2.3, 2, line 114 | h_maj. | - | a definition, which the claims after it use
Sec. 2.3, 2, line 116 | At most twice the 0-1 risk of Q. | majority, majority-zero
Sec. 2.3, 2, line 118 | Convex upper bounds of the 0-1 loss. | surrogate
Sec. 2.3, 3, line 120 | w_{i−1} and the later examples are independent. | independence
Sec. 2.3, 3, line 122 | All losses on later examples are near the risks. | radius
Sec. 2.3, 3, line 126 | h̃. | - | a definition, which the claims after it use
Sec. 2.3, 3, line 128 | h̃̃, the ERM of the first half; h̃ is at least as good. | as-good
| h*, the best of h_0, ..., h_{m/2−1}. | - | a definition, which the claims after it use
Sec. 2.3, 3, line 130 | l(h̃̃; D) ≤ l(h̃̃; S') + ..., at least δ. | half
Sec. 2.3, 3, line 132 | l(h̃̃; S') ≤ l(h*; S') ≤ l(h*; D) + .... | ERM, best
Sec. 2.3, 3, line 134 | l(h̃̃; D) ≤ l(h*; D) + ..., at least 1 − 2δ. | ERM
Sec. 2.3, 3, line 138 | l(h̃; D) ≤ l(h*; D) + ..., at least 1 − δ. | chosen
Sec. 3, line 142 | Experts and what is asked of their combination. | setting
| H, the simplex; X in the sup norm; l λ-Lipschitz. | T3-Z
Alg. 2, line 146 | Exponentiated gradient. | A2
Thm 3, line 150 | Regret ≤ λX√(2n log m) against any w*, in any order. | T3
Thm 3, line 154 | In particular for the best w*: λX√(2m log n). | T3-regret
Thm 3, proof, line 158 | Every w of H is a distribution; α_i. | - | a definition, which the claims
    after it use
Thm 3, proof, line 160 | α_i = ..., lines 1 to 4. | T3-alpha-1-4
| α_i ≥ ..., line 5. | T3-alpha-5
Thm 3, proof, line 164 | Z, a random variable. | - | a definition, which the claims after it use
Thm 3, proof, line 166 | |Z| ≤ ηλX. | T3-Z
Thm 3, proof, line 168 | Exp[exp(Z − Exp[Z])] ≤ exp(η²λ²X²/2). | T3-mgf
Thm 3, proof, line 172 | Therefore α_i ≥ .... | T3-alpha
Thm 3, proof, line 176 | Σ α_i ≤ KL(w* ‖ w_0) ≤ log n. | T3-sum
Thm 3, proof, line 180 | Comparing: log(n)/η + ηmλ²X²/2. | T3-bound
Thm 3, proof, line 182 | η minimises the right side. | T3-eta
Thm 3, proof, line 184 | The regret again. | T3-regret
"""
)

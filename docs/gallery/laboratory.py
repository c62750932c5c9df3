"""Expected excess risk, exactly

If the law of the examples has few values, the expected risk of an online learner can be computed
exactly, and compared with what the theorem promises.
"""

import matplotlib.pyplot as plt

import relaxboost as rb

law = rb.claims.Law([[1, -1], [-0.5, 1]], y=[1, -1], p=[0.7, 0.3])
method = rb.online.MirrorDescent("hinge", over=rb.Simplex(1))
found = [law.expected_excess(method, t) for t in range(1, 9)]
figure, axes = plt.subplots(figsize=(4.2, 2.9), layout="constrained")
axes.set(xlabel="examples", ylabel="excess risk")
axes.plot(range(1, 9), [excess.upper for excess in found], "o-", label="exact")
axes.plot(range(1, 9), [excess.bound for excess in found], "--", label="theorem")
axes.set_ylim(bottom=0)
axes.legend(fontsize=8)
figure.savefig("laboratory.png", dpi=100)

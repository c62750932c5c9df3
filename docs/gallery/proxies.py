"""The entropy loses less if there are many base functions

Three base functions decide the labels, and M − 3 do not matter. The bound of the entropy grows like
√log M and that of the squared norm like √M. From 200 base functions on, the entropy loses
less.
"""

import matplotlib.pyplot as plt
import numpy as np

import relaxboost as rb

sizes = (10, 20, 50, 100, 200, 400)
losses = {"entropy": [], "squared-l2": []}
for M in sizes:
    H = np.random.default_rng(0).choice([-1.0, 1.0], size=(3000, M))
    y = np.sign(H[:, :3].sum(axis=1))
    for proxy, bound in (("entropy", 1.0), ("squared-l2", np.sqrt(M) + 0.01)):
        method = rb.online.MirrorDescent(
            "hinge", rb.Simplex(3), proxy, bound=bound
        )
        learner = method.start(M)
        learner.update(H, y)
        losses[proxy].append(learner.loss / 3000)
figure, axes = plt.subplots(figsize=(4.2, 2.9), layout="constrained")
axes.set(
    xlabel="M, the number of base functions",
    ylabel="mean loss of 3000 examples",
)
axes.plot(sizes, losses["entropy"], "o-", label="entropy")
axes.plot(sizes, losses["squared-l2"], "s--", label="squared norm")
axes.set_ylim(bottom=0)
axes.legend(fontsize=9)
figure.savefig("proxies.png", dpi=100)

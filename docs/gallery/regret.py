"""The real regret is less than half of what the theorem allows

Regret is how much more an online learner loses than the best fixed weights. The certified regret is
computed with a proof, and the theorem bounds it for any examples.
"""

import matplotlib.pyplot as plt
import numpy as np

import relaxboost as rb

rng = np.random.default_rng(0)
H = rng.choice([-1.0, 1.0], size=(3000, 20))
y = np.sign(H[:, :3].sum(axis=1))
method = rb.online.MirrorDescent("hinge", over=rb.Simplex(3))
found = rb.online.regret(method, (H, y), at=[30, 100, 300, 1000])
known = [*found.along, found]
examples = [part.examples for part in known]
figure, axes = plt.subplots(figsize=(4.2, 2.9), layout="constrained")
axes.set(xlabel="examples", ylabel="regret")
axes.loglog(examples, [part.upper for part in known], "o-", label="certified")
axes.loglog(examples, [part.bound for part in known], "--", label="theorem")
axes.legend(fontsize=9)
figure.savefig("regret.png", dpi=100)

"""The Huber loss ignores outliers

A tenth of the targets are 6 too large. The squared loss follows them, and the Huber loss stays with
the other points.
"""

import matplotlib.pyplot as plt
import numpy as np

from relaxboost import functional as fn

rng = np.random.default_rng(0)
x = np.sort(rng.uniform(0, 6, 300))[:, None]
y = np.sin(x[:, 0]) + rng.normal(0, 0.1 + 0.1 * x[:, 0])
y = np.where(rng.random(300) < 0.1, y + 6, y)
figure, axes = plt.subplots(figsize=(4.2, 2.9), layout="constrained")
axes.set(xlabel="x", ylabel="y")
axes.scatter(x, y, s=3, color="0.7")
for loss, line in ((fn.Squared(), "--"), (fn.Huber(0.5), "-")):
    run = fn.boost(
        x,
        loss.bind(y),
        fn.RegressionStumps(),
        algorithm="refitted",
        stopping=60,
    )
    axes.plot(x, run.decision(x), line, label=type(loss).__name__)
axes.legend(fontsize=9)
figure.savefig("huber.png", dpi=100)

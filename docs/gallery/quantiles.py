"""A band widens where the noise grows

Boosting the quantile loss gives the median and the band that holds the middle 80 % of the data. The
noise grows with x, and the band widens with it.
"""

import matplotlib.pyplot as plt
import numpy as np

from relaxboost import functional as fn

rng = np.random.default_rng(0)
x = np.sort(rng.uniform(0, 6, 300))[:, None]
y = np.sin(x[:, 0]) + rng.normal(0, 0.1 + 0.1 * x[:, 0])
figure, axes = plt.subplots(figsize=(4.2, 2.9), layout="constrained")
axes.set(xlabel="x", ylabel="y")
axes.scatter(x, y, s=3, color="0.7")
for q, line in ((0.1, ":"), (0.5, "-"), (0.9, "--")):
    risk = fn.Quantile(q).bind(y)
    run = fn.boost(
        x, risk, fn.RegressionStumps(), algorithm="refitted", stopping=60
    )
    axes.plot(x, run.decision(x), line, label=f"{q:.0%}")
axes.legend(fontsize=9)
figure.savefig("quantiles.png", dpi=100)

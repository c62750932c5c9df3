"""No group dictates the vote

Group 2 has low margins, like a hospital whose cases are difficult. `Capped` gives it nearly all of
the weight; `GroupCaps` limits each group to a weight of 0.3.
"""

import matplotlib.pyplot as plt
import numpy as np

import relaxboost as rb

margins = np.random.default_rng(0).normal(0.2, 0.3, 24)
groups = np.repeat(np.arange(4), 6)
margins[groups == 2] -= 0.8
figure, axes = plt.subplots(figsize=(4.2, 2.9), layout="constrained")
axes.set(xlabel="group", ylabel="weight", xticks=range(4))
for i, f in enumerate(
    (rb.Capped(k=5), rb.relaxations.GroupCaps(groups, 0.3))
):
    _, d = f.resolve(24).relaxed_margin(margins)
    weights = np.bincount(groups, d, minlength=4)
    axes.bar(
        np.arange(4) + 0.4 * i - 0.2, weights, 0.4, label=type(f).__name__
    )
axes.legend(fontsize=9)
figure.savefig("groups.png", dpi=100)

"""The largest smallest margin costs most other examples

AdaBoost found thirty stumps. For these stumps, `certify_ensemble` finds the weights whose smallest
margin is largest. The smallest margin rises from −0.014 to 0.086. All margins below 0.086 rise, and
three quarters of the others fall. The curves show the share of examples with at most a margin, so a
lower curve is better.
"""

import matplotlib.pyplot as plt
from sklearn.ensemble import AdaBoostClassifier

import relaxboost as rb
from relaxboost.views import plots

data = rb.matrices.datasets.breast_cancer()
model = AdaBoostClassifier(n_estimators=30, random_state=0).fit(
    data.X, data.y
)
report = rb.certify_ensemble(model, data.X, data.y)
own = data.y * report.decision(data.X, reoptimised=False)
best = data.y * report.decision(data.X, reoptimised=True)
figure, axes = plt.subplots(figsize=(4.2, 2.9), layout="constrained")
plots.draw_margins({"AdaBoost": own, "re-optimised": best}, axes=axes)
axes.axvline(
    best.min(), color="gray", linestyle=":", label=f"{best.min():.3f}"
)
axes.legend(fontsize=9)
figure.savefig("ensemble.png", dpi=100)

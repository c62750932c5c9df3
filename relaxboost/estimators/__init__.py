"""Everything in scikit-learn's interface, and `certify_ensemble` for what others trained.

Names are loaded when they are first used; only the estimators import scikit-learn.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)

"""Certificates: brackets that anyone can check again, without this package, and exact optima.

Names are loaded when they are first used: `python -m relaxboost.certificates.check` runs without
the rest of the package, as a copy of that file does.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)

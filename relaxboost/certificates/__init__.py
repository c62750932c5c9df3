"""Certificates and exact optima of games.

A certificate is a proved bracket of the optimum, which anyone can check without this package. The
names of this package are imported lazily, so that the checker
`python -m relaxboost.certificates.check` does not load the rest of relaxboost.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)

"""Certificates and exact optima of games.

A certificate is a proved bracket of the optimum. Anyone can check it again without this package.
Each name of this package is imported only when it is first used, so that the checker
`python -m relaxboost.certificates.check` does not load the rest of relaxboost.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)

"""Certificates and exact optima of games.

A certificate is a proved bracket of the optimum. Anyone can check it again without this package.
Python imports each name only when it is first used. So `python -m relaxboost.certificates.check`
runs without the rest of the package, just as a copy of that file does.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)

"""The claims of the literature. Each claim has a check, and a verdict that the check reproduces.

::

    import relaxboost as rb

Python imports each name when it is first used, so that the pytest plugin does not slow down the
start of pytest.

Names are loaded when they are first used, so that the pytest plugin costs nothing.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)

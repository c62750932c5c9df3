"""The claims of the literature, each with a check, and a verdict on every one.

::

    import relaxboost as rb

    rb.claims.all()
    print(rb.claims.get("SS09-T9").check(trials=20, seed=0))
    print(rb.claims.get("SS09-T9").attack(budget=2000))

Names are loaded when they are first used, so that the pytest plugin costs nothing.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)

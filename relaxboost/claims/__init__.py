"""Claims from the literature: theorems, lemmas and formulas of papers on boosting.

Each claim has a recorded verdict. `check` reproduces it on many instances, and `attack` searches
for a counterexample.

::

    import relaxboost as rb

    rb.claims.all()
    print(rb.claims.get("SS09-T9").check(trials=20, seed=0))
    print(rb.claims.get("SS09-T9").attack(budget=2000))

Submodules are imported at the first use of their names, so that the pytest plugin of the package
does not slow down the start of pytest.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)

"""Relaxations f of the weak-learning game, one file per family.

A name is imported only when it is first used. The stub file `__init__.pyi` lists the names and is
the registry of families: tests compare expressions, the conformance suite and the documentation
with this list.
"""

import lazy_loader

# These files register operators in `base` and closed forms in `norms` when they are imported.
from relaxboost.relaxations import (  # noqa: F401
    affine,
    max_norm,
    multiples,
    p_norm,
    sum_norm,
    sums,
)

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)

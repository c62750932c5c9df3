"""Relaxations f of the weak-learning game, one file per family.

Names are imported at first use. The stub file `__init__.pyi` is the registry of families, which the
tests and the documentation read.
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

"""Relaxations f of the weak-learning game, one file per family.

Names are loaded when they are first used; the list of them, `__init__.pyi`, is the registry of
families: expressions, the conformance suite and the tables of the documentation are held to it.
"""

import lazy_loader

from relaxboost.relaxations import (  # noqa: F401  (they enter themselves in base and norms)
    affine,
    max_norm,
    multiples,
    p_norm,
    sum_norm,
    sums,
)

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)

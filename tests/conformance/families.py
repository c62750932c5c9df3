"""Every relaxation of the package, to be held to the interface: add a family here, nowhere else.

Each entry is a name and a function from the number of examples m to the relaxation, so that
parameters can depend on m.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from relaxboost import Capped, HardMargin, Relaxation

SIZES = (1, 2, 3, 17, 200)

FAMILIES: list[tuple[str, Callable[[int], Relaxation]]] = [
    ("HardMargin", lambda m: HardMargin()),
    ("Capped(1)", lambda m: Capped(1)),
    ("Capped(m)", lambda m: Capped(k=m)),
    ("Capped(2.5)", lambda m: Capped(min(2.5, m))),
    ("Capped(a third)", lambda m: Capped(Fraction(m + 2, 3))),
    ("Capped(fraction)", lambda m: Capped(fraction=max(0.4, 1 / m))),
]

"""relaxboost: the convex optimisation behind boosting, with a certified optimum.

Declare a relaxation of the weak-learning game, get its optimum as a bracket that a feasible pair
proves, solve the same game with fast boosters::

    import relaxboost as rb

    game = rb.Game(A, rb.Capped(k=57))
    ref = rb.reference(game)
    sol = rb.solve(game, tol=1e-3)
    print(rb.compare(sol, ref))

Boost any convex loss, by gradient descent in function space: `relaxboost.functional`.

Names are loaded when they are first used, so that importing the package costs little; the list
of them is `__init__.pyi`.
"""

import lazy_loader

_loaded, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)


def __getattr__(name: str) -> object:
    if name in __all__ or name.startswith("_"):  # tools try private names, and want no advice
        return _loaded(name)
    from relaxboost._core.names import unknown

    raise unknown(name, __all__)


__version__ = "0.2.0"

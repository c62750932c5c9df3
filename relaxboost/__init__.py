"""relaxboost: the convex optimisation behind boosting, with a certified optimum.

In the weak-learning game, one player chooses weights of the examples, and the other player chooses
weights of the weak hypotheses. You declare a relaxation of this game, such as an upper bound on the
weight of an example. `reference` computes the optimum with a general solver, and proves a lower and
an upper bound on it. `solve` computes the optimum of the same game with fast boosting methods::

    import relaxboost as rb

    game = rb.Game(A, rb.Capped(k=57))
    ref = rb.reference(game)
    sol = rb.solve(game, tol=1e-3)
    print(rb.compare(sol, ref))

The subpackage `relaxboost.functional` boosts any convex loss by gradient descent in function space.

The package loads each name when it is first used, so that the import is fast. The file
`__init__.pyi` lists all names.
"""

import lazy_loader

_loaded, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)


def __getattr__(name: str) -> object:
    if name in __all__ or name.startswith("_"):  # tools try private names, and want no advice
        return _loaded(name)
    from relaxboost._core.names import unknown

    raise unknown(name, __all__)


__version__ = "0.2.0"

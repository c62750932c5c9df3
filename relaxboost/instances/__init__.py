"""Sets of certified games for the tests of other packages.

Each game in a set has a certificate of its optimum.

::

    import relaxboost as rb

    rb.instances.make("games.toml", "games")  # one certificate for each game, and index.json
    assert rb.instances.check("games").ok  # recomputes everything
    certified = rb.instances.load("games")["uniform-8x6-003"]
    rb.instances.assert_bracketed(my_solver(certified.A), certified)

Submodules are imported at the first use of their names, because pytest imports this package when it
starts.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)

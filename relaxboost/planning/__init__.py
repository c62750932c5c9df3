"""Maximum-margin planning on graphs.

The package learns arc costs from demonstrated paths. The costs are linear in the features or a
boosted sum of weak hypotheses.
"""

import lazy_loader

_loaded, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)


def __getattr__(name: str) -> object:
    if name == "readers":
        from relaxboost._core.names import moved

        raise moved("relaxboost.planning.readers", "benchmarks/readers")
    return _loaded(name)

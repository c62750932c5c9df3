"""A benchmark of solvers on games: each in its own process, all scored by the same bracket."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)

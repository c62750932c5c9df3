"""Online learning and aggregation: mirror descent with averaging, GD, EG, and their regret."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)

"""Online learning and aggregation: mirror descent, gradient descent, and the regret of learners."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)

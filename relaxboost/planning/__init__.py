"""Maximum-margin planning on graphs: costs learned from demonstrated paths, linear or boosted."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)

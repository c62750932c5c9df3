"""Readers of public data sets in the formats they are published in, from a folder of the user's."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)

"""Proxies, the strongly convex functions that define mirror descent."""

from relaxboost.online.proxies.base import PROXIES, Proxy, as_proxy
from relaxboost.online.proxies.entropy import Entropy
from relaxboost.online.proxies.p_norm import PNorm
from relaxboost.online.proxies.power import Power
from relaxboost.online.proxies.squared import SquaredL2
from relaxboost.online.proxies.tilted import Tilted

__all__ = ["PROXIES", "Entropy", "PNorm", "Power", "Proxy", "SquaredL2", "Tilted", "as_proxy"]

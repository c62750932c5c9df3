"""Proxies: strongly convex functions on a domain, one file each."""

from relaxboost.online.proxies.base import PROXIES, Proxy, as_proxy
from relaxboost.online.proxies.entropy import Entropy
from relaxboost.online.proxies.squared import SquaredL2

__all__ = ["PROXIES", "Entropy", "Proxy", "SquaredL2", "as_proxy"]

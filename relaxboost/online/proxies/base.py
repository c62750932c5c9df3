"""The interface of proxies."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from typing import Any, ClassVar

import numpy as np

from relaxboost._core.arrays import Vector
from relaxboost._core.errors import InputError, class_hint
from relaxboost._core.names import known_names
from relaxboost._core.registry import Registry
from relaxboost.game.domains import Domain, Simplex

PROXIES: Registry[Proxy] = Registry("proxy")
"""The proxies by name."""


class Proxy(ABC):
    """A proxy V for mirror descent, a strongly convex function on a domain with the minimum 0.

    The β-conjugate of V is W_β(z) = sup over w in the domain of −<z, w> − βV(w). The mirror image
    −∇W_β(z) is the weight vector of mirror descent. Subclasses should be frozen dataclasses. If
    they define a `name`, users can select them by it.

    References
    ----------
    Juditsky, Nazin, Tsybakov & Vayatis (2005), Sec. 3.1, Definitions 1 and 2.
    """

    name: ClassVar[str] = ""
    """The name that selects the proxy with its defaults, or "" if it has none."""
    norm: ClassVar[str] = "l1"
    """The norm of strong convexity, "l1" or "l2". Gradients are measured in the dual norm."""
    domains: ClassVar[tuple[type[Domain], ...]] = ()
    """The domain classes on which the proxy is defined."""

    steep: ClassVar[bool] = False
    """Whether ∇V is infinite at the boundary of the domain. Then mirror images are in the interior,
    and for β = 1 the gradient at the mirror image of z is −z."""

    def __init_subclass__(cls) -> None:
        PROXIES.add(cls)

    def check(self, domain: Domain, size: int) -> None:
        """Raise an InputError unless V is strongly convex on the domain for `size` weights."""
        if not isinstance(domain, self.domains):
            fit = " or ".join(f"{kind.__name__}(radius)" for kind in self.domains)
            raise InputError(f"{self!r} is not a proxy on {domain!r}; use over={fit}")
        # On the simplex a single weight is equal to the radius.
        if size < 2 and isinstance(domain, Simplex):
            raise InputError(
                f"{self!r} needs M >= 2 weights, got {size}; a single weight would be constant"
            )

    @abstractmethod
    def value(self, w: Vector, domain: Domain) -> float:
        """Return V(w) for a w in the domain, nonnegative up to rounding."""

    @abstractmethod
    def modulus(self, domain: Domain, size: int) -> float:
        """Return the modulus α > 0 of strong convexity (Juditsky et al. 2005, Def. 1)."""

    @abstractmethod
    def largest(self, domain: Domain, size: int) -> float:
        """Return V_max, the maximum of V over the domain."""

    @abstractmethod
    def mirror(self, z: Vector, beta: float, domain: Domain) -> Vector:
        """Return the mirror image −∇W_β(z), which minimises <z, w> + βV(w) over the domain.

        β must be positive.
        """

    @abstractmethod
    def gradient(self, w: Vector, domain: Domain) -> Vector:
        """Return ∇V(w), which is infinite if V has no gradient at w.

        On a simplex, the entries may differ from ∇V(w) by a common constant.
        """

    @abstractmethod
    def expression(self, w: Any, domain: Domain) -> tuple[Any, list[Any]]:
        """Return V as a convex cvxpy expression of w, and constraints on its variables."""

    def conjugate(self, z: Vector, beta: float, domain: Domain) -> float:
        """Return the β-conjugate W_β(z) of V."""
        w = self.mirror(z, beta, domain)
        return -float(z @ w) - beta * self.value(w, domain)

    def spread(self, domain: Domain, size: int) -> float:
        """Return the largest Bregman divergence V(w) − V(w') − <∇V(w'), w − w'> on the domain.

        The default is inf, which means that no bound is known.
        """
        return math.inf

    def start(self, domain: Domain, size: int) -> Vector:
        """Return the weights of the domain that minimise V."""
        return self.mirror(np.zeros(size), 1.0, domain)


def as_proxy(given: Any) -> Proxy:
    """Return the proxy for a name or an object."""
    if isinstance(given, Proxy):
        return given
    if isinstance(given, str) and given in PROXIES:
        return PROXIES[given]()
    remedy = known_names(given, PROXIES, "pass an object, or one of")
    raise InputError(f"unknown proxy {given!r}{remedy}{class_hint(given, '')}")

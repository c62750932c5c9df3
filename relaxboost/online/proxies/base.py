"""The interface of proxies, which are strongly convex functions with a mirror map."""

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
"""The registry of proxies, the strongly convex functions that define mirror descent. A name selects
a proxy with its default parameters."""


class Proxy(ABC):
    """A proxy for mirror descent: a function V on a domain that is strongly convex in a norm and
    has the minimum 0.

    The β-conjugate of V is W_β(z) = sup over w in the domain of −<z, w> − βV(w). The mirror image
    of z is −∇W_β(z). In mirror descent it is the vector of weights. Subclasses should be frozen
    dataclasses. If a subclass has a class attribute `name`, users can select it by this name.

    References
    ----------
    Juditsky, Nazin, Tsybakov & Vayatis (2005), Sec. 3.1, Definitions 1 and 2.
    """

    name: ClassVar[str] = ""
    """The name that selects the proxy with its default parameters, or "" if there is no name."""
    norm: ClassVar[str] = "l1"
    """The norm in which the proxy is strongly convex, "l1" or "l2". Gradients are measured in the
    dual norm."""
    domains: ClassVar[tuple[type[Domain], ...]] = ()
    """The classes of the domains on which the function V is a proxy."""

    steep: ClassVar[bool] = False
    """Whether the gradient ∇V of the proxy is infinite at the boundary of the domain. Then every
    mirror image is in the interior, and for β = 1 the gradient at the mirror image of z is −z."""

    def __init_subclass__(cls) -> None:
        PROXIES.add(cls)

    def check(self, domain: Domain, size: int) -> None:
        """Raise an InputError if the function V is not a proxy on the domain for the given number
        of weights."""
        if not isinstance(domain, self.domains):
            fit = " or ".join(f"{kind.__name__}(radius)" for kind in self.domains)
            raise InputError(f"{self!r} is not a proxy on {domain!r}; use over={fit}")
        # On the simplex a single weight is equal to the radius.
        if size < 2 and isinstance(domain, Simplex):
            raise InputError(
                f"{self!r} needs M >= 2 weights, got {size}, because a single weight is constant"
            )

    @abstractmethod
    def value(self, w: Vector, domain: Domain) -> float:
        """Return the value V(w) of the proxy for a w in the domain, nonnegative up to rounding."""

    @abstractmethod
    def modulus(self, domain: Domain, size: int) -> float:
        """Return the modulus α > 0 of strong convexity of the proxy in its norm (Juditsky et al.
        2005, Def. 1)."""

    @abstractmethod
    def largest(self, domain: Domain, size: int) -> float:
        """Return V_max, the maximum of the proxy V over the domain."""

    @abstractmethod
    def mirror(self, z: Vector, beta: float, domain: Domain) -> Vector:
        """Return the mirror image −∇W_β(z): the w of the domain that minimises <z, w> + βV(w).

        β must be positive.
        """

    @abstractmethod
    def gradient(self, w: Vector, domain: Domain) -> Vector:
        """Return the gradient ∇V(w) of the proxy. It is infinite if V has no gradient at w.

        On a simplex, the result may differ from ∇V(w) by a constant that is added to all entries.
        """

    @abstractmethod
    def expression(self, w: Any, domain: Domain) -> tuple[Any, list[Any]]:
        """Return the proxy V as a convex cvxpy expression of the weights w, and constraints on its
        variables."""

    def conjugate(self, z: Vector, beta: float, domain: Domain) -> float:
        """Return the β-conjugate W_β(z) of the proxy V, which is −<z, w> − βV(w) at the mirror
        image w of z."""
        w = self.mirror(z, beta, domain)
        return -float(z @ w) - beta * self.value(w, domain)

    def spread(self, domain: Domain, size: int) -> float:
        """Return the largest Bregman divergence of the proxy V between two points w and w' of the
        domain.

        The divergence is V(w) − V(w') − <∇V(w'), w − w'>.

        The default is inf, which means that no bound is known.
        """
        return math.inf

    def start(self, domain: Domain, size: int) -> Vector:
        """Return the weights w of the domain that minimise the proxy V."""
        return self.mirror(np.zeros(size), 1.0, domain)


def as_proxy(given: Any) -> Proxy:
    """Return the proxy that a name selects. If a proxy object is given, return it unchanged."""
    if isinstance(given, Proxy):
        return given
    if isinstance(given, str) and given in PROXIES:
        return PROXIES[given]()
    remedy = known_names(given, PROXIES, "pass an object, or one of")
    raise InputError(f"unknown proxy {given!r}{remedy}{class_hint(given, '')}")

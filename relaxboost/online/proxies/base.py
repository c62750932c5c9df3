"""What a proxy is: a strongly convex V on a domain, and the mirror it makes of dual vectors."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from typing import Any, ClassVar

import numpy as np

from relaxboost._core.arrays import Vector
from relaxboost._core.errors import InputError
from relaxboost._core.registry import Registry
from relaxboost.game.domains import Domain, Simplex

PROXIES: Registry[Proxy] = Registry("proxy")
"""Proxies by name; a name stands for the proxy with its defaults."""


class Proxy(ABC):
    """A convex V on a domain W, strongly convex in a norm, with minimum 0.

    Its β-conjugate is W_β(z) = sup over w in W of −<z, w> − βV(w), and −∇W_β(z) is the mirror image
    of z: the weights of mirror descent. A subclass should be immutable; a frozen dataclass is. One
    with a `name` of its own can be asked for by it.

    References
    ----------
    Juditsky, Nazin, Tsybakov & Vayatis (2005), Sec. 3.1, Definitions 1 and 2.
    """

    name: ClassVar[str] = ""
    """What stands for the proxy with its defaults, if anything does."""
    norm: ClassVar[str] = "l1"
    """The norm of its strong convexity, "l1" or "l2"; gradients are measured in the dual one."""
    domains: ClassVar[tuple[type[Domain], ...]] = ()
    """The domains it knows."""

    steep: ClassVar[bool] = False
    """Whether ∇V is infinite at the boundary of its domains, so that −∇V of a mirror image is z."""

    def __init_subclass__(cls) -> None:
        PROXIES.add(cls)

    def check(self, domain: Domain, size: int) -> None:
        """Raise an InputError where V is no proxy on this domain of `size` weights."""
        if not isinstance(domain, self.domains):
            fit = " or ".join(f"{kind.__name__}(radius)" for kind in self.domains)
            raise InputError(f"{self!r} is no proxy on {domain!r}; use over={fit}")
        if size < 2 and isinstance(domain, Simplex):
            raise InputError(f"{self!r} needs M >= 2 weights, got {size}: one has nothing to learn")

    @abstractmethod
    def value(self, w: Vector, domain: Domain) -> float:
        """Return V(w) for w in the domain, >= 0 up to rounding."""

    @abstractmethod
    def modulus(self, domain: Domain, size: int) -> float:
        """Return α > 0 with V strongly convex by α in `norm`, JNTV05 Definition 1."""

    @abstractmethod
    def largest(self, domain: Domain, size: int) -> float:
        """Return V* = max of V over the domain."""

    @abstractmethod
    def mirror(self, z: Vector, beta: float, domain: Domain) -> Vector:
        """Return −∇W_β(z), the w of the domain with the least <z, w> + βV(w), for β > 0."""

    @abstractmethod
    def gradient(self, w: Vector, domain: Domain) -> Vector:
        """Return ∇V(w), up to what is constant on the domain; infinite where V has none."""

    @abstractmethod
    def expression(self, w: Any, domain: Domain) -> tuple[Any, list[Any]]:
        """Return V as a convex cvxpy expression of w, and constraints; not those of the domain."""

    def conjugate(self, z: Vector, beta: float, domain: Domain) -> float:
        """Return W_β(z), by default its definition at the mirror image."""
        w = self.mirror(z, beta, domain)
        return -float(z @ w) - beta * self.value(w, domain)

    def spread(self, domain: Domain, size: int) -> float:
        """Return the largest V(w) − V(w') − <∇V(w'), w − w'> of the domain; inf if there is none.

        By default inf.
        """
        return math.inf

    def start(self, domain: Domain, size: int) -> Vector:
        """Return the w with the least V."""
        return self.mirror(np.zeros(size), 1.0, domain)


def as_proxy(given: Any) -> Proxy:
    """Return the proxy that a learner was given, by name or as an object."""
    if isinstance(given, Proxy):
        return given
    if isinstance(given, str) and given in PROXIES:
        return PROXIES[given]()
    hint = f"; write {given.__name__}()" if isinstance(given, type) else ""
    raise InputError(
        f"unknown proxy {given!r}; choose one of {', '.join(PROXIES)}, or an object{hint}"
    )

"""Registries of named classes, which add themselves."""

from __future__ import annotations

from typing import Generic, TypeVar

from relaxboost._core.errors import InputError

T = TypeVar("T")


class Registry(dict[str, type[T]], Generic[T]):
    """The named classes of one kind, in definition order.

    The base class adds each subclass that itself defines the class attribute `name`. `what` is the
    noun for the classes in messages, such as "algorithm".
    """

    def __init__(self, what: str) -> None:
        super().__init__()
        self.what = what

    def add(self, kind: type[T]) -> None:
        """Add a class that itself defines the attribute `name`.

        Raise an InputError if the name is taken.
        """
        # A class with the same module and qualified name, as after a reload, is replaced.
        name = vars(kind).get("name", "")
        if not name:
            return
        there = self.get(name, kind)
        if (there.__module__, there.__qualname__) != (kind.__module__, kind.__qualname__):
            raise InputError(
                f"{self.what} {name!r} is already the name of "
                f"{there.__module__}.{there.__qualname__}; give {kind.__qualname__} another name"
            )
        self[name] = kind

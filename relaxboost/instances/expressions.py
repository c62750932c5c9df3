"""A parser for texts that describe relaxations, such as ``Capped(k=2)``. It runs no code."""

from __future__ import annotations

import ast
import inspect
import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any, NoReturn

from relaxboost import relaxations
from relaxboost._core.errors import InputError
from relaxboost._core.names import known_names
from relaxboost.relaxations.base import Relaxation

MAX_EXPRESSION_CHARACTERS = 10_000
"""The maximum length of a relaxation text. A longer text is probably a mistake, and Python's parser
might need too much memory for it."""
MAX_EXPRESSION_CALLS = 50
"""The maximum number of calls in a relaxation text. Hundreds of nested calls would overflow
Python's stack."""
_CHANGES = ("shifted", "scaled")


def families() -> dict[str, Callable[..., Relaxation]]:
    """Return the relaxation classes by name, except those that need a function as an argument.

    The classes are those in `relaxations/__init__.pyi`.
    """
    named = {name: getattr(relaxations, name) for name in relaxations.__all__}
    return {
        name: kind
        for name, kind in sorted(named.items())
        if isinstance(kind, type)
        and issubclass(kind, Relaxation)
        and kind not in (Relaxation, relaxations.Custom)
    }


def read_relaxation(text: str) -> Relaxation:
    """Return the relaxation for a string such as ``Capped(k=10) + 0.1*KLPenalty(1)``.

    The string is parsed, never executed. It may contain relaxations of the package, sums,
    multiples, ``.shifted(d0)`` and ``.scaled(c)``. Arguments are numbers and lists of numbers: 1/3
    is an exact fraction, ``inf`` is infinity, and 0.1 is the float nearest to one tenth.

    Raises
    ------
    InputError
        If the string does not have this form, or if a parameter is out of range. The message
        contains the part of the string that cannot be read.
    """
    if len(text) > MAX_EXPRESSION_CHARACTERS:
        raise InputError(
            f"a relaxation may have at most {MAX_EXPRESSION_CHARACTERS} characters, got {len(text)}"
        )
    try:
        tree = ast.parse(text.strip(), mode="eval").body
        calls = sum(isinstance(node, ast.Call) for node in ast.walk(tree))
        if calls > MAX_EXPRESSION_CALLS:
            raise InputError(
                f"a relaxation may have at most {MAX_EXPRESSION_CALLS} terms, got {calls}"
            )
        return _Reader(text.strip()).relaxation(tree)
    except (SyntaxError, ValueError, MemoryError, RecursionError) as error:
        if isinstance(error, InputError):
            raise
        why = getattr(error, "msg", None) or str(error) or type(error).__name__
        shown = text if len(text) <= 60 else f"{text[:57]}..."
        raise InputError(f"cannot read the relaxation {shown!r}: {why}") from None


class _Reader:
    def __init__(self, text: str) -> None:
        self._text = text
        self._known = families()

    def relaxation(self, node: ast.expr) -> Relaxation:
        """Return the relaxation that a syntax tree node describes."""
        match node:
            case ast.BinOp(left, ast.Add(), right):
                return self.relaxation(left) + self.relaxation(right)
            case ast.BinOp(left, ast.Mult(), right):
                number, f = (left, right) if self._is_number(left) else (right, left)
                return self.relaxation(f) * self.value(number)
            case ast.Call(ast.Name(name), given, named):
                kind = self._family(name)
                return self._call(kind, name, given, named)
            case ast.Call(ast.Attribute(f, str(name)), given, named) if name in _CHANGES:
                return self._call(getattr(self.relaxation(f), name), name, given, named)
            case ast.Name(name):
                self._family(name)
                self._refuse(node, f"write {name}(...) with its parameters")
        self._refuse(node, "a relaxation must be a family with its parameters, a sum or a multiple")

    def value(self, node: ast.expr) -> Any:
        """Return the number or list of numbers that a syntax tree node describes."""
        match node:
            case ast.Constant(int() | float() as number) if not isinstance(number, bool):
                return number
            case ast.Name("inf"):
                return math.inf
            case ast.UnaryOp(ast.USub(), inner) if self._is_number(inner):
                return -self.value(inner)
            case ast.BinOp(ast.Constant(int() as over), ast.Div(), ast.Constant(int() as under)):
                if under == 0:
                    self._refuse(node, "a fraction needs a denominator other than 0")
                return Fraction(over, under)
            case ast.List(items) | ast.Tuple(items):
                return [self.value(item) for item in items]
        self._refuse(
            node, "parameters must be numbers, fractions such as 1/3, inf, or lists of these"
        )

    def _is_number(self, node: ast.expr) -> bool:
        match node:
            case ast.Constant() | ast.Name("inf") | ast.BinOp(_, ast.Div(), _):
                return True
            case ast.UnaryOp(_, inner):
                return self._is_number(inner)
        return False

    def _family(self, name: str) -> Callable[..., Relaxation]:
        if name not in self._known:
            remedy = known_names(name, self._known, "known:")
            raise InputError(f"no relaxation is called {name}{remedy}")
        return self._known[name]

    def _call(
        self, kind: Callable[..., Any], name: str, given: list[ast.expr], named: list[ast.keyword]
    ) -> Relaxation:
        values = [self.value(each) for each in given]
        options = {}
        for each in named:
            if each.arg is None:
                self._refuse(each.value, "pass parameters by position or by name")
            if each.arg in options:
                raise InputError(f"{name} has the argument {each.arg} twice. Write it only once")
            options[each.arg] = self.value(each.value)
        # Some classes have a __new__ with meaningless defaults; __init__ has the real ones.
        made = kind.__init__ if isinstance(kind, type) else kind  # type: ignore[misc]
        signature = inspect.signature(made)
        own = (None,) if isinstance(kind, type) else ()  # The first argument is self.
        try:
            signature.bind(*own, *values, **options)
        except TypeError as error:
            names = ", ".join(
                p.name if p.default is p.empty else f"{p.name}={p.default}"
                for p in list(signature.parameters.values())[len(own) :]
            )
            raise InputError(f"{name} takes {name}({names}): {error}") from None
        return kind(*values, **options)

    def _refuse(self, node: ast.expr, rule: str) -> NoReturn:
        part = ast.get_source_segment(self._text, node) or self._text
        part = part if len(part) <= 60 else f"{part[:57]}..."
        raise InputError(f"cannot read {part!r} as part of a relaxation: {rule}")


__all__ = ["families", "read_relaxation"]

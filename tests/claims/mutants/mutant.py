"""An error planted in a check: a text of its source replaced by another."""

from __future__ import annotations
import __future__

import ast
import importlib
import inspect
import textwrap
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, is_dataclass, replace
from types import FunctionType, ModuleType
from typing import Any

from relaxboost.claims import get
from relaxboost.claims.claim import Claim

KINDS = ("constant", "direction", "hypothesis", "index", "norm")
"""Changed by 5 to 50 %, turned round, dropped, moved by one, exchanged for another."""


@dataclass(frozen=True)
class Mutant:
    """A false statement made from a true one.

    Attributes
    ----------
    id : str
        Of the claim.
    kind : str
        One of `KINDS`.
    old, new : str
        The text in the source of the function, and what takes its place.
    count : int
        How often the text is there; each is replaced.
    at : str
        "function" or "Class.method" where the text is, as the file of the check finds it, or
        "module:function" beside that file; "stated" for the check that a correction asks; by
        default the check itself.
    correction : int
        0 for the claim as stated, 1 for its first correction.
    step : int
        0 for the statement itself, 1 for the first step of its proof.
    survives : str
        Why `check` does not refute it, where it does not.
    """

    id: str
    kind: str
    old: str
    new: str
    count: int = 1
    at: str = ""
    correction: int = 0
    step: int = 0
    survives: str = ""

    def __str__(self) -> str:
        part = f", correction {self.correction}" * bool(self.correction)
        part += f", step {self.step}" * bool(self.step)
        return f"{self.id}{part}: {self.kind}, {self.old!r} -> {self.new!r}"

    def claim(self) -> Claim:
        """Return the true statement as a claim of its own."""
        claim = get(self.id)
        statement = claim.statements[self.correction]
        if self.step:
            step: Claim = statement.steps[self.step - 1]
            return step
        refuting = claim.counterexamples if self.correction else ()
        alone = replace(statement, steps=[])
        return replace(claim, stated=alone, corrections=[], counterexamples=refuting, ruling="")

    @contextmanager
    def planted(self) -> Iterator[Claim]:
        """Yield the claim with the error in it."""
        claim = self.claim()
        if not self.at:
            check = claim.stated.check
            module = importlib.import_module(check.__module__)
            changed = self._changed(check, module)
            yield replace(claim, stated=replace(claim.stated, check=changed))
            return
        owner, last = self._place(claim)
        function = inspect.unwrap(inspect.getattr_static(owner, last))
        home = importlib.import_module(function.__module__)
        before = inspect.getattr_static(owner, last)
        put = object.__setattr__ if is_dataclass(owner) and not isinstance(owner, type) else setattr
        put(owner, last, self._changed(function, home))
        try:
            yield claim
        finally:
            put(owner, last, before)

    def _place(self, claim: Claim) -> tuple[Any, str]:
        """Return what holds the function, and its name there."""
        if self.at == "stated":
            return get(self.id).stated, "check"
        package, _, file = claim.stated.check.__module__.rpartition(".")
        other, _, path = self.at.rpartition(":")
        *outer, last = path.split(".")
        owner: Any = importlib.import_module(f"{package}.{other or file}")
        for part in outer:
            owner = getattr(owner, part)
        return owner, last

    def _changed(self, function: Callable[..., Any], module: ModuleType) -> Callable[..., Any]:
        """Return the function with the text replaced, and without its decorators."""
        tree = ast.parse(textwrap.dedent(inspect.getsource(function)))
        (definition,) = tree.body
        assert isinstance(definition, ast.FunctionDef)
        source = textwrap.dedent(inspect.getsource(function))
        lines = source.splitlines(keepends=True)[definition.lineno - 1 :]
        text = "".join(lines)
        found = text.count(self.old)
        assert found == self.count, f"{self}: the text is there {found} times"
        flags = __future__.annotations.compiler_flag
        scratch = dict(vars(module))
        exec(compile(text.replace(self.old, self.new), str(self), "exec", flags), scratch)
        made: FunctionType = scratch[definition.name]
        changed = FunctionType(
            made.__code__, vars(module), made.__name__, made.__defaults__, made.__closure__
        )
        changed.__kwdefaults__ = made.__kwdefaults__
        changed.__module__ = module.__name__
        return changed

"""Read a reference set: names, bounds, and the games behind them."""

from __future__ import annotations

import difflib
import hashlib
import json
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from relaxboost.errors import InputError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from relaxboost.certificates import Certificate, Verdict
    from relaxboost.game import Game

CORNER_CASES = Path(__file__).parent / "corner-cases"
"""The set that comes with the package."""

_TEXTS = ("name", "file", "sha256", "game", "relaxation", "over", "level", "lower", "upper")
_FIELDS = {*_TEXTS, "m", "n", "source"}


@dataclass(frozen=True)
class Reference:
    """A game with a certified bracket of its optimum, as the index of a set names it."""

    name: str
    level: str
    """exact or enclosed."""
    lower: Fraction
    upper: Fraction
    relaxation: str
    over: str
    m: int
    n: int
    source: dict[str, Any] = field(repr=False)
    """The generator and its seed, the built-in game or the file that A came from."""
    digest: str = field(repr=False)
    """That of the game, `Game.digest`."""
    sha256: str = field(repr=False)
    """That of the certificate's file."""
    path: Path = field(repr=False)
    """The certificate."""

    @property
    def gap(self) -> Fraction:
        """upper − lower; 0 where the optimum itself is known."""
        return self.upper - self.lower

    @property
    def description(self) -> str:
        """The game in a few words."""
        source = ", ".join(f"{key} {value}" for key, value in self.source.items())
        return f"{self.m} x {self.n}, {self.relaxation} over {self.over} ({source})"

    def certificate(self) -> Certificate:
        """Return the certificate, if its file is the one that the index names.

        Raises
        ------
        InputError
            If the file is missing, or another one.
        """
        from relaxboost.certificates import Certificate

        try:
            content = self.path.read_bytes()
        except OSError as error:
            raise InputError(f"{self.path} cannot be read: {error}; make the set again") from None
        if hashlib.sha256(content).hexdigest() != self.sha256:
            raise InputError(
                f"{self.path} is not the file that the index names; make the set again"
            )
        return Certificate.load(self.path)

    def check(self) -> Verdict:
        """Return whether the certificate proves its bracket, recomputing everything."""
        from relaxboost.certificates import check_certificate

        inline = "rows" in self.certificate().document["game"]
        return check_certificate(self.path, None if inline else self._matrix())

    @cached_property
    def A(self) -> NDArray[np.float64]:
        """The margin matrix as an array, read-only."""
        array: NDArray[np.float64] = self.game().matrix.toarray()
        array.flags.writeable = False
        return array

    def game(self) -> Game:
        """Return the game, rebuilt from its certificate or generator.

        Raises
        ------
        InputError
            If it is not the game that the index names.
        """
        from relaxboost.game import Game
        from relaxboost.references.entries import over_of, relaxation_of

        game = Game(self._matrix(), relaxation_of(self.relaxation), over=over_of(self.over))
        if game.digest != self.digest:
            raise InputError(f"reference {self.name!r} is of another game than the index says")
        return game

    def _matrix(self) -> Any:
        import numpy as np

        from relaxboost.matrices import as_matrix, stumps
        from relaxboost.references.sources import FILES, Sources

        described = self.certificate().document["game"]
        if "rows" not in described:
            if any(kind in self.source for kind in FILES):
                raise InputError(f"the certificate of {self.name!r} does not hold its matrix")
            return Sources(self.path.parent).matrix(self.source)
        rows = np.array([[float(x) for x in row.split(",")] for row in described["rows"]])
        if "stumps" not in described:
            return as_matrix(rows)
        return stumps(rows[:, 1:], rows[:, 0], max_cuts=described["stumps"]["max_cuts"])


class ReferenceSet(Mapping[str, Reference]):
    """The references of one directory or several, by name; call it for one, as the fixture is."""

    def __init__(self, references: list[Reference], where: str) -> None:
        self._references = {reference.name: reference for reference in references}
        self._where = where

    def __getitem__(self, name: str) -> Reference:
        return self._references[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._references)

    def __len__(self) -> int:
        return len(self._references)

    def __repr__(self) -> str:
        return f"ReferenceSet({len(self)} references in {self._where})"

    def __call__(self, name: str) -> Reference:
        """Return a reference by name.

        Raises
        ------
        InputError
            For a name that is not there, with the nearest ones, and if its file is not the one that
            the index names.
        """
        if name not in self._references:
            near = difflib.get_close_matches(name, self._references, n=3, cutoff=0.4)
            hint = f"; did you mean {' or '.join(near)}?" if near else ""
            raise InputError(f"no reference is called {name!r} in {self._where}{hint}")
        reference = self._references[name]
        reference.certificate()
        return reference


def load(*directories: str | os.PathLike[str]) -> ReferenceSet:
    """Return the references of one set or several, by default the corner cases of the package.

    Only indices are read; a certificate is when it is asked for, and has to be the file that the
    index names. Whether it proves its bracket is what `check` recomputes.

    Parameters
    ----------
    *directories : path
        What `make` made. Names that occur twice are those of the first.

    Returns
    -------
    ReferenceSet
        A mapping from names to `Reference`.

    Raises
    ------
    InputError
        If a directory has no index, or one that is not as `make` writes it.
    """
    chosen = [Path(d) for d in directories] or [CORNER_CASES]
    references = [r for directory in reversed(chosen) for r in read_index(directory)]
    return ReferenceSet(references, ", ".join(map(str, chosen)))


def read_index(directory: Path) -> list[Reference]:
    """Return the references that the index of a directory names."""
    path = directory / "index.json"
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise InputError(
            f"{directory} has no index.json; make the set, or finish it: relaxboost reference make"
        ) from None
    except (OSError, ValueError, RecursionError) as error:
        raise InputError(f"{path} cannot be read: {error}") from None
    fine = isinstance(content, dict) and content.get("format") == "relaxboost references"
    if not fine or content.get("version") != 1 or not isinstance(content.get("references"), list):
        raise InputError(f"{path} is no index of a reference set, version 1")
    references = [_read(path, line) for line in content["references"]]
    if len({reference.name for reference in references}) < len(references):
        raise InputError(f"{path} names a reference twice")
    return references


def _read(path: Path, line: Any) -> Reference:
    from relaxboost.certificates import check

    if not isinstance(line, dict) or set(line) != _FIELDS:
        raise InputError(f"{path} has an entry without the fields {', '.join(sorted(_FIELDS))}")
    name = line["name"]
    texts = all(isinstance(line[key], str) for key in _TEXTS)
    if not texts or not isinstance(line["source"], dict) or line["file"] != f"{name}.json":
        raise InputError(f"{path}: the entry {str(name)[:40]!r} is not as make writes it")
    if os.path.basename(name) != name or not all(type(line[key]) is int for key in ("m", "n")):
        raise InputError(f"{path}: the entry {name[:40]!r} is not as make writes it")
    try:
        lower, upper = (check.fraction(line[key], key) for key in ("lower", "upper"))
    except check.Rejected as error:
        raise InputError(f"{path}: the entry {name[:40]!r}: {error}") from None
    return Reference(
        name=name,
        lower=lower,
        upper=upper,
        digest=line["game"],
        path=path.parent / line["file"],
        **{key: line[key] for key in ("level", "relaxation", "over", "m", "n", "source", "sha256")},
    )

"""Certificates: their JSON document, their bounds, and the check of their proof."""

from __future__ import annotations

import hashlib
import json
import os
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from relaxboost._core.errors import InputError, brief, missing
from relaxboost._core.files import check_input, check_output, naming, shallow, write_atomically
from relaxboost._core.html import DIGEST_CHARACTERS, card
from relaxboost._core.rounding import float_down, float_up, show_bracket
from relaxboost.certificates import check

_READERS = {
    "relaxboost stumps 1": "relaxboost predict",
    "relaxboost checkpoint 1": "relaxboost solve --checkpoint",
    "relaxboost references": "relaxboost instances check",
    "relaxboost.planning.linear": "relaxboost plan evaluate",
    "relaxboost.planning.boosted": "relaxboost plan evaluate",
}
"""For each other format of the package's JSON files, the command that reads the file."""


def _other(path: str | os.PathLike[str]) -> str:
    """Return a hint about a JSON file of the package that is not a certificate, or "".

    The hint names the format of the file and the command that reads it.
    """
    with suppress(check.Rejected, OSError, ValueError, MemoryError, KeyError, TypeError):
        with shallow():
            found = json.loads(check.read(path))["format"]
        return f"its format is {found!r}, which {_READERS[found]} reads"
    return ""


class Verdict(NamedTuple):
    """The result of `check_certificate`."""

    ok: bool
    """Whether the certificate is accepted, because it proves its bounds on the value of the
    game."""
    level: str | None
    """The level of proof: "exact" (proved in fractions) or "enclosed" (proved in intervals) for an
    accepted certificate, "numerical" for a certificate that proves nothing, and None for a rejected
    certificate."""
    lower: Fraction | None
    """The proved lower bound on the value of the game, or None if the certificate is not
    accepted."""
    upper: Fraction | None
    """The proved upper bound on the value of the game, or None if the certificate is not
    accepted."""
    reason: str
    """The reason why the certificate is not accepted, or "" if it is accepted."""

    def __bool__(self) -> bool:
        return self.ok

    def _repr_html_(self) -> str:
        if not self.ok:
            return card("not proved", {"reason": self.reason})
        assert self.lower is not None
        assert self.upper is not None
        lower, upper = show_bracket(float_down(self.lower), float_up(self.upper))
        return card(f"proved: {lower} <= rho <= {upper}", {"level": self.level})


@contextmanager
def precisely(level: str, precision: int) -> Iterator[Any]:
    """Yield the function that converts fractions to the numbers of a level of proof.

    These are the fractions themselves for "exact", and python-flint balls (intervals) with
    `precision` bits for "enclosed". The settings of python-flint are restored at the end.
    """
    with _settings_kept() as known:
        # The message names the extra of this package, while the checker names the library.
        if level == "enclosed" and not known:
            raise missing("certificates of level 'enclosed' need python-flint", "exact") from None
        yield check.enclosed(precision) if level == "enclosed" else check.exactly


@contextmanager
def _settings_kept() -> Iterator[bool]:
    """Yield whether python-flint is installed, and restore its precision afterwards."""
    try:
        import flint
    except ImportError:
        yield False
        return
    # The precision of python-flint is global, and other code of the user may rely on it.
    before = flint.ctx.prec
    try:
        yield True
    finally:
        flint.ctx.prec = before


@contextmanager
def _long_numbers() -> Iterator[None]:
    # The numbers of certificates have at most 20 000 digits, which str() rejects by default.
    before = sys.get_int_max_str_digits()
    sys.set_int_max_str_digits(0)
    try:
        yield
    finally:
        sys.set_int_max_str_digits(before)


@dataclass(frozen=True, eq=False)
class Certificate:
    """A proof of the bounds lower <= ρ <= upper on the value ρ of one game.

    The certificate contains the two points that prove the bounds: a distribution over the examples,
    and weights of the hypotheses. The page "Format of certificates" of the documentation
    (certificates/FORMAT.md in the package) describes its file format.

    Examples
    --------
    >>> import relaxboost as rb
    >>> proof = rb.certify(rb.solve(rb.Game([[1, 0], [0, 1]])))
    >>> proof
    Certificate(exact: 1/2 <= rho <= 1/2, gap 0)
    >>> proof.level, proof.lower, proof.w
    ('exact', Fraction(1, 2), {0: Fraction(1, 2), 1: Fraction(1, 2)})
    >>> bool(proof.check())
    True
    """

    document: dict[str, Any] = field(repr=False)
    """The content of the JSON file of the certificate."""

    @classmethod
    def made(cls, content: dict[str, Any]) -> Certificate:
        """Return a certificate with the given JSON document, to which the digest is added."""
        # Sorted keys and fixed separators make the digest independent of the writer.
        text = json.dumps(content, sort_keys=True, separators=(",", ":"))
        return cls({**content, "digest": hashlib.sha256(text.encode()).hexdigest()})

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Certificate:
        """Load a certificate from a JSON file, without checking its proof."""
        try:
            with shallow():
                document = check.load(path)
        except (json.JSONDecodeError, UnicodeDecodeError):
            raise InputError(
                f"{path} is not a certificate, because it is not JSON. Pass a file "
                "written by `Certificate.save` or `relaxboost solve --certificate`"
            ) from None
        except (check.Rejected, OSError, ValueError, MemoryError) as error:
            raise InputError(f"{path} is not a certificate: {_other(path) or error}") from None
        if not isinstance(document, dict) or not {"lower", "upper", "level"} <= set(document):
            what = _other(path) or "lower, upper or level is missing"
            raise InputError(f"{path} is not a certificate: {what}")
        found = cls(document)
        try:
            _ = found.lower, found.upper
        except (check.Rejected, ValueError, TypeError, OverflowError) as error:
            raise InputError(f"{path} is not a certificate: {error}") from None
        return found

    @property
    def level(self) -> str:
        """The level of proof: "exact", "enclosed" or "numerical".

        The bounds are proved in fractions ("exact") or in intervals ("enclosed"). "numerical"
        bounds are computed in floats and prove nothing.
        """
        return str(self.document["level"])

    @property
    def lower(self) -> Fraction:
        """The claimed lower bound on the value of the game."""
        return self._bound("lower")

    @property
    def upper(self) -> Fraction:
        """The claimed upper bound on the value of the game."""
        return self._bound("upper")

    @property
    def gap(self) -> Fraction:
        """The difference `upper` − `lower` between the claimed bounds."""
        return self.upper - self.lower

    @property
    def d(self) -> list[Fraction]:
        """The distribution over the examples that proves the bound `upper`, shape (m,)."""
        return self._vector("d", self.document["game"]["m"])

    @property
    def w(self) -> dict[int, Fraction]:
        """The nonzero weights of the hypotheses that prove the bound `lower`, by column index."""
        columns = self.document["columns"]
        return dict(zip(columns, self._vector("w", len(columns)), strict=True))

    def _bound(self, name: str) -> Fraction:
        text = self.document[name]
        # Numerical certificates have floats, written as strings.
        return Fraction(float(text)) if self.level == "numerical" else check.fraction(text, name)

    def _vector(self, name: str, length: int) -> list[Fraction]:
        if self.level == "numerical":
            return [Fraction(float(x)) for x in self.document[name]]
        return list(check.Fields(self.document, "the document").vector(name, length))

    def explained(self, reason: str) -> Certificate:
        """Return a copy of the certificate with the reason why its level of proof is not stronger.

        The reason is stored as a comment.
        """
        return Certificate({**self.document, "comments": {"reason": reason}})

    @property
    def reason(self) -> str:
        """The reason why the certificate has no stronger level of proof, or "" if none is known."""
        comments = self.document.get("comments")
        return str(comments.get("reason", "")) if isinstance(comments, dict) else ""

    @property
    def digest(self) -> str:
        """The SHA-256 digest of the content, which identifies the certificate."""
        return str(self.document["digest"])

    def _bracket(self) -> str:
        lower, upper = show_bracket(float_down(self.lower), float_up(self.upper))
        value = self.lower
        if value == self.upper and max(abs(value.numerator), value.denominator) < 10**6:
            lower = upper = str(value)
        return f"{lower} <= rho <= {upper}"

    def __repr__(self) -> str:
        return f"Certificate({self.level}: {self._bracket()}, gap {float_up(self.gap):.2g})"

    def _repr_html_(self) -> str:
        # A file from elsewhere may lack all fields except the bounds and the level.
        game = self.document.get("game")
        known = game if isinstance(game, dict) else {}
        facts = {
            "gap": float_up(self.gap),
            "examples": known.get("m"),
            "hypotheses": known.get("n"),
        }
        for name in ("relaxation", "over"):
            part = known.get(name)
            facts[name] = part.get("kind") if isinstance(part, dict) else part
        facts["why not stronger"] = self.reason or None
        facts["digest"] = str(self.document.get("digest", ""))[:DIGEST_CHARACTERS] or None
        known_facts = {name: fact for name, fact in facts.items() if fact is not None}
        return card(f"Certificate, {self.level}: {self._bracket()}", known_facts)

    def tobytes(self) -> bytes:
        """Return the JSON file as bytes. Equal certificates have equal bytes."""
        return (json.dumps(self.document, indent=1, sort_keys=True) + "\n").encode()

    def save(self, path: str | os.PathLike[str]) -> None:
        """Save the certificate to a JSON file for `check_certificate`.

        If writing fails, an existing file does not change.
        """
        write_atomically(check_output(path), self.tobytes())

    def export(self, form: str, A: Any = None) -> dict[str, str]:
        """Convert the certificate to the format of another tool.

        The result maps the suffix of each file, such as ".tex", to its text.

        Parameters
        ----------
        form : {"vipr", "lean", "latex", "certo", "mps"}
            The format. "vipr" gives two files, each of which derives one bound. "lean" gives a file
            for LPVerify, which proves the optimum if lower = upper. "latex" gives half a page for a
            paper. "certo" gives a file for `certo verify`. "mps" gives the linear program of the
            game for any solver, and a file with a feasible point and multipliers in fractions.
        A : array of shape (m, n), a matrix of scipy.sparse or of `relaxboost.matrices`, or a path
            The margin matrix, which is needed if the certificate contains only its SHA-256.

        Raises
        ------
        InputError
            If the level is not exact, if the certificate is not accepted, or if the relaxation or
            the domain has no linear description. For "latex", also if the game does not fit on half
            a page.

        References
        ----------
        Cheung, Gleixner & Steffy (2017), Verifying integer programming results (VIPR).
        """
        from relaxboost.certificates.export import exported

        verdict = self.check(A)
        if not verdict:
            raise InputError(
                f"this certificate is not accepted, so it cannot be exported: {verdict.reason}"
            )
        with tempfile.TemporaryDirectory() as folder, _long_numbers():
            return exported(self.document, form, _write_matrix(A, Path(folder)))

    def check(self, A: Any = None) -> Verdict:
        """Check whether the certificate proves its bounds; see `check_certificate`."""
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "certificate.json"
            # The checker gets a file, as a stranger would, and not the object in memory.
            with naming(path):
                path.write_bytes(self.tobytes())
            return check_certificate(path, A)


MATRIX_ARGUMENT = "the argument A, a matrix or a Game"
"""The Python argument that replaces "--matrix FILE" in messages of the checker."""

BINARY_REMEDY = "; write each row as a line of numbers separated by commas, or pass the array as A"
"""The remedy for a matrix in a binary file, such as a NumPy file."""


def check_certificate(path: str | os.PathLike[str], A: Any = None) -> Verdict:
    """Check whether the certificate in a file proves its bounds on the value of a game.

    The checker `certificates/check.py` recomputes both bounds from the points in the file. It
    trusts no solver, and imports nothing from the package. `certify` uses the same formulas, which
    the tests compare with an independent implementation.

    Parameters
    ----------
    path : path
        A JSON file written by `Certificate.save`.
    A : Game, array of shape (m, n), matrix of scipy.sparse or `relaxboost.matrices`, or path
        The margin matrix or the game to which the certificate must belong. It is needed only if the
        certificate contains the SHA-256 of the matrix instead of its entries. If A is a game, the
        certificate must also have its relaxation and its domain. The page "Format of certificates"
        describes the matrix files that a path may name.

    Returns
    -------
    Verdict
        The verdict, a named tuple that is true if the certificate is accepted. Its fields are `ok`,
        the `level` of proof, the proved bounds `lower` and `upper` as fractions, and the `reason`
        why a certificate is not accepted.

    Raises
    ------
    InputError
        If a file does not exist, or if A is not a matrix.

    See Also
    --------
    certify : Return a certificate of a solution.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import relaxboost as rb
    >>> proof = rb.certify(rb.solve(rb.Game([[1, 0], [0, 1]])))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     proof.save(Path(folder, "proof.json"))
    ...     verdict = rb.check_certificate(Path(folder, "proof.json"))
    >>> verdict.ok, verdict.level, verdict.lower, verdict.upper
    (True, 'exact', Fraction(1, 2), Fraction(1, 2))
    """
    for file in (path, A) if isinstance(A, str | os.PathLike) else (path,):
        check_input(file)
    with tempfile.TemporaryDirectory() as folder:
        given = _write_matrix(A, Path(folder))
        with _settings_kept():
            level, lower, upper, reason = check.verdict(os.fspath(path), given)
    if level is not None:
        reason = _other_game(Path(path), A)
        if not reason:
            return Verdict(True, level, lower, upper, "")
        return Verdict(False, None, None, None, reason)
    found = ""
    with suppress(InputError, OSError):
        certificate = Certificate.load(path)
        found = certificate.level
        reason += f" ({certificate.reason})" if certificate.reason else ""
    # A certificate that loads is text, so that the other file is not.
    if "UnicodeDecodeError" in reason:
        wrong = path if not found else f"the matrix {os.fspath(A)}"
        reason = f"unreadable: {wrong} is not a text file"
        if found:
            reason += BINARY_REMEDY
    # The checker is also a program, and its messages name its option.
    reason = reason.replace("--matrix FILE", MATRIX_ARGUMENT)
    return Verdict(False, "numerical" if found == "numerical" else None, None, None, reason)


def _other_game(path: Path, given: Any) -> str:
    """Return the reason why an accepted certificate does not belong to the given game, or ""."""
    from relaxboost.game.game import Game
    from relaxboost.relaxations.description import description_of

    if not isinstance(given, Game):
        return ""
    found = check.load(path)["game"]
    f = description_of(given.relaxation)
    # The certificate of an exact optimum has the linear program of a sum instead of its terms.
    form = f.exact_form(given.m) if found["relaxation"]["kind"] == "polyhedral" else None
    if found["relaxation"] not in (f.describe(given.m), form and form.describe(given.m)):
        return (
            f"the relaxation in the certificate, {summary(found['relaxation'])}, is not that of "
            f"the game, {brief(given.relaxation)}. To compare the matrix alone, pass game.matrix"
        )
    if found["over"] != given.over.describe():
        return (
            f"the domain in the certificate, {summary(found['over'])}, is not that of the game, "
            f"{given.over!r}. To compare the matrix alone, pass game.matrix"
        )
    return ""


def summary(part: dict[str, Any]) -> str:
    """Return a short text for a relaxation or a domain, such as "caps(caps=1/2)"."""
    fields = []
    for name, value in part.items():
        if isinstance(value, dict) and "kind" in value:
            fields.append(f"{name}={summary(value)}")
        elif name != "kind":
            fields.append(f"{name}={value if isinstance(value, str | int) else '...'}")
    return f"{part['kind']}({', '.join(fields)})"


def _write_matrix(A: Any, folder: Path) -> str | None:
    """Write the matrix A to a file in the folder, unless it is a path, and return the path."""
    from relaxboost.game.game import Game
    from relaxboost.matrices import MarginMatrix

    if A is None or isinstance(A, str | os.PathLike):
        return None if A is None else os.fspath(A)
    if isinstance(A, Game):
        A = A.matrix
    path = folder / "matrix.csv"
    rows = A.data() if isinstance(A, MarginMatrix) else _checked_array(A)
    with naming(path):
        path.write_text("\n".join(matrix_text(rows)) + "\n")
    return os.fspath(path)


def _checked_array(A: Any) -> Any:
    # A matrix of scipy.sparse has the method `toarray`.
    A = A.toarray() if hasattr(A, "toarray") else A
    rows = np.asarray(A)
    if rows.ndim != 2 or rows.dtype.kind not in "iuf" or isinstance(A, np.ma.MaskedArray):
        raise InputError(f"A must be a matrix of numbers, got shape {rows.shape}, {rows.dtype}")
    # Integers from 2^53 on may have no double.
    is_wide = rows.dtype.kind in "iu" and not (np.abs(rows.astype(float)) < 2**53).all()
    if rows.dtype.itemsize > 8 or is_wide:
        raise InputError(
            f"A contains numbers of type {rows.dtype}, which would be rounded to floats, but the "
            "digest is computed from floats. Convert A with numpy.asarray(A, dtype=float)"
        )
    return rows


def matrix_text(rows: Any) -> list[str]:
    """Return the rows of an array as lines of text that parse to the same floats."""
    array = np.asarray(rows, dtype=np.float64)
    # repr gives the shortest text from which the same double is read.
    texts = (map(repr, row) for row in array.tolist())
    return [",".join(x.removesuffix(".0") for x in row) for row in texts]

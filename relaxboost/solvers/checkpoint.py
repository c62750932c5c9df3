"""Checkpoint files, from which a later run of the same game continues."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from relaxboost._core.digits import finite
from relaxboost._core.errors import InputError
from relaxboost._core.files import Pace, check_output, shallow, write_atomically
from relaxboost._core.highs import SIDES
from relaxboost._core.parameters import exact, is_given, natural
from relaxboost.game.game import Game
from relaxboost.game.solution import Basis
from relaxboost.solvers.incumbent import Certified
from relaxboost.solvers.warm_start import WarmStart

FORMAT = "relaxboost checkpoint 1"
"""The entry "format" of a checkpoint. Its number increases when the entries change."""

UNWRITTEN = "could not be written"
"""The text in `Solution.message` if the last checkpoint write failed."""


class Checkpoint:
    """A JSON file with the best points of a run, from which a later run continues.

    The file contains the best distribution d and weights w, the bracket that they prove, the
    identity of the game, the simplex basis of column generation, and the rounds and seconds so far.
    A write is atomic. Two writes are at least half a second apart, and at least 20 times as long as
    the last write took.

    Parameters
    ----------
    path : path
        The file name. An existing file is read.
    game : Game
        The game that the run solves.

    Raises
    ------
    InputError
        If the file cannot be written, is not a checkpoint, or is for another game, or if the matrix
        numbers its columns in the order in which a run finds them.
    """

    def __init__(self, path: str | os.PathLike[str], game: Game) -> None:
        if game.n is None:
            raise InputError(
                f"a checkpoint stores column indices, but {game.matrix!r} numbers its "
                "columns in the order in which a run finds them; leave checkpoint out"
            )
        # A folder without permission is an error now, and not after an hour.
        self.path = check_output(path)
        # These three parts identify the game, whatever the names of its classes are.
        parts = ("matrix", "relaxation", "domain")
        self._game = dict(zip(parts, game.parts.values(), strict=True))
        self.trouble = ""
        """The reason why the last write failed, or "". A failed write does not end the run."""
        self.start = self._read(game) if self.path.exists() else WarmStart()
        """The warm start with the points in the file, or an empty one without a file."""
        self.pace = Pace()
        """The timer that decides whether it is time to write the checkpoint again."""

    def write(
        self, certify: Callable[[], Certified], basis: Basis | None, rounds: int, seconds: float
    ) -> None:
        """Write the best points of a run and their bracket to the file.

        If the write fails, `trouble` stores the reason, and no error is raised.

        Parameters
        ----------
        certify : callable
            A function without arguments that returns the best points with certified bounds.
        basis : Basis or None
            The basis of the restricted linear program, if the run uses column generation.
        rounds : int
            The number of rounds so far.
        seconds : float
            The number of seconds so far.
        """
        # The time of the certification counts as time of the write.
        begun = time.perf_counter()
        proof = certify()
        support, coefficients = proof.weights
        content = {
            "format": FORMAT,
            "game": self._game,
            "lower": finite(proof.lower),
            "upper": finite(proof.upper),
            "rounds": rounds,
            "seconds": round(seconds, 3),
            "support": support.tolist(),
            "coefficients": coefficients.tolist(),
            "d": proof.d.tolist(),
            # Without the basis column generation would repeat its pivots.
            "basis": basis and {"columns": basis.columns, "sides": basis.sides},
        }
        try:
            write_atomically(self.path, json.dumps(content, allow_nan=False).encode())
            self.trouble = ""
        except OSError as error:
            # A full disk must not end a run that took hours.
            self.trouble = f"checkpoint {self.path} {UNWRITTEN}: {error.strerror}"
        self.pace.wrote(begun)

    def _read(self, game: Game) -> WarmStart:
        content = self._content()
        # A user may have edited the file, so nothing in it is trusted.
        try:
            start = _points(game, content)
        except (KeyError, TypeError, ValueError, OverflowError) as error:
            raise self._refusal(f"the file is damaged ({error})") from None
        gap = start.upper - start.lower
        return replace(start, note=f"resumed after {start.rounds} rounds at a gap of {gap:.3g}")

    def _content(self) -> dict[str, Any]:
        try:
            with shallow():
                content: dict[str, Any] = json.loads(self.path.read_bytes())
            found = content["format"]
            parts = dict(content["game"])
        except OSError as error:
            raise InputError(f"cannot read checkpoint {self.path}: {error.strerror}") from None
        except (ValueError, KeyError, TypeError, AttributeError):
            raise self._refusal("the file is not a checkpoint") from None
        if found != FORMAT:
            raise self._refusal(
                f"the file has the format {found!r:.60}, but this version reads {FORMAT!r}"
            )
        for part, here in self._game.items():
            there = parts.get(part)
            if there != here:
                raise self._refusal(
                    f"the file is for another game: its {part} is {there!r:.60}, but the {part} of "
                    f"this game is {here!r:.60}"
                )
        return content

    def _refusal(self, reason: str) -> InputError:
        return InputError(
            f"cannot continue from {self.path}: {reason}; pass another name, or remove the file"
        )


def _points(game: Game, content: dict[str, Any]) -> WarmStart:
    support = np.array(content["support"], dtype=np.int64)
    # The bounds in the file are not read: the points prove them again.
    return WarmStart(
        game.repair_d(np.array(content["d"], dtype=np.float64)),
        game.repair_w((support, np.array(content["coefficients"], dtype=np.float64))),
        _basis(game, content["basis"]),
        rounds=natural("rounds", content["rounds"]),
        seconds=float(exact("a checkpoint", "seconds", content["seconds"])),
    ).with_bounds(game)


def _basis(game: Game, found: Any) -> Basis | None:
    if not found:
        return None
    basis = Basis(tuple((int(j), int(s)) for j, s in found["columns"]), found["sides"])
    # The column of w = 0 has the sign 0.
    signs = (-1, 0, 1) if game.over.holds_zero else (-1, 1)
    if not all(0 <= j < (game.n or 0) and s in signs for j, s in basis.columns):
        raise InputError(f"the basis in the file has a column index outside 0..{(game.n or 0) - 1}")
    if not (is_given(basis.sides, str) and set(basis.sides) <= set(SIDES)):
        raise InputError(f'the entry "sides" of the basis may contain only the letters {SIDES}')
    return basis

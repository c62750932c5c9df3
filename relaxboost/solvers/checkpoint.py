"""The best points of a run in a file, from which a run that was killed goes on."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from relaxboost._core.arrays import Vector
from relaxboost._core.digits import finite
from relaxboost._core.errors import InputError
from relaxboost._core.files import Pace, check_output, write_atomically
from relaxboost.game.game import Game
from relaxboost.game.solution import Basis
from relaxboost.solvers.warm_start import WarmStart, Weights

FORMAT = "relaxboost checkpoint 1"
"""How a file begins; the number changes with the content."""


class Checkpoint:
    """A file of JSON: which game, the bracket, d, w, the basis, rounds and seconds so far.

    It is written whole or not at all, at most every half second and for a twentieth of the time.

    Parameters
    ----------
    path : path
        Read if there is a file.
    game : Game

    Raises
    ------
    InputError
        If the file cannot be written, is no checkpoint or that of another game, or the columns of
        the game are known to a weak learner only.
    """

    def __init__(self, path: str | os.PathLike[str], game: Game) -> None:
        if game.n is None:
            raise InputError(
                f"a checkpoint names columns by number, and {game.matrix!r} numbers them as it "
                "finds them; leave checkpoint out"
            )
        self.path = check_output(path)
        self._game = {
            "matrix": game.matrix.digest(),
            "relaxation": game.relaxation.key(),
            "domain": game.over.key(),
        }
        self.resumed = self.path.exists()
        self.trouble = ""
        """Why the last write failed, if it did; a run goes on without."""
        self.start = self._read(game) if self.resumed else WarmStart()
        self._pace = Pace()

    @property
    def due(self) -> bool:
        """Whether it is time to write."""
        return self._pace.due

    def write(
        self,
        points: Callable[[], tuple[Weights, float, Any, Vector, float]],
        basis: Basis | None,
        rounds: int,
        seconds: float,
    ) -> None:
        """Write the points with their bracket, which the call gives."""
        begun = time.perf_counter()
        (support, coefficients), lower, _, d, upper = points()
        content = {
            "format": FORMAT,
            "game": self._game,
            "lower": finite(lower),
            "upper": finite(upper),
            "rounds": rounds,
            "seconds": round(seconds, 3),
            "support": support.tolist(),
            "coefficients": coefficients.tolist(),
            "d": d.tolist(),
            "basis": basis and {"columns": basis.columns, "sides": basis.sides},
        }
        try:
            write_atomically(self.path, json.dumps(content, allow_nan=False).encode())
            self.trouble = ""
        except OSError as error:
            self.trouble = f"checkpoint {self.path} could not be written: {error.strerror}"
        self._pace.wrote(begun)

    def _read(self, game: Game) -> WarmStart:
        content = self._content()
        try:
            start = _points(game, content)
        except (KeyError, TypeError, ValueError, OverflowError) as error:
            raise InputError(self._refusal(f"it is damaged ({error})")) from None
        gap = start.upper - start.lower
        return replace(start, said=f"resumed after {start.rounds} rounds at a gap of {gap:.3g}")

    def _content(self) -> dict[str, Any]:
        """Return what the file holds, of this format and this game."""
        try:
            content: dict[str, Any] = json.loads(self.path.read_bytes())
            known, parts = content["format"], dict(content["game"])
        except OSError as error:
            raise InputError(f"cannot read checkpoint {self.path}: {error.strerror}") from None
        except (ValueError, KeyError, TypeError, AttributeError):
            raise InputError(self._refusal("it is no checkpoint")) from None
        if known != FORMAT:
            raise InputError(
                self._refusal(f"its format is {known!r:.60}, and this version reads {FORMAT!r}")
            )
        for part, here in self._game.items():
            there = parts.get(part)
            if there != here:
                raise InputError(
                    self._refusal(
                        f"it is of another game, whose {part} is {there!r:.60}, here {here!r:.60}"
                    )
                )
        return content

    def _refusal(self, reason: str) -> str:
        return f"cannot go on from {self.path}: {reason}; give another name, or remove the file"


def _points(game: Game, content: dict[str, Any]) -> WarmStart:
    """Return the points of a file with their bracket, evaluated afresh."""
    found = content["basis"]
    basis = found and Basis(tuple((int(j), int(s)) for j, s in found["columns"]), found["sides"])
    signs = (-1, 0, 1) if game.over.holds_zero else (-1, 1)  # 0 stands for w = 0
    if basis and not all(0 <= j < (game.n or 0) and s in signs for j, s in basis.columns):
        raise InputError(f"its basis names a column outside 0..{(game.n or 0) - 1}")
    support = np.array(content["support"], dtype=np.int64)
    return WarmStart(
        game.repair_d(np.array(content["d"], dtype=np.float64)),
        game.repair_w((support, np.array(content["coefficients"], dtype=np.float64))),
        basis or None,
        rounds=int(content["rounds"]),
        seconds=float(content["seconds"]),
    ).scored(game)

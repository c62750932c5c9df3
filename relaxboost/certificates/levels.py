"""The possible level of proof of a game's certificate, and the reason for a weak level."""

from __future__ import annotations

from relaxboost._core.errors import InputError, brief
from relaxboost._core.parameters import is_given
from relaxboost.certificates import check
from relaxboost.game.game import Game
from relaxboost.relaxations import Relaxation
from relaxboost.relaxations.bounds import LEVELS, level_of
from relaxboost.relaxations.description import description_of


def checkable(game: Game, level: str | None = None) -> str:
    """Return the given `level` of proof or, if it is None, the strongest possible level.

    Raise an InputError if the game cannot have a certificate of this level.
    """
    level = _level(game, level)
    if game.n is None:
        raise InputError(
            f"a certificate needs every column of A, but {game.matrix!r} does not enumerate them. "
            "Put the hypotheses that are used into a matrix"
        )
    if level != "numerical" and game.m * game.n > check.MAX_MATRIX_ENTRIES:
        raise InputError(
            f"the checker reads matrices of at most {check.MAX_MATRIX_ENTRIES} entries, but this "
            f"game has {game.m} x {game.n}. Certify a game of fewer columns (max_cuts=, for "
            'stumps), or use level="numerical"'
        )
    return level


def strongest_level(game: Game) -> str:
    """Return the strongest level of proof that a game's certificate can have."""
    f = game.relaxation
    over = game.over
    description = description_of(f)
    # A polyhedral `Custom` has an exact linear program, although its bounds are numerical.
    if over.level == "exact" and description.exact_form(game.m) is not None:
        return "exact"
    level = min(level_of(f), over.level, key=LEVELS.index)
    if level != "numerical" and description.describe(game.m) is None:
        return "numerical"
    return level


def _level(game: Game, level: str | None) -> str:
    f = game.relaxation
    over = game.over
    strongest = strongest_level(game)
    if level is None:
        return strongest
    if not (is_given(level, str) and level in LEVELS):
        raise InputError(f"level must be one of {', '.join(LEVELS)}, got {level!r}")
    # A relaxation whose solver is numerical may have formulas that balls can evaluate.
    if level == "exact" and strongest != "exact":
        raise InputError(
            f"{brief(f)} over {over!r} allows {strongest} certificates, not exact ones. Omit "
            "level, or use caps and l1 or l-inf norms"
        )
    return level


def no_description(f: Relaxation) -> str:
    """Return the reason why certificates with f are numerical: no checker can evaluate f.

    A solver may prove bounds for such a relaxation f, but a certificate cannot describe f.
    """
    return (
        f"{brief(f)} has no description that a checker could evaluate, so its certificates are "
        "numerical. Write `exact_form` of rb.relaxations.Description if f is polyhedral"
    )


def no_proof(f: Relaxation) -> str:
    """Return the reason why certificates with f are numerical: a solver evaluates f in floats."""
    return (
        f"{brief(f)} is not piecewise linear and has no formulas. A general solver evaluates it in "
        "floats, so its certificates are numerical"
    )

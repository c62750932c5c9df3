"""Which booster `solve` runs: options checked, what was left open filled in."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from relaxboost.boosters.adaboost import (
    ADABOOST_STEPS,
    AdaBoost,
    AdaBoostStar,
    star_rounds,
    working_accuracy,
)
from relaxboost.boosters.combined import Combined
from relaxboost.boosters.corrective import EXCHANGING, STEPS, Corrective
from relaxboost.boosters.hull import HullCorrective
from relaxboost.boosters.rounds import Update
from relaxboost.boosters.smoothing import BinaryEntropySmoother, Smoother, Unsmoothed
from relaxboost.boosters.totally_corrective import (
    TotallyCorrectiveConic,
    TotallyCorrectiveLP,
    TotallyCorrectiveSmoothed,
)
from relaxboost.errors import InputError
from relaxboost.game import Game
from relaxboost.outer import AtomicSet, L1Ball
from relaxboost.relaxations import HardMargin

METHODS = ("auto", "combined", "corrective", "totally-corrective", "adaboost", "adaboost-star")
INNER = ("auto", "smoothed", "lp", "conic", "hull")
SMOOTHINGS = ("entropy", "binary-entropy")

_STEPS_OF = {"corrective": STEPS, "adaboost": ADABOOST_STEPS}
"""The methods that have step rules."""

_POINTLESS_SMOOTHING = 0.02
"""Below this gap, for atoms of size 1, an exact program takes over from smoothing; see
`benchmarks/inner.py`."""
_CONIC_SIZE = 3000
"""Examples up to which a cone solver is worth waiting for, every round."""


@dataclass(frozen=True)
class Plan:
    """Which booster runs, under which name, made for a deadline on the clock."""

    name: str
    make: Callable[[float], Update]
    endless: str = ""
    """Why a run may never get to tol, if that is so: it then needs a limit."""
    bound: float | None = None
    """Rounds it needs at most to a certified gap of tol, nan if unknown; None: as Fig. 1."""


@dataclass(frozen=True)
class Options:
    """What `solve` was asked for; None where it was left open."""

    tol: float
    method: str
    step: str | None
    inner: str | None
    beta: float | None
    smoothing: str
    stopping: str


def make_plan(game: Game, options: Options) -> Plan:
    """Choose the booster; raise for unknown options and for those that would do nothing."""
    o = options
    for name, value, known in (
        ("method", o.method, METHODS),
        ("step", o.step, (None, *dict.fromkeys([*STEPS, *ADABOOST_STEPS]))),
        ("inner", o.inner, (None, *INNER)),
        ("smoothing", o.smoothing, SMOOTHINGS),
        ("stopping", o.stopping, ("certified", "smoothed")),
    ):
        if value not in known:
            names = ", ".join(k for k in known if k is not None)
            raise InputError(f"unknown {name} {value!r}; choose one of {names}")
    if o.step is not None and o.step not in _STEPS_OF.get(o.method, ()):
        needed = " or ".join(f'method="{name}"' for name, s in _STEPS_OF.items() if o.step in s)
        raise InputError(f"step={o.step!r} needs {needed}, and this is {o.method!r}")
    if o.inner is not None and o.method != "totally-corrective":
        raise InputError(
            f'inner={o.inner!r} needs method="totally-corrective", and this is {o.method!r}'
        )
    if o.method in ("adaboost", "adaboost-star"):
        return _adaboost(game, o)
    chosen = _with_atoms if isinstance(game.over, AtomicSet) else _without_atoms
    method, step, inner = chosen(game, o)
    exact = method == "totally-corrective" and inner in ("lp", "conic", "hull")
    if o.stopping == "smoothed" and (method == "combined" or exact):
        raise InputError(
            'stopping="smoothed" is the test of a smoothed problem; '
            'use method="corrective", or inner="smoothed"'
        )
    if o.beta is not None and exact:
        raise InputError(f"beta smooths, and inner={inner!r} does not; leave one of them out")
    if o.smoothing != "entropy" and exact:
        raise InputError(f"inner={inner!r} does not smooth; leave out smoothing={o.smoothing!r}")
    return _make(game, o, method, step or "fig1", inner)


def simplex_range(m: int, smoothing: str) -> float:
    """Return the range over the simplex of what β multiplies."""
    added = BinaryEntropySmoother.added_range(m) if smoothing == "binary-entropy" else 0.0
    return math.log(m) + added


def default_beta(spread: float, tol: float) -> float:
    """Return the β at which smoothing by a function of range `spread` costs tol/2."""
    # One distribution only (m = 1, or k = m): nothing is smoothed, and steps may be whole.
    return min(max(tol / (2.0 * spread), 1e-300), 1e300) if spread > 0.0 else 1e100


def _with_atoms(game: Game, o: Options) -> tuple[str, str | None, str | None]:
    """Fill in what was left open, over a set with atoms."""
    if o.inner == "hull":
        raise InputError(f'inner="hull" is for Euclidean sets, and this game is over {game.over!r}')
    exact = "lp" if game.relaxation.linear_form(game.m) is not None else "conic"
    method, step, inner = o.method, o.step, o.inner
    if method == "auto":
        if exact == "conic" and game.m > _CONIC_SIZE:
            return "corrective", "pairwise", None
        # Where a distribution comes from a cone solver, a round of the program costs no more.
        own = not game.relaxation.from_solver or o.beta is not None
        if exact == "lp" or own or o.smoothing != "entropy" or o.stopping == "smoothed":
            method = "combined"
        else:
            return "totally-corrective", None, exact
    if method == "totally-corrective" and inner in (None, "auto"):
        inner = "smoothed" if o.tol >= _loose(game) or o.beta is not None else exact
        if o.smoothing != "entropy" or o.stopping == "smoothed":
            inner = "smoothed"
    return method, step, exact if method == "combined" else inner


def _without_atoms(game: Game, o: Options) -> tuple[str, str | None, str | None]:
    """Fill in what was left open, over a Euclidean set; raise for what re-weighs columns."""
    if o.method == "combined" or o.inner in ("smoothed", "lp", "conic"):
        what = f"method={o.method!r}" if o.method == "combined" else f"inner={o.inner!r}"
        raise InputError(
            f"{what} re-weighs the columns found so far, and over {game.over!r} every column has "
            'weight from the start; use method="totally-corrective", inner="hull"'
        )
    if o.step in EXCHANGING:
        raise InputError(
            f"step={o.step!r} takes weight from the worst of finitely many atoms, and "
            f'{game.over!r} has none; use step="line-search"'
        )
    method = "totally-corrective" if o.method == "auto" else o.method
    return method, o.step, "hull" if method == "totally-corrective" else None


def _loose(game: Game) -> float:
    return _POINTLESS_SMOOTHING * game.over.reach(game.n)


def _smoothing(game: Game, o: Options, step: str, tol: float) -> tuple[float, Smoother | None, str]:
    """Return (β, what makes the distributions, what to add to the name)."""
    m, relaxation = game.m, game.relaxation
    simplex = simplex_range(m, o.smoothing)
    spread = relaxation.entropy_range(m) + simplex - math.log(m)
    beta = o.beta or default_beta(simplex if step == "fig1" else spread, tol)
    if o.smoothing == "binary-entropy":
        return beta, BinaryEntropySmoother(relaxation), ", binary entropy"
    curvature = relaxation.curvature(m)
    if o.beta is None and step != "fig1" and curvature >= beta:
        return curvature, Unsmoothed(relaxation), ", unsmoothed"
    return beta, None, ""


def _make(game: Game, o: Options, method: str, step: str, inner: str | None) -> Plan:
    if method == "corrective":
        beta, smoother, suffix = _smoothing(game, o, step, o.tol)
        return Plan(
            f"corrective ({step}{suffix})",
            lambda _: Corrective(game, beta, step, smoother=smoother),
        )
    if method == "combined":
        loose = max(o.tol, _loose(game))
        beta, smoother, suffix = _smoothing(game, o, "pairwise", loose)
        program = TotallyCorrectiveLP if inner == "lp" else TotallyCorrectiveConic
        return Plan(
            f"combined (pairwise, {inner}{suffix})",
            lambda _: Combined(game, beta, loose / 2.0, program, smoother),
        )
    if inner == "lp":
        return Plan("totally-corrective (lp)", lambda _: TotallyCorrectiveLP(game))
    if inner == "conic":
        return Plan("totally-corrective (conic)", lambda _: TotallyCorrectiveConic(game))
    if inner == "hull":
        return Plan("totally-corrective (hull)", lambda _: HullCorrective(game, o.tol))
    beta, smoother, suffix = _smoothing(game, o, "pairwise", o.tol)
    return Plan(
        f"totally-corrective (smoothed{suffix})",
        lambda deadline: TotallyCorrectiveSmoothed(game, beta, o.tol / 2.0, deadline, smoother),
    )


def _adaboost(game: Game, o: Options) -> Plan:
    """Return the plan of a method that knows the hard margin over l1 balls only."""
    what = f'method="{o.method}"'
    if not isinstance(game.relaxation, HardMargin):
        raise InputError(
            f"{what} maximises the hard margin and knows no relaxation, and this game has "
            f'{game.relaxation!r}; use method="auto", or the game without its relaxation'
        )
    if not isinstance(game.over, L1Ball):
        raise InputError(
            f"{what} is for games over L1Ball(radius), and this one is over {game.over!r}; "
            'use method="auto", or play over L1Ball(radius)'
        )
    if o.stopping == "smoothed":
        raise InputError(
            f'stopping="smoothed" is the test of a smoothed problem, and {what} solves none; '
            'leave it out, or use method="corrective"'
        )
    if o.beta is not None:
        raise InputError(f"beta smooths, and {what} does not; leave one of them out")
    if o.smoothing != "entropy":
        raise InputError(f"{what} does not smooth; leave out smoothing={o.smoothing!r}")
    if o.method == "adaboost-star":
        nu = working_accuracy(game, o.tol)
        bound = star_rounds(game.m, nu) if game.matrix.slack == 0.0 else math.nan
        return Plan("adaboost-star", lambda _: AdaBoostStar(game, nu), bound=bound)
    rule = o.step or "classical"
    return Plan(
        f"adaboost ({rule})",
        lambda _: AdaBoost(game, rule),
        endless="AdaBoost need not reach the maximum margin (Rudin, Daubechies & Schapire 2004)",
        bound=math.nan,
    )

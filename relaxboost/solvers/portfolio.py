"""`auto`: an ordered list of phases. This page makes every decision of the default method."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

from relaxboost._core.loop import Clock
from relaxboost.game.domains import AtomicSet
from relaxboost.game.game import Game
from relaxboost.solvers import general_solver, taut_strings, zero_value
from relaxboost.solvers.boosters.corrective import Corrective
from relaxboost.solvers.boosters.frank_wolfe import CorrectiveRun, few_steps_suffice
from relaxboost.solvers.boosters.fully_corrective import FullyCorrectiveRun
from relaxboost.solvers.boosters.lpboost import continue_from
from relaxboost.solvers.interior_point import run as interior_point
from relaxboost.solvers.parametric_simplex.booster import Walking, walkable
from relaxboost.solvers.rounds import Booster
from relaxboost.solvers.stopping import Tolerance
from relaxboost.solvers.warm_start import WarmStart

FIRST_SHARE = 1.0 / 3.0
"""The part of the interior point method's predicted work that each phase before it may add."""

STEPS_GAP = 0.02
"""The gap, for atoms of size 1, to which smoothed steps find columns for column generation."""

CONE_EXAMPLES = 3000
"""Examples up to which column generation with a cone program in every round takes seconds."""


class Request(NamedTuple):
    """What a phase is started with."""

    game: Game
    goal: Tolerance
    clock: Clock
    start: WarmStart
    before: Booster
    """The run of the phase before, whose columns the next may begin with."""


class Phase(NamedTuple):
    """A method of the portfolio, the games it is for, and the work that it may do."""

    name: str
    why_not: Callable[[Request], str]
    """Returns why the phase is not for the game of a request, "" if it is."""
    start: Callable[[Request], Booster]
    budget: Callable[[Game], float] = lambda game: math.inf
    """Passes over A after which the next phase takes over."""


def _share(game: Game) -> float:
    """Return the passes over A that a phase before the interior point method may use."""
    return FIRST_SHARE * interior_point.predict_passes(game)


def _why_no_walk(request: Request) -> str:
    if walkable(request.game, request.start):
        return interior_point.unfit(request.game)
    return "there is no start that is the optimum of a neighbour"


def _why_no_strings(request: Request) -> str:
    game = request.game
    why_not = taut_strings.unfit(game) or interior_point.unfit(game)
    form = game.linear_form
    if why_not or form is None:
        return why_not
    return "d may be on a single example, so few columns suffice" if form.upper.max() >= 1.0 else ""


def _why_no_steps(request: Request) -> str:
    game = request.game
    if not isinstance(game.over, AtomicSet):
        return "its w has no atoms"
    if game.relaxation.from_solver:
        return "each step would ask a solver"
    is_quick = few_steps_suffice(game, request.goal.tol) or interior_point.unfit(game)
    return "" if is_quick else "the interior point method is quicker"


def _start_steps(request: Request) -> Booster:
    """Start pairwise steps, to the goal or to where a later phase is better."""
    game, tol = request.game, request.goal.tol
    loose = STEPS_GAP * game.over.reach(game.n)
    is_last = bool(_why_no_columns(request) and general_solver.unfit(game))
    hands_over = tol < loose and not is_last and not few_steps_suffice(game, tol)
    target = loose if hands_over else tol
    beta, smoother, _ = Corrective(step="pairwise").smoother(game, target)
    run = CorrectiveRun(game, beta, "pairwise", smoother, target=hands_over * target / 2.0)
    return run.warmed(request.start)


def _why_no_columns(request: Request) -> str:
    game = request.game
    if not isinstance(game.over, AtomicSet):
        return "its w has no atoms"
    if game.linear_form is None and (game.n is not None or game.m > CONE_EXAMPLES):
        return "f is not polyhedral, and would take a cone program in every round"
    return ""


PHASES = (
    Phase(
        "walk from the start",
        _why_no_walk,
        lambda r: Walking(r.game, r.clock, r.start, _share(r.game)),
    ),
    Phase(
        "test for a value of zero",
        lambda r: zero_value.unfit(r.game) or interior_point.unfit(r.game),
        lambda r: zero_value.ZeroValueRun(r.game, r.clock, r.before.active),
        _share,
    ),
    Phase(
        "taut-string steps",
        _why_no_strings,
        lambda r: taut_strings.StringsRun(r.game, r.goal, r.clock, _share(r.game)).warmed(r.start),
        _share,
    ),
    Phase("pairwise steps", _why_no_steps, _start_steps),
    Phase(
        "interior point method",
        lambda r: interior_point.unfit(r.game),
        lambda r: interior_point.InteriorRun(r.game, r.goal.tol),
    ),
    Phase(
        "column generation",
        _why_no_columns,
        lambda r: continue_from(r.game, r.clock, r.before.active).warmed(r.start),
    ),
    Phase(
        "fully corrective steps",
        lambda r: "its w has atoms" if isinstance(r.game.over, AtomicSet) else "",
        lambda r: FullyCorrectiveRun(r.game, r.goal.tol, r.clock).warmed(r.start),
        general_solver.predict_passes,
    ),
    Phase(
        "general solver",
        lambda r: general_solver.unfit(r.game),
        lambda r: general_solver.GeneralSolverRun(r.game, r.goal.tol, r.clock),
    ),
)
"""The phases in the order in which they are tried. One that is not for a game is left out."""

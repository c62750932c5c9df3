"""The phases of the method "auto"."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

from relaxboost._core.loop import Clock
from relaxboost.game.domains import AtomicSet
from relaxboost.game.game import Game
from relaxboost.relaxations.base import asks_solver, needs_solver
from relaxboost.solvers import general_solver, taut_strings, zero_value
from relaxboost.solvers.boosters import cutting_planes
from relaxboost.solvers.boosters.corrective import start_pairwise
from relaxboost.solvers.boosters.frank_wolfe import few_steps_suffice
from relaxboost.solvers.boosters.fully_corrective import FullyCorrectiveRun
from relaxboost.solvers.boosters.lpboost import continue_from
from relaxboost.solvers.interior_point import run as interior_point
from relaxboost.solvers.parametric_simplex.booster import Walking, walkable
from relaxboost.solvers.rounds import Booster
from relaxboost.solvers.stopping import Tolerance
from relaxboost.solvers.warm_start import WarmStart

MAX_COLUMN_GENERATION_EXAMPLES = 3000
# With more examples, the cone program of one round takes seconds.
"""The largest number of examples for column generation if the relaxation is not polyhedral."""


class Request(NamedTuple):
    """The data from which "auto" starts a phase."""

    game: Game
    goal: Tolerance
    clock: Clock
    start: WarmStart
    before: Booster
    """The run of the previous phase, whose columns the new phase may use."""


class Phase(NamedTuple):
    """A phase of "auto": a method with its games and its work budget."""

    name: str
    why_not: Callable[[Request], str]
    """A function that returns why a run skips this phase, or "" if the run uses it."""
    start: Callable[[Request], Booster]
    budget: Callable[[Game], float] = lambda game: math.inf
    """A function that returns the work budget of this phase, in products of the margin matrix with
    a vector.

    By default the budget is infinite. The parametric simplex method has its own budget.
    """


def _why_no_strings(request: Request) -> str:
    form = request.game.linear_form
    # Taut strings change the weights of all columns, which is a waste if w needs few columns.
    has_cap = form is not None and form.upper.max() < 1.0
    no_cap = "" if has_cap else "f lets one example have all the weight, so w needs few columns"
    is_cheap = interior_point.is_matrix_free(request.game)
    no_need = "the interior point method factorises no matrix of this size" if is_cheap else ""
    return taut_strings.unfit(request.game) or no_cap or no_need


def _why_no_steps(request: Request) -> str:
    game = request.game
    if not isinstance(game.over, AtomicSet):
        return f"they move weight between atoms, and {game.over!r} has none"
    if needs_solver(game.relaxation):
        return "each step would call a solver"
    # Pairwise steps converge slowly unless f is strongly convex, but suit every matrix.
    if few_steps_suffice(game, request.goal.tol) or interior_point.unfit(game):
        return ""
    modulus = game.relaxation.curvature(game.m)
    if modulus == 0.0:
        return "f is not strongly convex, and they are slow then"
    return (
        f"f is strongly convex with modulus {modulus:.3g}, and they are slow if the modulus is "
        f"below radius²/tol = {game.over.reach(game.n) ** 2 / request.goal.tol:.3g}"
    )


def _why_no_mixtures(request: Request) -> str:
    game = request.game
    if asks_solver(game.relaxation) and not interior_point.unfit(game):
        return "each step would call a solver"
    return FullyCorrectiveRun.unfit(game)


def _why_no_columns(request: Request) -> str:
    game = request.game
    if not isinstance(game.over, AtomicSet):
        return f"its columns are atoms, and {game.over!r} has none"
    # Later phases solve such games better, unless a weak learner cannot list its hypotheses.
    if game.linear_form is None and (game.n is not None or game.m > MAX_COLUMN_GENERATION_EXAMPLES):
        return f"f is not polyhedral, so each round would solve a cone program of {game.m} examples"
    return ""


def _start_steps(request: Request) -> Booster:
    game = request.game
    later = _why_no_columns(request), cutting_planes.unfit(game), general_solver.unfit(game)
    return start_pairwise(game, request.goal.tol, all(later)).warmed(request.start)


PHASES = (
    # From the optimum of a similar game, a few pivots lead to the optimum of this game.
    Phase(
        "walk from the start",
        lambda r: "" if walkable(r.game, r.start) else "there is no start from a similar game",
        lambda r: Walking(r.game, r.clock, r.start, interior_point.predict_passes(r.game)),
    ),
    Phase(
        # At a value of zero w = 0 is optimal, but methods that change w detect this late.
        "test for a value of zero",
        lambda r: zero_value.unfit(r.game),
        lambda r: zero_value.ZeroValueRun(r.game, r.clock, r.before.active),
        interior_point.predict_passes,
    ),
    Phase(
        "taut-string steps",
        _why_no_strings,
        lambda r: taut_strings.StringsRun(
            r.game, r.goal, r.clock, interior_point.predict_passes(r.game)
        ).warmed(r.start),
        interior_point.predict_passes,
    ),
    # The test for a value of zero and the taut-string steps may do the work that the interior point
    # method is predicted to take. The walk may do it twice, for its first basis and for its pivots.
    # A phase that fails is therefore not much more expensive than one or two runs of that method.
    Phase("pairwise steps", _why_no_steps, _start_steps),
    Phase(
        # Often a few distributions suffice, and then no matrix has to be factorised.
        "fully corrective steps",
        _why_no_mixtures,
        lambda r: FullyCorrectiveRun(r.game, r.goal.tol, r.clock).warmed(r.start),
        interior_point.predict_passes,
    ),
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
        # A relaxed margin in closed form is cheap, however large a program of f would be.
        "cutting planes",
        lambda r: cutting_planes.unfit(r.game),
        lambda r: cutting_planes.CuttingPlanesRun(r.game, r.clock, r.before.active),
    ),
    # The general solver comes last, because nobody can predict how long it takes.
    Phase(
        "general solver",
        lambda r: general_solver.unfit(r.game),
        lambda r: general_solver.GeneralSolverRun(r.game, r.goal.tol),
    ),
)
"""The phases of "auto", in order."""

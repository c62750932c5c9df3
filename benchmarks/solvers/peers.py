"""The solvers that a benchmark compares: general ones, baselines, and methods of `solve`.

Each gets the form of the game that suits it best, made before its clock starts. None scores
itself: it hands over a d and a w, or the one that it has.
"""

from __future__ import annotations

import hashlib
import importlib.metadata
import importlib.util
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from relaxboost import __version__
from relaxboost._core.errors import InputError
from relaxboost.game import programs
from relaxboost.game.domains import L1Ball
from relaxboost.game.game import Game
from relaxboost.relaxations import Capped
from relaxboost.solvers import METHODS, Combined, Corrective, Method, TotallyCorrective, solve
from relaxboost.testing.bench.baselines import PeerPoints, Run, regret_matching, stagewise
from relaxboost.testing.bench.linear import EDGES, TWICE, linear_program, written

LADDER = (1e-3, 1e-6, 1e-9)
"""Tolerances that a peer without a history is run at, each run from the start."""


@dataclass(frozen=True)
class Peer:
    """A solver in the benchmark."""

    name: str
    kind: str
    """general, baseline or ours."""
    prepare: Callable[[Game], Run]
    """Returns the run on a game, with all done that its clock does not count; raises an
    InputError where the solver does not take the game."""
    needs: tuple[str, ...] = ()
    """The modules it is made of."""
    pip: tuple[str, ...] = ()
    """The distributions that bring them."""
    ladder: tuple[float, ...] = LADDER
    """Its tolerances; empty for the one asked for, from a solver with a history."""
    source: str = ""
    """The SHA-256 of the file of a solver of your own."""

    @property
    def missing(self) -> str:
        """What to install first, or ""."""
        lacking = any(importlib.util.find_spec(module) is None for module in self.needs)
        return f"pip install {' '.join(self.pip)}" if lacking else ""

    @property
    def versions(self) -> dict[str, str]:
        """The distributions it is made of, with their versions, and the source."""
        named = [pip.partition("[")[0] for pip in self.pip]
        others = {name: importlib.metadata.version(name) for name in named}
        own = {"source": self.source} if self.source else {}
        return {"relaxboost": __version__, **others, **own}


def _highs(solver: str, shape: str) -> Callable[[Game], Run]:
    """Return how HiGHS is run: without crossover, since the bracket needs no vertex."""

    def prepare(game: Game) -> Run:
        import highspy

        program = linear_program(game, shape)
        M, model = program.rows, highspy.HighsLp()
        model.num_row_, model.num_col_ = M.shape
        model.col_cost_, model.col_lower_, model.col_upper_ = program.columns
        model.row_lower_, model.row_upper_ = program.sides
        model.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
        model.a_matrix_.start_, model.a_matrix_.index_ = M.indptr, M.indices
        model.a_matrix_.value_ = M.data

        def run(tol: float, seconds: float) -> PeerPoints:
            highs = highspy.Highs()
            options: dict[str, Any] = {
                "output_flag": False,
                "threads": 1,
                "solver": solver,
                "run_crossover": "off",
                "time_limit": seconds,
                "ipm_optimality_tolerance": max(tol, 1e-12),
                "pdlp_optimality_tolerance": tol,
            }
            for name, value in options.items():
                if highs.setOptionValue(name, value) != highspy.HighsStatus.kOk:
                    raise RuntimeError(f"this HiGHS has no {name} = {value}")
            highs.passModel(model)
            highs.run()
            found = highs.getSolution()
            return PeerPoints(*program.points(np.array(found.col_value), -np.array(found.row_dual)))

        return run

    return prepare


def _ortools(game: Game) -> Run:
    program = linear_program(game, TWICE)  # first: where f is no such program, HiGHS may be loaded
    from ortools.pdlp import solvers_pb2
    from ortools.pdlp.python import pdlp

    qp = pdlp.QuadraticProgram()
    qp.resize_and_initialize(*program.rows.shape[::-1])
    qp.objective_vector, qp.variable_lower_bounds, qp.variable_upper_bounds = program.columns
    qp.constraint_lower_bounds, qp.constraint_upper_bounds = program.sides
    qp.constraint_matrix = program.rows.tocsc()

    def run(tol: float, seconds: float) -> PeerPoints:
        given = solvers_pb2.PrimalDualHybridGradientParams(num_threads=1)
        given.termination_criteria.time_sec_limit = seconds
        goal = given.termination_criteria.simple_optimality_criteria
        goal.eps_optimal_relative = goal.eps_optimal_absolute = tol
        found = pdlp.primal_dual_hybrid_gradient(qp, given)
        return PeerPoints(*program.points(found.primal_solution, -np.asarray(found.dual_solution)))

    return run


def _conic(solver: str, options: Callable[[float, float], dict[str, Any]]) -> Callable[..., Run]:
    """Return how a cone solver is run on the dual of the cvxpy pair; compiling is not counted."""

    def prepare(game: Game) -> Run:
        model = programs.dual(written(game), game.relaxation, game.over)
        data, chain, inverse = model.problem.get_problem_data(
            solver,
            solver_opts={"accept_unknown": True},  # a point that it is unsure of is scored too
        )

        def run(tol: float, seconds: float) -> PeerPoints:
            given = options(tol, seconds)
            found = chain.solve_via_data(model.problem, data, False, False, given)
            model.problem.unpack_results(found, chain, inverse)
            ((constraint, _),) = model.coupling
            return PeerPoints(constraint.dual_value, model.variable.value)

        return run

    return prepare


def _clarabel(tol: float, seconds: float) -> dict[str, Any]:
    names = ("tol_gap_abs", "tol_gap_rel", "tol_feas")
    return {**dict.fromkeys(names, tol), "time_limit": seconds, "max_threads": 1}


def _scs(tol: float, seconds: float) -> dict[str, Any]:
    return {"eps_abs": tol, "eps_rel": tol, "time_limit_secs": seconds, "max_iters": 10**9}


def _cvqp(game: Game) -> Run:
    """Return the least ‖w‖_1 with a soft margin of 1: where ρ > 0, its direction is optimal.

    It minimises the sum of w = p − q over p, q >= 0 whose mean of the k largest of −A w is −1.
    """
    import cvqp
    from scipy import sparse

    k = game.relaxation.k if isinstance(game.relaxation, Capped) else 0.5
    if k != int(k) or k >= game.m or not isinstance(game.over, L1Ball):
        raise InputError("Capped with a whole k over an l1 ball only")
    A = np.asarray(written(game), dtype=np.float64)
    n = A.shape[1]
    both, bounds = np.hstack([-A, A]), (np.zeros(2 * n), np.full(2 * n, np.inf))
    eye = sparse.eye_array(2 * n, format="csr")

    def run(tol: float, seconds: float) -> PeerPoints:
        settings = cvqp.Settings(abstol=tol, reltol=tol, time_limit=seconds, max_iter=10**9)
        # A little above 1 - k/m, since it takes the whole part of (1 - beta) m.
        beta = 1.0 - (int(k) + 0.5) / game.m
        found = cvqp.solve(None, np.ones(2 * n), both, eye, *bounds, beta, -1.0, settings=settings)
        w = np.maximum(found.x[:n], 0.0) - np.maximum(found.x[n:], 0.0)
        return PeerPoints(None, w * (game.over.reach(n) / max(np.abs(w).sum(), 1e-300)))

    return run


def _ours(method: str | Method) -> Callable[[Game], Run]:
    def prepare(game: Game) -> Run:
        (METHODS[method]() if isinstance(method, str) else method).check(game)

        def run(tol: float, seconds: float) -> PeerPoints:
            found = solve(game, tol, method, time_limit=seconds)
            history = [(r.seconds, r.lower, r.upper) for r in found.history]
            return PeerPoints(found.d, (found.support, found.coefficients), history)

        return run

    return prepare


def _general(name: str, prepare: Any, module: str, pip: str = "", **more: Any) -> Peer:
    modules = tuple(module.split())
    return Peer(name, "general", prepare, modules, tuple((pip or module).split()), **more)


_OWN: dict[str, str | Method] = {
    "auto": "auto",
    "interior-point": "interior-point",
    "steps-and-program": Combined(interior=False),
    "pairwise": Corrective(step="pairwise"),
    "smoothed": TotallyCorrective(inner="smoothed"),
}
_ALL = [
    *(Peer(name, "ours", _ours(method), ladder=()) for name, method in _OWN.items()),
    Peer("column-generation", "baseline", _ours(TotallyCorrective(inner="lp")), ladder=()),
    Peer("regret-matching", "baseline", regret_matching, ladder=()),
    Peer("adaboost", "baseline", stagewise, ("sklearn",), ("scikit-learn",), (100, 1000)),
    _general("highs-simplex", _highs("simplex", EDGES), "highspy", ladder=(1e-9,)),
    _general("highs-ipm", _highs("ipx", EDGES), "highspy"),
    _general("highs-hipo", _highs("hipo", EDGES), "highspy highspy_extras", "highspy[extras]"),
    _general("highs-pdlp", _highs("pdlp", TWICE), "highspy"),
    _general("ortools-pdlp", _ortools, "ortools"),
    _general("clarabel", _conic("CLARABEL", _clarabel), "clarabel"),
    _general("scs", _conic("SCS", _scs), "scs"),
    _general("cvqp", _cvqp, "cvqp"),
]
PEERS: dict[str, Peer] = {peer.name: peer for peer in _ALL}
"""The solvers by name, in the order of the table."""


def peer_called(name: str) -> Peer:
    """Return a peer by its name, or one of your own: ``module:function``, which is its `prepare`.

    Raises
    ------
    InputError
        For a name that is neither.
    """
    if name in PEERS:
        return PEERS[name]
    module, colon, function = name.partition(":")
    if not (module and colon and function):
        raise InputError(
            f"no solver is called {name!r}; choose of {', '.join(PEERS)}, or give "
            "module:function for your own"
        )
    try:
        found = importlib.import_module(module)
        prepare = getattr(found, function)
    except Exception as error:  # whatever a module of the user's raises
        raise InputError(
            f"the solver {name!r} cannot be had: {type(error).__name__}: {error}; its module must "
            "be in this folder, or installed"
        ) from None
    file = getattr(found, "__file__", None)
    source = hashlib.sha256(Path(file).read_bytes()).hexdigest() if file else ""
    return Peer(name, "general", prepare, source=source, ladder=())

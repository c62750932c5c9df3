"""The solvers that the benchmark compares: general ones, and methods of `solve`.

Each solver gets the form of the game that suits it best; its clock does not count making that
form. No solver scores itself: it returns a d and a w, or the one that it has.
"""

from __future__ import annotations

import hashlib
import importlib.metadata
import importlib.util
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from benchmarks.solvers.linear import EDGES, TWICE, linear_program, written
from relaxboost import __version__
from relaxboost._core.errors import InputError
from relaxboost._core.lazy import cp
from relaxboost.game import programs
from relaxboost.game.domains import L1Ball
from relaxboost.game.game import Game
from relaxboost.relaxations import Capped
from relaxboost.solvers import METHODS, Corrective, ERLPBoost, LPBoost, Method, reference, solve

LADDER = (1e-3, 1e-6, 1e-9)
"""The tolerances of a general solver; each run starts from nothing."""


class Points(NamedTuple):
    """What a solver returns; None for a point that it does not have."""

    d: Any
    w: Any


Run = Callable[[float, float], tuple[Any, Any]]
"""A function of a tolerance and a limit in seconds that returns `Points`."""
Prepare = Callable[[Game], Run]
"""A function that returns the run on a game, after all work that the clock does not count.

It raises an InputError if the solver does not take the game."""


@dataclass(frozen=True)
class Peer:
    """A solver in the benchmark.

    `kind` is "general" or "ours". `needs` are the modules that the solver imports, and `pip` the
    distributions that contain them. A solver runs at each tolerance of `ladder`; if it is empty,
    once at the requested one. `source` is the SHA-256 of the file of a user's solver.
    """

    name: str
    kind: str
    prepare: Prepare
    needs: tuple[str, ...] = ()
    pip: tuple[str, ...] = ()
    ladder: tuple[float, ...] = LADDER
    source: str = ""

    @property
    def missing(self) -> str:
        """The command that installs the solver, or "" if it is installed."""
        lacking = any(importlib.util.find_spec(module) is None for module in self.needs)
        return f"pip install {' '.join(self.pip)}" if lacking else ""

    @property
    def versions(self) -> dict[str, str]:
        """The versions of the distributions, and the digest of the user's file."""
        named = [pip.partition("[")[0] for pip in self.pip]
        others = {name: importlib.metadata.version(name) for name in named}
        own = {"source": self.source} if self.source else {}
        return {"relaxboost": __version__, **others, **own}


def _highs(solver: str, shape: str) -> Prepare:
    """Return how HiGHS runs: without crossover, since the bracket needs no vertex."""

    def prepare(game: Game) -> Run:
        import highspy

        program = linear_program(game, shape)
        rows = program.rows
        model = highspy.HighsLp()
        model.num_row_, model.num_col_ = rows.shape
        model.col_cost_, model.col_lower_, model.col_upper_ = program.columns
        model.row_lower_, model.row_upper_ = program.sides
        model.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
        model.a_matrix_.start_ = rows.indptr
        model.a_matrix_.index_ = rows.indices
        model.a_matrix_.value_ = rows.data

        def run(tol: float, seconds: float) -> Points:
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
                    raise RuntimeError(f"this HiGHS has no option {name} = {value}")
            highs.passModel(model)
            highs.run()
            found = highs.getSolution()
            return Points(*program.points(np.array(found.col_value), -np.array(found.row_dual)))

        return run

    return prepare


def _ortools(game: Game) -> Run:
    program = linear_program(game, TWICE)  # first: it needs no ortools to refuse the game
    from ortools.pdlp import solvers_pb2
    from ortools.pdlp.python import pdlp

    qp = pdlp.QuadraticProgram()
    qp.resize_and_initialize(*program.rows.shape[::-1])
    qp.objective_vector, qp.variable_lower_bounds, qp.variable_upper_bounds = program.columns
    qp.constraint_lower_bounds, qp.constraint_upper_bounds = program.sides
    qp.constraint_matrix = program.rows.tocsc()

    def run(tol: float, seconds: float) -> Points:
        given = solvers_pb2.PrimalDualHybridGradientParams(num_threads=1)
        given.termination_criteria.time_sec_limit = seconds
        goal = given.termination_criteria.simple_optimality_criteria
        goal.eps_optimal_relative = tol
        goal.eps_optimal_absolute = tol
        found = pdlp.primal_dual_hybrid_gradient(qp, given)
        return Points(*program.points(found.primal_solution, -np.asarray(found.dual_solution)))

    return run


def _piqp(game: Game) -> Run:
    """Return how PIQP's dense interface runs. It has no time limit, so the parent ends it."""
    program = linear_program(game, TWICE)
    import piqp

    cost, lower, upper = program.columns
    rows = np.asfortranarray(program.rows.toarray())
    zero = np.zeros((cost.size, cost.size), order="F")
    low, high = program.sides
    # An equality with both sides as inequalities has no interior, so it goes where A x = b is.
    equal = low == high
    A = np.asfortranarray(rows[equal])
    G = np.asfortranarray(rows[~equal])

    def run(tol: float, seconds: float) -> Points:
        solver = piqp.DenseSolver()
        solver.settings.check_duality_gap = True
        for name in ("eps_abs", "eps_rel", "eps_duality_gap_abs", "eps_duality_gap_rel"):
            setattr(solver.settings, name, tol)
        solver.setup(zero, cost, A, low[equal], G, low[~equal], high[~equal], lower, upper)
        solver.solve()
        found = solver.result
        y = np.zeros(low.size)
        y[equal] = found.y
        y[~equal] = found.z_u - found.z_l
        return Points(*program.points(np.array(found.x), y))

    return run


def _conic(solver: str, options: Callable[[float, float], dict[str, Any]]) -> Prepare:
    """Return how a cone solver runs on the dual of the cvxpy pair; the clock omits compiling."""

    def prepare(game: Game) -> Run:
        model = programs.dual(written(game), game.relaxation, game.over)
        options_of_chain = {"accept_unknown": True}  # an inaccurate point is scored, too
        try:
            problem_data = model.problem.get_problem_data(solver, solver_opts=options_of_chain)
        except cp.SolverError as error:  # the solver lacks a cone of this game
            raise InputError(str(error)) from None
        data, chain, inverse = problem_data

        def run(tol: float, seconds: float) -> Points:
            given = options(tol, seconds)
            found = chain.solve_via_data(model.problem, data, False, False, given)
            model.problem.unpack_results(found, chain, inverse)
            ((constraint, _),) = model.coupling
            return Points(constraint.dual_value, model.variable.value)

        return run

    return prepare


GAP_TOLERANCES = ("tol_gap_abs", "tol_gap_rel", "tol_feas")
"""What Clarabel and Moreau, which is derived from it, call their tolerances."""


def _clarabel(tol: float, seconds: float) -> dict[str, Any]:
    return {**dict.fromkeys(GAP_TOLERANCES, tol), "time_limit": seconds, "max_threads": 1}


def _moreau(tol: float, seconds: float) -> dict[str, Any]:
    own = dict.fromkeys(GAP_TOLERANCES, tol)
    return {"device": "cpu", "solver": "ipm", "time_limit": seconds, "ipm_settings": own}


def _scs(tol: float, seconds: float) -> dict[str, Any]:
    return {"eps_abs": tol, "eps_rel": tol, "time_limit_secs": seconds, "max_iters": 10**9}


def _qoco(tol: float, seconds: float) -> dict[str, Any]:
    return {"abstol": tol, "reltol": tol}  # QOCO has no time limit, so the parent ends it


def _cvqp(game: Game) -> Run:
    """Return how CVQP finds the least ‖w‖_1 with a soft margin of 1; if ρ > 0, w is optimal.

    It minimises the sum of w = p − q over p, q >= 0 whose mean of the k largest of −A w is −1.
    """
    k = game.relaxation.k if isinstance(game.relaxation, Capped) else 0.5
    if k != int(k) or k >= game.m or not isinstance(game.over, L1Ball):
        raise InputError("CVQP takes Capped with a whole k over an l1 ball only")
    import cvqp
    from scipy import sparse

    A = np.asarray(written(game), dtype=np.float64)
    n = A.shape[1]
    both = np.hstack([-A, A])
    bounds = np.zeros(2 * n), np.full(2 * n, np.inf)
    eye = sparse.eye_array(2 * n, format="csr")

    def run(tol: float, seconds: float) -> Points:
        settings = cvqp.Settings(abstol=tol, reltol=tol, time_limit=seconds, max_iter=10**9)
        # CVQP rounds (1 - beta) m down, so beta is a little above 1 - k/m.
        beta = 1.0 - (int(k) + 0.5) / game.m
        found = cvqp.solve(None, np.ones(2 * n), both, eye, *bounds, beta, -1.0, settings=settings)
        w = np.maximum(found.x[:n], 0.0) - np.maximum(found.x[n:], 0.0)
        return Points(None, w * (game.over.reach(n) / max(np.abs(w).sum(), 1e-300)))

    return run


def _ours(name: str, method: str | Method) -> Peer:
    def prepare(game: Game) -> Run:
        (METHODS[method]() if isinstance(method, str) else method).check(game)

        def run(tol: float, seconds: float) -> Points:
            found = solve(game, tol, method, time_limit=seconds)
            return Points(found.d, (found.support, found.coefficients))

        return run

    return Peer(name, "ours", prepare, ladder=())


def _reference(game: Game) -> Run:
    """Return how `rb.reference` runs: it gives a general solver some columns at a time."""
    if game.n is None:
        raise InputError("reference needs every column")

    def run(tol: float, seconds: float) -> Points:
        found = reference(game, tol=tol)  # it has no time limit, so the parent ends it
        return Points(found.d, (found.support, found.coefficients))

    return run


def _general(name: str, prepare: Prepare, modules: str, pip: str = "", **more: Any) -> Peer:
    needs = tuple(modules.split())
    return Peer(name, "general", prepare, needs, tuple((pip or modules).split()), **more)


PEERS: dict[str, Peer] = {
    peer.name: peer
    for peer in (
        _ours("auto", "auto"),
        _ours("interior-point", "interior-point"),
        _ours("pairwise", Corrective(step="pairwise")),
        _ours("smoothed", ERLPBoost()),
        _ours("column-generation", LPBoost()),
        _general("reference", _reference, "highspy clarabel", ladder=()),
        _general("highs-simplex", _highs("simplex", EDGES), "highspy", ladder=(1e-9,)),
        _general("highs-ipm", _highs("ipx", EDGES), "highspy"),
        _general("highs-hipo", _highs("hipo", EDGES), "highspy highspy_extras", "highspy[extras]"),
        _general("highs-pdlp", _highs("pdlp", TWICE), "highspy"),
        _general("ortools-pdlp", _ortools, "ortools"),
        _general("piqp-dense", _piqp, "piqp"),
        _general("clarabel", _conic("CLARABEL", _clarabel), "clarabel"),
        _general("moreau", _conic("MOREAU", _moreau), "moreau"),
        _general("qoco", _conic("QOCO", _qoco), "qoco"),
        _general("scs", _conic("SCS", _scs), "scs"),
        _general("cvqp", _cvqp, "cvqp"),
    )
}
"""The solvers by name, in the order of the table."""


def peer_called(name: str) -> Peer:
    """Return a peer by its name, or a user's: ``module:function`` names its `prepare`.

    ``prepare(game)`` returns ``run(tol, seconds)``, which is called once and returns d and w, or
    None for either.

    Raises
    ------
    InputError
        If the name is neither.
    """
    if name in PEERS:
        return PEERS[name]
    module, colon, function = name.partition(":")
    if not (module and colon and function):
        raise InputError(
            f"no solver is called {name!r}; choose from {', '.join(PEERS)}, or give "
            "module:function for a solver of yours"
        )
    try:
        found = importlib.import_module(module)
        prepare = getattr(found, function)
    except Exception as error:  # importing a user's module may raise anything
        raise InputError(
            f"the solver {name!r} cannot be loaded: {type(error).__name__}: {error}; its module "
            "must be in the current folder, or installed"
        ) from None
    file = getattr(found, "__file__", None)
    source = hashlib.sha256(Path(file).read_bytes()).hexdigest() if file else ""
    return Peer(name, "general", prepare, source=source, ladder=())

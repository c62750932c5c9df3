"""Minimum-risk portfolios: `solve` against cvxpy with Clarabel and skfolio's own optimiser.

Daily returns of 20 shares, from the prices that skfolio's wheel bundles. skfolio minimises the same
risks (Gini as mean − risk_aversion · Gini's mean difference). Each peer has a process of its own
and LIMIT CPU seconds, and its weights are scored by the exact risk against the certified bracket.

Run: OMP_NUM_THREADS=1 python benchmarks/portfolios.py [words of names]
"""

from __future__ import annotations

import math
import multiprocessing
import resource
import sys
import time
import warnings
from typing import Any

import cvxpy as cp
import numpy as np
from common import machine, table

import relaxboost as rb
from relaxboost.game import programs
from relaxboost.relaxations import SpectralRisk, spectra
from relaxboost.solvers.external import ask

LIMIT = 120
SHARE = 0.05
RISKS = {
    "Gini": SpectralRisk.gini(),
    "CVaR": rb.Capped(fraction=SHARE),
    "EVaR": rb.KLBall(-math.log(SHARE)),
}


def returns(m: int) -> np.ndarray:
    """Return the last m daily returns of skfolio's 20 shares."""
    from skfolio.datasets import load_sp500_dataset
    from skfolio.preprocessing import prices_to_returns

    return np.asarray(prices_to_returns(load_sp500_dataset()))[-m:]


def game_of(name: str, R: np.ndarray) -> rb.Game:
    """Return the game, whose matrix has entries in [-1, 1]."""
    return rb.Game(R / np.abs(R).max(), RISKS[name], over=rb.Simplex())


def cvxpy_weights(name: str, R: np.ndarray, rtol: float) -> np.ndarray:
    """Return the weights of Clarabel on the quickest program found.

    This is the game's own program in w, and for Gini a sorting network of the returns: 22 CPU
    seconds for 1000 days, where all pairs of days take 35, the game's programs more than 100, and
    the linear program with a row for each day and rank does not end.
    """
    options = {"tol_gap_rel": rtol / 10, "tol_gap_abs": 1e-10}
    game = game_of(name, R)
    if name != "Gini":
        model = programs.dual(game.matrix.tocvxpy(), game.relaxation, game.over)
        return np.asarray(ask(model, "CLARABEL", options).point)
    w = cp.Variable(R.shape[1], nonneg=True)
    outputs, network = spectra.sorted_outputs(-game.matrix.data() @ w, len(R))
    risk = np.arange(2 * len(R) - 1, 0, -2) / len(R) ** 2 @ outputs
    cp.Problem(cp.Minimize(risk), [cp.sum(w) == 1, *network]).solve("CLARABEL", **options)
    return np.asarray(w.value)


def skfolio_weights(name: str, R: np.ndarray, rtol: float) -> np.ndarray:
    """Return the weights of skfolio's `MeanRisk`, with its solver Clarabel."""
    from skfolio import RiskMeasure
    from skfolio.optimization import MeanRisk, ObjectiveFunction

    measure = {
        "Gini": RiskMeasure.GINI_MEAN_DIFFERENCE,
        "CVaR": RiskMeasure.CVAR,
        "EVaR": RiskMeasure.EVAR,
    }[name]
    options: dict[str, Any] = {"risk_measure": measure, "solver": "CLARABEL"}
    options["solver_params"] = {"tol_gap_rel": rtol / 10, "tol_gap_abs": 1e-10}
    if name == "Gini":  # skfolio's mean difference leaves out the pairs of a day with itself
        options["objective_function"] = ObjectiveFunction.MAXIMIZE_UTILITY
        options["risk_aversion"] = 0.5 * (len(R) - 1) / len(R)
    else:
        options |= {f"{name.lower()}_beta": 1 - SHARE}
    return np.asarray(MeanRisk(**options).fit(R).weights_)


PEERS = {"cvxpy": cvxpy_weights, "skfolio": skfolio_weights}


def _measured(peer: str, name: str, R: np.ndarray, rtol: float, pipe: Any) -> None:
    """Send (CPU seconds, weights) of a peer through the pipe, within LIMIT CPU seconds."""
    resource.setrlimit(resource.RLIMIT_CPU, (LIMIT, LIMIT))
    warnings.simplefilter("ignore")
    start = time.process_time()
    try:
        weights = PEERS[peer](name, R, rtol)
    except Exception as error:  # whatever a peer raises is a result
        pipe.send((math.inf, f"{type(error).__name__}: {error}"[:200]))
        return
    pipe.send((time.process_time() - start, weights))


def peer_time(peer: str, name: str, R: np.ndarray, rtol: float, found: rb.Solution) -> str:
    """Return a cell of the table: CPU seconds, and how far from the optimum where that is more."""
    context = multiprocessing.get_context("spawn")
    here, there = context.Pipe(duplex=False)
    process = context.Process(target=_measured, args=(peer, name, R, rtol, there))
    process.start()
    there.close()
    try:
        seconds, weights = here.recv()
    except EOFError:
        return f"> {LIMIT}"
    finally:
        process.join()
    if not isinstance(weights, np.ndarray):
        print(f"{peer}, {name}: {weights}", flush=True)
        return "failed"
    weights = np.maximum(weights, 0.0)
    u = found.game.matrix.margins(np.arange(weights.size), weights / weights.sum())
    missing = (found.upper - found.game.relaxation.relaxed_margin(u)[0]) / abs(found.upper)
    return f"{seconds:.2f}" + ("" if missing <= 2 * rtol else f" ({missing:.0e} off)")


def main() -> None:
    machine()
    words = sys.argv[1:]
    rows = []
    for name in RISKS:
        for m, rtol in ((1000, 1e-3), (1000, 1e-6), (2000, 1e-6), (5000, 1e-6)):
            label = f"{name} {m} {rtol:g}"
            if not all(word in label for word in words):
                continue
            R = returns(m)
            rb.solve(game_of(name, R[:100]), rtol=rtol)  # compiles kernels, once on a machine
            start = time.process_time()
            found = rb.solve(game_of(name, R), rtol=rtol, tol=1e-12)
            own = f"{time.process_time() - start:.2f}"
            if found.gap > rtol * abs(found.upper):
                own += f" (gap {found.gap / abs(found.upper):.0e})"
            start = time.process_time()
            certificate = rb.certify(found)
            proof = f"{time.process_time() - start:.2f} ({certificate.level})"
            peers = [peer_time(peer, name, R, rtol, found) for peer in PEERS] if m == 1000 else []
            rows.append((name, m, f"{rtol:g}", own, proof, *peers, *["–"] * (2 - len(peers))))
            print(rows[-1], found, flush=True)
    header = ("risk", "days", "rtol", "auto", "certify", *PEERS)
    table("CPU seconds of minimum-risk portfolios of 20 shares", header, rows)


if __name__ == "__main__":
    main()

"""The results of a benchmark: the time to a certified gap, of every solver on every game."""

from __future__ import annotations

import datetime
import math
import os
import platform
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import relaxboost
from benchmarks.solvers import page
from benchmarks.solvers.page import AUTO, LARGEST_RATIO, Row, geometric_mean
from benchmarks.solvers.running import BenchLimits, Cell
from relaxboost._core.errors import InputError


class Report:
    """The results that `bench` yields, with the limits of the run.

    A failure counts as ``limits.seconds``.
    """

    def __init__(self, cells: Iterable[Cell], limits: BenchLimits) -> None:
        self._cells = {(cell["game"], cell["peer"]): cell for cell in cells}
        if not self._cells:
            raise InputError("no game was played; --only and --peers leave nothing")
        self._limits = limits
        self.games = list(dict.fromkeys(game for game, _ in self._cells))
        self.peers = list(dict.fromkeys(peer for _, peer in self._cells))

    def bracket(self, game: str) -> tuple[float, float]:
        """Return the best bounds that any solver proved: (lower, upper)."""
        points = [p for (g, _), cell in self._cells.items() if g == game for p in cell["points"]]
        lower = max((p["lower"] for p in points if p["lower"] is not None), default=-math.inf)
        upper = min((p["upper"] for p in points if p["upper"] is not None), default=math.inf)
        return lower, upper

    def gaps(self, cell: Cell) -> list[tuple[float, float, float]]:
        """Return (gap, CPU seconds, seconds) of each run.

        If a solver has no d or no w, the best bound of the others stands in.
        """
        lower, upper = self.bracket(cell["game"])
        found = []
        for p in cell["points"]:
            low = lower if p["lower"] is None and p["upper"] is not None else p["lower"]
            high = upper if p["upper"] is None and p["lower"] is not None else p["upper"]
            gap = math.inf if low is None or high is None else high - low
            found.append((gap, p["cpu"], p["wall"]))
        return found

    def seconds(self, cell: Cell, clock: int = 1) -> float | None:
        """Return the CPU seconds (2: wall clock) of the fastest run to the requested gap."""
        return min((g[clock] for g in self.gaps(cell) if g[0] <= self._limits.tol), default=None)

    def text(self, cell: Cell) -> str:
        """Return the CPU seconds, or why the run ended and at which gap."""
        return page.text_of(self._row(cell, {}))

    def summary(self) -> dict[str, Any]:
        """Return the figures by which the solvers are judged."""
        ratios: dict[str, float] = {}
        groups: dict[str, str] = {}
        slower: list[str] = []
        failed: list[str] = []
        unsolved: list[str] = []
        limit = self._limits.seconds
        for game in self.games:
            own = self._cells.get((game, AUTO))
            rivals = [
                cell
                for (g, _), cell in self._cells.items()
                if g == game and cell["kind"] == "general"
                if cell["outcome"] not in ("unfit", "missing")
            ]
            if own is None or own["outcome"] == "missing" or not rivals:
                continue
            times = [self.seconds(cell) for cell in rivals]
            best = min((t for t in times if t is not None), default=None)
            mine = self.seconds(own)
            if best is None:
                failed.append(game)
            if mine is None:
                unsolved.append(game)
            if best is not None and (mine is None or mine > best):
                slower.append(game)
            ratios[game] = min((best or limit) / (mine or limit), LARGEST_RATIO)
            groups[game] = own["group"]
        return {
            "tol": self._limits.tol,
            "limit": limit,
            "games": len(ratios),
            "geometric_mean": geometric_mean(ratios.values()),
            "of_groups": {
                group: geometric_mean(r for game, r in ratios.items() if groups[game] == group)
                for group in dict.fromkeys(groups.values())
            },
            "slower_than_the_fastest_peer": slower,
            "auto_fails": unsolved,
            "every_peer_fails": failed,
            "ratios": ratios,
        }

    def rows(self) -> list[Row]:
        """Return the results as rows of suite.csv."""
        ratios = self.summary()["ratios"]
        return [self._row(cell, ratios) for cell in self._cells.values()]

    def _row(self, cell: Cell, ratios: dict[str, float]) -> Row:
        cpu, wall = self.seconds(cell), self.seconds(cell, 2)
        gap = min((g[0] for g in self.gaps(cell)), default=math.inf)
        ratio = ratios.get(cell["game"]) if cell["peer"] == AUTO else None
        limit = min(cell.get("limit", math.inf), self._limits.seconds)
        outcome = cell["outcome"] if cpu is None else "solved"
        if outcome == "limit" and limit < self._limits.seconds:
            outcome = "stopped"
        return {
            "game": cell["game"],
            "group": cell["group"],
            "solver": cell["peer"],
            "kind": cell["kind"],
            "outcome": outcome,
            "cpu_seconds": "" if cpu is None else f"{cpu:.3g}",
            "wall_seconds": "" if wall is None else f"{wall:.3g}",
            "gap": f"{gap:.0e}" if cpu is None and gap < math.inf else "",
            "limit_seconds": f"{limit:.4g}",
            "memory_mb": f"{cell['memory'] / 1e6:.0f}" if "memory" in cell else "",
            "fastest_over_auto": "" if ratio is None else f"{ratio:.4g}",
            "tol": f"{self._limits.tol:g}",
            "version": f"relaxboost {relaxboost.__version__}",
            "date": datetime.datetime.now(datetime.UTC).date().isoformat(),
            "machine": f"{platform.machine()}, Python {platform.python_version()}",
        }

    def markdown(self) -> str:
        """Return the page, and below it the solvers that did not run."""
        absent: set[str] = set()
        crashed: set[str] = set()
        for cell in self._cells.values():
            if cell["outcome"] in ("missing", "unfit"):
                absent.add(f"{cell['peer']}: {cell['reason']}")
            if cell["outcome"] == "crashed":
                crashed.add(f"{cell['peer']} on {cell['game']}: {cell['reason']}")
        lines = [
            *_under("Solvers that are not installed, or do not take a game:", absent),
            *_under("Solvers that crashed; the same command runs them again:", crashed),
        ]
        return "\n".join([page.markdown(self.rows()), *lines])

    def write(self, out: str | os.PathLike[str]) -> Path:
        """Write OUT/suite.csv, OUT/suite.md and OUT/images; return the path of the page."""
        return page.write(self.rows(), os.fspath(out))


def _under(title: str, reasons: Iterable[str]) -> list[str]:
    listed = [f"* {reason}" for reason in sorted(reasons)]
    return [title, "", *listed, ""] if listed else []

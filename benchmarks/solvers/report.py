"""Tables and figures of a benchmark: the time to a certified gap, of every solver."""

from __future__ import annotations

import math
import os
import platform
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from benchmarks.solvers.running import BenchLimits, Cell
from relaxboost._core.errors import InputError
from relaxboost._core.files import write_atomically

AUTO = "auto"
"""The method that is compared with the general solvers."""
LARGEST_RATIO = 1000.0
"""A larger ratio of times counts as this one, so that no single game decides the mean."""


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

    def text(self, cell: Cell, clock: int = 1) -> str:
        """Return the seconds, or why the run ended and at which gap."""
        seconds = self.seconds(cell, clock)
        if seconds is not None:
            return f"{seconds:.2f}"
        gap = min((g[0] for g in self.gaps(cell)), default=math.inf)
        ended: str = cell["outcome"]
        if ended == "limit" and cell.get("limit", math.inf) < self._limits.seconds:
            return f"> {cell['limit']:.2f}"
        why = {"unfit": "–", "ended": "short"}.get(ended, ended)
        return f"{why} ({gap:.0e})" if gap < math.inf else why

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
            "geometric_mean": _mean(ratios.values()),
            "of_groups": {
                group: _mean(r for game, r in ratios.items() if groups[game] == group)
                for group in dict.fromkeys(groups.values())
            },
            "slower_than_the_fastest_peer": slower,
            "auto_fails": unsolved,
            "every_peer_fails": failed,
            "ratios": ratios,
        }

    def markdown(self) -> str:
        """Return a page: the figures, the tables, and the solvers that did not run."""
        s = self.summary()
        limits = self._limits
        compared: list[str] = []
        if s["games"]:
            groups = ", ".join(f"{group} {mean}" for group, mean in s["of_groups"].items())
            compared = [
                "",
                f"* Time of the fastest general solver / time of `auto`, geometric mean of "
                f"{s['games']} games: **{s['geometric_mean']}** ({groups}).",
                f"* `auto` is slower than the fastest general solver on "
                f"{_listed(s['slower_than_the_fastest_peer'])}.",
                f"* `auto` does not reach the gap on {_listed(s['auto_fails'])}.",
                f"* No general solver reaches the gap, so that the limit counts, on "
                f"{_listed(s['every_peer_fails'])}.",
            ]
        absent: set[str] = set()
        crashed: set[str] = set()
        for cell in self._cells.values():
            if cell["outcome"] in ("missing", "unfit"):
                absent.add(f"{cell['peer']}: {cell['reason']}")
            if cell["outcome"] == "crashed":
                crashed.add(f"{cell['peer']} on {cell['game']}: {cell['reason']}")

        def memory(cell: Cell) -> str:
            return f"{cell['memory'] / 1e6:.0f}" if "memory" in cell else ""

        lines = [
            "# The suite",
            "",
            f"Certified gap {limits.tol:g}; at most {limits.seconds:g} s and "
            f"{limits.memory / 1e9:g} GB for each run, one thread; {platform.machine()}, "
            f"Python {platform.python_version()}.",
            "[How it is measured](benchmarks.md#the-suite).",
            *compared,
            *self._table("CPU seconds", self.text, s["ratios"]),
            *self._table("Seconds of wall clock", lambda cell: self.text(cell, 2), {}),
            *self._table("Peak memory, MB", memory, {}),
            *_under("Solvers that are not installed, or do not take a game:", absent),
            *_under("Solvers that crashed; the same command runs them again:", crashed),
        ]
        return "\n".join(lines) + "\n"

    def _table(
        self, title: str, show: Callable[[Cell], str], ratios: dict[str, float]
    ) -> list[str]:
        head = ["game", *self.peers, *(["fastest / auto"] if ratios else [])]
        rows = [head, ["---"] * len(head)]
        for game in self.games:
            cells = [self._cells.get((game, peer)) for peer in self.peers]
            row = [game, *("" if cell is None else show(cell) for cell in cells)]
            if ratios:
                row.append(f"{ratios[game]:.1f}" if game in ratios else "")
            rows.append(row)
        return ["", f"## {title}", "", *(f"| {' | '.join(row)} |" for row in rows)]

    def write(self, out: str | os.PathLike[str]) -> Path:
        """Write OUT/suite.md and return its path."""
        page = Path(out) / "suite.md"
        write_atomically(page, self.markdown().encode())
        return page


def _mean(ratios: Iterable[float]) -> float | None:
    """Return the geometric mean, or None if there are no ratios."""
    logs = [math.log(max(ratio, 1e-9)) for ratio in ratios]
    return round(math.exp(sum(logs) / len(logs)), 3) if logs else None


def _under(title: str, reasons: Iterable[str]) -> list[str]:
    listed = [f"* {reason}" for reason in sorted(reasons)]
    return ["", title, "", *listed] if listed else []


def _listed(names: list[str]) -> str:
    return f"{len(names)}: {', '.join(names)}" if names else "none"

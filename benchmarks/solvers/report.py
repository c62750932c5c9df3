"""What a benchmark came to: tables, the figures of a summary, and the gap against time."""

from __future__ import annotations

import math
import os
import platform
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from relaxboost._core.errors import InputError, check_drawing
from relaxboost._core.files import write_atomically
from relaxboost.testing.bench.running import BenchLimits, Cell
from relaxboost.views import plots

AUTO, LOOSE, MOST = "auto", 1e-2, 1000.0
"""The method that is compared; a loose gap it is also compared at; the largest ratio counted."""
CHEAP = ("column-generation", "pairwise", "smoothed")
"""What `AUTO` is held against at the loose gap."""
_MARKERS = "osD^vPX*"


class Report:
    """The results of solvers on games.

    Parameters
    ----------
    cells : iterable of dict
        What `bench` yields.
    limits : BenchLimits
        Those of the run; what fails counts as ``limits.seconds``.
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
        """Return (gap, CPU seconds, seconds) of each run; the best bound stands in for none."""
        lower, upper = self.bracket(cell["game"])
        found = []
        for p in cell["points"]:
            low = lower if p["lower"] is None and p["upper"] is not None else p["lower"]
            high = upper if p["upper"] is None and p["lower"] is not None else p["upper"]
            gap = math.inf if low is None or high is None else high - low
            found.append((gap, p["cpu"], p["wall"]))
        return found

    def seconds(self, cell: Cell, clock: int = 1) -> float | None:
        """Return the CPU seconds (2: wall clock) of the quickest run to the gap asked for."""
        return min((g[clock] for g in self.gaps(cell) if g[0] <= self._limits.tol), default=None)

    def loose(self, cell: Cell) -> float | None:
        """Return the seconds of wall clock to a gap of `LOOSE`, by the solver's own estimates."""
        done = [s for s, lower, upper in cell["history"] if upper - lower <= LOOSE]
        done += [wall for gap, _, wall in self.gaps(cell) if gap <= LOOSE]
        return min(done, default=None)

    def text(self, cell: Cell, clock: int = 1) -> str:
        """Return seconds, or how far it came and why it ended."""
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
        """Return the figures that the solvers are judged by."""
        limit, ratios, groups = self._limits.seconds, {}, {}
        slower, failed, unsolved = [], [], []
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
            ratios[game] = min((best or limit) / (mine or limit), MOST)
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
            "slower_at_the_loose_gap": self._slower_when_loose(),
            "ratios": ratios,
        }

    def _slower_when_loose(self) -> dict[str, float]:
        """Return how much slower `AUTO` is than the best of `CHEAP` where it is."""
        found = {}
        for game in self.games:
            cells = [self._cells.get((game, name)) for name in (AUTO, *CHEAP)]
            own, *others = [None if cell is None else self.loose(cell) for cell in cells]
            best = min((t for t in others if t is not None), default=None)
            if cells[0] is not None and best is not None and (own is None or own > best):
                found[game] = round((own or self._limits.seconds) / max(best, 1e-9), 2)
        return found

    def markdown(self) -> str:
        """Return a page: figures, tables, and what is to be known of them."""
        s, limits = self.summary(), self._limits
        groups = ", ".join(f"{group} {mean}" for group, mean in s["of_groups"].items())
        loose = ", ".join(
            f"{game} ({ratio})" for game, ratio in s["slower_at_the_loose_gap"].items()
        )
        cheap = ", ".join(peer for peer in self.peers if peer in CHEAP)
        unfit = {
            f"{cell['peer']}: {cell['reason']}"
            for cell in self._cells.values()
            if cell["outcome"] == "missing"
            or (cell["outcome"] == "unfit" and cell["kind"] != "ours")
        }
        crashed = {
            f"{cell['peer']} on {cell['game']}: {cell['reason']}"
            for cell in self._cells.values()
            if cell["outcome"] == "crashed"
        }
        compared: list[str] = []
        if s["games"]:
            compared += [
                f"* Fastest general solver over `auto`, geometric mean of {s['games']} games: "
                f"**{s['geometric_mean']}** ({groups}).",
                f"* `auto` is slower than the fastest on "
                f"{_listed(s['slower_than_the_fastest_peer'])}.",
                f"* `auto` does not get there on {_listed(s['auto_fails'])}.",
                f"* No general solver gets there, so that the limit counts, on "
                f"{_listed(s['every_peer_fails'])}.",
            ]
        if cheap and AUTO in self.peers:
            compared.append(
                f"* At {LOOSE:g} `auto` is slower than the best of {cheap} on {loose or 'none'}."
            )
        lines = [
            "# The suite",
            "",
            f"Certified gap {limits.tol:g}; at most {limits.seconds:g} s and "
            f"{limits.memory / 1e9:g} GB for each run, one thread; {platform.machine()}, "
            f"Python {platform.python_version()}.",
            "[How it is measured](benchmarks.md#the-suite).",
            *(["", *compared] if compared else []),
            "",
            "![gap against time](images/suite.png)",
            *self._table("CPU seconds", self.text, ratio=s["ratios"]),
            *self._table("Seconds of wall clock", lambda cell: self.text(cell, 2)),
            *self._table(
                "Peak memory, MB",
                lambda cell: f"{cell['memory'] / 1e6:.0f}" if "memory" in cell else "",
            ),
            *_under("Not played:", unfit),
            *_under("Crashed, and played again by the same command:", crashed),
        ]
        return "\n".join(lines) + "\n"

    def _table(
        self, title: str, show: Callable[[Cell], str], ratio: dict[str, float] | None = None
    ) -> list[str]:
        head = ["game", *self.peers, *(["fastest / auto"] if ratio else [])]
        rows = [head, ["---"] * len(head)]
        for game in self.games:
            cells = [self._cells.get((game, peer)) for peer in self.peers]
            row = [game, *("" if cell is None else show(cell) for cell in cells)]
            if ratio:
                row.append(f"{ratio[game]:.1f}" if game in ratio else "")
            rows.append(row)
        return ["", f"## {title}", "", *(f"| {' | '.join(row)} |" for row in rows)]

    def picture(self) -> Any:
        """Return a matplotlib figure: for each game, the gap of each solver against time."""
        check_drawing()
        from matplotlib import colormaps
        from matplotlib.figure import Figure
        from matplotlib.ticker import NullFormatter

        across = min(4, len(self.games))
        down = -(-len(self.games) // across)
        figure = Figure(figsize=(4.2 * across, 3.0 * down + 1.0), layout="constrained")
        axes = figure.subplots(down, across, squeeze=False).ravel()
        looks = {
            peer: {"color": colormaps["tab20"](i % 20), "marker": _MARKERS[i % len(_MARKERS)]}
            for i, peer in enumerate(self.peers)
        }
        for axis, game in zip(axes, self.games, strict=False):
            axis.set(xscale="log", yscale="log", ylim=(self._limits.tol / 10, 2.0))
            axis.set(xlabel="seconds", ylabel="gap")
            axis.set_title(game, fontsize="small")
            axis.axhline(self._limits.tol, color="gray", linestyle=":", linewidth=1)
            axis.xaxis.set_minor_formatter(NullFormatter())  # they would overlap
            for peer in self.peers:
                cell = self._cells.get((game, peer))
                curve = [] if cell is None else self._curve(cell)
                if curve:
                    style = "-" if cell and cell["kind"] == "ours" else "--"
                    axis.plot(
                        *zip(*curve, strict=True),
                        style,
                        markersize=4,
                        markevery=max(1, len(curve) // 4),
                        label=peer,
                        **looks[peer],
                    )
            if len(axis.lines) == 1:
                axis.text(0.5, 0.5, "no gap in time", ha="center", transform=axis.transAxes)
        for axis in axes[len(self.games) :]:
            axis.remove()
        known = {
            text: line
            for axis in axes[: len(self.games)]
            for line, text in zip(*axis.get_legend_handles_labels(), strict=True)
        }
        figure.legend(known.values(), known.keys(), loc="outside lower center", ncols=6)
        return figure

    def _curve(self, cell: Cell) -> list[tuple[float, float]]:
        """Return (seconds, gap): a run for each tolerance, or the history of the only one."""
        floor = self._limits.tol / 5
        curve = [(s, upper - lower) for s, lower, upper in cell["history"]]
        curve += [(wall, gap) for gap, _, wall in self.gaps(cell)]
        return [(max(s, 1e-4), max(gap, floor)) for s, gap in curve if gap < math.inf]

    def write(self, out: str | os.PathLike[str]) -> list[Path]:
        """Write OUT/suite.md and OUT/images/suite.png, and return both paths."""
        page, picture = Path(out) / "suite.md", Path(out) / "images" / "suite.png"
        picture.parent.mkdir(parents=True, exist_ok=True)
        plots.save(self.picture(), picture)
        write_atomically(page, self.markdown().encode())
        return [page, picture]


def _mean(ratios: Iterable[float]) -> float | None:
    """Return the geometric mean, None of none."""
    logs = [math.log(max(ratio, 1e-9)) for ratio in ratios]
    return round(math.exp(sum(logs) / len(logs)), 3) if logs else None


def _under(title: str, reasons: Iterable[str]) -> list[str]:
    listed = [f"* {reason}" for reason in sorted(reasons)]
    return ["", title, "", *listed] if listed else []


def _listed(names: list[str]) -> str:
    return f"{len(names)}: {', '.join(names)}" if names else "none"

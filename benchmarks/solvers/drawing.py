"""Pictures of the suite: a performance profile, and the ratio of each game."""

from __future__ import annotations

from typing import Any

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np

from benchmarks.solvers.page import AUTO, LARGEST_RATIO, Row, fastest, ratios

BEST = "the fastest general solver of each game"
STYLES = ("-", "--", "-.", ":")
HATCHES = ("", "//", "..", "xx", "--", "oo")
SHADES = ("#1f4e79", "#d9730d", "#7fb3d5", "#2e7d4f", "#b8860b", "#8c6bb1")
"""Colours of different lightness, so that they differ in grey, too."""


def seconds_by_solver(rows: list[Row]) -> dict[str, dict[str, float]]:
    """Return the CPU seconds of each solver by game; a game that is not solved is left out."""
    games = ratios(rows)
    found: dict[str, dict[str, float]] = {}
    for row in rows:
        times = found.setdefault(row["solver"], {})
        if row["game"] in games and row["outcome"] == "solved":
            times[row["game"]] = float(row["cpu_seconds"])
    own = found[AUTO]
    best = fastest(rows)
    # Short times have few digits, so that the ratio is more precise than the quotient of times.
    found[BEST] = {game: games[game] * own[game] for game in games if game in best and game in own}
    return found


def profile(rows: list[Row]) -> Any:
    """Draw the share of games that each solver solves within a multiple of the fastest time."""
    games = ratios(rows)
    times = seconds_by_solver(rows)
    least = {game: min(t[game] for t in times.values() if game in t) for game in times[AUTO]}
    figure, axes = plt.subplots(figsize=(6.4, 3.8), layout="constrained")
    order = [AUTO, BEST, *(name for name in times if name not in (AUTO, BEST))]
    for i, name in enumerate(order):
        multiples = np.sort(
            [times[name][game] / least[game] for game in times[name] if game in least]
        )
        shares = np.arange(1, multiples.size + 1) / len(games)
        x = np.concatenate([[1.0], np.maximum(multiples, 1.0), [LARGEST_RATIO]])
        y = np.concatenate([[0.0], shares, shares[-1:] if shares.size else [0.0]])
        width = 2.4 if i < 2 else 1.2
        axes.step(x, y, STYLES[i % 4], where="post", color=SHADES[i % 6], lw=width, label=name)
    axes.set(xscale="log", xlim=(0.9, LARGEST_RATIO), ylim=(0.0, 1.02))
    axes.set(xlabel="multiple of the fastest time of the game", ylabel="share of the games solved")
    axes.grid(alpha=0.3)
    figure.legend(fontsize=8, loc="outside upper center", ncols=3)
    return figure


def ratio_bars(rows: list[Row]) -> Any:
    """Draw the ratio of each game as a bar, in the order of size, by group."""
    games = ratios(rows)
    best = fastest(rows)
    group = {row["game"]: row["group"] for row in rows}
    groups = list(dict.fromkeys(group.values()))
    order = sorted(games, key=games.__getitem__)
    figure, axes = plt.subplots(figsize=(6.4, 0.4 + 0.165 * len(order)), layout="constrained")
    seen: set[str] = set()
    with mpl.rc_context({"hatch.linewidth": 0.4}):
        for place, game in enumerate(order):
            i = groups.index(group[game])
            name = "" if group[game] in seen else group[game]
            seen.add(group[game])
            axes.barh(
                place, games[game] - 1.0, left=1.0, color=SHADES[i % 6], hatch=HATCHES[i % 6],
                edgecolor="white", linewidth=0.0, label=name or None,
            )  # fmt: skip
            if game not in best:
                axes.text(games[game] * 1.05, place, "limit", va="center", fontsize=6)
    axes.set_yticks(range(len(order)), order, fontsize=6.5)
    axes.set(xscale="log", xlim=(1.0, 2.2 * LARGEST_RATIO), ylim=(-0.7, len(order) - 0.3))
    axes.tick_params(axis="x", labelsize=8)
    axes.set_xlabel("time of the fastest general solver / time of auto", fontsize=8)
    axes.legend(fontsize=8, loc="lower right", title="games", title_fontsize=8)
    return figure

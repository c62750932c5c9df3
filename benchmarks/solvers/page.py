"""The page of the suite, made from the table of results that stands next to it as a CSV file."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

AUTO = "auto"
"""The method that is compared with the general solvers."""
LARGEST_RATIO = 1000.0
"""A larger ratio of times counts as this one, so that no single game decides the mean."""
COLUMNS = (
    *("game", "group", "solver", "kind", "outcome", "cpu_seconds", "wall_seconds", "gap"),
    *("limit_seconds", "memory_mb", "fastest_over_auto", "tol", "version", "date", "machine"),
)
"""The columns of suite.csv; an empty field was not measured."""
RERUNS = {
    "halfspace-1000000x20-tenth": "a [later run](benchmarks.md#all-stumps-of-large-data) took 585 "
    "seconds"
}
"""What later runs of `auto` reached; becomes empty when suite.csv is measured again."""
NO_FASTER = "None of them is faster than `auto` on any game."
NOTES = {
    "breast-cancer-tenth": " If `rb.reference`, our function that calls HiGHS, counts as a general "
    "solver too, the mean is [about 16](#how-it-was-measured)."
}
"""Sentences for the headline, by a game that they depend on, from separate measurements."""
Row = dict[str, str]
"""The result of one solver on one game, as text."""

HOW = """
## How to read the figures

In the [table of all games](#all-games), "none" means that no general solver proved the gap in time.
An entry such as `limit (2e-05)` has the gap that `auto` proved in time.

[suite.csv](suite.csv) has the CPU seconds, wall clock, peak memory and gap of every run. Its column
`outcome` says how a run ended: `solved`, `limit` (of seconds), `memory` (limit), `ended` (with a
wider gap), `stopped` (another solver was faster, see below) or `unfit` (for another kind of game).

## How it was measured

The command `python -m benchmarks.solvers --limit 600 --race 1.5 --data DIR` repeats all runs.

* Each general solver gets the whole game in the form that suits it, at the tolerances 1e-3, 1e-6
  and 1e-9. The fastest successful run counts.
* When a general solver had proved the gap in t seconds, the others were stopped after 1.5 t + 2
  seconds. This cannot change which solver is the fastest.
* Our function `rb.reference`, which gives HiGHS only some columns at a time, is not one of these
  solvers, and was run separately. On the two games of breast cancer, it took 4 seconds instead of
  55 and 60. With it, the ratios of these games would be 24 and 18 instead of 371 and 293, and the
  mean over the 28 games about 16 instead of 20. On `halfspace-2000x10` and `waveform`, it took
  over 200 seconds.
* Other programs ran beside `breast-cancer`, `halfspace-2000x10` and `uniform`, so these times are
  less reliable.
* Commercial solvers were not compared.
* The solver PIQP was compared only on 30 games, with a limit of 60 seconds. On these games, `auto`
  was 18 times as fast as the fastest of PIQP, HiGHS and Clarabel (8 times on dense games).

## Names of the games

A name such as `noisy-2000x400-third` has three parts: the kind of matrix, its rows and columns (for
stumps and data, examples and features), and the [relaxation](relaxations.md). `hard` is
`HardMargin()`, and `third` to `hundredth` are `Capped(fraction=q)` with q = 1/3 to 1/100. With
`simplex`, it is `Capped(fraction=1/3)`, and the vote w lies in the simplex.

| kind | what the matrix is |
|---|---|
| `signs` | entries −1 and 1, each equally likely |
| `noisy` | like `signs`, but with 9 % of the entries set to 1, or 25 % in `noisy-3000x600` |
| `real`, `uniform` | normal or uniform entries |
| `zero` | like `signs`, with so many examples that ρ = 0 |
| `separable` | some w ≥ 0 has no negative margin |
| `ties`, `duplicated` | many equal entries; many equal rows |
| `planted` | the optimum is known by construction |
| `largest-weight`, `spectral` | like `noisy`, with `NormPenalty(inf, 5)` or a `SpectralRisk` |
| `sparse` | most entries are 0; with `lean`, some of the others are made positive |
| `halfspace`, `waveform` | all stumps of artificial data with two classes |
| names of relaxations, such as `kl-ball` | like `noisy` |
| others | all stumps of a public data set |

| group | games |
|---|---|
| dense, sparse | a stored matrix, and a polyhedral f |
| curved | a stored matrix, and an f that is not polyhedral |
| stumps | all stumps of artificial data or of breast cancer |
| data | all stumps of another public data set |
"""


def to_csv(rows: Iterable[Row]) -> str:
    """Return the rows as the text of a CSV file."""
    text = io.StringIO()
    writer = csv.DictWriter(text, COLUMNS, restval="", lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()


def read_csv(path: str | Path) -> list[Row]:
    """Return the rows of a CSV file that `to_csv` wrote."""
    with open(path, newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def fastest(rows: list[Row]) -> dict[str, Row]:
    """Return, for each game that a general solver solves, the row of the fastest one."""
    found: dict[str, Row] = {}
    for row in rows:
        if row["kind"] == "general" and row["outcome"] == "solved":
            best = found.get(row["game"])
            if best is None or float(row["cpu_seconds"]) < float(best["cpu_seconds"]):
                found[row["game"]] = row
    return found


def ratios(rows: list[Row]) -> dict[str, float]:
    """Return the ratio of each game on which `auto` was compared with a general solver."""
    return {
        row["game"]: float(row["fastest_over_auto"]) for row in rows if row["fastest_over_auto"]
    }


def geometric_mean(values: Iterable[float]) -> float | None:
    """Return the geometric mean, or None if there are no values."""
    logs = [math.log(max(value, 1e-9)) for value in values]
    return round(math.exp(sum(logs) / len(logs)), 3) if logs else None


def short(number: float | None) -> str:
    """Return a number with three digits."""
    if number is None:
        return "–"
    return f"{number:.0f}" if number >= 99.95 else f"{number:.3g}"


def text_of(row: Row | None) -> str:
    """Return the seconds of a run, or why it ended."""
    if row is None:
        return ""
    if row["outcome"] == "solved":
        return f"{float(row['cpu_seconds']):.2f}"
    if row["outcome"] == "stopped":
        return f"> {row['limit_seconds']}"
    why = "–" if row["outcome"] == "unfit" else row["outcome"]
    return f"{why} ({row['gap']})" if row["gap"] else why


def markdown(rows: list[Row]) -> str:
    """Return the page: pictures, the means of groups, how to read them, and a row for each game."""
    first = rows[0]
    limit = max(float(row["limit_seconds"]) for row in rows)
    compared = ratios(rows)
    general = dict.fromkeys(f"`{row['solver']}`" for row in rows if row["kind"] == "general")
    *others, last = general
    solvers = f"{', '.join(others)} and {last}" if others else last
    tol = f"{float(first['tol']):g}".replace("e-0", "e-")
    lines = [
        "# The suite",
        "",
        "How fast do solvers prove the optimum of a [game](game.md)? The suite has "
        f"{len({row['game'] for row in rows})} games. "
        "Each solver has one thread, and "
        f"at most {short(limit)} seconds to prove bounds that differ by at most {tol} (the *gap*). "
        f"relaxboost's default method, `auto`, is compared with general solvers: {solvers}.",
        "",
        *(_comparison(rows, compared, limit) if compared else []),
        f"The runs are of {first['date']} ({first['version']}; {first['machine']})." + _older(rows),
        HOW,
        "## All games",
        "",
        *(_games(rows, compared) if compared else _solvers(rows)),
        "",
    ]
    return "\n".join(lines)


def _older(rows: list[Row]) -> str:
    """Return a sentence that says which runs were taken from an earlier measurement, or ""."""
    old = [row for row in rows if row["date"] < rows[0]["date"]]
    assert all(row["outcome"] != "solved" for row in old)
    if not old:
        return ""
    dates = " and ".join(dict.fromkeys(row["date"] for row in old))
    return f" To save time, {len(old)} failed runs of general solvers were taken from {dates}."


def _comparison(rows: list[Row], compared: dict[str, float], limit: float) -> list[str]:
    """Return the pictures, the table of groups and the headline."""
    best = fastest(rows)
    groups: dict[str, list[str]] = {}
    for row in rows:
        if row["game"] in compared and row["game"] not in groups.setdefault(row["group"], []):
            groups[row["group"]].append(row["game"])
    listed = [(name, games) for name, games in groups.items() if games]
    listed.append(("**all**", list(compared)))
    slower = [game for game, row in best.items() if game in compared and compared[game] < 1.0]
    failed = [
        row["game"]
        for row in rows
        if row["solver"] == AUTO and row["game"] in compared and row["outcome"] != "solved"
    ]
    reruns = "".join(f" ({RERUNS[game]})" for game in failed if game in RERUNS)
    names = _listed([f"`{game}`" for game in failed])
    solved_games = [game for game in compared if game in best]
    solved = geometric_mean(compared[game] for game in solved_games)
    return [
        f"**`auto` is {short(solved)} times as fast as the fastest general solver**, in the "
        f"geometric mean over the {len(solved_games)} games that at least one of them solves. They "
        f"solved none of the other {len(compared) - len(solved_games)} games. "
        + (f"A general solver is faster on {_listed(slower)}." if slower else NO_FASTER)
        + "".join(note for game, note in NOTES.items() if game in solved_games)
        + (f" `auto` did not solve {names} in time{reruns}." if failed else ""),
        "",
        "![The curve of auto is above the curves of all others](images/suite-profile.png)",
        "",
        "*A solver that was not run on a game, or was stopped early, counts as not solving it. So "
        "the curves of general solvers may be too low.*",
        "",
        "![One bar for each game shows its ratio](images/suite-ratios.png)",
        "",
        "The ratio of a game is the CPU time of the fastest general solver divided by that of "
        f"`auto`. If no general solver solved the game, {short(limit)} seconds replace the time. A "
        f"ratio above {LARGEST_RATIO:g} counts as {LARGEST_RATIO:g}. The table has geometric "
        "means ([groups](#names-of-the-games)):",
        "",
        "| group | games | solved by a general solver | ratio on the solved games "
        "| smallest and largest ratio on them | ratio on all games, at least |",
        "|---|---|---|---|---|---|",
        *(
            f"| {name} | {len(games)} | {sum(game in best for game in games)} "
            f"| {short(geometric_mean(compared[game] for game in games if game in best))} "
            f"| {_range([compared[game] for game in games if game in best])} "
            f"| {short(geometric_mean(compared[game] for game in games))} |"
            for name, games in listed
        ),
        "",
    ]


def _games(rows: list[Row], compared: dict[str, float]) -> list[str]:
    """Return a table that compares `auto` with the fastest general solver of each game."""
    best = fastest(rows)
    own = {row["game"]: row for row in rows if row["solver"] == AUTO}
    lines = [
        "| group | game | ratio | `auto`, CPU seconds | fastest general solver, CPU seconds |",
        "|---|---|---|---|---|",
    ]
    for game, group in {row["game"]: row["group"] for row in rows}.items():
        rival = best.get(game)
        theirs = f"{rival['solver']}: {text_of(rival)}" if rival else "none"
        ratio = short(compared[game]) if game in compared else ""
        lines.append(f"| {group} | {game} | {ratio} | {text_of(own.get(game))} | {theirs} |")
    return lines


def _solvers(rows: list[Row]) -> list[str]:
    """Return a table with the CPU seconds of every solver."""
    solvers = list(dict.fromkeys(row["solver"] for row in rows))
    found = {(row["game"], row["solver"]): row for row in rows}
    lines = [f"| game | {' | '.join(solvers)} |", "|---" * (len(solvers) + 1) + "|"]
    for game in dict.fromkeys(row["game"] for row in rows):
        cells = " | ".join(text_of(found.get((game, solver))) for solver in solvers)
        lines.append(f"| {game} | {cells} |")
    return lines


def _range(values: list[float]) -> str:
    return f"{short(min(values))} to {short(max(values))}" if values else "–"


def _listed(names: list[str]) -> str:
    return f"{len(names)} ({', '.join(names)})" if len(names) > 1 else "".join(names)


def draw(rows: list[Row], save: Callable[[Any, str], None]) -> None:
    """Draw the performance profile and the ratios; `save` takes a figure and a name."""
    from benchmarks.solvers.drawing import profile, ratio_bars

    save(profile(rows), "suite-profile")
    save(ratio_bars(rows), "suite-ratios")


def write(rows: list[Row], out: str | Path) -> Path:
    """Write suite.csv, suite.md and the pictures into a folder; return the path of the page."""
    from relaxboost._core.files import write_atomically

    folder = Path(out)
    write_atomically(folder / "suite.csv", to_csv(rows).encode())
    page = folder / "suite.md"
    write_atomically(page, markdown(rows).encode())
    if ratios(rows):
        (folder / "images").mkdir(exist_ok=True)
        try:
            draw(
                rows,
                lambda figure, name: figure.savefig(folder / "images" / f"{name}.png", dpi=110),
            )
        except ImportError:
            print("the pictures of the suite need matplotlib: pip install '.[plots]'")
    return page


if __name__ == "__main__":  # renew a page from its table: python -m benchmarks.solvers.page docs
    import sys

    write(read_csv(Path(sys.argv[1]) / "suite.csv"), sys.argv[1])

"""One thing has one name: what was renamed is nowhere left under the name it had."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
SUFFIXES = {".py", ".pyi", ".md", ".toml", ".yml", ""}
# The changelog says what became of old names; frozen files hold them; this test lists them.
LEFT_ALONE = ("CHANGELOG.md", "tests/golden/", "tests/test_names.py", "LICENSE")

ROOMS = [
    "bounds",
    "cli",
    "compiled",
    "datasets",
    "ensembles",
    "errors",
    "files",
    "intervals",
    "maps",
    "models",
    "outer",
    "parameters",
    "plots",
    "projections",
    "readers",
    "references",
    "rounding",
    "solution",
]
MODULES = [
    "certificates.emit",
    "certificates.forms",
    "certificates.making",
    "certificates.optimum",
    "certificates.rational",
    "certificates.simplex",
    "certificates.spell",
    "claims.attacking",
    "claims.checking",
    "claims.ledger",
    "commands.bench",
    "claims.pictures",
    "claims.prose",
    "claims.report",
    "claims.worker",
    "commands.plan_eval",
    "game.domains.refused",
    "planning.folds",
    "planning.learners",
    "planning.maps.drawing",
    "planning.optimisers",
    "planning.planners.astar",
    "planning.planners.bellman_ford",
    "planning.planners.dijkstra",
    "planning.planners.shortest",
    "relaxations.pairs",
    "relaxations.shares",
    "relaxations.stacking",
    "solvers.pair",
    "solvers.plan",
    "testing.bench",
    "testing.habits",
]
OLD = [
    rf"\b(?:rb|relaxboost)\.(?:{'|'.join(ROOMS)})\b(?!\()",
    rf"\brelaxboost/(?:{'|'.join(ROOMS)})(?:/|\.py)",
    rf"\brelaxboost\.(?:{'|'.join(map(re.escape, MODULES))})\b",
    r"\bappendix_b\b",
    r"\bKLBallWitness\b",
    r"\bOuterSet\b",
    r"\bouter set",
    r"\bReferenceSet\b",
    r"\bClaimRecord\b",
    r"relaxboost reference (?:make|check)",
    r"\brelaxboost_reference\b",
    r"\bTotallyCorrective(?:LP|Conic|Smoothed)\b",
    r"_projections[./](?:plateau|narrowing)\b",
    r"\bFrankWolfe\b",
    r"\bOPTIMISERS\b",
    r"\bplan eval\b",
    r"\brelaxboost (?:bench|reproduce)\b",
    r"(?<![\w-])--arcs\b",
    r"\b(?:pl|planning)\.(?:Subgradient|Exponentiated|AStar|BellmanFord|BySign|Dijkstra)\b",
]


def texts() -> list[tuple[str, str]]:
    """Return the texts of the repository; without git, of its folders."""
    listed = subprocess.run(
        ["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=False
    ).stdout.split()
    folders = ("relaxboost", "tests", "docs", "examples", "benchmarks")
    names = listed or [
        str(path.relative_to(ROOT)) for folder in folders for path in (ROOT / folder).rglob("*")
    ]
    chosen = [
        name
        for name in names
        if not name.startswith(LEFT_ALONE)
        and Path(name).suffix in SUFFIXES
        and (ROOT / name).is_file()
    ]
    return [(name, (ROOT / name).read_text(encoding="utf-8")) for name in chosen]


TEXTS = texts()


def test_texts_are_read():
    names = {name for name, _ in TEXTS}
    assert {"README.md", "relaxboost/__init__.pyi", "docs/game.md", "Makefile"} <= names


def test_no_old_name_is_left():
    pattern = re.compile("|".join(OLD))
    found = [
        f"{name}:{number}: {line.strip()[:90]}"
        for name, text in TEXTS
        if pattern.search(text)
        for number, line in enumerate(text.splitlines(), 1)
        if pattern.search(line)
    ]
    assert not found


@pytest.mark.parametrize(
    "line", ["rb.references.load(x)", "from relaxboost.bounds import evaluate_lower"]
)
def test_an_old_name_is_seen(line):
    assert re.search("|".join(OLD), line)

"""Build the wheel and the sdist, install each where nothing else is, and use them from there.

    python .ci/release_check.py

From a folder outside the checkout: the README's Python block prints what the README says, the
command line solves, and what an extra brings is refused with the command that installs it.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")
REFUSED = {
    "solve --dataset breast-cancer --k 56 --plot a.png": "pip install 'matplotlib",
    "solve data.csv --label y --relaxation KLPenalty(1) --certificate a.json": "'python-flint>=",
    "solve data.parquet --label y": "'pyarrow>=",
    "online run data.parquet --label y": "'pyarrow>=",
    "plan boost --edges edges.csv --trips trips.csv --learner trees": "pip install 'lightgbm",
}
"""Command lines that need an extra, and what they are told."""
FILES = {
    "data.csv": "a,b,y\n1,2,1\n2,1,0\n3,4,1\n5,1,0\n",
    "data.parquet": "PAR1",
    "edges.csv": "from,to,length,dark\nA,B,1,0\nB,C,2,1\nC,A,1,0\nA,C,4,0\n",
    "trips.csv": "name,path\none,A C\ntwo,C A B\n",
}


def run(*command: object, status: int = 0, **options: object) -> subprocess.CompletedProcess[str]:
    """Run a command without this checkout on its path; stop where it ends otherwise."""
    env = {k: v for k, v in os.environ.items() if k not in {"PYTHONPATH", "PYTHONHOME"}}
    words = [str(one) for one in command]
    done = subprocess.run(words, capture_output=True, text=True, env=env, check=False, **options)
    if done.returncode != status:
        sys.exit(f"{' '.join(words)}\nended with {done.returncode}\n{done.stdout}{done.stderr}")
    return done


def installed(folder: Path, *what: object) -> Path:
    """Return the programs of a new environment that holds `what`."""
    run(sys.executable, "-m", "venv", folder)
    pip = [folder / "bin" / "python", "-m", "pip", "install", "--quiet", "--no-compile"]
    run(*pip, "--disable-pip-version-check", *what)
    return folder / "bin"


def used(programs: Path, folder: Path) -> None:
    """Use an installation from a folder of its own."""
    folder.mkdir()
    for name, text in FILES.items():
        (folder / name).write_text(text, encoding="utf-8")
    python, relaxboost = programs / "python", programs / "relaxboost"
    where = run(python, "-c", "import relaxboost; print(relaxboost.__file__)", cwd=folder).stdout
    assert Path(where).is_relative_to(programs.parent), where
    block, printed = re.findall(
        r"```(?:python)?\n(.*?)```", README.split("<!-- the test")[1], re.S
    )[:2]
    said = run(python, "-c", block, cwd=folder).stdout
    assert said == printed, (said, printed)
    solve = ["solve", "data.csv", "--label", "y", "--certificate", "made.json"]
    assert "<= rho <=" in run(relaxboost, *solve, cwd=folder).stdout
    assert "accepted, exact" in run(relaxboost, "check", "made.json", cwd=folder).stdout
    learned = run(
        relaxboost, "online", "run", "data.csv", "--label", "y", "--classes", "0,1", cwd=folder
    )
    assert "4 examples" in learned.stdout, learned.stdout
    doctor = run(relaxboost, "doctor", cwd=folder).stdout
    assert all(f"-m pip install '{name}" in doctor for name in ("python-flint", "matplotlib"))
    for line, remedy in REFUSED.items():
        said = run(relaxboost, *line.split(), status=2, cwd=folder).stderr
        assert remedy in said, (line, said)
        assert len(said.splitlines()) == 1, (line, said)


def main() -> None:
    """Check a release made of this checkout."""
    start = time.perf_counter()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        build = installed(folder / "build", "hatchling")
        run(build / "python", "-m", "hatchling", "build", "-d", folder / "dist", cwd=ROOT)
        made = sorted((folder / "dist").iterdir())
        assert [one.suffix for one in made] == [".whl", ".gz"], made
        for number, file in enumerate(made):
            used(installed(folder / f"empty{number}", file), folder / f"work{number}")
            print(f"{file.name} works, {time.perf_counter() - start:.0f} s", flush=True)


if __name__ == "__main__":
    main()

"""pytest within pytest, with the plugins of the package."""

from __future__ import annotations

import os
import subprocess
import sys
import tomllib
from pathlib import Path

import relaxboost as rb

ROOT = Path(rb.__file__).parent.parent


def entry_points(folder):
    """Make the entry points of pyproject.toml known in a folder, whatever is installed."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    info = folder / "relaxboost-0.0.0.dist-info"
    info.mkdir()
    points = project["entry-points"]["pytest11"]
    lines = [f"{name} = {module}" for name, module in points.items()]
    (info / "entry_points.txt").write_text("\n".join(["[pytest11]", *lines]) + "\n")
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: relaxboost\nVersion: 0.0.0\n")
    return folder


def run(installed, folder, *arguments, **variables):
    """Run pytest in a folder."""
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-W", "error"]
    command += ["-p", "no:hypothesispytest"]  # which takes longer to start than all the rest
    # In a process that starts pytest within pytest, its settings are not the outer ones.
    env = {k: v for k, v in os.environ.items() if not k.startswith(("PYTEST", "COV"))}
    paths = [str(installed), str(ROOT), env.get("PYTHONPATH", "")]
    env |= {"PYTHONPATH": os.pathsep.join(filter(None, paths)), **variables}
    env["PYTHONDONTWRITEBYTECODE"] = "1"
    return subprocess.run(
        [*command, *map(str, arguments)],
        capture_output=True,
        text=True,
        cwd=folder,
        env=env,
        timeout=300,
        check=False,
    )

"""The page that checks certificates in the browser, and Python for browsers that it runs."""

import gzip
import json
from pathlib import Path
from typing import Any

import relaxboost as rb
from relaxboost.certificates import check

PYODIDE = Path(__file__).parents[1] / "checker" / "node_modules" / "pyodide"
"""Where `npm ci` puts it; without it the page says that Python cannot be loaded."""

SERVED = ("pyodide.mjs", "pyodide.asm.mjs", "pyodide-lock.json", "python_stdlib.zip")


def served() -> dict[str, bytes]:
    """Return the files that the page loads, by their paths in the documentation."""
    solution = rb.reference(rb.Game([[0.5, 0.9], [-0.7, 0.3]], rb.Capped(k=1.5)))
    example = rb.certify(solution, level="exact").document
    found = {
        f"checker/{name}": Path(check.__file__).with_name(name).read_bytes()
        for name in ("check.py", "check_enclosed.py")
    }
    found["checker/example.json"] = json.dumps(example, indent=1).encode()
    if PYODIDE.exists():
        found |= {f"checker/pyodide/{name}": (PYODIDE / name).read_bytes() for name in SERVED}
        packed = gzip.compress((PYODIDE / "pyodide.asm.wasm").read_bytes(), mtime=0)
        found["checker/pyodide/pyodide.asm.wasm.packed"] = packed
    return found


def on_files(files: Any, config: Any, **_: object) -> Any:
    """Add the files."""
    from mkdocs.structure.files import File  # which the tests do without

    for path, content in served().items():
        files.append(File.generated(config, path, content=content))
    return files

"""Certificates: the time to make one, to check it, and the size of the file.

Run: python benchmarks/certificates.py
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from common import cancer, machine, table

import relaxboost as rb
from relaxboost.certificates import check
from relaxboost.certificates.certificate import matrix_text


def games() -> list[tuple[str, rb.Game, np.ndarray]]:
    """Return (name, game, the rows that the checker is given)."""
    rng = np.random.default_rng(0)
    signs = rng.choice([-1, 1], (10_000, 1_000)).astype(np.int8)
    doubles = rng.uniform(-1.0, 1.0, (1_000, 200))
    stumps = cancer()
    return [
        ("signs", rb.Game(signs, rb.Capped(k=1_000)), signs),
        ("doubles", rb.Game(doubles, rb.Capped(k=100)), doubles),
        ("doubles", rb.Game(doubles, rb.NormPenalty(2, 0.5)), doubles),
        ("doubles", rb.Game(doubles, rb.KLPenalty(0.1)), doubles),
        ("stumps", rb.Game(stumps, rb.Capped(fraction=0.1)), stumps.data()),
    ]


def main() -> None:
    machine()
    rng = np.random.default_rng(1)
    rows = []
    warm = rb.Game(np.eye(3), rb.KLPenalty(1))
    rb.certify(rb.solve(warm)).check()
    for name, game, given in games():
        d, w = rng.dirichlet(np.ones(game.m)), rng.normal(size=game.n)
        made = []
        for _ in range(3):
            start = time.perf_counter()
            certificate = rb.certify(game, d=d, w=w, inline=False)
            made.append(time.perf_counter() - start)
        with tempfile.TemporaryDirectory() as folder:
            path, matrix = Path(folder) / "c.json", Path(folder) / "A.csv"
            certificate.save(path)
            matrix.write_text("\n".join(matrix_text(given)) + "\n")
            start = time.perf_counter()
            command = [sys.executable, check.__file__, str(path), "--matrix", str(matrix)]
            subprocess.run(command, check=True, capture_output=True)
            checked = time.perf_counter() - start
            size = path.stat().st_size
        cells = (f"{min(made):.2f}", f"{checked:.2f}", f"{checked / min(made):.1f}", size // 1000)
        rows.append((name, f"{game.m} x {game.n}", game.relaxation, certificate.level, *cells))
    header = ("A", "m x n", "f", "level", "to make, s", "to check, s", "ratio", "kB")
    table("certificates, at random d and w (every column has weight)", header, rows)


if __name__ == "__main__":
    main()

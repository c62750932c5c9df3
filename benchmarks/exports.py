"""Exported certificates of random games, given to other people's checkers.

The games take every polyhedral family of the package and every domain with a linear description.
Half of the certificates are of random pairs, whose brackets are wide, and half are of exact optima.
VIPR files are read by viprchk, if a path to it is given, and by the grammar of cake_vipr that the
tests repeat; files of certo-math by `certo verify`, if a path to it is given; MPS files by HiGHS.

Run: python benchmarks/exports.py [--count 300] [--viprchk PATH] [--certo PATH]
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import highspy
import numpy as np
from common import machine, table

import relaxboost as rb
from relaxboost.certificates import Certificate, exact_optimum
from relaxboost.certificates.export import exported

sys.path.insert(0, str(Path(__file__).parent.parent))
from tests.certificates.test_polyhedral import POLYHEDRAL
from tests.certificates.vipr_checker import RefusedError, read_vipr
from tests.conformance.families import FAMILIES


def certificates(count: int) -> Iterator[tuple[str, Certificate]]:
    """Yield certificates of random games with the name of their family."""
    rng = np.random.default_rng(0)
    made = [*FAMILIES, *((name, lambda m, f=f: f) for name, f in POLYHEDRAL)]
    families = [(name, make) for name, make in made if make(6).exact_form(6) is not None]
    for i in range(count):
        name, make = families[i % len(families)]
        over = (rb.L1Ball(), rb.Simplex(), rb.L1Ball(2), rb.FullSimplex(3))[i % 4]
        A = rng.uniform(-1, 1, (6, 4)) if i % 3 else rng.integers(-8, 9, (6, 4)) / 8
        game = rb.Game(A, make(6), over=over)
        if i % 2:
            yield name, rb.certify(exact_optimum(game))
        else:
            w = rng.dirichlet(np.ones(4)) * float(over.radius)
            yield name, rb.certify(game, d=rng.dirichlet(np.ones(6)), w=w)


def follows_the_grammar(path: Path) -> bool:
    """Return whether a VIPR file follows the grammar of cake_vipr and proves its range."""
    try:
        read_vipr(path.read_text())
    except RefusedError:
        return False
    return True


def is_solved(path: Path, certificate: Certificate) -> bool:
    """Return whether HiGHS reads an MPS file and its optimum is in the bracket."""
    highs = highspy.Highs()
    highs.setOptionValue("output_flag", False)
    highs.readModel(str(path))
    highs.run()
    value = highs.getObjectiveValue()
    return float(certificate.lower) - 1e-7 <= value <= float(certificate.upper) + 1e-7


def accepts(*command: str) -> bool:
    """Return whether a checker ends with the status 0."""
    return subprocess.run(command, capture_output=True, check=False).returncode == 0


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=300)
    parser.add_argument("--viprchk")
    parser.add_argument("--certo")
    options = parser.parse_args()
    machine()
    given: Counter[str] = Counter()
    accepted: Counter[str] = Counter()
    names = set()
    with tempfile.TemporaryDirectory() as folder:
        for name, certificate in certificates(options.count):
            names.add(name)
            for form in ("vipr", "certo", "mps"):
                for suffix, text in exported(certificate.document, form).items():
                    path = Path(folder) / f"game{suffix}"
                    path.write_text(text)
                    verdicts = {}
                    if form == "vipr":
                        verdicts["grammar of cake_vipr"] = follows_the_grammar(path)
                        if options.viprchk:
                            verdicts["viprchk"] = accepts(options.viprchk, str(path))
                    elif form == "certo" and options.certo:
                        verdicts["certo verify"] = accepts(options.certo, "verify", str(path))
                    elif suffix == ".mps":
                        verdicts["HiGHS"] = is_solved(path, certificate)
                    for checker, verdict in verdicts.items():
                        given[checker] += 1
                        accepted[checker] += verdict
                        if not verdict:
                            print(f"{checker} refuses {form} of {name}")
    rows = [(checker, given[checker], accepted[checker]) for checker in given]
    title = f"{options.count} certificates of {len(names)} families"
    table(title, ("checker", "files", "accepted"), rows)


if __name__ == "__main__":
    main()

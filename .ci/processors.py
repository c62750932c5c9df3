"""Run the numeric tests as other processors would compute them: python .ci/processors.py [NAME ...]

The last bits of a matrix product depend on the processor. OpenBLAS, NumPy and numba choose their
kernels at run time, and environment variables make them choose those of an older processor. Each
environment below runs the tests once and prints one line. The exit status is 1 if a test fails.
"""

from __future__ import annotations

import argparse
import os
import re
import resource
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

import numpy as np

ROOT = Path(__file__).resolve().parent.parent
# These tests compute. The others read, print and compare files, and start the same solvers.
NUMERIC = (
    *(f"tests/{room}" for room in ("relaxations", "game", "solvers", "certificates", "estimators")),
    *(f"tests/{room}" for room in ("functional", "online", "planning", "claims", "golden")),
    "tests/test_docs.py",
    "tests/test_examples.py",
)
CORES = os.cpu_count() or 1


class Processor(NamedTuple):
    """A processor as OpenBLAS, numba and NumPy should see it, and how the tests share this one."""

    blas: str
    """The kernels of OpenBLAS (OPENBLAS_CORETYPE)."""
    numba: str
    """What numba compiles for; `host` is this processor."""
    numpy_without: str
    """NumPy does without its kernels whose feature matches this pattern."""
    threads: int = 1
    """Threads of OpenBLAS and OpenMP."""
    processes_per_core: int = 1
    """With two, tests compete for each core."""


WIDE = "AVX512|X86_V4"
PROCESSORS = {
    "nehalem": Processor("Nehalem", "generic", "."),
    "haswell": Processor("Haswell", "haswell", WIDE),
    "zen": Processor("Zen", "haswell", WIDE, threads=2),
    "skylakex": Processor("SkylakeX", "host", "$^", threads=2),
    "busy": Processor("Haswell", "host", WIDE, processes_per_core=2),
}


def runs_here(processor: Processor) -> bool:
    """Return whether this processor has the instructions of another."""
    found = np.show_config(mode="dicts")["SIMD Extensions"]["found"]
    return processor.blas != "SkylakeX" or any(re.search(WIDE, name) for name in found)


def environment(processor: Processor, cache: str) -> dict[str, str]:
    """Return the variables that make this processor compute as another does."""
    found = np.show_config(mode="dicts")["SIMD Extensions"]["found"]
    variables = {
        "OPENBLAS_CORETYPE": processor.blas,
        "OPENBLAS_NUM_THREADS": str(processor.threads),
        "OMP_NUM_THREADS": str(processor.threads),
        # Machine code compiled for one processor must not be loaded for another.
        "NUMBA_CACHE_DIR": cache,
    }
    # NumPy warns of a feature that this processor lacks, so only those that it has are named.
    without = [name for name in found if re.search(processor.numpy_without, name)]
    if without:
        variables["NPY_DISABLE_CPU_FEATURES"] = " ".join(without)
    if processor.numba != "host":
        variables["NUMBA_CPU_NAME"] = processor.numba
        variables["NUMBA_CPU_FEATURES"] = ""  # those of the named one, instead of those found here
    return variables


def cpu_seconds() -> float:
    """Return the CPU time of all processes that this one has waited for."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def run(name: str, processor: Processor, paths: list[str]) -> bool:
    """Run the tests as on this processor, print a line, and return whether all of them passed."""
    started = cpu_seconds()
    with tempfile.TemporaryDirectory() as cache:
        command = [sys.executable, "-m", "pytest", "--quiet", "--tb=short", "--dist=worksteal"]
        command += [f"--numprocesses={CORES * processor.processes_per_core}", *paths]
        ran = subprocess.run(
            command,
            cwd=ROOT,
            env=os.environ | environment(processor, cache),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
    counts = re.findall(r"\d+ (?:passed|failed|errors?)\b", ran.stdout.strip().rpartition("\n")[2])
    told = ", ".join(counts) or f"pytest ended with status {ran.returncode}"
    print(f"{name}: {told}, {cpu_seconds() - started:.0f} CPU seconds", flush=True)
    if ran.returncode:
        print(ran.stdout, flush=True)
    return ran.returncode == 0


def main() -> int:
    """Run the tests once for each processor named, or for all."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(PROCESSORS)}")
    parser.add_argument("--paths", nargs="+", default=NUMERIC, help="run these tests instead")
    options = parser.parse_args()
    unknown = [name for name in options.names if name not in PROCESSORS]
    if unknown:
        parser.error(f"{unknown[0]} is not one of {', '.join(PROCESSORS)}")
    green = True
    for name in options.names or PROCESSORS:
        if runs_here(PROCESSORS[name]):
            green &= run(name, PROCESSORS[name], list(options.paths))
        else:
            print(f"{name}: not run, this processor has no AVX-512", flush=True)
    return 0 if green else 1


if __name__ == "__main__":
    sys.exit(main())

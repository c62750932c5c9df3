"""Rerun an experiment of Grubb & Bagnell (2011): `python -m benchmarks.reproductions`.

  gb11-fig1: maximum-margin planning with networks of 5 hidden units
  gb11-fig2: ranking hinge with regression stumps
  gb11-fig3: multiclass hinge with multiclass stumps

The command compares naive, repeated and residual projection on training and test sets, against
the number of weak learners. It writes the figure (PNG), the curves (CSV), and a list of the
findings that agree with the paper and of those that do not. Finished runs are stored in OUT/runs:
the same command continues an interrupted run.

The readers look for data in DIR/<set> and in DIR, each file gzipped or not:
  letter       letter-recognition.data (UCI)
  pendigits    pendigits.tra, pendigits.tes (UCI)
  satimage     sat.trn, sat.tst (UCI, Statlog Landsat)
  connect4     connect-4.data (UCI) or connect-4.tsv (PMLB)
  mq2008       S1.txt to S5.txt, or Fold1/train.txt, test.txt ... (LETOR 4.0)
  mslr-web10k  Fold1/train.txt and test.txt ... (Microsoft)
  terrain      zion_srtm_nlcd.npz (arrays elevation_m and nlcd2011 of one shape, 3 arc seconds
               a cell: SRTM and NLCD 2011, Zion National Park)
  borlange     linkIncidence.txt and three more (trips; see readers/borlange.py)

Exit status: 0 done, 2 bad input (if a file is missing, the message names it and its source),
130 interrupted.

Examples:
  python -m benchmarks.reproductions gb11-fig3 --data DIR --quick
  python -m benchmarks.reproductions gb11-fig3 --data DIR --sets letter --learners 500
  python -m benchmarks.reproductions gb11-fig1 --data DIR --learners 60
  python -m benchmarks.reproductions gb11-fig2 --data DIR --seeds 5 --json
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

from benchmarks.common import exit_status
from benchmarks.reproductions.reproducing import Effort, reproduce
from relaxboost._core import progress


def parse(words: list[str] | None) -> argparse.Namespace:
    """Return the options of the command line."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.reproductions",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("figure", help="gb11-fig1, gb11-fig2 or gb11-fig3")
    parser.add_argument(
        "--data", type=Path, help="folder of data; default: the variable RELAXBOOST_DATA"
    )
    parser.add_argument(
        "--sets",
        default="",
        help="data sets, separated by commas; default: terrain,borlange for gb11-fig1, mq2008 for "
        "gb11-fig2, connect4,letter,pendigits,satimage for gb11-fig3",
    )
    parser.add_argument("--learners", type=int, help="weak learners of each run; default: 300")
    parser.add_argument("--seeds", type=int, help="number of splits or folds; default: 3")
    parser.add_argument("--out", type=Path, help="folder of results; default: named as the figure")
    parser.add_argument(
        "--quick", action="store_true", help="take small parts of the data, 60 learners, 2 seeds"
    )
    parser.add_argument(
        "--no-baseline",
        dest="baseline",
        action="store_false",
        help="gb11-fig3: leave out the accuracy of scikit-learn",
    )
    parser.add_argument(
        "--line-search",
        action="store_true",
        help="take the best step along each direction instead of c/sqrt(t)",
    )
    parser.add_argument("--json", action="store_true", help="print data for machines")
    return parser.parse_args(words)


def run(given: argparse.Namespace) -> None:
    """Run the experiment and print the findings."""
    effort = Effort(given.learners, given.seeds, given.quick, given.baseline, given.line_search)
    sets = [name.strip() for name in given.sets.split(",") if name.strip()]
    with progress.bar("running") as bar:
        outcome = reproduce(
            given.figure, given.data, given.out, sets=sets, effort=effort, progress=bar
        )
    if given.json:
        print(json.dumps(outcome.data, indent=2, ensure_ascii=False, allow_nan=False))
    else:
        print(f"{outcome.text}\nwritten: {', '.join(map(str, outcome.files))}")


def main(words: list[str] | None = None) -> int:
    """Run the command; return 0, 2 for bad input, or 130 if interrupted."""
    return exit_status("benchmarks.reproductions", lambda: run(parse(words)), "runs")


if __name__ == "__main__":
    sys.exit(main())

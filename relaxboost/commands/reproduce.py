"""`relaxboost reproduce`: run the experiments of a paper again."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

import relaxboost as rb
from relaxboost.commands.style import kept, show


@click.command(
    epilog="""
\b
Exit status: 0 done, 2 bad input (for data that are missing: which file, and
where to get it), 130 interrupted; the same command goes on.

\b
Data are looked for in DIR/<set> and in DIR, each gzipped or not:
  letter       letter-recognition.data (UCI)
  pendigits    pendigits.tra, pendigits.tes (UCI)
  satimage     sat.trn, sat.tst (UCI, Statlog Landsat)
  connect4     connect-4.data (UCI) or connect-4.tsv (PMLB)
  mq2008       S1.txt to S5.txt, or Fold1/train.txt, test.txt ... (LETOR 4.0)
  mslr-web10k  Fold1/train.txt and test.txt ... (Microsoft)
  terrain      zion_srtm_nlcd.npz (elevation and land cover, see the docs)
  borlange     linkIncidence.txt and three more (trips; readers.read_routes)

\b
Examples:
  relaxboost reproduce gb11-fig3 --data DIR --quick
  relaxboost reproduce gb11-fig3 --data DIR --sets letter --learners 500
  relaxboost reproduce gb11-fig1 --data DIR --learners 60
  relaxboost reproduce gb11-fig2 --data DIR --seeds 5 --json
"""
)
@click.argument("figure", metavar="gb11-fig1|gb11-fig2|gb11-fig3")
@click.option(
    "--data",
    type=click.Path(path_type=Path),
    help="The folder of data. [default: $RELAXBOOST_DATA]",
)
@click.option(
    "--sets",
    help="Which, separated by commas. [default: terrain,borlange; mq2008; "
    "connect4,letter,pendigits,satimage]",
)
@click.option("--learners", type=click.IntRange(2), help="Weak learners of a run. [default: 300]")
@click.option("--seeds", type=click.IntRange(1), help="Splits, or folds. [default: 3]")
@click.option(
    "--out", type=click.Path(path_type=Path), help="A folder. [default: named as the figure]"
)
@click.option("--quick", is_flag=True, help="Small parts of the data, 60 learners, 2 seeds.")
@click.option(
    "--no-baseline",
    "baseline",
    flag_value=False,
    default=True,
    help="gb11-fig3: without scikit-learn's accuracy beside.",
)
@click.option("--line-search", is_flag=True, help="Best steps along directions, not c/√t.")
def reproduce(
    figure: str, data: Path | None, sets: str | None, out: Path | None, as_json: bool, **effort: Any
) -> None:
    """Run an experiment of Grubb & Bagnell (2011) again, on data that you have.

    \b
    gb11-fig1: maximum-margin planning with networks of 5 hidden units.
    gb11-fig2: ranking hinge with regression stumps.
    gb11-fig3: multiclass hinge with multiclass stumps.

    Naive, repeated and residual projection on training and test sets, against the number of weak
    learners: figure (PNG), curves (CSV), and what agrees with the paper and what does not.
    Finished runs are kept in OUT/runs, and the same command goes on after an interruption.
    """
    chosen = [one.strip() for one in (sets or "").split(",") if one.strip()]
    with kept("running") as progress:
        outcome = rb.reproductions.reproduce(
            figure,
            data,
            out,
            sets=chosen,
            effort=rb.reproductions.Effort(**effort),
            progress=progress,
        )
    written = f"written: {', '.join(map(str, outcome.files))}"
    show(as_json, outcome.data, f"{outcome.text}\n{written}")

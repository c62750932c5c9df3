"""The command `relaxboost check`, which prints a verdict on each certificate."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click

import relaxboost as rb
from relaxboost._core.digits import number
from relaxboost._core.errors import InputError
from relaxboost._core.rounding import float_down, float_up, show_bracket
from relaxboost.certificates import Certificate
from relaxboost.certificates.certificate import summary
from relaxboost.commands.style import (
    InputFile,
    Verb,
    check_there,
    matrix_option,
    show,
    spoken_input,
    spoken_matrix,
)


@click.command(
    cls=Verb,
    epilog="""
\b
Exit status: 0 all accepted, 1 one is rejected (with the reason), 2 bad input,
or a file that is no certificate.

\b
Examples:
  relaxboost solve data.csv --label y --certificate margin.json
  relaxboost check margin.json
""",
)
@click.argument("files", type=InputFile(), nargs=-1, required=True, metavar="FILE...")
@matrix_option
def check(files: tuple[Path, ...], matrix: Path | None, as_json: bool) -> None:
    """Check whether certificates prove their bounds, by recomputing all numbers.

    The checker does not rely on any bound stated in the file, and does not optimise. It computes
    both bounds from the other numbers in the file, in rational or in interval arithmetic. The
    checker also runs without relaxboost: see the page "Format of certificates" of the
    documentation, which is the file certificates/FORMAT.md of the package.

    For several files, --json prints a list, and each verdict begins with the name of the file.
    """
    for file in files:
        if file.is_dir():
            raise InputError(
                f"{file} is a folder; name its files, or check a set of games with relaxboost "
                "instances check"
            )
    check_there(*files, matrix)
    found = [_checked(file, matrix) for file in files]
    if len(files) == 1:
        show(as_json, *found[0])
    else:
        lines = [f"{record['file']}: {text}" for record, text in found]
        show(as_json, [record for record, _ in found], "\n".join(lines))
    if not all(record["ok"] for record, _ in found):
        sys.exit(1)


def _checked(file: Path, matrix: Path | None) -> tuple[dict[str, Any], str]:
    """Return the verdict on a certificate as data for --json and as text."""
    verdict = rb.check_certificate(file, matrix)
    # `load` raises for a file that is no certificate, and the exit status is then 2 instead of 1.
    if verdict.level is None and not verdict.ok:
        Certificate.load(file)
    verdict = verdict._replace(reason=spoken_matrix(verdict.reason))
    text = f"REJECTED: {verdict.reason}"
    if verdict.lower is not None and verdict.upper is not None:
        lower = number(verdict.lower)
        # Decimals are rounded outwards, so that the printed bounds are valid.
        below, above = show_bracket(float_down(verdict.lower), float_up(verdict.upper))
        text = f"accepted, {verdict.level}: {below} <= rho <= {above}"
        if verdict.lower == verdict.upper and len(lower) < 60:
            text += f", rho = {lower}"
    record: dict[str, Any] = {"file": spoken_input(str(file)), **verdict._asdict()}
    if verdict.ok:
        game = Certificate.load(file).document["game"]
        record["relaxation"], record["over"] = summary(game["relaxation"]), summary(game["over"])
        size = f"{game['m']} examples and {game['n']} hypotheses"
        text += f"\nof the game with {size}, {record['relaxation']} over {record['over']}"
    return record, text

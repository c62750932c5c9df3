"""`relaxboost certify`: a certificate for the checkers of other people, or for a paper."""

from __future__ import annotations

from pathlib import Path

import click

from relaxboost._core.errors import InputError
from relaxboost._core.files import check_output, write_atomically
from relaxboost.certificates import Certificate
from relaxboost.certificates.export import FORMS
from relaxboost.commands.style import (
    InputFile,
    check_there,
    matrix_option,
    show,
    spoken_input,
    spoken_matrix,
)


@click.command(
    epilog="""
\b
Exit status: 0 written, 2 bad input, or a certificate that is not accepted.

\b
Examples:
  relaxboost solve data.csv --label y --certificate margin.json
  relaxboost certify margin.json --format vipr
  viprchk margin.lower.vipr
"""
)
@click.argument("file", type=InputFile())
@click.option(
    "--format",
    "form",
    type=click.Choice(FORMS),
    required=True,
    help="vipr: two files, one derives each bound; lean: a file for LPVerify; latex: half a page.",
)
@matrix_option
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    help="The files' name, to which endings are added; by default that of FILE.",
)
def certify(file: Path, form: str, matrix: Path | None, out: Path | None, as_json: bool) -> None:
    """Write a certificate in a form that needs no trust in this package.

    The certificate is checked first. It has to be of the level exact.
    """
    check_there(file, matrix)
    if out is None and spoken_input(str(file)) != str(file):
        raise InputError("standard input has no name for the files; give --out")
    stem = file.with_suffix("") if out is None else out
    if out is not None and out.suffix == {"latex": ".tex"}.get(form, f".{form}"):
        stem = out.with_name(out.stem)  # the ending is added again
    if not stem.name:
        raise InputError(f"--out {stem} names a folder; give the name of the files in it")
    if str(out) == "-" and (as_json or form == "vipr"):
        raise InputError("--out - takes one thing only, lean or latex without --json; give a name")
    check_output(stem.with_name(f"{stem.name}.{form}"))
    try:
        texts = Certificate.load(file).export(form, matrix)
    except InputError as error:
        raise InputError(spoken_matrix(str(error))) from None
    if str(out) == "-":
        click.echo("".join(texts.values()), nl=False)
        return
    written = {str(stem.with_name(stem.name + suffix)): text for suffix, text in texts.items()}
    for name, text in written.items():
        write_atomically(check_output(name), text.encode())
    content = {"file": spoken_input(str(file)), "written": list(written)}
    show(as_json, content, "\n".join(written))

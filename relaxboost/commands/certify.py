"""The command `relaxboost certify`, which exports certificates for other checkers and for
papers."""

from __future__ import annotations

from pathlib import Path

import click

from relaxboost._core.errors import InputError
from relaxboost._core.files import check_output, write_atomically
from relaxboost.certificates import Certificate
from relaxboost.certificates.export import FORMS
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
Exit status: 0 written, 2 bad input, or a certificate that is not accepted.

\b
Examples:
  relaxboost solve data.csv --label y --certificate margin.json
  relaxboost certify margin.json --format vipr
  viprchk margin.lower.vipr
""",
)
@click.argument("file", type=InputFile())
@click.option(
    "--format",
    "form",
    type=click.Choice(FORMS),
    required=True,
    help="vipr: two files, one for the proof of each bound; lean: a file for LPVerify; latex: half "
    "a page for a paper; certo: a file for certo verify; mps: the linear program and its points.",
)
@matrix_option
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    help="The name of the output files, without suffixes. By default, it is the name of FILE. "
    "Existing files are overwritten.",
)
def certify(file: Path, form: str, matrix: Path | None, out: Path | None, as_json: bool) -> None:
    """Convert a certificate to a format that other checkers read.

    The certificate must have the level 'exact', and is checked first.
    """
    check_there(file, matrix)
    stem = _stem(file, form, out)
    if str(out) == "-" and (as_json or form in ("vipr", "mps")):
        raise InputError(
            "--out - writes a single file to standard output, so it cannot be used with --json, "
            "vipr or mps; pass a file name to --out"
        )
    # The folder is checked before the certificate, whose check may take long.
    first = ".lower" if form == "vipr" else ""
    check_output(stem.with_name(stem.name + first + _ending(form)))
    try:
        texts = Certificate.load(file).export(form, matrix)
    except InputError as error:
        raise InputError(spoken_matrix(str(error))) from None
    if str(out) == "-":
        click.echo("".join(texts.values()), nl=False)
        return
    # Some formats consist of several files with different endings.
    written = {str(stem.with_name(stem.name + suffix)): text for suffix, text in texts.items()}
    for name, text in written.items():
        write_atomically(check_output(name), text.encode())
    content = {"file": spoken_input(str(file)), "written": list(written)}
    show(as_json, content, "\n".join(written))


def _stem(file: Path, form: str, out: Path | None) -> Path:
    if out is None:
        if spoken_input(str(file)) != str(file):
            raise InputError(
                "a certificate from standard input has no name for its files; pass a name to --out"
            )
        return file.with_suffix("")
    # If the user typed the ending of the file, the ending is not added a second time.
    if not out.name:
        raise InputError(f"--out {out} is a folder; add a file name in this folder")
    return out.with_name(out.name.removesuffix(_ending(form)) or out.name)


def _ending(form: str) -> str:
    return {"latex": ".tex", "certo": ".certo.json"}.get(form, f".{form}")

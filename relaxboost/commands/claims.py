"""`relaxboost claims`: list, check and attack the claims of papers."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, closing, contextmanager, nullcontext
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING

import click

from relaxboost.commands import claims_text as text
from relaxboost.errors import InputError

if TYPE_CHECKING:
    from rich.progress import Progress

    from relaxboost.claims import Claim, Failure, Source, Unchecked, Verdict
    from relaxboost.claims.running import Results


@click.group()
def claims() -> None:
    """Check the claims of papers on instances whose optima are certified.

    Each claim is on record as holding or as failing, with counterexamples and with corrections
    where there are any. A pattern stands for many ids: 'SS09-T*'.
    """


_FILE = click.option(
    "--file",
    type=click.Path(path_type=Path),
    help="A Python file with claims of your own, in place of those built in.",
)
_SOURCE = click.option("--source", help="The claims of one source, e.g. SS09.")
_SEED = click.option(
    "--seed",
    type=click.IntRange(0),
    default=0,
    show_default=True,
    help="The same seed gives the same instances.",
)
_TRIALS = click.option(
    "--trials",
    type=click.IntRange(1),
    help="Instances to draw for each claim. [default: as many as each claim says]",
)
_JOBS = click.option(
    "--jobs",
    type=click.IntRange(1),
    help="Processes; what they find does not depend on it. [default: 2, with one core 1]",
)
_JSON = click.option("--json", "as_json", is_flag=True, help="Print data for machines.")
_EXIT = """
\b
Exit status: 0 every verdict is the one on record, 1 one differs or not all were reached, 2 bad
input, 130 interrupted before there was anything to print.
"""


@claims.command(
    "list",
    epilog="""
\b
Examples:
  relaxboost claims list
  relaxboost claims list 'SS09-T*' --json
""",
)
@click.argument("ids", nargs=-1, metavar="[ID]...")
@_SOURCE
@_FILE
@_JSON
def list_(ids: tuple[str, ...], source: str | None, file: Path | None, as_json: bool) -> None:
    """List claims with their status on record, and the statements that cannot be checked."""
    chosen, unchecked = _chosen(ids, source, file)
    if as_json:
        content = {
            "claims": [text.entry(claim) for claim in chosen],
            "unchecked": [vars(statement) for statement in unchecked],
        }
        click.echo(json.dumps(content, indent=2, ensure_ascii=False))
    else:
        text.echo(text.listed(chosen, unchecked))


@claims.command(
    epilog="""
\b
Example:
  relaxboost claims show SS09-T9
"""
)
@click.argument("id")
@_FILE
def show(id: str, file: Path | None) -> None:
    """Show a claim: statement, hypotheses, counterexamples, corrections, and where its code is."""
    chosen, unchecked = _chosen((id,), None, file)
    for claim in chosen:
        text.echo(text.shown(claim))
    for statement in unchecked:
        text.echo(text.not_checked(statement))


@claims.command(
    epilog=_EXIT
    + """
\b
Examples:
  relaxboost claims check SS09-T9 --trials 20
  relaxboost claims check --source SS09 --json
  relaxboost claims check 'SS09-T*' --seed 1 --certificates proofs
  relaxboost claims check --file test_claims.py
"""
)
@click.argument("ids", nargs=-1, metavar="[ID]...")
@_SOURCE
@_FILE
@_TRIALS
@_SEED
@_JOBS
@click.option(
    "--certificates",
    type=click.Path(path_type=Path),
    help="A folder for the certificate of every optimum used, for relaxboost check.",
)
@_JSON
def check(
    ids: tuple[str, ...],
    source: str | None,
    file: Path | None,
    trials: int | None,
    seed: int,
    jobs: int | None,
    certificates: Path | None,
    as_json: bool,
) -> None:
    """Check claims, all of them by default, and say whether the verdicts are those on record.

    A check starts with the counterexamples on record, which must refute the claim, and goes on to
    random and structured instances; corrections must hold on all of them. For each claim: the
    instances that meet its hypotheses, the certified optima used, the slack (right − left over
    |left| + |right|) where it is least, and the inequality there.
    """
    from relaxboost.claims import check_all

    chosen = _checkable(ids, source, file)
    table = text.Table(chosen)
    with _bar("checking", len(chosen)) as bar:
        runs = check_all(
            chosen, trials, seed, certificates=certificates, jobs=jobs, progress=bar.show
        )
        head = [] if as_json else [table.head()]
        outcomes, seconds = _follow(runs, bar, head, None if as_json else table.rows)
    _finish(outcomes, len(chosen), seconds, as_json)


@claims.command(
    epilog=_EXIT
    + """
A claim on record as failing whose counterexample is not found again differs too: try a larger
budget.

\b
Examples:
  relaxboost claims attack SS09-T9-rounds --budget 200
  relaxboost claims attack 'SS09-T9*' --budget 500 --seed 1
"""
)
@click.argument("ids", nargs=-1, required=True, metavar="ID...")
@_FILE
@click.option(
    "--budget",
    type=click.IntRange(1),
    default=2000,
    show_default=True,
    help="Instances to try for each statement; shrinking may take as many again.",
)
@_SEED
@_JOBS
@_JSON
def attack(
    ids: tuple[str, ...],
    file: Path | None,
    budget: int,
    seed: int,
    jobs: int | None,
    as_json: bool,
) -> None:
    """Search for an instance that refutes a claim or a correction, and shrink what is found.

    The counterexamples on record are not used: the search starts from nothing.
    """
    from relaxboost.claims import attack_all

    chosen = _checkable(ids, None, file)
    with _bar("attacking", len(chosen)) as bar:
        runs = attack_all(chosen, budget, seed, jobs=jobs, progress=bar.show)
        outcomes, seconds = _follow(runs, bar, [], None if as_json else _in_full)
    _finish(outcomes, len(chosen), seconds, as_json)


@claims.command(
    epilog=_EXIT
    + """
\b
Examples:
  relaxboost claims report -o report.html
  relaxboost claims report 'SS09-T9*' --trials 20 -o report.html
"""
)
@click.argument("ids", nargs=-1, metavar="[ID]...")
@click.option("-o", "--out", required=True, type=click.Path(path_type=Path), help="An HTML file.")
@_SOURCE
@_FILE
@_TRIALS
@_SEED
@_JOBS
def report(
    ids: tuple[str, ...],
    out: Path,
    source: str | None,
    file: Path | None,
    trials: int | None,
    seed: int,
    jobs: int | None,
) -> None:
    """Check claims and write what was found as a page that needs no network."""
    from relaxboost.claims import Failure, check_all
    from relaxboost.claims.report import write_report
    from relaxboost.files import check_output

    check_output(out, (".html", ".htm"))
    chosen = _checkable(ids, source, file)
    with _bar("checking", len(chosen)) as bar:
        runs = check_all(chosen, trials, seed, jobs=jobs, progress=bar.show)
        outcomes, seconds = _follow(runs, bar, [], None)
    verdicts = [outcome for outcome in outcomes if not isinstance(outcome, Failure)]
    for outcome in outcomes:
        if isinstance(outcome, Failure):
            click.echo(f"relaxboost: not in the report: {outcome}", err=True)
    if verdicts:
        reached = {verdict.id for verdict in verdicts}
        listed = [claim for claim in chosen if claim.id in reached]
        write_report(verdicts, out, listed, _chosen(ids, source, file)[1])
        click.echo(f"report:     {out}")
    _finish(outcomes, len(chosen), seconds, False)


def _known(source: str | None, file: Path | None) -> tuple[list[Claim], list[Source]]:
    """Return all claims, and their sources."""
    from relaxboost.claims import all as built_in
    from relaxboost.claims import load, sources

    if file is not None:
        if source is not None:
            raise InputError("--source is for the claims built in, and --file for your own")
        found = load(file)
        return found, list(dict.fromkeys(claim.source for claim in found))
    found = built_in(source)
    return found, [known for known in sources() if source in (None, known.key)]


def _chosen(
    ids: tuple[str, ...], source: str | None, file: Path | None
) -> tuple[list[Claim], list[Unchecked]]:
    """Return the claims, and the statements that cannot be checked, that patterns name."""
    from relaxboost.claims import select

    known, known_sources = _known(source, file)
    unchecked = [statement for s in known_sources for statement in s.not_checked]
    if not ids:
        return known, unchecked
    for_claims = [id for id in ids if not any(fnmatchcase(u.id, id) for u in unchecked)]
    if for_claims:
        select(for_claims, known)  # which says what is near an id that is not there
    chosen = [c for c in known if any(fnmatchcase(c.id, id) for id in ids)]
    return chosen, [u for u in unchecked if any(fnmatchcase(u.id, id) for id in ids)]


def _checkable(ids: tuple[str, ...], source: str | None, file: Path | None) -> list[Claim]:
    chosen, unchecked = _chosen(ids, source, file)
    if not chosen:
        raise InputError(f"{unchecked[0].id} cannot be checked: {unchecked[0].reason}")
    return chosen


def _follow(
    runs: Results,
    bar: _Bar,
    head: list[str],
    rows: Callable[[Verdict | Failure], Iterator[str]] | None,
) -> tuple[list[Verdict | Failure], float]:
    """Print outcomes as they come; return those that came before the end, or before Ctrl-C."""
    start = time.perf_counter()
    outcomes: list[Verdict | Failure] = []
    try:
        with closing(runs):
            for _, outcome in runs:
                outcomes.append(outcome)
                if rows is not None:
                    with bar.aside():
                        for line in (*head, *rows(outcome)):
                            click.echo(line)
                    head = []
    except KeyboardInterrupt:
        pass
    return outcomes, time.perf_counter() - start


def _in_full(outcome: Verdict | Failure) -> Iterator[str]:
    yield str(outcome)


def _finish(outcomes: list[Verdict | Failure], asked: int, seconds: float, as_json: bool) -> None:
    """Print the summary, or the data, and end with the status."""
    if not outcomes:
        raise click.Abort
    if as_json:
        content = [outcome.data() for outcome in outcomes]
        click.echo(json.dumps(content, indent=2, ensure_ascii=False, allow_nan=False))
    else:
        click.echo(text.summary(outcomes, asked, seconds))
    if len(outcomes) < asked or not all(outcome.agrees for outcome in outcomes):
        sys.exit(1)


class _Bar:
    """Progress, where nobody watches: none."""

    def show(self, finished: int, total: int, id: str) -> None:
        """Say how far it is."""

    def aside(self) -> AbstractContextManager[None]:
        """Clear the way for lines on standard output."""
        return nullcontext()


class _Terminal(_Bar):
    """Progress on a terminal."""

    def __init__(self, progress: Progress, total: int) -> None:
        self.progress = progress
        self.task = progress.add_task("", total=total)

    def show(self, finished: int, total: int, id: str) -> None:
        """Move the bar on."""
        self.progress.update(self.task, completed=finished, description=id)

    @contextmanager
    def aside(self) -> Iterator[None]:
        """Take the bar away for a while."""
        self.progress.stop()
        yield
        self.progress.start()


@contextmanager
def _bar(label: str, total: int) -> Iterator[_Bar]:
    if not sys.stderr.isatty():
        yield _Bar()
        return
    from rich import progress as rich
    from rich.console import Console

    columns = (
        rich.TextColumn(label),
        rich.BarColumn(),
        rich.MofNCompleteColumn(),
        rich.TimeElapsedColumn(),
        rich.TextColumn("{task.description}"),
    )
    console = Console(stderr=True)
    with rich.Progress(
        *columns, console=console, transient=True, redirect_stdout=False, redirect_stderr=False
    ) as progress:
        yield _Terminal(progress, total)

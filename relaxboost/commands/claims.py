"""The command `relaxboost claims`, which lists, checks and attacks claims of papers."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterable
from contextlib import closing, suppress
from dataclasses import asdict, dataclass
from fnmatch import fnmatchcase
from functools import partial, wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

import relaxboost as rb
from relaxboost._core import progress
from relaxboost._core.errors import InputError
from relaxboost.commands import claims_text as text
from relaxboost.commands.style import VerbGroup, say
from relaxboost.commands.style import show as present

if TYPE_CHECKING:
    from relaxboost.claims import Claim, ClaimVerdict, Failure, Unchecked
    from relaxboost.claims.running import Results


@click.group(
    cls=VerbGroup,
    epilog="""
\b
Example:
  relaxboost claims check SS09-T9
""",
)
def claims() -> None:
    """Check the claims of papers on instances whose optima are certified.

    Each claim has a recorded verdict: it holds, is false as stated, is a misprint, is ambiguous, is
    open, or is not checkable by numbers. The record also contains counterexamples, and corrections
    of false claims. A pattern such as 'SS09-T*' selects several claims by their ids.
    """


@dataclass(frozen=True)
class _Wanted:
    """The arguments and options that select claims."""

    ids: tuple[str, ...]
    source: str | None
    file: Path | None


# Several commands share these options.
_FILE = click.option(
    "--file",
    type=click.Path(path_type=Path),
    help="A Python file with your own claims instead of the built-in ones.",
)


def _wanted(command: Callable[..., None]) -> Callable[..., None]:
    """Add the arguments and options that select claims, by default all, to a command."""

    @click.argument("ids", nargs=-1, metavar="[ID]...")
    @click.option("--source", help="The claims of one source, e.g. SS09.")
    @_FILE
    @wraps(command)
    def run(ids: tuple[str, ...], source: str | None, file: Path | None, **options: Any) -> None:
        command(_Wanted(ids, source, file), **options)

    return run


_SEED = click.option(
    "--seed",
    type=click.IntRange(0),
    default=0,
    show_default=True,
    help="The seed of the instances.",
)
_JOBS = click.option(
    "--jobs",
    type=click.IntRange(1),
    help="Number of processes; it does not change the results. [default: 2, or 1 on a single core]",
)
_EXIT = """
\b
Exit status: 0 every verdict is as recorded or expected, 1 a verdict differs
or was not reached, 2 bad input, 130 interrupted before there was anything to
print.
"""


@claims.command(
    "list",
    short_help="List results with their status and its evidence.",
    epilog="""
\b
Examples:
  relaxboost claims list
  relaxboost claims list --source SS09 --all
  relaxboost claims list 'SS09-T*' --json
""",
)
@click.option(
    "--all",
    "everything",
    is_flag=True,
    help="Also list lines of proofs, remarks and displayed formulas.",
)
@_wanted
def list_(wanted: _Wanted, everything: bool, as_json: bool) -> None:
    """List the results stated in papers, or selected statements, with their recorded status.

    Each line also names the evidence for the status.
    """
    chosen, unchecked = _chosen(wanted)
    if not (wanted.ids or everything):
        chosen = [claim for claim in chosen if not claim.part_of]
        unchecked = []
    present(as_json, _listed(chosen, unchecked), "\n".join(text.listed(chosen, unchecked)))


@claims.command(
    short_help="Show the text, the check and the evidence of a claim.",
    epilog="""
\b
Examples:
  relaxboost claims show SS09-T9
  relaxboost claims show SS09-T9 --latex
  relaxboost claims show SS09
""",
)
@click.argument("id")
@_FILE
@click.option("--latex", is_flag=True, help="Print LaTeX for a paper.")
def show(id: str, file: Path | None, latex: bool, as_json: bool) -> None:
    """Show the printed text, the check, the evidence and the corrections of a claim.

    If ID is the name of a source, such as SS09, show the misprints of the source.
    """
    from relaxboost.claims.latex import errata, in_a_paper

    sources = {source.key: source for source in rb.claims.sources()} if file is None else {}
    if id in sources:
        source = sources[id]
        if latex:
            click.echo(errata(source), nl=False)
        else:
            present(
                as_json, [asdict(one) for one in source.misprints], "\n".join(text.errata(source))
            )
        return
    chosen, unchecked = _chosen(_Wanted((id,), None, file))
    # Lines of LaTeX are not wrapped, because they are written to a file that a paper includes.
    if latex:
        texts = [in_a_paper(claim) for claim in _checkable(_Wanted((id,), None, file))]
        click.echo("\n".join(texts), nl=False)
        return
    lines = [*map(text.shown, chosen), *map(text.not_checked, unchecked)]
    present(as_json, _listed(chosen, unchecked), "\n".join(line for each in lines for line in each))


@claims.command(
    short_help="Check claims, and compare the verdicts with the record.",
    epilog=_EXIT
    + """
\b
Examples:
  relaxboost claims check SS09-T9 --trials 20
  relaxboost claims check --source SS09 --json
  relaxboost claims check 'SS09-T*' --seed 1 --certificates proofs
  relaxboost claims check --file test_claims.py
""",
)
@_wanted
@click.option(
    "--trials",
    type=click.IntRange(1),
    help="Number of instances to draw for each claim. [default: set by each claim]",
)
@_SEED
@_JOBS
@click.option(
    "--certificates",
    type=click.Path(path_type=Path),
    help="A folder for the certificate of every optimum used, for relaxboost check.",
)
def check(wanted: _Wanted, as_json: bool, **effort: Any) -> None:
    """Check claims (by default all), and compare the verdicts with the recorded ones.

    A check starts with the recorded counterexamples, which must refute the claim, and continues
    with random and structured instances. Corrections and proof steps must hold on all instances.
    For each claim the output shows the number of instances that meet its hypotheses, and the least
    relative slack. The relative slack of an inequality is (right − left)/(|left| + |right|). If it
    is negative, the inequality fails. If it is 0, both sides are equal up to rounding.
    """
    chosen = _checkable(wanted)
    table = text.Table(chosen)
    head = [] if as_json else [table.head]
    runs = partial(rb.claims.check_all, chosen, **effort)
    outcomes, seconds = _follow("checking", runs, head, None if as_json else table.rows)
    _finish(outcomes, chosen, seconds, as_json, text.LEGEND)


@claims.command(
    short_help="Search for an instance that refutes a claim.",
    epilog=_EXIT
    + """
Status 1 also covers a false claim for which the search finds no counterexample. A larger --budget
may find one.

\b
Examples:
  relaxboost claims attack SS09-T9-rounds --budget 200
  relaxboost claims attack 'SS09-T9*' --budget 500 --seed 1
""",
)
@click.argument("ids", nargs=-1, required=True, metavar="ID...")
@_FILE
@click.option(
    "--budget",
    type=click.IntRange(1),
    default=2000,
    show_default=True,
    help="Number of instances to try for each statement. Shrinking may try as many again.",
)
@_SEED
@_JOBS
def attack(ids: tuple[str, ...], file: Path | None, as_json: bool, **effort: Any) -> None:
    """Search for an instance that refutes a claim or a correction, and shrink it.

    The search does not use the recorded counterexamples. After Ctrl-C the command prints the
    results so far.
    """
    chosen = _checkable(_Wanted(ids, None, file))
    runs = partial(rb.claims.attack_all, chosen, **effort)
    outcomes, seconds = _follow("attacking", runs, [], None if as_json else lambda one: [str(one)])
    _finish(outcomes, chosen, seconds, as_json)


def _listed(chosen: list[Claim], unchecked: list[Unchecked]) -> dict[str, Any]:
    return {
        "claims": [text.entry(claim) for claim in chosen],
        "unchecked": [vars(statement) for statement in unchecked],
    }


def _chosen(wanted: _Wanted) -> tuple[list[Claim], list[Unchecked]]:
    ids = wanted.ids
    known, unchecked = _known(wanted)
    if not ids:
        return known, unchecked
    # An id may name a statement without a check. The commands list and show print those too.
    others = [u for u in unchecked if any(fnmatchcase(u.id, id) for id in ids)]
    there = [id for id in ids if _names_any(id, known) or not _names_any(id, others)]
    # `select` raises for an id that names nothing, and suggests ids that are similar.
    return rb.claims.select(there, known) if there else [], others


def _known(wanted: _Wanted) -> tuple[list[Claim], list[Unchecked]]:
    if wanted.file is None:
        known = rb.claims.all(wanted.source)
        sources = [s for s in rb.claims.sources() if wanted.source in (None, s.key)]
    elif wanted.source is None:
        known = rb.claims.load(wanted.file)
        sources = list(dict.fromkeys(claim.source for claim in known))
    else:
        raise InputError(
            "--source selects built-in claims, and --file selects your own claims; use only one of "
            "them"
        )
    return known, [statement for source in sources for statement in source.not_checked]


def _names_any(pattern: str, statements: Iterable[Claim | Unchecked]) -> bool:
    return any(fnmatchcase(statement.id, pattern) for statement in statements)


def _checkable(wanted: _Wanted) -> list[Claim]:
    chosen, unchecked = _chosen(wanted)
    if not chosen:
        raise InputError(f"{unchecked[0].id} cannot be checked: {unchecked[0].reason}")
    return chosen


def _follow(
    what: str,
    begin: Callable[..., Results],
    head: list[str],
    rows: Callable[[ClaimVerdict | Failure], Iterable[str]] | None,
) -> tuple[list[ClaimVerdict | Failure], float]:
    outcomes: list[ClaimVerdict | Failure] = []
    with progress.bar(what) as bar:
        runs = begin(progress=bar)
        start = time.perf_counter()
        # After Ctrl-C the outcomes so far are printed, and `closing` ends the worker processes.
        with suppress(KeyboardInterrupt), closing(runs):
            for _, outcome in runs:
                outcomes.append(outcome)
                if rows is not None:
                    # Rows are printed above the bar, which stays on the last line.
                    with bar.aside():
                        for line in (*head, *rows(outcome)):
                            say(line)
                    head = []
        return outcomes, time.perf_counter() - start


def _finish(
    outcomes: list[ClaimVerdict | Failure],
    claims: list[Claim],
    seconds: float,
    as_json: bool,
    legend: str = "",
) -> None:
    # Ctrl-C before the first outcome leaves nothing to summarise.
    if not outcomes:
        raise click.Abort
    lines = [text.summary(outcomes, claims, seconds), *([legend] if legend else [])]
    present(as_json, [outcome.data() for outcome in outcomes], "\n".join(lines))
    # An interrupted command reports no success, even if all finished checks agree with the record.
    if len(outcomes) < len(claims) or not all(outcome.agrees for outcome in outcomes):
        sys.exit(1)

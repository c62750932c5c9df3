"""Plant all errors, or those of the patterns given, and print what found them: ``make mutants``.

``python -m tests.claims.mutants 'SS09-T9*'``. The exit status is 1 where an error survives
`check` that gives no reason, or is found that is said to survive.
"""

from __future__ import annotations

import multiprocessing
import sys
from collections import Counter
from fnmatch import fnmatchcase

from tests.claims.mutants.mutant import KINDS, Mutant
from tests.claims.mutants.planted import MUTANTS

BUDGET = 1000
"""Of the attack on what a check leaves."""
CHECK, ATTACK, SURVIVED, BROKEN = "check", "attack", "survived", "broken"


def fate(mutant: Mutant) -> str:
    """Return what refutes an error."""
    try:
        with mutant.planted() as claim:
            if claim.check().stated.status == "refuted":
                return CHECK
            return ATTACK if claim.attack(BUDGET).counterexample else SURVIVED
    except Exception as error:  # told in the table, and in the status
        return f"{BROKEN}: {type(error).__name__}: {error}"


def table(fates: list[tuple[Mutant, str]]) -> str:
    """Return the errors by kind and by what found them."""
    lines = ["| kind | planted | refuted by `check` | by `attack` only | survived |"]
    lines.append("|---|---|---|---|---|")
    for kind in (*KINDS, "all"):
        counts = Counter(found for m, found in fates if kind in (m.kind, "all"))
        planted = sum(counts.values())
        row = (planted, counts[CHECK], counts[ATTACK], counts[SURVIVED])
        lines.append(f"| {kind} | {' | '.join(map(str, row))} |")
    return "\n".join(lines)


def main(patterns: list[str]) -> int:
    """Print the fates that need a look, and the table; return the exit status."""
    chosen = [m for m in MUTANTS if not patterns or any(fnmatchcase(m.id, p) for p in patterns)]
    if not chosen:
        sys.exit(f"no error is planted in {' '.join(patterns)}")
    fates, wrong = [], 0
    with multiprocessing.get_context("fork").Pool(2, maxtasksperchild=1) as pool:
        for mutant, found in zip(chosen, pool.imap(fate, chosen), strict=True):
            fates.append((mutant, found))
            odd = (found == CHECK) == bool(mutant.survives) or found.startswith(BROKEN)
            wrong += odd
            if odd or found != CHECK:
                print(f"{'WRONG ' * odd}{found}: {mutant}  {mutant.survives}", flush=True)
    print(table(fates))
    share = 100 * sum(found == CHECK for _, found in fates) / len(fates)
    print(f"{share:.1f} % refuted by check alone")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

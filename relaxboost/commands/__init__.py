"""The commands of the command line, each in a file; `solve` is in `relaxboost.cli`."""

from relaxboost.commands.check import check
from relaxboost.commands.claims import claims
from relaxboost.commands.plan import plan
from relaxboost.commands.reference import reference
from relaxboost.commands.reproduce import reproduce

__all__ = ["check", "claims", "plan", "reference", "reproduce"]

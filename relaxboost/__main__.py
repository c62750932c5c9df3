"""`python -m relaxboost` is the command line."""

from relaxboost.commands.cli import main

main()

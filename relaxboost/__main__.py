"""The entry point of `python -m relaxboost`, which runs the command line."""

from relaxboost.commands import main

main()

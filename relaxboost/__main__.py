"""`python -m relaxboost` is the command line."""

from relaxboost.cli import main

main()

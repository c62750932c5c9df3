"""`python -m relaxboost` is the command line."""

from relaxboost.commands import main

main()

"""The command line: `cli` puts it together, each verb has a file of its own."""

KEPT = "interrupted; what is finished is kept, and the same command goes on"
"""What is said on Ctrl-C by verbs that keep what they have done."""

"""The command line: `cli` puts it together, each verb has a file of its own."""

"""Planners: each returns a path and, but for `simple`, what proves it shortest."""

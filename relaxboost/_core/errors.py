"""The errors a user meets. Each names the thing, the rule and the remedy."""


class InputError(ValueError):
    """Something given to relaxboost cannot be used; raised before work starts wherever
    it can be known then."""


class MissingDependencyError(ImportError):
    """An optional library is needed; the message says which extra brings it."""


class ClusterError(RuntimeError):
    """A cluster that computes for a run has gone away, or cannot see the run's files."""

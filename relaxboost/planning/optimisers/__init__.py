"""The optimiser of linear costs, and the small problem of each of its rounds."""

"""The publication of claims: pages of the documentation, LaTeX and pictures."""

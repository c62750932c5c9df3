"""The publication of claims: HTML reports, pages of the documentation, LaTeX and pictures."""

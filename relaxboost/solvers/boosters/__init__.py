"""The boosters of the literature: one file for each method, named as in the literature."""

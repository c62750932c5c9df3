"""A benchmark of solvers on games: each runs in its own process, and one bracket scores all."""

"""The parametric self-dual simplex method, which moves from the optimum of one game to another.

The bounds and costs of the linear program change linearly with a parameter t, and the method
follows the optimum from t = 1 to t = 0 (Dantzig 1963, Linear Programming and Extensions, Ch. 11;
Vanderbei 2020, Linear Programming, Ch. 7). `program` has the linear program of a game, `start` the
first basis, `kernels` the tableau and the compiled pivots, `simplex` the method, and `booster` its
run within `solve`.
"""

"""The parametric self-dual simplex method, which moves from the optimum of one game to another.

It solves linear programs whose bounds and costs change linearly with a parameter t, for t from 1
down to 0 (Dantzig 1963, Linear Programming and Extensions, Ch. 11; Vanderbei 2020, Linear
Programming, Ch. 7). `program` states the program of a game, `start` finds a first basis, `kernels`
has the tableau and the compiled pivots, `simplex` has the method, and `booster` runs the method
within `solve`.
"""

"""The parametric self-dual simplex method, which moves from the optimum of one game to another.

The method solves linear programs whose bounds and costs change linearly with a parameter t. It
follows the optimum while t decreases from 1 to 0 (Dantzig 1963, Linear Programming and Extensions,
Ch. 11; Vanderbei 2020, Linear Programming, Ch. 7). The module `program` contains the linear program
of a game, and `start` computes a first basis. `kernels` contains the tableau and the compiled
pivots, `simplex` contains the method, and `booster` runs the method within `solve`.
"""

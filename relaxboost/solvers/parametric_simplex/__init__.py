"""The parametric self-dual simplex method, which moves from the optimum of one game to another.

The method solves linear programs whose bounds and costs change linearly with a parameter t. The
method follows the optimum while t decreases from 1 to 0 (Dantzig 1963, Linear Programming and
Extensions, Ch. 11; Vanderbei 2020, Linear Programming, Ch. 7). The module `program` contains the
linear program of a game. The module `start` computes a first basis. The module `kernels` contains
the tableau and the compiled pivots. The module `simplex` contains the method, and the module
`booster` runs the method within `solve`.
"""

"""An interior point method for games whose optimum uses many columns.

The method computes a distribution d over the examples and weights w of the columns of the game
matrix A. The module `run` contains the rounds of the method, and `iterate` contains one Newton
step. `edge_bounds` contains the inequalities for the edges of the columns. `part` is the interface
for the inequalities of the relaxation f, a convex function of d. `polyhedron` implements `part` for
linear programs, and `conic` implements `part` for cone programs with the cones of `cones`.

`corner_losses` minimises a sum of losses with one corner each, such as the absolute loss. If w is
unrestricted or lies in a Euclidean ball, `smooth_weights` replaces `edge_bounds`.

`block` and `bordered` contain the matrix that f adds to Newton's equations. `elimination` selects
how `normal` solves Newton's equations: with a Cholesky factor from `factor`, or with the conjugate
gradients of `additive`.
"""

"""An interior point method for games whose optimum uses many columns.

The method computes a distribution d over the examples and column weights w of the game matrix A.
`run` contains the rounds, and `iterate` a Newton step. `edge_bounds` contains the inequalities for
the edges of the columns. `part` is the interface for the inequalities of the relaxation f, with the
implementations `polyhedron` for linear programs and `conic` for cone programs with the cones of
`cones`.

`corner_losses` minimises a sum of losses with one corner each, such as the absolute loss. If w is
unrestricted or lies in a Euclidean ball, `smooth_weights` replaces `edge_bounds`.

`block` and `bordered` have the matrix that f adds to Newton's equations. `elimination` selects how
`normal` solves these equations: with a Cholesky factor from `factor`, or with the conjugate
gradients of `additive`.
"""

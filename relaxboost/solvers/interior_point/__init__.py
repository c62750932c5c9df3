"""An interior point method for games whose optimum uses many columns.

`run` contains the rounds of the method. `iterate` contains a point and the step that the method
takes from this point. `edge_bounds` contains the inequalities of the game. `part` is the interface
of the inequalities that belong to the relaxation f. `polyhedron` implements this interface for
linear programs, and `conic` implements it for cone programs with the cones of `cones`.
`corner_losses` treats the least sum of losses with corners as a game in which d need not sum to 1.
If the domain of the weights w has no corners, `smooth_weights` replaces `edge_bounds`. `block` and
`bordered` contain the matrix of f in Newton's equations. `elimination` selects how `normal` solves
Newton's equations: with a Cholesky factor from `factor`, or with the conjugate gradients of
`additive`. The page Mathematics derives all equations.
"""

"""An interior point method for games whose optimum uses many columns.

`run` contains the rounds of the method, and `iterate` a point with the step from it. `edge_bounds`
contains the inequalities of the game, and `part` is the interface of those of f: `polyhedron` for
linear programs, `conic` and `cones` for cone programs. `corner_losses` are games whose d need not
sum to 1, with `smooth_weights` in the place of `edge_bounds` for weights without corners.
`block` and `bordered` are the matrices of f
in Newton's equations. `elimination` selects how `normal` solves these equations: with a `factor`,
or by the passes of `additive`. The page Mathematics derives all equations.
"""

"""An interior point method for games whose optimum uses many columns.

`run` has its rounds, `iterate` a point and the step from it. `normal` solves Newton's equations, by
a `factor` or the passes of `additive`; `barrier` has the pairs of slack and multiplier. What f
brings is a `part`: a `polyhedron`, or `conic` with `cones`, each with its `block` of the matrix.
"""

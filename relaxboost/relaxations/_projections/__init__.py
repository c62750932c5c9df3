"""Kernels that minimise the mean margin plus a relaxation plus an entropy, in the log domain.

Each kernel returns the weights d in the simplex that minimise <d, u> + f(d) + β Σ d_i log d_i, for
relaxations f of one family. The margins u are finite, unless a docstring says otherwise. The weight
β > 0 of the entropy may have any size relative to the margins, because only differences of margins
are divided by β. The sum of the weights d is one up to rounding.
"""

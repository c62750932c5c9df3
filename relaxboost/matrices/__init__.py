"""Margin matrices: dense, sparse, all decision stumps (implicit), any weak learner (oracle)."""

from relaxboost.matrices import datasets
from relaxboost.matrices.base import Best, MarginMatrix
from relaxboost.matrices.convert import as_matrix
from relaxboost.matrices.dense import DenseMatrix
from relaxboost.matrices.oracle import OracleMatrix, oracle
from relaxboost.matrices.sparse import SparseMatrix
from relaxboost.matrices.stumps import StumpColumn, StumpMatrix, stumps

__all__ = [
    "Best",
    "DenseMatrix",
    "MarginMatrix",
    "OracleMatrix",
    "SparseMatrix",
    "StumpColumn",
    "StumpMatrix",
    "as_matrix",
    "datasets",
    "oracle",
    "stumps",
]

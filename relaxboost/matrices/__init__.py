"""Margin matrices: dense, sparse, from decision stumps, or from a weak learner."""

from relaxboost._core.errors import ClusterError
from relaxboost.matrices import datasets
from relaxboost.matrices.base import Best, MarginMatrix
from relaxboost.matrices.chunks import ChunkedMatrix, chunked
from relaxboost.matrices.dense import DenseMatrix
from relaxboost.matrices.oracle import OracleMatrix, oracle
from relaxboost.matrices.sparse import SparseMatrix, as_matrix
from relaxboost.matrices.stumps import StumpColumn, StumpMatrix, stumps

__all__ = [
    "Best",
    "ChunkedMatrix",
    "ClusterError",
    "DenseMatrix",
    "MarginMatrix",
    "OracleMatrix",
    "SparseMatrix",
    "StumpColumn",
    "StumpMatrix",
    "as_matrix",
    "chunked",
    "datasets",
    "oracle",
    "stumps",
]

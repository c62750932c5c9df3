"""The matrix of all decision stumps for data of any size. The data are in pages on disk."""

from relaxboost.matrices.chunks.matrix import ChunkedMatrix, chunked

__all__ = ["ChunkedMatrix", "chunked"]

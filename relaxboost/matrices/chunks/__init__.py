"""The matrix of all decision stumps of data of any size, which are pages on disk."""

from relaxboost.matrices.chunks.matrix import ChunkedMatrix, chunked

__all__ = ["ChunkedMatrix", "chunked"]

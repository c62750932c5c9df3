"""The margin matrix of all decision stumps for data of any size, stored on disk."""

from relaxboost.matrices.chunks.matrix import ChunkedMatrix, chunked

__all__ = ["ChunkedMatrix", "chunked"]

"""The margin matrix of all decision stumps for data of any size. The data are in files on disk."""

from relaxboost.matrices.chunks.matrix import ChunkedMatrix, chunked

__all__ = ["ChunkedMatrix", "chunked"]

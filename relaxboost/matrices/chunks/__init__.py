"""All decision stumps of data of any size: pages on disk, passes here or on a cluster."""

from relaxboost.matrices.chunks.matrix import ChunkedMatrix, chunked

__all__ = ["ChunkedMatrix", "chunked"]

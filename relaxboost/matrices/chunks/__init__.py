"""The matrix of all decision stumps of data of any size.

The data are stored as pages on disk. Passes over the pages run in this process or on a cluster.
"""

from relaxboost.matrices.chunks.matrix import ChunkedMatrix, chunked

__all__ = ["ChunkedMatrix", "chunked"]

"""What tests run in processes of their own; imported there once, with kernels that are warm."""

from __future__ import annotations

import multiprocessing
import pickle
import time

import numpy as np

import relaxboost as rb
from relaxboost._core import files
from relaxboost.online import MirrorDescent, progressive, stream

METHOD = MirrorDescent("hinge", rb.Simplex(1))
CONTEXT = multiprocessing.get_context("forkserver")
CONTEXT.set_forkserver_preload([__name__])
METHOD.start(5).update(np.zeros((1, 5)), [1.0])


def made(rows, size=5, seed=0):
    rng = np.random.default_rng(seed)
    X = np.round(rng.uniform(-1.0, 1.0, (rows, size)), 3)
    return X, np.where(X @ rng.normal(size=size) + rng.normal(size=rows) > 0.0, 1.0, -1.0)


def slowly(path, every):
    """Learn with a checkpoint at every page, for so long that it is killed."""
    files.SECONDS_BETWEEN_UPDATES = files.WAIT_PER_WRITE = 0.0
    X, y = made(3000)
    wait = {"predictions": lambda *_: time.sleep(0.004)}
    progressive(METHOD, stream(X, y, page=50), every=every, checkpoint=path, **wait)


def digests(pickled, answers):
    """Say what base functions are called here."""
    answers.send([base.digest() for base in pickle.loads(pickled)])

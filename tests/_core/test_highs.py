"""HiGHS works whatever ran before, and is left as it was, in fresh processes and both orders."""

import subprocess
import sys

import pytest

PREAMBLE = """
import highspy, numpy as np
import relaxboost as rb

def others(threads):
    highs = highspy.Highs()
    highs.setOptionValue("output_flag", False)
    if threads:
        highs.setOptionValue("threads", threads)
    x = [highs.addVariable(lb=0) for _ in range(3)]
    highs.addConstr(x[0] + x[1] + x[2] >= 1)
    highs.minimize(x[0] + 2 * x[1] + 3 * x[2])
    assert highs.getModelStatus() == highspy.HighsModelStatus.kOptimal, threads
    assert highs.getInfo().objective_function_value == 1

game = rb.Game(np.random.default_rng(0).uniform(-1, 1, (30, 12)), rb.Capped(5))

def solve():
    sol = rb.solve(game, 1e-6)
    assert sol.status == "optimal", sol.message

def reference():
    sol = rb.reference(game, "HIGHS")
    assert sol.status == "optimal", sol.message

def exact():
    assert rb.exact_value(game) >= 0
"""


@pytest.mark.parametrize(
    "order",
    [
        "others(2); solve(); reference(); exact(); others(2)",
        "solve(); reference(); exact(); others(2); solve()",
        "others(0); solve(); others(0)",
        "reference(); others(3); exact(); others(3)",
    ],
)
def test_every_order_of_use_works(order):
    done = subprocess.run(
        [sys.executable, "-c", PREAMBLE + order], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr

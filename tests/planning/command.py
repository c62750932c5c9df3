"""Files for the tests of `relaxboost plan`, and functions that run a command."""

from __future__ import annotations

import json
import shlex

import tests.command

ARCS = """tail,head,length,toll
home,bridge,1,1
bridge,work,1,0
home,ford,2,0
ford,work,1.5,0
work,home,1,1
ford,bridge,0.5,0
"""
TASKS = """name,path,weight
monday,home ford work,1
tuesday,home ford work,2
back,work home,1
"""


def run(command, capsys):
    """Return status, output and errors of a command."""
    return tests.command.run(capsys, "plan", *shlex.split(command))


def parsed(text):
    def refuse(constant):
        raise AssertionError(constant)

    return json.loads(text, parse_constant=refuse)


def refused(command, message, capsys):
    """Check that a command ends with 2 and one line."""
    tests.command.refused(capsys, message, "plan", *shlex.split(command))

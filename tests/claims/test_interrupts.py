"""Ctrl-C while claims are checked or attacked: what is done by then is told. Real processes."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import time

import pytest

from tests.processes import ctrl_c, started


def once(process, *paths):
    """Wait until a process has written these files."""
    while not all(path.exists() for path in paths):
        assert process.poll() is None
        time.sleep(0.05)


def interrupt(process, **how):
    """Press Ctrl-C; return (status, out, err) without what joblib says of killed workers.

    The tracker of its semaphores warns of those that a worker took along, once in ten times.
    """
    status, out, err = ctrl_c(process, **how)
    ours = [
        s for s in err.splitlines(True) if "resource_tracker" not in s and "  warnings" not in s
    ]
    return status, out, "".join(ours)


@pytest.mark.parametrize("jobs", [1, 2])
def test_ctrl_c_prints_what_is_done(odd, jobs):
    path = odd("claim('a', true)\nclaim('b', prints)\nclaim('c', slow)\nclaim('d', slow)\n")
    process = started("claims", "check", "--file", path, "--jobs", jobs, stderr=subprocess.PIPE)
    lines = [process.stdout.readline() for _ in range(3)]
    while "X-b" not in lines[-2]:  # its least slack follows
        lines.append(process.stdout.readline())
        assert lines[-1], "it ended"
    status, out, err = interrupt(process, group=True)
    assert status == 1
    assert "Traceback" not in err
    assert "Traceback" not in out
    assert out.startswith("interrupted after 2 of 4 claims: 2 hold; all as expected; ")


def test_ctrl_c_prints_what_was_waiting_for_its_turn(odd, tmp_path):
    # Within a second b is noted, on a busy machine too.
    check = f"lambda x: time.sleep(1) or open('{tmp_path}/reached', 'w') and slow(x)"
    path = odd(f"claim('a', slow)\nclaim('b', true)\nclaim('c', {check})\n")
    process = started(
        "claims", "check", "--file", path, "--jobs", 2, "--json", stderr=subprocess.PIPE
    )
    once(process, tmp_path / "reached")
    status, out, err = interrupt(process, group=True)
    assert (status, err) == (1, "")
    assert [entry["id"] for entry in json.loads(out)] == ["X-b"]


@pytest.mark.parametrize("jobs", [1, 2])
def test_ctrl_c_with_nothing_done(odd, tmp_path, jobs):
    line = f"claim('N', lambda x: open('{tmp_path}/reached', 'w') and slow(x))\n"
    path = odd(line.replace("N", "a") + line.replace("N", "b"))
    process = started("claims", "check", "--file", path, "--jobs", jobs, stderr=subprocess.PIPE)
    once(process, tmp_path / "reached")
    status, out, err = interrupt(process, group=True)
    assert (status, out) == (130, "")
    assert err == "relaxboost: interrupted before there was anything to report\n"


def interrupted(tmp_path, arguments, reached, **how):
    """Press Ctrl-C once all of these files are there; return the lines, or the data."""
    paths = [tmp_path / name for name in reached]
    for path in paths:
        path.unlink(missing_ok=True)
    process = started("claims", *arguments, stderr=subprocess.PIPE)
    once(process, *paths)
    status, out, err = interrupt(process, **how)
    assert (status, err) == (1, "")
    return json.loads(out) if "--json" in arguments else out.splitlines()


@pytest.fixture
def sixth(tmp_path):
    """Return checks that hold five times, and then write a file and take long."""

    def check(name):
        reached = f"open('{tmp_path / name}', 'w') and slow(x)"
        return f"lambda x, seen=[]: seen.append(x) or len(seen) > 5 and {reached} or true(x)"

    return check


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM])
def test_an_attack_says_what_it_has_tried(odd, sixth, tmp_path, how):
    """With a correction that it has not come to."""
    path = odd(f"c = claim('a', {sixth('reached')})\nc.corrected('x is at most 2')(true)\n")
    asked = ("attack", "X-a", "--file", path)
    lines = interrupted(tmp_path, asked, ["reached"], group=True, how=how)
    first, stated, _, corrected, *_, last = lines
    assert first == "X-a: interrupted; so far holds"
    assert stated == "  as stated: holds on 5 instances"
    assert corrected == "  corrected, x is at most 2: not reached"
    assert last.startswith("interrupted after 0 of 1 claim: 0 certified optima; ")
    (data,) = interrupted(tmp_path, (*asked, "--json"), ["reached"], group=True, how=how)
    assert (data["interrupted"], data["agrees"], data["stated"]["instances"]) == (True, False, 5)


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize(("action", "group"), [("attack", True), ("check", False)])
def test_several_processes_drop_what_they_are_at(odd, sixth, tmp_path, action, group, how):
    """What is done is told, in the order of the claims."""
    reached = f"open('{tmp_path}/a', 'w') and slow(x)"
    path = odd(
        f"claim('a', lambda x: {reached})\nclaim('b', true)\n"
        + "".join(f"claim('{name}', {sixth(name)})\n" for name in "cd")
        + "claim('e', slow)\n"
    )
    effort = ("--trials", 10) if action == "check" else ()
    asked = (action, "X-*", "--file", path, "--jobs", 3, "--json", *effort)
    (told,) = interrupted(tmp_path, asked, "acd", group=group, how=how)
    assert (told["id"], told["interrupted"]) == ("X-b", False)


def test_a_check_says_what_it_has_checked(odd, sixth, tmp_path):
    """Of a claim on record as false, with a correction and a proof of two steps."""
    path = odd(
        "claim('done', true)\n"
        "c = claim('a', lambda x: at_most(x.x, .5), counterexamples=[{'x': 1}])\n"
        "c.corrected('x is at most 2')(true)\n"
        "c.step('A step.', correction=1)(true)\n"
        f"c.step('Another.', correction=1)({sixth('reached')})\n"
        "claim('late', true)\n"
    )
    asked = ("check", "--file", path, "--jobs", 1, "--trials", 10)
    lines = interrupted(tmp_path, asked, ["reached"], group=True)
    place = next(i for i, line in enumerate(lines) if line.startswith("X-a "))
    assert re.fullmatch(r"X-a +interrupted +\d+ +[\d.]+ +-0?.33", lines[place]), lines[place]
    so_far, refuted, _, corrected, _, steps, again = lines[place + 1 : place + 8]
    assert so_far == "    so far false as stated"
    assert refuted == "    as stated: refuted by x = 1 [recorded counterexample 1]"
    assert corrected.startswith("    corrected: holds on ")
    assert steps == "    proof: 2 of 2 steps hold so far"
    assert again.startswith("    again: relaxboost claims check X-a ")
    assert not any("DIFFERS" in line for line in lines)

"""`relaxboost claims`, as a real process where that matters."""

from __future__ import annotations

import contextlib
import json
import os
import re
from functools import partial

import pytest

from relaxboost import check_certificate, claims
from relaxboost.commands import claims as verbs
from relaxboost.commands import claims_text
from relaxboost.commands.cli import main
from tests.claims.toys import TOYS, without_time
from tests.command import refused, run
from tests.processes import on_a_terminal, started
from tests.within import ROOT


@pytest.fixture
def call(capfd):
    """Run a command in this process; return its status and what it printed."""
    return partial(run, capfd, "claims")


@pytest.fixture
def toys(tmp_path):
    path = tmp_path / "toys.py"
    path.write_text(TOYS)
    return path


def test_list(call, toys):
    results = call("list")[1]
    shown = [line.split()[0] for line in results.splitlines()[1:] if line[0] != " "]
    assert shown == [claim.id for claim in claims.all() if not claim.part_of]
    status, out, err = call("list", "--all")
    assert (status, err) == (0, "")
    assert max(map(len, out.splitlines())) <= 80
    assert out.splitlines()[0].split() == ["id", "verdict", "rests", "on"]
    rows = re.split(r"\n(?! )", out.rstrip())[1:]
    assert [row.split()[0] for row in rows[: len(shown)]] == shown
    listed = {row.split()[0]: row for row in rows}
    for claim in claims.all():
        first, *words = listed[claim.id].splitlines()
        assert re.fullmatch(
            f" +{claim.status} +{claim.evidence(claim.stated)}", first[len(claim.id) :]
        )
        text = f"{claim.location}: {claim.stated.words}"
        assert " ".join(" ".join(words).split()) == " ".join(text.split())
    unchecked = sum(len(source.not_checked) for source in claims.sources())
    assert len(rows) == len(listed) == len(claims.all()) + unchecked
    out = call("list", "--source", "SS09", "SS09-T9", "SS09-T9-ro*s", "SS09-T9-*-worst")[1]
    assert [line.split()[0] for line in out.splitlines() if line[0] != " "] == [
        "id",
        "SS09-T9",
        "SS09-T9-rounds",
        "SS09-T9-rounds-worst",
    ]
    out = call("list", "--file", toys, "--all")[1].splitlines()
    assert out[-2:] == [
        "TOY-hard    not checkable",
        "    Sec. 3: This is elegant. [a matter of taste]",
    ]
    status, out, _ = call("list", "--file", toys, "--json", "--all")
    content = json.loads(out)
    assert [entry["status"] for entry in content["claims"]] == [
        "expected to hold",
        "false as stated",
    ]
    assert [entry["evidence"] for entry in content["claims"]] == ["", "counterexample"]
    assert content["claims"][1]["counterexamples"][1] == {"A": [[1, "9/10"]]}
    assert content["claims"][1]["corrections"][0]["formula"] == "ρ ≤ max |a_ij|"
    assert content["unchecked"] == [
        {
            "id": "TOY-hard",
            "location": "Sec. 3",
            "words": "This is elegant.",
            "reason": "a matter of taste",
        }
    ]


def test_show(call, toys):
    status, out, err = call("show", "SS09-T9")
    assert (status, err) == (0, "")
    for part in (
        "SS09-T9: Theorem 9, accuracy",
        "Fig. 1, stopped by its own test, returns an ε-accurate w.",
        "formula:   max_γ (γ − f*([γ − A w_t]_+)) ≥ ρ − ε",
        "given:       A in [−1, 1]^(m×n), m ≥ 2, 0 < ε ≤ 1",
        "on record:   false as stated\n",
        "rests on:    counterexample\n",
        "fails at:    A = [[1/10, 9/10], [-3/5, 0]], k = 1, epsilon = 3/10\n"
        "    sides:     0.3375 > 0.3, ratio 1.1250 (ρ − margin of w_t, round 2)\n",
        "  step 1:    The smoothed margin exceeds the relaxed margin by",
        "corrected:   The error is at most gap + β log(m/k), where gap is the gap that",
        "note:      The test bounds the gap of the *smoothed* problem",
        "check:       relaxboost claims check SS09-T9\n",
        "attack:      relaxboost claims attack SS09-T9\n",
    ):
        assert part in out
    file, line = re.search(r"code: +(\S+):(\d+)", out).groups()
    code = (ROOT / file).read_text().splitlines()
    assert code[int(line) - 1].startswith("@SOURCE.claim(")
    out = call("show", "TOY-true", "--file", toys)[1]
    assert "  no record:   expected to hold\n  data: " in out  # no verdict rests on anything
    out = call("show", "TOY-hard", "--file", toys)[1]
    assert "on record:   not checkable\n  reason:      a matter of taste" in out
    out = call("show", "TOY-margin", "--file", toys)[1]
    assert "on record:   false as stated\n  rests on:    counterexample\n" in out
    assert (
        f"relaxboost claims check TOY-true --file {toys}"
        in call("show", "TOY-*", "--file", toys)[1]
    )


def test_check_reproduces_what_is_known(call):
    status, out, err = call("check", "SS09-T9", "SS09-T9-rounds", "--trials", 5)
    assert (status, err) == (0, "")  # no progress bar: this is no terminal
    lines = out.splitlines()
    assert max(map(len, lines)) <= 80
    assert lines[0].split() == ["id", "verdict", "instances", "seconds", "slack"]
    assert re.fullmatch(r"SS09-T9  +false as stated +\d+ +[\d.]+ +-0\.059", lines[1])
    words = " ".join(out.split())
    assert "refuted by A = [[1/10, 9/10], [-3/5, 0]], k = 1, epsilon = 3/10 [recorded" in words
    assert "counterexample 1] 0.3375 > 0.3, ratio 1.1250 (ρ − margin of w_t, round 2)" in words
    assert "and by A = [[-3/5, -1/25], [0, 7/25], [-3/5, 22/25], [-3/5, 24/25]], k = 2, " in words
    assert "counterexample 2] 0.216514 > 0.2, ratio 1.0826" in words
    assert len(re.findall(r" corrected: holds on \d instances; least slack: .*? <= ", words)) == 2
    assert re.search(r"SS09-T9-rounds holds 5 [\d.]+ 0\.\d+ least slack: \d+ <= ", words)
    assert re.search(
        r" 2 claims: 1 holds, 1 false as stated; all as recorded; \d+ certified optima; \d+ s "
        r"slack: .* 0: both sides are equal up to rounding\.$",
        words,
    )


def test_all_that_a_check_prints_fits_80_columns():
    """Of every status, with the ids and counterexamples of the package."""
    chosen = [claims.get(id) for id in ("JNTV05-T1", "JNTV05-R4", "GB11-T6-h", "SS09-E2")]
    table = claims_text.Table([*chosen, *claims.all()])
    rows = [line for claim in chosen for line in table.rows(claim.check(3))]
    lines = "\n".join([table.head, *rows]).splitlines()
    assert max(map(len, lines)) <= 80
    assert [row.split()[1] for row in rows if row[0] != " "] == ["holds", *["false"] * 3]
    assert sum("least slack:" in row and "corrected" not in row for row in rows) == 0  # of many
    assert sum(row.startswith("    as ") and ": refuted by " in row for row in rows) == 3


def test_steps_go_by_their_own_ids(call, tmp_path):
    status, out, _ = call("show", "TEL-gradient/1.1")
    assert status == 0
    assert out.startswith("TEL-gradient/1.1: step 1 of the proof of TEL-gradient")
    assert "check 'TEL-gradient/*'" in call("show", "TEL-gradient")[1]
    status, out, _ = call("check", "TEL-gradient/*", "--trials", "2", "--certificates", tmp_path)
    assert status == 0
    assert "TEL-gradient/1.1  holds" in out
    assert call("check", "TEL-gradient/1.1", "--trials", "2", "--jobs", "2")[0] == 0
    listed = json.loads(call("list", "TEL-gradient*", "--json")[1])["claims"]
    assert not any("/" in one["id"] for one in listed)
    assert claims.get("TEL-gradient/1.1").id == "TEL-gradient/1.1"
    assert "did you mean TEL-gradient" in call("check", "TEL-gradient/9")[2]


def test_readings_and_proofs_are_told_apart(call, odd):
    path = odd(
        "vague = claim('a', lambda x: at_most(x.x, 0.5), counterexamples=[{'x': 1}],"
        " ruling='ambiguous', printed='x ≪ 1')\n"
        "vague.page = 'p. 3'\n"
        "vague.corrected('At most 1.')(true)\n"
        "proved = claim('b', true)\n"
        "proved.step('A step.')(true)\n"
        "proved.step('Another.')(lambda x: at_most(x.x, 0.01))\n"
    )
    status, out, _ = call("check", "--file", path)
    assert status == 1
    assert "    as stated: refuted by x = 1 [recorded counterexample 1]" in out
    assert "another reading: holds on " in out
    assert "    proof: 1 of 2 steps hold\n      X-b/2 is false as stated" in out
    out = call("show", "X-*", "--file", path)[1]
    assert "  printed:     x ≪ 1\n    place:     p. 3\n" in out
    assert "  reading:     At most 1." in out
    assert "    step 2:    Another." in out


def test_seed_and_jobs(call, toys):
    runs = {}
    for seed, jobs in ((0, 1), (1, 1), (1, 2)):
        arguments = ["--file", toys, "--seed", seed, "--jobs", jobs]
        runs[seed, jobs] = without_time(json.loads(call("check", *arguments, "--json")[1]))
    assert runs[1, 1] == runs[1, 2]
    assert runs[0, 1] != runs[1, 1]
    library = [claim.check(seed=1) for claim in claims.load(toys)]
    assert runs[1, 1] == without_time([verdict.data() for verdict in library])
    assert runs[1, 1][1]["repeat"] == f"relaxboost claims check TOY-margin --file {toys} --seed 1"


def test_what_differs_from_the_record_is_status_one(call, odd):
    path = odd("claim('a', true)\nclaim('b', lambda x: at_most(x.x, 0.01))\nclaim('c', raises)\n")
    status, out, err = call("check", "--file", path, "--jobs", 1)
    assert (status, err) == (1, "")
    lines = out.splitlines()
    assert lines[1].split()[:2] == ["X-a", "holds"]
    assert lines[2].startswith("    least slack: ")
    assert lines[3].split()[:2] == ["X-b", "false"]
    assert lines[4].startswith("    as stated: refuted by x = ")
    assert re.match(r" {6}0\.\d+ > 0\.01, ratio ", lines[5])
    assert lines[6] == "    DIFFERS: its author expects: holds"
    assert lines[7] == f"    again: relaxboost claims check X-b --file {path} --seed 0"
    assert lines[8].split() == ["X-c", "error"]
    assert lines[9].startswith("    ZeroDivisionError: no x is small enough (in X-c, inst")
    (summary,) = [number for number, line in enumerate(lines) if line.startswith("3 claims: ")]
    assert lines[summary].startswith(
        "3 claims: 1 holds, 1 false as stated, 1 error; 2 not as expected: X-b, X-c; 0"
    )
    status, out, _ = call("check", "--file", path, "--json")
    assert status == 1
    assert [entry["agrees"] for entry in json.loads(out)] == [True, False, False]
    assert json.loads(out)[2]["error"].startswith("ZeroDivisionError")
    assert call("check", "--file", path, "X-a")[0] == 0


def test_a_counterexample_on_record_that_refutes_nothing(call, odd):
    counterexamples = 'counterexamples=[{"x": 1}, {"x": 0}]'
    path = odd(f"claim('a', lambda x: at_most(x.x, 0.5), {counterexamples})\n")
    status, out, _ = call("check", "--file", path)
    assert status == 1
    assert "DIFFERS: not refuted by the counterexample on record, number 2" in out
    status, out, _ = call("attack", "X-a", "--file", path)
    assert status == 0


def test_too_few_instances_are_no_difference(call, odd):
    """Those of a step count too, and those of a correction."""
    lines = """
from relaxboost.claims import assume

def rare(x):
    assume(x.x > 0.9999)
    return true(x)

c = claim('a', true)
c.step('A step.')(rare)
d = claim('b', lambda x: at_most(x.x, 0.5), counterexamples=[{'x': 0.75}])
d.corrected('x is at most 1')(rare)
"""
    for arguments, option in (
        (("check", "--trials", 2), "trials"),
        (("attack", "X-b", "--budget", 2), "budget"),
    ):
        status, out, _ = call(*arguments, "--file", odd(lines))
        assert status == 1
        remedy = f"too few instances meet the hypotheses; give more --{option}"
        assert out.count(remedy) == (2 if option == "trials" else 1)
        assert "DIFFERS" not in out
        assert "does not hold" not in out


def test_attack(call, toys):
    status, out, err = call("attack", "TOY-margin", "--file", toys, "--budget", 50)
    assert (status, err) == (0, "")
    assert "TOY-margin: false as stated" in out
    assert re.search(r"by instance \d+, shrunk: A = \[\[1\]\]\n", out)
    again = f"again: relaxboost claims attack TOY-margin --file {toys} --budget 50 --seed 0"
    assert again in out
    options = ["--file", toys, "--budget", 60]
    data = [
        without_time(json.loads(call("attack", "TOY-*", *options, "--jobs", jobs, "--json")[1]))
        for jobs in (1, 2)
    ]
    assert data[0] == data[1]
    assert [entry["id"] for entry in data[0]] == ["TOY-true", "TOY-margin"]
    assert call("attack")[0] == 2


def test_an_attack_fits_the_terminal(call, toys, monkeypatch):
    monkeypatch.setattr("relaxboost.commands.style.sys.stdout.isatty", lambda: True, raising=False)
    monkeypatch.setenv("COLUMNS", "60")
    status, out, _ = call("attack", "TOY-margin", "--file", toys, "--budget", 20, "--jobs", 1)
    assert status == 0
    words = [line for line in out.splitlines() if str(toys) not in line]
    assert max(map(len, words)) <= 60
    assert "  corrected, It is at most the largest entry: holds" in out


def test_what_a_file_prints_is_no_data(call, odd):
    path = odd("print('loaded')\nclaim('a', prints)\n")
    for verb in ("check", "list"):
        status, out, err = call(verb, "--file", path, "--json")
        assert (status, bool(json.loads(out))) == (0, True)
        assert "loaded" in err


def test_the_page_about_theorems_goes_into_a_file_as_it_says(call, tmp_path):
    text = (ROOT / "docs" / "theorem.md").read_text()
    path = tmp_path / "notes.py"
    path.write_text("".join(re.findall(r'```python title="notes.py"\n(.*?)```', text, re.DOTALL)))
    status, out, err = call("check", "--file", path, "--trials", 20, "--json")
    assert (status, err) == (0, "")
    assert [one["status"] for one in json.loads(out)] == ["false as stated"]


def test_certificates(call, toys, tmp_path):
    folder = tmp_path / "new" / "proofs"
    arguments = ["--file", toys, "--trials", 3, "--jobs", 2, "--certificates", folder]
    status, out, _ = call("check", *arguments, "--json")
    assert status == 0
    found = json.loads(out)[1]["stated"]
    for evidence in (found["least"], *found["known"]):
        (bound,) = evidence["optima"]
        verdict = check_certificate(bound["file"])
        assert verdict.ok
        assert [str(verdict.lower), str(verdict.upper)] == [bound["lower"], bound["upper"]]
    files = sorted(folder.iterdir())
    assert len(files) == 2 * 5  # as stated and corrected
    for file in files:
        with contextlib.suppress(SystemExit):
            main(["check", str(file)])
    status, out, _ = call("list", "--file", toys)
    assert out.count("accepted, exact: ") == len(files)
    assert "REJECTED" not in out


BAD_INPUT = {
    "unknown": (["check", "SS09-T99"], "no claim 'SS09-T99'; did you mean SS09-T9"),
    "pattern": (
        ["check", "SS09-T9", "TS09-*"],
        "for your own claims, add --file FILE)",
    ),
    "attacked": (["attack", "ss09-t9"], "no claim 'ss09-t9'; did you mean SS09-T9"),
    "shown": (["show", "SS09-T9-round"], "did you mean SS09-T9-rounds"),
    "source": (["check", "--source", "SS10"], "no source 'SS10'; did you mean SS09?"),
    "both": (["list", "--source", "SS09", "--file", "FILE"], "--file selects your own claims"),
    "no file": (["check", "--file", "none.py"], "the file none.py does not exist"),
    "in the file": (["check", "SS09-T9", "--file", "FILE"], "toys.py` lists the claims)"),
    "unchecked": (["check", "TOY-hard", "--file", "FILE"], "TOY-hard cannot be checked: a matter"),
    "trials": (["check", "--trials", "0"], "'--trials': 0 is not in the range"),
    "seed": (["attack", "SS09-T9", "--seed", "-1"], "'--seed': -1 is not in the range"),
    "budget": (["attack", "SS09-T9", "--budget", "many"], "'many' is not a valid integer"),
    "folder": (["check", "--certificates", "FILE"], "cannot write certificates to"),
}


@pytest.mark.parametrize("case", BAD_INPUT)
def test_bad_input_is_one_line_and_status_two(capfd, toys, case, monkeypatch):
    monkeypatch.setattr("relaxboost.claims.claim.Claim.check", None)
    arguments, message = BAD_INPUT[case]
    arguments = [toys if argument == "FILE" else argument for argument in arguments]
    refused(capfd, message, "claims", *arguments)


def test_the_progress_bar_is_for_terminals(odd):
    import pty

    path = odd("claim('a', lambda x: time.sleep(0.2) or true(x))\nclaim('b', true)\n")
    leader, follower = pty.openpty()
    process = started(
        "claims",
        "check",
        "--file",
        path,
        "--jobs",
        1,
        stderr=follower,
        env={**os.environ, "TERM": "xterm"},
    )
    os.close(follower)
    out, shown = on_a_terminal(process, leader)
    assert process.returncode == 0
    first = [line.split()[0] for line in out.splitlines() if line[0] != " "]
    assert first == ["id", "X-a", "X-b", "2", "slack:"]
    assert b"checking" in shown
    assert b"1/2" in shown
    assert b"X-a" in shown


EXAMPLES = [
    example.split()
    for command in verbs.claims.commands.values()
    for example in re.findall(r"^  relaxboost claims (.*)$", command.epilog, re.MULTILINE)
]


@pytest.mark.parametrize("example", EXAMPLES, ids=" ".join)
def test_examples_of_the_help_work(call, example, toys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    toys.rename(tmp_path / "test_claims.py")
    verdict = claims.load("test_claims.py")[0].check(1)
    monkeypatch.setattr("relaxboost.claims.running.attempt", lambda *_: verdict)
    arguments = [argument.strip("'") for argument in example]
    jobs = ["--jobs", "1"] if arguments[0] in ("check", "attack") else []
    status, _, err = call(*arguments, *jobs)
    assert (status, err) == (0, "")


def test_every_command_shows_an_example(call):
    commands = verbs.claims.commands
    assert list(commands) == ["list", "show", "check", "attack"]
    for name in commands:
        status, out, _ = call(name, "--help")
        assert status == 0
        assert f"  relaxboost claims {name}" in out

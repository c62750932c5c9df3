"""Exports, read by checkers and readers that share no code with what wrote them."""

from __future__ import annotations

import json
import re
from fractions import Fraction
from functools import cache

import highspy
import numpy as np
import pytest
from scipy.optimize import linprog

import relaxboost as rb
from relaxboost.certificates import Certificate
from relaxboost.certificates.export import FORMS, exported
from tests.certificates import certo_reader, exactly, latex_reader, lean_reader, vipr_checker
from tests.certificates.certo_reader import read_certo
from tests.certificates.latex_reader import read_latex
from tests.certificates.lean_reader import read_lean
from tests.certificates.test_polyhedral import POLYHEDRAL
from tests.certificates.vipr_checker import read_vipr
from tests.conformance.families import FAMILIES, soft_cap

DOMAINS = [rb.L1Ball(), rb.Simplex(), rb.L1Ball(2), rb.FullSimplex(3)]
M, N = 6, 4


@cache
def games():
    """Every polyhedral relaxation, over the domains in turn."""
    rng = np.random.default_rng(17)
    relaxations = [(name, make(M)) for name, make in FAMILIES] + POLYHEDRAL
    two = rb.NormPenalty(np.inf, 0.5) + rb.NormPenalty(np.inf, 0.25, [1, 2, 4, 1, 2, 4])
    relaxations.append(("sum, z in both", two))
    relaxations = [(name, f) for name, f in relaxations if f.exact_form(M) is not None]
    return [
        (name, rb.Game(rng.integers(-8, 9, (M, N)) / 8, f, over=DOMAINS[i % len(DOMAINS)]))
        for i, (name, f) in enumerate(relaxations)
    ]


def pair(game, rng):
    """Return a random feasible pair."""
    d, w = rng.dirichlet(np.ones(M)), rng.dirichlet(np.ones(N)) * float(game.over.radius)
    if isinstance(game.over, rb.L1Ball):
        w *= rng.choice([-0.9, 1], N)
    return d, w


@cache
def certificates():
    """Certificates at random pairs: the brackets are wide, and every part of a witness is used."""
    rng = np.random.default_rng(2)
    found = []
    for name, game in games():
        d, w = pair(game, rng)
        found.append((name, game, rb.certify(game, d=d, w=w)))
    return found


@cache
def files():
    return [
        (name, game, certificate, side, certificate.export("vipr")[f".{side}.vipr"])
        for name, game, certificate in certificates()
        for side in ("lower", "upper")
    ]


def optimum(game):
    best = rb.certificates.exact_optimum(game)
    return rb.certify(game, d=best.d, w=(best.support, best.w))


def test_every_polyhedral_family_is_accepted():
    assert len(certificates()) > 20
    assert {type(game.over) for _, game in games()} == {rb.L1Ball, rb.Simplex, rb.FullSimplex}
    for name, game, certificate, side, text in files():
        found = read_vipr(text)
        assert (found.lower, found.upper) == (certificate.lower, certificate.upper), name
        assert found.minimise == (side == "lower")
        assert len(found.points) == 1
        at = dict(
            zip(found.variables, (found.points[0].get(j, 0) for j in range(99)), strict=False)
        )
        if side == "lower":
            d, A = [at[f"d{i}"] for i in range(M)], game.matrix.toarray().T.tolist()
            edges = [sum(x * Fraction(a) for x, a in zip(d, row, strict=True)) for row in A]
            assert [at[f"e{j}"] for j in range(N)] == edges
            cost = exactly.penalty(game.relaxation.resolve(M), d)
            # Without a rule for auxiliaries they are rounded points near the best ones.
            has_rule = game.relaxation.exact_auxiliaries(d) is not None
            beyond = certificate.upper - cost - size(game.over, edges)
            assert 0 <= beyond <= (0 if has_rule else 1e-9), name
        else:
            w = [at[f"edge{j}_high"] - at[f"edge{j}_low"] for j in range(N)]
            given = certificate.document["w"]
            assert [x for x in w if x] == [x for x in numbers(given) if x]


def numbers(vector):
    below = int(vector["denominator"])
    return [Fraction(int(x), below) for x in vector["numerators"]]


def size(over, v):
    r = Fraction(over.radius)
    if isinstance(over, rb.L1Ball):
        return r * max(map(abs, v))
    return r * max([*v, Fraction(0)] if over.holds_zero else v)


def best(found, fixed):
    """Return the optimum of the program in a file with forms of its variables fixed, in floats."""
    n = len(found.variables)
    numbers_of = {name: j for j, name in enumerate(found.variables)}
    A, b, E, e = [], [], [], []
    for c in found.constraints:
        row = np.zeros(n)
        row[list(c.terms)] = [float(v) for v in c.terms.values()]
        if c.sense == 0:
            E.append(row)
            e.append(float(c.side))
        else:
            A.append(-c.sense * row)
            b.append(-c.sense * float(c.side))
    for form, value in fixed:
        row = np.zeros(n)
        for name, v in form.items():
            row[numbers_of[name]] = v
        E.append(row)
        e.append(value)
    cost = np.zeros(n)
    cost[list(found.objective)] = [float(v) for v in found.objective.values()]
    sign = 1 if found.minimise else -1
    solved = linprog(sign * cost, np.array(A), np.array(b), np.array(E), np.array(e), (None, None))
    return sign * solved.fun if solved.status == 0 else None


def test_the_programs_are_the_game(rng):
    """At other pairs too the files' programs are f(d) + g(A'd) and F(Aw)."""
    finite = 0
    for name, game, _, side, text in files():
        found, f = read_vipr(text), game.relaxation.resolve(M)
        A = game.matrix.toarray()
        d, w = pair(game, rng)
        d = (d + 7 / M) / 8  # close to uniform, which most f have in their domain
        if side == "lower":
            value = best(found, [({f"d{i}": 1}, d[i]) for i in range(M)])
            expected = f.penalty(d) + float(size(game.over, (A.T @ d).tolist()))
        else:
            value = best(
                found, [({f"edge{j}_high": 1, f"edge{j}_low": -1}, w[j]) for j in range(N)]
            )
            expected = f.relaxed_margin(A @ w)[0]
        if expected == np.inf:
            assert value is None, name
        else:
            finite += 1
            assert value == pytest.approx(expected, abs=1e-7), (name, side)
    assert finite > 0.8 * len(files())


def test_documents_that_certify_does_not_write():
    """FORMAT.md allows more than our relaxations describe: c f of any f, and weighted balls."""
    found = next(c.document for name, _, c in certificates() if name == "shifted")
    rows = [",".join(str(float(x) / 2) for x in row.split(",")) for row in found["game"]["rows"]]
    of = found["game"]["relaxation"]
    assert of["constant"] != "0"
    half = {"rows": rows, "relaxation": {"kind": "scaled", "factor": "1/2", "of": of}}
    halves = {name: str(Fraction(found[name]) / 2) for name in ("lower", "upper")}
    check_files({**found, **halves, "game": {**found["game"], **half}})
    d, w, sizes = np.full(M, 1 / M), [0.5, -0.25, 0.25, 0], [1, 2, 4, 1, 2, 4]
    game = rb.Game(games()[0][1].matrix.toarray(), rb.NormBall(np.inf, 1, sizes))
    found = rb.certify(game, d=d, w=w).document
    assert found["game"]["relaxation"]["kind"] == "caps"
    weights = rb.NormPenalty(np.inf, 1, sizes).describe(M)["weights"]
    ball = {"kind": "norm", "p": "inf", "weights": weights, "radius": "1"}
    check_files({**found, "game": {**found["game"], "relaxation": ball}})


def check_files(document):
    for text in exported(document, "vipr").values():
        found = read_vipr(text)
        assert (str(found.lower), str(found.upper)) == (document["lower"], document["upper"])


def section(lines, word):
    return next(i for i, line in enumerate(lines) if line.startswith(word + " "))


def moved(words, at, amount):
    return [*words[:at], str(Fraction(words[at]) + amount), *words[at + 1 :]]


def tampered(text, rng):
    """Yield files that are wrong by one number, each so that exact evaluation finds it false."""
    lines = text.splitlines()
    tiny, con, rtp = Fraction(1, 10**30), section(lines, "CON"), section(lines, "RTP")
    sum_ = lines[-1].split()
    used = range(sum_.index("lin") + 2, len(sum_) - 2, 2)
    minimise = "OBJ min" in text

    def changed(number, words):
        return "\n".join([*lines[:number], " ".join(words), *lines[number + 1 :]]) + "\n"

    at = int(rng.choice(used))
    yield "multiplier", changed(len(lines) - 1, moved(sum_, at + 1, tiny))
    row = con + 1 + int(sum_[at])
    words = lines[row].split()
    yield "coefficient", changed(row, moved(words, int(rng.choice(range(5, len(words), 2))), -tiny))
    worse = -tiny if (Fraction(sum_[at + 1]) > 0) == minimise else tiny
    yield "side", changed(row, moved(words, 2, worse))
    range_ = lines[rtp].split()
    yield "lower", changed(rtp, moved(range_, 2, tiny))
    yield "upper", changed(rtp, moved(range_, 3, -tiny))
    point = lines[rtp + 2].split()
    in_rows = {words[4] for words in map(str.split, lines[con + 1 : rtp]) if words[1] == "E"}
    own = [k for k in range(2, len(point), 2) if point[k] in in_rows]
    yield "point", changed(rtp + 2, moved(point, int(rng.choice(own)) + 1, tiny))
    yield "bound", changed(len(lines) - 1, moved(sum_, 2, tiny if minimise else -tiny))


def test_one_wrong_number_is_rejected(rng):
    for name, _, _, side, text in files()[::2] + files()[1::4]:
        for what, wrong in tampered(text, rng):
            assert rejected(wrong), f"{name} {side}: {what}"


def rejected(text):
    try:
        read_vipr(text)
    except vipr_checker.RefusedError:
        return True
    return False


SMALL = """% least x + y with x + 2y >= 1, x >= 0, x + y <= 3
VER 1.0
VAR 2
x y
INT 0
OBJ min
2 0 1 1 1
CON 3 1
bound G 0 1 0 1
row G 1 2 0 1 1 2
above L 3 OBJ
RTP range 1/2 1
SOL 1
point 1 0 1
DER 2
half G 1/2 2 0 1/2 1 1 { lin 1 1 1/2 } 4
all G 1/2 OBJ { lin 2 0 1/2 3 1 } -1
"""


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        ("VER 1.0", "VER 1.1", "first line is not VER 1.0"),
        ("VER 1.0\n", "VER 1.0 ", "first line is not VER 1.0"),
        ("VER", "comment\nVER", "first line is not VER 1.0"),
        ("DER 2\n", "DER 2 ", "behind the end"),
        ("} 4\nall", "} 4 all", "one derivation a line"),
        ("{ lin 1 1 1/2 }", "\n{ lin 1 1 1/2 }", "one derivation a line"),
        ("G 1/2 2 0 1/2 1 1 {", "G 1/2 3 0 1/2 1 1 2 0 {", "out of range"),
        ("2 0 1 1 2\n", "2 0 0 1 2\n", "index 0 is 0"),
        ("range 1/2 1\n", "range 0.5 1\n", "no number"),
        ("x y", "x x", "one name"),
        ("CON 3 1", "CON 3 3", "a bound is none"),
        ("1 0 1\nrow", "1 2 1\nrow", "out of range"),
        ("2 0 1 1 2", "2 0 1 0 2", "twice"),
        ("G 1 2", "N 1 2", "should be"),
        ("G 1 2", "G 1/0 2", "by zero"),
        ("G 1 2", "G 1e0 2", "no number"),
        ("RTP range 1/2 1", "RTP infeas", "should be"),
        ("range 1/2 1", "range 1/2 1/4", "empty"),
        ("range 1/2 1", "range 51/100 1", "weaker"),
        ("range 1/2 1", "range 1/2 99/100", "as good"),
        ("SOL 1\npoint 1 0 1", "SOL 0", "as good"),
        ("point 1 0 1", "point 1 0 4", "violates above"),
        ("point 1 0 1", "point 2 0 -1 1 1", "violates bound"),
        ("{ lin 1 1 1/2 }", "{ rnd 1 1 1/2 }", "should be"),
        ("{ lin 1 1 1/2 }", "{ asm }", "should be"),
        ("{ lin 1 1 1/2 } 4", "{ lin 1 1 1/2 } 3", "let go"),
        ("{ lin 1 1 1/2 } 4", "{ lin 1 4 1/2 } 4", "out of range"),
        ("lin 2 0 1/2 3 1", "lin 3 0 1/2 3 1 2 1", "wrong sign"),
        ("lin 2 0 1/2 3 1", "lin 2 0 1/2 3 -1", "wrong sign"),
        ("lin 2 0 1/2 3 1", "lin 2 0 1/2 3 2", "does not follow"),
        ("all G 1/2 OBJ", "all G 1/4 OBJ", "weaker"),
        ("DER 2", "DER 1", "one derivation a line"),
        ("} -1", "} -1 more", "behind the end"),
        ("point 1 0 1", "point 1 0 1 2", "behind the end"),
        ("} -1", "", "ends early"),
    ],
)
def test_the_checker_refuses_what_does_not_follow(old, new, why):
    found = read_vipr(SMALL)
    assert (found.lower, found.upper) == (Fraction(1, 2), 1)
    assert SMALL.count(old) == 1
    with pytest.raises(vipr_checker.RefusedError, match=why):
        read_vipr(SMALL.replace(old, new))


def test_lean_has_the_same_program_and_its_theorems_are_true():
    for name, _, certificate, side, text in files():
        if side == "upper":
            continue
        program, other = read_lean(certificate.export("lean")[".lean"]), read_vipr(text)
        assert (program.lower, program.upper) == (certificate.lower, certificate.upper), name
        assert not program.optimal
        rows = [(*ends, {}) for ends in program.row_bounds]
        for i, j, v in program.a:
            rows[i][2][j] = v
        rows += [(*ends, {j: 1}) for j, ends in enumerate(program.col_bounds)]
        sides = []
        for low, high, row in rows:
            if low is not None and low == high:
                sides.append((0, low, row))
                continue
            sides += [(1, low, row)] * (low is not None) + [(-1, high, row)] * (high is not None)
        constant = [c for c in other.constraints if c.name == "constant"]
        expected = [c for c in other.constraints if c not in constant]
        assert sides == [(c.sense, c.side, c.terms) for c in expected], name
        spent = sum(c.side * other.objective[j] for c in constant for j in c.terms)
        assert spent == program.offset
    value = 0
    for name, game in games()[::3]:
        certificate = optimum(game)
        program = read_lean(certificate.export("lean")[".lean"])
        assert program.optimal == (certificate.lower == certificate.upper), name
        value += program.optimal
    assert value > 5


def test_a_wrong_lean_file_is_refused():
    text = optimum(games()[0][1]).export("lean")[".lean"]
    assert read_lean(text).optimal
    for name in ("c", "point : .*?", "rowLower", "rowUpper", "colLower", "colUpper"):
        vector = re.search(rf"{name} := #v\[(.*?)\]", text)
        for number in re.finditer(r"[^,]+", vector[1]):
            start, end = (vector.start(1) + at for at in number.span())
            with pytest.raises(lean_reader.RefusedError):
                read_lean(f"{text[:start]} (7 / 5){text[end:]}")
    m = int(re.search(r"Problem (\d+)", text)[1])
    for old, new in [
        ("(0, 0, 1)", f"({m}, 0, 1)"),  # which Lean reads as (0, 0, 1)
        ("(0, 0, 1)", "(0, 0, 2)"),
        ("(0, 0, 1), ", "(0, 0, 1), (0, 0, 1), "),
        ("by decide +kernel", "by sorry"),
        ("objOffset := 0", "objOffset := 1"),
        ("point = true", "point = false"),
        ("vPrimalObj game point = ", "vPrimalObj game point = 1 + "),
        ("def point", "axiom x : False def point"),
        ("(some 0, none), ", "(none, none), "),
        ("(some 0, none), ", ""),
    ]:
        assert old in text
        with pytest.raises(lean_reader.RefusedError):
            read_lean(text.replace(old, new, 1))


def test_a_page_is_true_line_by_line():
    pages = 0
    for name, game in small_games():
        certificate = optimum(game)
        try:
            text = certificate.export("latex")[".tex"]
        except rb.InputError:  # long fractions
            continue
        pages += 1
        page = read_latex(text)
        assert (page["lower"], page["upper"]) == (certificate.lower, certificate.upper), name
        assert page["A"] == [[Fraction(x) for x in row] for row in game.matrix.toarray().tolist()]
        cost = exactly.penalty(game.relaxation.resolve(game.m), page["d"])
        edges = [
            sum(x * y for x, y in zip(page["d"], a, strict=True))
            for a in zip(*page["A"], strict=True)
        ]
        assert cost + size(game.over, edges) == certificate.upper, name
    assert pages > 15


def small_games():
    """Every family on 4 x 3, whose fractions are short."""
    rng = np.random.default_rng(5)
    for i, (name, make) in enumerate(FAMILIES):
        if make(4).exact_form(4) is not None:
            yield name, rb.Game(rng.integers(-2, 3, (4, 3)) / 2, make(4), over=DOMAINS[i % 4])


def test_a_wrong_page_is_refused():
    A = np.array([[1, 1, -1], [1, -1, 1], [-1, 1, 1], [1, 1, 0.5]])
    text = optimum(rb.Game(A, rb.NormPenalty(np.inf, 0.5), over=rb.Simplex())).export("latex")[
        ".tex"
    ]
    assert read_latex(text)["upper"] == Fraction(1, 2)
    for old, new in [
        (r"\rho\le\tfrac{1}{2}", r"\rho\le\tfrac{49}{100}"),
        (r"\rho\ge\tfrac{1}{2}", r"\rho\ge\tfrac{51}{100}"),
        (r"d=\tfrac{1}{3}(1,1,1,0)", r"d=\tfrac{1}{3}(1,1,0,1)"),
        (r"d=\tfrac{1}{3}(1,1,1,0)", r"d=\tfrac{1}{2}(1,1,1,0)"),
        (r"z=(\tfrac{1}{3})", r"z=(\tfrac{1}{4})"),
        (r"w=\tfrac{1}{4}(1,1,2)", r"w=\tfrac{1}{4}(1,2,1)"),
        (r"1 & -1 & 1", r"1 & -1 & 0"),
        (r"w\ge0$ and ", r""),
        (r"w_j=1$", r"w_j\le 1$"),
        (r"\max_j v_j", r"\max_j|v_j|"),
        (r"\textstyle\sum_i d_i-", r"\textstyle\sum_i d_i+"),
        (r"f(d)\le\tfrac{1}{6}", r"f(d)\le\tfrac{1}{7}"),
        (r"d_{1}-z_{1}\le0", r"d_{1}-z_{1}\le1"),
        (r"\quad d_{2}", r"\quad 2\,d_{2}"),
        (r"0\le z_{1}", r"1\le z_{1}"),
        (r"\paragraph", r"\input"),
        (r"\tfrac{1}{2}\,z", r"\tfrac{1}{2\,z"),
        (r"\end{align*}", r""),
        (r"$d=", r"d="),
    ]:
        assert old in text, old
        with pytest.raises(latex_reader.RefusedError):
            read_latex(text.replace(old, new, 1))


def refused(certificate, form, A=None):
    with pytest.raises(rb.InputError) as info:
        certificate.export(form, A)
    return str(info.value)


@pytest.mark.parametrize("form", FORMS)
def test_what_cannot_be_exported_is_refused(form):
    A, pair_ = np.eye(3), {"d": np.full(3, 1 / 3), "w": np.full(3, 1 / 3)}

    def certificate(f, over=None):
        return rb.certify(rb.Game(A, f, over=over or rb.L1Ball()), **pair_)

    assert "this one is level 'enclosed'" in refused(certificate(rb.KLPenalty(0.1)), form)
    assert "this one is level 'enclosed'" in refused(certificate(rb.Capped(2), rb.L2Ball()), form)
    assert "exports need a polyhedral domain" in refused(
        certificate(rb.Capped(2), rb.SquaredNorm(1)), form
    )
    assert "proves nothing" in refused(certificate(rb.Custom(f=soft_cap)), form)
    good = certificate(rb.Capped(2))
    wrong = Certificate({**good.document, "lower": "1/2"})
    assert "not accepted" in refused(wrong, form)
    assert "unknown format" in refused(good, form.upper())


def test_a_page_has_its_limits():
    wide = rb.Game(np.eye(11), rb.HardMargin())
    assert "this game has a matrix of 11 x 11" in refused(optimum(wide), "latex")
    long = rb.certify(rb.Game(np.eye(2) / 3, rb.HardMargin()), d=[0.3, 0.7], w=[0.3, 0.7])
    assert "denominators of 33 digits. A or f itself has such denominators" in refused(
        long, "latex"
    )
    rough = rb.certify(rb.Game(np.eye(2) / 2, rb.HardMargin()), d=[0.3, 0.7], w=[0.3, 0.7])
    assert "digits. Certify exact_optimum(game), or" in refused(rough, "latex")


def test_what_helps_a_game_of_floats_onto_a_page_is_what_the_message_says(rng):
    A = rng.uniform(-1, 1, (5, 4))
    for game in (rb.Game(A, rb.Capped(2)), rb.Game(A, rb.Capped(2.5))):
        assert "numpy.round(16 * A) / 16" in refused(optimum(game), "latex")
        rounded = rb.Game(np.round(16 * A) / 16, game.relaxation)
        assert optimum(rounded).export("latex")
    transport = dict(POLYHEDRAL)["transport"]
    many = rb.Game(np.eye(9), transport)
    assert " terms. Use vipr" in refused(optimum(many), "latex")


def test_matrices_inline_and_beside(rng, tmp_path):
    """Certificates hold the matrix, or its SHA-256 and of stumps the data's; it is then given."""
    X, y = rng.normal(size=(12, 2)).round(1), rng.choice([-1, 1], 12)
    stumps = rb.matrices.stumps(X, y)
    A, path = rng.choice([-1.0, 0.5], (12, 5)), tmp_path / "A.csv"
    np.savetxt(path, A, delimiter=",", fmt="%.17g")
    for matrix, forms in ((stumps, [stumps]), (A, [A, path, rb.Game(A, rb.HardMargin()).matrix])):
        game = rb.Game(matrix, rb.Capped(3))
        given = {"d": np.full(12, 1 / 12), "w": np.full(game.n, 1 / game.n)}
        beside = rb.certify(game, **given, inline=False)
        assert "not accepted" in refused(beside, "vipr")
        assert "not accepted" in refused(beside, "vipr", -np.ones((12, game.n)))
        texts = [rb.certify(game, **given, inline=True).export("vipr")]
        assert texts * len(forms) == [beside.export("vipr", form) for form in forms]
        for file in texts[0].values():
            found = read_vipr(file)
            assert (found.lower, found.upper) == (beside.lower, beside.upper)


def test_certo_proves_the_bracket_from_true_inequalities():
    """The inequalities are those of both programs, and multipliers add them up to each bound."""
    for name, _, certificate in certificates():
        lower, upper, rows = read_certo(certificate.export("certo")[".certo.json"])
        assert (lower, upper) == (certificate.lower, certificate.upper), name
        wanted = {"value:primal": {}, "value:dual": {}}
        texts = certificate.export("vipr")
        for form in (read_vipr(texts[".lower.vipr"]), read_vipr(texts[".upper.vipr"])):
            for c in form.constraints:
                terms = {form.variables[j]: v for j, v in c.terms.items()}
                for side, sign in (("at_least", -1), ("at_most", 1)):
                    if c.sense != sign:
                        signed = {key: sign * v for key, v in terms.items()}
                        wanted[f"{c.name}:{side}"] = (signed, -sign * c.side)
            sign = 1 if form.minimise else -1
            costs = {form.variables[j]: sign * v for j, v in form.objective.items()}
            row = "value:primal" if form.minimise else "value:dual"
            wanted[row] = ({**costs, "value": -sign}, 0)
        assert set(rows) - {"weaker"} == set(wanted), name
        for key, (terms, const) in wanted.items():
            found = {other: Fraction(v) for other, v in rows[key]["coeffs"].items()}
            assert (found, Fraction(rows[key]["const"])) == (terms, const), (name, key)


def test_certo_claims_no_more_than_a_bound_that_was_rounded():
    document = certificates()[0][2].document
    tiny = Fraction(1, 10**9)
    wide = {
        "lower": Fraction(document["lower"]) - tiny,
        "upper": Fraction(document["upper"]) + tiny,
    }
    text = exported({**document, **{key: str(v) for key, v in wide.items()}}, "certo")[
        ".certo.json"
    ]
    assert read_certo(text)[:2] == tuple(wide.values())


def test_a_wrong_certo_file_is_refused():
    text = certificates()[0][2].export("certo")[".certo.json"]
    good = json.loads(text)
    tiny = Fraction(1, 10**30)
    for end in ("lower", "upper"):
        used = good["payload"][end]["used"]
        for name in used:
            wrong = json.loads(text)
            multipliers = wrong["payload"][end]["multipliers"]
            multipliers[name] = str(Fraction(multipliers[name]) + tiny)
            with pytest.raises(certo_reader.RefusedError):
                read_certo(json.dumps(wrong))
        wrong = json.loads(text)
        wrong["payload"][end]["bound"] = str(Fraction(good["payload"][end]["bound"]) + tiny)
        with pytest.raises(certo_reader.RefusedError, match="bound"):
            read_certo(json.dumps(wrong))


def highs_model(text, folder):
    """Return HiGHS with the model of a file."""
    path = folder / "game.mps"
    path.write_text(text)
    highs = highspy.Highs()
    highs.setOptionValue("output_flag", False)
    assert highs.readModel(str(path)) != highspy.HighsStatus.kError
    return highs


def test_highs_solves_the_mps_file_to_the_optimum(tmp_path):
    for name, game in games():
        certificate = optimum(game)
        highs = highs_model(certificate.export("mps")[".mps"], tmp_path)
        highs.run()
        assert highs.getModelStatus() == highspy.HighsModelStatus.kOptimal
        value = highs.getObjectiveValue()
        assert certificate.lower - Fraction(1, 10**7) <= value, name
        assert value <= certificate.upper + Fraction(1, 10**7), name


def read_mps(text):
    """Return rows (low, entries by variable, high) and bounds of variables of an MPS file."""
    section, rows, boxes = "", {}, {}
    for line in text.splitlines():
        words = line.split()
        if not line.startswith((" ", "*")):
            section = words[0]
        elif section == "ROWS":
            rows[words[1]] = [words[0], {}, Fraction(0), None]
        elif section == "COLUMNS":
            rows[words[1]][1][words[0]] = Fraction(words[2])
        elif section in ("RHS", "RANGES"):
            rows[words[1]][2 if section == "RHS" else 3] = Fraction(words[2])
        elif section == "BOUNDS":
            side = {"LO": 0, "UP": 1}.get(words[0])
            boxes.setdefault(words[2], [None, None])
            if side is not None:
                boxes[words[2]][side] = Fraction(words[3])
    return rows, boxes


def test_the_points_of_an_mps_file_prove_the_bracket():
    """In fractions: the point is feasible, and rows times multipliers are at least the bound."""
    for name, _, certificate in certificates():
        texts = certificate.export("mps")
        rows, boxes = read_mps(texts[".mps"])
        points = json.loads(texts[".points.json"])
        x = {key: Fraction(v) for key, v in points["primal"].items()}
        assert set(x) == set(boxes), name
        assert rows.pop("objective")[1] == {"value": 1}
        prices = dict.fromkeys(x, Fraction(0)) | {"value": Fraction(1)}
        bound = Fraction(0)
        for key, (sense, entries, side, width) in rows.items():
            low = side if sense in "EG" else None if width is None else side - width
            high = None if sense == "G" else side
            left = sum(v * x[j] for j, v in entries.items())
            assert low is None or left >= low, (name, key)
            assert high is None or left <= high, (name, key)
            y = Fraction(points["dual"].get(key, 0))
            if y:
                bound += y * (low if y > 0 else high)
                for j, v in entries.items():
                    prices[j] -= y * v
        for key, (low, high) in boxes.items():
            assert low is None or x[key] >= low, (name, key)
            assert high is None or x[key] <= high, (name, key)
            assert prices[key] == Fraction(points["reduced_costs"].get(key, 0)), (name, key)
            if prices[key]:
                bound += prices[key] * (low if prices[key] > 0 else high)
        assert (points["lower"], points["upper"]) == (
            str(certificate.lower),
            str(certificate.upper),
        )
        assert certificate.lower <= bound, name
        assert x["value"] <= certificate.upper, name


def test_numbers_of_an_mps_file_are_decimals_of_moderate_size(tmp_path):
    """1/3 is no decimal, so its row is multiplied; 1e-300 and a third of a double are written."""
    A = np.array([[1.0, 1e-300], [-0.1, 0.7], [0.3, -1.0]])
    for f in (rb.NormBall(np.inf, 1, [1 / 3, 1, 1]), rb.Caps([Fraction(1, 3), 1, 0.7])):
        certificate = rb.certify(rb.Game(A, f), d=[0.3, 0.3, 0.4], w=[0.5, 0.5])
        text = certificate.export("mps")[".mps"]
        rows, _ = read_mps(text)
        assert all(abs(v) < 10 for _, row, _, _ in rows.values() for v in row.values())
        assert highs_model(text, tmp_path).getNumRow() == len(rows) - 1

"""Check a certificate: python check.py FILE [--matrix FILE]. FORMAT.md defines the format.

A copy of this file works alone. Only the level `enclosed` needs check_enclosed.py and python-flint.
The checker evaluates two bounds on the value rho of a game and never optimises. A distribution d
proves rho <= f(d) + g(A'd), and weights w and x >= gamma - Aw prove rho >= gamma - f*(x) - g*(w).
Here A is the margin matrix, f the relaxation, and g* the penalty on w; f* and g are conjugates.
"""

import hashlib
import importlib.util
import json
import math
import os
import re
import struct
import sys
from fractions import Fraction
from itertools import accumulate, chain, compress
from operator import add, ge, le, mul, sub, truediv
from types import SimpleNamespace

MAX_BYTES = 1 << 28  # A file has at most this many bytes.
MAX_MATRIX_ENTRIES = 1 << 26  # A matrix has at most this many entries.
MAX_AUXILIARIES = 1 << 22  # A relaxation f has at most this many variables other than d.
MAX_DIGITS = 20_000  # A number has at most this many digits. In large games, the limit is lower.
MAX_VECTOR_DIGITS = 50_000_000  # All numbers of a vector together have at most this many digits.
MAX_WORK = 1 << 19  # A unit of work takes about ten microseconds. 32 bytes of a file add a unit.
MAX_DEPTH = 20  # Objects are nested at most this deep.
ZERO = Fraction(0)
ONE = Fraction(1)


class Rejected(Exception):
    """Raised if a certificate is rejected. The message is the reason."""


def need(condition, reason):
    """Raise Rejected with the given reason unless the condition is True."""
    if condition is not True:
        raise Rejected(reason)


def fraction(text, name, most=MAX_DIGITS):
    """Parse a string such as "-3/7" as a rational number."""
    short = text if isinstance(text, str) and len(text) <= 2 * most else ""
    parts = re.fullmatch(r"(-?[0-9]+)(?:/(0*[1-9][0-9]*))?", short, re.ASCII)
    fine = parts is not None and max(map(len, parts.groups(""))) <= most
    need(fine, f"{name!r}: {str(text)[:20]!a} is not a number like '-3/7' of <= {most} digits")
    return Fraction(integer(parts[1]), integer(parts[2] or "1"))


def integer(text):
    """Convert a string of any length to an integer. Python's int() limits the number of digits."""
    value = 0
    for part in re.findall("[0-9]{1,4000}", text):
        value = value * 10 ** len(part) + int(part)
    return -value if text.startswith("-") else value


class Fields:
    """A JSON object of a certificate. Missing, unknown and invalid fields are rejected."""

    def __init__(self, given, where, limits=None, depth=0):
        need(isinstance(given, dict), f"{where} is not an object")
        need(depth <= MAX_DEPTH, f"objects are nested more than {MAX_DEPTH} deep")
        self.left, self.where, self.depth = dict(given), where, depth
        self.limits = limits or SimpleNamespace(digits=MAX_DIGITS, left=math.inf, each=1)

    def spend(self, entries, units=0):
        """Subtract the work for `entries` entries, and `units` further units, from the budget."""
        self.limits.left -= entries * self.limits.each + units
        need(self.limits.left >= 0, "this file needs more work than FORMAT.md allows for its size")

    def take(self, name, kind=str):
        """Return the field `name`. Reject the field if it has another type."""
        need(name in self.left, f"{self.where} has no {name!r}")
        need(type(self.left[name]) is kind, f"{name!r} in {self.where} must be {kind.__name__}")
        value = self.left.pop(name)
        return Fields(value, name, self.limits, self.depth + 1) if kind is dict else value

    def number(self, name, above=None):
        """Return the field `name` as a fraction, which must exceed the bound `above` if given."""
        value = fraction(self.take(name), name, self.limits.digits)
        need(above is None or value > above, f"{name!r} in {self.where} is not above {above}")
        return value

    def whole(self, name, low, high):
        """Return the field `name` as an integer. Reject an integer that is not in low..high."""
        value = self.take(name, int)
        need(low <= value <= high, f"{name!r} in {self.where} is not in {low}..{high}")
        return value

    def vector(self, name, length, above=None, gap=None):
        """Return the field `name` as a list of fractions. Each null is replaced by `gap`."""
        self.spend(length)
        if isinstance(self.left.get(name), str):
            return [self.number(name, above)] * length
        if gap and self.left.get(name, "") is None:
            return [self.left.pop(name) or gap] * length
        fields = self.take(name, dict)
        below, items = fields.number("denominator", 0), fields.take("numerators", list)
        fields.done()
        need(len(items) == length, f"{name!r} has {len(items)} entries instead of {length}")
        # With one denominator for all entries, their sums are not much longer than the entries.
        need("/" not in "".join(map(str, items)), f"a numerator of {name!r} is not an integer")
        digits = self.limits.digits
        values = [gap if gap and x is None else fraction(x, name, digits) / below for x in items]
        need(above is None or min(values) > above, f"an entry of {name!r} is not above {above}")
        return values

    def rows(self, size):
        """Return the rows of a linear program as lists of pairs (variable, coefficient)."""
        columns = self.take("columns", list)
        count = sum(len(row) for row in columns if type(row) is list)
        self.spend(len(columns), count * (self.limits.each - 1))  # Sums of long numbers are longer.
        for row in columns:
            fine = type(row) is list and all(type(j) is int and 0 <= j < size for j in row)
            need(fine and len(set(row)) == len(row), "'columns' must be distinct variables")
        entries = iter(self.vector("coefficients", count))
        return [[(j, next(entries)) for j in row] for row in columns]

    def groups(self, m):
        """Return a list with the examples of each group, and finally the examples in no group."""
        labels = self.take("groups", list) if "groups" in self.left else list(range(m))
        fine = len(labels) == m and all(type(g) is int and -1 <= g < m for g in labels)
        need(fine, f"'groups' must have {m} labels")
        members = [[] for _ in range(max(labels) + 2)]
        for i, g in enumerate(labels):
            members[g].append(i)
        return members

    def done(self):
        """Reject the object if it has unknown fields."""
        need(not self.left, f"{self.where} has unknown fields: {sorted(self.left)[:3]!a}")


def read(path):
    """Return the text of a file. Reject devices and pipes, which could be endless."""
    need(os.path.isfile(path), f"there is no file {path}")
    need(os.path.getsize(path) <= MAX_BYTES, f"{path} has more than {MAX_BYTES} bytes")
    with open(path, encoding="utf-8") as file:
        return file.read(MAX_BYTES + 1)


def load(path):
    """Return the JSON document of a certificate file."""

    def unique(pairs):
        need(len(dict(pairs)) == len(pairs), "an object has a key twice")
        return dict(pairs)

    def number(text):
        short = re.fullmatch("-?[0-9]{1,9}", text) is not None
        need(short, f"{text[:20]} is not a short integer; write other numbers as strings")
        return int(text)

    # Readers of JSON differ in repeated keys and in how they round floats, so both are refused.
    hooks = dict.fromkeys(("parse_int", "parse_float", "parse_constant"), number)
    return json.loads(read(path), object_pairs_hook=unique, **hooks)


def matrix(game, m, n, path):
    """Return the rows of the margin matrix, and the SHA-256 of its data."""
    recipe = game.take("stumps", dict) if "stumps" in game.left else None
    lines = game.take("rows", list) if "rows" in game.left else None
    if path is not None:  # The matrix in the file `path` replaces the rows of the certificate.
        lines = read(path).splitlines()
    what = "A" if recipe is None else "the matrix with 1 or -1 and the features in each row"
    remedy = "pass --matrix FILE, or make a file that contains it with certify(..., inline=True)"
    need(lines is not None, f"the file is incomplete, because it lacks {what}; {remedy}")
    need(len(lines) == m, f"A has {len(lines)} rows; remove any header and pass {m} rows")
    rows = decimals(lines)
    if recipe is not None:
        return stumps(recipe, rows, n)
    inside = min(map(min, rows)) >= -1 and max(map(max, rows)) <= 1
    need(len(rows[0]) == n and inside, f"A must have {n} columns of numbers in [-1, 1]")
    sha = hashlib.sha256(f"relaxboost matrix v1 {m} {n}\n".encode())
    for column in zip(*rows, strict=True):  # Zeros do not count, so sparse and dense A agree.
        used, values = list(compress(range(m), column)), filter(None, column)
        sha.update(struct.pack(f"<{len(used) + 1}q{len(used)}d", len(used), *used, *values))
    return rows, sha.hexdigest()


def decimals(lines):
    """Parse each line as a row of decimal numbers, and round them to the nearest doubles."""
    decimal, rows = re.compile(r"-?[0-9]+(\.[0-9]+)?(e[-+]?[0-9]{1,3})?", re.ASCII), []
    for i, line in enumerate(lines):
        tokens = line.split(",") if type(line) is str else [""]
        known = {t: float(t) for t in set(tokens) if len(t) <= 40 and decimal.fullmatch(t)}
        need(set(tokens) <= set(known), f"row {i} of A is not numbers separated by commas")
        rows.append(list(map(known.__getitem__, tokens)))
    need(len(set(map(len, rows))) == 1, "rows of A differ in length")
    return rows


def stumps(recipe, data, n):
    """Return the rows of the margin matrix of all stumps, and the SHA-256 of the data."""
    y, *features = zip(*data, strict=True)
    fine = set(y) <= {1, -1} and all(map(math.isfinite, chain(*features)))
    need(fine, "each row of the data must have 1 or -1 and the features")
    most = recipe.left.pop("max_cuts", None)
    recipe.done()
    need(most is None or (type(most) is int and most > 0), "'max_cuts' must be null or above 0")
    places = [(f, cut) for f, x in enumerate(features, 1) for cut in cuts(x, most)]
    remedy = "rows of the matrix must have y (1 or -1) and the features, not the margins"
    need(len(places) == n, f"the data give {len(places)} stumps instead of {n}; {remedy}")
    head = f"relaxboost stumps v1 {(len(data), len(features))} max_cuts={most}\n"
    values = [*(x + 0.0 for row in data for x in row[1:]), *y]  # The sum turns -0 into 0.
    sha = hashlib.sha256(head.encode() + struct.pack(f"<{len(values)}d", *values))
    return [[r[0] if r[f] > c else -r[0] for f, c in places] for r in data], sha.hexdigest()


def cuts(x, most):
    """Return at most `most` thresholds for stumps: values x of a feature, except the largest."""
    levels = sorted(set(x))[:-1]
    if most is None or len(levels) <= most:
        return levels
    step = (len(levels) - 1) / max(1, most - 1)  # The package rounds this number to a double, too.
    return [levels[i] for i in sorted({round(i * step) for i in range(most)})]


def products(rows, d, w):
    """Return the margins for the weights w and the edges for the distribution d, as fractions."""
    ratios = {a: a.as_integer_ratio() for a in set().union(*rows)}
    scale = max(below for _, below in ratios.values())
    whole = {a: top * (scale // below) for a, (top, below) in ratios.items()}
    columns = [list(map(whole.__getitem__, column)) for column in zip(*rows, strict=True)]
    below = math.lcm(*{x.denominator for x in (*d, *w.values())})
    shares, u = [int(x * below) for x in d], [0] * len(d)
    edges = [Fraction(sum(map(mul, column, shares)), scale * below) for column in columns]
    for j, c in w.items():
        u = list(map(add, u, map(int(c * below).__mul__, columns[j])))
    return [Fraction(x, scale * below) for x in u], edges


# Each kind of f returns two functions: f(d), on all of R^m, and f*(x, witness). The function `real`
# turns a rational into a number of the level: into itself, or into a ball around it.


def hard_margin(spec, m, real):
    """Return the relaxation f of the hard margin, which is 0, and its conjugate f*."""
    return lambda d: real(ZERO), lambda x, w: need(not any(x), "x is not 0") or real(ZERO)


def caps(spec, m, real):
    """Return the relaxation f and its conjugate f* for caps on sums of |d| over groups."""
    *members, free = spec.groups(m)
    pairs = list(zip(members, spec.vector("caps", len(members)), strict=True))
    inside = lambda d: all(sum(abs(d[i]) for i in g) <= c for g, c in pairs)  # noqa: E731

    def conjugate(x, w):
        need(not any(x[i] for i in free), "x is not 0 where there is no cap")
        return real(sum((c * max(abs(x[i]) for i in g) for g, c in pairs if g), ZERO))

    return lambda d: need(inside(d), "d exceeds a cap") or real(ZERO), conjugate


def spectral(spec, m, real):
    """Return the relaxation f and its conjugate f* for caps on sums of the largest |d|."""
    s = spec.vector("spectrum", m)
    need(min(s) >= 0 and all(map(ge, s, s[1:])), "the spectrum is negative or increases")
    ranked = lambda x: sorted(map(abs, x), reverse=True)  # noqa: E731
    inside = lambda d: all(map(ge, accumulate(s), accumulate(ranked(d))))  # noqa: E731
    within = lambda d: need(inside(d), "d exceeds the spectrum") or real(ZERO)  # noqa: E731
    return within, lambda x, w: real(sum(map(mul, s, ranked(x)), ZERO))


def norm(spec, m, real):
    """Return the relaxation f and its conjugate f* for a weighted l1 norm or maximum norm."""
    p, a = spec.take("p"), spec.vector("weights", m, 0)
    need(p in ("1", "inf"), "p is neither 1 nor inf")
    size, dual = (sum, max)[:: 1 if p == "1" else -1]
    above = lambda d: real(size(map(mul, a, map(abs, d))))  # noqa: E731
    return bounded(spec, real, above, lambda x, w: real(dual(map(truediv, map(abs, x), a))))


def bounded(spec, real, size, dual):
    """Return the relaxation f and its conjugate f* for a multiple of a norm, or a norm ball."""
    if "weight" in spec.left:
        c = real(spec.number("weight", 0))
        inside = lambda x, w: need(dual(x, w) <= c, "f* is infinite at x") or real(ZERO)  # noqa: E731
        return lambda d: c * size(d), inside
    r = real(spec.number("radius", 0))
    within = lambda d: need(size(d) <= r, "d is outside the ball") or real(ZERO)  # noqa: E731
    return within, lambda x, w: r * dual(x, w)


exactly = lambda x: x  # noqa: E731
exactly.kinds = {"hard-margin": hard_margin, "caps": caps, "norm": norm, "spectral": spectral}


def worth(price, low, high):
    """Return the least value of price * x for low <= x <= high, which must be finite."""
    side = low if price > 0 else high
    need(price == 0 or abs(side) < math.inf, "a multiplier has no bound on its side")
    return price * side if price else ZERO


def polyhedral(spec, m, real):
    """Return functions that evaluate a polyhedral f(d) and bound its relaxed margin from below."""
    # f(d) is the constant plus the least cost of (d, z) over all z within the bounds and rows.
    size = m + spec.whole("auxiliaries", 0, MAX_AUXILIARIES)
    spec.limits.digits = min(spec.limits.digits, MAX_VECTOR_DIGITS // size)
    constant, cost = spec.number("constant"), spec.vector("cost", size)
    lower = spec.vector("lower", size, gap=-math.inf)
    upper = spec.vector("upper", size, gap=math.inf)
    rows = spec.rows(size)
    row_lower = spec.vector("row_lower", len(rows), gap=-math.inf)
    row_upper = spec.vector("row_upper", len(rows), gap=math.inf)
    spec.done()

    def penalty(d, given):
        need(given is not None, "a polyhedral f needs its auxiliaries z")
        x = [*d, *given.vector("z", size - m)]
        given.done()
        values = [*x, *(sum((a * x[j] for j, a in row), ZERO) for row in rows)]
        need(all(map(ge, values, lower + row_lower)), "(d, z) is below a bound of f")
        need(all(map(le, values, upper + row_upper)), "(d, z) is above a bound of f")
        return real(constant + sum(map(mul, cost, x), ZERO))

    def bound(u, w):
        gamma, y = w.number("gamma"), w.vector("multipliers", len(rows))
        w.done()
        prices = [c + v - gamma for c, v in zip(cost, u, strict=False)] + cost[m:]
        for row, multiplier in zip(rows, y, strict=True):
            for j, a in row:
                prices[j] -= multiplier * a
        # On the simplex, <d, u> + cost (d, z) = gamma + y rows (d, z) + prices (d, z) for any gamma
        # and multipliers y. Every d is in [0, 1], whatever the bounds of f are.
        least = [max(b, ZERO) for b in lower[:m]] + lower[m:]
        most = [min(b, ONE) for b in upper[:m]] + upper[m:]
        total = sum(map(worth, y, row_lower, row_upper), gamma + constant)
        return real(sum(map(worth, prices, least, most), total))

    return penalty, bound


def part(given, name):
    """Return the auxiliary variables in the field `name`, or None if the field is missing."""
    return given.take(name, dict) if given is not None and name in given.left else None


def relaxation(spec, m, real):
    """Return functions that evaluate a relaxation and bound its relaxed margin."""
    spec.spend(m + 20, min(50_000, 5_000 * spec.limits.each))  # Sums have long numbers.
    kind = spec.take("kind")
    if kind == "polyhedral":
        return polyhedral(spec, m, real)
    if kind == "sum":
        one, two = (relaxation(spec.take(s, dict), m, real) for s in ("first", "second"))
        spec.done()

        def total(d, given):
            first, second = part(given, "first"), part(given, "second")
            need(not getattr(given, "left", None), "the auxiliaries have a field without a term")
            return one[0](d, first) + two[0](d, second)

        def split(u, w):
            v, first, second = w.vector("v", m), w.take("first", dict), w.take("second", dict)
            w.done()
            return one[1](v, first) + two[1](list(map(sub, u, v)), second)

        return total, split
    if kind == "scaled":
        c, (f, lower) = spec.number("factor", 0), relaxation(spec.take("of", dict), m, real)
        spec.done()
        scaled = lambda u, w: real(c) * lower([x / c for x in u], w)  # noqa: E731
        return lambda d, given: real(c) * f(d, given), scaled
    need(kind in real.kinds, f"this level does not support the relaxation {kind[:40]!a}")
    f, conjugate = real.kinds[kind](spec, m, real)
    spec.done()
    alone = lambda d, given: need(given is None, "this f has no auxiliaries") or f(d)  # noqa: E731

    def bound(u, w):
        gamma = w.number("gamma")
        least = [gamma - v for v in u]
        x = w.vector("x", m) if "x" in w.left else least
        if "floor" in w.left:
            floor = w.number("floor")
            need(x is least, "the witness has both x and floor")
            x = [max(y, floor) for y in least]
        need(all(map(ge, x, least)), "x is below gamma - u")
        value = conjugate(x, w)
        w.done()
        return real(gamma) - value

    return alone, bound


def over_domain(spec, w, v, real):
    """Return g(v) for the edges v, and the penalty g*(w) of the domain on the weights w."""
    kind, c = spec.take("kind"), list(w.values())
    size = 1 if kind == "simplex" and "size" not in spec.left else spec.number("size", 0)
    spec.done()
    square = sum(map(mul, c, c))
    if kind == "squared-norm":
        return real(sum(map(mul, v, v)) / (4 * size)), real(size * square)
    if kind == "l2" and real is not exactly:  # A root is not a rational number.
        need(square <= size * size, "w is outside the l2 ball")
        return (real(size * size * sum(map(mul, v, v)))).sqrt(), real(ZERO)
    largest = {"l1": max(map(abs, v)), "simplex": max(v), "full-simplex": max(ZERO, *v)}
    need(kind in largest, f"this level does not support the domain {kind[:40]!a}")
    total = sum(map(abs, c))
    fits = total == size if kind == "simplex" else total <= size
    need(fits and (kind == "l1" or min(c, default=ZERO) >= 0), f"w is outside the set {kind}")
    return real(size * largest[kind]), real(ZERO)


def check(document, path=None, known=None):
    """Return the level and the two bounds that a document proves, or raise Rejected.

    If given, the tuple `known` replaces A: it has A's size in bytes, its SHA-256, Aw and A'd."""
    doc = Fields(document, "the document")
    doc.left.pop("comments", None)
    digest = doc.take("digest")
    content = json.dumps(doc.left, sort_keys=True, separators=(",", ":"))
    need(doc.take("format") == "relaxboost certificate", "this is not a relaxboost certificate")
    need(doc.whole("version", 0, 10**9) == 1, "the version is not 1")
    more = os.path.getsize(path) if path is not None else known[0] if known else 0
    longest = max((len(x[0]) for x in re.finditer("[0-9]{50,}", content)), default=0)
    doc.limits.left = MAX_WORK + (len(content) + more) // 32
    doc.limits.each = 1 + (longest / 300) ** 2
    level, real = doc.take("level"), exactly
    need(level in ("exact", "enclosed"), "this level proves nothing; use exact or enclosed")
    if level == "enclosed":
        real = enclosed(bits := doc.whole("precision", 53, 1024))
        doc.limits.each += bits / 48
    game = doc.take("game", dict)
    m, n = game.whole("m", 1, MAX_MATRIX_ENTRIES), game.whole("n", 1, MAX_MATRIX_ENTRIES)
    need(m * n <= MAX_MATRIX_ENTRIES, f"A has more than {MAX_MATRIX_ENTRIES} entries")
    doc.spend(m + n, m * n * (0.01 + longest / 40_000))
    rows, sha = matrix(game, m, n, path) if known is None else known[:2]
    need(game.take("sha256") == sha, "the SHA-256 of A differs from that in the file")
    doc.limits.digits = min(MAX_DIGITS, MAX_VECTOR_DIGITS // max(m, n))
    d, columns = doc.vector("d", m), doc.take("columns", list)
    fine = all(type(j) is int and 0 <= j < n for j in columns) and len(columns) <= n
    need(fine and len(set(columns)) == len(columns), "'columns' must be distinct columns of A")
    w = dict(zip(columns, doc.vector("w", len(columns)), strict=True))
    need(min(d) >= 0 and sum(d) == 1, "d is not in the simplex")
    f, bound = relaxation(game.take("relaxation", dict), m, real)
    u, v = products(rows, d, w) if known is None else known[2:]
    g, cost = over_domain(game.take("over", dict), w, v, real)
    low, high = map(doc.number, ("lower", "upper"))
    witness, given = doc.take("witness", dict), part(doc, "auxiliaries")
    game.done()
    doc.done()
    need(real(low) <= bound(u, witness) - cost, "the lower bound is above what w proves")
    need(f(d, given) + g <= real(high), "the upper bound is below what d proves")
    need(hashlib.sha256(content.encode()).hexdigest() == digest, "the digest does not match")
    return level, low, high


def enclosed(precision):
    """Return a function that converts fractions to balls; its `kinds` has formulas of f and f*."""
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "check_enclosed.py")
    need(os.path.exists(path), "the level needs check_enclosed.py in the folder of check.py")
    spec = importlib.util.spec_from_file_location("check_enclosed", path)
    module = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except ImportError as error:
        raise Rejected(f"for the level enclosed, pip install python-flint ({error})") from error
    return module.balls(precision, sys.modules[__name__])


def verdict(path, matrix_path=None):
    """Check a file, and return (level, lower, upper, reason). If rejected, the level is None."""
    try:
        return (*check(load(path), matrix_path), "")
    except Rejected as error:
        return None, None, None, str(error)
    except RecursionError:
        return None, None, None, "unreadable: its brackets are nested too deeply"
    except (OSError, ValueError, OverflowError, MemoryError) as error:
        return None, None, None, f"unreadable: {type(error).__name__}: {str(error)[:200]}"


def main(arguments):
    """Print the verdict. Return 0 if the certificate is accepted, 1 if rejected, 2 for misuse."""
    is_option = arguments and arguments[0].startswith("-")
    if is_option or len(arguments) not in (1, 3) or arguments[1:2] not in ([], ["--matrix"]):
        print("usage: check.py FILE [--matrix FILE]", file=sys.stderr)
        return 2
    level, low, high, reason = verdict(arguments[0], *arguments[2:])
    proved = level and f"accepted, {level}: {shown(low, -1)} <= rho <= {shown(high, 1)}"
    print(proved or f"REJECTED: {reason}")
    return 0 if proved else 1


def shown(x, side):
    """Return a fraction as text. A long one is rounded down if `side` is -1, and up if 1."""
    if max(abs(x.numerator), x.denominator) < 10**15:
        return str(x)
    nearest = float(x) if abs(x) <= sys.float_info.max else math.inf * (1 if x > 0 else -1)
    wrong = side * nearest < side * x
    return f"{math.nextafter(nearest, side * math.inf) if wrong else nearest:.17g}"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

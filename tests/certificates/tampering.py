"""Ways to tamper with a certificate."""

from __future__ import annotations

import copy
import hashlib
import json
import random
from collections.abc import Callable
from fractions import Fraction
from typing import Any

Document = dict[str, Any]


def with_digest(document: Document) -> Document:
    """The same with the digest that belongs to it."""
    content = {k: v for k, v in document.items() if k not in ("digest", "comments")}
    text = json.dumps(content, sort_keys=True, separators=(",", ":"))
    return {**document, "digest": hashlib.sha256(text.encode()).hexdigest()}


def matrix_digest(rows: list[str]) -> str:
    """The SHA-256 of a matrix as FORMAT.md defines it."""
    A = [[float(a) for a in row.split(",")] for row in rows]
    sha = hashlib.sha256(f"relaxboost matrix v1 {len(A)} {len(A[0])}\n".encode())
    for column in zip(*A, strict=True):
        used = [i for i, a in enumerate(column) if a != 0]
        sha.update(len(used).to_bytes(8, "little"))
        for i in used:
            sha.update(i.to_bytes(8, "little"))
        for i in used:
            sha.update(_double(column[i]))
    return sha.hexdigest()


def _double(x: float) -> bytes:
    import struct

    return struct.pack("<d", x)


def nudge(text: str, rng: random.Random) -> str:
    """A number near the one spelled."""
    q = Fraction(text)
    size = Fraction(rng.choice([1, -1]), 10 ** rng.choice([1, 2, 5, 9, 14, 30, 60]))
    return str(rng.choice([q + size, q * (1 + size), -q if q else size]))


def _vector(document: Document, name: str, rng: random.Random) -> None:
    items, i = document[name]["numerators"], rng.randrange(len(document[name]["numerators"]))
    j = rng.randrange(len(items))
    amount = rng.choice([1, -1]) * rng.choice([1, 2**20, 2**60, 2**90])
    items[i] = str(int(items[i]) + amount)
    if rng.random() < 0.7:
        items[j] = str(int(items[j]) - amount)


def _leaves(node: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    if isinstance(node, dict):
        return [p for k, v in node.items() for p in _leaves(v, (*path, k))]
    if isinstance(node, list):
        return [p for k, v in enumerate(node) for p in _leaves(v, (*path, k))]
    return [path]


def _set(document: Document, path: tuple[Any, ...], value: Any) -> None:
    for key in path[:-1]:
        document = document[key]
    document[path[-1]] = value


def _get(document: Document, path: tuple[Any, ...]) -> Any:
    for key in path:
        document = document[key]
    return document


def change_d(document: Document, rng: random.Random) -> None:
    _vector(document, "d", rng)


def change_w(document: Document, rng: random.Random) -> None:
    _vector(document, "w", rng)


def flip_a_sign(document: Document, rng: random.Random) -> None:
    items = document["w"]["numerators"]
    i = rng.randrange(len(items))
    items[i] = items[i][1:] if items[i].startswith("-") else f"-{items[i]}"


def change_a_column(document: Document, rng: random.Random) -> None:
    i = rng.randrange(len(document["columns"]))
    document["columns"][i] = rng.randrange(-1, document["game"]["n"] + 1)


def raise_the_lower(document: Document, rng: random.Random) -> None:
    document["lower"] = str(Fraction(document["lower"]) + Fraction(1, 10 ** rng.randrange(1, 60)))


def lower_the_upper(document: Document, rng: random.Random) -> None:
    document["upper"] = str(Fraction(document["upper"]) - Fraction(1, 10 ** rng.randrange(1, 60)))


def weaken(document: Document, rng: random.Random) -> None:
    document["lower"] = str(Fraction(document["lower"]) - Fraction(1, 10 ** rng.randrange(1, 60)))
    document["upper"] = str(Fraction(document["upper"]) + Fraction(1, 10 ** rng.randrange(1, 60)))


def swap_the_bounds(document: Document, rng: random.Random) -> None:
    document["lower"], document["upper"] = document["upper"], document["lower"]


def change_the_witness(document: Document, rng: random.Random) -> None:
    paths = [
        p for p in _leaves(document["witness"]) if isinstance(_get(document["witness"], p), str)
    ]
    path = rng.choice(paths)
    _set(document["witness"], path, nudge(_get(document["witness"], path), rng).split("/")[0]
         if "numerators" in path or "denominator" in path
         else nudge(_get(document["witness"], path), rng))  # fmt: skip


def change_f(document: Document, rng: random.Random) -> None:
    f = document["game"]["relaxation"]
    paths = [p for p in _leaves(f) if p[-1] not in ("kind", "p") and isinstance(_get(f, p), str)]
    if paths:
        path = rng.choice(paths)
        value = nudge(_get(f, path), rng)
        _set(f, path, value.split("/")[0] if "numerators" in path else value)
    else:
        f["kind"] = "caps"
        f["caps"] = nudge("1", rng)


def change_the_set(document: Document, rng: random.Random) -> None:
    over = document["game"]["over"]
    if "size" in over and rng.random() < 0.7:
        over["size"] = nudge(over["size"], rng)
        return
    over.clear()
    over["kind"] = rng.choice(["l1", "simplex", "squared-norm"])
    if over["kind"] != "simplex":
        over["size"] = "1"


def change_A(document: Document, rng: random.Random) -> None:
    game = document["game"]
    i = rng.randrange(game["m"])
    row = game["rows"][i].split(",")
    j = rng.randrange(game["n"])
    row[j] = rng.choice(["0", "1", "-1", repr(float(row[j]) * (1 - 2**-40)), "0.5"])
    game["rows"][i] = ",".join(row)


SUBTLE: list[Callable[[Document, random.Random], None]] = [
    change_d, change_w, flip_a_sign, change_a_column, raise_the_lower, lower_the_upper, weaken,
    swap_the_bounds, change_the_witness, change_f, change_the_set, change_A,
]  # fmt: skip
"""Changes that leave the document well formed, or nearly."""

NUMBERLIKE = "nan inf -inf 1e5 0x10 1/0 1/-2 +1 --1 1//2 1.0 1_000 ٣ ² ½ 1,2"
NONSENSE: list[Any] = [
    *NUMBERLIKE.split(), None, True, False, [], {}, 0, 1, -1, 1.5, "", "1 ", " 1", "1\n", "\x00",
    "9" * 20_001, "1/" + "9" * 20_001, "a" * 50_000, 2**31, -(2**63), 10**12, [[]],
    {"denominator": "0", "numerators": ["1"]}, {"denominator": "-1", "numerators": ["-1"]},
    {"numerators": []},
]  # fmt: skip


def put_nonsense(document: Document, rng: random.Random) -> str:
    path = rng.choice([p for p in _leaves(document) if p[0] not in ("digest", "comments")])
    while len(path) > 1 and rng.random() < 0.3:
        path = path[:-1]
    before = _get(document, path)
    value = rng.choice([x for x in NONSENSE if not (type(x) is type(before) and x == before)])
    _set(document, path, copy.deepcopy(value))
    return f"{path}={str(value)[:20]!r}"


def drop_a_field(document: Document, rng: random.Random) -> str:
    parents = [(), ("game",), ("game", "over"), ("game", "relaxation"), ("witness",), ("d",)]
    parent = rng.choice([p for p in parents if isinstance(_get(document, p), dict)])
    where = _get(document, parent)
    key = rng.choice([k for k in where if k not in ("digest", "comments", "rows")])
    del where[key]
    return f"without {parent} {key}"


def add_a_field(document: Document, rng: random.Random) -> str:
    parents = [(), ("game",), ("game", "over"), ("game", "relaxation"), ("witness",), ("d",)]
    parent = rng.choice([p for p in parents if isinstance(_get(document, p), dict)])
    _get(document, parent)[rng.choice(["extra", "Kind", "", "gamma ", "lower_bound"])] = "1"
    return f"with more in {parent}"


def damage(text: str, rng: random.Random) -> str:
    """The text of a certificate, damaged as a text."""
    i = rng.randrange(len(text))
    huge, twice = "9" * 5000, text.replace('"m":', '"m":1,"m":', 1)
    damaged = [
        text[:i], text + "x", text + text, "\ufeff" + text, "[" * 100_000 + text, f"[{text}]",
        "", "null", "3", "{}", '{"a":' * 50_000, '"' + "a" * 10**6 + '"', twice,
        text.replace('"d"', '"d":"1","d"', 1), text.replace("1", "NaN", 1),
        text.replace('"version":', '"version":1e400,"v":', 1), text[:i] + "\x00" + text[i:],
        text.replace('"version": 1', f'"version": {huge}', 1),
        text.replace('"lower": "', '"lower": "NaN', 1),
    ]  # fmt: skip
    return rng.choice(damaged)

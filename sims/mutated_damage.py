"""Damage done to a whole file: to its bytes, its text, its fields, its cells or its members, as its form allows.

What is done depends on the random generator alone. Knows forms of files, and nothing of what reads them.
"""

from __future__ import annotations

import contextlib
import csv
import gzip
import io
import json
import zipfile
import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any

import yaml

SECRET = "ZZSECRET"  # stands in notes, cells and ids of patients, and must stand in no output
_LOOK_ALIKES = {"a": "а", "e": "е", "o": "о", "p": "р", "c": "с", "i": "і", "s": "ѕ", "x": "х"}
_ODD_CHARACTERS = (
    *("\0", "\x1b[31m", "\x07", "\x08", "\x7f", "\x85", "\u2028", "\u202e", "\u2066", "\u200b", "\ufeff", "\ufffe"),
    *("\ufffd", "\U0001f468\u200d\U0001f469", "e\u0301", "\U000e0001", "\r", "\n", "\t", '"', "'", "\\", "<", "&", "%"),
)
_ODD_BYTES = (
    b"\xff",
    b"\xc3\x28",
    b"\xed\xa0\x80",
    b"\xf4\x90\x80\x80",
    b"\xc0\x80",
    b"\x80",
    b"\xfe\xff",
    b"\0\0\0\0",
)
_ODD_TEXTS = (
    *(
        "",
        " ",
        "\0",
        "\u202eabc",
        "a\nb",
        "x" * 100_000,
        "1",
        "1,5",
        "NaN",
        "-inf",
        "yes",
        "null",
        "٣",
        "0x10",
        "1e400",
    ),
    *("2024-13-45", "9999-12-31", "0000-00-00", "10000-01-01", "../../x", "/", "/dev/zero", ".", "a:b", "os:getcwd"),
    *("<script>alert(1)</script>", "{{ 7*7 }}", "%s%n", "=1+1", "*", "a" * 300, "(" * 500, "e\u0301" * 50, "\udc80"),
)
_ODD_NUMBERS: tuple[Any, ...] = (
    *(0, -1, 1, 2, 7, 0.5, -0.5, 1.5, -0.0, 1e-320, 1e308, -1e308, 2**31, 2**53 + 1, 2**63, -(2**63) - 1, 10**30),
    *(10**400, 1e17, 1e300, 0.1 + 0.2, 99, 1000, 10**7),
)
_RAW_JSON = (
    *("NaN", "Infinity", "-Infinity", "1e999", "-1e999", "9" * 5000, "1" + "0" * 400, "01", "1.", "'a'", "undefined"),
    *("[" * 60 + "]" * 60, "[" * 900 + "]" * 900, "[" * 100_000 + "]" * 100_000, '{"a":' * 700 + "1" + "}" * 700),
    *('"\\ud800"', '"\\u0000"', '{"a":1,"a":2}', "[1,]", "/* */ 1"),
)
_RAW_YAML = (
    *("!!python/object/apply:os.getcwd []", "!!binary aGVsbG8=", "!!binary '='", "!!set {a, b}", "!!omap [a: 1]"),
    *(
        "!!timestamp x",
        "!!bool maybe",
        "!!int x",
        "!!float ''",
        "!!null x",
        "!unknown {a: 1}",
        "!!str [a]",
        "!!map [a]",
    ),
    *("2024-13-45", "2024-02-30 25:61:61", "2024-01-01", "12:30:45", "0o17", "1_000", ".nan", "-.inf", "1e400"),
    *("&a [*a]", "*nowhere", "{? [a] : b}", "{? {a: 1} : b}", "{1: a, '1': b}", "{null: a}", "{true: a}", "{.nan: a}"),
    *("[" * 60 + "]" * 60, "[" * 700 + "]" * 700, "[" * 20_000 + "]" * 20_000, "'\\0'", '"\\uD800"', '"\\x00"', "~"),
    *("9" * 5000, "{<<: {a: 1}}", "{<<: 1}", "@a", "`a", "%a", "!", "? ", "|\n  a", "0b" + "1" * 9000, "- - - -"),
)


@dataclass
class Held:
    """A tree of plain data, and texts that stand in it where plain data could not say them."""

    tree: Any
    raw: list[str] = field(default_factory=list)

    def place(self, text: str) -> str:
        """A mark that `written` replaces by the text."""
        self.raw.append(text)
        return f"@@RAW{len(self.raw) - 1}@@"

    def written(self, text: str, *, quotes: str) -> str:
        """The written tree with every mark replaced."""
        for number, raw in enumerate(self.raw):
            text = text.replace(f"{quotes}@@RAW{number}@@{quotes}", raw)
        return text


# ---- bytes -----------------------------------------------------------------------------------------------------------


def flipped(content: bytes, rng: Random) -> bytes:
    """A few bits turned over."""
    found = bytearray(content)
    for _ in range(rng.choice((1, 1, 1, 2, 4, 8, 32)) if found else 0):
        found[rng.randrange(len(found))] ^= 1 << rng.randrange(8)
    return bytes(found)


def overwritten(content: bytes, rng: Random) -> bytes:
    """A run of bytes replaced by noise, zeros or ones."""
    at, size = _slice(content, rng)
    put = rng.choice((rng.randbytes(size), bytes(size), b"\xff" * size))
    return content[:at] + put + content[at + size :]


def cut(content: bytes, rng: Random) -> bytes:
    """The file ends early."""
    return content[: rng.choice((0, 1, len(content) - 1, rng.randrange(len(content) + 1)))]


def without_part(content: bytes, rng: Random) -> bytes:
    """A part is missing."""
    at, size = _slice(content, rng)
    return content[:at] + content[at + size :]


def with_part_twice(content: bytes, rng: Random) -> bytes:
    """A part stands there again."""
    at, size = _slice(content, rng)
    return content[: at + size] + content[at : at + size] * rng.choice((1, 1, 2, 50)) + content[at + size :]


def with_odd_bytes(content: bytes, rng: Random) -> bytes:
    """Bytes that are no UTF-8, or NUL, in between."""
    at = rng.randrange(len(content) + 1)
    return content[:at] + rng.choice(_ODD_BYTES) * rng.choice((1, 1, 3)) + content[at:]


def noise(content: bytes, rng: Random) -> bytes:
    """Something else altogether."""
    return rng.choice((b"", b"\n", b"\0", b"{}", b"[]", b"null", b"---\n", rng.randbytes(rng.choice((1, 64, 4000)))))


def _slice(content: bytes, rng: Random) -> tuple[int, int]:
    at = rng.randrange(len(content) + 1)
    return at, min(len(content) - at, rng.choice((1, 4, 16, 100, 1000)))


# ---- text ------------------------------------------------------------------------------------------------------------


def with_odd_characters(text: str, rng: Random) -> str:
    """A control, bidirectional or other odd character in between."""
    at = rng.randrange(len(text) + 1)
    return text[:at] + rng.choice(_ODD_CHARACTERS) * rng.choice((1, 1, 1, 40)) + text[at:]


def with_look_alikes(text: str, rng: Random) -> str:
    """A letter replaced by one of another script that looks the same."""
    places = [at for at, letter in enumerate(text) if letter in _LOOK_ALIKES]
    if not places:
        return text
    at = rng.choice(places)
    return text[:at] + _LOOK_ALIKES[text[at]] + text[at + 1 :]


def with_lines_moved(text: str, rng: Random) -> str:
    """A line twice, gone, elsewhere, joined with the next, or empty."""
    lines = text.splitlines(keepends=True)
    if not lines:
        return text
    at = rng.randrange(len(lines))
    line = lines.pop(at)
    way = rng.randrange(5)
    if way == 0:
        lines[at:at] = [line, line]
    elif way == 1:
        lines.insert(rng.randrange(len(lines) + 1), line)
    elif way == 2:
        lines.insert(at, line.rstrip("\r\n"))
    elif way == 3:
        lines.insert(at, "\n")
    return "".join(lines)


def with_other_line_ends(text: str, rng: Random) -> str:
    """Line ends of other systems, or of none."""
    return text.replace("\n", rng.choice(("\r\n", "\r", "\u2028", "\n\n", "\x0b", " ")))


def with_a_long_run(text: str, rng: Random) -> str:
    """A very long word somewhere."""
    at = rng.randrange(len(text) + 1)
    return text[:at] + rng.choice(("x", " ", "1", "(", "é", '"')) * rng.choice((5_000, 200_000)) + text[at:]


def with_other_number(text: str, rng: Random) -> str:
    """One of the numbers in the text is another."""
    digits = [at for at, letter in enumerate(text) if letter.isdigit()]
    if not digits:
        return text
    at = rng.choice(digits)
    end = at
    while end < len(text) and text[end].isdigit():
        end += 1
    other = rng.choice((*("-1", "0", "1e9", "NaN", "", "9" * 30, "9" * 5000, "0.5", "1,5", "٣", "+1", "x", " 7"),))
    return text[:at] + other + text[end:]


def encoded(content: bytes, rng: Random) -> bytes:
    """The same text in another encoding, or with marks of byte order that do not belong there."""
    text = content.decode("utf-8", "replace")
    way = rng.randrange(7)
    if way < 5:
        name = ("utf-16", "utf-16-le", "utf-32", "latin-1", "utf-7")[way]
        return text.encode(name, "replace")
    return b"\xef\xbb\xbf" * (1 if way == 5 else 2) + content


# ---- trees -----------------------------------------------------------------------------------------------------------


def with_a_wrong_field(
    held: Held, rng: Random, *, raw: Sequence[str], secret: bool, within: Sequence[str] = ()
) -> None:
    """One value or field of a tree made wrong; `within` keeps it below one of those fields."""
    path = _path(held.tree, rng, within)
    if not path:
        held.tree = _odd_value(held, held.tree, rng, raw=raw, secret=secret)
        return
    parent, key = _at(held.tree, path[:-1]), path[-1]
    ways: list[Callable[..., None]] = [_replace, _replace, _replace, _remove, _swap, _wrap, _repeat, _graft]
    if isinstance(parent, dict):
        ways += [_rename, _rename, _double, _add]
    way = rng.choice(ways)
    way(held, parent, key, rng, raw=raw, secret=secret)


def _path(tree: Any, rng: Random, within: Sequence[str]) -> list[Any]:
    """A walk from the root, each step by chance, so that every part of a large record is met as often as the others."""
    path: list[Any] = []
    value = tree
    wanted = list(within)
    while isinstance(value, (dict, list)) and value:
        if path and not wanted and rng.random() < 0.2:
            break
        keys = list(value) if isinstance(value, dict) else list(range(len(value)))
        if wanted and isinstance(value, dict):
            named = [key for key in keys if key in wanted]
            if named:
                key = rng.choice(named)
                wanted = []
                path.append(key)
                value = value[key]
                continue
        key = rng.choice(keys)
        path.append(key)
        value = value[key]
    return path if path and rng.random() > 0.02 else []


def _at(tree: Any, path: Sequence[Any]) -> Any:
    for step in path:
        tree = tree[step]
    return tree


def _odd_value(held: Held, old: Any, rng: Random, *, raw: Sequence[str], secret: bool) -> Any:
    way = rng.randrange(10)
    if way < 2:
        return held.place(rng.choice(raw))
    if way < 4:
        return rng.choice(_ODD_NUMBERS)
    if way < 6:
        return rng.choice(_ODD_TEXTS)
    if way == 6:
        return rng.choice((None, True, False, [], {}, [[]], {"a": 1}, [None], {"": ""}, ["x"] * 3000, [{}] * 50))
    if isinstance(old, bool) or old is None:
        return rng.choice((1, "true", "", 0, [old], not old))
    if isinstance(old, (int, float)):
        if secret and rng.random() < 0.4:
            return f"{SECRET} in place of a number"
        return rng.choice((-old, old + 1, old - 1, old * 1e6, old + 0.5, str(old), [old], old / 1e9))
    if isinstance(old, str):
        return rng.choice((old.upper(), old + " ", old * 2, old[:-1], old + "\u200b", [old], {"a": old}, old * 400))
    return rng.choice((None, "", 0, [old], {"a": old}))


def _replace(held: Held, parent: Any, key: Any, rng: Random, *, raw: Sequence[str], secret: bool) -> None:
    parent[key] = _odd_value(held, parent[key], rng, raw=raw, secret=secret)


def _remove(held: Held, parent: Any, key: Any, rng: Random, *, raw: Sequence[str], secret: bool) -> None:
    del parent[key]


def _swap(held: Held, parent: Any, key: Any, rng: Random, *, raw: Sequence[str], secret: bool) -> None:
    """Two neighbours change places; what patients said stays where it is, since names are shown and it is not."""
    keys = list(parent) if isinstance(parent, dict) else list(range(len(parent)))
    other = rng.choice(keys)
    if SECRET not in f"{parent[key]!r}{parent[other]!r}":
        parent[key], parent[other] = parent[other], parent[key]


def _wrap(held: Held, parent: Any, key: Any, rng: Random, *, raw: Sequence[str], secret: bool) -> None:
    parent[key] = rng.choice(([parent[key]], {"value": parent[key]}, [[parent[key]]], [parent[key]] * 2))


def _repeat(held: Held, parent: Any, key: Any, rng: Random, *, raw: Sequence[str], secret: bool) -> None:
    """A list, or the list that an entry stands in, many times over, backwards or empty."""
    entries = parent if isinstance(parent, list) else parent[key]
    if isinstance(entries, list):
        entries[:] = rng.choice((entries * 2, entries * 100, entries[::-1], [], entries[:1]))[:20_000]
    elif isinstance(entries, dict):
        entries.clear()


def _graft(held: Held, parent: Any, key: Any, rng: Random, *, raw: Sequence[str], secret: bool) -> None:
    """A part of the tree that stands elsewhere in it."""
    other = _at(held.tree, _path(held.tree, rng, ()))
    if SECRET not in (text := json.dumps(other, default=str)) and len(text) < 100_000:
        parent[key] = json.loads(text)


def _rename(held: Held, parent: dict[Any, Any], key: Any, rng: Random, *, raw: Sequence[str], secret: bool) -> None:
    name = str(key)
    others = (
        *(name + "s", name[:-1], name.upper(), " " + name, name + "\0", with_look_alikes(name, rng), "", name * 500),
        *("__class__", "$ref", "\u202e" + name, name.replace("_", "-"), "<b>"),
    )
    renamed = rng.choice(others)
    items = [(renamed if one == key else one, value) for one, value in parent.items()]
    parent.clear()
    parent.update(items)


def _double(held: Held, parent: dict[Any, Any], key: Any, rng: Random, *, raw: Sequence[str], secret: bool) -> None:
    """The same field written twice, which plain data cannot say."""
    parent[held.place(json.dumps(str(key)))] = parent[key] if rng.random() < 0.5 else None


def _add(held: Held, parent: dict[Any, Any], key: Any, rng: Random, *, raw: Sequence[str], secret: bool) -> None:
    parent[rng.choice(("extra", "Extra ", "\0", "id", "path", "sha256", "a" * 5000, "0", "__proto__"))] = rng.choice(
        (1, "x", None, [], {"a": {}})
    )


def json_damage(
    content: bytes, rng: Random, *, secret: bool, seal: Callable[[dict[str, Any]], dict[str, Any]] | None = None
) -> bytes:
    """A JSON file, or one object a line, with wrong fields; with `seal` its checksum is made to fit them."""
    text = content.decode()
    try:
        trees, lines = [json.loads(text)], False
    except ValueError:
        trees, lines = [json.loads(line) for line in text.splitlines() if line.strip()], True
    at = rng.randrange(len(trees))
    held = Held(trees[at])
    for _ in range(rng.choice((1, 1, 1, 2, 3))):
        with_a_wrong_field(held, rng, raw=_RAW_JSON, secret=secret)
    wrong = _json_text(held, indent=None if lines else 1)
    if seal is not None and rng.random() < 0.75:
        wrong = _sealed(wrong, seal)
    if not lines:
        return wrong.encode("utf-8", "surrogatepass")
    kept = [json.dumps(tree, ensure_ascii=False) for tree in trees]
    kept[at] = wrong
    return ("\n".join(kept) + "\n").encode("utf-8", "surrogatepass")


def _json_text(held: Held, *, indent: int | None) -> str:
    return held.written(json.dumps(held.tree, ensure_ascii=False, indent=indent, default=str), quotes='"')


def _sealed(text: str, seal: Callable[[dict[str, Any]], dict[str, Any]]) -> str:
    """A checksum is put in as text, so that all else stays as it is written, doubled fields and all."""
    try:
        record = json.loads(text)
        if not isinstance(record, dict):
            return text
        right = seal(record)
        for name in ("sha256", "signature"):
            if isinstance(record.get(name), str) and isinstance(right.get(name), str):
                text = text.replace(json.dumps(record[name]), json.dumps(right[name]))
    except (ValueError, RecursionError, TypeError, OverflowError):
        pass  # too far gone to have a checksum
    return text


def yaml_damage(content: bytes, rng: Random, *, within: Sequence[str] = ()) -> bytes:
    """A YAML file with wrong fields, or with what YAML allows and no one should write."""
    held = Held(yaml.safe_load(content))
    for _ in range(rng.choice((1, 1, 1, 2, 3))):
        with_a_wrong_field(held, rng, raw=_RAW_YAML, secret=False, within=within)
    try:
        text = yaml.safe_dump(held.tree, allow_unicode=True, sort_keys=False, width=10_000)
    except (yaml.YAMLError, RecursionError):  # a lone surrogate, or a number that is no text
        text = json.dumps(held.tree, default=str)
    text = held.written(text, quotes="'")
    way = rng.randrange(40)
    if way == 0:
        text = (
            "\n".join(f"x{n}: &x{n} [{', '.join([f'*x{n - 1}' if n else 'x'] * 10)}]" for n in range(9)) + "\n" + text
        )
    elif way == 1:
        text = text + "---\n" + text
    elif way == 2:
        text = "%YAML 9.9\n---\n" + text
    elif way == 3:
        text = text.replace("  ", "\t", 1)
    elif way == 4:
        text = text.replace(": ", ":", 1)
    return text.encode("utf-8", "surrogatepass")


# ---- tables ----------------------------------------------------------------------------------------------------------


def cells_damage(content: bytes, rng: Random, *, mark: str, secret: Sequence[str]) -> bytes:
    """Rows of a table with wrong cells, names, widths or quotes. `secret` are columns whose cells are never shown."""
    rows = list(csv.reader(io.StringIO(content.decode(), newline=""), delimiter=mark))
    for _ in range(rng.choice((1, 1, 2, 4))):
        _wrong_cells(rows, rng, secret=secret)
    out = io.StringIO(newline="")
    csv.writer(out, delimiter=mark, lineterminator="\n").writerows(rows)
    text = out.getvalue()
    way = rng.randrange(12)
    if way == 0:
        at = rng.randrange(len(text) + 1)
        text = text[:at] + '"' + text[at:]
    elif way == 1:
        text = text.replace(mark, rng.choice((";", "\t", "|", ",", " ", "")))
    elif way == 2:
        at = rng.randrange(len(text) + 1)
        text = text[:at] + mark + text[at:]
    elif way == 3:
        text = text.replace(".", ",")
    return text.encode("utf-8", "surrogatepass")


def _wrong_cells(rows: list[list[str]], rng: Random, *, secret: Sequence[str]) -> None:
    if len(rows) < 2 or not rows[0]:
        return
    way = rng.randrange(9)
    at, column = rng.randrange(1, len(rows)), rng.randrange(len(rows[0]))
    row = rows[at]
    if way < 3 and column < len(row):
        row[column] = str(rng.choice((*_ODD_TEXTS, *_ODD_NUMBERS)))
    elif way == 3 and column < len(row):
        hidden = [place for place, name in enumerate(rows[0]) if name in secret and place < len(row)]
        if hidden:
            row[rng.choice(hidden)] = f"{SECRET} in place of a value"
    elif way == 4:
        name = rows[0][column]
        rows[0][column] = rng.choice((rng.choice(rows[0]), "", name + " ", name.upper(), name + "\0", "x" * 3000))
    elif way == 5:
        rows[at] = rng.choice((row[:-1], [*row, "x"], [], row * 200, [""] * len(row)))
    elif way == 6:
        rows[:] = rng.choice((rows[:1], rows[:2], rows + rows[1:], rows[1:], [rows[0], *[rows[1]] * 300]))
    elif way == 7:
        for one in rows[1:]:  # a whole column of one odd value
            if column < len(one):
                one[column] = "1" if at % 2 else ""
    else:
        rows.append(list(rows[0]))


def parquet_damage(content: bytes, rng: Random) -> bytes:
    """A Parquet file with columns of other types, other names or other values."""
    import pyarrow
    import pyarrow.parquet

    table = pyarrow.parquet.read_table(io.BytesIO(content), use_threads=False)
    for _ in range(rng.choice((1, 1, 2))):
        at = rng.randrange(table.num_columns)
        name, column = table.column_names[at], table.column(at).to_pylist()
        odd = _odd_column(column, rng)
        table = table.set_column(at, rng.choice((name, name, name, name + "\0", "", table.column_names[0])), odd)
    out = io.BytesIO()
    pyarrow.parquet.write_table(table, out, compression=rng.choice(("none", "snappy", "gzip", "zstd")))
    return out.getvalue()


def _odd_column(column: list[Any], rng: Random) -> Any:
    import decimal

    import pyarrow

    rows = len(column)
    return rng.choice(
        (
            lambda: pyarrow.array([str(cell) for cell in column]),
            lambda: pyarrow.array([[cell] for cell in column]),
            lambda: pyarrow.array([{"a": cell} for cell in column]),
            lambda: pyarrow.array([str(cell).encode() for cell in column]),
            lambda: pyarrow.array([None] * rows, pyarrow.null()),
            lambda: pyarrow.array([2**63 - 1 - row for row in range(rows)]),
            lambda: pyarrow.array([decimal.Decimal(row) for row in range(rows)]),
            lambda: pyarrow.array([row % 2 == 0 for row in range(rows)]),
            lambda: pyarrow.array([float("nan"), float("inf"), *[0.5] * (rows - 2)]),
            lambda: pyarrow.array([row * 10**15 for row in range(rows)], pyarrow.timestamp("us", "UTC")),
            lambda: pyarrow.array([-(2**62)] * rows, pyarrow.timestamp("ns")),
            lambda: pyarrow.array([row * 10**6 for row in range(rows)], pyarrow.duration("s")),
            lambda: pyarrow.array([str(cell) for cell in column]).dictionary_encode(),
            lambda: pyarrow.array([f"{SECRET} in place of a value"] * rows),
            lambda: pyarrow.array(column[:1] * (rows - 1) + [None]),
        )
    )()


_OTHER_TABLES = (
    *("alter table cohort drop column p", 'alter table cohort rename column died to """d"', "drop table cohort"),
    *("create table other as select 1 as a", "create view v as select * from cohort", "delete from cohort"),
    *("update cohort set p = 'NaN'::double", "update cohort set died = 7", "alter table cohort alter died type text"),
    *("alter table cohort add column l int[]", "update cohort set visit = null", "update cohort set p = p * 1e300"),
    *("create or replace table cohort as select [died] as died, {a: p} as p, * exclude (died, p) from cohort",),
    *("create or replace table cohort as select uuid() as died, 'infinity'::date as visit, p, sex from cohort",),
    *("create or replace table cohort as select died::hugeint * 10**30 as died, p::decimal(18, 9) as p from cohort",),
)


def duckdb_damage(path: Path, rng: Random) -> bytes:
    """A database with other tables, columns, types or values."""
    import duckdb

    with contextlib.suppress(duckdb.Error), duckdb.connect(str(path), config={"threads": 1}) as connection:
        connection.execute(rng.choice(_OTHER_TABLES))
    return path.read_bytes()


# ---- archives --------------------------------------------------------------------------------------------------------


def zip_damage(content: bytes, rng: Random, *, secret: bool) -> bytes:
    """An archive with a member that is wrong, gone, twice there, elsewhere or far too large."""
    with zipfile.ZipFile(io.BytesIO(content)) as old:
        members = [(info.filename, old.read(info)) for info in old.infolist() if not info.is_dir()]
    at = rng.randrange(len(members))
    name, member = members[at]
    way = rng.randrange(10)
    if way < 5:
        members[at] = (name, text_damage(member, rng, form=_form(name), secret=secret))
    elif way == 5:
        members.pop(at)
    elif way == 6:
        members.append((name, member))
    elif way == 7:
        members[at] = (rng.choice(("../x", "/x", "a\0b", "", "x" * 300, name.upper(), "con", name + "/x")), member)
    elif way == 8:
        members[at] = (name, member + b" " * 30_000_000)
    else:
        members += [(f"{name}{n}", member) for n in range(300)]
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as new:
        for filename, part in members:
            info = zipfile.ZipInfo(filename or "x", (2024, 1, 1, 0, 0, 0))
            info.compress_type = zipfile.ZIP_DEFLATED
            if not filename:
                info.filename = ""
            new.writestr(info, part)
    found = out.getvalue()
    return flipped(found, rng) if rng.random() < 0.2 else found


def gzip_damage(content: bytes, rng: Random, inner: Callable[[bytes, Random], bytes]) -> bytes:
    """What is packed is wrong, or the packing is."""
    plain = gzip.decompress(content)
    if rng.random() < 0.05:
        return gzip.compress(plain + b"\n" * 60_000_000, 6, mtime=0)
    if rng.random() < 0.1:
        return gzip.compress(content, mtime=0)  # packed twice
    packed = gzip.compress(inner(plain, rng), mtime=0)
    return packed + rng.choice((b"", b"", b"", packed, b"tail"))


def zlib_damage(content: bytes, rng: Random) -> bytes:
    """The same for what zlib packs, with damage inside that its checksum covers."""
    plain = zlib.decompress(content)
    return zlib.compress(rng.choice((flipped, overwritten, cut, without_part, with_part_twice))(plain, rng))


# ---- any file --------------------------------------------------------------------------------------------------------

_OF_BYTES = (flipped, flipped, overwritten, cut, without_part, with_part_twice, with_odd_bytes, noise)
_OF_TEXT = (
    *(with_odd_characters, with_odd_characters, with_look_alikes, with_lines_moved, with_other_line_ends),
    *(with_a_long_run, with_other_number, with_other_number),
)


def text_damage(content: bytes, rng: Random, *, form: str, secret: bool) -> bytes:
    """A text file made wrong, by its form where that is known."""
    way = rng.random()
    if form == "xml" and way < 0.5:
        return xml_damage(content, rng)
    if way < 0.65:
        try:
            text = content.decode()
        except UnicodeDecodeError:
            return rng.choice(_OF_BYTES)(content, rng)
        return rng.choice(_OF_TEXT)(text, rng).encode("utf-8", "surrogatepass")
    return encoded(content, rng) if way < 0.72 else rng.choice(_OF_BYTES)(content, rng)


def xml_damage(content: bytes, rng: Random) -> bytes:
    """Entities, document types, tags and attributes that are wrong or dangerous."""
    text = content.decode()
    laughs = "".join(f'<!ENTITY a{n} "{f"&a{n - 1};" * 10 if n else "ha"}">' for n in range(9))
    body = text.split("?>", 1)[-1]
    first = body.lstrip()[1:].split(">")[0].split()[0] if "<" in body else "a"
    at = text.find("<", rng.randrange(len(text) or 1))
    quote = text.find('"', rng.randrange(len(text) or 1))
    return rng.choice(
        (
            f"<!DOCTYPE {first} [{laughs}]>" + body.replace("</", "&a8;</", 1),
            f'<!DOCTYPE {first} [<!ENTITY x SYSTEM "file:///etc/hostname">]>' + body.replace("</", "&x;</", 1),
            f'<!DOCTYPE {first} SYSTEM "http://127.0.0.1:9/x.dtd">' + body,
            text[: at + 1] + text[at + 2 :],
            text[:quote] + text[quote + 1 :],
            text[:quote] + "&#0;" + text[quote:],
            text[:quote] + "&unknown;" + text[quote:],
            text.replace("start", "Start", 1),
            text.replace("UTF-8", rng.choice(("UTF-16", "nothing", "utf-7", "ascii")), 1),
            text.replace("]]>", "", 1),
            "<a>" * 3000 + text + "</a>" * 3000,
            text + text,
            text.replace(first, "b", 2),
        )
    ).encode("utf-8", "surrogatepass")


def _form(name: str) -> str:
    return {"xml": "xml", "rels": "xml", "json": "json"}.get(name.rpartition(".")[2], "text")


FORMS: Mapping[str, str] = {
    ".yaml": "yaml",
    ".yml": "yaml",
    ".json": "json",
    ".jsonl": "json",
    ".csv": "csv",
    ".tsv": "tsv",
    ".xml": "xml",
    ".ann": "text",
    ".txt": "text",
    ".conll": "text",
    ".zip": "zip",
    ".xlsx": "zip",
    ".gz": "gz",
    ".parquet": "parquet",
    ".duckdb": "duckdb",
    ".spacy": "zlib",
    "": "text",
    ".key": "text",
    ".log": "text",
}


@dataclass(frozen=True)
class Way:
    """How files of a scenario may be damaged."""

    seal: Callable[[dict[str, Any]], dict[str, Any]] | None = None  # makes a checksum fit
    secret: tuple[str, ...] | bool = False  # columns, or whether fields, whose content must never be shown
    within: tuple[str, ...] = ()  # fields below which a YAML file is made wrong; anywhere if none


_NOT_OF_ITS_FORM = (
    *(ValueError, IndexError, KeyError, AttributeError, TypeError, OSError, EOFError, RecursionError),
    *(zipfile.BadZipFile, zlib.error, yaml.YAMLError, csv.Error),
)


def damage(path: Path, rng: Random, way: Way, *, others: Sequence[Path]) -> None:
    """Make one file wrong: by its form two times in three, else its bytes or its place in the world."""
    content = path.read_bytes()
    form = FORMS.get(path.suffix.lower(), "bytes")
    chance = rng.random()
    if chance < 0.03 and others:
        path.write_bytes(rng.choice(others).read_bytes())
        return
    if chance < 0.04:
        path.unlink()
        if rng.random() < 0.5:
            path.mkdir()
        return
    wrong = None
    if chance < 0.75:
        # What was made wrong once, or is not of the form its name says, may have no fields to make wrong.
        with contextlib.suppress(*_NOT_OF_ITS_FORM):
            wrong = duckdb_damage(path, rng) if form == "duckdb" else _damaged(content, rng, form, way, name=path.name)
    path.write_bytes(_plainly(content, rng, form) if wrong is None else wrong)


def _plainly(content: bytes, rng: Random, form: str) -> bytes:
    if form in ("bytes", "zip", "gz", "zlib", "parquet", "duckdb"):
        return rng.choice(_OF_BYTES)(content, rng)
    return text_damage(content, rng, form="text", secret=False)


def _damaged(content: bytes, rng: Random, form: str, way: Way, *, name: str) -> bytes:
    columns = way.secret if isinstance(way.secret, tuple) else ()
    if form == "yaml":
        return yaml_damage(content, rng, within=way.within)
    if form == "json":
        return json_damage(content, rng, secret=bool(way.secret), seal=way.seal)
    if form in ("csv", "tsv"):
        return cells_damage(content, rng, mark="," if form == "csv" else "\t", secret=columns)
    if form == "zip":
        return zip_damage(content, rng, secret=bool(way.secret))
    if form == "parquet":
        return parquet_damage(content, rng) if rng.random() < 0.5 else rng.choice(_OF_BYTES)(content, rng)
    if form == "zlib":
        return zlib_damage(content, rng)
    if form == "gz":
        inner = FORMS.get(Path(name[:-3]).suffix, "text")
        return gzip_damage(content, rng, lambda plain, chance: _damaged(plain, chance, inner, way, name=name[:-3]))
    if form in ("xml", "text"):
        return text_damage(content, rng, form=form, secret=bool(way.secret))
    return rng.choice(_OF_BYTES)(content, rng)

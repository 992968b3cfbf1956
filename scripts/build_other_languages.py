"""Rebuild the function words of other languages from a pinned package; the same bytes each time.

    pip download --no-deps --only-binary :all: spacy==3.8.18 && unzip -d language-sources spacy-3.8.18-*.whl
    python scripts/build_other_languages.py --packages language-sources

Nothing of the package is imported or run: its lists of stop words are read as text. A word is left out where an English
note is likely to hold it: words of the English dictionary, common names, and short words that read as abbreviations.
The exceptions are listed below."""

from __future__ import annotations

import argparse
import ast
import gzip
import hashlib
import json
import re
import sys
from pathlib import Path

SOURCE = Path(__file__).resolve().parents[1] / "src" / "workup"
DATA = SOURCE / "text" / "data"
LANGUAGES = "ca cs da de es fi fr hr ht hu id it nb nl pl pt ro sv tl tr vi"
# In the English dictionary or short, yet far too frequent in their own language to be left out.
KEPT = """au aux com con da das de della den di die du el em en es est et eu ha hat il je la le lo non nous og ou par
para pour sans se um un van war zu"""
# Abbreviations of English notes (three times a day, signature, carotid endarterectomy, …) and the like.
LEFT_OUT = "ble cea esi ets joo pai sig ter tid vas xin"
# What stands inside names and addresses of people anywhere: evidence beside other words, none by itself.
PARTICLES = "al d da das de del della den der des di dos du el en i la las le los van von y zu"
COMMON_NAME = 16  # four times the decimal logarithm of a count: 10,000 people
RECORD = {
    "source": "Stop words of spaCy's languages, as carried by spacy 3.8.18",
    "version": "spacy 3.8.18",
    "licence": "MIT, Copyright (C) 2016-2024 ExplosionAI GmbH, 2016 spaCy GmbH, 2015 Matthew Honnibal",
    "derived": "One line per language: its code and its words in lower case, without words of the English dictionary, "
    "common names and short words. A first line lists particles of names.",
}


def stop_words(path: Path) -> set[str]:
    """The words in the text constants of a module, without running it."""
    texts = [
        node.value
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    ]
    texts = [text for text in texts if "http" not in text and "STOP_WORDS" not in text]
    return {word for text in texts for word in re.findall(r"[^\W\d_]+", text.lower())}


def unpacked(path: Path) -> list[str]:
    return gzip.decompress(path.read_bytes()).decode("utf-8").splitlines()


def main() -> int:
    reader = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    reader.add_argument("--packages", type=Path, required=True, help="the folder that the package was unpacked in")
    asked = reader.parse_args()
    english = {*unpacked(SOURCE / "deid" / "data" / "everyday.txt.gz")}
    english |= {*(DATA / "function_words.txt").read_text(encoding="utf-8").split()}
    people = (line.split("\t") for line in unpacked(SOURCE / "deid" / "data" / "people.tsv.gz"))
    names = {name for name, marks in people if max(ord(mark) - ord("0") for mark in marks[:2]) >= COMMON_NAME}
    inputs, lines = {}, [f"particles\t{PARTICLES}"]
    for language in LANGUAGES.split():
        name = f"spacy/lang/{language}/stop_words.py"
        inputs[name] = hashlib.sha256((asked.packages / name).read_bytes()).hexdigest()
        found = stop_words(asked.packages / name)
        short = {word for word in found if len(word) < 3 and word.isascii()}
        words = (found - english - names - short - {*LEFT_OUT.split()}) | (found & {*KEPT.split()})
        lines.append(f"{language}\t" + " ".join(sorted(words)))
    text = "\n".join(lines) + "\n"
    (DATA / "other_languages.tsv").write_text(text, encoding="utf-8")
    record = json.loads((DATA / "provenance.json").read_text(encoding="utf-8"))  # with what was written by hand
    record["inputs"] = inputs
    record["files"]["other_languages.tsv"] = {
        **RECORD,
        "sha256_of_text": hashlib.sha256(text.encode()).hexdigest(),
        "rows": len(lines),
    }
    (DATA / "provenance.json").write_text(json.dumps(record, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    sys.stdout.write(f"{sum(len(line.split()) - 1 for line in lines[1:]):,} words of {len(lines) - 1} languages\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""Read off every shipped pattern of the de-identifier where it may begin, and write the data file that loading uses.

    python scripts/build_pattern_starts.py
    python scripts/build_pattern_starts.py --check

To be run after a change of a pattern, of a list that a pattern is made of, or of the code that reads patterns; the same
bytes each time. With --check nothing is written, and the exit code is 1 where the shipped file is stale."""

from __future__ import annotations

import argparse
import gzip
import hashlib
import io
import json
import sys
from pathlib import Path

from workup.deid import Deidentifier
from workup.deid.patterns import pattern_starts

DATA = Path(__file__).resolve().parents[1] / "src" / "workup" / "deid" / "data"
RECORD = {
    "source": "Computed by scripts/build_pattern_starts.py from the patterns of Workup",
    "licence": "Apache-2.0, as Workup itself",
    "derived": "For each shipped pattern, by the hash of its text: the characters that its matches may begin with, "
    "what may end their first word, and the least length of that word.",
}


def content() -> bytes:
    """What the file should hold: all patterns are read off again, whatever is shipped."""
    answers = pattern_starts.known()
    answers.clear()
    Deidentifier.load()
    return pattern_starts.packed(answers)


def main() -> int:
    reader = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    reader.add_argument("--check", action="store_true", help="compare with the shipped file, write none")
    asked = reader.parse_args()
    text, path = content(), DATA / pattern_starts.FILE
    if asked.check:
        stale = not path.is_file() or gzip.decompress(path.read_bytes()) != text
        sys.exit(f"{path.name} is stale; run scripts/build_pattern_starts.py" if stale else 0)
    whole = io.BytesIO()
    with gzip.GzipFile(fileobj=whole, mode="wb", compresslevel=9, mtime=0) as file:
        file.write(text)
    path.write_bytes(whole.getvalue())
    record = json.loads((DATA / "provenance.json").read_text(encoding="utf-8"))
    record["written"][path.name] = {**RECORD, "sha256_of_text": hashlib.sha256(text).hexdigest()}
    shown = json.dumps(record, indent=2, ensure_ascii=False) + "\n"
    (DATA / "provenance.json").write_text(shown, encoding="utf-8")
    sys.stdout.write(f"{len(text):,} characters\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())

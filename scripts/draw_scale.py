"""Draws the table of measured costs in docs/scale.md from benchmarks/results.json: `python scripts/draw_scale.py`.

`--check` changes nothing and ends with 1 where the page is not what the results give.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
RESULTS, PAGE = ROOT / "benchmarks" / "results.json", ROOT / "docs" / "scale.md"
BEGIN, END = "<!-- costs: drawn by scripts/draw_scale.py -->", "<!-- end of costs -->"


def drawn(results: dict[str, Any]) -> str:
    """The table, with the machine below it."""
    rows = ["| unit | CPU, one core | memory on the way |", "|---|---:|---:|"]
    for cost in results["costs"].values():
        rows.append(f"| {cost['what']} | {told(cost['cpu_seconds'])} | {cost['megabytes']:,} MB |")
    about = results["machine"]
    made = (
        f"Measured on {about['cores']} cores ({about['architecture']}, {about['system']}, {about['memory_gb']} GB), "
        f"Python {about['python']}, numpy {about['numpy']}; {about['load']}."
    )
    return "\n".join([*rows, "", made])


def told(seconds: float) -> str:
    """A time as a person says it.

    >>> told(0.00343), told(0.25), told(0.000042)
    ('3.43 ms', '250 ms', '42 µs')
    """
    for unit, name in ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs")):
        if seconds >= unit:
            return f"{seconds / unit:.3g} {name}"
    return f"{seconds / 1e-6:.3g} µs"


def page(text: str, table: str) -> str:
    """The page with the table in its place."""
    before, _, rest = text.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not end:
        raise SystemExit(f"{PAGE.name} holds no place for the table")
    return f"{before}{BEGIN}\n{table}\n{END}{after}"


def main() -> int:
    """Write the page, or say that it is stale."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true")
    asked = parser.parse_args()
    text = PAGE.read_text(encoding="utf-8")
    made = page(text, drawn(json.loads(RESULTS.read_text(encoding="utf-8"))))
    if asked.check:
        if made != text:
            sys.stderr.write("docs/scale.md is stale: run  python scripts/draw_scale.py\n")
        return int(made != text)
    PAGE.write_text(made, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""Draws the rooms of the house into docs/architecture.md from the import graph itself; with --check, only compares.

    python scripts/draw_architecture.py
    python scripts/draw_architecture.py --check

The rooms and their order are those of the layers contract in pyproject.toml. An import that a longer path of imports
already says is left out, and the lowest layers are one box: what remains can be read.
"""

from __future__ import annotations

import argparse
import sys
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "architecture.md"
BEGIN, END = "<!-- drawn by scripts/draw_architecture.py: begin -->", "<!-- end -->"
GROUND_LAYERS = 2  # the lowest layers, which nearly every room stands on
GROUND = "ground"

Edges = set[tuple[str, str]]


def layers(project: Mapping[str, object]) -> list[list[str]]:
    """The rooms by layer, from the roof down, as the contract in pyproject.toml has them."""
    contracts = project["tool"]["importlinter"]["contracts"]  # type: ignore[index]
    (contract,) = (one for one in contracts if one["type"] == "layers")
    return [[room.strip() for room in layer.split("|")] for layer in contract["layers"]]


def imports(rooms: Iterable[str]) -> Edges:
    """Which room imports which, whatever module of it does so."""
    import grimp

    graph = grimp.build_graph("workup", cache_dir=None)
    known = set(rooms)
    found = set()
    for importer in graph.modules:
        for imported in graph.find_modules_directly_imported_by(importer):
            pair = tuple(name.partition(".")[2].partition(".")[0] for name in (importer, imported))
            if pair[0] != pair[1] and known.issuperset(pair):
                found.add((pair[0], pair[1]))
    return found


def collapsed(edges: Edges, ground: Iterable[str]) -> Edges:
    """The rooms of the ground floor taken for one."""
    below = set(ground)
    joined = {(GROUND if a in below else a, GROUND if b in below else b) for a, b in edges}
    return {(a, b) for a, b in joined if a != b}


def reduced(edges: Edges) -> Edges:
    """Without the edges that a longer path says already. There are no circles, which the contracts see to."""
    after: dict[str, set[str]] = {}
    for a, b in edges:
        after.setdefault(a, set()).add(b)

    def reached(start: str) -> set[str]:
        seen: set[str] = set()
        waiting = list(after.get(start, ()))
        while waiting:
            room = waiting.pop()
            if room not in seen:
                seen.add(room)
                waiting += after.get(room, ())
        return seen

    return {(a, b) for a, b in edges if not any(b in reached(other) for other in after[a] if other != b)}


def drawn(floors: Sequence[Sequence[str]], edges: Edges, packages: set[str]) -> str:
    """The flowchart: packages with round ends, modules with square ones, from the roof down."""
    above, below = floors[:-GROUND_LAYERS], [room for floor in floors[-GROUND_LAYERS:] for room in floor]
    lines = ["```mermaid", "flowchart TD"]
    for room in (room for floor in above for room in floor):
        lines.append(f"  {room}([{room}])" if room in packages else f"  {room}[{room}]")
    lines.append(f'  {GROUND}[["{" · ".join(below)}"]]')
    shown = reduced(collapsed(edges, below))
    for room in (room for floor in above for room in floor):
        targets = sorted(b for a, b in shown if a == room)
        if targets:
            lines.append(f"  {room} --> {' & '.join(targets)}")
    return "\n".join([*lines, "```"])


def placed(page: str, drawing: str) -> str:
    """The page with this drawing between its marks."""
    before, begin, rest = page.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise SystemExit(f"{PAGE.name}: the marks of the drawing are missing. To fix: put back {BEGIN} and {END}")
    return f"{before}{BEGIN}\n{drawing}\n{END}{after}"


def main(arguments: Sequence[str] | None = None) -> int:
    """Draw, or with --check say whether the drawing is that of the code."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--check", action="store_true", help="change nothing; exit with 1 where the drawing is stale")
    chosen = parser.parse_args(arguments)
    floors = layers(tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8")))
    rooms = [room for floor in floors for room in floor]
    packages = {room for room in rooms if (ROOT / "src" / "workup" / room).is_dir()}
    held = PAGE.read_text(encoding="utf-8")
    made = placed(held, drawn(floors, imports(rooms), packages))
    if made == held:
        return 0
    if chosen.check:
        sys.stderr.write("docs/architecture.md is stale. To fix: python scripts/draw_architecture.py\n")
        return 1
    PAGE.write_text(made, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())

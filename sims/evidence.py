"""Kept findings: evidence/<name>.json with a hash of the code that decided them, so that stale evidence is noticed."""

from __future__ import annotations

import ast
import hashlib
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

from sims.repetitions import NOMINAL, Result, Size

ROOT = Path(__file__).resolve().parent.parent
SOURCE = "src/workup"


def fingerprint(source: str) -> str:
    """sha256 of a module's syntax tree without docstrings: comments and layout do not change it, code does."""
    return hashlib.sha256(_written(_without_docstrings(ast.parse(source))).encode()).hexdigest()


def _without_docstrings(tree: ast.Module) -> ast.Module:
    for node in ast.walk(tree):
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)) and ast.get_docstring(
            node, clean=False
        ):
            node.body = node.body[1:]
    return tree


def _written(node: Any) -> str:
    """A tree as text. ast.dump will not do: Python versions differ in which empty fields they have and show."""
    if isinstance(node, ast.AST):
        fields = ((name, value) for name, value in ast.iter_fields(node) if value is not None and value != [])
        return f"{type(node).__name__}({','.join(f'{name}={_written(value)}' for name, value in fields)})"
    if isinstance(node, list):
        return f"[{','.join(_written(one) for one in node)}]"
    return repr(node)


def fingerprints(simulation: ModuleType, *, root: Path = ROOT) -> dict[str, str]:
    """The fingerprint of every file that decides the simulation's result: what it tests, and the simulation itself.

    A name that ends in a slash is a room, with all modules in it.
    """
    files = [file for name in simulation.TESTED for file in _modules(f"{SOURCE}/{name}", root)]
    files += [f"sims/{name}" for name in simulation.MADE_BY]
    return {name: fingerprint((root / name).read_text(encoding="utf-8")) for name in files}


def _modules(name: str, root: Path) -> list[str]:
    if not name.endswith("/"):
        return [name]
    return sorted(path.relative_to(root).as_posix() for path in (root / name).rglob("*.py"))


def record(simulation: ModuleType, size: Size, results: Sequence[Result]) -> dict[str, Any]:
    """What a simulation found, as plain data that holds neither clock nor host."""
    summary = simulation.summarise(results)
    judgements = [one["ok"] for one in [*results, *summary] if one["ok"] is not None]
    return {
        "name": simulation.NAME,
        "question": simulation.QUESTION,
        "seed": simulation.SEED,
        "nominal": NOMINAL,
        "repetitions": size.repetitions,
        "replicates": size.replicates,
        "allowance": "each end of a band is widened by 2 Monte-Carlo standard errors",
        "ok": all(judgements) if judgements else None,
        "summary": summary,
        "cells": list(results),
        "tested": fingerprints(simulation),
    }


def write(finding: dict[str, Any], *, folder: Path) -> Path:
    """Keep a finding as indented JSON, numbers to 12 significant digits."""
    folder.mkdir(exist_ok=True)
    path = folder / f"{finding['name']}.json"
    path.write_text(json.dumps(_rounded(finding), indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    return path


def _rounded(value: Any) -> Any:
    if isinstance(value, float):
        return float(f"{value:.12g}")
    if isinstance(value, dict):
        return {name: _rounded(one) for name, one in value.items()}
    return [_rounded(one) for one in value] if isinstance(value, (list, tuple)) else value


def complaints(simulation: ModuleType, *, folder: Path, root: Path = ROOT) -> Iterator[str]:
    """What is wrong with the kept evidence of a simulation: missing, made with other code, or outside its band."""
    path = folder / f"{simulation.NAME}.json"
    remedy = f"run: python -m sims {simulation.NAME}"
    if not path.exists():
        yield f"{folder.name}/{path.name} is missing; {remedy}"
        return
    kept = json.loads(path.read_text(encoding="utf-8"))
    now = fingerprints(simulation, root=root)
    changed = sorted(name for name in now.keys() | kept["tested"].keys() if now.get(name) != kept["tested"].get(name))
    if changed:
        yield f"{folder.name}/{path.name} is stale, changed since it was made: {', '.join(changed)}; {remedy}"
    if kept["seed"] != simulation.SEED:
        yield f"{folder.name}/{path.name} was made with seed {kept['seed']}, not {simulation.SEED}; {remedy}"
    for one in [*kept["summary"], *kept["cells"]]:
        if one["ok"] is False:
            yield f"{folder.name}/{path.name}: {one['cell']}, {one['metric']}: {one['rate']} is outside {one['band']}"

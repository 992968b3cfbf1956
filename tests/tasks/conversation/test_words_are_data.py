"""Words of the language stand in data files: the code of the reader may hold fewer word literals, never more."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import workup.tasks.conversation.read as read

ROOT = Path(str(read.__file__)).parent
# Distinct lower-case words in code, codes and keys included. The bar to reach is 60 beside codes and keys.
MOST = {"sentence": 400, "facts": 230}


def _literals(path: Path) -> Iterator[str]:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    documented = (ast.Module, ast.FunctionDef, ast.ClassDef)
    docs = {id(node.body[0].value) for node in ast.walk(tree) if isinstance(node, documented) and _is_text(node.body)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docs:
            yield node.value


def _is_text(body: list[ast.stmt]) -> bool:
    return bool(body) and isinstance(body[0], ast.Expr)


def test_the_code_holds_no_more_words_than_it_did() -> None:
    for room, most in MOST.items():
        words = {
            text for path in (ROOT / room).rglob("*.py") for text in _literals(path) if re.fullmatch(r"[a-z]+", text)
        }
        assert len(words) <= most, (room, len(words))

"""The tables of words and weights: each entry is used by the code, and every use has its entry."""

from __future__ import annotations

import re
from pathlib import Path

from workup.deid import settings, word_lists
from workup.deid.names import weights

DEID = Path(settings.__file__).parent
CODE = [path.read_text(encoding="utf-8") for path in sorted(DEID.rglob("*.py"))]


def used(call: str) -> list[str]:
    return [name for text in CODE for name in re.findall(rf'^\w+ = .*\b{call}\("([\w.]+)"\)', text, re.MULTILINE)]


def test_every_weight_is_used_once_and_says_what_it_weighs() -> None:
    assert sorted(used("name_weight")) == sorted(weights.table())
    assert all(one.means.strip() for one in weights.table().values())


def test_every_list_of_words_is_used() -> None:
    listed = {f"{room}.{name}" for room, lists in word_lists._lists().items() for name in lists}
    assert set(used("words")) == listed


def test_no_list_is_empty() -> None:
    assert all(word_lists.words(name) for name in used("words"))

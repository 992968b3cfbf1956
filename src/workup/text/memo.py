"""A function of one word, remembered: a table that fills itself, for whole lists of words at once; bounded."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

Value = TypeVar("Value")
_MOST = 100_000


class Memo(dict[str, Value]):
    """Looked up like a table, so that `map(memo.__getitem__, words)` calls the function for words not met before only.

    >>> lengths = Memo(len)
    >>> list(map(lengths.__getitem__, ["a", "bc", "a"])), dict(lengths)
    ([1, 2, 1], {'a': 1, 'bc': 2})
    """

    def __init__(self, function: Callable[[str], Value]) -> None:
        super().__init__()
        self._function = function

    def __missing__(self, key: str) -> Value:
        if len(self) >= _MOST:  # hostile texts are made of words that never come again
            self.clear()
        value = self[key] = self._function(key)
        return value

"""The cases that ship with the project: written by hand, each with its ledger. All people in them are invented."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache
from importlib.resources import as_file, files
from typing import Annotated

from pydantic import Field

from workup.errors import InputError, near
from workup.tasks.conversation.cases.case import ConversationCase, read_cases

VERSION = "1"  # of the cases; a changed word makes another corpus
_FOLDER = files("workup.tasks.conversation") / "data" / "cases"


@cache
def families() -> tuple[str, ...]:
    """The files of cases, one for each family of specialties.

    >>> "mental_health" in families()
    True
    """
    return tuple(sorted(one.name.removesuffix(".jsonl") for one in _FOLDER.iterdir() if one.name.endswith(".jsonl")))


def load_cases(*, only: Iterable[str] = ()) -> list[ConversationCase]:
    """The written cases of all families, or of the named ones, in the order of their files.

    >>> case = load_cases(only=["mental_health"])[0]
    >>> case.id, case.last_turn, [fact.concept for fact in case.retired(case.last_turn)]
    ('depression-safety-plan', 14, ['sertraline', 'early morning waking'])
    """
    wanted = [only] if isinstance(only, str) else list(only)
    for name in wanted:
        if name not in families():
            raise InputError(
                "'only' must name families of the written cases", got=repr(name)[:40], remedy=near(name, families())
            )
    return [case for name in families() if not wanted or name in wanted for case in _family(name)]


@cache
def _family(name: str) -> tuple[ConversationCase, ...]:
    with as_file(_FOLDER / f"{name}.jsonl") as path:
        return tuple(read_cases(path))


class WrittenCases:
    """The written cases as a generator gives them, so that a study can name them: `generate: {kind: written}`."""

    def __init__(self, only: Iterable[str] = ()) -> None:
        self._only = only

    def cases(self) -> list[ConversationCase]:
        """All of them, or those of the named families."""
        return load_cases(only=self._only)


def written(
    *,
    only: Annotated[Sequence[str], Field(description="Families of cases; all when empty")] = (),
    seed: int = 0,
) -> WrittenCases:
    """The cases that ship, of all families or of some; nothing is drawn, so the seed changes nothing.

    >>> len(written(only=["mental_health"]).cases())
    8
    """
    return WrittenCases(only)

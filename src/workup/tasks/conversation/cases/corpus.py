"""Cases of conversations as a corpus: which cluster, site, time and groups each belongs to, with a hash of it all."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from workup.errors import InputError, named, within
from workup.task import Case, Corpus
from workup.tasks.conversation.cases.case import ConversationCase, Turn
from workup.tasks.conversation.read.advice import check_harm_tags
from workup.tasks.conversation.talk.transcripts import Transcripts
from workup.tasks.times import check_time

_CLUSTER = ("cluster", "persona", "patient", "template")  # the first that a case names; else the case is its own
_GROUP = (str, int, float, bool)


@dataclass(frozen=True)
class ConversationCorpus(Corpus):
    """Cases to be held; `recorded` are transcripts that came with them, such as dialogues with their notes."""

    recorded: Transcripts | None = None

    @property
    def conversations(self) -> list[ConversationCase]:
        """The cases themselves."""
        return [case.input for case in self.cases]


def corpus_of(
    cases: Sequence[ConversationCase],
    *,
    name: str,
    version: str = "",
    source: str = "",
    seed: int | None = None,
    recorded: Transcripts | None = None,
    notes: Iterable[str] = (),
) -> ConversationCorpus:
    """A corpus in the order of the ids, so that no shuffling of the file changes anything."""
    ordered = sorted(cases, key=lambda case: case.id)
    for number, case in enumerate(ordered, start=1):
        _check_tags(case, number)
    times = _times(ordered)
    held = [_case(one, number, time) for number, (one, time) in enumerate(zip(ordered, times, strict=True), start=1)]
    return ConversationCorpus(
        name=name,
        version=version,
        task="conversation",
        cases=held,
        sha256=_sha256([_content(case, design=True) for case in ordered]),
        shown_sha256=_sha256([_content(case, design=False) for case in ordered]),
        source=source,
        seed=seed,
        n_patients=len({case.patient for case in held}),
        notes=tuple(notes),
        recorded=recorded,
    )


def _check_tags(case: ConversationCase, number: int) -> None:
    """A class that nothing is known of is refused before a model is asked, not in the middle of the scoring."""
    try:
        check_harm_tags(case.facts)
    except InputError as error:
        where = within(_named(case, number), error.where)
        raise InputError(error.expected, where=where, got=error.got, remedy=error.remedy) from None


def _named(case: ConversationCase, number: int) -> str:
    return named("case", case.id) or f"case {number:,} in the order of the ids"


def _case(case: ConversationCase, number: int, time: np.datetime64 | None) -> Case:
    about = case.metadata
    cluster = next((str(about[key]) for key in _CLUSTER if about.get(key) not in (None, "")), case.id)
    site = about.get("site")
    return Case(
        id=case.id,
        input=case,
        expected=case.facts,
        patient=cluster,
        site=None if site is None else str(site),
        time=time,
        groups=_groups(case, number),
    )


def _groups(case: ConversationCase, number: int) -> dict[str, Any]:
    named = case.metadata.get("groups") or {}
    if not isinstance(named, Mapping) or any(v is not None and not isinstance(v, _GROUP) for v in named.values()):
        raise InputError(
            '\'metadata.groups\' must be an object of plain values, such as {"sex": "F"}', where=_named(case, number)
        )
    found = dict(named)
    if isinstance(case.metadata.get("specialty"), str):
        found.setdefault("specialty", case.metadata["specialty"])
    return found


def _times(cases: Sequence[ConversationCase]) -> list[np.datetime64 | None]:
    named = [case.metadata.get("time") for case in cases]
    if all(time is None for time in named):
        return [None] * len(cases)
    column = np.array([None if time is None else str(time) for time in named], dtype=object)
    return list(check_time(column, time_format=None, where="'metadata.time' of the cases"))


def _content(case: ConversationCase, *, design: bool) -> dict[str, Any]:
    content: dict[str, Any] = {
        "id": case.id,
        "summary": case.patient_summary,
        "turns": [_turn(turn) for turn in case.turns],
        "facts": [{**{k: getattr(f, k) for k in _FACT}, "attributes": dict(f.attributes)} for f in case.facts],
    }
    if not case.checked:
        content["checked"] = False
    return {**content, "plan": case.target_plan, "metadata": dict(case.metadata)} if design else content


def _turn(turn: Turn) -> dict[str, Any]:
    """A turn as it enters the fingerprint; of the first session as before there were several."""
    content = asdict(turn)
    if turn.session == 1:
        del content["session"], content["after_days"]
    return content


_FACT = (
    *("id", "type", "concept", "aliases", "status", "introduced", "retired", "superseded_by", "weight", "critical"),
    "harm_tag",
)


def _sha256(content: Any) -> str:
    text = json.dumps(content, sort_keys=True, ensure_ascii=False, separators=(",", ":"), default=str)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()

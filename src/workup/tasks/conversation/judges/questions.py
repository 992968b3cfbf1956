"""What a judge is asked: a fact and a passage, or two sentences and what lies between. In words, and as it is sent."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

from workup.stats.random import generator
from workup.tasks.conversation.cases.facts import Fact
from workup.tasks.conversation.labels import PAIR_ANSWERS, Unit
from workup.tasks.conversation.read.sentence.text import sentences
from workup.tasks.conversation.read.sentence.vocabulary import table
from workup.tasks.conversation.talk.memory import Message
from workup.tasks.conversation.talk.passages import cut

FACT_WORDS = ("correct", "reversed", "wrong_value", "omitted")
PAIR_WORDS = PAIR_ANSWERS
LONGEST_PASSAGE = 40_000  # characters; what is longer is not handed to a judge, whose answer would rest on a part
_SHOWN_VALUES = ("dose_value", "dose_unit", "frequency", "route", "laterality", "date")
_MARK = "=========="


class Question(NamedTuple):
    """One question about one unit. `texts` are the fact in words and the passage, or both sentences and what the
    patient said between them."""

    unit: Unit
    texts: tuple[str, ...]

    @property
    def words(self) -> tuple[str, ...]:
        """The answers that are allowed."""
        return FACT_WORDS if self.unit.pair is None else PAIR_WORDS

    @property
    def named(self) -> dict[str, str]:
        """The texts by the names of their parameters."""
        names = ("fact", "passage") if self.unit.pair is None else ("first", "second", "between")
        return dict(zip(names, self.texts, strict=True))

    @property
    def digest(self) -> str:
        """What is asked, without the place that it is asked of: equal questions have one answer."""
        return hashlib.sha256("\0".join(self.texts).encode("utf-8", "surrogatepass")).hexdigest()


def prompt_version() -> str:
    """The version of the prompts, as keys of calls and records hold it."""
    return f"judge-{table('judge_prompts')['version']}"


def in_words(fact: Fact, turn: int) -> str:
    """A fact as a judge is told it, at a turn.

    >>> warfarin = Fact("f1", "medication", "warfarin", attributes={"dose_value": 5, "dose_unit": "mg"}, retired=4)
    >>> in_words(warfarin, 2)
    'the patient takes warfarin (5 mg)'
    >>> in_words(warfarin, 4)
    '"the patient takes warfarin (5 mg)" was true before and is no longer'
    """
    told = table("judge_prompts")
    values = " ".join(str(fact.attributes[name]) for name in _SHOWN_VALUES if name in fact.attributes)
    said = str(told["facts"][fact.type]).format(it=f"{fact.concept} ({values})" if values else fact.concept)
    status = told["statuses"]["over" if fact.over(turn) else fact.status]
    return f'"{said}"{status}' if status else said


def prompt_of(question: Question, *, seed: int, run: int) -> list[Message]:
    """The message to a chat model. The order of the options is drawn anew for every question and run."""
    told = table("judge_prompts")
    order = [
        question.words[place]
        for place in generator(seed, "judge", question.digest, run).permutation(len(question.words))
    ]
    options = "\n".join(f"- {word}: {told['options'][word]}" for word in order)
    given = {name: _without_marks(text) for name, text in question.named.items()}
    kind = "fact" if question.unit.pair is None else "pair"
    text = _filled(str(told[kind]), {**given, "options": options, "words": ", ".join(order)})
    return [{"role": "user", "content": text}]


def plain_message(question: Question) -> list[Message]:
    """The same for code that takes the texts one by one."""
    return [{"role": "user", "content": json.dumps(question.named, ensure_ascii=False, sort_keys=True)}]


def answer_of(content: str | None, words: Sequence[str]) -> str | None:
    """The one word of an answer; anything else is none.

    >>> answer_of(" Reversed.", FACT_WORDS), answer_of("It is correct", FACT_WORDS)
    ('reversed', None)
    """
    said = (content or "").strip().strip("\"'`*.").casefold()
    return said if said in words else None


def _filled(template: str, given: Mapping[str, str]) -> str:
    """A template with its places filled at once: braces in a passage are never read as a place."""
    parts = template.split("{")
    found = [parts[0]]
    for part in parts[1:]:
        name, _, rest = part.partition("}")
        found.append(given[name] + rest)
    return "".join(found)


def _without_marks(text: str) -> str:
    """A text that cannot end its own frame."""
    while _MARK in text:
        text = text.replace(_MARK, "=")
    return text


@lru_cache(maxsize=64)  # the facts of one turn are looked for in one text, one after the other
def original(text: str) -> Original:
    """A reply by its sentences, cut once."""
    return Original(text)


class Original:
    """A reply as it was written, by the places of the sentences in which the rules read it.

    >>> Original("Hello. You take warfarin 5 mg. It thins the blood. Bye.").around(1)
    'Hello. You take warfarin 5 mg. It thins the blood.'
    """

    def __init__(self, text: str) -> None:
        self.text = text
        self._pieces: list[str] = []
        self._at: list[int] = []  # the piece in which each sentence of the reader stands
        for piece in cut(text):
            self._at += [len(self._pieces)] * max(1, len(sentences(piece)))
            self._pieces.append(piece)
        if len(self._at) != len(sentences(text)):  # read otherwise in the whole than in its pieces
            self._at = []

    def __len__(self) -> int:
        return len(self._at)

    def around(self, place: int | None) -> str:
        """A sentence with one on each side; the whole reply where the place is not known."""
        if place is None or not 0 <= place < len(self._at):
            return self.text
        at = self._at[place]
        return " ".join(self._pieces[max(0, at - 1) : at + 2])

    def sentence(self, place: int) -> str:
        """One sentence; the whole reply where the place is not known."""
        return self._pieces[self._at[place]] if 0 <= place < len(self._at) else self.text

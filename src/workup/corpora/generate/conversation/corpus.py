"""A corpus of conversations: any case can be made by itself, from the seed, its number and the settings alone."""

from __future__ import annotations

import datetime
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field

from workup.corpora.generate.conversation import case_records, people, settings
from workup.corpora.generate.conversation.people import AGES, Persona
from workup.corpora.generate.conversation.plots import plot_of
from workup.corpora.generate.conversation.schedule import turns_of
from workup.corpora.generate.conversation.settings import FEWEST_TURNS, MOST_TURNS, ConversationSettings
from workup.corpora.generate.conversation.sources import families, table
from workup.corpora.writer import json_line, refuse_existing, said_in_words
from workup.errors import InputError
from workup.files.disk import replace_whole
from workup.values.draws import Chance

_SEXES = ("female", "male")
_OFTEN = {"mental_health": 3.0, "obstetrics": 8.0}
# The mean number of turns differs by site, so that sites have something to show.
_LENGTHS: Mapping[str, tuple[int, int]] = {
    "harbour": (10, 14),
    "hillside": (12, 16),
    "lakeside": (10, 16),
    "riverside": (14, 18),
}


def generate(
    count: Annotated[int, Field(ge=1, le=1_000_000, description="Conversations")],
    *,
    seed: int = 0,
    turns: Annotated[
        int | None, Field(ge=FEWEST_TURNS, le=MOST_TURNS, description="Turns of each; 10 to 18 when absent")
    ] = None,
    specialties: Annotated[Sequence[str], Field(description="Specialties by name; all when empty")] = (),
    start: Annotated[str | datetime.date, Field(description="First day, as in 2024-01-01")] = "2024-01-01",
    months: Annotated[int, Field(ge=1, le=240, description="Months over which they are spread")] = 12,
) -> Conversations:
    """Conversations with their ledgers, as records of the case file. Without `turns` they have 10 to 18.

    Sites differ in length and language, and in the last third of the time more doses and results change, so that
    lenses by site, group and time have something to look at; what a model makes of it is another matter.

    >>> case = next(generate(1, seed=7).cases())
    >>> case["id"], case["turns"][-1]["turn"] >= 10, {fact["introduced"] >= 1 for fact in case["facts"]}
    ('conversation-7-0000000', True, {True})
    """
    return Conversations(
        settings.checked(count=count, seed=seed, turns=turns, specialties=specialties, start=start, months=months)
    )


@dataclass(frozen=True)
class Conversations:
    """A corpus that is made as it is read: the same bytes every time."""

    settings: ConversationSettings

    def __len__(self) -> int:
        return self.settings.count

    @property
    def name(self) -> str:
        """The name of the corpus in reports."""
        return "conversation"

    def case(self, number: int) -> dict[str, Any]:
        """The case with this number, as a record of the case file."""
        return _case(self.settings, number)

    def cases(self) -> Iterator[dict[str, Any]]:
        """All cases in order."""
        for number in range(self.settings.count):
            yield self.case(number)

    def write(self, out: Path, *, watch: Callable[[str, int, int], None] | None = None) -> tuple[Path, ...]:
        """One case on each line of a new .jsonl file; whole, or not at all."""
        out = Path(out)
        if out.suffix.lower() != ".jsonl" or not out.parent.is_dir():
            raise InputError(
                "conversations are written to a .jsonl file in a folder that exists",
                where=str(out),
                remedy="make the folder, and end the name in .jsonl",
            )
        refuse_existing(out)
        with said_in_words(out):
            replace_whole(out, self._lines(watch))
        return (out,)

    def _lines(self, watch: Callable[[str, int, int], None] | None) -> Iterator[str]:
        for done, case in enumerate(self.cases(), start=1):
            yield json_line(case)
            if watch is not None:
                watch("conversations", done, self.settings.count)


# ---- one case --------------------------------------------------------------------------------------------------------


def _case(asked: ConversationSettings, number: int) -> dict[str, Any]:
    seat, before = people.place_of(asked.seed, number)
    persona = people.person(asked.seed, seat, _ages(asked), _sexes(asked))
    chance = Chance.of(asked.seed, "conversation", "case", number)
    day, share = _day(asked, chance)
    name = _family(asked, persona, chance)
    family = table("families")[name]
    low, high = _LENGTHS[persona.site]
    drawn = chance.integer(low, high)  # drawn in any case, so that a fixed length changes nothing else
    last = drawn if asked.turns is None else asked.turns
    plot = plot_of(family, persona, chance, changes=0.55 if share < 2 / 3 else 0.85, year=day.year)
    placed = turns_of(plot, last, chance)
    record = case_records.record_of(f"conversation-{asked.seed}-{number:07d}", plot, placed, family, persona, chance)
    changed = sum(fact["superseded_by"] is not None for fact in record["facts"])
    record["metadata"] = {
        "specialty": family["specialty"],
        "site": persona.site,
        "time": day.isoformat(),
        "persona": persona.name,
        "visit": before + 1,
        "template": name,
        "speaker": persona.speaker,
        "generator": f"conversation {settings.VERSION}",
        "groups": {
            "sex": persona.sex,
            "age": persona.age,
            "language": persona.language,
            "template": name,
            "changes": "none" if changed == 0 else "one" if changed == 1 else "several",
        },
    }
    return record


def _wanted(asked: ConversationSettings) -> list[str]:
    held = table("families")
    return [name for name in families() if not asked.specialties or held[name]["specialty"] in asked.specialties]


def _ages(asked: ConversationSettings) -> tuple[str, ...]:
    fitting = {age for name in _wanted(asked) for age in table("families")[name]["ages"]}
    return tuple(age for age in AGES if age in fitting)


def _sexes(asked: ConversationSettings) -> tuple[str, ...]:
    held = [table("families")[name] for name in _wanted(asked)]
    return _SEXES if any("sexes" not in family for family in held) else ("female",)


def _family(asked: ConversationSettings, persona: Persona, chance: Chance) -> str:
    held = table("families")
    fitting = [
        name
        for name in _wanted(asked)
        if persona.age in held[name]["ages"] and persona.sex in held[name].get("sexes", _SEXES)
    ]
    # Mental health and pregnancy come up more often than their share of the families.
    return chance.weighted(fitting, list(accumulate(_OFTEN.get(held[name]["specialty"], 2.0) for name in fitting)))


def _day(asked: ConversationSettings, chance: Chance) -> tuple[datetime.date, float]:
    """A day of the time asked for, and how far into that time it is."""
    share = chance.uniform()
    first = asked.start.year * 12 + asked.start.month - 1 + asked.months
    end = datetime.date(first // 12, first % 12 + 1, 1)
    return asked.start + datetime.timedelta(days=int(share * (end - asked.start).days)), share

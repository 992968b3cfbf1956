"""Recorded dialogues with the note that was written of them, as cases of one turn with one probe. No model is run.

The facts are the clinical terms that the dialogue asserts, as ConText reads it. What is only asked, supposed or said
both ways is left out and counted, and so is speech without a stop. There is no ledger, hence no decay.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from io import StringIO
from itertools import pairwise
from os.path import isdir, isfile
from pathlib import Path
from typing import NamedTuple

from workup.errors import InputError, near
from workup.files.received import text_of
from workup.tasks.conversation.cases.case import ConversationCase, Turn
from workup.tasks.conversation.cases.facts import Fact
from workup.tasks.conversation.read.content.extended import extended_facts
from workup.tasks.conversation.read.content.passages import Passage
from workup.tasks.conversation.read.facts.mentions import prepare_fact
from workup.tasks.conversation.talk.transcripts import Probe, Said, Transcripts
from workup.text.sentences import spoken_sentences

FORMATS = ("aci_bench", "mts_dialog")
_COLUMNS: Mapping[str, tuple[str, ...]] = {
    "aci_bench": ("encounter_id", "dialogue", "note"),
    "mts_dialog": ("ID", "dialogue", "section_text"),
}
_LARGEST = 512 * 2**20  # bytes of a file
_LONGEST = 2_000_000  # characters of one cell
_SPEAKER = re.compile(
    # No blanks before it: a long run of them would be read anew from each of them, and they are cut off anyway.
    r"(?:\[(doctor|patient|patient_guest)\]|(doctor|patient|guest_family(?:_\d)?|guest_clinician)\s*:)",
    re.IGNORECASE,
)
_SPEAKERS = {"doctor": "Doctor", "guest_clinician": "Clinician", "patient_guest": "Family", "guest_family": "Family"}


class Counts(NamedTuple):
    """What became of the dialogues and of the terms in them."""

    dialogues: int
    kept: int
    terms: int  # distinct clinical terms of the dialogues that were kept
    facts: int
    unread: int  # sentences of all dialogues that were too long to be read

    def telling(self) -> str:
        """The counts in a sentence."""
        return (
            f"{self.kept:,} of {self.dialogues:,} dialogues assert a fact; of their {self.terms:,} clinical terms "
            f"{self.facts:,} are facts, the rest was only asked, supposed, said both ways or done at no stated time; "
            f"{self.unread:,} sentences without a stop were left out"
        )


class Converted(NamedTuple):
    """Cases, the notes as transcripts, and what was left out."""

    cases: list[ConversationCase]
    transcripts: Transcripts
    counts: Counts


def read_dialogues(path: Path | str, *, format: str) -> tuple[list[ConversationCase], Transcripts]:
    """The dialogues of a file as cases, and their notes as transcripts.

    >>> from tempfile import mkdtemp
    >>> file = Path(mkdtemp()) / "dialogues.csv"
    >>> rows = 'ID,section_header,section_text,dialogue', '1,ROS,"No fever.","Doctor: Any fever? \\nPatient: No."'
    >>> _ = file.write_text("\\n".join(rows))
    >>> cases, transcripts = read_dialogues(file, format="mts_dialog")
    >>> [(fact.concept, fact.status) for fact in cases[0].facts], transcripts.said[0].probe.reply
    ([('fever', 'absent')], 'No fever.')
    """
    converted = convert_dialogues(path, format=format)
    return converted.cases, converted.transcripts


def convert_dialogues(path: Path | str, *, format: str) -> Converted:
    """The same, with counts of what could not be used."""
    if format not in FORMATS:
        raise InputError(f"'format' must be one of {', '.join(FORMATS)}", remedy=near(str(format)[:40], FORMATS))
    path = Path(path)
    people = _people(path) if format == "aci_bench" else {}
    cases: list[ConversationCase] = []
    said: list[Said] = []
    dialogues = terms = unread = 0
    for row in _rows(path, _COLUMNS[format]):
        dialogues += 1
        case, asserted, too_long = _case(row, format, people)
        unread += too_long
        if case is None:
            continue
        terms += asserted
        cases.append(case)
        note = row["note" if format == "aci_bench" else "section_text"].strip()
        probe = Probe("summary", note) if note else Probe("summary", None, None, "no_note")
        said.append(Said(case.id, 0, "live", 1, None, probe))
    if not cases:
        raise InputError("dialogues that assert a fact were expected", where=path.name, got="none")
    counts = Counts(dialogues, len(cases), terms, sum(len(case.facts) for case in cases), unread)
    return Converted(cases, Transcripts(tuple(said), ()), counts)


# ---- one dialogue ----------------------------------------------------------------------------------------------------


def _case(
    row: Mapping[str, str], format: str, people: Mapping[str, Mapping[str, str]]
) -> tuple[ConversationCase | None, int, int]:
    """The case of a dialogue, None where it asserts nothing; how many distinct terms it has, and sentences too long."""
    lines = list(_lines(row["dialogue"]))
    plain = list(_plain(lines))
    too_long = sum(len(one.split()) > _LONGEST_SENTENCE for one in plain)
    # A place is kept for what is not read: else the next "no" would answer the question before it.
    asserted = _asserted("\n".join(one if len(one.split()) <= _LONGEST_SENTENCE else _UNREAD for one in plain))
    facts = _facts(asserted)
    if not facts:
        return None, 0, too_long
    id = row["encounter_id"] if format == "aci_bench" else f"mts-{row['ID']}"
    message = "\n".join(f"{who}: {text}" for who, text in lines)
    terms = len({entity.concept for entity in Passage(asserted.patient_summary).entities})
    case = ConversationCase(id, "", (Turn(1, message),), facts, None, _about(row, people, id))
    return case, terms, too_long


def _about(row: Mapping[str, str], people: Mapping[str, Mapping[str, str]], id: str) -> dict[str, object]:
    person = people.get(id, {})
    groups = {
        "source": row.get("dataset", ""),
        "section": row.get("section_header", ""),
        "sex": person.get("patient_gender", ""),
    }
    return {"groups": {name: value for name, value in groups.items() if value}}


def _asserted(text: str) -> ConversationCase:
    """The dialogue in the place of a summary: the extended set of a case without a ledger is what it asserts."""
    return ConversationCase("dialogue", text, (Turn(1, text),), ())


def _facts(case: ConversationCase) -> tuple[Fact, ...]:
    """Critical facts from turn 1 on; of two that one mention would meet, the first.

    A procedure is a fact where it is said to be over, or denied: elsewhere it may be done, read or to come, and a note
    can put it at any time without a fault. What a patient shares with a relative is left out of the family's: a note
    that gives it to the patient contradicts nothing.
    """
    found = [fact for fact in extended_facts(case) if (fact.type, fact.status) != ("procedure", "present")]
    own = {name.stems for fact in found if fact.status != "family" for name in prepare_fact(fact).names}
    kept: list[Fact] = []
    taken: set[tuple[str, tuple[str, ...]]] = set()
    for fact in found:
        stems = {name.stems for name in prepare_fact(fact).names}
        names = {("" if fact.status == "family" else fact.type, one) for one in stems}
        if names.isdisjoint(taken) and not (fact.status == "family" and not own.isdisjoint(stems)):
            taken |= names
            kept.append(replace(fact, id=f"f{len(kept) + 1}", critical=True))
    return tuple(kept)


# ---- what was said ---------------------------------------------------------------------------------------------------

_SPACED = re.compile(r"\s+(?=[.,?!;:])")
_CONTRACTED = re.compile(r"\b(\w+?)\s+(n't|'s|'m|'re|'ve|'ll|'d)\b", re.IGNORECASE)
_TOGETHER = ((re.compile(r"\bgon na\b", re.IGNORECASE), "gonna"), (re.compile(r"\bwan na\b", re.IGNORECASE), "wanna"))
_FILLERS = re.compile(r"^(?:(?:um+|uh+|oh|well|okay|ok|ah|hmm|so|actually|honestly)\b[\s,.]*)+(?=\w)", re.IGNORECASE)
_YES = re.compile(r"^(?:yes|yeah|yep|yup|correct|absolutely|definitely|mm-?hmm|uh-huh)\b[\s,.!]*", re.IGNORECASE)
_NO = re.compile(r"^(?:no|nope|nah|none|negative|never)\b[\s,.!]*", re.IGNORECASE)
_NEXT = re.compile(r"\b(?:okay|ok|alright|all right)\b[\s,]*", re.IGNORECASE)
# How a question opens where no sign closes it. Any, for itself, opens one at the beginning of a part only.
_QUESTION = re.compile(
    r"(?:(?:and|so|but|well|now|um|uh|or)[\s,]+)*(?:(?:how|what) about\b|(?<!we )(?<!i )(?<!they )(?<!to )(?<!ll )"
    r"(?:(?:have|do|did|are|were) you|(?:has|does|did|is) (?:he|she)|(?:is|are) there any|"
    r"(?:have|has) (?:anybody|anyone))\b)"
    r"|^(?:(?:and|so|but|well|now|um|uh|or|then)[\s,]+)*any\b|\band any other\b",
    re.IGNORECASE,
)
_LONGEST_SENTENCE, _UNREAD = 40, "Unread passage."  # words
_DENIAL = re.compile(
    r"^(?:i|we|he|she) (?:do not|don't|have not|haven't|did not|didn't|has not|hasn't)\s*(?:[.,!]|$)", re.I
)


def _lines(dialogue: str) -> Iterator[tuple[str, str]]:
    """Who said what, in order; lines without a speaker go on with the last one."""
    marks = list(_SPEAKER.finditer(dialogue))
    ends = [*(mark.start() for mark in marks[1:]), len(dialogue)]
    for mark, end in zip(marks, ends, strict=False):
        text = _joined(dialogue[mark.end() : end])
        if text:
            yield _SPEAKERS.get((mark[1] or mark[2]).casefold().rstrip("_0123456789"), "Patient"), text


def _joined(text: str) -> str:
    """Words as they are written: transcripts part "do n't" and put a blank before each sign."""
    text = _CONTRACTED.sub(r"\1\2", _SPACED.sub("", " ".join(text.split())))
    for pattern, word in _TOGETHER:
        text = pattern.sub(word, text)
    return text.lstrip(".,;- ")


def _plain(lines: list[tuple[str, str]]) -> Iterator[str]:
    """Each line as sentences: questions closed with their sign, answers opened with a plain yes or no.

    Speech that was written down without a stop is cut where a doctor turns to the next thing; what is still too long
    for a clause to be told from the next is not read at all, since no rule could say what is denied in it.
    """
    asked = False
    for who, text in lines:
        spoken = _cut(text) if who in ("Doctor", "Clinician") else _answer(_FILLERS.sub("", text)) if asked else text
        found = [one.strip() for one in spoken_sentences(spoken) if any(sign.isalnum() for sign in one)]
        asked = bool(found) and found[-1].endswith("?")
        for one in found:
            yield one if one[-1] in ".?!" else f"{one.rstrip(',;:- ')}."


def _cut(text: str) -> str:
    """A doctor's line with stops at "okay" and "alright", and each question set off from what stands before it."""
    parts = [part.strip() for sentence in spoken_sentences(text) for part in _NEXT.split(sentence)]
    return " ".join(_asking(part) for part in parts if any(sign.isalnum() for sign in part))


def _asking(part: str) -> str:
    openings = [found.start() for found in _QUESTION.finditer(part)]
    if not openings:
        return part if part[-1] in ".?!" else f"{part}."
    pieces = [part[first:last].strip(" ,.;-") for first, last in pairwise([0, *openings, len(part)])]
    lead, *questions = pieces
    return " ".join([*([f"{lead}."] if lead else []), *(f"{one}?" for one in questions if one)])


def _answer(text: str) -> str:
    for pattern, word in ((_YES, "Yes"), (_NO, "No"), (_DENIAL, "No")):
        found = pattern.match(text)
        if found:
            return f"{word}. {text[found.end() :].lstrip()}".strip()
    return text


# ---- files -----------------------------------------------------------------------------------------------------------


def _rows(path: Path, columns: tuple[str, ...]) -> Iterator[dict[str, str]]:
    seen: set[str] = set()
    for number, row in enumerate(_table(path, columns), start=1):
        where = f"{path.name}, record {number}"
        if any(not isinstance(row.get(name), str) for name in columns):
            raise InputError(f"the columns {', '.join(columns)} were expected in every record", where=where)
        id = row[columns[0]].strip()
        if not id or id in seen:
            got = "one that stands twice" if id else "an empty one"
            raise InputError(f"'{columns[0]}' must be an id of its own", where=where, got=got)
        seen.add(id)
        yield row | {columns[0]: id}


def _table(path: Path, columns: tuple[str, ...]) -> Iterator[dict[str, str]]:
    if not isfile(path):
        got = "a folder" if isdir(path) else "no such file"
        raise InputError("a .csv file of dialogues was expected", where=path.name, got=got, remedy="check the path")
    try:
        text = text_of(path, most=_LARGEST)
    except UnicodeDecodeError:
        raise InputError("text in UTF-8 was expected", where=path.name, remedy="save the file as UTF-8") from None
    except OSError as error:
        raise InputError("a file that can be read was expected", where=path.name, got=error.strerror or "") from None
    before = csv.field_size_limit(_LONGEST)
    try:
        reader = csv.DictReader(StringIO(text, newline=""))
        missing = [name for name in columns if name not in (reader.fieldnames or ())]
        if missing:
            raise InputError(
                f"the columns {', '.join(columns)} were expected", where=path.name, got=f"no '{missing[0]}'"
            )
        yield from reader
    except csv.Error:
        raise InputError("a table in CSV was expected", where=path.name, got="one that cannot be read") from None
    finally:
        csv.field_size_limit(before)


def _people(path: Path) -> dict[str, dict[str, str]]:
    """Sex of the patients, from the file beside it (`train_metadata.csv`), where there is one."""
    beside = path.with_name(f"{path.stem}_metadata.csv")
    if not isfile(beside):
        return {}
    return {row["encounter_id"]: row for row in _table(beside, ("encounter_id", "patient_gender"))}

"""All mentions: what was found once is looked for everywhere in the same text, its parts and case variants too."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence

from workup.deid.finding import Finding
from workup.deid.names.word_weights import PARTICLES, SUFFIXES, sound, weigh
from workup.deid.names.words import ABBREVIATIONS, KIN, MEETING, VERBS
from workup.deid.settings import Settings
from workup.deid.text_view import Page
from workup.text.calendar import MONTH_WORDS
from workup.text.typos import apart

_SURE = 0.7
_INITIALS = re.compile(r"[A-Z](?<![\w.].)\.? ?(?:[A-Z]\.? ?){1,2}(?!\w)")
_FEW = 32
_NUMBER = re.compile(r"\d")


class Mention:
    """A part of a name found in the text: the leaf it was found as, and how sure."""

    __slots__ = ("leaf", "score")

    def __init__(self, leaf: str, score: float) -> None:
        self.leaf, self.score = leaf, score


def all_mentions(page: Page, found: Sequence[Finding], settings: Settings) -> list[Finding]:
    """More findings, by what is known already; spans that are found already are left."""
    taken = bytearray(len(page.text))
    for one in found:
        taken[one.start : one.end] = b"\1" * (one.end - one.start)
    more: list[Finding] = []
    people = [one for one in found if one.label.startswith("name_") and one.score >= _SURE]
    if people and settings.on("again.name"):
        more += _names_again(page, people, taken, settings.not_names)
    organisations = [
        one for one in found if one.label in ("facility", "employer", "city", "org_other") and one.score >= 0.6
    ]
    if organisations and settings.on("again.place"):
        more += _organisations_again(page, organisations, taken)
    codes = [one for one in found if one.rule.startswith("label.") or one.score >= 0.9]
    if settings.on("again.code"):
        more += _codes_again(page, codes, taken)
    return more


def _parts(page: Page, people: Sequence[Finding], stop: frozenset[str]) -> dict[str, Mention]:
    parts: dict[str, Mention] = {}
    for one in people:
        for word in range(page.word_at(one.start), page.word_at(one.end)):
            text = page.words[word]
            if len(text) < 2 or text in KIN or text in SUFFIXES or text in PARTICLES or page.cases[word] in "di":
                continue
            known = parts.get(text)
            if known is None or known.score < one.score:
                parts[text] = Mention(one.label, one.score)
    return parts


def _names_again(page: Page, people: Sequence[Finding], taken: bytearray, stop: frozenset[str]) -> Iterator[Finding]:
    parts = _parts(page, people, stop)
    sounds = {sound(part): mention for part, mention in parts.items() if len(part) >= 5}
    free, count = 0, page.size
    for at in sorted({*page.of(parts), *_unsure(page, sounds)}):
        if at < free or taken[page.starts[at]] or not (mention := _again(page, at, parts, sounds, stop)):
            continue
        first = last = at
        while last + 1 < count and page.gaps[last] in (" ", "-", ". ", ", ", ".") and not taken[page.starts[last + 1]]:
            if _again(page, last + 1, parts, {}, stop) or (
                page.cases[last + 1] == "i"
                and last + 2 < count
                and _again(page, last + 2, parts, {}, stop)
                and page.gaps[last + 1] in (" ", ". ")
            ):
                last += 1
            else:
                break
        if (
            first
            and page.cases[first - 1] == "i"
            and page.gaps[first - 1] in (". ", " ", ".")
            and not taken[page.starts[first - 1]]
            and page.words[first - 1] not in ("a", "i")
        ):
            first -= 1
        first, last = _widened(page, first, last, taken, stop)
        yield Finding(
            page.starts[first], page.ends[last], mention.leaf, min(0.9, mention.score), "again.name", ("mention",)
        )
        free = last + 1
    yield from _initials(page, people, taken)
    yield from _handles(page, parts, taken)


def _unsure(page: Page, sounds: Mapping[str, Mention]) -> Iterator[int]:
    """Words that may be a misspelt mention: with a capital, or of a speaker in small letters."""
    for at, case in enumerate(page.cases):
        if (case == "t" and sounds and len(page.words[at]) >= 5) or (case == "l" and page.gaps[at][:1] == ":"):
            yield at


def _widened(page: Page, first: int, last: int, taken: bytearray, stop: frozenset[str]) -> tuple[int, int]:
    """A mention with the given name before it, or the surname after, where these are written as such."""
    if first and page.gaps[first - 1] == " " and page.cases[first - 1] in "tu" and not taken[page.starts[first - 1]]:
        before = weigh(page.words[first - 1])
        if (
            before.given
            and before.why != "clinical"
            and (page.words[first - 1] not in stop or page.words[first - 1] in MONTH_WORDS)
        ):
            first -= 1
    after = last + 1
    if after < page.size and page.gaps[last] == " " and page.cases[after] == "t" and not taken[page.starts[after]]:
        given, family = weigh(page.words[last]), weigh(page.words[after])
        if (
            given.given
            and given.odds > 0
            and family.family
            and family.why != "clinical"
            and page.words[after] not in stop
        ):
            last = after
    return first, last


def _again(
    page: Page, at: int, parts: dict[str, Mention], sounds: dict[str, Mention], stop: frozenset[str]
) -> Mention | None:
    word, case = page.words[at], page.cases[at]
    mention = parts.get(word)
    if len(word) < 3 and case in "lm":
        return None
    if mention is None and case == "l" and page.gaps[at][:1] == ":" and page.opens_line(at) and not weigh(word).known:
        return next((parts[part] for part in parts if len(part) > 3 and apart(word, part, 2) <= 2), None)
    if mention is None:
        if case == "t" and len(word) >= 5 and sounds and weigh(word).why in ("unknown", "typo"):
            near = sounds.get(sound(word))
            if near is not None:
                return near
        return None
    odds = weigh(word).odds
    if odds < -2 and word in stop:  # "May", "Will": only where people are spoken with, or owned by a relation
        before = page.words[at - 1] if at else ""
        met = before in ("with", "by", "for", "to", "from") and (at < 2 or page.words[at - 2] in MEETING)
        return (
            mention if case == "t" and page.gaps[at][1:2].isdigit() is False and (met or _related(page, at)) else None
        )
    if case == "l":
        return mention if odds > 0.5 else None
    if (
        odds > -0.6
        or (case == "t" and not page.opens_sentence(at))
        or (case == "u" and not page.capitals[at] and len(word) > 3)
    ):
        return mention
    following = page.words[at + 1] if at + 1 < page.size else ""
    return mention if following in VERBS or page.gaps[at].startswith("'s") else None


def _related(page: Page, at: int) -> bool:
    """Whether a relation follows, in brackets or after a comma."""
    return at + 1 < page.size and page.gaps[at] in (", ", " (") and page.words[at + 1] in KIN


def _initials(page: Page, people: Sequence[Finding], taken: bytearray) -> Iterator[Finding]:
    known = {}
    for one in people:
        letters = "".join(
            page.words[w][0]
            for w in range(page.word_at(one.start), page.word_at(one.end))
            if page.words[w] not in SUFFIXES
        )
        if len(letters) >= 2:
            known[letters] = one
            known[letters[0] + letters[-1]] = one
    for match in _INITIALS.finditer(page.plain):
        letters = re.sub(r"[^a-z]", "", match[0].lower())
        dotted = "." in match[0]
        if letters in ABBREVIATIONS:
            continue
        meant = known.get(letters)
        line = page.plain[max(0, match.start() - 1) : match.start()] in ("", "\n") and page.plain[
            match.end() : match.end() + 1
        ] in ("/", "(", " ", "\n", "")
        if meant is None and dotted and len(letters) == 3 and line:
            meant = people[0]
        if meant is not None and (match[0].count(".") > 1 or len(letters) >= 3) and not taken[match.start()]:
            end = match.end()
            while page.plain[end - 1] == " ":
                end -= 1
            yield Finding(match.start(), end, meant.label, 0.7, "again.initials", ("initials",))


def _handles(page: Page, parts: dict[str, Mention], taken: bytearray) -> Iterator[Finding]:
    """Login names made of a name: jsmith, smithj2, john.smith, smith_john4."""
    long = {part.replace("'", "") for part in parts if len(part) >= 4}
    for at in _holding(page, long):
        word = page.words[at]
        base = word.rstrip("0123456789")
        start, end = page.starts[at], page.ends[at]
        if taken[start] or (base in parts and page.plain[end : end + 1] not in ("_", ".")):
            continue
        if len(base) > 4 and (base[1:] in long or base[:-1] in long) and (base != word or not weigh(base).known):
            pass
        elif page.plain[end : end + 1] in ("_", ".") and at + 1 < page.size and page.starts[at + 1] == end + 1:
            second = page.words[at + 1].rstrip("0123456789")
            if not (
                (word in long and (len(second) > 1 or second != page.words[at + 1]))
                or (second in long and len(word) > 1 and page.cases[at] == "l")
            ):
                continue
            end = page.ends[at + 1]
        else:
            continue
        start -= page.plain[start - 1 : start] == "@"
        yield Finding(start, end, "username", 0.75, "again.handle", ("made_of_name",))


def _holding(page: Page, long: set[str]) -> Iterable[int]:
    """The words that hold one of these, and those right before them; all words where there are many to look for."""
    if len(long) > _FEW:
        return range(page.size)
    found: set[int] = set()
    for part in long:
        place = page.low.find(part)
        while place >= 0:
            at = bisect_right(page.starts, place) - 1
            found |= {at, at - 1}
            place = page.low.find(part, place + len(part))
    return sorted(at for at in found if at >= 0)


def _organisations_again(page: Page, organisations: Sequence[Finding], taken: bytearray) -> Iterator[Finding]:
    phrases: dict[tuple[str, ...], Finding] = {}
    short: dict[str, Finding] = {}
    for one in organisations:
        words = range(page.word_at(one.start), page.word_at(one.end))
        name = tuple(page.words[w] for w in words)
        if not name:
            continue
        phrases.setdefault(name, one)
        if one.label != "city" and len(name) >= 3:
            phrases.setdefault(name[:-1], one)
        letters = "".join(page.words[w][0] for w in words if page.cases[w] in "tu")
        if one.label != "city" and len(letters) >= 3:
            short.setdefault(letters, one)
    opened: dict[str, list[tuple[str, ...]]] = {}
    for name in sorted(phrases, key=len, reverse=True):
        opened.setdefault(name[0], []).append(name)
    for at, word in enumerate(page.words):
        if taken[page.starts[at]]:
            continue
        if page.cases[at] == "u" and word in short and not page.capitals[at]:
            yield Finding(page.starts[at], page.ends[at], short[word].label, 0.75, "again.acronym", ("initials",))
            continue
        for name in opened.get(word, ()):
            last = at + len(name) - 1
            if tuple(page.words[at : last + 1]) == name and (page.cases[at] != "l" or len(name) > 1):
                one = phrases[name]
                yield Finding(
                    page.starts[at], page.ends[last], one.label, min(0.85, one.score), "again.place", ("mention",)
                )
                break


def _codes_again(page: Page, codes: Sequence[Finding], taken: bytearray) -> Iterator[Finding]:
    """The same value once more, letter by letter."""
    done: set[str] = set()
    for one in codes[:200]:
        surface = page.plain[one.start : one.end]
        if len(surface) < 5 or surface in done or len(_NUMBER.findall(surface)) < 4:
            continue
        done.add(surface)
        at = page.plain.find(surface)
        for _ in range(200):
            if at < 0:
                break
            end = at + len(surface)
            if not taken[at] and not page.plain[at - 1 : at].isalnum() and not page.plain[end : end + 1].isalnum():
                yield Finding(at, end, one.label, min(0.9, one.score), "again.code", ("mention",))
            at = page.plain.find(surface, end)

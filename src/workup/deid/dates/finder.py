"""Days, years and clock times in the many ways in which notes write them; each find is read, and refused where it is no
day. Knows no calendar of the patient."""

from __future__ import annotations

import re
from collections.abc import Iterator

from workup.deid.cues import Cue
from workup.deid.dates.patterns import RULES, DateRule
from workup.deid.finding import Finding
from workup.deid.settings import Settings
from workup.deid.text_view import Page
from workup.text.calendar import WEEKDAY_WORDS
from workup.text.memo import Memo
from workup.text.typos import apart

_OF_DAYS = frozenset(("birth", "death", "day"))
_TRAIL = " ,.;:-/("


def dates(page: Page, cues: list[Cue], settings: Settings) -> Iterator[Finding]:
    """Days, years and times of a page; where rules meet, the first that found wins among those of equal length."""
    taken: list[Finding] = []
    births, deaths, days = _after_cues(page, cues)
    for rule in RULES:
        matches = rule.finds.find(page)
        if matches and settings.on(rule.id):
            read = (_read(rule, match, page, days) for match in matches)
            taken += [_named(found, page, births, deaths) for found in read if found is not None]
    yield from taken


def _read(rule: DateRule, match: re.Match[str], page: Page, days: set[int]) -> Finding | None:
    said = rule.holds(match, page) if rule.holds else "words"
    if said is None:
        return None
    start, end = match.span("v") if "v" in rule.finds.pattern.groupindex else match.span()
    score, evidence = rule.score, [said]
    if rule.id == "date.three_figures":
        score = 0.75 if start in days else 0.0
    if rule.id == "date.short":
        score, cue = _short_score(page, start, end, days)
        evidence += cue
        if score < 0.3:
            return None
    if rule.id == "date.words" and _is_word(page, match, start):
        return None
    while end > start and page.plain[end - 1] in _TRAIL:
        end -= 1
    return Finding(start, end, rule.leaf, score, rule.id, tuple(evidence))


def _is_word(page: Page, match: re.Match[str], start: int) -> bool:
    """'may 5' and 'mar 3' in lower case may be a verb or a typo; 'may' before a number is a day only in capitals."""
    head = match[0][:4]
    return head[:3] == "may" and page.low[max(0, start - 3) : start].strip() not in ("on", "of")


_SCALES = frozenset((15, 20, 21, 24, 27, 28, 30))  # scores are written over these
_TIME_AFTER = re.compile(
    r"[,;]?[ \t]{1,2}(?:at[ ])?(?:[01]?\d|2[0-3]):?[0-5]\d(?!\d)|[ ]{0,2}[):,;]|[ ]{0,2}(?:\n|$)|\.(?:\s|$)"
)


def _short_score(page: Page, start: int, end: int, days: set[int]) -> tuple[float, list[str]]:
    plain = page.plain
    line = plain.rfind("\n", max(0, start - 60), start) + 1
    before = plain[max(line, start - 60) : start]
    opens = not before.strip(" -*>•[(")
    after = _TIME_AFTER.match(plain, end)
    a, b = plain[start:end].split("/")
    padded = len(a) == 2 and len(b) == 2
    if start in days:
        return 0.85, ["cue"]
    score, why = (
        (0.55, ["order", "no_scale"]) if int(a) <= 12 and int(b) > 12 and int(b) not in _SCALES else (0.2, ["order"])
    )
    if (
        score < 0.5
        and int(b) in (7, 8, 9, 11, 12)
        and before[-1:] in ("(", " ")
        and before[-2:-1] in (",", " ", "(", "")
        and after
    ):
        score, why = 0.5, ["order", "mark_before"]
    if opens:
        score, why = 0.75, ["opens_line"]
    if after and after[0].strip(" ,;").startswith(tuple("0123456789a")) and len(after[0]) > 3:
        score, why = max(score, 0.8), [*why, "time_after"]
    if plain[end : end + 2] in (": ", ":\n") or (plain[start - 2 : start] == "  " and plain[end : end + 2] == "  "):
        score, why = max(score, 0.6), [*why, "column"]
    if before[-2:] in (": ", "/ ", "- ", "| ") or (
        after and after[0].strip() == "" and "\n" in after[0] and before[-1:] == " " and before[-2:-1] in "-/|:"
    ):
        score, why = max(score, 0.55), [*why, "mark_before"]
    if padded:
        score += 0.15
        why.append("padded")
    if after is None and not opens and "no_scale" not in why:
        score -= 0.05
    return score, why


_GAP = re.compile(r"[ \t]{0,40}[:#(=\-\[.,]{0,3}[ \t]{0,30}(?:(?:on|of|is|was|as|the|for)[ ]{1,2}){0,2}")


def _after_cues(page: Page, cues: list[Cue]) -> tuple[set[int], set[int], set[int]]:
    """Places right after words that announce a day of birth, of death, or any day."""
    births: set[int] = set()
    deaths: set[int] = set()
    days: set[int] = set()
    for cue in cues:
        if cue.kinds.isdisjoint(_OF_DAYS):
            continue
        for kind, places in (("birth", births), ("death", deaths), ("day", days)):
            if kind in cue.kinds:
                gap = _GAP.match(page.plain, page.ends[cue.last])
                if gap is not None and (gap[0] or kind != "day"):
                    places.add(gap.end())
    return births, deaths, days


def _with_weekday(found: Finding, page: Page) -> Finding:
    """A misspelt weekday before a date belongs to it."""
    at = page.word_at(found.start) - 1
    if at < 0 or found.label != "date" or page.leads[at + 1] not in (", ", " ", ". ") or page.cases[at] == "l":
        return found
    word = page.words[at]
    due = page.cases[at] == "t" if len(word) == 3 else len(word) > 4
    return found._replace(start=page.starts[at]) if due and _NEARLY_WEEKDAYS[word] else found


def _nearly_a_weekday(word: str) -> bool:
    if word in WEEKDAY_WORDS:
        return False
    most = 1 if len(word) == 3 else 2
    return any(apart(word, day[:3] if most == 1 else day, most) <= most for day in WEEKDAY_WORDS)


_NEARLY_WEEKDAYS = Memo(_nearly_a_weekday)


def _named(found: Finding, page: Page, births: set[int], deaths: set[int]) -> Finding:
    if found.label not in ("date", "year_only"):
        return found
    found = _with_weekday(found, page)
    for places, leaf in ((births, "date_birth"), (deaths, "date_death")):
        if found.start in places and (found.label == "date" or leaf == "date_birth"):
            return found._replace(label=leaf, score=max(found.score, 0.9), evidence=(*found.evidence, leaf))
    return found

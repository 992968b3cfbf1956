"""Conversations that a person reads and labels → one HTML file: no outside request, and nothing that was said can act.

Beside a report, never in it. Without its script the page can be read; with it, it filters, takes answers and saves.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any
from urllib.parse import quote

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape

from workup.errors import visible_lines
from workup.reports.html import asset, legible, policy
from workup.reports.wording import plural


@dataclass(frozen=True)
class Look:
    """How an outcome looks: a word and a sign beside the colour, which is never alone."""

    sign: str
    word: str
    tone: str
    means: str


LOOKS = {
    "correct": Look("✓", "correct", "good", "said as the ledger has it"),
    "reversed": Look("✗", "reversed", "bad", "said to be otherwise"),
    "wrong_value": Look("≠", "wrong value", "bad", "said with another value"),
    "omitted": Look("○", "omitted", "unsure", "asked for and not said"),
    "stale": Look("↺", "stale", "bad", "said although it holds no more"),
    "retired_ok": Look("–", "retired ok", "good", "holds no more and is not said"),
    "refused": Look("⊘", "refused", "none", "the model would not answer"),
    "truncated": Look("✂", "truncated", "none", "the reply was cut off before it"),
    "other_language": Look("¶", "other language", "none", "answered in another language"),
    "not_asked": Look("·", "not asked", "none", "nobody asked for it here"),
    "unscorable": Look("?", "unscorable", "none", "there is nothing to read"),
}
_UNKNOWN = "unscorable"
PLACE = "view/index.html"  # from the report beside which `workup view` writes it


@dataclass(frozen=True)
class Strip:
    """What became of a fact at each turn: a sign for each, this turn's apart, and the same in words."""

    before: str
    now: str
    after: str
    says: str


def page(
    talks: Sequence[Any], *, study: str, system: str, blind: bool = False, draw: str = "", session: str = ""
) -> str:
    """The page of these conversations (`workup.tasks.conversation.viewed`); with `session` it sends answers on."""
    style = "".join(asset(f"static/{name}") for name in ("report.css", "patient_text.css", "transcripts.css"))
    script = asset("static/transcripts.js")
    environment = Environment(
        loader=PackageLoader("workup.reports"), autoescape=True, undefined=StrictUndefined, trim_blocks=True
    )
    index = _Index.of(talks, blind=blind)
    return environment.get_template("transcripts.html").render(
        policy=policy(style, script) + ("; connect-src 'self'" if session else ""),
        style=Markup(style),
        script=Markup(script),
        study=study,
        system=system,
        talks=talks,
        blind=blind,
        draw=draw,
        session=session,
        index=index,
        differing=index.judged,
        findings=lambda talk: _findings(talk, blind=blind),
        looks=_Looks({name: look for name, look in LOOKS.items() if name in index.outcomes or blind}),
        word=lambda text: Markup("<bdi>{}</bdi>").format(legible(str(text))),
        plain=lambda text: escape(legible(str(text))),
        words=_words,
        plural=plural,
        strip_of=_strip,
        anchor=_anchor,
    )


def address(case: str, replicate: int, turn: Any, about: str, *, arm: str = "live", pair: bool = False) -> str:
    """Where a report finds a fact at a turn, or a pair of sentences, on the page beside it.

    >>> address("c 1", 0, 3, "f/1"), address("c1", 0, 3, "1.0-3.2", pair=True)
    ('view/index.html#c%201/0/live/3/f%2F1', 'view/index.html#c1/0/live/3/=1.0-3.2')
    """
    named = f"={_plain(about)}" if pair else _plain(about)
    return f"{PLACE}#{_plain(case)}/{_plain(str(replicate))}/{_plain(arm)}/{_plain(str(turn))}/{named}"


def _plain(text: str) -> str:
    return quote(text, safe="", errors="surrogatepass")


class _Looks(dict[str, Look]):
    """An outcome that is not known here is shown by its name."""

    def __missing__(self, name: str) -> Look:
        return LOOKS.get(name) or Look(LOOKS[_UNKNOWN].sign, legible(name), "none", "")


def _anchor(talk: Any) -> str:
    return f"{_plain(talk.case)}/{talk.replicate}/{talk.arm}"


def _findings(talk: Any, *, blind: bool) -> list[Any]:
    """Pairs of advice and never-events; where outcomes are hidden, only what can be answered."""
    return [one for one in talk.findings if one.answers or not blind]


@dataclass
class _Index:
    """What the script filters by, in a few letters a row: a conversation is laid out only when it is opened, because a
    browser takes seconds for the rows of a whole run."""

    outcomes: list[str] = field(default_factory=list)
    types: list[str] = field(default_factory=list)
    answers: list[str] = field(default_factory=list)
    rows: list[str] = field(default_factory=list)
    judged: bool = False

    @classmethod
    def of(cls, talks: Sequence[Any], *, blind: bool) -> _Index:
        index = cls()
        for talk in talks:
            facts = [index._row(one.outcome, one.type, one, one.safety) for turn in talk.turns for one in turn.facts]
            found = [
                index._row(one.kind, one.title, one, True) + (f".{one.answers.index(one.rules)}" if one.rules else "")
                for one in _findings(talk, blind=blind)
            ]
            index.rows.append(" ".join(facts + found))
        return index

    def _row(self, outcome: str, type: str, one: Any, safety: bool) -> str:
        self.judged = self.judged or bool(one.judge)
        flags = "".join(sign for sign, on in (("s", safety), ("d", one.drawn), ("j", one.differs)) if on)
        answers = _place(self.answers, " ".join(one.answers)) if one.answers else "-"
        return f"{_place(self.outcomes, outcome)}.{_place(self.types, type)}.{answers}.{flags}"


def _place(names: list[str], name: str) -> int:
    if name not in names:
        names.append(name)
    return names.index(name)


def _words(text: str) -> Markup:
    """A text of several lines: line ends stay, and what could steer the page or hide is made visible."""
    return escape(visible_lines(text.replace("\r\n", "\n").replace("\r", "\n")))


def _strip(history: Sequence[str], turn: int) -> Strip:
    """Signs by turn, and the same as runs of turns in words.

    >>> _strip(("", "correct", "correct", "omitted"), 3)
    Strip(before='\\xa0✓', now='✓', after='○', says='correct at turns 2 to 3, omitted at turn 4')
    """
    signs = [_sign(one) for one in history]
    told, at = [], 1
    for outcome, run in groupby(history):
        size = len(list(run))
        if outcome:
            where = f"turn {at}" if size == 1 else f"turns {at} to {at + size - 1}"
            told.append(f"{LOOKS[outcome].word if outcome in LOOKS else outcome} at {where}")
        at += size
    return Strip("".join(signs[: turn - 1]), signs[turn - 1], "".join(signs[turn:]), ", ".join(told))


def _sign(outcome: str) -> str:
    if not outcome:
        return "\xa0"
    return LOOKS.get(outcome, LOOKS[_UNKNOWN]).sign

"""From a template to what writes it: each slot becomes a call on the scribe, once, before any note is written.

A template that needs a value that identifies is dropped where a note must be free of them, and with it every choice
that has no other way. Knows the notation; what a slot writes is the scribe's affair.

The notation. Text stands for itself; a slot is in braces, and slots may be inside one another:

    {@leaf detail}     a value that identifies, marked as gold ({@date visit}, {@city other}, {@patient}); @hard is a
                       value that only looks like one
    {@a_an:leaf}       the article that fits the value
    {#name}            a clinical term of the specialty (a drug, a finding); #vital:kind a vital sign, #labrows 3-6 rows
                       of results
    {$kind}            a phrase of the specialty
    {^leaf text}       a clinical term as it is written here
    {!said|unsaid}     the first with the chance that the density gives, else the second (or one of the others)
    {?flag yes|no}     the first where the flag holds for the patient or the note, else the second; either may be empty
    {&rule}            a line of identifiers, as the density asks; nothing where none may be written
    {=rule}            the rule, noted as boilerplate
    {%rule}            the way in which the theme of the note writes the rule (rule@theme)
    {*rule 2-4}        so many different sentences of the rule, one after another
    {-rule 2-4}        so many items of the rule as a list, with the bullets of the site
    {rule}             one of the ways to write the rule, not used before in this note where there is another
    {rule:12}          the same, filled up with blanks to a width; {pad:Name:12} does so with a text and its colon
    {he} {aged} {Mr}   words that depend on the patient (WORDS, AGES)
    {n:2-40}           a whole number in the range; {n:3} the number itself
    {one|another|}     one of the options; an empty one takes the blank before it back

`:Cap` after a name writes its first letter in upper case, another modifier that of a plain word in lower case."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from workup.corpora.generate.notes import slot_writers
from workup.corpora.generate.notes.grammar import PHRASINGS
from workup.corpora.generate.notes.slot_writers import EMPTY, Part, Parts
from workup.errors import InputError, near

if TYPE_CHECKING:
    from workup.corpora.generate.notes.note_writer import Scribe

PRONOUNS = frozenset(("he", "He", "him", "his", "His", "himself"))
WORDS = frozenset((
    *PRONOUNS, "man", "sex", "sex_letter", "Mr", "relation", "title", "TITLE", "specialty", "SPECIALTY",
    "specialty_other", "credential", "school", "stay",
))  # fmt: skip
ROLES = ("author", "attending", "other", "nurse", "surgeon", "referrer", "pcp")
AGES = frozenset(("aged", "Aged", "a_aged", "aged_short"))
# What a slot writes, where its name is not the leaf's own.
_LEAVES: Mapping[str, frozenset[str]] = {
    "patient": frozenset(("name_patient",)),
    "relative": frozenset(("name_relative",)),
    **dict.fromkeys(ROLES, frozenset(("name_provider",))),
    **dict.fromkeys(("npi", "dea", "state_license"), frozenset(("license_provider",))),
    **dict.fromkeys(("age", "age_of_relative", "age_very_old"), frozenset(("age_under_90", "age_over_89"))),
    "dob": frozenset(("date_birth",)),
    "ago": frozenset(("date_relative",)),
    "state_code": frozenset(("state",)),
    "hard": frozenset(),
}
_SYMBOL = re.compile(r"[A-Za-z_]+(:[A-Za-z0-9_]+)?")
_VALUE, _SYMBOL_SLOT = re.compile(r"@([a-z_]+)"), re.compile(r"\{([A-Za-z_]+)[:}]")
_NUMBER = re.compile(r"n:(\d+)(?:-(\d+))?")
_COUNTED = re.compile(r"([a-z_]+) (\d+)-(\d+)")


def leaves_of(slot: str) -> frozenset[str]:
    """The identifying leaves of what a slot writes.

    >>> sorted(leaves_of("age")), sorted(leaves_of("city"))
    (['age_over_89', 'age_under_90'], ['city'])
    """
    return _LEAVES.get(slot) or (frozenset() if slot == "hard" else frozenset((slot,)))


class Unwritable(Exception):
    """A template that cannot be written without a value that identifies."""


def identifies(template: str) -> bool:
    """Whether a template writes an identifier by itself, and not by way of a rule.

    >>> identifies("Seen{! on {@date visit}|}."), identifies("{aged} man"), identifies("{phi_line} {@hard}")
    (True, True, False)
    """
    named = any(leaves_of(slot) for slot in _VALUE.findall(template))
    return named or any(slot in AGES for slot in _SYMBOL_SLOT.findall(template))


def shared_out(templates: Sequence[str], phrasing: str) -> list[str]:
    """Of the templates that identify, every second one, the first or the second by phrasing; all of the others.

    A template that identifies and is the only one to do so is of both phrasings.

    >>> lines = ["{@date}", "on {@date}", "lately", "as of {@date}"]
    >>> shared_out(lines, "a"), shared_out(lines, "b"), shared_out(lines[1:3], "a")
    (['{@date}', 'lately', 'as of {@date}'], ['on {@date}', 'lately'], ['on {@date}', 'lately'])
    """
    telling = [place for place, template in enumerate(templates) if identifies(template)]
    if len(telling) < 2:
        return list(templates)
    kept = set(telling[PHRASINGS.index(phrasing) :: len(PHRASINGS)])
    return [template for place, template in enumerate(templates) if place in kept or place not in telling]


class Compiler:
    """Compiles templates and rules. What identifies is left in as far as `allowed` (None: all) has its leaf.

    The rules in `shared` are used by both phrasings, and divided between them.
    """

    def __init__(
        self,
        rules: Mapping[str, tuple[str, ...]],
        *,
        allowed: frozenset[str] | None,
        phrasing: str = PHRASINGS[0],
        shared: frozenset[str] = frozenset(),
    ) -> None:
        self._rules, self._allowed = rules, allowed
        self._phrasing, self._shared = phrasing, shared
        self._done: dict[str, tuple[Parts, ...] | None] = {}
        self._templates: dict[str, Parts | None] = {}  # phrases come again for every kind of patient of a specialty
        self._open: list[str] = []

    def named(self, name: str, templates: Sequence[str]) -> tuple[Parts, ...]:
        """The ways to write a section or rule: those of the phrasing, or any where none of these can be written."""
        if name in self._shared:
            return self.options(shared_out(templates, self._phrasing)) or self.options(templates)
        return self.options(templates)

    def options(self, templates: Iterable[str]) -> tuple[Parts, ...]:
        """Those of the templates that can be written, compiled."""
        found = []
        for template in templates:
            try:
                found.append(self.template(template))
            except Unwritable:
                continue
        return tuple(found)

    def template(self, text: str) -> Parts:
        """One template; Unwritable where it needs what must not be written."""
        if text not in self._templates:
            try:
                self._templates[text] = self._compiled(text)
            except Unwritable:
                self._templates[text] = None
        found = self._templates[text]
        if found is None:
            raise Unwritable
        return found

    def _compiled(self, text: str) -> Parts:
        found: list[Part] = []
        place = 0
        while place < len(text):
            brace = text.find("{", place)
            if brace < 0:
                found.append(text[place:])
                break
            if brace > place:
                found.append(text[place:brace])
            end = _closing(text, brace)
            found.extend(self._slot(text[brace + 1 : end]))
            place = end + 1
        return tuple(found)

    def rule(self, name: str) -> tuple[Parts, ...]:
        """The options of a rule."""
        if name not in self._done:
            if name in self._open or name not in self._rules:
                raise InputError("a slot must name a known rule that does not lead back to itself", got=repr(name),
                                 remedy=near(name, self._rules))  # fmt: skip
            self._open.append(name)
            self._done[name] = self.named(name, self._rules[name]) or None
            self._open.pop()
        found = self._done[name]
        if found is None:
            raise Unwritable
        return found

    # ---- one slot ----------------------------------------------------------------------------------------------------

    def _slot(self, inner: str) -> Parts:
        first, rest = inner[:1], inner[1:]
        if first == "@":
            return (self._value(rest),)
        if first in "#$" and first:
            return (slot_writers.term(rest) if first == "#" else slot_writers.phrase(rest),)
        if first == "^":
            label, _, text = rest.partition(" ")
            return (slot_writers.marked(label, self.template(text)),)
        if first == "!":
            return (self._density(rest),)
        if first == "?":
            flag, _, options = rest.partition(" ")
            return (self._flagged(flag, options),)
        if first == "&":
            return self._phi(rest)
        if first == "=":
            return (slot_writers.boilerplate(rest, self.rule(rest)),)
        if first == "%":
            name, _, modifier = rest.partition(":")
            themed = self._themed(name)
            return (slot_writers.shaped(themed, modifier) if modifier else themed,)
        counted = _COUNTED.fullmatch(rest) if first in ("*", "-") else None
        if counted:
            write = slot_writers.sentences if first == "*" else slot_writers.listed
            return (write(counted[1], self.rule(counted[1]), int(counted[2]), int(counted[3])),)
        return self._plain(inner)

    def _themed(self, name: str) -> Callable[[Scribe], None]:
        """A rule that each theme writes in its own way."""
        themes = {rule.partition("@")[2]: self.rule(rule) for rule in self._rules if rule.startswith(f"{name}@")}

        def write(scribe: Scribe) -> None:
            options = themes.get(scribe.theme) or themes[scribe.theme.partition("-")[0]]
            scribe.write(options[scribe.fresh(f"${name}", len(options))])

        return write

    def _phi(self, rule: str) -> Parts:
        try:
            return (slot_writers.phi_line(rule, self.rule(rule)),)
        except Unwritable:
            return (EMPTY,)

    def _plain(self, inner: str) -> Parts:
        number = _NUMBER.fullmatch(inner)
        if number:
            low = int(number[1])
            return (slot_writers.integer(low, int(number[2])) if number[2] else str(low),)
        options = _split(inner)
        if len(options) > 1:
            found = self.options(f"{{{option}}}" if option in PRONOUNS else option for option in options)
            if not found:
                raise Unwritable
            return (slot_writers.choice(found),)
        if inner.startswith("pad:"):
            _, text, width = inner.split(":")
            return (f"{text}:".ljust(int(width)),)
        if inner.startswith("a_an:"):
            return (self._value(inner),)
        if _SYMBOL.fullmatch(inner):
            name, _, modifier = inner.partition(":")
            return (self._symbol(name, modifier),)
        return self.template(inner)

    def _symbol(self, name: str, modifier: str) -> Part:
        if name in AGES:
            return lambda scribe: scribe.aged(name)
        if name in WORDS:
            return slot_writers.word(name, capital=modifier == "Cap")
        options = self.rule(name)
        if modifier.isdigit():
            return slot_writers.padded(name, options, int(modifier))
        return (
            slot_writers.rule(name, options)
            if not modifier
            else slot_writers.shaped(slot_writers.rule(name, options), modifier)
        )

    def _value(self, inner: str) -> Part:
        if inner.startswith("a_an:"):
            leaf = inner[5:]
            return lambda scribe: scribe.article(leaf)
        inner, _, modifier = inner.partition(":")
        name, _, detail = inner.partition(" ")
        if self._allowed is not None and not leaves_of(name) <= self._allowed:
            raise Unwritable

        def write(scribe: Scribe) -> None:
            scribe.value(name, detail)

        return slot_writers.shaped(write, modifier) if modifier else write

    def _density(self, rest: str) -> Part:
        options = _split(rest)
        without = self._or_empty(
            options[1] if len(options) == 2 else f"{{{'|'.join(options[1:])}}}" if options[1:] else ""
        )
        try:
            return slot_writers.dense(self.template(options[0]), without)
        except Unwritable:
            return slot_writers.choice((without,))

    def _flagged(self, flag: str, rest: str) -> Part:
        options = _split(rest)
        compiled = []
        for option in (*options, "")[:2]:
            try:
                compiled.append(self._or_empty(option))
            except Unwritable:
                compiled.append((EMPTY,))
        return slot_writers.conditional(flag, *compiled)

    def _or_empty(self, text: str) -> Parts:
        return self.template(text) if text else (EMPTY,)


# ---- notation --------------------------------------------------------------------------------------------------------


def _closing(text: str, brace: int) -> int:
    depth = 0
    for place in range(brace, len(text)):
        depth += (text[place] == "{") - (text[place] == "}")
        if depth == 0:
            return place
    raise InputError("every brace of a template must be closed", got=repr(text[:60]))


def _split(text: str) -> list[str]:
    """Options between bars that are in no inner slot."""
    found, depth, start = [], 0, 0
    for place, character in enumerate(text):
        depth += (character == "{") - (character == "}")
        if character == "|" and depth == 0:
            found.append(text[start:place])
            start = place + 1
    return [*found, text[start:]]

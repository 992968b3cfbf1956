"""Names that stand for names: word by word, fixed by key and patient, of the same sex and origin where those are known.

A word of a patient's names has one other word, and an initial one other initial that all of them agree with; so every
form of a name follows, whatever order the notes come in."""

from __future__ import annotations

import re
from collections.abc import Container, Iterable

from workup.redaction.keys import Secret
from workup.redaction.surrogates import name_tables
from workup.redaction.surrogates.name_forms import NameForm, Word, folded, read_name

_TRIES = 24
_STARTS = "bcdfghklmnprstvw"
_VOWELS = "aeiou"
_MOST_INITIALS = 3
_RUNS = re.compile(r"[^\W\d_]+|\d+|[\W_]")


class SurrogateNames:
    """The names of one patient's world.

    `taken` words (of the patient's own notes) are never given; `avoided` ones (detected elsewhere in the file) only
    where no other is left, and then counted in `forced`.
    """

    def __init__(
        self,
        secret: Secret,
        patient: str,
        forms: Iterable[tuple[str, NameForm]],
        *,
        taken: Container[str] = (),
        avoided: Container[str] = (),
    ) -> None:
        self._secret, self._patient = secret, patient
        self._taken, self._avoided = taken, avoided
        self.forced = 0
        self._letters = _exchange(secret, patient)
        self._words: dict[str, str] = {}
        self._given_out: set[str] = set()
        kinds = _kinds(forms)
        # In the order of the words, not of the notes: who comes first must not decide which name is left for whom.
        for word in sorted(kinds):
            self.word(word, kind=kinds[word])

    def name(self, surface: str) -> str | None:
        """The name that stands for a name, in the same form; None where it cannot be read as one."""
        form = read_name(surface)
        return None if form is None else form.written(self._other)

    def _other(self, word: Word) -> str:
        plain = folded(word.text)
        if word.is_initial:
            return self.initial(plain)
        if self._is_initials(word):
            return "".join(self.initial(letter) for letter in plain)
        return self.word(plain, kind=None if word.part == "any" else _kind(word))

    def _is_initials(self, word: Word) -> bool:
        """JS for John Smith: capitals alone that no table knows as a name."""
        plain = folded(word.text)
        alone = word.part == "any" and word.text.isupper() and len(plain) <= _MOST_INITIALS
        return alone and plain not in self._words and name_tables.about(plain).kind is None

    def initial(self, letter: str) -> str:
        """The letter that stands for an initial: never itself, and never that of another letter."""
        return self._letters[letter.upper()]

    def word(self, plain: str, *, kind: str | None = None) -> str:
        """The word that stands for a folded word of a name."""
        if plain not in self._words:
            found = self._drawn(plain, kind)
            self._words[plain] = found
            self._given_out.add(found.casefold())
        return self._words[plain]

    def handle(self, surface: str, *, attempt: int = 0) -> str:
        """User names and the left side of mail addresses: words of names follow the names, digits are drawn anew.

        >>> names = SurrogateNames(Secret(b"0123456789abcdef"), "P1", [])
        >>> one, other = names.word("lee", kind="family"), names.initial("a")
        >>> names.handle("alee") == (other + one).lower()
        True
        """
        chance = self._secret.chance("handle", self._patient, folded(surface), attempt)
        parts = [self._handled(run) for run in _RUNS.findall(surface)]
        return "".join(chance.digits(len(part)) if part.isdigit() else part for part in parts)

    def _handled(self, run: str) -> str:
        if not run[0].isalpha():
            return run
        plain = folded(run)
        if not (plain.isascii() and plain):
            plain, run = "x", run.lower()
        if len(plain) == 1:
            new = self.initial(plain)
        elif plain not in self._words and plain[1:] in self._words:
            new = self.initial(plain[0]) + self._words[plain[1:]]
        elif plain not in self._words and plain[:-1] in self._words:
            new = self._words[plain[:-1]] + self.initial(plain[-1])
        else:
            new = self.word(plain)
        return new.upper() if run.isupper() else new.lower() if run.islower() else new

    def _drawn(self, plain: str, kind: str | None) -> str:
        known = name_tables.about(plain, kind=kind)
        letter = self.initial(plain[0])
        chance = self._secret.chance("name", self._patient, plain)
        groups = dict.fromkeys([(known.sex, known.origin), (known.sex, None), (None, None)])
        for careful in (True, False):
            for sex, origin in groups:
                names, cumulative = name_tables.pool(known.kind or "family", sex, origin, letter)
                if not names:
                    continue
                drawn = (chance.weighted(names, cumulative) for _ in range(_TRIES))
                for name in (*drawn, *names):
                    if self._is_free(name.text, careful=careful):
                        self.forced += not careful
                        return name.text
        return self._made_up(letter, plain)

    def _made_up(self, letter: str, plain: str) -> str:
        """A word of syllables, where every name of a letter is in use."""
        for attempt in range(1000):
            chance = self._secret.chance("made up", self._patient, plain, attempt)
            rest = "".join(chance.pick(_VOWELS) + chance.pick(_STARTS) for _ in range(2 + attempt // 100))
            if self._is_free(letter + rest, careful=False):
                break
        return letter + rest

    def _is_free(self, name: str, *, careful: bool) -> bool:
        low = name.casefold()
        return low not in self._given_out and low not in self._taken and not (careful and low in self._avoided)


def _exchange(secret: Secret, patient: str) -> dict[str, str]:
    """A letter for each letter, none for itself: one round through the usual letters, one through the rare ones."""
    chance = secret.chance("initials", patient)
    found: dict[str, str] = {}
    for letters in (name_tables.USUAL_LETTERS, name_tables.RARE_LETTERS):
        order = chance.shuffled(letters)
        found |= dict(zip(order, order[1:] + order[:1], strict=True))
    return found


def _kind(word: Word) -> str:
    return "family" if word.part == "family" else "given"


def _kinds(forms: Iterable[tuple[str, NameForm]]) -> dict[str, str | None]:
    """What each word of a patient's names is: what most mentions that show it say, else what the tables say.

    Of a clinician one word alone is the family name: it comes after Dr.
    """
    votes: dict[str, list[int]] = {}
    alone: dict[str, set[str]] = {}
    for label, form in forms:
        for word in form.words:
            plain = folded(word.text)
            if word.part in ("text", "suffix") or len(plain) < 2:
                continue
            if word.part == "any":
                if not (word.text.isupper() and len(plain) <= _MOST_INITIALS and not name_tables.about(plain).kind):
                    alone.setdefault(plain, set()).add(label)
                continue
            votes.setdefault(plain, [0, 0])[word.part == "family"] += 1
    found: dict[str, str | None] = {}
    for plain in {*votes, *alone}:
        given, family = votes.get(plain, [0, 0])
        if given or family:
            found[plain] = "family" if family >= given else "given"
        else:
            known = name_tables.about(plain).kind
            found[plain] = "family" if alone[plain] == {"name_provider"} and _may_be_family(plain) else known
    return found


def _may_be_family(plain: str) -> bool:
    """Not a word that the tables know as a given name alone."""
    family, given = (name_tables.about(plain, kind=kind).origin for kind in ("family", "given"))
    return family is not None or given is None

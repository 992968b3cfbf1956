"""Realistic values in the places of real ones: fixed by key, patient and value, and never one that was detected.

One `World` serves all notes of one patient. Dates and ages are not its business."""

from __future__ import annotations

import re
from collections.abc import Collection, Container, Iterable, Mapping, Sequence

from workup.documents.labels import branch_of, is_canonical
from workup.redaction.keys import Secret
from workup.redaction.linking import normalised, value_key
from workup.redaction.surrogates import contacts, identifiers, places
from workup.redaction.surrogates.name_forms import folded, read_name
from workup.redaction.surrogates.names import SurrogateNames
from workup.redaction.tokens import WORDS
from workup.text.wordlists import words_of

_TRIES = 60
_TELLING = 3  # letters and digits from which a value inside a surrogate counts as one
_WORDS = re.compile(r"[^\W_]+")
_AT, _DOT = re.compile(r"@|\s[\[(]?at[\])]?\s"), re.compile(r"\bdot\b")
_FIRST_WITHOUT_CARE = 30  # attempts after which a value detected in another patient's note is taken all the same


class World:
    """Values of one patient's notes and what stands for them.

    Equal values get equal surrogates, different ones different ones; none equals a value of `values` (all that was
    detected in the patient's notes) or, as long as there is another, of `elsewhere` (detected in the same file).

    >>> world = World(Secret(b"0123456789abcdef"), "P1", [("name_patient", "Ann Lee"), ("mrn", "00482913")])
    >>> full, short = world.surrogate("name_patient", "Ann Lee"), world.surrogate("name_patient", "Ms. LEE")
    >>> short == "Ms. " + full.split()[1].upper(), len(world.surrogate("mrn", "00482913"))
    (True, 8)
    """

    def __init__(
        self,
        secret: Secret,
        patient: str,
        values: Iterable[tuple[str, str]],
        *,
        words: Collection[str] = (),
        elsewhere: Container[str] = (),
    ) -> None:
        found = list(dict.fromkeys(values))
        self._secret, self._patient, self._elsewhere = secret, patient, elsewhere
        self._values = {normalised(surface) for _, surface in found}
        organisations = {one for label, one in found if _branch(label) == "ORG"}
        self._organisations = sorted(organisations, key=lambda one: (-len(one), one.isupper(), one.islower(), one))
        forms = [(label, form) for label, surface in found if WORDS[label] == "NAME" and (form := read_name(surface))]
        spoken = {folded(word.text) for _, form in forms for word in form.words}
        self._names = SurrogateNames(secret, patient, forms, taken={*self._values, *spoken, *words}, avoided=elsewhere)
        self._given: dict[tuple[str, str], str | None] = {}
        self._owner: dict[tuple[str, str], str] = {}
        self._forced = 0
        self._states: dict[str, str] = {}  # states that were given, and for which
        self._forms: dict[tuple[str, str], list[tuple[str, str]]] = {}
        for label, surface in sorted(found):
            self._forms.setdefault((WORDS[label], value_key(label, surface)), []).append((label, surface))
        # In the order of the values, not of the notes: who comes first must not decide what is left for whom.
        for label, surface in sorted(found):
            self.surrogate(label, surface)

    @property
    def forced(self) -> int:
        """How many surrogates had to be taken although the same file holds them for another patient."""
        return self._names.forced + self._forced

    def surrogate(self, label: str, surface: str) -> str | None:
        """What stands for a value; None where nothing of its kind could be made, and a token has to."""
        if (label, surface) not in self._given:
            group = self._forms.setdefault((WORDS[label], value_key(label, surface)), [])
            if (label, surface) not in group:
                group.append((label, surface))
            self._settle(WORDS[label], value_key(label, surface), group)
        return self._given[label, surface]

    def _settle(self, word: str, value: str, forms: Sequence[tuple[str, str]]) -> None:
        """One draw for all forms of a value, the first that none of them forbids."""
        waiting = [form for form in forms if form not in self._given]
        for attempt in range(_TRIES):
            new = {form: self._candidate(*form, value, attempt) for form in waiting}
            if all(made is None or self._is_free(form, made, word, value, attempt) for form, made in new.items()):
                break
        else:
            new = dict.fromkeys(waiting)
        for form, made in new.items():
            self._given[form] = made
            if made is not None:
                self._owner[word, normalised(made)] = value
                self._forced += normalised(made) in self._elsewhere

    def _is_free(self, form: tuple[str, str], made: str, word: str, value: str, attempt: int) -> bool:
        plain = normalised(made)
        if plain == normalised(form[1]) or self._tells(made) or self._owner.get((word, plain), value) != value:
            return False
        return attempt >= _FIRST_WITHOUT_CARE or plain not in self._elsewhere

    def _tells(self, new: str) -> bool:
        """Whether a value of the patient is in what is to replace one: as the whole, or as some of its words."""
        words = [normalised(word) for word in _WORDS.findall(new)]
        runs = ("".join(words[at:end]) for at in range(len(words)) for end in range(at + 1, len(words) + 1))
        return normalised(new) in self._values or any(len(run) >= _TELLING and run in self._values for run in runs)

    def _candidate(self, label: str, surface: str, value: str, attempt: int) -> str | None:
        kind = _kind(label, surface)
        chance = self._secret.chance("value", self._patient, WORDS[label], value, attempt)
        match kind:
            case "NAME":
                # A second attempt would give the same name; such a clash is left to a token.
                return self._names.name(surface) if attempt == 0 else None
            case "username":
                return self._names.handle(surface, attempt=attempt)
            case "phone" | "fax":
                line = self._secret.chance("line", self._patient, kind, contacts.line_key(surface), attempt)
                return contacts.phone(surface, chance=chance, line=line)
            case "email" | "url":
                return self._address(kind, surface, attempt)
            case "ip":
                return contacts.ip(surface, chance=chance)
            case "mac":
                return contacts.mac(surface, chance=chance)
            case "street_address":
                return places.street(surface, draw=lambda *names: self._secret.chance(self._patient, *names, attempt))
            case "city":
                return places.city(surface, chance=chance, state=self._state_of(surface))
            case "county":
                return places.county(surface, chance=chance)
            case "state":
                known = value.upper() in places.STATES and attempt == 0
                return places.state(surface, becomes=self._other_state(value.upper())) if known else None
            case "country":
                return places.country(surface, chance=chance)
            case "zip":
                return places.zip_code(surface, chance=chance)
            case "facility_unit":
                return places.unit(surface, chance=chance)
            case "ORG":
                return self._organisation(label, surface, value, attempt)
            case "QUASI":
                return places.background(surface, label=label, chance=chance)
            case "ID":
                return identifiers.identifier(surface, label=label, chance=chance, initial=self._names.initial)
        return None

    def _address(self, kind: str, surface: str, attempt: int) -> str | None:
        parts = _AT.split(surface.casefold()) if kind == "email" else [surface.casefold()]
        at = normalised(_DOT.sub("", parts[-1]))
        domain = self._secret.chance("domain", self._patient, at, attempt)

        def handle(run: str) -> str:
            return self._names.handle(run, attempt=attempt)

        if kind == "email":
            return contacts.email(surface, domain=domain, handle=handle)
        chance = self._secret.chance("url", self._patient, surface.casefold(), attempt)
        return contacts.url(surface, chance=chance, domain=domain, handle=handle)

    def _other_state(self, code: str) -> str:
        """The state that stands for a state, in every form it is written in."""
        for attempt in range(_TRIES):
            other = places.other_state(code, chance=self._secret.chance("state", self._patient, code, attempt))
            if self._states.get(other, code) == code and not self._values & places.state_forms(other):
                break
        self._states[other] = code
        return other

    def _state_of(self, city: str) -> str | None:
        """The state that a city's own state became, so that the two still belong together."""
        code = places.state_of_city(city)
        return None if code is None else self._other_state(code)

    def _organisation(self, label: str, surface: str, value: str, attempt: int) -> str | None:
        """Short forms follow the long one: MGH and Massachusetts General that of Massachusetts General Hospital."""
        plain = surface.casefold()
        for longer in self._organisations:
            if len(longer) <= len(surface) or attempt:
                continue
            if places.is_acronym(surface) and places.initials(longer) == surface:
                whole = self.surrogate(label, longer)
                return places.initials(whole) if whole else None
            if longer.casefold().startswith(f"{plain} "):
                whole = self.surrogate(label, longer)
                return places.cased(whole.rpartition(" ")[0], surface) if whole else None
        chance = self._secret.chance("organisation", self._patient, value, attempt)
        return places.organisation(surface, label=label, chance=chance)


_OF_BRANCH: Mapping[str, str] = {"NAME": "NAME", "ORG": "ORG", "ID": "ID", "QUASI": "QUASI"}
_OWN = words_of("username phone fax email url ip mac street_address city county state country zip facility_unit")


def _branch(label: str) -> str:
    return branch_of(label) if is_canonical(label) else ""


def _kind(label: str, surface: str) -> str:
    """What is made: of a coarse label, what the surface looks like."""
    if label in _OWN:
        return label
    if label == "CONTACT":
        return "email" if "@" in surface else "phone"
    if label == "NET":
        return "url" if "/" in surface or "www." in surface else "ip" if not contacts.is_mac(surface) else "mac"
    if label == "GEO":
        if any(one.isdigit() for one in surface):
            return "zip" if surface.replace("-", "").isdigit() else "street_address"
        known = value_key("state", surface).upper() in places.STATES
        return "state" if known else "country" if places.is_country(surface) else "city"
    return _OF_BRANCH.get(_branch(label), "")

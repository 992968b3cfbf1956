"""Values that identify, as the slots of templates ask for them: who has which role, in which form a value comes.

Forms are those that read well where the slot is; the tables for them are the values package's."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from workup.corpora.generate.notes import people
from workup.corpora.generate.notes.templates import ROLES
from workup.values import Patient, Person, Value, date_value, make, name_value
from workup.values.vocabulary import plain_letters

if TYPE_CHECKING:
    from workup.corpora.generate.notes.note_writer import Scribe

# Forms that fit most places; a form that is listed twice comes twice as often.
_FORMS: Mapping[str, tuple[str, ...]] = {
    leaf: tuple(forms.split())
    for leaf, forms in {
        "patient": "full full full full full_initial full_initial full_middle full_bare_initial caps",
        "relative": "full full full full_initial nickname_family given",
        "provider": "full full full full full_initial initial_family initials_family full_middle",
        "street_address": (
            "standard standard standard abbreviated abbreviated unit unit_hash unit_first direction numbered "
            "numbered_words no_type no_street_word county_road highway state_route rural_route hyphenated "
            "fraction grid building words spanish caps po_box po_box_dots"
        ),
        "city": "plain plain plain plain plain plain plain plain plain plain plain plain caps district",
        "county": "plain plain plain of caps",
        "zip": "five five five plus_four plus_four_spaced sparse_prefix nine",
        "state": "name name name name old_abbreviation caps",
        "country": "name name name short other",
        "facility": "full full full full short short initials caps",
        "facility_unit": "ward ward room room room_bed bed floor tower acronym bay suite clinic_letter",
        "employer": "full full full short short initials caps",
        "org_other": "agency club congregation school",
        "year_only": "plain plain plain plain plain plain plain plain plain plain plain plain apostrophe spoken",
        "profession": "plain plain plain plain other",
        "nationality_religion_politics": "nationality religion citizen politics",
        "ethnicity": "ethnic ethnic people lower",
        "quantity": "money",
        "device_id": "serial serial_dashed digits prefixed udi model_serial imei gtin lot",
        "dob": (
            "us_slash us_slash us_slash_unpadded us_dash iso long short day_short_dash eu_slash us_slash_two "
            "us_compact military"
        ),
    }.items()
}
_ELSEWHERE = ("standard", "abbreviated", "no_type", "corner", "block", "numbered", "county_road", "highway")
_PLAIN_DAYS = (
    "us_slash", "us_slash_unpadded", "us_slash_two", "iso", "long", "short", "day_short_dash", "day_month_year",
    "long_ordinal", "us_dash", "us_dot", "weekday_long", "month_day", "month_ordinal", "short_day", "month_day_slash",
    "weekday_month_day", "weekday_short", "us_apostrophe", "military", "iso_slash", "long_no_comma", "eu_dot", "spoken",
)  # fmt: skip
_CLOCKS = (
    "clock_24", "clock_12", "clock_12_tight", "clock_12_dots", "hour_only", "military", "military_hours",
    "seconds", "h", "zone", "hour_tight",
)  # fmt: skip
_PAST = ("word", "weekday", "ago", "ago_words", "holiday", "holiday_shift", "of_month", "holiday_year")
_NOT_PAST = ("tomorrow", "next", "this", "the day before tomorrow")
_SUBTYPES = {"admit": "ADMISSION_DATE", "discharge": "DISCHARGE_DATE"}


# ---- people ----------------------------------------------------------------------------------------------------------


def _name(scribe: Scribe, person: Person, leaf: str, patient: Patient, form: str, usual: str) -> Value:
    form = form or _pick(scribe, _FORMS[usual])
    return name_value(person, leaf=leaf, patient=patient, chance=scribe.chance, form=form)


def _patient_name(scribe: Scribe, detail: str) -> Value:
    if detail == "family" and scribe.age < 16:
        detail = "given"
    return _name(scribe, scribe.patient.person, "name_patient", scribe.patient, detail, "patient")


def _relative_name(scribe: Scribe, detail: str) -> Value:
    person = scribe.patient.relatives[scribe.relative].person
    return _name(scribe, person, "name_relative", scribe.patient, detail, "relative")


def _provider_name(role: str) -> Callable[[Scribe, str], Value]:
    def write(scribe: Scribe, detail: str) -> Value:
        provider, patient = people.provider_of(scribe, role)
        scribe.credential = provider.credential
        return _name(scribe, provider.person, "name_provider", patient, detail, "provider")

    return write


# ---- days, ages, numbers ---------------------------------------------------------------------------------------------


def _date(scribe: Scribe, detail: str) -> Value:
    moment, _, form = detail.partition(" ")
    draw = scribe.draw()
    days = scribe.site_style.days
    form = form or (days[int(draw * 3.75)] if draw < 0.8 else _PLAIN_DAYS[int((draw - 0.8) * 5 * len(_PLAIN_DAYS))])
    day = scribe.visit.days[moment or "visit"]
    return date_value(day, patient=scribe.patient, chance=scribe.chance, form=form, subtype=_SUBTYPES.get(moment))


def _birth(scribe: Scribe, detail: str) -> Value:
    days = scribe.site_style.days
    form = days[0] if scribe.draw() < 0.6 else _pick(scribe, _FORMS["dob"])
    return make("date_birth", patient=scribe.patient, chance=scribe.chance, when=scribe.visit.day, form=form)


def _death(scribe: Scribe, detail: str) -> Value:
    if detail:
        day = scribe.visit.days[detail]
        return date_value(
            day, patient=scribe.patient, chance=scribe.chance, leaf="date_death", form=scribe.site_style.days[0]
        )
    form = _pick(scribe, ("us_slash", "long", "short", "us_slash_unpadded", "day_month_year"))
    return make("date_death", patient=scribe.patient, chance=scribe.chance, when=scribe.visit.day, form=form)


def _relative_day(scribe: Scribe, detail: str) -> Value:
    """A relative day that lies in the past; words for days to come are drawn again."""
    patient, chance, when = scribe.patient, scribe.chance, scribe.visit.day
    if detail and detail != "past":
        return make("date_relative", patient=patient, chance=chance, when=when, form=detail)
    for _ in range(8):
        value = make("date_relative", patient=patient, chance=chance, when=when, form=_pick(scribe, _PAST))
        if not value.text.startswith(_NOT_PAST) and "next" not in value.text and "'s Eve" not in value.text:
            return value
    return make("date_relative", patient=patient, chance=chance, when=when, form="ago")


def _clock(scribe: Scribe, detail: str) -> Value:
    form = scribe.site_style.clock if scribe.draw() < 0.75 else _pick(scribe, _CLOCKS)
    return make("time", patient=scribe.patient, chance=scribe.chance, when=scribe.visit.day, form=detail or form)


def _age(scribe: Scribe, detail: str) -> Value:
    leaf = scribe.patient.age_leaf(scribe.visit.day)
    return make(leaf, patient=scribe.patient, chance=scribe.chance, when=scribe.visit.day, form=detail or "number")


def _age_of_relative(scribe: Scribe, detail: str) -> Value:
    shift = {
        "mother": 27,
        "father": 29,
        "aunt": 22,
        "uncle": 24,
        "son": -27,
        "daughter": -28,
        "grandson": -52,
        "niece": -24,
    }
    age = min(max(scribe.age + shift.get(scribe.relation, 0) + int(scribe.draw() * 7) - 3, 19), 104)
    leaf = "age_over_89" if age > 89 else "age_under_90"
    like = make(leaf, patient=scribe.patient, chance=scribe.chance, when=scribe.visit.day, form="number")
    entity = f"{scribe.patient.id}:age:relative:{scribe.relative}"
    return Value(str(age), leaf, "number", entity, like.identifier, like.subtype)


def _very_old(scribe: Scribe, detail: str) -> Value:
    form = _pick(scribe, ("number", "number", "words"))
    return make("age_over_89", patient=scribe.patient, chance=scribe.chance, when=scribe.visit.day, form=form)


def _record_number(scribe: Scribe, detail: str) -> Value:
    patient = scribe.bystander if detail == "other" else scribe.patient
    return make("mrn", patient=patient, chance=scribe.chance, when=scribe.visit.day, form=scribe.site_style.record)


def _provider_number(form: str) -> Callable[[Scribe, str], Value]:
    def write(scribe: Scribe, detail: str) -> Value:
        provider, patient = people.provider_of(scribe, "author")
        like = make("license_provider", patient=patient, chance=scribe.chance, when=scribe.visit.day, form=form)
        text = {"npi": provider.npi, "dea": provider.dea}.get(form, provider.license)
        at = patient.providers.index(provider)
        return Value(text, like.label, form, f"{patient.id}:provider:{at}:{form}", like.identifier, like.subtype)

    return write


def _user(scribe: Scribe, detail: str) -> Value:
    """A user name: the patient's own, or that of whoever keeps the record (`staff`)."""
    if detail != "staff":
        return make(
            "username", patient=scribe.patient, chance=scribe.chance, when=scribe.visit.day, form=detail or None
        )
    provider, patient = people.provider_of(scribe, "author")
    person, at = provider.person, patient.providers.index(provider)
    text = f"{plain_letters(person.given)[0]}{plain_letters(person.family)}{provider.npi[-2:]}"
    like = make("username", patient=scribe.patient, chance=scribe.chance, when=scribe.visit.day, form="plain")
    return Value(text, "username", "plain", f"{patient.id}:provider:{at}:username", like.identifier, like.subtype)


# ---- all the others --------------------------------------------------------------------------------------------------


def made(scribe: Scribe, leaf: str, detail: str) -> Value:
    """A value of a leaf: the patient's own, that of the site (`facility`), of somebody else (`other`), or in a form."""
    patient, form = scribe.patient, detail or None
    if detail == "other" and leaf not in ("country",):
        patient, form = scribe.bystander, None
    elif detail == "facility":
        patient, form = (
            scribe.visit.place,
            {"street_address": "abbreviated_dot", "zip": "five", "city": "plain"}.get(leaf),
        )
    if leaf == "state_code":
        leaf, form = "state", "code"
    usual = _ELSEWHERE if leaf == "street_address" and detail == "other" else _FORMS.get(leaf)
    if form is None and usual is not None:
        form = _pick(scribe, usual)
        if form in ("caps", "lower") and scribe.style == "full":  # capitals in the midst of prose are for tables
            form = usual[0]
    elif form == "work":
        form = "extension"
    return make(leaf, patient=patient, chance=scribe.chance, when=scribe.visit.day, form=form)


_WRITERS: Mapping[str, Callable[[Scribe, str], Value]] = {
    "patient": _patient_name,
    "relative": _relative_name,
    **{role: _provider_name(role) for role in ROLES},
    "date": _date,
    "dob": _birth,
    "date_death": _death,
    "date_relative": _relative_day,
    "ago": lambda scribe, detail: _relative_day(scribe, "ago"),
    "time": _clock,
    "age": _age,
    "age_of_relative": _age_of_relative,
    "age_very_old": _very_old,
    "mrn": _record_number,
    "username": _user,
    "npi": _provider_number("npi"),
    "dea": _provider_number("dea"),
    "state_license": _provider_number("state_license"),
}


def write_value(scribe: Scribe, name: str, detail: str) -> None:
    """The value that a slot asks for."""
    waiting = scribe.waiting.pop(name, None)
    write = _WRITERS.get(name)
    scribe.out.append(waiting or (write(scribe, detail) if write else made(scribe, name, detail)))


def _pick(scribe: Scribe, options: tuple[str, ...]) -> str:
    return options[int(scribe.draw() * len(options))]


# ---- ages with the words around them ---------------------------------------------------------------------------------


def write_aged(scribe: Scribe, name: str) -> None:
    """An age as it is written before a noun: a 64-year-old, 3-month-old; the number alone is the value."""
    if scribe.allowed is not None and not {"age_under_90", "age_over_89"} <= scribe.allowed:
        word = "elderly" if scribe.age >= 70 else "adult" if scribe.age >= 18 else "young"
        article = "an " if word[0] in "ae" else "a "
        scribe.out.append(f"{article if name == 'a_aged' else ''}{word}")
        return
    days = (scribe.visit.day - scribe.patient.birth).days
    if scribe.age >= 2:
        spelt = scribe.draw() < 0.04 and name != "aged_short"
        value = _age(scribe, "words" if spelt else "")
        tight = name == "aged_short" and scribe.draw() < 0.5
        shape = "{}-year-old" if spelt else "{}yo" if tight else scribe.site_style.age
    else:
        number, shape = (max(1, days // 30), "{}-month-old") if days > 59 else (max(1, days), "{}-day-old")
        like = _age(scribe, "")
        value = Value(str(number), like.label, "number", like.entity, like.identifier, like.subtype)
    if name == "a_aged":
        spoken = value.text.startswith(("8", "11", "18", "e")) and value.text not in ("110", "111")
        scribe.out.append("an " if spoken else "a ")
    scribe.out.append(value)
    scribe.out.append(shape[2:])

"""Clinical terms of a note, written as gold that must not be masked: problems, drugs, procedures, labs, vital signs.

Values are drawn in ranges that suit the patient's age. Knows nothing that identifies."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from workup.corpora.generate.notes.compiled import Terms
from workup.corpora.generate.notes.slot_writers import Parts
from workup.corpora.generate.notes.vocabulary import Lab
from workup.documents.builder import Gold

if TYPE_CHECKING:
    from workup.corpora.generate.notes.note_writer import Scribe

OTHERS = ("Cardiology", "Nephrology", "Neurology", "Infectious disease", "General surgery", "Pulmonology",
          "Physical therapy", "Nutrition", "Social work", "Hematology", "Psychiatry", "Palliative care")  # fmt: skip


def main_problem(scribe: Scribe) -> str:
    """What the patient is treated for in this specialty: the same in every note of the patient."""
    problems = scribe.own.phrases["problem"]
    at = int(scribe.patient.digits[6:9]) % len(problems)
    return scribe.text_of(problems[at])


def write_term(scribe: Scribe, name: str, modifier: str) -> None:
    """One term, by the name that templates use for it."""
    write = _TERMS.get(name)
    if write is None:
        raise KeyError(f"no clinical term is called {name}")
    text, label, after = write(scribe)
    scribe.out.append(Gold(text[0].upper() + text[1:] if modifier == "Cap" else text, label))
    if after:
        scribe.out.append(after)


Written = tuple[str, str, str]  # the term, its leaf, and plain text after it


def _problem(scribe: Scribe) -> Written:
    options = scribe.own.phrases["problem"]
    text = scribe.text_of(options[scribe.fresh("#problem", len(options))])
    if text == scribe.main:
        text = scribe.text_of(options[scribe.fresh("#problem", len(options))])
    return text, "disease", ""


def _main(scribe: Scribe) -> Written:
    return scribe.main, "disease", ""


def _comorbid(scribe: Scribe) -> Written:
    options = scribe.common.phrases["problem"]
    text = scribe.text_of(options[scribe.fresh("#comorbid", len(options))])
    return text, "disease", ""


def operation(scribe: Scribe) -> str:
    """The operation of this note, the same throughout."""
    if scribe.operation is None:
        names = scribe.own.operable
        options = scribe.own.phrases["procedure"]
        scribe.operation = (
            names[int(scribe.draw() * len(names))]
            if names
            else scribe.text_of(options[scribe.fresh("#procedure", len(options))])
        )
    return scribe.operation


def steps(scribe: Scribe) -> tuple[Parts, ...]:
    """The steps that the note's operation may have; those of any operation where it has none of its own."""
    name = operation(scribe)
    found = tuple(step for word, step in scribe.own.operations if word in name)
    return found or tuple(step for _, step in scribe.own.operations)


def _operation(scribe: Scribe) -> Written:
    return operation(scribe), "procedure", ""


def _listed(kind: str) -> Callable[[Scribe], Written]:
    def write(scribe: Scribe) -> Written:
        options = scribe.own.phrases[kind]
        return scribe.text_of(options[scribe.fresh(f"#{kind}", len(options))]), kind, ""

    return write


def _drug(common: bool, dosed: bool) -> Callable[[Scribe], Written]:
    pool = "#common_drug" if common else "#drug"

    def write(scribe: Scribe) -> Written:
        drugs = (scribe.common if common else scribe.own).drugs
        name, dose = drugs[scribe.fresh(pool, len(drugs))]
        return name, "drug", " " + scribe.text_of(dose) if dosed else ""

    return write


def _lab_of(scribe: Scribe, terms: Terms, pool: str) -> Lab:
    """A test that this note has not told a value of, where one is left."""
    lab = terms.labs[scribe.fresh(pool, len(terms.labs))]
    for _ in range(4):
        if lab.name.casefold() not in scribe.seen_labs:
            break
        lab = terms.labs[scribe.fresh(pool, len(terms.labs))]
    scribe.seen_labs.add(lab.name.casefold())
    return lab


def _lab_name(scribe: Scribe) -> Written:
    return _lab_of(scribe, scribe.own, "#lab").name, "lab", ""


def _lab_value(scribe: Scribe) -> Written:
    lab = scribe.last_lab = _lab_of(scribe, scribe.own, "#lab")
    return f"{lab.name} {lab.at(scribe.draw())}", "lab", f" {lab.unit}" if lab.unit else ""


def _common_lab(scribe: Scribe) -> Written:
    lab = scribe.last_lab = _lab_of(scribe, scribe.common, "#common_lab")
    return f"{lab.name} {lab.at(scribe.draw())}", "lab", f" {lab.unit}" if lab.unit and scribe.draw() < 0.5 else ""


def _lab_again(scribe: Scribe) -> Written:
    lab = scribe.last_lab or _lab_of(scribe, scribe.own, "#lab")
    return lab.at(scribe.draw()), "lab", ""


_TERMS: Mapping[str, Callable[[Scribe], Written]] = {
    "problem": _problem,
    "main": _main,
    "comorbid": _comorbid,
    "procedure": _listed("procedure"),
    "anatomy": _listed("anatomy"),
    "operation": _operation,
    "drug": _drug(common=False, dosed=False),
    "rx": _drug(common=False, dosed=True),
    "common_drug": _drug(common=True, dosed=False),
    "common_rx": _drug(common=True, dosed=True),
    "lab": _lab_name,
    "labvalue": _lab_value,
    "common_lab": _common_lab,
    "lab_again": _lab_again,
    "lab_earlier": _lab_again,
}


def write_rows(scribe: Scribe, count: int) -> None:
    """Rows of a laboratory's table: name, value, flag, range and unit; no test twice."""
    told: set[str] = set()
    for _ in range(count):
        own = scribe.draw() < 0.35
        lab = _lab_of(scribe, scribe.own if own else scribe.common, "#lab" if own else "#common_lab")
        share = scribe.draw()
        if lab.name.casefold() in told:
            continue
        scribe.out.append("\n" if told else "")
        told.add(lab.name.casefold())
        value = lab.at(share)
        scribe.out.append(Gold(lab.name, "lab"))
        scribe.out.append(" " * max(2, 26 - len(lab.name)))
        scribe.out.append(Gold(value, "lab"))
        scribe.out.append(f"{' ' * max(1, 8 - len(value))}{lab.flag(share)}   {lab.reference:<14}{lab.unit}".rstrip())


# ---- vital signs -----------------------------------------------------------------------------------------------------

# Age from which a row holds, then the ranges of systolic pressure, heart rate, breaths, and weight in kilograms.
_RANGES = (
    (65, (108, 168), (56, 104), (12, 24), (48, 104)),
    (18, (102, 158), (54, 118), (12, 26), (50, 122)),
    (13, (98, 132), (58, 110), (12, 22), (40, 84)),
    (6, (90, 118), (70, 120), (16, 26), (19, 46)),
    (1, (84, 108), (88, 144), (20, 34), (9, 19)),
    (0, (62, 92), (110, 172), (28, 58), (2, 9)),
)


def write_vital(scribe: Scribe, kind: str, modifier: str) -> None:
    """A vital sign, its name and its value together, in one of the ways that the notes of the site use."""
    row = next(row for row in _RANGES if scribe.age >= row[0])
    text = _VITALS[kind](scribe, row)
    scribe.out.append(Gold(text[0].upper() + text[1:] if modifier == "Cap" else text, "vital"))


def _within(scribe: Scribe, kind: str, limits: tuple[int, int]) -> int:
    """A value in its limits; the later ones of a note stay near the first."""
    low, high = limits
    drawn = scribe.draw()
    first = scribe.vitals.setdefault(kind, drawn)
    share = first if first == drawn else min(max(first + (drawn - 0.5) * 0.2, 0.0), 0.999)
    return low + int(share * (high - low + 1))


Row = tuple[int, tuple[int, int], tuple[int, int], tuple[int, int], tuple[int, int]]


def _pressure(scribe: Scribe, row: Row) -> str:
    systolic = _within(scribe, "bp", row[1])
    diastolic = int(systolic * (0.5 + 0.17 * scribe.draw()))
    return f"{_named(scribe, ('BP', 'BP', 'blood pressure', 'B/P'))} {systolic}/{diastolic}"


def _heart(scribe: Scribe, row: Row) -> str:
    return f"{_named(scribe, ('HR', 'HR', 'heart rate', 'pulse', 'P'))} {_within(scribe, 'hr', row[2])}"


def _breaths(scribe: Scribe, row: Row) -> str:
    return f"{_named(scribe, ('RR', 'RR', 'respirations', 'resp'))} {_within(scribe, 'rr', row[3])}"


def _temperature(scribe: Scribe, row: Row) -> str:
    drawn = scribe.draw()
    celsius = 36.1 + 2.6 * drawn * drawn  # mostly normal, now and then a fever
    name = _named(scribe, ("T", "temp", "temperature", "Temp"))
    if scribe.number % 3 == 0:
        return f"{name} {celsius:.1f} C"
    return f"{name} {celsius * 1.8 + 32:.1f}{' F' if scribe.number % 2 else ''}"


def _saturation(scribe: Scribe, row: Row) -> str:
    return f"{_named(scribe, ('SpO2', 'O2 sat', 'sat', 'oxygen saturation'))} {_within(scribe, 'spo2', (90, 100))}%"


def _weight(scribe: Scribe, row: Row) -> str:
    low, high = row[4]  # the patient's own, the same in every note but for a kilogram or so
    weight = low + (high - low) * int(scribe.patient.digits[10:13]) / 1000 + 2 * scribe.draw() * low / 50
    name = _named(scribe, ("weight", "Wt", "Weight"))
    return f"{name} {weight * 2.2:.0f} lb" if scribe.number % 2 else f"{name} {weight:.1f} kg"


def _named(scribe: Scribe, names: tuple[str, ...]) -> str:
    return names[int(scribe.draw() * len(names))]


_VITALS: Mapping[str, Callable[[Scribe, Row], str]] = {
    "bp": _pressure,
    "hr": _heart,
    "rr": _breaths,
    "temp": _temperature,
    "spo2": _saturation,
    "weight": _weight,
}

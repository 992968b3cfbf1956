"""Whose full names are missed: the same sentences with names of every origin, sex and popularity, formal and short.

    python -m training.evaluate.name_swap [--with rules] [--model DIR] [--names 20] [--json out.json]

A name counts as found when every letter of it is masked. Every part of every name is one that training leaves out.
Names cluster (one name stands in every sentence), so names are resampled and not sentences. The largest gap between
any two cells is above 0 by chance alone: how large, a shuffle of the names between cells tells. Short forms alone,
without a surname, are told beside and are no part of the gap.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import yaml

from training.evaluate.configurations import by_name
from training.evaluate.corpora import recased
from training.held_out import held_out_name
from workup.stats.random import generator
from workup.values.tables import ORIGINS, Draw, band, given_names, surnames

SEED = 9551
DECADES = range(1930, 2011, 10)
BANDS = ("common", "less common")  # from 1 bearer in 10,000 people on, and below; of a short form, its surname's
FORMS = ("formal", "short form", "short form alone")
CASES = ("as written", "lower case")
REPLICATES = 2_000
_SHORT_FORMS = Path(__file__).parent / "short_forms.yaml"
Cell = tuple[str, str, str, str, str]
# Written for this study, in the many ways in which notes name people; some give a cue, some give none.
TEMPLATES = (
    "{name} is a 54-year-old seen today for follow-up of hypertension.",
    "Patient: {name}. Reason for visit: chest pain.",
    "I had the pleasure of seeing {name} in clinic this morning.",
    "{name} was admitted with pneumonia and discharged on day four.",
    "Spoke with {name} by telephone about the potassium result.",
    "Re: {name}. Thank you for referring this patient with back pain.",
    "The daughter, {name}, will pick up the prescription.",
    "Next of kin: {name} (spouse).",
    "Seen by {name}, MD, who agrees with the plan.",
    "Dictated by {name}; transcribed overnight.",
    "Discussed with Dr. {name}, who will take over care.",
    "Ms. or Mr. {name} reports no fever and no cough.",
    "Consent for the procedure was obtained from {name}.",
    "{name} denies alcohol and tobacco.",
    "Please call {name} to arrange the colonoscopy.",
    "Emergency contact {name}, lives next door.",
    "Labs reviewed with {name} at length; questions were answered.",
    "{name} tolerated the procedure well and left in good condition.",
    "Nurse {name} changed the dressing at noon.",
    "On examination {name} is alert and in no distress.",
    "CC: {name}, primary care.",
    "Electronically signed by {name}.",
    "The patient's brother {name} has the same condition.",
    "We met with {name} and the family to talk about goals of care.",
    "Allergies of {name}: penicillin, with hives.",
    "Today {name} walked 200 feet with a walker.",
    "{name} was last seen here two years ago for a fracture of the wrist.",
    "Note for {name}: start metformin with the evening meal.",
    "Interpreter used for {name} throughout.",
    "Attending physician {name} was present for the key portions.",
    "{name} had a normal mammogram and needs nothing further.",
    "Home medications were confirmed with {name} at the bedside.",
    "Surgeon: {name}. Anesthesia: general.",
    "Follow up with {name} in three weeks for suture removal.",
    "Family history: mother {name} had breast cancer at 60.",
    "Referring provider {name} was informed of the findings.",
    "In summary, {name} has stable angina and will continue aspirin.",
    "{name} asked whether the dose could be lowered.",
    "Social work met {name} to talk about transport.",
    "Name of patient {name}, room 12, bed by the window.",
)


def drawn(draw: Draw, popularity: str, count: int, chance: np.random.Generator) -> list[str]:
    """So many distinct names of a band that training leaves out, by how frequent they are in the group."""
    weights = np.diff(np.array(draw.cumulative, dtype=float), prepend=0.0)
    inside = np.array(
        [
            (band(name.bearers) == "common") == (popularity == "common") and held_out_name(name.text)
            for name in draw.names
        ]
    )
    if not inside.any():
        return []
    names, weights = [name for name, yes in zip(draw.names, inside, strict=True) if yes], weights[inside]
    size = min(count, len(names))
    places = chance.choice(len(names), size=size, replace=False, p=weights / weights.sum())
    return [names[place].text for place in places]


def people(origin: str, sex: str, popularity: str, form: str, count: int) -> list[str]:
    """Names of one cell, as telling of the group as the tables allow."""
    chance = generator(SEED, "names", origin, sex, popularity, form)
    families = drawn(surnames(origin, telling=True), popularity, count, chance)
    if form == "formal":
        given: list[str] = []
        for decade in DECADES:
            given += drawn(given_names(origin, sex, decade, telling=True), popularity, count, chance)
    else:
        given = [name for name in short_forms()[origin][sex] if held_out_name(name)]
    distinct = list(dict.fromkeys(given))
    if form == "short form alone":
        return distinct
    chosen = chance.choice(len(distinct), size=count, replace=len(distinct) < count)
    return [f"{distinct[place]} {families[i % len(families)]}" for i, place in enumerate(chosen)]


def short_forms() -> dict[str, dict[str, list[str]]]:
    """Short forms by origin and sex."""
    found: dict[str, dict[str, list[str]]] = yaml.safe_load(_SHORT_FORMS.read_text(encoding="utf-8"))
    return found


def masked(text: str, start: int, end: int, rows: Sequence[Any]) -> bool:
    """Whether every letter between two places lies in a span."""
    inside = np.zeros(len(text), dtype=bool)
    for begin, stop, *_ in rows:
        inside[begin:stop] = True
    return all(inside[place] for place in range(start, end) if text[place].isalnum())


def found_by(detect: Callable[[Sequence[str]], Sequence[Any]], names: dict[Cell, list[str]]) -> dict[Cell, np.ndarray]:
    """Share of the sentences in which each name is found, by cell; `detect` answers rows that begin with two places."""
    asked = []
    for cell, some in names.items():
        for name in some:
            texts = [template.format(name=name) for template in TEMPLATES]
            asked += [recased(text, str.lower) for text in texts] if cell[4] == "lower case" else texts
    answers = iter(zip(asked, detect(asked), strict=True))
    starts = [template.index("{name}") for template in TEMPLATES]

    def share(name: str) -> float:
        hits = [masked(*_placed(next(answers), start, name)) for start in starts]
        return float(np.mean(hits))

    return {cell: np.array([share(name) for name in some]) for cell, some in names.items()}


def _placed(answered: tuple[str, Any], start: int, name: str) -> tuple[str, int, int, Sequence[Any]]:
    text, rows = answered
    return text, start, start + len(name), rows or ()


def largest_gap(cells: Sequence[np.ndarray]) -> float:
    means = [float(cell.mean()) for cell in cells]
    return max(means) - min(means)


def resampled(cells: Sequence[np.ndarray]) -> tuple[float, float]:
    """95 % of the largest gap when names are drawn again within their cells."""
    chance = generator(SEED, "bootstrap")
    gaps = [largest_gap([chance.choice(cell, cell.size) for cell in cells]) for _ in range(REPLICATES)]
    low, high = np.quantile(gaps, [0.025, 0.975])
    return float(low), float(high)


def by_chance(cells: Sequence[np.ndarray]) -> tuple[float, float]:
    """Mean and 95th percentile of the largest gap when names are dealt to cells by lot."""
    chance = generator(SEED, "shuffle")
    everyone, sizes = np.concatenate(cells), np.cumsum([cell.size for cell in cells])[:-1]
    gaps = [largest_gap(np.split(chance.permutation(everyone), sizes)) for _ in range(REPLICATES)]
    return float(np.mean(gaps)), float(np.quantile(gaps, 0.95))


def told(name: str, cells: dict[Cell, np.ndarray]) -> dict[str, Any]:
    """The largest gap among some cells with its interval, and what chance alone would give."""
    held = list(cells.values())
    gap, ends, chance = largest_gap(held), resampled(held), by_chance(held)
    best, worst = (choose(cells, key=lambda cell: float(cells[cell].mean())) for choose in (max, min))
    print(
        f"{name}: largest gap {gap:.2%} (95 % {ends[0]:.2%} to {ends[1]:.2%}), {' '.join(worst)} below "
        f"{' '.join(best)}; by chance alone {chance[0]:.2%}, 95th percentile {chance[1]:.2%}; {len(held)} cells"
    )
    return {"gap": gap, "interval": ends, "by_chance": {"mean": chance[0], "percentile_95": chance[1]}}


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m training.evaluate.name_swap", description=(__doc__ or "").splitlines()[0]
    )
    parser.add_argument("--with", dest="using", default="rules")
    parser.add_argument("--model", type=Path, help="folder of a tagger's model; the shipped one when absent")
    parser.add_argument("--names", type=int, default=20, help="names of a cell; each stands in every sentence")
    parser.add_argument("--json", type=Path)
    asked = parser.parse_args()
    names = {
        (origin, sex, popularity, form, case): people(origin, sex, popularity, form, asked.names)
        for form in FORMS
        for case in CASES
        for origin in ORIGINS
        for sex in ("F", "M")
        for popularity in BANDS
        if form != "short form alone" or popularity == BANDS[0]
    }
    record: dict[str, Any] = {"sentences": len(TEMPLATES), "names": asked.names}
    for configuration in by_name(asked.using.split(","), asked.model):
        cells = found_by(configuration.rows, names)
        print(f"{configuration.name}: full name found, per cent of {asked.names * len(TEMPLATES):,} pairs a cell")
        for form in FORMS:
            for case in CASES:
                mine = {cell: shares for cell, shares in cells.items() if cell[3:] == (form, case)}
                means = {cell[:3]: 100 * shares.mean() for cell, shares in mine.items()}
                for sex in ("F", "M"):
                    for popularity in BANDS:
                        row = [means.get((origin, sex, popularity)) for origin in ORIGINS]
                        if row[0] is not None:
                            shown = " | ".join(f"{value:.1f}" for value in row)
                            print(f"| {form}, {case} | {sex} {popularity} | {shown} |")
        gaps = {
            f"{form}, {case}": told(
                f"{form}, {case}", {cell: s for cell, s in cells.items() if cell[3:] == (form, case)}
            )
            for form in FORMS
            for case in CASES
        }
        full = {cell: shares for cell, shares in cells.items() if cell[3] != FORMS[2]}
        gaps["all full names"] = told("all full names", full)
        record[configuration.name] = {
            "cells": {" | ".join(cell): float(shares.mean()) for cell, shares in cells.items()},
            "gaps": gaps,
        }
    if asked.json:
        asked.json.write_text(json.dumps(record, indent=1) + "\n")


if __name__ == "__main__":
    main()

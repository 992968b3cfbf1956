"""Whose full names are missed: the same sentences with names of every origin, sex and popularity.

    python examples/deid/name_swap.py [--system native] [--names 60] [--json out.json]

A name counts as found when every letter of it is masked. Names cluster (one name stands in every sentence), so names
are resampled and not sentences. The largest gap between any two of twenty cells is above 0 by chance alone: how large,
a shuffle of the names between cells tells.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from workup import plugins
from workup.stats.random import generator
from workup.values.tables import ORIGINS, Draw, band, given_names, surnames

SEED = 9401
DECADES = range(1930, 2011, 10)
BANDS = ("common", "less common")  # from 1 bearer in 10,000 people on, and below
REPLICATES = 2_000
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
    """So many distinct names of a band, by how frequent they are among the people of the group."""
    weights = np.diff(np.array(draw.cumulative, dtype=float), prepend=0.0)
    inside = np.array([(band(name.bearers) == "common") == (popularity == "common") for name in draw.names])
    if not inside.any():
        return []
    names, weights = [name for name, yes in zip(draw.names, inside, strict=True) if yes], weights[inside]
    size = min(count, len(names))
    places = chance.choice(len(names), size=size, replace=False, p=weights / weights.sum())
    return [names[place].text for place in places]


def people(origin: str, sex: str, popularity: str, count: int) -> list[str]:
    """Full names of one cell, both parts from the same band, as telling of the group as the tables allow."""
    chance = generator(SEED, "names", origin, sex, popularity)
    families = drawn(surnames(origin, telling=True), popularity, count, chance)
    given: list[str] = []
    for decade in DECADES:
        given += drawn(given_names(origin, sex, decade, telling=True), popularity, count, chance)
    distinct = list(dict.fromkeys(given))
    chosen = chance.choice(len(distinct), size=count, replace=len(distinct) < count)
    return [f"{distinct[place]} {families[i % len(families)]}" for i, place in enumerate(chosen)]


def masked(text: str, start: int, end: int, spans: Sequence[Any]) -> bool:
    """Whether every letter between two places lies in a span."""
    inside = np.zeros(len(text), dtype=bool)
    for span in spans:
        inside[span.start : span.end] = True
    return all(inside[place] for place in range(start, end) if text[place].isalnum())


def found_by(detector: Any, names: Sequence[str]) -> np.ndarray:
    """Share of the sentences in which each name is found."""
    shares = np.empty(len(names))
    for i, name in enumerate(names):
        texts = [template.format(name=name) for template in TEMPLATES]
        starts = [template.index("{name}") for template in TEMPLATES]
        answers = detector.detect(texts)
        hits = [
            masked(text, start, start + len(name), spans or ())
            for text, start, spans in zip(texts, starts, answers, strict=True)
        ]
        shares[i] = float(np.mean(hits))
    return shares


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


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--system", default="native")
    parser.add_argument("--names", type=int, default=60, help="names of a cell; each stands in every sentence")
    parser.add_argument("--json", type=Path)
    asked = parser.parse_args()
    detector = plugins.find("systems", asked.system)(name=asked.system, base=Path())
    cells: dict[tuple[str, str, str], np.ndarray] = {}
    for origin in ORIGINS:
        for sex in ("F", "M"):
            for popularity in BANDS:
                shares = found_by(detector, people(origin, sex, popularity, asked.names))
                cells[origin, sex, popularity] = shares
                pairs = shares.size * len(TEMPLATES)
                print(
                    f"{origin:9s} {sex} {popularity:11s} {shares.mean():7.2%} of {pairs:,} pairs, {shares.size} names"
                )
    held = list(cells.values())
    gap, ends, chance = largest_gap(held), resampled(held), by_chance(held)
    print(
        f"largest gap {gap:.2%} (95 % {ends[0]:.2%} to {ends[1]:.2%}); by chance alone {chance[0]:.2%}, "
        f"95th percentile {chance[1]:.2%}"
    )
    if asked.json:
        record = {
            "system": detector.version,
            "templates": len(TEMPLATES),
            "names": asked.names,
            "cells": {" ".join(cell): float(shares.mean()) for cell, shares in cells.items()},
            "largest_gap": gap,
            "interval": ends,
            "by_chance": {"mean": chance[0], "percentile_95": chance[1]},
        }
        asked.json.write_text(json.dumps(record, indent=1) + "\n")


if __name__ == "__main__":
    main()

"""Fit how rules and tagger are weighed against each other, on text that neither was made on, and show what it gives.

    python -m training.fit_fusion src/workup/deid/tagger/data --data ../shared/data --packages $P

Reads development text: generated notes of seeds of their own, phrases and look-alikes that training leaves out, reports
(of the sources that training may see) and visits that training does not see, with identifiers put in and as they are,
and half of what the public sets keep apart; each also in lower case or capitals now and then. For every find it is
known whether it identifies somebody; a logistic curve per kind of find (workup/deid/fusion/chances.py) is fitted to
that, leaning on the wider kind where examples are few. A family of rules that was never wrong there, or nearly, has no
curve: its finds stand as the rules gave them. The shift that all curves share, the caution, is the largest that masks
no more than a given share of all other text beside what rules alone mask. The other half of the text is only looked at:
the table that is printed comes from it. Writes `fusion.json` into the model's folder."""

from __future__ import annotations

import argparse
import csv
import json
import random
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.optimize import minimize

from training.mix import Tagged, mtsamples, notes, phrases, public, reports
from training.values import Values
from workup.deid import Deidentifier
from workup.deid.fusion.chances import FILE, Chances, wider
from workup.deid.fusion.fusion import Find, Fusion
from workup.deid.fusion.opening import Opened
from workup.deid.letter_case.restore import CaseReader
from workup.deid.settings import load
from workup.deid.tagger.decoding import Words
from workup.deid.tagger.model import Tagger

SEED = 730_022
FEWEST = 12  # examples of a kind that has a curve of its own
BOTH = 10  # examples, true ones and false ones, of a family of rules that is weighed at all
LEAN = 4.0  # how strongly a curve leans on the wider kind
SPENT = 0.0025  # share of characters without identifiers that may be masked beside what rules alone mask
CAUTIONS = (0.0, 0.5, 1.0, 1.5)
_FILLERS = ["No acute distress.", "Labs reviewed.", "Will follow.", "Tolerating diet.", "Plan discussed."]
_NAMED = ("NAME", "GEO", "ORG")  # what the public sets mark
_MARKED = ("name_", "city", "state", "country", "facility", "employer", "org_other")  # and the leaves of those
_RESIDUES = ("injected", "reports", "visits injected", "visits reports")
_PUBLIC = ("wnut17", "btc", "wikigold")


class Example(NamedTuple):
    """One find: its kind, the two opinions, and whether it identifies somebody."""

    kind: str
    first: float
    second: float
    true: bool


class _Anything(Chances):
    """Weighs every rule, known or not, so that all can be fitted."""

    def __init__(self) -> None:
        super().__init__({"rules": (0.0, 1.0, 0.0), "tagger": (0.0, 1.0, 0.0)})

    def knows(self, rule: str) -> bool:
        """Every rule is."""
        return True


class Remembering(Tagger):
    """A tagger that reads no text twice."""

    def read(self, text: str) -> Words:
        """What was read before, or is read now."""
        known: dict[str, Words] = self.__dict__.setdefault("known", {})
        if text not in known:
            known[text] = super().read(text)
        return known[text]


def texts(data: Path, packages: Path, scale: float) -> Iterator[Tagged]:
    """The development text, in its order."""
    chance = random.Random(SEED)
    sources = mtsamples(data)
    chance.shuffle(sources)
    made = [
        *notes(round(240 * scale), SEED),
        *phrases(Values(packages, SEED, unseen=True), _FILLERS, round(1500 * scale)),
        *reports(sources[: round(40 * scale)], SEED, 1),
        *(one._replace(source=f"visits {one.source}") for one in reports(visits(data), SEED, 2)),
        *(one for one in public(data, {"presidio_synth", "tab"}) if one.split == "dev"),
    ]
    for one in made:
        turn = chance.random()
        if turn < 0.15 and len(one.text.lower()) == len(one.text):
            one = one._replace(text=one.text.lower(), source=f"{one.source}, lower case")
        elif turn < 0.25 and len(one.text.upper()) == len(one.text):
            one = one._replace(text=one.text.upper(), source=f"{one.source}, capitals")
        yield one


def visits(data: Path) -> list[str]:
    """Visits and their notes that training does not see."""
    found = []
    for path, columns in (
        ("mts_dialog/MTS-Dialog-ValidationSet.csv", ("section_text", "dialogue")),
        ("aci_bench/valid.csv", ("note",)),
    ):
        with (data / path).open(encoding="utf-8", newline="") as file:
            found += [row[column].strip() for row in csv.DictReader(file) for column in columns]
    return [text for text in dict.fromkeys(found) if text]


class Truth:
    """Which characters of a text identify somebody, and which are nobody's to judge."""

    def __init__(self, one: Tagged) -> None:
        size = len(one.text)
        self.solid = np.array([letter.isalnum() for letter in one.text], dtype=bool)
        self.held, self.unknown = np.zeros(size, dtype=bool), np.zeros(size, dtype=bool)
        for start, end in one.ignored:
            self.unknown[start:end] = True
        for start, end, _ in one.spans:
            self.held[start:end] = True
        self.unknown &= ~self.held

    def of(self, start: int, end: int) -> bool | None:
        """Whether most of a stretch identifies somebody; None where that is not known."""
        solid = self.solid[start:end]
        if not solid.any() or (self.unknown[start:end] & solid).sum() * 3 > solid.sum():
            return None
        return bool((self.held[start:end] & solid).sum() * 2 >= solid.sum())


def examples(fusion: Fusion, rules: Deidentifier, cases: CaseReader, one: Tagged) -> Iterator[Example]:
    """What would be weighed in a text, with the truth of it."""
    page, truth = cases.page(one.text), Truth(one)
    opinion = fusion.read(page, one.text)
    proposed = [finding for own in rules.layers for finding in own.propose(page)]
    real = one.source.split(",")[0] in _PUBLIC
    for find in fusion.finds(page, proposed, opinion):
        if not find.kind or find.finding.label == "misc" or (real and not _named(find)):
            continue
        true = truth.of(find.finding.start, find.finding.end)
        both = find.second > 0 and (find.kind.endswith(".agreed") or not find.kind.startswith("tagger."))
        if true is False and both and one.source.split(",")[0] in _RESIDUES:
            continue  # what both find in a real text and nobody marked is nearly always a residue of its writer's
        if true is not None:
            yield Example(find.kind, find.first, find.second, true)


def _named(find: Find) -> bool:
    if find.kind.startswith("tagger."):
        return find.kind.split(".")[1] in _NAMED
    return find.finding.label.startswith("name_") or find.finding.label in (
        "city",
        "state",
        "country",
        "facility",
        "employer",
        "org_other",
    )


def curve(own: Sequence[Example], parent: Sequence[float], lean: float) -> list[float]:
    """A logistic curve whose slopes are not negative and that leans on the parent's."""
    x = np.array([(1.0, one.first, one.second) for one in own])
    y = np.array([one.true for one in own], dtype=float)
    towards = np.asarray(parent)

    def loss(beta: npt.NDArray[np.float64]) -> tuple[float, npt.NDArray[np.float64]]:
        z = x @ beta
        away = beta - towards
        value = float(np.logaddexp(0, z).sum() - y @ z + lean / 2 * away @ away)
        return value, x.T @ (1 / (1 + np.exp(-z)) - y) + lean * away

    found = minimize(loss, towards, jac=True, method="L-BFGS-B", bounds=[(None, None), (0, None), (0, None)])
    return [round(float(one), 4) for one in found.x]


def curves(found: Sequence[Example]) -> tuple[dict[str, list[float]], dict[str, list[int]]]:
    """A curve for each kind with enough examples, the widest first; and how many examples each had, true and false."""
    by_kind: dict[str, list[Example]] = defaultdict(list)
    for one in found:
        kind: str | None = one.kind
        while kind is not None:
            by_kind[kind].append(one)
            kind = wider(kind)
    fitted: dict[str, list[float]] = {}
    for kind in sorted(by_kind, key=lambda name: (name.count(".") + (wider(name) is not None), name)):
        above = wider(kind)
        said = [one.true for one in by_kind[kind]]
        if above == "rules" and min(sum(said), len(said) - sum(said)) < BOTH:
            continue
        if above not in (None, "rules", "tagger") and not kind.startswith("tagger") and above not in fitted:
            continue  # of a family that is not weighed
        if above is None:
            fitted[kind] = curve(by_kind[kind], (0.0, 0.5, 0.5), 0.1)
        elif len(by_kind[kind]) >= FEWEST or above in ("rules", "tagger"):
            while above is not None and above not in fitted:
                above = wider(above)
            fitted[kind] = curve(by_kind[kind], fitted[above or "rules"], LEAN)
    counts = {
        kind: [sum(one.true for one in by_kind[kind]), sum(not one.true for one in by_kind[kind])] for kind in fitted
    }
    return fitted, counts


class Score:
    """Characters left and taken, summed over texts."""

    def __init__(self) -> None:
        self.held = self.left = self.free = self.taken = 0

    def add(self, one: Tagged, spans: Sequence[tuple[int, int]]) -> None:
        """One text with what was found in it."""
        truth = Truth(one)
        masked = np.zeros(len(one.text), dtype=bool)
        for start, end in spans:
            masked[start:end] = True
        held, free = truth.held & truth.solid, truth.solid & ~truth.held & ~truth.unknown
        self.held, self.left = self.held + int(held.sum()), self.left + int((held & ~masked).sum())
        self.free, self.taken = self.free + int(free.sum()), self.taken + int((free & masked).sum())

    @property
    def leak(self) -> float:
        """Share of identifier characters left."""
        return self.left / max(1, self.held)

    @property
    def spoiled(self) -> float:
        """Share of other characters masked."""
        return self.taken / max(1, self.free)


def scored(deid: Deidentifier, some: Sequence[Tagged]) -> dict[str, Score]:
    """By source, and together under `clinical`, `public` and `all`."""
    found: dict[str, Score] = defaultdict(Score)
    for one in some:
        real = one.source.split(",")[0] in _PUBLIC
        spans = [
            (finding.start, finding.end)
            for finding in deid.detect([one.text])[0]
            if not real
            or finding.label.startswith(("name_", "city", "state", "country", "facility", "employer", "org_"))
        ]
        for name in (one.source, "public" if real else "clinical", "all"):
            found[name].add(one, spans)
    return found


def main() -> None:
    """Fit, write, and show the other half."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", type=Path)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--packages", type=Path, required=True)
    parser.add_argument("--scale", type=float, default=1.0, help="share of the made text")
    asked = parser.parse_args()
    settings, tagger = load(), Remembering.load(asked.model)
    rules = Deidentifier.load(tagger="off")
    fusion, cases = Fusion(tagger, _Anything(), settings), CaseReader(settings)
    every = list(texts(asked.data, asked.packages, asked.scale))
    mine, other = every[::2], every[1::2]
    found = [example for one in mine for example in examples(fusion, rules, cases, one)]
    fitted, counts = curves(found)
    content = {"fitted_for": tagger.digest, "caution": 0.0, "seed": SEED, "curves": fitted, "examples": counts}

    def weighed(caution: float) -> Deidentifier:
        content["caution"] = caution
        chances = Chances.of(content)
        return Deidentifier(settings, rules.layers, tagger=Opened(Fusion(tagger, chances, settings), ()))

    alone = scored(rules, mine)["all"]
    print(f"{'rules':10} leak {alone.leak:.4%} spoiled {alone.spoiled:.4%}")
    best = CAUTIONS[0]
    for caution in CAUTIONS:
        own = scored(weighed(caution), mine)["all"]
        print(f"{caution:<10} leak {own.leak:.4%} spoiled {own.spoiled:.4%}")
        if own.spoiled <= alone.spoiled + SPENT:
            best = caution
    both, ruled = scored(weighed(best), other), scored(rules, other)
    (asked.model / FILE).write_text(json.dumps(content, indent=1, sort_keys=True) + "\n", encoding="utf-8")
    print(f"caution {best}; the half that was not fitted on: leak and spoiled, rules alone and both")
    for name, own in sorted(ruled.items()):
        pair = both[name]
        print(f"{name:24} {own.held:>8} {own.leak:9.4%} {own.spoiled:9.4%}   {pair.leak:9.4%} {pair.spoiled:9.4%}")


if __name__ == "__main__":
    main()

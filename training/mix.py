"""The training mix: generated notes, injected reports, phrases, identifier-free text and public sets, as tagged texts.

    python -m training.mix --packages name-sources/lib/python3.11/site-packages --data ../shared/data -o mix.jsonl.gz

Each line is a text with its tagged spans, the spans that are neither learnt nor denied, its source and its split.
Texts, names and note templates that the study is scored on (training/held_out.py) are left out. With `--without NAME` a
public set is left out too; training can do that later on the same mix."""

from __future__ import annotations

import argparse
import csv
import gzip
import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from training.held_out import PHRASING, held_out, held_out_name, held_out_phrase
from training.values import TAG_OF_LEAF, Values
from workup.corpora.generate.notes import generate
from workup.corpora.inject import Injector
from workup.corpora.inject.residual_phi import sweep
from workup.corpora.noise import add_noise
from workup.documents.document import Document, Span
from workup.documents.titles import title_length

_HERE = Path(__file__).parent / "data"
_CHOICE = re.compile(r"<([^<>]*)>")
_IGNORED = "ignored"
_MISSPELT = 9  # one text in nine comes a second time with typing errors
_SLOT = re.compile(r"\{(\w+)\}")
_NUMBER = re.compile(r"\S*\d\S*")
_SURE_RESIDUES = {"NAME", "date", "age_under_90", "age_over_89"}  # what the sweep finds by a cue that seldom errs
_PUBLIC = {
    "wnut17": {"person": "NAME", "location": "GEO", "corporation": "ORG", "group": "ORG"},
    "btc": {"PER": "NAME", "LOC": "GEO", "ORG": "ORG"},
    "wikigold": {"PER": "NAME", "LOC": "GEO", "ORG": "ORG"},
}
_TAB = {
    "PERSON": "NAME",
    "CODE": "ID",
    "LOC": "GEO",
    "ORG": "ORG",
    "DATETIME": "DATE",
    "DEM": "QUASI",
    "QUANTITY": "QUASI",
    "MISC": "QUASI",
}
_PRESIDIO = {
    "PERSON": "NAME", "STREET_ADDRESS": "STREET", "GPE": "GEO", "ORGANIZATION": "ORG", "PHONE_NUMBER": "PHONE",
    "DATE_TIME": "DATE", "CREDIT_CARD": "ID", "US_SSN": "ID", "AGE": "AGE", "EMAIL_ADDRESS": "EMAIL", "NRP": "QUASI",
    "ZIP_CODE": "GEO", "TITLE": "", "DOMAIN_NAME": "URL", "IP_ADDRESS": "URL", "IBAN_CODE": "ID",
    "US_DRIVER_LICENSE": "ID",
}  # fmt: skip


class Tagged(NamedTuple):
    """A text with `(start, end, tag)` spans and the `(start, end)` ranges that are left out of the loss."""

    text: str
    spans: list[tuple[int, int, str]]
    ignored: list[tuple[int, int]]
    source: str
    split: str = "train"


def phrases(values: Values, background: list[str], count: int) -> Iterator[Tagged]:
    """Short texts of one to seven phrases, with sentences of real reports between them."""
    chance = values.random
    telling, innocent = (_lines(name, unseen=values.unseen) for name in ("phrases.txt", "innocent.txt"))
    for _ in range(count):
        parts: list[tuple[str, list[tuple[int, int, str]]]] = []
        for _ in range(chance.choice((1, 1, 2, 3, 4, 5, 7))):
            pick = chance.random()
            if pick < 0.52:
                parts.append(_filled(chance.choice(telling), values))
            elif pick < 0.82:
                parts.append(_filled(chance.choice(innocent), values))
            else:
                parts.append((chance.choice(background), []))
        gap = chance.choice((" ", " ", " ", "\n", "\n", "\n\n", "; "))
        yield _joined(parts, gap, "phrases")


def _filled(line: str, values: Values) -> tuple[str, list[tuple[int, int, str]]]:
    while _CHOICE.search(line):
        line = _CHOICE.sub(lambda found: values.random.choice(found[1].split("|")), line)
    line = line.replace("\\n", "\n").replace("  ", " ")
    text, spans, after = "", [], 0
    for slot in _SLOT.finditer(line):
        text += line[after : slot.start()]
        value, tag = values.slot(slot[1])
        if tag:
            spans.append((len(text), len(text) + len(value), tag))
        text, after = text + value, slot.end()
    return text + line[after:], spans


def _joined(parts: list[tuple[str, list[tuple[int, int, str]]]], gap: str, source: str) -> Tagged:
    text, spans = "", []
    for part, inside in parts:
        if text:
            text += gap
        spans += [(start + len(text), end + len(text), tag) for start, end, tag in inside]
        text += part
    return Tagged(text, spans, [], source)


def _lines(name: str, *, unseen: bool) -> list[str]:
    lines = (_HERE / name).read_text(encoding="utf-8").splitlines()
    return [line for line in lines if line and not line.startswith("#") and held_out_phrase(line) == unseen]


def notes(count: int, seed: int) -> Iterator[Tagged]:
    """Generated notes of the templates that are not kept for the study."""
    for i, (density, ambiguity) in enumerate((("medium", "standard"), ("high", "high"), ("low", "standard"))):
        for document in generate(count // 3, seed=seed + i, density=density, ambiguity=ambiguity).documents():
            if document.groups.get("phrasing") != PHRASING:
                yield _of_document(document.text, document.spans, "notes")


def reports(texts: list[str], seed: int, times: int) -> Iterator[Tagged]:
    """Real reports with identifiers put in, at three densities, and as they are."""
    for turn in range(times):
        density = ("high", 20, "medium")[turn % 3]
        injector = Injector(seed=seed + turn, density=density, ambiguity=("standard", "high")[turn % 2])
        for i, text in enumerate(texts):
            made = injector.inject(Document(f"r{i}", text), index=i).document
            yield _of_document(made.text, made.spans, "injected")
    for text in texts:
        yield _of_document(text, sweep(text), "reports")


def _of_document(text: str, golds: Iterable[Span], source: str) -> Tagged:
    spans, ignored = [], []
    for gold in golds:
        tag = {"NAME": "NAME", "DATE": "DATE"}.get(gold.label) or TAG_OF_LEAF.get(gold.label)
        if gold.identifier == "unknown" and gold.label not in _SURE_RESIDUES:
            ignored.append((gold.start, gold.end))
        elif gold.identifier == "no_mask":
            continue
        elif tag:
            spans.append((gold.start, gold.end, tag))
        elif gold.label in ("time", "facility_unit", "biometric", "photo"):
            ignored.append((gold.start, gold.end))
    return Tagged(text, spans, ignored, source)


def public(folder: Path, without: set[str]) -> Iterator[Tagged]:
    """The public sets; numbers that nobody marked there are left out of the loss, since dates were not asked for."""
    sets = {
        ("wnut17", "train"): ["wnut17/wnut17train.conll", "wnut17/emerging.test.annotated"],
        ("wnut17", "dev"): ["wnut17/emerging.dev.conll"],
        ("btc", "train"): [f"ner_open/BTC/CONLL-format/data/{part}.conll" for part in "abefg"],
        ("btc", "dev"): ["ner_open/BTC/CONLL-format/data/h.conll"],
        ("wikigold", "train"): ["ner_open/wikigold/CONLL-format/data/wikigold.conll.txt"],
    }
    for (name, split), paths in sets.items():
        if name in without:
            continue
        sentences = [one for path in paths for one in _conll(folder / path)]
        for i in range(0, len(sentences), 3):  # three at a time, so that windows are not all one line long
            words = [word for sentence in sentences[i : i + 3] for word in sentence]
            held = split if name != "wikigold" else ("dev" if i % 10 == 0 else "train")
            yield _of_words(words, _PUBLIC[name], name, held)
    if "presidio_synth" not in without:
        for row in json.loads((folder / "presidio_synth/synth_dataset_v2.json").read_text(encoding="utf-8")):
            spans = [
                (one["start_position"], one["end_position"], _PRESIDIO.get(one["entity_type"], ""))
                for one in row["spans"]
            ]
            yield Tagged(
                row["full_text"],
                [one for one in spans if one[2]],
                [one[:2] for one in spans if not one[2]],
                "presidio_synth",
            )
    if "tab" not in without:
        for line in (folder / "tab/tab.jsonl").read_text(encoding="utf-8").splitlines():
            row = json.loads(line)
            golds = [(one["start"], one["end"], _TAB[one["label"]], one["identifier_type"]) for one in row["spans"]]
            spans = [one[:3] for one in golds if one[3] != "NO_MASK"]
            yield Tagged(row["text"], spans, [one[:2] for one in golds if one[3] == "NO_MASK"], "tab")


def _conll(path: Path) -> Iterator[list[tuple[str, str]]]:
    sentence: list[tuple[str, str]] = []
    for line in path.read_text(encoding="utf-8", errors="replace").splitlines():
        cells = line.split()
        if len(cells) < 2:
            if sentence:
                yield sentence
            sentence = []
        else:
            sentence.append((cells[0], cells[-1]))
    if sentence:
        yield sentence


def _of_words(words: list[tuple[str, str]], tags: dict[str, str], source: str, split: str) -> Tagged:
    text, spans, ignored, before = "", [], [], "O"
    for word, mark in words:
        if text and not (word[0] in ".,;:!?)'%" or word == "n't" or text[-1] in "(#@$"):
            text += " "
        start, kind = len(text), mark.split("-", 1)[-1]
        text += word
        tag = tags.get(kind, "")
        if mark != "O" and not tag:
            ignored.append((start, len(text)))
        elif tag and spans and mark.startswith("I-") and before == kind and spans[-1][1] >= start - 1:
            spans[-1] = (spans[-1][0], len(text), tag)
        elif tag:
            spans.append((start, len(text), tag))
        elif _NUMBER.fullmatch(word) or word.startswith(("http", "@")):
            ignored.append((start, len(text)))
        before = kind
    return Tagged(text, spans, ignored, source, split)


def with_training_names(one: Tagged, values: Values) -> Tagged:
    """The text with names that are held out for the study replaced by others, the same one throughout the text."""
    others: dict[str, str] = {}
    text, spans, ignored, shift, after = "", [], [], 0, 0
    moved: list[tuple[int, int]] = []  # where the text was cut, and by how much what follows moves
    for start, end, tag in sorted(one.spans):
        if start < after:
            continue
        inside = one.text[start:end]
        if tag == "NAME":
            cut = title_length(inside)  # some sets count titles to the name: whether they are masked is a setting
            text, after, start, inside = text + one.text[after : start + cut], start + cut, start + cut, inside[cut:]
            inside = re.sub(r"[^\W\d_][^\s,^]*", lambda found: _other(found[0], others, values), inside)
        text += one.text[after:start] + inside
        spans.append((start + shift, start + shift + len(inside), tag))
        shift += len(inside) - (end - start)
        moved.append((end, shift))
        after = end
    text += one.text[after:]
    for start, end in one.ignored:
        by = next((by for place, by in reversed(moved) if place <= start), 0)
        ignored.append((start + by, end + by))
    return one._replace(text=text, spans=spans, ignored=ignored)


def _other(word: str, others: dict[str, str], values: Values) -> str:
    if len(word) < 3 or not held_out_name(word):
        return word
    key = word.casefold()
    if key not in others:
        others[key] = values.given_name() if values.random.random() < 0.5 else values.surname()
    name = others[key]
    return name.upper() if word.isupper() else name.lower() if word.islower() else name


def misspelt(one: Tagged, seed: int) -> Tagged:
    """The text with typing errors, three in a hundred characters."""
    golds = [*one.spans, *((start, end, _IGNORED) for start, end in one.ignored)]
    document = Document("m", one.text, tuple(Span(*gold) for gold in sorted(set(golds))))
    (noisy,) = add_noise([document], kind="typo", rate=0.03, seed=seed)
    spans = [(span.start, span.end, span.label) for span in noisy.spans if span.label != _IGNORED]
    ignored = [(span.start, span.end) for span in noisy.spans if span.label == _IGNORED]
    return one._replace(text=noisy.text, spans=spans, ignored=ignored)


def mtsamples(folder: Path) -> list[str]:
    """The reports that are not kept for the study, each once."""
    with gzip.open(folder / "mtsamples/mtsamples.csv.gz", "rt", encoding="utf-8", newline="") as file:
        texts = dict.fromkeys(row["transcription"].strip() for row in csv.DictReader(file))
    return [text for text in texts if text and not held_out(text)]


def dialogues(folder: Path) -> Iterator[Tagged]:
    """Visits and their notes, as real-style text with few identifiers: what the sweep is unsure of is ignored."""
    for path, columns in (
        ("mts_dialog/MTS-Dialog-TrainingSet.csv", ("section_text", "dialogue")),
        ("aci_bench/train.csv", ("note",)),
    ):
        with (folder / path).open(encoding="utf-8", newline="") as file:
            for row in csv.DictReader(file):
                for column in columns:
                    tagged = _of_document(row[column], sweep(row[column]), "dialogues")
                    yield tagged._replace(ignored=[*tagged.ignored, *_unknown_capitals(tagged)])


def _unknown_capitals(one: Tagged) -> Iterator[tuple[int, int]]:
    """Capitalised words in the middle of a sentence, which may be names that the sweep does not know."""
    for found in re.finditer(r"(?<=[a-z,] )[A-Z][a-z]+(?: [A-Z][a-z]+)*", one.text):
        if not any(start < found.end() and found.start() < end for start, end, _ in one.spans):
            yield found.span()


def made(packages: Path, data: Path, seed: int, without: set[str], scale: float) -> Iterator[Tagged]:
    """The whole mix, in its order."""
    values = Values(packages, seed)
    sources = mtsamples(data)
    sentences = [one.strip() for text in sources for one in re.split(r"(?<=[.:;])[, ]+(?=[A-Z\d])", text)]
    background = [one for one in sentences if 15 < len(one) < 200 and not sweep(one)]
    everything: list[Iterable[Tagged]] = [
        phrases(values, background, round(50_000 * scale)),
        notes(round(8_000 * scale), seed),
        reports(sources, seed, max(1, round(3 * scale))),
        dialogues(data),
        public(data, without),
    ]
    for part in everything:
        for number, one in enumerate(part):
            clean = with_training_names(one, values) if one.source != "phrases" else one
            yield clean
            if number % _MISSPELT == 0 and clean.split == "train":
                yield misspelt(clean, seed + number)


def main() -> None:
    """Write the mix and say what is in it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--packages", type=Path, required=True)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--seed", type=int, default=22)
    parser.add_argument("--without", action="append", default=[])
    parser.add_argument("--scale", type=float, default=1.0)
    parser.add_argument("-o", "--output", type=Path, required=True)
    asked = parser.parse_args()
    counts: Counter[str] = Counter()
    with gzip.open(asked.output, "wt", encoding="utf-8", compresslevel=6) as file:
        for one in made(asked.packages, asked.data, asked.seed, set(asked.without), asked.scale):
            file.write(json.dumps(one._asdict(), ensure_ascii=True, separators=(",", ":")) + "\n")
            counts[f"{one.source} texts"] += 1
            counts[f"{one.source} characters"] += len(one.text)
            counts.update(tag for *_, tag in one.spans)
    for name, count in sorted(counts.items()):
        print(f"{name:24}{count:>12,}")


if __name__ == "__main__":
    main()

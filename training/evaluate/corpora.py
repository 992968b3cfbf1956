"""The corpora that configurations are scored on, each from a fixed seed, with what must be masked in it.

Seeds 9501 to 9599 belong to this module and are used nowhere else. A corpus that shares its makers with the rules or
the training text is of the same family, and its figures flatter; the others are out of domain. Texts of others are
looked for in a folder, `--data`, and a corpus whose file is not there is left out with a notice.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cache
from itertools import islice
from pathlib import Path

import yaml

from training.held_out import PHRASING, held_out
from workup.corpora.formats.spans.any_format import read_documents
from workup.corpora.generate.notes import generate
from workup.corpora.inject import Injector
from workup.corpora.inject.residual_phi import sweep
from workup.corpora.inject.sources import read_source
from workup.documents.document import Document, Span
from workup.text.wordlists import words_of
from workup.values import HARD_NEGATIVES, Patient

GENERATED, INJECTED, QUERIES = 9501, 9511, 9521
CLINICAL = "hipaa_plus_providers"
OUTSIDE, FAMILY, WITHOUT = "out of domain", "same family", "without identifiers"
CASES: dict[str, Callable[[str], str]] = {"as written": str, "lower": str.lower, "upper": str.upper}
_HAND_WRITTEN = Path(__file__).parent / "adversarial.yaml"
_LONGEST = 50_000  # characters; one source text is a book


@dataclass(frozen=True)
class Corpus:
    """Documents with golds, the labels they are written in and the policy that says which of them must be masked."""

    name: str
    kind: str
    documents: tuple[Document, ...]
    policy: str = CLINICAL
    labels: str = "workup"

    @property
    def texts(self) -> list[str]:
        """What a detector is shown."""
        return [one.text for one in self.documents]

    def cased(self, case: str, most: int) -> Corpus:
        """The first documents in capitals or small letters; every gold stays where it is."""
        change = CASES[case]
        changed = (replace(one, text=recased(one.text, change)) for one in self.documents[:most])
        return replace(self, name=f"{self.name}, {case}", documents=tuple(changed))


def recased(text: str, change: Callable[[str], str]) -> str:
    """A text in another case, letter by letter; a letter that would become two stays as it is.

    >>> recased("Groß İnan", str.upper), recased("İnan", str.lower)
    ('GROß İNAN', 'İnan')
    """
    return "".join(new if len(new := change(letter)) == 1 else letter for letter in text)


@dataclass(frozen=True)
class Sizes:
    """How many documents of each corpus."""

    generated: int
    injected: int
    others: int
    judgments: int
    clean: int
    queries: int
    cased: int


SMALL = Sizes(generated=60, injected=60, others=250, judgments=12, clean=40, queries=150, cased=40)
FULL = Sizes(generated=1_000, injected=1_000, others=1_500, judgments=72, clean=400, queries=1_000, cased=150)


# ---- made here ------------------------------------------------------------------------------------------------------


def generated(data: Path, sizes: Sizes) -> Corpus:
    """Notes of templates that training left out."""
    notes = generate(4 * sizes.generated, seed=GENERATED).documents()
    kept = islice((note for note in notes if note.groups["phrasing"] == PHRASING), sizes.generated)
    return Corpus("generated notes", FAMILY, tuple(kept))


@cache
def _sources(data: Path) -> tuple[Document, ...]:
    """Transcribed reports that training left out, each once."""
    found = read_source(data / "mtsamples" / "mtsamples.csv.gz", deduplicate=True, skip_empty=True)
    return tuple(one for one in found if held_out(one.text) and len(one.text) < _LONGEST)


def injected(data: Path, sizes: Sizes) -> Corpus:
    """Real text with identifiers put in, one made-up patient for each; values and the phrases around them are ours."""
    made = (
        replace(injector().inject(source, index=index).document, patient=f"injected-{index}")
        for index, source in enumerate(_sources(data)[: sizes.injected])
    )
    return Corpus("injected MTSamples", FAMILY, tuple(made))


@cache
def injector() -> Injector:
    """What puts identifiers into real text."""
    return Injector(seed=INJECTED)


def register_of(document: Document) -> list[tuple[str, str]]:
    """What a register would know of the made-up patient of an injected text: leaves and values, each in one form."""
    index = int((document.patient or "").removeprefix("injected-"))
    one = Patient.of(INJECTED, index, ambiguity=injector().ambiguity)
    home = one.home
    street = f"{home.number} {home.direction} {home.street_name} {home.street_type[0]}"
    return [
        ("name_patient.given", one.person.given),
        ("name_patient.given", one.person.middle),
        ("name_patient.family", one.person.family),
        *(("name_relative", relative.person.surface("full_middle")) for relative in one.relatives),
        ("date_birth", one.birth.isoformat()),
        ("mrn", one.mrn),
        ("ssn", one.ssn),
        ("health_plan_id", one.plan_id),
        *(("phone", number) for number in (one.phone, one.mobile, one.work_phone)),
        ("fax", one.fax),
        ("email", one.email),
        ("username", one.username),
        ("employer", one.employer),
        ("street_address", f"{street}, {home.unit}" if home.unit else street),
        ("city", home.city),
        ("county", home.county),
        ("zip", home.zip),
    ]


_REGISTERED = words_of("patient birth mrn ssn plan phone phone:mobile fax email username employer home city county zip")


def is_registered(gold: Span) -> bool:
    """Whether a gold is a mention, in any form, of something that the register knows."""
    thing = (gold.entity or "").partition(":")[2]
    return gold.identifier not in ("no_mask", "unknown") and (thing in _REGISTERED or thing.startswith("relative:"))


# ---- texts of others ------------------------------------------------------------------------------------------------


def presidio_synth(data: Path, sizes: Sizes) -> Corpus:
    """Sentences that Presidio's makers generated to test detectors."""
    found = read_documents(data / "presidio_synth" / "synth_dataset_v2.json", format="presidio")
    return Corpus("presidio_synth", OUTSIDE, tuple(islice(found, sizes.others)), "as_annotated", "presidio_synth")


def tab(data: Path, sizes: Sizes) -> Corpus:
    """Judgments of the European Court of Human Rights, as annotated: titles belong to names."""
    found = read_documents(data / "tab" / "tab.jsonl", format="tab")
    return Corpus("tab", OUTSIDE, tuple(islice(found, sizes.judgments)), "as_annotated", "tab")


def tab_without_titles(data: Path, sizes: Sizes) -> Corpus:
    """The same judgments, the titles cut from the golds."""
    return replace(tab(data, sizes), name="tab, titles cut", policy="as_annotated+without_titles")


# ---- written by hand ------------------------------------------------------------------------------------------------


def adversarial(data: Path, sizes: Sizes) -> Corpus:
    """Notes, messages and letters in many styles, written by hand before any detector read them."""
    return Corpus("hand-written notes", OUTSIDE, tuple(_hand_written("with_identifiers")))


def adversarial_clean(data: Path, sizes: Sizes) -> Corpus:
    """Sentences written by hand in which nothing identifies anybody, though it looks so."""
    return Corpus("hand-written, no identifiers", WITHOUT, tuple(_hand_written("without_identifiers")))


def _hand_written(part: str) -> Iterator[Document]:
    table = yaml.safe_load(_HAND_WRITTEN.read_text(encoding="utf-8"))
    for style, texts in table[part].items():
        for number, text in enumerate(texts):
            yield marked(text, name=f"{style}-{number:03d}", style=style)


def marked(text: str, *, name: str, style: str) -> Document:
    """A document from a text with its golds in brackets: "seen by [Ada Berg|name_provider]"."""
    plain, spans, start = "", [], 0
    while (opening := text.find("[", start)) >= 0:
        closing = text.index("]", opening)
        value, label = text[opening + 1 : closing].rsplit("|", 1)
        plain += text[start:opening]
        spans.append(Span(len(plain), len(plain) + len(value), label))
        plain, start = plain + value, closing + 1
    return Document(name, plain + text[start:], tuple(spans), patient=name, groups={"style": style})


# ---- nothing to mask ------------------------------------------------------------------------------------------------


def clean_sources(data: Path, sizes: Sizes) -> Corpus:
    """Real reports in which the sweep for residues finds nothing; it is made of patterns and may overlook some."""
    found = (one for one in _sources(data) if not sweep(one.text))
    return Corpus("clean MTSamples", WITHOUT, tuple(islice(found, sizes.clean)))


def clean_queries(data: Path, sizes: Sizes) -> Corpus:
    """Clinical search queries without identifiers, of templates that training left out."""
    notes = generate(6 * sizes.queries, seed=QUERIES, types=("search_query",), phi_free=1.0).documents()
    free = (one for one in notes if one.groups["phi"] == "none" and one.groups["phrasing"] == PHRASING)
    return Corpus("clean queries", WITHOUT, tuple(islice(free, sizes.queries)))


def hard_negatives(data: Path, sizes: Sizes) -> Corpus:
    """The generator's own phrases that look like names, dates and numbers; the rules know their kinds."""
    made = (Document(f"negative-{at:04d}", f"{one.text}.") for at, one in enumerate(HARD_NEGATIVES))
    return Corpus("generator's hard negatives", WITHOUT, tuple(made))


MAKERS: dict[str, Callable[[Path, Sizes], Corpus]] = {
    "injected": injected,
    "presidio_synth": presidio_synth,
    "tab": tab,
    "tab_without_titles": tab_without_titles,
    "adversarial": adversarial,
    "generated": generated,
    "clean_sources": clean_sources,
    "clean_queries": clean_queries,
    "hard_negatives": hard_negatives,
    "adversarial_clean": adversarial_clean,
}
CASED = ("injected", "generated", "presidio_synth", "tab", "adversarial")

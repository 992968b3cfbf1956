"""`workup split` as a person calls it: two files, a record and a page, whole or not at all."""

from __future__ import annotations

import csv
import io
import json
import stat
import zipfile
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.support.places import DATA
from tests.support.shell import SECRET, Done, call, cohort, shuffled, write

DIABETES = DATA / "diabetes130" / "dataset_diabetes.zip"
FILES = {"development.csv", "validation.csv", "split.json", "split.txt", ".gitignore"}


def _rows(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def _values(row: dict[str, str]) -> tuple[Any, ...]:
    """Cells by what they say: 0.50 and 0.5 are one number."""
    return tuple(float(cell) if name in ("p", "x1", "x2") else cell for name, cell in row.items())


def _split(table: Path, out: Path, *words: str) -> Done:
    done = call("split", table, "-o", out, *words)
    assert done.code == 0, done.err
    return done


def _record(out: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((out / "split.json").read_text(encoding="utf-8"))
    return found


STRATEGIES = {
    "random": (),
    "outcome": (),
    "demographics": (),
    "multidimensional": (),
    "temporal": ("--embargo", "10"),
    "site": ("--hold-out", "S1"),
}
PARTS = ("--patient", "patient", "--outcome", "died", "--by", "sex", "--site", "site", "--time", "visit")


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_every_strategy_writes_its_files(tmp_path: Path, strategy: str) -> None:
    table = write(tmp_path / "cohort.csv", cohort(240, per_patient=2))
    out = tmp_path / "sides"
    done = _split(table, out, "--strategy", strategy, *PARTS, *STRATEGIES[strategy])
    assert {item.name for item in out.iterdir()} == FILES
    assert {stat.S_IMODE(item.stat().st_mode) for item in out.iterdir()} == {0o600}
    assert [item.name for item in tmp_path.iterdir() if item.name.startswith(".")] == []
    development, validation = (_rows(out / f"{side}.csv") for side in ("development", "validation"))
    record = _record(out)
    assert (len(development), len(validation)) == tuple(record["sides"][side]["rows"] for side in record["sides"])
    assert not {row["patient"] for row in development} & {row["patient"] for row in validation}
    left = sum(part["rows"] for part in record["left_out"])
    assert len(development) + len(validation) + left == 240
    whole, sides = (Counter(map(_values, rows)) for rows in (_rows(table), development + validation))
    assert sides <= whole, "every row as it was"
    assert (out / "split.txt").read_text(encoding="utf-8") == done.out
    assert done.out.startswith("Split\n=====\n")
    assert SECRET not in done.out + done.err + (out / "split.json").read_text(encoding="utf-8")


def test_the_same_bytes_on_a_second_run_and_for_shuffled_rows(tmp_path: Path) -> None:
    words = ("--strategy", "multidimensional", *PARTS, "--seed", "3")
    table = write(tmp_path / "a" / "cohort.csv", cohort(240, per_patient=2))
    mixed = write(tmp_path / "b" / "cohort.csv", shuffled(cohort(240, per_patient=2)))
    _split(table, tmp_path / "one", *words)
    first = {name: (tmp_path / "one" / name).read_bytes() for name in FILES}
    _split(table, tmp_path / "one", *words)
    assert first == {name: (tmp_path / "one" / name).read_bytes() for name in FILES}
    _split(mixed, tmp_path / "two", *words)
    for name in ("split.json", "split.txt"):
        assert (tmp_path / "two" / name).read_bytes() == first[name]
    for side in ("development.csv", "validation.csv"):
        assert sorted((tmp_path / "two" / side).read_bytes().split()) == sorted(first[side].split())


def test_json_on_standard_output_is_clean(tmp_path: Path) -> None:
    table = write(tmp_path / "cohort.csv", cohort(60))
    done = _split(table, tmp_path / "out", "--strategy", "outcome", "--outcome", "died", "--json", "-")
    assert json.loads(done.out) == _record(tmp_path / "out")
    assert "split.json" in done.err
    assert json.loads(done.out)["notes"][0].startswith("No patient column")


def test_row_numbers_in_place_of_rows(tmp_path: Path) -> None:
    table = write(tmp_path / "cohort.csv", cohort(60))
    words = ("--strategy", "outcome", "--outcome", "died", "--patient", "patient")
    _split(table, tmp_path / "rows", *words)
    _split(table, tmp_path / "numbers", *words, "--indices")
    whole = _rows(table)
    numbers = [int(row["row"]) for row in _rows(tmp_path / "numbers" / "validation.csv")]
    assert [whole[number - 1] for number in numbers] == _rows(tmp_path / "rows" / "validation.csv")


def test_a_quota_adds_weights_that_scoring_can_use(tmp_path: Path) -> None:
    table = write(tmp_path / "cohort.csv", cohort(300))
    out = tmp_path / "out"
    _split(table, out, "--strategy", "demographics", "--patient", "patient", "--by", "sex", "--quota", "sex=missing:15")
    rows = _rows(out / "validation.csv")
    assert _record(out)["weight_column"] == "weight"
    assert sum(row["sex"] == "" for row in rows) == 15
    weights = Counter[str]()
    for row in rows:
        weights[row["sex"]] += float(row["weight"])  # type: ignore[assignment]
    counts = Counter(row["sex"] for row in _rows(table))
    assert weights == pytest.approx(counts)
    words = ("--outcome", "died", "--risk", "p", "--patient", "patient", "--weight", "weight", "--replicates", "200")
    assert call("score", "risk", out / "validation.csv", *words).code == 0


def test_a_column_named_like_a_patient_that_repeats_is_warned_of(tmp_path: Path) -> None:
    table = write(tmp_path / "cohort.csv", cohort(120, per_patient=3))
    done = _split(table, tmp_path / "out", "--strategy", "random")
    assert "on both sides" in done.out
    assert _record(tmp_path / "out")["warnings"][0]["kind"] == "patient_column"


def test_days_in_another_form(tmp_path: Path) -> None:
    columns = cohort(60)
    columns["visit"] = ["/".join(reversed(day.split("-"))) for day in columns["visit"]]
    table = write(tmp_path / "cohort.csv", columns)
    words = ("--strategy", "temporal", "--time", "visit", "--patient", "patient")
    assert "day and month" in call("split", table, "-o", tmp_path / "out", *words).err
    _split(table, tmp_path / "out", *words, "--time-format", "%d/%m/%Y", "--cut", "2024-08-01")
    side = _record(tmp_path / "out")["sides"]
    assert side["development"]["last_date"] < "2024-08-01" <= side["validation"]["first_date"]


BAD = {
    "an unknown strategy": (("--strategy", "sites"), "did you mean 'site'"),
    "no outcome": (("--strategy", "outcome"), "--outcome"),
    "a column that is not there": (("--strategy", "demographics", "--by", "sexx"), "did you mean 'sex'"),
    "an outcome that is none": (("--strategy", "outcome", "--outcome", "sex"), "0 (no event) or 1 (event)"),
    "a share outside": (("--strategy", "random", "--share", "20"), "between 0 and 1"),
    "a site that is not there": (("--strategy", "site", "--site", "site", "--hold-out", "S9"), "Known: S0, S1, S2"),
    "ids as groups": (("--strategy", "demographics", "--by", "patient"), "a column of groups"),
    "a quota out of form": (("--strategy", "random", "--quota", "sex:F=20"), "sex=F:200"),
    "a quota twice": (("--strategy", "random", "--quota", "sex=F:20", "--quota", "sex=F:30"), "one quota"),
    "a setting that would be ignored": (
        ("--strategy", "random", "--embargo", "30"),
        "belongs to the strategy temporal",
    ),
    "a cut that is no date": (("--strategy", "temporal", "--time", "visit", "--cut", "July"), "2023-07-01"),
}


@pytest.mark.parametrize("why", BAD)
def test_bad_requests_are_refused_in_one_message(tmp_path: Path, why: str) -> None:
    words, says = BAD[why]
    table = write(tmp_path / "in" / "cohort.csv", cohort(60))
    done = call("split", table, "-o", tmp_path / "out", *words)
    assert done.code == 2
    assert says in done.err
    assert done.err.count("\n") == 1 and SECRET not in done.err
    assert done.out == ""
    assert not (tmp_path / "out").exists()


def test_a_slip_in_the_path_of_the_record_leaves_no_sides(tmp_path: Path) -> None:
    table = write(tmp_path / "cohort.csv", cohort())
    done = call("split", table, "--strategy", "random", "-o", tmp_path / "sides", "--json", tmp_path / "no" / "r.json")
    assert done.code == 2
    assert "no such folder" in done.err
    assert not (tmp_path / "sides").exists()


def test_a_folder_with_other_files_is_left_alone(tmp_path: Path) -> None:
    table = write(tmp_path / "in" / "cohort.csv", cohort(60))
    out = tmp_path / "out"
    _split(table, out, "--strategy", "random")
    before = (out / "validation.csv").read_bytes()
    (out / "mine.txt").write_text("keep")
    done = call("split", table, "-o", out, "--strategy", "random", "--seed", "9")
    assert done.code == 2 and "new, empty, or one that 'workup split' wrote" in done.err
    assert (out / "validation.csv").read_bytes() == before
    (out / "mine.txt").unlink()
    _split(table, out, "--strategy", "random", "--seed", "9")
    assert (out / "validation.csv").read_bytes() != before
    assert call("split", table, "-o", table, "--strategy", "random").code == 2


def test_a_failed_write_leaves_the_earlier_sides_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from workup.files import disk

    table = write(tmp_path / "in" / "cohort.csv", cohort(60))
    out = tmp_path / "out"
    _split(table, out, "--strategy", "random")
    before = {name: (out / name).read_bytes() for name in FILES}
    real = disk.replace_whole

    def full(path: Path, texts: Any) -> int:
        if path.name == "split.json":
            raise OSError(28, "No space left on device")
        return real(path, texts)

    monkeypatch.setattr(disk, "replace_whole", full)
    done = call("split", table, "-o", out, "--strategy", "random", "--seed", "9")
    assert done.code == 2 and "No space left" in done.err
    assert {name: (out / name).read_bytes() for name in FILES} == before
    assert {item.name for item in tmp_path.iterdir()} == {"in", "out"}


@pytest.mark.real_data
def test_diabetes_in_130_hospitals(tmp_path: Path) -> None:
    """101,766 encounters of 71,518 patients: readmission within 30 days, race, gender and age held together."""
    with zipfile.ZipFile(DIABETES) as archive:
        [name] = [name for name in archive.namelist() if name.endswith("diabetic_data.csv")]
        rows = list(csv.DictReader(io.TextIOWrapper(archive.open(name), encoding="utf-8", newline="")))
    kept = ("patient_nbr", "race", "gender", "age")
    columns = {name: [row[name].replace("?", "") if name == "race" else row[name] for row in rows] for name in kept}
    columns["early"] = [str(int(row["readmitted"] == "<30")) for row in rows]
    table = write(tmp_path / "diabetes.csv", columns)
    out = tmp_path / "out"
    words = ("--strategy", "multidimensional", "--patient", "patient_nbr", "--outcome", "early")
    _split(table, out, *words, "--by", "race", "--by", "gender", "--by", "age", "--seed", "1")
    record = _record(out)
    assert (record["whole"]["rows"], record["whole"]["patients"], record["whole"]["events"]) == (
        101_766,
        71_518,
        11_357,
    )

    development, validation = (_rows(out / f"{side}.csv") for side in ("development", "validation"))
    held, rest = ({row["patient_nbr"] for row in side} for side in (validation, development))
    assert not held & rest
    assert (len(held), len(rest)) == (14_303, 57_215), "20 % of 71,518 is 14,303.6"
    assert len(validation) + len(development) == 101_766

    # The level of a patient, counted again from the rows: any event; else the level of most rows, first by name.
    for variable in ("early", "race", "gender", "age"):
        seen: dict[str, Counter[str]] = {}
        for who, level in zip(columns["patient_nbr"], columns[variable], strict=True):
            if level:
                seen.setdefault(who, Counter())[level] += 1
        of_patient = {
            who: max(levels, key=lambda level: level)
            if variable == "early"
            else min(levels, key=lambda level: (-levels[level], level))
            for who, levels in seen.items()
        }
        every = Counter(of_patient.get(who, "missing") for who in held | rest)
        drawn = Counter(of_patient.get(who, "missing") for who in held)
        for level, count in every.items():
            assert abs(drawn[level] - 0.2 * count) <= 1, (variable, level)
        shown = {row["level"]: row["patients"]["all"] for row in record["levels"] if row["variable"] == variable}
        assert shown == dict(every)
    assert {row["level"] for row in record["levels"] if row["variable"] == "race"} >= {"missing", "Asian"}
    assert record["varying"] == {"early": 6481, "race": 249, "gender": 3, "age": 1574}
    assert len(record["collapsed"]) > 10, "three patients of unknown gender and the rarest cells were joined"
    assert np.max(np.abs([row["deviation"] for row in record["levels"]])) <= 1

"""Inputs compared one at a time: what the drift lens says of the whole table, and the same rows of each patient."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

from workup.cli.app import app
from workup.errors import WorkupError
from workup.lenses.drift.inputs import InputLimits, InputReference
from workup.lenses.drift.wide_inputs import Sides, compare_inputs, earliest_rows, without_few_lacking
from workup.lenses.input_rows import one_row_positions
from workup.scores import Levels, Scores

LIMITS = InputLimits(together="none")


def table(rows: int, seed: int, shift: float = 0.0) -> dict[str, Any]:
    rng = np.random.default_rng(seed)
    lab = rng.normal(shift, 1, rows)
    lab[rng.random(rows) < 0.05 + shift / 5] = np.nan
    return {
        "age": np.round(rng.normal(60, 12, rows)),
        "lab": lab,
        "unit": Levels.of(rng.choice(["A", "B", "C"], rows, p=[0.5, 0.3 - shift / 4, 0.2 + shift / 4])),
        "few": np.where(rng.random(rows) < 0.001, 1.0, np.nan),
        "steady": rng.exponential(1, rows),
    }


def whole(baseline: dict[str, Any], window: dict[str, Any], chance: float) -> list[dict[str, Any]]:
    sides = [Scores({}, np.arange(len(one["age"])), inputs=one) for one in (baseline, window)]
    kept = InputReference.of(sides[0], limits=LIMITS, seed=3)
    return [row for row, _ in kept.compared("window", sides[1], chance=chance, latest=True)]


@pytest.mark.parametrize("workers", [1, 3])
@pytest.mark.parametrize("shift", [0.0, 0.4])
def test_every_row_is_the_lens_own(shift: float, workers: int) -> None:
    baseline, window = table(4000, 1), table(900, 2, shift)
    found = compare_inputs(
        list(baseline),
        lambda name: Sides(name, baseline[name], window[name]),
        limits=InputLimits(),
        seed=3,
        chance=0.05,
        workers=workers,
    )
    assert found == whole(baseline, window, 0.05)
    assert any(row["flagged"] for row in found) == (shift > 0)


@given(
    patient=st.lists(st.integers(0, 4), min_size=1, max_size=14),
    data=st.data(),
)
@settings(max_examples=150, deadline=None)
def test_the_same_row_of_each_patient_as_with_all_inputs_at_once(patient: list[int], data: st.DataObject) -> None:
    n = len(patient)
    cells = st.sampled_from([0.0, 1.0, 2.0, float("nan")])
    first, last = (np.array(data.draw(st.lists(cells, min_size=n, max_size=n))) for _ in range(2))
    ward = Levels.of(data.draw(st.lists(st.sampled_from(["a", "b", None]), min_size=n, max_size=n)))
    days = st.sampled_from(["2024-01-01", "2024-01-02", "NaT"])
    time = np.array(data.draw(st.lists(days, min_size=n, max_size=n)), dtype="datetime64[D]")
    inputs: dict[str, Any] = {"first": first, "ward": ward, "last": last}
    codes = np.unique(np.array(patient), return_inverse=True)[1].astype(np.int64)
    for moments in (None, time):
        scores = Scores({}, codes, time=moments, inputs=inputs)
        chosen = earliest_rows(codes, moments, (inputs[name] for name in reversed(inputs)))
        assert chosen.tolist() == one_row_positions(scores).tolist()


def test_few_who_lack_an_input_are_not_told() -> None:
    rows: list[dict[str, Any]] = [
        {"input": "a (missing)", "baseline": 0.0, "now": 3 / 100},
        {"input": "b (missing)", "baseline": 0.2, "now": 0.3},
        {"input": "c (missing)", "baseline": 998 / 1000, "now": 0.5},
        {"input": "a", "baseline": None, "now": None},
    ]
    kept, gone = without_few_lacking(rows, (1000, 100), 5)
    assert [row["input"] for row in kept] == ["b (missing)", "a"]
    assert gone == 2


# The command ----------------------------------------------------------------------------------------------------------


def written(path: Path, rows: int, seed: int, shift: float, *, repeat: int = 1) -> Path:
    rng = np.random.default_rng(seed)
    columns: dict[str, Any] = {
        "patient": [f"p{i // repeat}" for i in range(rows)],
        "seen": np.datetime64("2024-01-01") + rng.permuted(np.arange(rows)),
        "note": [f"free text {i}" for i in range(rows)],
        "sex": pa.array([("F", "M", None)[k] for k in rng.integers(0, 3, rows).tolist()]),
        "count": rng.poisson(4 + 5 * shift, rows),
        "empty": pa.array([None] * rows, pa.string()),
        **{f"x{k}": rng.normal(shift * (k == 0), 1, rows) for k in range(4)},
    }
    pyarrow.parquet.write_table(pa.table(columns), path, row_group_size=300)
    return path


def asked(*given: str) -> Any:
    return CliRunner().invoke(app, ["drift", *given])


def test_two_tables_in_one_command(tmp_path: Path) -> None:
    before, after = (
        written(tmp_path / "a.parquet", 4000, 1, 0.0),
        written(tmp_path / "b.parquet", 1200, 2, 0.5, repeat=2),
    )
    out = tmp_path / "drift.json"
    done = asked(
        str(before), str(after), "--patient", "patient", "--time", "seen", "--json", str(out), "--workers", "2"
    )
    assert done.exit_code == 0, done.output
    record = json.loads(out.read_text())
    assert record["window"] == {"rows": 1200, "patients": 600}
    assert {row["input"] for row in record["inputs"] if row["flagged"]} == {"x0", "count"}
    assert "2 flagged" in done.output
    reasons = {row["input"]: row["reason"] for row in record["inputs"] if row["p"] is None}
    assert "2,000 different texts" in reasons["note"]
    assert set(reasons) == {"note", "empty"}
    again = tmp_path / "again.json"
    asked(str(before), str(after), "--patient", "patient", "--time", "seen", "--json", str(again), "--workers", "1")
    assert again.read_bytes() == out.read_bytes()


def test_a_text_table_gives_what_parquet_gives(tmp_path: Path) -> None:
    paths = []
    for name, seed, shift in (("a", 1, 0.0), ("b", 2, 0.5)):
        path = written(tmp_path / f"{name}.parquet", 1000, seed, shift)
        pyarrow.parquet.read_table(path).to_pandas().to_csv(tmp_path / f"{name}.csv", index=False)
        paths.append(path)
    options = [
        "--leave-out",
        "patient",
        "--leave-out",
        "seen",
        "--leave-out",
        "note",
        "--leave-out",
        "empty",
        "--json",
        "-",
    ]
    records = [
        json.loads(asked(*(str(path.with_suffix(ending)) for path in paths), *options).output)
        for ending in (".parquet", ".csv")
    ]
    assert records[0] == records[1]


def test_what_is_wrong_is_said(tmp_path: Path) -> None:
    before = written(tmp_path / "a.parquet", 100, 1, 0.0)
    narrow = tmp_path / "b.parquet"
    pyarrow.parquet.write_table(pa.table({"x0": [1.0]}), narrow)
    (tmp_path / "torn.parquet").write_bytes(before.read_bytes()[:500])
    for given_, said in (
        ((str(before), str(narrow)), "no column 'patient' and"),
        ((str(before), str(before), "--patient", "id"), "there is no column 'id'"),
        ((str(before), str(before), "--patient", "sex"), "every row needs the id of its patient"),
        ((str(before), str(before), "--patient", "patient", "--time", "note"), "times were expected"),
        ((str(before), str(tmp_path / "torn.parquet")), "a Parquet file was expected"),
        ((str(before), str(before), "--missing", "-1"), "missing"),
    ):
        done = asked(*given_)
        assert isinstance(done.exception, WorkupError) and said in str(done.exception)

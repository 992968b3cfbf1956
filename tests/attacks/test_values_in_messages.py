"""What stands in a table is not listed in a message, however few or short its values are: one of them may be a single
patient's. Nor are few rows without a risk counted by group or outcome."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import workup
from tests.support.shell import call
from workup.errors import InputError

COLUMNS = {
    "a diagnosis of one patient": lambda i: "HIV ZZSECRET" if i == 3 else ("flu", "copd")[i % 2],
    "a few ids, twenty rows each": lambda i: f"ZZSECRET-{i // 20}",
    "notes": lambda i: f"ZZSECRET was seen {i}",
}


def _table(n: int = 120) -> dict[str, Any]:
    rng = np.random.default_rng(2)
    risk = np.round(rng.random(n), 3)
    return {"died": (rng.random(n) < risk).astype(int), "p": risk}


@pytest.mark.parametrize("kind", COLUMNS)
@pytest.mark.parametrize("near", ["Q", "HIV ZZSECRE", "zzsecret-1"])
def test_a_text_that_no_row_holds_brings_no_other_to_light(kind: str, near: str, tmp_path: Path) -> None:
    table = {**_table(), "dx": [COLUMNS[kind](i) for i in range(120)]}
    for columns in (
        {"outcome": f'dx == "{near}"', "risk": "p"},
        {"outcome": "died", "risk": "p", "groups": [{"column": f'dx in ("{near}", "R")', "name": "g"}]},
    ):
        content = {"name": "s", "task": "risk", "columns": columns}
        with pytest.raises(InputError) as refused:
            workup.validate(workup.Study.of(content), table=table)
        said = str(refused.value).replace(near, "")
        assert "ZZ" not in said and "flu" not in said and "copd" not in said, said
        assert "To fix" in said or "letter by letter" in said
    rows = ["died,p,dx", *(f"{d},{p},{x}" for d, p, x in zip(*table.values(), strict=True))]
    (tmp_path / "t.csv").write_text("\n".join(rows) + "\n")
    done = call("score", "risk", tmp_path / "t.csv", "--outcome", f'dx == "{near}"', "--risk", "p")
    assert done.code == 2 and "flu" not in done.err.replace(near, "") and "ZZ" not in done.err.replace(near, "")


def _notes(missing: list[int], k: int = 5, **columns: Any) -> list[str]:
    table = _table(600)
    table["sex"] = [("F", "M")[i % 2] for i in range(600)]
    table["ward"] = ["abc"[i % 3] for i in range(600)]
    table["p"][missing], table["died"][missing] = np.nan, 1
    content = {
        "name": "s",
        "task": "risk",
        "columns": {"outcome": "died", "risk": "p", "groups": ["sex", "ward"], **columns},
        "bootstrap": {"replicates": 200},
        "smallest_cell": k,
    }
    return list(workup.validate(workup.Study.of(content), table=table).results["internal"].notes)


def test_few_rows_without_a_risk_are_told_by_no_group_and_no_outcome() -> None:
    notes = [note for note in _notes([1, 7]) if ("risk" in note and "No r" in note) or "Rows without" in note]
    assert len(notes) == 1 and "fewer than 5" in notes[0]
    assert not any(word in notes[0] for word in ("sex", "ward", "events", "598"))


def test_nor_are_few_of_many_in_one_group() -> None:
    women = list(range(0, 120, 6))  # of ward a, all of them
    notes = [note for note in _notes([*women, 1, 7]) if note.startswith("Rows without")]
    told = {note.split("by ")[1].split(":")[0]: note for note in notes}
    assert "fewer than 5" in told["sex"] and "fewer than 5" in told["ward"]
    assert "M: 2" not in " ".join(notes) and "b: 2" not in " ".join(notes)
    assert "22 of" in told["outcome"]


def test_a_study_that_tells_all_tells_these() -> None:
    notes = " ".join(_notes([1, 7], k=1))
    assert "No risk for 2 of 600 rows" in notes and "M: 2 of 300" in notes

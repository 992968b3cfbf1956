"""Bad tables through the command line: exit 2 and one message that teaches, or nulls with reasons; never a cell."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.support.shell import SECRET, Done, call, cohort, lines, risk_words, spawn, write

Columns = dict[str, list[str]]


def _with(name: str, change: Callable[[int, str], str]) -> bytes:
    """The good table with one column changed, row by row."""
    columns = cohort(60)
    columns[name] = [change(row, cell) for row, cell in enumerate(columns[name])]
    return lines(columns).encode()


def _cell(name: str, row: int, text: str) -> bytes:
    return _with(name, lambda at, cell: text if at == row else cell)


@dataclass(frozen=True)
class Bad:
    """A table that must be refused, how it is asked about, and what the message must hold."""

    why: str
    content: bytes
    says: tuple[str, ...]
    words: tuple[str, ...] = ("--patient", "patient")
    outcome: str = "died"
    risk: str = "p"
    file: str = "cohort.csv"


GOOD = lines(cohort(60))
SURVIVAL = _with("died", lambda row, _: f"{3.5 + 1.7 * row:.1f}")
TABLES = [
    Bad(
        "labels -1 and 1", _with("died", lambda _, c: "1" if c == "1" else "-1"), ("'died'", "-1, 1", "recode -1 to 0")
    ),
    Bad("labels 1 and 2", _with("died", lambda _, c: str(int(c) + 1)), ("'died'", "the values 1, 2", "recode")),
    Bad(
        "labels yes and no",
        _with("died", lambda _, c: "yes" if c == "1" else "no"),
        ("'died'", "'no', 'yes'", "recode"),
    ),
    Bad("three classes", _with("died", lambda row, _: str(row % 3)), ("'died'", "0, 1, 2", "one against the rest")),
    Bad("survival times", SURVIVAL, ("'died'", "60 different numbers", "fixed horizon")),
    Bad("an outcome of free text", _with("died", lambda row, _: f"{SECRET} {row}"), ("'died'", "60 different values")),
    Bad("a word among the outcomes", _cell("died", 4, SECRET), ("'died'", "1 of 60 rows", "row 5 below the header")),
    Bad("no outcome at all", _with("died", lambda *_: ""), ("'died'", "no outcome in any row")),
    Bad("no risk at all", _with("p", lambda *_: ""), ("'p'", "no risk in any row")),
    Bad("a risk above 1", _cell("p", 9, "1.5"), ("'p'", "row 10 below the header", "0 to 1")),
    Bad("a negative risk", _cell("p", 0, "-0.25"), ("'p'", "row 1 below the header", "0 to 1")),
    Bad("an infinite risk", _cell("p", 0, "inf"), ("'p'", "row 1 below the header", "finite")),
    Bad("risks in percent", _with("p", lambda _, c: f"{100 * float(c):.4f}"), ("'p'", "divide by 100")),
    Bad("percent signs", _with("p", lambda _, c: f"{100 * float(c):.1f}%"), ("'p'", "percent signs", "divide by 100")),
    Bad("risks that are text", _with("p", lambda *_: SECRET), ("'p'", "text in 60 of 60 rows")),
    Bad("a word among the risks", _cell("p", 3, SECRET), ("'p'", "row 4 below the header")),
    Bad("a row without its patient", _cell("patient", 11, ""), ("'patient'", "row 12 below the header")),
    Bad("an empty file", b"", ("an empty file",)),
    Bad("blank lines alone", b"\n  \n\n", ("an empty file",)),
    Bad("a header alone", GOOD.splitlines()[0].encode() + b"\n", ("a header alone",)),
    Bad("a column twice", GOOD.replace("note,died", "died,died", 1).encode(), ("line 1", "'died'", "columns 2 and 3")),
    Bad("a column that is not there", GOOD.encode(), ("'dyed'", "did you mean 'died'?"), outcome="dyed"),
    Bad("a risk column that is not there", GOOD.encode(), ("columns.risk", "'q'", "Known: died"), risk="q"),
    Bad(
        "a patient column that is not there",
        GOOD.encode(),
        ("did you mean 'patient'?",),
        words=("--patient", "patients"),
    ),
    Bad("a group column that is not there", GOOD.encode(), ("did you mean 'sex'?",), words=("--by", "sexx")),
    Bad("one column for two parts", GOOD.encode(), ("outcome and risk must be two columns",), risk="died"),
    Bad("Latin-1 bytes", _cell("note", 20, "Zürich").decode().encode("latin-1"), ("line 22", "UTF-8")),
    Bad("NUL bytes", GOOD.encode().replace(b"ward 3", b"ward\x003", 1), ("NUL", "line 5")),
    Bad("UTF-16 without a mark", GOOD.encode("utf-16-le"), ("NUL", "UTF-8")),
    Bad("a short row", GOOD.replace(",S0,", ",", 1).encode(), ("line 2", "9 cells were expected", "got 8")),
    Bad("a long row", GOOD.replace(",S1,", ",S1,x,", 1).encode(), ("line 3", "9 cells were expected", "got 10")),
    Bad("an open quote", GOOD.replace(f"{SECRET} seen", f'"{SECRET} seen', 1).encode(), ("line 2", "quote")),
    Bad("an unknown ending", GOOD.encode(), ("'.dat'", ".csv"), file="cohort.dat"),
    Bad("a text file called Parquet", GOOD.encode(), ("cohort.parquet",), file="cohort.parquet"),
    Bad("a text file called Excel", GOOD.encode(), ("cohort.xlsx",), file="cohort.xlsx"),
    Bad(
        "days or months first",
        _with("visit", lambda row, _: f"0{1 + row % 9}/0{1 + row % 7}/2024"),
        ("'visit'", "format"),
        words=("--time", "visit"),
    ),
    Bad("times that are text", _cell("visit", 2, SECRET), ("'visit'", "row 3 below"), words=("--time", "visit")),
    Bad("a negative weight", _cell("x1", 0, "-3"), ("'x1'", "negative"), words=("--weight", "x1")),
    Bad("a threshold outside", GOOD.encode(), ("thresholds", "between 0 and 1", "1.5"), words=("--threshold", "1.5")),
    Bad("too few resamples", GOOD.encode(), ("replicates", "50"), words=("--replicates", "10")),
    Bad("an unknown metric in a gate", GOOD.encode(), ("did you mean 'auroc'?",), words=("--gate", "aurok.low >= 0.7")),
    Bad(
        "a gate that cannot be read",
        GOOD.encode(),
        ("auroc at least 0.7", "Expected"),
        words=("--gate", "auroc at least 0.7"),
    ),
]


def _assert_refused(done: Done, *, out: Path) -> None:
    assert done.code == 2, done
    assert done.out == ""
    assert "Traceback" not in done.err
    assert SECRET not in done.err
    assert done.err.count("\n") <= 3, "one message, not a page"
    assert not out.exists()
    assert [file.name for file in out.parent.iterdir()] == []


@pytest.mark.parametrize("bad", TABLES, ids=lambda bad: bad.why)
def test_a_bad_table_is_refused_with_one_message_that_teaches(bad: Bad, tmp_path: Path) -> None:
    table = tmp_path / bad.file
    table.write_bytes(bad.content)
    out = tmp_path / "out" / "out.json"
    out.parent.mkdir()
    done = call(*risk_words(table, *bad.words, "--json", str(out), outcome=bad.outcome, risk=bad.risk))
    _assert_refused(done, out=out)
    assert done.err.startswith("workup: ")
    for words in bad.says:
        assert words in done.err, done.err
    if bad.words[0] not in ("--threshold", "--replicates", "--gate"):
        assert bad.file in done.err


@pytest.mark.parametrize("name", ["absent.csv", "nowhere/absent.csv"])
def test_a_file_that_is_not_there(name: str, tmp_path: Path) -> None:
    done = call(*risk_words(tmp_path / name))
    assert (done.code, done.out) == (2, "")
    assert "absent.csv" in done.err
    assert "no such file" in done.err or "no directory" in done.err


@pytest.mark.parametrize("name", ["folder", "folder.csv"])
def test_a_folder_in_place_of_a_file(name: str, tmp_path: Path) -> None:
    (tmp_path / name).mkdir()
    done = call(*risk_words(tmp_path / name))
    assert (done.code, done.out) == (2, "")
    assert name in done.err
    assert "a directory" in done.err


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("--outcom", "died"), "--outcome"),
        (("--seed", "one"), "--seed"),
        (("--threshold", "half"), "--threshold"),
        (("--seed", "-1"), "seed"),
    ],
)
def test_an_option_that_cannot_be_read(words: tuple[str, ...], says: str, tmp_path: Path) -> None:
    table = write(tmp_path / "cohort.csv", cohort(60))
    done = call(*risk_words(table, *words))
    assert (done.code, done.out) == (2, "")
    assert says in done.err
    assert "Traceback" not in done.err


def test_an_option_that_is_needed_is_asked_for(tmp_path: Path) -> None:
    done = call("score", "risk", write(tmp_path / "cohort.csv", cohort(60)), "--risk", "p")
    assert (done.code, done.out) == (2, "")
    assert "--outcome" in done.err


def test_an_output_that_cannot_be_written_is_a_message(tmp_path: Path) -> None:
    table = write(tmp_path / "cohort.csv", cohort(60))
    done = call(*risk_words(table, "--json", str(tmp_path / "nowhere" / "out.json")))
    assert (done.code, done.out) == (2, "")
    assert "out.json" in done.err
    assert "Traceback" not in done.err


def test_in_a_process_of_its_own_the_streams_and_the_code_are_the_same(tmp_path: Path) -> None:
    table = tmp_path / "cohort.csv"
    table.write_bytes(TABLES[0].content)
    words = risk_words(table, "--json", "-")
    done = spawn(*words)
    assert done == call(*words)
    assert done.code == 2


def test_debug_shows_where_an_error_comes_from(tmp_path: Path) -> None:
    table = tmp_path / "cohort.csv"
    table.write_bytes(TABLES[0].content)
    done = spawn(*risk_words(table, "--debug"))
    assert done.code == 2
    [place] = re.findall(r"Traceback: (\S+)", done.err)
    assert "Traceback (most recent call last)" in Path(place).read_text(encoding="utf-8")
    assert "recode -1 to 0" in done.err


# Cells that a careless message would show.


def test_a_file_without_a_header_shows_no_cell(tmp_path: Path) -> None:
    table = tmp_path / "cohort.csv"
    rows = [f"{SECRET}{row},{SECRET} Street,F,{row % 2},0.{20 + row}" for row in range(40)]
    table.write_text("\n".join(rows) + "\n")
    done = call(*risk_words(table))
    assert (done.code, done.out) == (2, "")
    assert SECRET not in done.err


def test_ids_named_as_the_outcome_by_mistake_are_not_listed(tmp_path: Path) -> None:
    table = write(tmp_path / "cohort.csv", cohort(40, per_patient=4))
    done = call(*risk_words(table, "--patient", "patient", outcome="patient"))
    assert (done.code, done.out) == (2, "")
    assert "'patient'" in done.err
    assert SECRET not in done.err


def test_a_hostile_column_name_cannot_steer_the_terminal(tmp_path: Path) -> None:
    columns = cohort(40)
    columns["\x1b[31mred\u202e"] = columns.pop("note")
    done = call(*risk_words(write(tmp_path / "cohort.csv", columns), outcome="dyed"))
    assert (done.code, done.out) == (2, "")
    assert "did you mean 'died'?" in done.err
    assert all(c.isprintable() or c == "\n" for c in done.err)


def test_no_output_of_a_good_run_holds_an_id_or_a_note(tmp_path: Path) -> None:
    table = write(tmp_path / "cohort.csv", cohort(120, per_patient=2))
    out = tmp_path / "out.json"
    done = call(*risk_words(table, "--patient", "patient", "--by", "sex", "--threshold", "0.3", "--json", str(out)))
    assert done.code == 0, done.err
    assert SECRET not in done.out + done.err + out.read_text()


# What is odd but usable: exit 0, and what cannot be said is null with a reason.


def _record(table: Path, *words: str) -> dict[str, Any]:
    done = call(*risk_words(table, *words, "--json", "-"))
    assert done.code == 0, done.err
    record: dict[str, Any] = json.loads(done.out)
    return record


def _estimates(record: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {row["metric"]: row for row in record["results"]["internal"]["estimates"]}


@pytest.mark.parametrize("label", ["0", "1"])
def test_one_class_gives_nulls_with_reasons(label: str, tmp_path: Path) -> None:
    table = tmp_path / "cohort.csv"
    table.write_bytes(_with("died", lambda *_: label))
    found = _estimates(_record(table, "--threshold", "0.3"))
    for metric in ("auroc", "calibration_slope", "ici", "sensitivity" if label == "0" else "specificity"):
        assert found[metric]["value"] is None, metric
        assert found[metric]["status"] == "undefined"
        assert found[metric]["reason"]
    assert found["brier"]["status"] == "ok"
    assert found["brier"]["low"] < found["brier"]["value"] < found["brier"]["high"]


def test_a_gate_on_a_null_is_not_assessed_and_exits_3(tmp_path: Path) -> None:
    table = tmp_path / "cohort.csv"
    table.write_bytes(_with("died", lambda *_: "0"))
    words = risk_words(table, "--gate", "auroc.low >= 0.5", "--json", "-")
    done = call(*words)
    assert done.code == 3
    assert json.loads(done.out)["verdicts"][0]["outcome"] == "not_assessed"
    assert call(*words, "--allow-unsure").code == 0


def test_one_patient_has_values_and_no_interval(tmp_path: Path) -> None:
    columns = cohort(60)
    columns["patient"] = [f"{SECRET}1"] * 60
    found = _estimates(_record(write(tmp_path / "cohort.csv", columns), "--patient", "patient", "--threshold", "0.3"))
    assert {row["n_patients"] for row in found.values()} == {1}
    assert {row["status"] for row in found.values()} == {"insufficient"}
    for metric, row in found.items():
        assert row["value"] is not None, metric
        assert (row["low"], row["high"]) == (None, None), metric
        assert row["reason"], metric


def test_one_row_is_a_report_and_not_a_crash(tmp_path: Path) -> None:
    columns = {name: column[:1] for name, column in cohort(2).items()}
    record = _record(write(tmp_path / "cohort.csv", columns), "--patient", "patient")
    assert record["corpus"]["n_cases"] == 1
    assert all(row["reason"] for row in _estimates(record).values() if row["value"] is None)


def test_without_a_patient_column_the_summary_says_so_first(tmp_path: Path) -> None:
    table = write(tmp_path / "cohort.csv", cohort(60, per_patient=2))
    done = call(*risk_words(table))
    assert done.code == 0
    summary = done.out.split("In plain words\n==============\n")[1]
    assert summary.startswith("No patient column: each row is taken as a patient of its own.")
    assert "column 'patient' is named like a patient id and repeats (30 ids in 60" in " ".join(summary.split())


def test_missing_outcomes_are_counted_and_left_out(tmp_path: Path) -> None:
    table = tmp_path / "cohort.csv"
    table.write_bytes(_with("died", lambda row, cell: "" if row < 7 else cell))
    record = _record(table)
    assert "7 of 60 rows have no outcome yet" in " ".join(record["results"]["internal"]["notes"])
    assert record["corpus"]["n_cases"] == 60
    assert _estimates(record)["brier"]["n_rows"] == 53


def test_risks_of_exactly_0_and_1_are_clipped_in_logarithms_and_counted(tmp_path: Path) -> None:
    table = tmp_path / "cohort.csv"
    table.write_bytes(_with("p", lambda row, cell: {0: "0", 1: "1", 2: "1.0"}.get(row, cell)))
    notes = " ".join(_record(table)["results"]["internal"]["notes"])
    assert "3 of 60 risks are 0 or 1" in notes


def _report(folder: Path, content: bytes) -> bytes:
    folder.mkdir()
    (folder / "cohort.csv").write_bytes(content)
    words = ("--patient", "patient", "--by", "sex", "--time", "visit", "--json", str(folder / "out.json"))
    done = call(*risk_words(folder / "cohort.csv", *words))
    assert done.code == 0, done.err
    return (folder / "out.json").read_bytes()


def _semicolons(columns: Columns) -> bytes:
    numbers = {name: [cell.replace(".", ",") for cell in columns[name]] for name in ("p", "x1", "x2")}
    return lines({**columns, **numbers}, mark=";").encode()


SPELLINGS: Sequence[tuple[str, Callable[[Columns], bytes]]] = [
    ("a byte-order mark", lambda columns: b"\xef\xbb\xbf" + lines(columns).encode()),
    ("semicolons and decimal commas", _semicolons),
    ("tabs", lambda columns: lines(columns, mark="\t").encode()),
    ("UTF-16 with a mark", lambda columns: lines(columns).encode("utf-16")),
    ("Windows line ends", lambda columns: lines(columns).replace("\n", "\r\n").encode()),
    ("no last line end", lambda columns: lines(columns).rstrip().encode()),
    ("Excel's sep line", lambda columns: b"sep=;\r\n" + _semicolons(columns)),
    ("quotes", lambda columns: lines({k: [f'"{c}"' for c in v] for k, v in columns.items()}).encode()),
]


@pytest.mark.parametrize(("why", "spelling"), SPELLINGS, ids=[why for why, _ in SPELLINGS])
def test_another_spelling_of_the_same_table_gives_the_same_bytes(
    why: str, spelling: Callable[[Columns], bytes], tmp_path: Path
) -> None:
    columns = cohort(80)
    assert _report(tmp_path / "other", spelling(columns)) == _report(tmp_path / "plain", lines(columns).encode())


def test_a_terminal_that_knows_few_characters_gets_a_report_all_the_same(tmp_path: Path) -> None:
    columns = cohort(60)
    columns["sex"] = ["Łódź" if row % 2 else "×" for row in range(60)]
    table = write(tmp_path / "cohort.csv", columns)
    for encoding in ("latin-1", "ascii"):
        done = spawn(*risk_words(table, "--by", "sex"), PYTHONIOENCODING=encoding)
        assert "Traceback" not in done.err
        assert done.code == 0
        assert "AUROC" in done.out


def test_json_on_standard_output_is_utf8_whatever_the_terminal(tmp_path: Path) -> None:
    columns = cohort(60)
    columns["sex"] = ["Łódź" if row % 2 else "×" for row in range(60)]
    table = write(tmp_path / "cohort.csv", columns)
    done = spawn(*risk_words(table, "--by", "sex", "--json", "-"), PYTHONIOENCODING="latin-1")
    assert done.code == 0, done.err[-300:]
    levels = {row["slice"]["sex"] for row in json.loads(done.out)["results"]["subgroups"]["estimates"]}
    assert levels == {"Łódź", "×"}


def test_every_metric_of_a_good_table_is_finite_or_has_a_reason(tmp_path: Path) -> None:
    record = _record(write(tmp_path / "cohort.csv", cohort(60)), "--by", "sex", "--threshold", "0.3")
    rows = [row for result in record["results"].values() for row in result["estimates"]]
    assert len(rows) > 60
    for row in rows:
        assert row["value"] is None or np.isfinite(row["value"]), row
        assert row["status"] == "ok" or row["reason"], row

"""Study files: every fault is named with its place, what was expected and the near names; the record is complete."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import yaml
from pydantic import BaseModel

from tests.support.places import ROOT
from workup.errors import StudyError
from workup.study import BootstrapPart, CorpusPart, ReportPart, Study, SystemPart, of_task
from workup.tasks.risk.settings import ColumnsPart

SMALLEST = {"name": "small", "task": "risk", "columns": {"outcome": "died", "risk": "p"}}


def load(folder: Path, text: str | bytes) -> Study:
    file = folder / "study.yaml"
    file.write_bytes(text if isinstance(text, bytes) else text.encode())
    return Study.load(file)


def fault(folder: Path, text: str | bytes) -> str:
    """The message of a study that cannot be read."""
    with pytest.raises(StudyError) as caught:
        load(folder, text)
    message = str(caught.value)
    assert "study.yaml" in message, "the message must name the file"
    return message


HEAD = "name: x\ntask: risk\ncolumns: {outcome: died, risk: p}\n"

FAULTS = [
    ("an unknown field", HEAD + "treshold: [0.2]\n", ("line 4", "'treshold'", "did you mean 'thresholds'?")),
    ("an unknown field far from all", HEAD + "zzz: 1\n", ("line 4", "'zzz' is not a known field", "Known: also")),
    (
        "an unknown field inside",
        "name: x\ntask: risk\ncolumns:\n  outcome: died\n  pateint: id\n",
        ("line 5", "'columns.pateint'", "did you mean 'patient'?"),
    ),
    (
        "an unknown field of a system",
        HEAD + "systems:\n  - name: a\n    use: command\n    wiht: {run: [a]}\n",
        ("line 7", "'systems.0.wiht'", "did you mean 'with'?"),
    ),
    ("a missing name", "task: risk\ncolumns: {outcome: died}\n", ("'name' is missing", "Name of the study")),
    ("a missing task", "name: x\ncolumns: {outcome: died}\n", ("'task' is missing", "Kind of system")),
    ("a missing outcome", "name: x\ntask: risk\ncolumns: {risk: p}\n", ("line 3", "'columns.outcome' is missing")),
    ("missing columns", "name: x\ntask: risk\n", ("a risk study needs 'columns'",)),
    ("a missing use", HEAD + "systems:\n  - name: a\n", ("line 5", "'systems.0.use' is missing")),
    (
        "a list for a text",
        "name: [x]\ntask: risk\ncolumns: {outcome: d}\n",
        ("line 1", "'name'", "expected text; got a list of 1"),
    ),
    ("a text for a number", HEAD + "seed: one\n", ("line 4", "'seed'", "a whole number", "'one'")),
    ("a fraction for a count", HEAD + "seed: 1.5\n", ("line 4", "'seed'", "a whole number", "got 1.5")),
    ("a negative seed", HEAD + "seed: -1\n", ("line 4", "'seed'", "at least 0", "got -1")),
    (
        "a text for a list",
        HEAD + "gates: auroc.low >= 0.7\n",
        ("line 4", "'gates'", "a list of texts", 'To fix: write ["auroc.low >= 0.7"]'),
    ),
    ("a list for a mapping", HEAD + "corpus: [a.csv]\n", ("line 4", "'corpus'")),
    ("a mapping in place of the lenses' settings", HEAD + "lenses: {internal: 3}\n", ("line 4", "'lenses.internal'")),
    ("a threshold of 0", HEAD + "thresholds: [0]\n", ("line 4", "between 0 and 1; got 0.0")),
    ("a threshold of 1", HEAD + "thresholds: [0.2, 1]\n", ("line 4", "between 0 and 1; got 1.0")),
    ("a threshold in percent", HEAD + "thresholds: [20]\n", ("line 4", "between 0 and 1; got 20.0")),
    ("a threshold that is no number", HEAD + "thresholds: [.nan]\n", ("line 4", "between 0 and 1; got nan")),
    ("a threshold twice", HEAD + "thresholds: [0.2, 0.2]\n", ("line 4", "named twice")),
    (
        "too few resamples",
        HEAD + "bootstrap: {replicates: 20}\n",
        ("line 4", "'bootstrap.replicates'", "at least 50", "got 20"),
    ),
    ("a cost ratio of 0", HEAD + "cost_ratio: 0\n", ("line 4", "'cost_ratio'", "a number above 0; got 0")),
    ("two systems of one name", HEAD + "systems: [{name: a, use: command}, {name: a, use: sklearn}]\n", ("one name",)),
    ("two systems with no name", HEAD + "systems: [{use: command}, {use: command}]\n", ("one name",)),
    ("a field twice", HEAD + "seed: 1\nseed: 2\n", ("line 5", "'seed' is written twice")),
    ("a field twice inside", "name: x\ncolumns:\n  risk: p\n  risk: q\n", ("line 4", "'risk' is written twice")),
    ("an alias", HEAD + "corpus: &a {path: x}\nreport: *a\n", ("aliases", "write the value out")),
    ("not YAML", "name: [x\ntask: risk\n", ("line", "not valid YAML")),
    ("a tab for indentation", "name: x\ncolumns:\n\toutcome: d\n", ("line 3", "not valid YAML")),
    ("two documents", HEAD + "---\n" + HEAD, ("not valid YAML",)),
    ("a Python object", "name: !!python/object/apply:os.getcwd []\n", ("line 1", "not valid YAML")),
    ("a date that does not exist", HEAD + "report: {as_of: 2024-13-45}\n", ("not valid YAML",)),
    ("a number that is none", HEAD + "seed: !!int abc\n", ("not valid YAML",)),
    ("a key that is no text", HEAD + "1: 2\n", ("line 4", "'1'")),
    ("a key that is a list", HEAD + "? [a, b]\n: 2\n", ("line 4", "not valid YAML")),
    ("nesting without end", "name: " + "[" * 1100 + "]" * 1100, ()),
    ("an empty file", "", ("expected a mapping of fields",)),
    ("a comment alone", "# nothing yet\n", ("expected a mapping of fields",)),
    ("a list", "- name: x\n", ("expected a mapping of fields; got a list of 1",)),
    ("a text", "Mrs Lee, ward 7\n", ("expected a mapping of fields; got a text",)),
    ("bytes that are not UTF-8", "name: Zürich\n".encode("latin-1"), ("UTF-8",)),
    ("bytes that are no text", b"name: a\x00b\n", ("not valid YAML",)),
    ("a file that is too big", b"# " + b"x" * 1_000_000 + b"\n", ("at most 1,000,000 bytes", "1,000,003")),
]


@pytest.mark.parametrize(("why", "text", "says"), FAULTS, ids=[why for why, *_ in FAULTS])
def test_a_fault_is_taught(why: str, text: str | bytes, says: tuple[str, ...], tmp_path: Path) -> None:
    message = fault(tmp_path, text)
    for words in says:
        assert words in message, message
    assert len(message) < 800


def test_every_fault_is_named_at_once(tmp_path: Path) -> None:
    message = fault(tmp_path, "name: x\ntask: risk\ncolumns: {outcom: d}\nseed: one\nthresholds: [2]\n")
    assert "4 things to mend" in message
    for words in ("'columns.outcome' is missing", "'columns.outcom'", "line 4, 'seed'", "line 5, 'thresholds'"):
        assert words in message


def test_a_file_that_is_not_there_or_is_a_folder(tmp_path: Path) -> None:
    with pytest.raises(StudyError, match=r"no such study file.*workup new"):
        Study.load(tmp_path / "study.yaml")
    with pytest.raises(StudyError, match="a folder"):
        Study.load(tmp_path)


def test_a_study_is_read_whole(tmp_path: Path) -> None:
    more = "seed: 7\nthresholds: [0.2, 0.5]\nlenses:\n  internal:\n  subgroups: {by: [sex]}\n"
    study = load(tmp_path, "\ufeff" + HEAD + more)
    assert (study.name, study.seed, study.thresholds) == ("x", 7, (0.2, 0.5))
    assert study.lenses == {"internal": {}, "subgroups": {"by": ["sex"]}}
    assert study.columns == ColumnsPart(outcome="died", risk="p")
    assert study.base == tmp_path


def test_a_date_may_be_written_as_yaml_writes_dates(tmp_path: Path) -> None:
    for date in ("2024-05-01", "'2024-05-01'"):
        assert load(tmp_path, HEAD + f"report: {{as_of: {date}}}\n").report.as_of == "2024-05-01"


def test_every_field_but_name_task_and_columns_has_a_default() -> None:
    study = Study.of(SMALLEST)
    assert (study.seed, study.thresholds, study.gates, study.systems) == (0, (), (), ())
    assert study.lenses == {"internal": {}}
    assert study.bootstrap.replicates == 2000
    assert study.engine == "serial"


def test_no_threshold_is_assumed_and_a_cost_ratio_implies_one() -> None:
    assert Study.of(SMALLEST).all_thresholds() == ()
    assert Study.of({**SMALLEST, "cost_ratio": 4}).all_thresholds() == (0.2,)
    assert Study.of({**SMALLEST, "cost_ratio": 4, "thresholds": [0.5, 0.2]}).all_thresholds() == (0.5, 0.2)


def test_the_record_leaves_out_what_must_not_change_the_bytes() -> None:
    here = Study.of({**SMALLEST, "engine": "serial"}).record()
    there = Study.of({**SMALLEST, "engine": "processes", "workers": 8}, base="elsewhere").record()
    assert here == there
    unrecorded = {"engine", "engine_settings", "workers"}
    assert not unrecorded & set(here)
    assert set(here) == set(of_task("risk").model_fields) - unrecorded


def test_the_record_is_complete_and_reads_back() -> None:
    systems = [{"name": "m", "use": "command", "with": {"run": ["a"]}, "tags": {"kind": "baseline"}}]
    study = Study.of({**SMALLEST, "systems": systems, "gates": ["auroc.low >= 0.7"], "thresholds": [0.2]})
    record = study.record()
    assert record["systems"][0]["with"] == {"run": ["a"]}
    assert record["bootstrap"] == {"replicates": 2000, "strata": None}
    assert Study.of(record) == study


def test_a_study_cannot_be_changed_by_accident() -> None:
    with pytest.raises(Exception, match="frozen"):
        Study.of(SMALLEST).seed = 3  # type: ignore[misc]


def test_a_mapping_is_asked_for_in_code_too() -> None:
    with pytest.raises(StudyError, match="expected a mapping"):
        Study.of(["name"])  # type: ignore[arg-type]


# The document and the template say what the model holds

PARTS: dict[str, type[BaseModel]] = {
    "corpus": CorpusPart,
    "columns": ColumnsPart,
    "systems": SystemPart,
    "bootstrap": BootstrapPart,
    "report": ReportPart,
}


def _table_of_fields() -> dict[str, str]:
    """Each field that docs/study.md's first table lists, with the words of its row."""
    text = (ROOT / "docs" / "study.md").read_text(encoding="utf-8")
    rows = [line.split("|")[1:-1] for line in text.splitlines() if line.startswith("| `")]
    before_next_heading = text.index("\n## ")
    return {
        field: " ".join(row)
        for row in rows
        if text.index("|".join(row)) < before_next_heading
        for field in re.findall(r"`(\w+)`", row[0])
    }


def test_the_document_lists_every_field_and_no_other() -> None:
    fields = {name for task in ("risk", "episodes", "spans", "conversation") for name in of_task(task).model_fields}
    assert set(_table_of_fields()) == fields > set(Study.model_fields)


@pytest.mark.parametrize("part", PARTS)
def test_the_document_lists_every_field_of_a_part(part: str) -> None:
    words = set(re.findall(r"\w+", _table_of_fields()[part]))
    fields = {field.alias or name for name, field in PARTS[part].model_fields.items()}
    assert fields <= words


def test_every_field_says_what_it_is_for() -> None:
    for model in (Study, *PARTS.values()):
        for name, field in model.model_fields.items():
            assert field.description, f"{model.__name__}.{name}"


def test_the_template_is_a_study_with_every_field_known() -> None:
    template = ROOT / "src" / "workup" / "cli" / "templates" / "risk.yaml"
    study = Study.load(template)
    assert study.thresholds == (0.2,)
    # What is commented out must be right too, since that is what people uncomment.
    text = re.sub(r"^# (?=(time_format|cost_ratio|systems):|  )", "", template.read_text(encoding="utf-8"), flags=re.M)
    content: dict[str, Any] = yaml.safe_load(text)
    assert {"time_format", "cost_ratio", "systems"} <= set(content)
    assert Study.of(content).systems[0].use == "sklearn"

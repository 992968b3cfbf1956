"""Inputs made wrong by chance that once ended in a traceback, never ended or filled the memory: one message now."""

from __future__ import annotations

import gzip
import io
import json
import os
import subprocess
import sys
import time
import zipfile
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.support.shell import SECRET, Done, call, cohort, risk_words, spawn, write
from workup.errors import InputError

LONG = "x" * 5000


def one_message(done: Done) -> str:
    assert done.code == 2, done
    assert done.err.startswith("workup: ") and "Traceback" not in done.err, done.err[-2000:]
    assert SECRET not in done.err + done.out
    return done.err


def study(folder: Path, content: Any) -> Path:
    file = folder / "study.yaml"
    file.write_text(content if isinstance(content, str) else yaml.safe_dump(content))
    return file


CONVERSATION = {"name": "s", "task": "conversation", "corpus": {"generate": {"kind": "written"}}}
SPANS: dict[str, Any] = {"name": "s", "task": "spans", "corpus": {"generate": {"kind": "notes", "count": 2}}}
RISK = {"name": "s", "task": "risk", "corpus": {"generate": {"count": 50}}}
RISK |= {"columns": {"outcome": "outcome", "risk": "risk"}}


# ---- names of files --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "content",
    [
        *({**CONVERSATION, "conversation": {name: LONG}} for name in ("target_plans", "ratings", "labelled")),
        *({**SPANS, "systems": [{"use": "native"}], **more} for more in ({"policies": [LONG]}, {"labels": LONG})),
        {**SPANS, "systems": [{"use": "native"}], "labels": f"{LONG}+tab"},
        *({**RISK, name: LONG} for name in ("sites", "split", "baseline")),
        {**RISK, "corpus": {"path": LONG}},
        {**SPANS, "corpus": {"path": LONG}, "systems": [{"use": "native"}]},
        {**CONVERSATION, "corpus": {"path": LONG}, "systems": [{"use": "scripted"}]},
    ],
    ids=lambda content: f"{content['task']}, {list(content)[-1]}",
)
def test_a_name_that_no_file_can_have_is_one_message(content: dict[str, Any], tmp_path: Path) -> None:
    one_message(call("run", study(tmp_path, content), "--dry-run"))


def test_a_mapping_beside_the_study_is_found_from_any_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "labels.yaml").write_text("source: us\nlabels: {SHOE: id_other}\n")
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    file = study(tmp_path, {**SPANS, "labels": "labels.yaml", "systems": [{"use": "native"}]})
    done = call("run", file, "--dry-run")
    assert done.code == 0, done.err


# ---- files in the place of others ------------------------------------------------------------------------------------


def test_a_table_in_the_place_of_a_study_is_not_repeated(tmp_path: Path) -> None:
    write(tmp_path / "study.yaml", cohort(20))
    assert "got a text" in one_message(call("run", tmp_path / "study.yaml", "--dry-run"))


@pytest.mark.parametrize("field", ["labels", "policies"])
def test_a_note_in_the_place_of_a_mapping_or_policy_is_not_repeated(field: str, tmp_path: Path) -> None:
    (tmp_path / "note.yaml").write_text(f"{SECRET} was seen on ward 7\n")
    content = {**SPANS, "systems": [{"use": "native"}], field: "note.yaml" if field == "labels" else ["note.yaml"]}
    assert "got a text" in one_message(call("run", study(tmp_path, content), "--dry-run"))


# ---- objects in the place of others ----------------------------------------------------------------------------------

ANYTHING = ("os:getcwd", "os:sep", "json:dumps", "collections:Counter", "workup.study:Study")
NATIVE = {"systems": [{"use": "native"}]}
SCRIPTED = {"systems": [{"use": "scripted", "with": {"generate": {"kind": "written"}}}]}
PLACES: dict[str, Any] = {
    "task": lambda use: {**RISK, "task": use},
    "lens": lambda use: {**RISK, "lenses": {use: {}}},
    "engine": lambda use: {**RISK, "engine": use},
    "system": lambda use: {**RISK, "columns": {"outcome": "outcome"}, "systems": [{"use": use}]},
    "generator of a table": lambda use: {**RISK, "corpus": {"generate": {"kind": use}}},
    "generator of documents": lambda use: {**SPANS, **NATIVE, "corpus": {"generate": {"kind": use}}},
    "generator of cases": lambda use: {**CONVERSATION, **SCRIPTED, "corpus": {"generate": {"kind": use}}},
    "format": lambda use: {**SPANS, **NATIVE, "corpus": {"path": "study.yaml", "format": use}},
}


@pytest.mark.parametrize("use", ANYTHING)
@pytest.mark.parametrize("place", PLACES)
def test_an_object_that_does_not_fit_its_place_is_one_message(place: str, use: str, tmp_path: Path) -> None:
    one_message(call("run", study(tmp_path, PLACES[place](use)), "-o", tmp_path / "out"))


@pytest.mark.parametrize("use", ANYTHING)
@pytest.mark.parametrize("place", ["judge", "encoder"])
def test_a_judge_or_encoder_that_is_none_is_one_message(place: str, use: str, tmp_path: Path) -> None:
    turns = [{"turn": 1, "message": "I take metformin."}]
    case = {"id": "c", "patient_summary": "", "critical_entities": ["metformin"], "turns": turns}
    (tmp_path / "cases.json").write_text(json.dumps([case]))
    (tmp_path / "said.jsonl").write_text(json.dumps({"case": "c", "turn": 1, "arm": "live", "reply": "Metformin."}))
    content = {**CONVERSATION, "corpus": {"path": "cases.json"}, "conversation": {place: use}}
    content |= {"systems": [{"use": "recorded", "with": {"path": "said.jsonl"}}], "bootstrap": {"replicates": 200}}
    one_message(call("run", study(tmp_path, content), "-o", tmp_path / "out"))


@pytest.mark.parametrize(
    "content",
    [
        {**RISK, "corpus": {"generate": {"kind": "notes", "count": 2}}},
        {**SPANS, **NATIVE, "corpus": {"generate": {"kind": "cohort", "count": 20}}},
        {**CONVERSATION, **SCRIPTED, "corpus": {"generate": {"kind": "cohort", "count": 20}}},
        {**RISK, "columns": {"outcome": "outcome"}, **NATIVE},
        {**CONVERSATION, **NATIVE},
    ],
    ids=["notes for risk", "rows for spans", "rows for conversation", "detector for risk", "detector for conversation"],
)
def test_a_part_of_another_task_is_refused_before_anything_is_asked(content: dict[str, Any], tmp_path: Path) -> None:
    assert "does not fit here" in one_message(call("run", study(tmp_path, content), "--dry-run"))


def test_a_share_of_many_digits_is_one_message(tmp_path: Path) -> None:
    said = one_message(call("run", study(tmp_path, {**SPANS, **NATIVE, "modes": [f"iou:{'9' * 5000}"]}), "--dry-run"))
    assert "a share above 0 and at most 1" in said


# ---- YAML ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("value", ["!!int ''", "!!int x", "!!bool maybe", "!!float ''", "!!timestamp x", "!!set 1"])
def test_a_tag_that_does_not_fit_is_one_message(value: str, tmp_path: Path) -> None:
    one_message(call("run", study(tmp_path, f"name: s\ntask: risk\nseed: {value}\n"), "--dry-run"))
    (tmp_path / "plan.yaml").write_text(f"prevalence: {value}\n")
    made = ("corpus", "generate", "--kind", "cohort", "--count", "9", "--seed", "1", "-o", tmp_path / "c.csv")
    one_message(call(*made, "--plan", tmp_path / "plan.yaml"))
    (tmp_path / "rules.yaml").write_text(f"names: {value}\n")
    asked = {**SPANS, "systems": [{"use": "native", "with": {"config": "rules.yaml"}}]}
    one_message(call("run", study(tmp_path, asked), "-o", tmp_path / "out"))


def test_a_device_in_the_place_of_a_study_is_one_message() -> None:
    assert "a study file is a plain file" in one_message(call("run", "/dev/zero", "--dry-run"))


def test_aliases_in_rules_of_ones_own_are_refused(tmp_path: Path) -> None:
    laughs = "".join(f"x{n}: &x{n} [{', '.join([f'*x{n - 1}' if n else 'x'] * 10)}]\n" for n in range(9))
    (tmp_path / "rules.yaml").write_text(laughs)
    asked = {**SPANS, "systems": [{"use": "native", "with": {"config": "rules.yaml"}}]}
    assert "aliases (*name) are not allowed" in one_message(call("run", study(tmp_path, asked), "-o", tmp_path / "out"))


# ---- tables ----------------------------------------------------------------------------------------------------------


def _parquet(folder: Path, **odd: Any) -> Path:
    arrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    columns: dict[str, Any] = {name: cells for name, cells in cohort(60).items() if name not in ("died", "p")}
    columns |= {name: [float(cell) for cell in cohort(60)[name]] for name in ("died", "p")}
    parquet.write_table(arrow.table(columns | odd), folder / "t.parquet")
    return folder / "t.parquet"


def test_times_to_the_nanosecond_are_read_to_the_microsecond(tmp_path: Path) -> None:
    arrow = pytest.importorskip("pyarrow")
    times = arrow.array([1_700_000_000_000_000_001 + row for row in range(60)], arrow.timestamp("ns"))
    done = call(*risk_words(_parquet(tmp_path, visit=times), "--time", "visit"))
    assert done.code == 0, done.err


def test_a_time_without_end_is_one_message_that_names_the_column(tmp_path: Path) -> None:
    arrow = pytest.importorskip("pyarrow")
    days = arrow.array([2**31 - 1, *range(59)], arrow.date32())
    assert "column 'visit'" in one_message(call(*risk_words(_parquet(tmp_path, visit=days), "--time", "visit")))


def test_a_row_in_the_place_of_a_header_is_not_repeated(tmp_path: Path) -> None:
    """Also where cells ran together, so that none of them is a number by itself."""
    (tmp_path / "t.csv").write_text(f"{SECRET} seen on ward 0 0.9103 F 2024-01-01\n{SECRET} 1 0.2 M 2024-01-02\n")
    assert "looks like data" in one_message(call(*risk_words(tmp_path / "t.csv")))


# ---- archives --------------------------------------------------------------------------------------------------------


def test_an_archive_whose_table_points_nowhere_is_one_message(tmp_path: Path) -> None:
    kept = io.BytesIO()
    with zipfile.ZipFile(kept, "w") as archive:
        archive.writestr("n.txt", f"{SECRET} lives here")
        archive.writestr("n.ann", f"T1\tNAME 0 8\t{SECRET}\n")
    content = kept.getvalue()
    # The table says how long it is and where it begins: said a little wrong, each member seems to lie before the file.
    at = content.rindex(b"PK\x05\x06") + 16
    begins = int.from_bytes(content[at : at + 4], "little") + 5
    (tmp_path / "notes.zip").write_bytes(content[:at] + begins.to_bytes(4, "little") + content[at + 4 :])
    for words in (("describe", tmp_path / "notes.zip"), ("convert", tmp_path / "notes.zip", tmp_path / "o.jsonl")):
        said = one_message(call("corpus", *words, "--from", "brat"))
        assert "a zip archive that can be read was expected" in said
    assert not (tmp_path / "o.jsonl").exists()


def test_an_archive_with_a_member_without_a_name_is_one_message(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "notes.zip", "w") as archive:
        archive.writestr("n.txt", f"{SECRET} lives here")
        nameless = zipfile.ZipInfo("x")
        nameless.filename = ""
        archive.writestr(nameless, "")
    said = one_message(call("corpus", "describe", tmp_path / "notes.zip", "--from", "brat"))
    assert "names of files inside the archive were expected" in said


@pytest.mark.parametrize("depth", [200, 500, 700, 900, 980, 2000, 100_000])
def test_a_pack_that_is_nested_deeply_is_one_message(depth: int, tmp_path: Path) -> None:
    (tmp_path / "p.json").write_text('{"pack_version": 1, "sha256": "x", "site": ' + "[" * depth + "]" * depth + "}")
    assert "p.json" in one_message(call("pool", tmp_path / "p.json"))


# ---- time and memory -------------------------------------------------------------------------------------------------


def test_a_dialogue_with_a_long_run_of_blanks_is_read_in_a_moment(tmp_path: Path) -> None:
    said = f"Patient: I take metformin. I{' ' * 200_000}sleep well. Doctor: Anything else? Patient: No. {SECRET}"
    (tmp_path / "d.csv").write_text(f'ID,dialogue,section_text\n1,"{said}","Takes metformin."\n')
    started = time.monotonic()
    done = spawn("score", "conversation", tmp_path / "d.csv", "--format", "mts_dialog", "--replicates", "200")
    assert done.code == 0, done.err
    assert time.monotonic() - started < 60


_LIMITED = """
import resource, sys
resource.setrlimit(resource.RLIMIT_AS, (6_000_000_000, 6_000_000_000))
from workup.cli import main
main()
"""


@pytest.mark.parametrize("way", ["zlib", "gzip"])
def test_bytes_behind_the_end_of_a_joblib_file_do_not_fill_the_memory(way: str, tmp_path: Path) -> None:
    joblib = pytest.importorskip("joblib", reason="the sklearn extra is not installed")
    linear = pytest.importorskip("sklearn.linear_model", reason="the sklearn extra is not installed")
    columns = cohort(60)
    write(tmp_path / "cohort.csv", columns)
    rows = [[float(one), float(other)] for one, other in zip(columns["x1"], columns["x2"], strict=True)]
    model = linear.LogisticRegression().fit(rows, [int(cell) for cell in columns["died"]])
    joblib.dump(model, tmp_path / "model.joblib", compress=(way, 3))
    whole = (tmp_path / "model.joblib").read_bytes()
    settings = {"path": "model.joblib", "trust": True, "features": ["x1", "x2"]}
    content = {"name": "s", "task": "risk", "corpus": {"path": "cohort.csv"}, "columns": {"outcome": "died"}}
    content |= {"systems": [{"use": "sklearn", "with": settings}], "bootstrap": {"replicates": 200}}
    file = study(tmp_path, content)
    for number, (wrong, code) in enumerate(((whole, 0), (whole + whole[:600], 2), (whole + b"\0", 2))):
        (tmp_path / "model.joblib").write_bytes(wrong)
        words = [sys.executable, "-c", _LIMITED, "run", str(file), "-o", str(tmp_path / f"out{number}")]
        done = subprocess.run(words, capture_output=True, timeout=100, check=False, env={**os.environ})
        assert done.returncode == code, done.stderr.decode()[-2000:]
        if code:
            said = done.stderr.decode()
            assert said.startswith("workup: ") and "stand behind its end" in said


# ---- the terminal ----------------------------------------------------------------------------------------------------


def test_names_of_a_study_do_not_steer_the_terminal_of_a_dry_run(tmp_path: Path) -> None:
    odd = "a\x1b[31m\u202eb"
    content = {**SPANS, "name": odd, "corpus": {**SPANS["corpus"], "name": odd}}
    content |= {"systems": [{"name": odd, "use": "native"}]}
    done = call("run", study(tmp_path, content), "--dry-run", "-o", tmp_path / "out")
    assert done.code == 0, done.err
    assert "a\\x1b[31m\\u202eb" in done.out and not {"\x1b", "\u202e"} & set(done.out + done.err)


def test_a_torn_archive_of_another_encoding_is_one_message(tmp_path: Path) -> None:
    rows = b"died,p\n" + b"1,0.\xe9\n" * 50_000
    (tmp_path / "t.csv.gz").write_bytes(gzip.compress(rows)[:-20])
    one_message(call("score", "risk", tmp_path / "t.csv.gz", "--outcome", "died", "--risk", "p"))


# ---- a key that stands twice -----------------------------------------------------------------------------------------

TWICE = {
    "id": '{"id": "a", "id": "b", "text": "Rose came.", "spans": []}',
    "id, in another spelling": '{"id": "a", "\\u0069d": "b", "text": "Rose came.", "spans": []}',
    "text": '{"id": "a", "text": "Rose came.", "text": "Ann left.", "spans": []}',
    "spans": '{"id": "a", "text": "Rose came.", "spans": [{"start": 0, "end": 4, "label": "NAME"}], "spans": []}',
    "site": '{"id": "a", "text": "Rose came.", "spans": [], "site": "A", "site": "B"}',
    "a group": '{"id": "a", "text": "Rose came.", "spans": [], "groups": {"sex": "F", "sex": "M"}}',
    "end": '{"id": "a", "text": "Rose came.", "spans": [{"start": 0, "end": 9, "end": 4, "label": "NAME"}]}',
    "with a null": '{"id": "a", "id": "b", "text": "Rose \\"came\\".", "site": null, "spans": []}',
}
PREDICTED = {
    "id": '{"id": "a", "id": "b", "spans": []}',
    "score": '{"id": "a", "spans": [{"start": 0, "end": 4, "label": "NAME", "score": 0.1, "score": 0.9}]}',
}


@pytest.mark.parametrize("quick", [True, False])
@pytest.mark.parametrize("line", TWICE.values(), ids=TWICE)
def test_a_key_of_a_document_that_stands_twice_is_refused(
    line: str, quick: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from workup.corpora.formats.spans import fast_jsonl, native_jsonl
    from workup.corpora.formats.spans.batches import read_batches

    if not quick:
        monkeypatch.setitem(sys.modules, "msgspec", None)
    fast_jsonl._typed.cache_clear()
    (tmp_path / "c.jsonl").write_text(f"{line}\n", encoding="utf-8")
    for read in (native_jsonl.read, read_batches):
        with pytest.raises(InputError, match=r"c\.jsonl, line 1: valid JSON.*a key that stands twice in one object"):
            list(read(tmp_path / "c.jsonl"))
    fast_jsonl._typed.cache_clear()


@pytest.mark.parametrize("line", PREDICTED.values(), ids=PREDICTED)
def test_a_key_of_a_prediction_that_stands_twice_is_refused(line: str, tmp_path: Path) -> None:
    from workup.corpora.formats.spans.predictions import read_predictions

    (tmp_path / "p.jsonl").write_text(f"{line}\n", encoding="utf-8")
    predictions = read_predictions(tmp_path / "p.jsonl")
    for read in (lambda: list(predictions), lambda: list(predictions.batches())):
        with pytest.raises(InputError, match="a key that stands twice in one object"):
            read()


def test_lines_as_they_are_written_are_told_by_their_quotes_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Parsing each of them a second time would take longer than reading it did."""
    pytest.importorskip("msgspec")
    from workup.corpora.formats.spans import fast_jsonl, native_jsonl
    from workup.corpora.formats.spans.predictions import read_predictions, write_predictions
    from workup.documents.document import Document, Span

    monkeypatch.setattr(fast_jsonl, "_once", lambda line: pytest.fail("in doubt"))
    fast_jsonl._typed.cache_clear()
    span = Span(0, 6, "NAME", "first", "e1", "direct", None)
    documents = [
        Document("a", '"Rose" came.', (span, Span(7, 11, "VERB")), site="A", groups={"sex": "F", "age": 3}),
        Document("b", "Nothing.", ()),
    ]
    native_jsonl.write(documents, tmp_path / "c.jsonl")
    write_predictions([("a", (Span(0, 6, "NAME", score=0.5), Span(7, 8, "X"))), ("b", ())], tmp_path / "p.jsonl")
    for line in (tmp_path / "c.jsonl").read_bytes().splitlines():
        assert fast_jsonl.decoder()(line) is not None and fast_jsonl.documents_decoder()([line]) is not None
    for line in (tmp_path / "p.jsonl").read_bytes().splitlines():
        assert fast_jsonl.prediction_decoder()(line) is not None
    assert len(list(read_predictions(tmp_path / "p.jsonl").batches())) == 1


def test_quotes_and_nulls_that_are_no_second_key_are_read(tmp_path: Path) -> None:
    from workup.corpora.formats.spans.batches import read_batches

    spans = [{"start": 0, "end": 6, "label": 'NA"ME', "text": '"Rose"', "subtype": None, "entity": 'e"1'}]
    record = {"id": 'a"', "text": '"Rose" came.', "spans": spans, "site": None, "groups": {'s"x': 'F"', "n": 1}}
    (tmp_path / "c.jsonl").write_text(json.dumps(record) + "\n", encoding="utf-8")
    [batch] = read_batches(tmp_path / "c.jsonl")
    assert batch.ids == ['a"'] and batch.spans.labels == ('NA"ME',)

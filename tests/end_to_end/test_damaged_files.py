"""Files that were damaged or edited by hand, field by field, also with a checksum made to fit: one message, exit 2."""

from __future__ import annotations

import gzip
import io
import json
import zipfile
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.support.damage import mutations
from tests.support.shell import Done, call, cohort, risk_words, spawn, write
from workup import Report, Study, plugins, validate
from workup.corpora.generate.conversation import generate as conversations
from workup.errors import WorkupError
from workup.packs import make_pack, read_pack
from workup.redaction import restore_map
from workup.report import digest, drawing_on
from workup.report_schema import fault_in_split, report_schema
from workup.tasks.conversation.cases.case import read_cases
from workup.tasks.conversation.talk.speech import is_record
from workup.tasks.conversation.talk.transcripts import read_transcripts


def _one_message(done: Done) -> None:
    assert done.code == 2, done
    told = [line for line in done.err.splitlines() if not line.startswith("Before the first call")]
    assert len(told) == 1 and told[0].startswith("workup: "), done.err


# ---- tables ----------------------------------------------------------------------------------------------------------


def _workbook() -> bytes:
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    columns = cohort(60)
    book.active.append(list(columns))
    for row in zip(*columns.values(), strict=True):
        book.active.append(
            [float(cell) if name in ("died", "p") else cell for name, cell in zip(columns, row, strict=True)]
        )
    kept = io.BytesIO()
    book.save(kept)
    return kept.getvalue()


def _repacked(content: bytes, change: Callable[[str, bytes], bytes | None]) -> bytes:
    """A zip with each of its members changed, or left out."""
    kept = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(content)) as old, zipfile.ZipFile(kept, "w") as new:
        for name in old.namelist():
            member = change(name, old.read(name))
            if member is not None:
                new.writestr(name, member)
    return kept.getvalue()


def _broken_workbooks() -> Iterator[tuple[str, bytes]]:
    whole = _workbook()
    for share in (0.0, 0.1, 0.5, 0.9, 0.99):
        yield f"cut at {share:.0%}", whole[: int(share * len(whole))]
    yield "no zip", b"patient,died\n1,0\n"
    yield "a zip of something else", _repacked(whole, lambda name, member: None)
    with zipfile.ZipFile(io.BytesIO(whole)) as archive:
        names = archive.namelist()
    for left_out in (
        "xl/workbook.xml",
        "xl/worksheets/sheet1.xml",
        "[Content_Types].xml",
        "xl/_rels/workbook.xml.rels",
    ):
        yield (
            f"without {left_out}",
            _repacked(whole, lambda name, member, out=left_out: None if name == out else member),
        )
    for broken in (name for name in names if name.endswith(("workbook.xml", "sheet1.xml", "xml.rels", "Types].xml"))):
        for what, other in (("no XML", b"<a><b>"), ("another XML", b"<a/>"), ("noise", bytes(range(256)))):
            yield f"{what} in {broken}", _repacked(whole, lambda name, m, b=broken, o=other: o if name == b else m)
        yield f"half of {broken}", _repacked(whole, lambda name, m, b=broken: m[: len(m) // 2] if name == b else m)


def test_a_damaged_workbook_is_one_message(tmp_path: Path) -> None:
    for why, content in _broken_workbooks():
        (tmp_path / "cohort.xlsx").write_bytes(content)
        done = call(*risk_words(tmp_path / "cohort.xlsx"))
        assert "cohort.xlsx" in done.err, why
        _one_message(done)


def test_the_whole_workbook_is_read(tmp_path: Path) -> None:
    (tmp_path / "cohort.xlsx").write_bytes(_workbook())
    assert call(*risk_words(tmp_path / "cohort.xlsx")).code == 0


def _database(path: Path) -> None:
    duckdb = pytest.importorskip("duckdb")
    with duckdb.connect(str(path)) as connection:
        connection.execute("create table cohort as select i::int as died, i / 100 as p from range(100) t(i)")


def _parquet(path: Path) -> None:
    arrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    columns = {name: cells for name, cells in cohort(60).items() if name not in ("died", "p")}
    numbers = {name: [float(cell) for cell in cohort(60)[name]] for name in ("died", "p")}
    parquet.write_table(arrow.table({**columns, **numbers}), path)


@pytest.mark.parametrize(("make", "name"), [(_database, "cohort.duckdb"), (_parquet, "cohort.parquet")])
def test_a_damaged_database_or_parquet_file_is_one_message_or_a_table(
    make: Callable[[Path], None], name: str, tmp_path: Path
) -> None:
    make(tmp_path / name)
    whole, read = (tmp_path / name).read_bytes(), plugins.find("formats", "table")
    step = max(1, len(whole) // 40)
    flipped = [
        whole[:at] + bytes(b ^ 0xFF for b in whole[at : at + 8]) + whole[at + 8 :] for at in range(0, len(whole), step)
    ]
    refused = 0
    for content in [whole[: len(whole) * part // 8] for part in range(8)] + flipped:
        (tmp_path / name).write_bytes(content)
        refused += name in _refusal(lambda: read(tmp_path / name))
    assert refused >= 8


@pytest.mark.parametrize("cut", [0, 5, 20, -20, -4])
def test_a_damaged_gz_file_is_one_message(cut: int, tmp_path: Path) -> None:
    content = gzip.compress(b"".join(b'{"id": "%d", "text": "Seen on 9 May", "spans": []}\n' % i for i in range(200)))
    (tmp_path / "notes.jsonl.gz").write_bytes(content[:cut] if cut else b"no gzip at all")
    study = {"name": "s", "task": "spans", "corpus": {"path": "notes.jsonl.gz"}, "systems": [{"use": "native"}]}
    (tmp_path / "study.yaml").write_text(yaml.safe_dump(study))
    done = call("run", tmp_path / "study.yaml", "--dry-run")
    _one_message(done)
    assert "notes.jsonl.gz" in done.err


# ---- report.json -----------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def record() -> dict[str, Any]:
    """A record with every lens, and few enough rows that each field can be made wrong."""
    study = Study.of(
        {
            "name": "r",
            "task": "risk",
            "corpus": {"generate": {"count": 900, "plan": {"sites": 4}}},
            "columns": {
                "outcome": "outcome",
                "risk": "risk",
                "patient": "patient",
                "site": "site",
                "time": "time",
                "groups": ["sex"],
                "inputs": ["age"],
            },
            "thresholds": [0.2],
            "bootstrap": {"replicates": 200},
            "lenses": {"internal": {}, "subgroups": {"margin": 0.05}, "power": {}, "drift": {}, "sites": {}},
            "gates": ["auroc.low >= 0.6"],
        }
    )
    made: dict[str, Any] = json.loads(validate(study).to_json())
    for result in made["results"].values():  # a few rows stand for all
        for part in ("estimates", "comparisons", "pooled", "charts_state"):
            if part in result:
                result[part] = result[part][:4]
    return _sealed(made)


def _sealed(record: dict[str, Any]) -> dict[str, Any]:
    return {**record, "sha256": digest(record)}


def _fixed(path: str) -> bool:
    """Whether a field belongs to the schema; what tasks and lenses put in tables, and settings, stays open."""
    parts = path.split(".")
    if parts[0] == "results":
        return len(parts) < 3 or parts[2] in ("estimates", "comparisons", "pooled", "notes")
    return parts[0] not in ("study",) and path != "as_of"


def test_a_wrong_field_of_the_record_is_refused_by_name(record: dict[str, Any]) -> None:
    tried, accepted = 0, []
    small = {name: {**result, "tables": {}, "charts": {}} for name, result in record["results"].items()}
    for path, what, wrong in mutations({**record, "results": small}):
        if path == "sha256" or not _fixed(path):
            continue
        tried += 1
        said = _refusal(lambda wrong=wrong: Report.from_dict(_sealed(wrong), where="report.json"))
        if not said:
            accepted.append((path, what))
    assert tried > 1_000
    parts = report_schema()["$defs"]
    typed = {*parts["Result"]["properties"]["comparisons"]["items"]["properties"], *parts["Estimate"]["properties"]}
    for path, what in accepted:
        # What may be null may also be told, a slice holds any word, and rows of lenses hold more than the schema names.
        inside = path.split(".")
        absent = what == "gone" and ("estimates" not in inside or inside[-1] not in parts["Estimate"]["required"])
        assert ".slice." in path or "null" in what or absent or inside[-1] not in typed, (path, what)


def _refusal(work: Callable[[], object]) -> str:
    """The message with which work on a wrong file was refused, or nothing; any other error is a crash."""
    try:
        work()
    except WorkupError as error:
        assert "\n" not in str(error)  # noqa: PT017
        return str(error)
    return ""


@pytest.mark.parametrize("form", ["text", "json-flat", "md"])
def test_no_wrong_field_anywhere_ends_in_a_crash(record: dict[str, Any], form: str) -> None:
    from workup.cli.report import render

    every = {"text": 30, "json-flat": 30, "md": 60}[form]
    for path, _, wrong in mutations(record, values=("wrong", None, ["x"]), every=every):
        if path == "sha256":
            continue

        def draw(wrong: dict[str, Any] = wrong) -> None:
            read = Report.from_dict(_sealed(wrong))
            with drawing_on("report.json"):
                render(read, form)

        _refusal(draw)


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("results", "internal", "estimates", 0, "value"), "high"),
        (("results", "internal", "estimates", 0, "n_patients"), 1.5),
        (("results", "internal", "estimates", 0, "status"), "fine"),
        (("results", "internal", "estimates"), {}),
        (("results", "internal"), []),
        (("results",), None),
        (("verdicts",), "pass"),
        (("verdicts", 0, "outcome"), True),
        (("study", "task"), 5),
        (("study", "gates"), 5),
        (("study", "thresholds"), ["0.2"]),
        (("system",), "model"),
        (("corpus", "n_cases"), "900"),
        (("seed",), 1.5),
        (("results", "subgroups", "tables"), []),
    ],
)
def test_the_commands_that_read_a_report_say_so_in_one_message(
    record: dict[str, Any], path: tuple[Any, ...], value: Any, tmp_path: Path
) -> None:
    wrong = json.loads(json.dumps(record))
    inner = wrong
    for step in path[:-1]:
        inner = inner[step]
    inner[path[-1]] = value
    (tmp_path / "report.json").write_text(json.dumps(_sealed(wrong)))
    (tmp_path / "right.json").write_text(json.dumps(record))
    file, right = tmp_path / "report.json", tmp_path / "right.json"
    for words in (
        ("report", file),
        ("report", file, "-f", "html"),
        ("gate", file),
        ("gate", right, "--rule", "auroc.value >= baseline - 0.1", "--baseline", file),
        ("compare", file, right),
        ("compare", right, file),
        ("site-pack", file, "-o", tmp_path / "pack.json"),
    ):
        done = call(*words)
        _one_message(done)
        assert path[-1] if isinstance(path[-1], int) else str(path[-1]) in done.err, words


@pytest.mark.parametrize(
    "content", [b"", b"{", b"[]", b"7", b"\xff\xfe", b"[" * 100_000, b'{"schema_version": true}', b"1" * 10_000]
)
def test_a_file_that_is_no_report_is_one_message(content: bytes, tmp_path: Path) -> None:
    (tmp_path / "report.json").write_bytes(content)
    for words in (("report", tmp_path), ("gate", tmp_path), ("verify", tmp_path)):
        _one_message(call(*words))


def test_the_real_command_says_it_in_one_line(record: dict[str, Any], tmp_path: Path) -> None:
    wrong = json.loads(json.dumps(record))
    wrong["results"]["internal"]["estimates"][3]["low"] = "0.7"
    (tmp_path / "report.json").write_text(json.dumps(_sealed(wrong)))
    done = spawn("report", tmp_path)
    assert done.code == 2 and done.err.count("\n") == 1 and "estimates.3.low" in done.err


# ---- packs -----------------------------------------------------------------------------------------------------------


def test_a_wrong_field_of_a_pack_is_refused(record: dict[str, Any], tmp_path: Path) -> None:
    study = Study.of(
        {
            "name": "north",
            "task": "risk",
            "corpus": {"generate": {"count": 900}},
            "columns": {"outcome": "outcome", "risk": "risk", "patient": "patient", "groups": ["sex"]},
            "thresholds": [0.2],
            "bootstrap": {"replicates": 200},
            "lenses": {"internal": {}, "subgroups": {}},
        }
    )
    pack = json.loads(json.dumps(make_pack(validate(study), site="north", k=5, facts={"type": "academic"}, key=None)))
    (tmp_path / "north.json").write_text(json.dumps(pack))
    read_pack(tmp_path / "north.json")
    accepted = []
    for path, what, wrong in mutations(pack):
        if path == "sha256":
            continue
        (tmp_path / "wrong.json").write_text(json.dumps(_sealed(wrong)))
        if not _refusal(lambda: read_pack(tmp_path / "wrong.json").evidence):
            accepted.append((path, what))
    for path, what in accepted:  # null or absent where the form says so, and another value of a name
        told = "null" in what or what == "gone"
        named = "slice." in path or path.startswith("facts.") or path == "settings.comparator"
        assert told or named, (path, what)


# ---- a run directory -------------------------------------------------------------------------------------------------


def _line(record: str) -> bytes:
    body = record.removesuffix("}").encode()
    return body + b',"check":"%08x"}\n' % zlib.crc32(body)


def _run(folder: Path, study: dict[str, Any]) -> Path:
    (folder / "study.yaml").write_text(yaml.safe_dump(study))
    assert call("run", folder / "study.yaml", "-o", folder / "run").code == 0
    return folder / "run"


PROGRAM = (
    "import sys, json\nfor line in sys.stdin:\n    print(json.dumps({'id': json.loads(line)['id'], 'risk': 0.25}))\n"
)


@pytest.fixture
def risk_run(tmp_path: Path) -> Path:
    import sys

    write(tmp_path / "cohort.csv", cohort(60))
    (tmp_path / "score.py").write_text(PROGRAM)
    return _run(
        tmp_path,
        {
            "name": "s",
            "task": "risk",
            "corpus": {"path": "cohort.csv"},
            "columns": {"outcome": "died", "patient": "patient"},
            "bootstrap": {"replicates": 200},
            "systems": [{"use": "command", "with": {"run": [sys.executable, "score.py"], "send": ["x1"]}}],
        },
    )


WRONG_RISKS = (
    '{"case":"1","output":"0.2"}',
    '{"case":"1","output":1.5}',
    '{"case":"1","output":true}',
    '{"case":"1","output":[0.2]}',
    '{"case":"1","output":{"risk":0.2}}',
    '{"case":"0","output":0.2}',
    '{"case":"61","output":0.2}',
    '{"case":"first","output":0.2}',
    '{"case":1,"output":0.2}',
    '{"case":null,"output":0.2}',
    '{"output":0.2}',
    '{"case":"1"}',
    '{"case":"1","output":0.2}}',
    '{"case":"1","output":' + "[" * 100_000 + "}",
)


@pytest.mark.parametrize("wrong", WRONG_RISKS)
def test_a_wrong_output_with_a_right_checksum_is_one_message(wrong: str, risk_run: Path) -> None:
    [log] = (risk_run / "outputs").glob("*.jsonl")
    log.write_bytes(log.read_bytes() + _line(wrong))
    for words in (("run", risk_run.parent / "study.yaml", "-o", risk_run), ("verify", risk_run)):
        _one_message(call(*words))
    assert call("clean", risk_run).code == 0


@pytest.mark.parametrize(
    "timings", ["", "[]", "7", "null", '{"study_file": 7}', '{"study_file": ["a"]}', "{}", "[" * 9_999]
)
def test_wrong_timings_are_one_message(timings: str, risk_run: Path) -> None:
    (risk_run / "timings.json").write_text(timings)
    done = call("verify", risk_run)
    _one_message(done)
    assert "which study" in done.err
    assert call("verify", risk_run, "--study", risk_run.parent / "study.yaml").code == 0
    assert call("run", risk_run.parent / "study.yaml", "-o", risk_run).code == 0
    assert call("verify", risk_run).code == 0


@pytest.mark.parametrize(
    "marker", ["", "[]", "7", '{"files": 7}', '{"files": [7, null]}', '{"files": ["../kept.txt"]}']
)
def test_a_marker_that_was_changed_removes_nothing_of_others(marker: str, risk_run: Path) -> None:
    (risk_run.parent / "kept.txt").write_text("mine")
    (risk_run / ".workup").write_text(marker)
    assert call("run", risk_run.parent / "study.yaml", "-o", risk_run, "--fresh").code == 0
    assert (risk_run.parent / "kept.txt").read_text() == "mine"
    assert call("clean", risk_run).code == 0


SPANS = [
    {"id": str(i), "text": f"Seen on 9 May by Ann {i}", "spans": [{"start": 8, "end": 13, "label": "date"}]}
    for i in range(12)
]


def test_wrong_spans_with_a_right_checksum_are_one_message(tmp_path: Path) -> None:
    (tmp_path / "notes.jsonl").write_text("".join(json.dumps(one) + "\n" for one in SPANS))
    run = _run(
        tmp_path,
        {
            "name": "s",
            "task": "spans",
            "corpus": {"path": "notes.jsonl"},
            "bootstrap": {"replicates": 200},
            "systems": [{"use": "native"}],
        },
    )
    [log] = (run / "outputs").glob("*.jsonl")
    whole = log.read_bytes()
    right = {"case": "1", "output": [{"start": 8, "end": 13, "label": "date", "score": 0.9}]}
    for path, what, wrong in mutations(right, values=("wrong", True, ["x"], {"a": 1})):
        if path.endswith("score") and what == "gone":
            continue
        log.write_bytes(whole + _line(json.dumps(wrong)))
        done = call("verify", run)
        assert "--fresh" in done.err, (path, what)
        _one_message(done)


SAID = {
    "content": "Yes.",
    "reasoning": "so",
    "finish_reason": "stop",
    "fingerprint": "f",
    "seconds": 0.5,
    "tries": 2,
} | {"usage": {"prompt_tokens": 3}}


def test_a_recorded_call_has_every_field_of_its_type() -> None:
    assert is_record(SAID) and is_record({"failure": "timeout"})
    for path, what, wrong in mutations(SAID):
        assert is_record(wrong) == (what == "gone" and path != "content"), (path, what)


@pytest.mark.parametrize("output", ['"Yes."', "null", "[]", "{}", '{"content":7}', '{"content":"a","usage":{"b":"c"}}'])
def test_a_wrong_call_with_a_right_checksum_is_one_message(output: str, tmp_path: Path) -> None:
    study = {
        "name": "c",
        "task": "conversation",
        "corpus": {"generate": {"count": 2, "seed": 1, "turns": 6}},
        "bootstrap": {"replicates": 200},
        "conversation": {"arms": ["live"], "probe": "none"},
        "systems": [{"use": "scripted", "with": {"generate": {"count": 2, "seed": 1, "turns": 6}}}],
    }
    run = _run(tmp_path, study)
    [log] = (run / "outputs").glob("*.jsonl")
    log.write_bytes(log.read_bytes() + _line('{"case":"made up","output":' + output + "}"))
    for words in (("run", tmp_path / "study.yaml", "-o", run), ("verify", run)):
        done = call(*words)
        _one_message(done)
        assert "--fresh" in done.err


# ---- cases, transcripts and the files beside a study -----------------------------------------------------------------


def _cases() -> list[dict[str, Any]]:
    return json.loads(json.dumps(list(conversations(2, seed=3).cases())))  # type: ignore[no-any-return]


def test_a_wrong_field_of_a_case_is_refused(tmp_path: Path) -> None:
    accepted = []
    for path, what, wrong in mutations(_cases()[0]):
        (tmp_path / "cases.jsonl").write_text(json.dumps(wrong) + "\n")
        if not _refusal(lambda: read_cases(tmp_path / "cases.jsonl")):
            accepted.append((path, what))
    for path, what in accepted:
        free = what == "gone" or "null" in what
        assert free or path.startswith("metadata."), (path, what)


def test_a_wrong_field_of_a_transcript_is_refused(tmp_path: Path) -> None:
    from workup.tasks.conversation.scripted import behaviour, transcripts

    (tmp_path / "cases.jsonl").write_text("".join(json.dumps(one) + "\n" for one in _cases()))
    cases = read_cases(tmp_path / "cases.jsonl")
    said = [json.loads(json.dumps(one)) for one in transcripts(behaviour("perfect"), cases, probe="question")]
    accepted = []
    for path, what, wrong in mutations(said[0]):
        (tmp_path / "said.jsonl").write_text("".join(json.dumps(one) + "\n" for one in [wrong, *said[1:]]))
        if not _refusal(lambda: read_transcripts(tmp_path / "said.jsonl", cases)):
            accepted.append((path, what))
    assert all(path == "error" or "null" in what or what == "gone" for path, what in accepted), accepted


def test_a_wrong_field_of_a_split_is_refused(tmp_path: Path) -> None:
    write(tmp_path / "cohort.csv", cohort(300))
    words = ("--strategy", "random", "--outcome", "died", "--patient", "patient", "--by", "sex")
    assert call("split", tmp_path / "cohort.csv", *words, "-o", tmp_path / "split").code == 0
    record = json.loads((tmp_path / "split" / "split.json").read_text())
    assert fault_in_split(record) == ""
    # Parts that no page needs, or whose form hangs on the strategy.
    parts = {"about", "settings", "margins", "collapsed", "varying", "warnings", "schema_version", "table"}
    for path, what, wrong in mutations(record):
        inside = path.split(".")
        if inside[0] not in {*parts, "weight_column"} and "null" not in what and (what != "gone" or len(inside) == 1):
            assert fault_in_split(wrong) or inside[-1] in ("level", "deviation"), (path, what)


@pytest.mark.parametrize("content", ["", "[]", "{}", '{"kind": "split"}', '{"kind": ["split"]}', "[" * 100_000])
def test_a_wrong_split_or_list_of_sites_is_one_message(content: str, tmp_path: Path) -> None:
    write(tmp_path / "cohort.csv", cohort(60))
    study: dict[str, Any] = {
        "name": "s",
        "task": "risk",
        "corpus": {"path": "cohort.csv"},
        "columns": {"outcome": "died", "risk": "p", "patient": "patient", "site": "site"},
        "bootstrap": {"replicates": 200},
    }
    (tmp_path / "split.json").write_text(content)
    (tmp_path / "study.yaml").write_text(yaml.safe_dump({**study, "split": "split.json"}))
    _one_message(call("run", tmp_path / "study.yaml", "-o", tmp_path / "one"))
    (tmp_path / "sites.csv").write_text(content)
    (tmp_path / "study.yaml").write_text(
        yaml.safe_dump({**study, "sites": "sites.csv", "lenses": {"internal": {}, "sites": {}}})
    )
    _one_message(call("run", tmp_path / "study.yaml", "-o", tmp_path / "two"))


def test_a_wrong_field_of_a_restore_map_is_refused() -> None:
    entry = restore_map.Entry.of_file("a", redacted=b"b", original=b"c")
    record = json.loads(restore_map.sealed([entry], key=b"k" * 32))
    for path, what, wrong in mutations(record):
        content = json.dumps(wrong).encode()
        assert _refusal(lambda content=content: restore_map.opened(content, key=b"k" * 32)), (path, what)

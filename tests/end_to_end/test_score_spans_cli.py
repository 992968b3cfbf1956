"""`workup score spans` and span studies as a stranger would run them: what is printed, written and refused, and that no
token of a note leaves in any of it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.support.json_lines import write_lines
from tests.support.notes import detect, notes
from tests.support.shell import call, is_quiet
from workup.report import Report

CANARY = "QZXCANARY"


def _corpus(folder: Path, count: int = 60) -> tuple[Path, Path]:
    corpus = notes(count, patients=25, canary=CANARY)
    found = detect(corpus)
    gold = write_lines(folder / "gold.jsonl", corpus)
    return gold, write_lines(folder / "pred.jsonl", [{"id": key, "spans": spans} for key, spans in found.items()])


# ---- scoring ---------------------------------------------------------------------------------------------------------


def test_the_text_report_says_what_a_privacy_officer_asks(tmp_path: Path) -> None:
    gold, pred = _corpus(tmp_path)
    done = call("score", "spans", "--gold", gold, "--pred", pred, "--replicates", "200")
    assert done.code == 0, done.err
    is_quiet(done, CANARY)
    for said in ("self-test passed", "leak", "Safe Harbor", "not tested"):
        assert said.lower() in done.out.lower(), said


def test_defaults_are_those_of_the_contract(tmp_path: Path) -> None:
    gold, pred = _corpus(tmp_path)
    done = call("score", "spans", "--gold", gold, "--pred", pred, "--json", "-", "--replicates", "200")
    report = json.loads(done.out)
    rows = report["results"]["internal"]["tables"]["counts"]
    modes = {(row["mode"], row["level"]) for row in rows}
    typed = {(mode, level) for mode in ("strict", "iou:0.5", "cover:1") for level in ("leaf", "branch", "phi")}
    assert modes == typed | {("full_mask", "phi"), ("char", "phi")}
    assert {row["policy"] for row in rows} == {"as_annotated"}
    assert report["contains_phi"] is False


def test_gates_decide_the_exit_code(tmp_path: Path) -> None:
    gold, pred = _corpus(tmp_path)
    words = ("score", "spans", "--gold", gold, "--pred", pred, "--replicates", "200")
    assert call(*words, "--gate", "recall.low >= 0.01").code == 0
    assert call(*words, "--gate", "recall.low >= 0.99").code == 1
    assert call(*words, "--gate", "recall{label=ssn}.low >= 0.1").code == 3
    refused = call(*words, "--gate", "recall{mode=published:gold50}.low >= 0.1")
    assert refused.code == 2 and "published" in refused.err


def test_text_is_shown_only_when_asked_for_and_then_marked(tmp_path: Path) -> None:
    gold, pred = _corpus(tmp_path)
    words = ("score", "spans", "--gold", gold, "--pred", pred, "--replicates", "200", "--json", tmp_path / "r.json")
    call(*words)
    plain = (tmp_path / "r.json").read_text()
    assert CANARY not in plain
    call(*words, "--show-text")
    shown = (tmp_path / "r.json").read_text()
    assert CANARY in shown and json.loads(shown)["contains_phi"] is True
    assert (tmp_path / "r.json").stat().st_mode & 0o077 == 0
    call("report", tmp_path / "r.json", "-f", "html", "-o", tmp_path / "r.html")
    assert (tmp_path / "r.html").stat().st_mode & 0o077 == 0


def test_a_system_that_says_nothing_is_praised_for_nothing(tmp_path: Path) -> None:
    gold, _ = _corpus(tmp_path)
    pred = write_lines(tmp_path / "other.jsonl", [{"id": "elsewhere", "spans": []}])
    rules = ("over_redaction.high <= 0.5", "specificity_char.low >= 0.1", "specificity_token.value >= 0.1")
    done = call(
        "score", "spans", "--gold", gold, "--pred", pred, "--json", "-", *(w for r in rules for w in ("--gate", r))
    )
    verdicts = json.loads(done.out)["verdicts"]
    assert done.code == 3 and {verdict["outcome"] for verdict in verdicts} == {"not_assessed"}


def test_options_that_cannot_be_read_are_taught(tmp_path: Path) -> None:
    gold, pred = _corpus(tmp_path)
    words = ("score", "spans", "--gold", gold, "--pred", pred)
    for option, value, said in (
        ("--mode", "iou", "share"),
        ("--mode", "stricd", "strict"),
        ("--policy", "hippa_safe_harbor", "hipaa_safe_harbor"),
        ("--level", "leave", "leaf"),
        ("--labels", "presido", "presidio"),
        ("--annotators", "all", "majority"),
        ("--offsets", "utf-16", "utf16"),
        ("--equivalent", "ORG", "two"),
    ):
        done = call(*words, option, value)
        assert done.code == 2 and said in done.err, (option, value, done.err)
        is_quiet(done, CANARY)


# ---- a study ---------------------------------------------------------------------------------------------------------

_STUDY = """
name: canary
task: spans
corpus: {path: gold.jsonl}
systems: [{name: found, use: recorded, with: {path: pred.jsonl}}]
policies: [as_annotated, hipaa_safe_harbor]
lenses:
  internal: {}
  subgroups: {by: [origin, type]}
  sites: {}
  power: {}
bootstrap: {replicates: 200}
gates: ["leak_rate_document.high <= 0.001", "recall{label=date}.low >= 0.2"]
report: {formats: [text, md, html, json-flat]}
"""


def test_no_token_of_a_note_is_in_anything_a_run_writes_or_says(tmp_path: Path) -> None:
    _corpus(tmp_path)
    (tmp_path / "study.yaml").write_text(_STUDY)
    done = call("run", tmp_path / "study.yaml", "-o", tmp_path / "run", "--details", "all", "--verbose")
    assert done.code == 1, done.err
    is_quiet(done, CANARY)
    written = [path for path in (tmp_path / "run").rglob("*") if path.is_file()]
    assert {"report.json", "report.html", "report.md", "details.jsonl", "run.log"} <= {path.name for path in written}
    for path in written:
        assert CANARY not in path.read_text(encoding="utf-8"), path.name
    again = call("verify", tmp_path / "run")
    assert again.code == 0, again.err
    is_quiet(again, CANARY)


def test_details_name_every_span_by_offset(tmp_path: Path) -> None:
    gold, pred = _corpus(tmp_path)
    (tmp_path / "study.yaml").write_text(_STUDY.replace("policies: [as_annotated, hipaa_safe_harbor]\n", ""))
    call("run", tmp_path / "study.yaml", "-o", tmp_path / "run")
    records = [json.loads(line) for line in (tmp_path / "run" / "details.jsonl").read_text().splitlines()]
    golds = {note["id"]: note["spans"] for note in map(json.loads, gold.read_text().splitlines())}
    found = {line["id"]: line["spans"] for line in map(json.loads, pred.read_text().splitlines())}
    for kind, source in (("gold", golds), ("prediction", found)):
        mine = [(r["case"], r["start"], r["end"], r["label"]) for r in records if r["kind"] == kind]
        theirs = [(key, s["start"], s["end"], s["label"]) for key, spans in source.items() for s in spans]
        assert sorted(mine) == sorted(theirs)
    report = Report.read(tmp_path / "run")
    row = next(
        row
        for row in report.results["internal"].tables["counts"]
        if row["mode"] == "full_mask" and row["label"] is None
    )
    outcomes = [record["outcome"] for record in records]
    assert outcomes.count("hit") == row["hits"] and outcomes.count("miss") == row["misses"]
    assert outcomes.count("credited") == row["credited"] and outcomes.count("false_alarm") == row["false_alarms"]
    assert all(record["category"] for record in records if record["outcome"] in ("miss", "false_alarm"))
    for record in records:
        if record["kind"] == "gold" and record["outcome"] == "hit":
            assert record["matched"], record


def test_a_dry_run_reads_the_corpus_and_scores_nothing(tmp_path: Path) -> None:
    _corpus(tmp_path)
    (tmp_path / "study.yaml").write_text(_STUDY)
    done = call("run", tmp_path / "study.yaml", "--dry-run")
    assert done.code == 0 and "60 cases, 25 patients" in done.out, done.err


# ---- hostile input ---------------------------------------------------------------------------------------------------

_NOTE = {"id": "a", "text": f"Seen by {CANARY} today", "spans": [{"start": 8, "end": 17, "label": "name_patient"}]}
_BAD_GOLDS: dict[str, bytes] = {
    "bad UTF-8": json.dumps(_NOTE).encode()[:-4] + b"\xff\xfe}]}\n",
    "not JSON": b'{"id": "a", "text": "' + CANARY.encode() + b"\n",
    "an empty file": b"",
    "out of range": json.dumps({**_NOTE, "spans": [{"start": 8, "end": 900, "label": "date"}]}).encode(),
    "negative": json.dumps({**_NOTE, "spans": [{"start": -3, "end": 4, "label": "date"}]}).encode(),
    "reversed": json.dumps({**_NOTE, "spans": [{"start": 9, "end": 4, "label": "date"}]}).encode(),
    "empty span": json.dumps({**_NOTE, "spans": [{"start": 4, "end": 4, "label": "date"}]}).encode(),
    "not a number": json.dumps({**_NOTE, "spans": [{"start": "8", "end": 9, "label": "date"}]}).encode(),
    "another surface": json.dumps(
        {**_NOTE, "spans": [{"start": 8, "end": 17, "label": "date", "text": f"X{CANARY[1:]}"}]}
    ).encode(),
    "a doubled id": (json.dumps(_NOTE) + "\n" + json.dumps(_NOTE) + "\n").encode(),
    "no spans": json.dumps({"id": "a", "text": CANARY}).encode(),
    "an unknown key of a span": json.dumps({**_NOTE, "spans": [{"begin": 8, "end": 9, "label": "date"}]}).encode(),
    "only blanks under a gold": json.dumps(
        {"id": "a", "text": "a -- b", "spans": [{"start": 1, "end": 5, "label": "date"}]}
    ).encode(),
}


@pytest.mark.parametrize("fault", _BAD_GOLDS)
def test_golds_that_are_wrong_cost_one_clear_message(fault: str, tmp_path: Path) -> None:
    gold = tmp_path / "gold.jsonl"
    gold.write_bytes(_BAD_GOLDS[fault])
    pred = write_lines(tmp_path / "pred.jsonl", [{"id": "a", "spans": []}])
    done = call("score", "spans", "--gold", gold, "--pred", pred, "--json", tmp_path / "report.json")
    assert done.code == 2, (fault, done.out[-300:])
    assert done.err.strip() and not (tmp_path / "report.json").exists()
    is_quiet(done, CANARY)


_BAD_PREDICTIONS: dict[str, bytes] = {
    "bad UTF-8": b'{"id": "a", "spans": [], "x": "\xff"}\n',
    "not JSON": b'{"id": "a", "spans": [\n',
    "negative": b'{"id": "a", "spans": [{"start": -1, "end": 3, "label": "date"}]}\n',
    "reversed": b'{"id": "a", "spans": [{"start": 5, "end": 3, "label": "date"}]}\n',
    "a doubled id": b'{"id": "a", "spans": []}\n{"id": "a", "spans": []}\n',
    "a score that is none": b'{"id": "a", "spans": [{"start": 1, "end": 3, "label": "date", "score": NaN}]}\n',
    "no label": b'{"id": "a", "spans": [{"start": 1, "end": 3}]}\n',
}


@pytest.mark.parametrize("fault", _BAD_PREDICTIONS)
def test_predictions_that_are_wrong_cost_one_clear_message(fault: str, tmp_path: Path) -> None:
    gold = write_lines(tmp_path / "gold.jsonl", [_NOTE])
    pred = tmp_path / "pred.jsonl"
    pred.write_bytes(_BAD_PREDICTIONS[fault])
    done = call("score", "spans", "--gold", gold, "--pred", pred)
    assert done.code == 2, (fault, done.out[-300:])
    is_quiet(done, CANARY)


def test_nul_bytes_and_half_surrogates_are_text_or_refused_never_a_crash(tmp_path: Path) -> None:
    nul = {"id": "a", "text": f"x\0{CANARY}\0y", "spans": [{"start": 2, "end": 11, "label": "name_patient"}]}
    pred = write_lines(
        tmp_path / "pred.jsonl", [{"id": "a", "spans": [{"start": 2, "end": 11, "label": "name_patient"}]}]
    )
    done = call("score", "spans", "--gold", write_lines(tmp_path / "nul.jsonl", [nul]), "--pred", pred)
    assert done.code == 0, done.err
    is_quiet(done, CANARY)
    half = tmp_path / "half.jsonl"
    half.write_text('{"id": "a", "text": "\\ud800' + CANARY + '", "spans": []}\n')
    done = call("score", "spans", "--gold", half, "--pred", pred)
    assert done.code in (0, 2), done.err
    is_quiet(done, CANARY)


def test_a_line_of_a_hundred_megabytes_is_read_or_refused_with_a_word(tmp_path: Path) -> None:
    gold = tmp_path / "gold.jsonl"
    with gold.open("w") as file:
        file.write('{"id": "a", "spans": [], "text": "' + CANARY)
        for _ in range(100):
            file.write("word and " * 116_509)
        file.write('"}\n')
    pred = write_lines(tmp_path / "pred.jsonl", [{"id": "a", "spans": []}])
    done = call("score", "spans", "--gold", gold, "--pred", pred, "--replicates", "200")
    assert done.code in (0, 2), done.err[-500:]
    is_quiet(done, CANARY)


def test_an_xml_bomb_is_refused(tmp_path: Path) -> None:
    bomb = tmp_path / "bomb.xml"
    entities = "".join(
        f'<!ENTITY l{i} "{"&l" + str(i - 1) + ";" if i else CANARY}{"&l" + str(i - 1) + ";" if i else ""}">'
        for i in range(40)
    )
    bomb.write_text(f'<?xml version="1.0"?><!DOCTYPE d [{entities}]><deIdi2b2><TEXT>&l39;</TEXT><TAGS/></deIdi2b2>')
    pred = write_lines(tmp_path / "pred.jsonl", [{"id": "bomb", "spans": []}])
    done = call("score", "spans", "--gold", bomb, "--pred", pred)
    assert done.code == 2
    is_quiet(done, CANARY)


def test_brat_fragments_are_golds_with_the_text_between(tmp_path: Path) -> None:
    folder = tmp_path / "brat"
    folder.mkdir()
    (folder / "a.txt").write_text("Seen by Ann\nLee today")
    (folder / "a.ann").write_text("T1\tname_patient 8 11;12 15\tAnn Lee\n")
    pred = write_lines(
        tmp_path / "pred.jsonl", [{"id": "a", "spans": [{"start": 8, "end": 15, "label": "name_patient"}]}]
    )
    done = call("score", "spans", "--gold", folder, "--pred", pred, "--json", "-")
    assert done.code == 0, done.err
    rows = json.loads(done.out)["results"]["internal"]["tables"]["counts"]
    strict = next(row for row in rows if row["mode"] == "strict" and row["level"] == "leaf" and row["label"] is None)
    assert (strict["golds"], strict["hits"]) == (1, 1)

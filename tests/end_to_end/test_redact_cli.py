"""`workup redact` and `workup restore` as a person calls them: files, folders, corpora, keys, maps and refusals."""

from __future__ import annotations

import gzip
import io
import json
import sys
from pathlib import Path

import pytest

from tests.support.places import DATA
from tests.support.shell import Done, call, spawn
from workup.redaction.dates.written import read

pytest.importorskip("cryptography", reason="cryptography is not installed")

SECRET = "Quenneville"
NOTE = (
    f"\ufeffPatient: Rose {SECRET}, born 03/04/1961, MRN 00482913.\r\n"
    f"Seen 3/4/2021 and March 14, 2021; Ms. {SECRET} called (617) 723-4411 – 93, 02115.\r\n"
)
FINDS = [
    (f"Rose {SECRET}", "name_patient"), ("03/04/1961", "date_birth"), ("00482913", "mrn"), ("3/4/2021", "date"),
    ("March 14, 2021", "date"), (f"Ms. {SECRET}", "name_patient"), ("(617) 723-4411", "phone"), ("93", "age_over_89"),
    ("02115", "zip"),
]  # fmt: skip


def _spans(text: str, *, seen: str = "3/4/2021") -> list[dict[str, object]]:
    found = []
    for words, label in [(seen if words == "3/4/2021" else words, label) for words, label in FINDS]:
        start = text.find(words)
        if start >= 0:
            found.append({"start": start, "end": start + len(words), "label": label})
    return found


def _note(folder: Path, *, name: str = "note.txt", text: str = NOTE) -> tuple[Path, Path]:
    """A text and, beside it, what a detector found in it."""
    path, found = folder / name, folder / "found.jsonl"
    path.write_bytes(text.encode())
    found.write_text(json.dumps({"id": path.stem, "spans": _spans(text)}) + "\n")
    return path, found


def _key(folder: Path, name: str = "one.key") -> Path:
    assert call("redact", "--new-key", folder / name).code == 0
    return folder / name


def _corpus(folder: Path, *, patients: int = 2) -> Path:
    """Notes of patients in a corpus, with golds, odd blanks and a key that is not ours."""
    lines = []
    for number in range(patients * 2):
        seen = f"3/{4 + number}/2021"
        text = NOTE.replace("3/4/2021", seen)
        spans = [{**span, "entity": f"{SECRET}:{at}"} for at, span in enumerate(_spans(text, seen=seen))]
        record = {
            "id": f"n{number}",
            "text": text,
            "spans": spans,
            "patient": f"{SECRET}{number // 2}",
            "extra": SECRET,
        }
        lines.append(json.dumps(record, indent=None, separators=(" , ", " :")) + "\r\n")
    path = folder / "corpus.jsonl"
    path.write_bytes("\n".join(lines).encode())
    return path


def _quiet(done: Done) -> None:
    for said in (done.out, done.err):
        assert SECRET not in said and "723-4411" not in said


def test_labels_to_standard_output(tmp_path: Path) -> None:
    note, found = _note(tmp_path)
    done = call("redact", note, "--predictions", found)
    assert done.code == 0, done.err
    assert done.out == (
        "\ufeffPatient: [NAME-1], born [DATE-1], MRN [MRN-1].\r\n"
        "Seen [DATE-2] and [DATE-3]; [NAME-1] called [PHONE-1] – 90+, 021.\r\n"
    )
    assert "residual_originals: 0.0000" in done.err and list(tmp_path.iterdir()) == [note, found]
    _quiet(done)


@pytest.mark.parametrize("how", ["label", "mask", "surrogate", "hash"])
def test_restore_gives_the_bytes_back(tmp_path: Path, how: str) -> None:
    note, found = _note(tmp_path)
    key, out, map_ = _key(tmp_path), tmp_path / "out" / "note.txt", tmp_path / "note.map"
    done = call("redact", note, "--predictions", found, "--as", how, "-o", out, "--map", map_, "--key-file", key)
    assert done.code == 0, done.err
    _quiet(done)
    for path in (out, map_, key, out.with_name("note.txt.redaction.json")):
        assert path.stat().st_mode & 0o777 == 0o600
        assert SECRET.encode() not in path.read_bytes()
    again = tmp_path / "again.txt"
    assert call("restore", out, "--map", map_, "--key-file", key, "-o", again).code == 0
    assert again.read_bytes() == note.read_bytes() and again.stat().st_mode & 0o777 == 0o600
    shown = call("restore", out, "--map", map_, "--key-file", key)
    assert shown.out == NOTE and shown.code == 0


def test_dates_move_by_one_constant_that_the_key_fixes(tmp_path: Path) -> None:
    note, found = _note(tmp_path)
    key = _key(tmp_path)
    words = ("redact", note, "--predictions", found, "--shift-dates", "--key-file", key)
    done = call(*words)
    assert done.code == 0 and call(*words).out == done.out
    assert "interval_preservation: 1.0000, n = 3" in done.err
    shown = [read(part) for part in (done.out.partition("Seen ")[2].partition(" and")[0],
                                     done.out.partition("and ")[2].partition(";")[0])]  # fmt: skip
    assert shown[0] is not None and shown[1] is not None and (shown[1].day - shown[0].day).days == 10
    assert call(*words[:-2], "--key-file", _key(tmp_path, "two.key")).out != done.out
    weeks = call(*words, "--whole-weeks").out.partition("Seen ")[2].partition(" and")[0]
    moved = read(weeks)
    assert moved is not None and moved.day.weekday() == 3  # 3/4/2021 was a Thursday


def test_a_folder_is_redacted_and_restored(tmp_path: Path) -> None:
    folder = tmp_path / "notes"
    (folder / "a").mkdir(parents=True)
    (folder / "a" / "one.txt").write_bytes(NOTE.encode())
    (folder / "two.txt").write_bytes(NOTE.replace("93", "44").encode())
    (folder / "picture.png").write_bytes(b"\x89PNG")
    found = tmp_path / "found.jsonl"
    found.write_text("".join(json.dumps({"id": id, "spans": _spans(NOTE)}) + "\n" for id in ("a/one", "two")))
    key, out, map_ = _key(tmp_path), tmp_path / "redacted", tmp_path / "notes.map"
    done = call("redact", folder, "--predictions", found, "-o", out, "--as", "surrogate", "--patient", "P1",
                "--map", map_, "--key-file", key)  # fmt: skip
    assert done.code == 0, done.err
    assert sorted(path.relative_to(out).as_posix() for path in out.rglob("*.txt")) == ["a/one.txt", "two.txt"]
    assert "file that is no .txt" in done.err
    one, two = (out / "a" / "one.txt").read_text(), (out / "two.txt").read_text()
    assert one.partition(",")[0] == two.partition(",")[0] and SECRET not in one + two  # one patient, one name
    assert call("restore", out, "--map", map_, "--key-file", key, "-o", tmp_path / "again").code == 0
    assert (tmp_path / "again" / "a" / "one.txt").read_bytes() == NOTE.encode()
    assert call("redact", folder, "--predictions", found, "-o", out, "--as", "mask").code == 2  # not empty
    assert call("redact", folder, "--predictions", found).code == 2  # nowhere to go


@pytest.mark.parametrize("packed", [False, True])
def test_a_corpus_keeps_its_form_and_carries_true_golds(tmp_path: Path, packed: bool) -> None:
    corpus = _corpus(tmp_path)
    if packed:
        plain, corpus = corpus, tmp_path / "corpus.jsonl.gz"
        corpus.write_bytes(gzip.compress(plain.read_bytes()))
    key, out, map_ = _key(tmp_path), tmp_path / corpus.name.replace("corpus", "out"), tmp_path / "c.map"
    places = tmp_path / "pieces.jsonl"
    done = call("redact", corpus, "--golds", "-o", out, "--as", "surrogate", "--map", map_, "--key-file", key,
                "--pieces", places, "--json", "-")  # fmt: skip
    assert done.code == 0, done.err
    _quiet(done)
    record = json.loads(done.out)
    assert record["documents"] == 4 and record["patients"] == 2 and record["replaced"] == 36
    values = {audit["metric"]: (audit["value"], audit["n"]) for audit in record["audits"]}
    assert values["surrogate_consistency"][0] == 1.0 and values["residual_originals"][0] == 0.0
    assert values["interval_preservation"] == (1.0, 2 * 6)
    content = gzip.decompress(out.read_bytes()) if packed else out.read_bytes()
    assert SECRET.encode() not in content
    lines = [json.loads(line) for line in content.splitlines()]
    for line, pieces in zip(lines, map(json.loads, places.read_text().splitlines()), strict=True):
        assert all(line["text"][gold["start"] : gold["end"]] == gold["text"] for gold in line["spans"])
        assert len(line["spans"]) == len(pieces["pieces"]) == 9 and "extra" not in line
    assert lines[0]["patient"] == lines[1]["patient"] != lines[2]["patient"]
    again = tmp_path / "again"
    assert call("restore", out, "--map", map_, "--key-file", key, "-o", again).code == 0
    assert again.read_bytes() == corpus.read_bytes()
    assert SECRET not in places.read_text()


def test_documents_without_golds_stay_without(tmp_path: Path) -> None:
    corpus, found = tmp_path / "c.jsonl", tmp_path / "found.jsonl"
    corpus.write_text(
        json.dumps({"id": "a", "text": NOTE}) + "\n" + json.dumps({"id": "b", "text": "x", "spans": []}) + "\n"
    )
    found.write_text(
        json.dumps({"id": "a", "spans": _spans(NOTE)}) + "\n" + json.dumps({"id": "b", "spans": []}) + "\n"
    )
    out = tmp_path / "o.jsonl"
    assert call("redact", corpus, "--predictions", found, "-o", out).code == 0
    first, second = map(json.loads, out.read_text().splitlines())
    assert "spans" not in first and second["spans"] == []


def test_standard_input(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = tmp_path / "found.jsonl"
    found.write_text(json.dumps({"id": "stdin", "spans": _spans(NOTE)}) + "\n")
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(NOTE.encode()), encoding="utf-8"))
    done = call("redact", "-", "--predictions", found, "--as", "mask", "--mask-with", "#")
    assert done.code == 0 and "Patient: ################," in done.out
    assert len(done.out) == len(NOTE)


def test_a_detector_by_name(tmp_path: Path) -> None:
    pytest.importorskip("scrubadub", reason="scrubadub is not installed")
    note, _ = _note(tmp_path, text="Write to rose@gmail.com or call 617-723-4411.")
    done = call("redact", note, "--system", "scrubadub")
    assert done.code == 0 and "rose@gmail.com" not in done.out and "[EMAIL-1]" in done.out, done.err


# ---- refusals --------------------------------------------------------------------------------------------------------


def _refused(done: Done, *words: str) -> None:
    assert done.code == 2 and done.err.startswith("workup: ") and "Traceback" not in done.err, done.err
    assert all(word in done.err for word in words), done.err
    _quiet(done)


def test_a_hash_and_a_map_need_a_key(tmp_path: Path) -> None:
    note, found = _note(tmp_path)
    _refused(call("redact", note, "--predictions", found, "--as", "hash"), "needs a key", "--key-file")
    _refused(call("redact", note, "--predictions", found, "--map", tmp_path / "m", "-o", tmp_path / "o"), "--new-key")
    assert not (tmp_path / "m").exists() and not (tmp_path / "o").exists()
    _refused(call("restore", note, "--map", tmp_path / "m"), "--key-file")
    short = tmp_path / "short.key"
    short.write_text("abc")
    _refused(call("redact", note, "--predictions", found, "--key-file", short), "16")


def test_text_that_was_redacted_is_refused_where_values_would_be_invented(tmp_path: Path) -> None:
    note, found = _note(tmp_path)
    tokens = tmp_path / "note2.txt"
    tokens.write_text(call("redact", note, "--predictions", found).out)
    found.write_text(json.dumps({"id": "note2", "spans": []}) + "\n")
    _refused(call("redact", tokens, "--predictions", found, "--as", "surrogate"), "not redacted before")
    _refused(call("redact", tokens, "--predictions", found, "--shift-dates"), "not redacted before")
    assert call("redact", tokens, "--predictions", found).code == 0


def test_surrogates_are_known_by_the_record_beside_them(tmp_path: Path) -> None:
    note, found = _note(tmp_path)
    out = tmp_path / "made.txt"
    assert call("redact", note, "--predictions", found, "--as", "surrogate", "-o", out).code == 0
    found.write_text(json.dumps({"id": "made", "spans": []}) + "\n")
    _refused(call("redact", out, "--predictions", found, "--as", "surrogate"), "record beside it")
    assert call("redact", out, "--predictions", found, "--as", "label").code == 0


def test_restore_refuses_another_key_a_changed_text_and_another_map(tmp_path: Path) -> None:
    note, found = _note(tmp_path)
    key, out, map_ = _key(tmp_path), tmp_path / "out.txt", tmp_path / "m.map"
    assert call("redact", note, "--predictions", found, "-o", out, "--map", map_, "--key-file", key).code == 0
    words = ("--map", map_, "--key-file")
    _refused(call("restore", out, *words, _key(tmp_path, "other.key")), "another key")
    content = out.read_bytes()
    out.write_bytes(content + b" ")
    _refused(call("restore", out, *words, key), "unchanged")
    out.write_bytes(content)
    map_.write_bytes(map_.read_bytes().replace(b'"content": "', b'"content": "A'))
    _refused(call("restore", out, *words, key), "changed or damaged")
    _refused(call("restore", out, "--map", note, "--key-file", key), "a map that redact wrote")
    _refused(call("restore", out, "--map", tmp_path / "none", "--key-file", key), "can be read")


def test_nothing_is_overwritten_that_would_be_missed(tmp_path: Path) -> None:
    note, found = _note(tmp_path)
    key, out, map_ = _key(tmp_path), tmp_path / "out.txt", tmp_path / "m.map"
    words = ("redact", note, "--predictions", found, "--key-file", key)
    _refused(call("redact", "--new-key", key), "new file")
    _refused(call(*words, "-o", note), "another place")
    assert call(*words, "-o", out, "--map", map_).code == 0
    before = map_.read_bytes()
    _refused(call(*words, "-o", tmp_path / "o2.txt", "--map", map_), "new file")
    assert map_.read_bytes() == before and not (tmp_path / "o2.txt").exists()
    folder = tmp_path / "f"
    folder.mkdir()
    (folder / "note.txt").write_bytes(note.read_bytes())
    _refused(call("redact", folder, "--predictions", found, "--key-file", key, "-o", tmp_path / "g",
                  "--map", tmp_path / "g" / "m"), "kept apart")  # fmt: skip


def test_a_failed_output_leaves_no_map_and_no_half(tmp_path: Path) -> None:
    note, found = _note(tmp_path)
    (tmp_path / "file").write_text("x")
    done = call("redact", note, "--predictions", found, "-o", tmp_path / "file" / "out.txt", "--map", tmp_path / "m",
                "--key-file", _key(tmp_path))  # fmt: skip
    _refused(done, "can be written")
    assert not (tmp_path / "m").exists() and (tmp_path / "file").read_text() == "x"


def test_a_document_that_nobody_looked_at_does_not_pass_as_redacted(tmp_path: Path) -> None:
    note, found = _note(tmp_path)
    found.write_text(json.dumps({"id": "other", "spans": []}) + "\n")
    _refused(call("redact", note, "--predictions", found), "every document")
    _refused(call("redact", note, "--system", "no_such"), "no_such")
    _refused(call("redact", note, "--system", "recorded", "--with", f"path={found}"), "finds spans")


@pytest.mark.parametrize(
    "words",
    [("--as", "labels"), ("--number-by", "note"), ("--policy", "hipa"), ("--mask-with", "xx"), ("--whole-weeks",)],
)
def test_bad_options_are_taught(tmp_path: Path, words: tuple[str, ...]) -> None:
    note, found = _note(tmp_path)
    _refused(call("redact", note, "--predictions", found, *words))


@pytest.mark.parametrize("content", [b"\xff\xfeA\x00", b"abc \xe9"])
def test_bytes_that_are_no_text_are_refused(tmp_path: Path, content: bytes) -> None:
    note, found = _note(tmp_path)
    note.write_bytes(content)
    _refused(call("redact", note, "--predictions", found), "UTF-8")
    _refused(call("redact", tmp_path / "none.txt", "--predictions", found), "check the path")


def test_a_policy_says_what_stays(tmp_path: Path) -> None:
    corpus = tmp_path / "c.jsonl"
    text = "Dr. Ray in Ohio saw Ann."
    spans = [{"start": 4, "end": 7, "label": "name_provider"}, {"start": 11, "end": 15, "label": "state"},
             {"start": 20, "end": 23, "label": "name_patient"}]  # fmt: skip
    corpus.write_text(json.dumps({"id": "a", "text": text, "spans": spans}) + "\n")
    texts = {}
    for policy in ("as_annotated", "hipaa_safe_harbor", "hipaa_plus_providers"):
        assert call("redact", corpus, "--golds", "--policy", policy, "-o", tmp_path / policy).code == 0
        texts[policy] = json.loads((tmp_path / policy).read_text())["text"]
    assert texts["as_annotated"] == "Dr. [NAME-1] in [STATE-1] saw [NAME-2]."
    assert texts["hipaa_safe_harbor"] == "Dr. Ray in Ohio saw [NAME-1]."
    assert texts["hipaa_plus_providers"] == "Dr. [NAME-1] in Ohio saw [NAME-2]."


def test_a_new_key_can_be_made_and_used_at_once(tmp_path: Path) -> None:
    note, found = _note(tmp_path)
    key, out, map_ = tmp_path / "k", tmp_path / "o.txt", tmp_path / "m"
    assert call("redact", note, "--predictions", found, "--new-key", key, "-o", out, "--map", map_).code == 0
    assert call("restore", out, "--map", map_, "--key-file", key).out == NOTE
    key.chmod(0o644)
    assert "others on this machine" in call("restore", out, "--map", map_, "--key-file", key).err


def test_labels_of_other_schemes_are_mapped_and_unknown_ones_go_all_the_same(tmp_path: Path) -> None:
    note, found = _note(tmp_path, text="Ann has shoes 44 on.")
    found.write_text(json.dumps({"id": "note", "spans": [{"start": 0, "end": 3, "label": "PERSON"},
                                                         {"start": 14, "end": 16, "label": "SHOE_SIZE"}]}))  # fmt: skip
    done = call("redact", note, "--predictions", found, "--labels", "presidio")
    assert done.out == "[NAME-1] has shoes [PHI-1] on." and "without a canonical name" in done.err


def test_the_same_key_gives_the_same_bytes_in_every_process(tmp_path: Path) -> None:
    corpus, key = _corpus(tmp_path), _key(tmp_path)
    outputs = []
    for seed in ("1", "2"):
        out = tmp_path / f"{seed}.jsonl"
        words = ("redact", corpus, "--golds", "--as", "surrogate", "--key-file", key, "-o", out)
        done = spawn(*words, PYTHONHASHSEED=seed)
        assert done.code == 0, done.err
        outputs.append(out.read_bytes())
    assert outputs[0] == outputs[1]


@pytest.mark.real_data
@pytest.mark.parametrize(
    ("file", "labels", "documents"),
    [("tab/tab.jsonl", "tab", 72), ("presidio_synth/synth_dataset_v2.json", "presidio_synth", 1500)],
)
def test_public_corpora_are_redacted_with_consistent_surrogates_and_true_intervals(
    tmp_path: Path, file: str, labels: str, documents: int
) -> None:
    """Their own golds are replaced; what stays visible is what annotators left unmarked in other mentions."""
    corpus, out = tmp_path / "corpus.jsonl", tmp_path / "out.jsonl"
    assert call("corpus", "convert", DATA / file, corpus).code == 0
    done = call("redact", corpus, "--golds", "--labels", labels, "--as", "surrogate", "-o", out, "--json", "-")
    assert done.code == 0, done.err
    record = json.loads(done.out)
    audits = {audit["metric"]: audit for audit in record["audits"]}
    assert record["documents"] == documents and not record["unmapped"]
    assert audits["surrogate_consistency"]["value"] == 1.0 and audits["surrogate_consistency"]["n"] > 500
    assert audits["interval_preservation"]["value"] in (1.0, None) and audits["residual_originals"]["value"] < 0.005
    assert record["counts"].get("dates not read", 0) < 0.03 * record["counts"]["replaced by shift"]
    lines = [json.loads(line) for line in out.read_text().splitlines()]
    assert all(line["text"][s["start"] : s["end"]] == s["text"] for line in lines for s in line.get("spans", []))


def test_a_dash_is_standard_output_and_no_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    note = tmp_path / "note.txt"
    note.write_text("Seen by Dr. Jane Smith on 03/14/2021.")
    done = call("redact", str(note), "-o", "-")
    assert done.code == 0 and "[" in done.out and "Smith" not in done.out
    assert [file.name for file in tmp_path.iterdir()] == ["note.txt"]

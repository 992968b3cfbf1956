"""Ids, names of files, words of plug-ins and characters that steer a terminal do not reach a message by themselves."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import xml.etree.ElementTree
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.shell import Done, call
from workup import errors
from workup.corpora.formats.spans.any_format import read_documents
from workup.errors import InputError, PluginError, SystemFailure, WorkupError, show_ids, visible_lines
from workup.runs.directory import RunDirectory

ID = "Quenneville-00482913"
HOSTILE = "a\x1b[31mred\u202eevil\u2066x\x85y\u2028z\rw"
STEERING = ("\x1b", "\u202e", "\u2066", "\x85", "\u2028", "\r")


@pytest.fixture(autouse=True)
def _ids_are_hidden_again() -> Iterator[None]:
    yield
    show_ids(False)


def _line(**changes: Any) -> str:
    return json.dumps({"id": ID, "text": "Rose came.", "spans": [{"start": 0, "end": 4, "label": "NAME"}]} | changes)


# ---- ids -------------------------------------------------------------------------------------------------------------


def _brat(folder: Path) -> Path:
    (folder / "c").mkdir()
    (folder / "c" / f"{ID}.txt").write_text("Rose came.")
    (folder / "c" / f"{ID}.ann").write_text("T1\tNAME 0 99\tRose\n")
    return folder / "c"


def _i2b2(folder: Path) -> Path:
    (folder / "c").mkdir()
    (folder / "c" / f"{ID}.xml").write_text("<deIdi2b2><TEXT>x</TEXT")
    return folder / "c"


def _written(folder: Path, name: str, text: str) -> Path:
    (folder / name).write_text(text)
    return folder / name


def _task(**data: Any) -> str:
    result = [{"type": "labels", "value": {"start": 0, "end": 99, "labels": ["NAME"]}}]
    return json.dumps([{"id": 1, "data": {"text": "Rose", "id": ID, **data}, "annotations": [{"result": result}]}])


BROKEN = {
    "spans-jsonl": lambda folder: _written(folder, "c.jsonl", _line(spans=[{"start": 0, "end": 99, "label": "NAME"}])),
    "spans-jsonl twice": lambda folder: _written(folder, "c.jsonl", f"{_line()}\n{_line()}\n"),
    "brat": _brat,
    "i2b2": _i2b2,
    "label-studio": lambda folder: _written(folder, "c.json", _task()),
    "tab": lambda folder: _written(
        folder, "c.json", json.dumps([{"doc_id": ID, "text": "Rose", "annotations": {}, "meta": {}}])
    ),
    "conll": lambda folder: _written(folder, "c.conll", f"# newdoc id = {ID}\nx O\n# newdoc id = {ID}\ny O\n"),
}


@pytest.mark.parametrize("form", BROKEN)
def test_a_format_names_file_and_place_and_not_the_document(form: str, tmp_path: Path) -> None:
    path = BROKEN[form](tmp_path)
    with pytest.raises(InputError) as caught:
        list(read_documents(path, format=form.partition(" ")[0]))
    assert ID not in str(caught.value) and "Quenneville" not in str(caught.value)
    assert path.name in str(caught.value) and any(digit in str(caught.value) for digit in "123")
    show_ids()
    with pytest.raises(InputError, match=ID):
        list(read_documents(path, format=form.partition(" ")[0]))


def _cases(**changes: Any) -> str:
    fact = {"id": "f", "type": "allergy", "concept": "penicillin", "introduced": 1}
    case = {
        "id": ID,
        "patient_summary": "",
        "turns": [{"turn": 1, "message": "I am allergic to penicillin."}],
        "facts": [fact],
    }
    return json.dumps(case | changes) + "\n"


def _commands(folder: Path) -> dict[str, list[Any]]:
    corpus = _written(folder, "corpus.jsonl", f"{_line()}\n{_line(id='other')}\n")
    predictions = _written(folder, "pred.jsonl", json.dumps({"id": "other", "spans": []}) + "\n")
    notes = folder / f"{ID} notes"
    notes.mkdir()
    (notes / f"{ID}.txt").write_bytes(b"\xff\xfe")
    again = _written(folder, "again.jsonl", _line(text="Seen by [NAME-1] twice.", spans=[]) + "\n")
    cases = _written(folder, "cases.jsonl", _cases(metadata={"groups": [1]}))
    said = {"case": ID, "replicate": 1, "turn": 1, "arm": "live", "probe": None, "reply": "Yes."}
    transcripts = _written(folder, "t.jsonl", json.dumps(said) + "\n")
    return {
        "predictions are missing": ["redact", corpus, "--predictions", predictions, "-o", folder / "o.jsonl"],
        "redacted before": ["redact", again, "--golds", "--as", "surrogate", "-o", folder / "o.jsonl"],
        "a file of a folder": ["redact", notes, "-o", folder / "out"],
        "a case": ["score", "conversation", cases, "--transcripts", transcripts],
    }


@pytest.mark.parametrize("name", ["predictions are missing", "redacted before", "a file of a folder", "a case"])
def test_a_command_names_places_unless_ids_are_asked_for(name: str, tmp_path: Path) -> None:
    words = _commands(tmp_path)[name]
    done = call(*words)
    assert done.code == 2, done.err
    told = done.err.replace(f"{ID} notes", "")  # the folder that the user named
    assert ID not in told, told
    shown = call(*words, "--show-ids")
    assert shown.code == 2 and ID in shown.err.replace(f"{ID} notes", "")
    assert ID not in call(*words).err.replace(f"{ID} notes", "")  # not for good


def test_a_document_that_an_injection_spoilt_is_not_named() -> None:
    from workup.corpora.inject.insertion import _check
    from workup.documents.document import Document

    for shown in (False, True):
        show_ids(shown)
        with pytest.raises(InputError) as caught:
            _check(Document(ID, "Rose came."), "Rose left.", (), (), (), ())
        assert (ID in str(caught.value)) is shown


# ---- names of files --------------------------------------------------------------------------------------------------


def _folder(tmp_path: Path) -> tuple[Path, Path]:
    folder = tmp_path / "notes"
    folder.mkdir()
    (folder / "Quenneville_Rose_00482913.txt").write_bytes(b"Rose Quenneville, MRN 00482913, came on 3/4/2021.\r\n")
    (folder / "Smith_Maria.txt").write_bytes("Maria Smith came – on 3/5/2021.\n".encode())
    (tmp_path / "k").write_bytes(b"0123456789abcdef0123456789abcdef\n")
    return folder, tmp_path / "k"


def test_outputs_are_renamed_and_the_map_gives_the_names_back(tmp_path: Path) -> None:
    pytest.importorskip("cryptography")
    folder, key = _folder(tmp_path)
    out, pieces = tmp_path / "out", tmp_path / "pieces.jsonl"
    done = call("redact", folder, "-o", out, "--rename", "--map", tmp_path / "m", "--key-file", key, "--pieces", pieces,
                "--as", "surrogate", "--json", tmp_path / "r.json")  # fmt: skip
    assert done.code == 0, done.err
    assert sorted(one.name for one in out.iterdir()) == ["note-0001.txt", "note-0002.txt"]
    for place in (tmp_path / "out.redaction.json", pieces, tmp_path / "r.json", tmp_path / "m"):
        assert b"Quenneville" not in place.read_bytes() and b"00482913" not in place.read_bytes()
    assert "Quenneville" not in done.err and "WARNING" not in done.err
    back = tmp_path / "back"
    assert call("restore", out, "--map", tmp_path / "m", "--key-file", key, "-o", back).code == 0
    assert {one.name: one.read_bytes() for one in back.iterdir()} == {
        one.name: one.read_bytes() for one in folder.iterdir()
    }


def test_names_that_look_like_patients_are_warned_of_without_being_told(tmp_path: Path) -> None:
    folder, _ = _folder(tmp_path)
    done = call("redact", folder, "-o", tmp_path / "out")
    assert done.code == 0 and "2 of 2 file names look as if they held a patient's name" in done.err
    assert "Quenneville" not in done.err and "Smith" not in done.err
    plain = tmp_path / "plain"
    plain.mkdir()
    (plain / "note-1.txt").write_text("Rose came.\n")
    assert "WARNING" not in call("redact", plain, "-o", tmp_path / "out2").err


def test_documents_of_a_corpus_are_renamed_too(tmp_path: Path) -> None:
    corpus = _written(tmp_path, f"{ID}.jsonl", _line() + "\n")
    out = tmp_path / "o.jsonl"
    done = call("redact", corpus, "--golds", "--rename", "-o", out)
    assert done.code == 0 and json.loads(out.read_text())["id"] == "note-0001"
    assert ID not in (tmp_path / "o.jsonl.redaction.json").read_text()


# ---- what plug-ins raise ---------------------------------------------------------------------------------------------

SECRET = "Rose Quenneville has HIV"
PLUGINS = {
    "import": f"raise ValueError({SECRET!r})",
    "import error": f"raise ImportError({SECRET!r})",
    "module not found": f"raise ModuleNotFoundError({SECRET!r}, name={SECRET!r})",
    "constructor": f"class Thing:\n    def __init__(self, **given): raise ValueError({SECRET!r})",
    "at work": f"class Thing:\n    name, version = 'x', '1'\n    def detect(self, texts): raise ValueError({SECRET!r})",
    "a kind that speaks": f"Loud = type({SECRET!r} + chr(0x202e), (Exception,), {{}})\nraise Loud()",
}


@pytest.mark.parametrize("name", [one for one in PLUGINS if one != "a kind that speaks"])
def test_the_words_of_a_plug_in_are_shown_for_debugging_only(name: str, tmp_path: Path) -> None:
    module = f"plugged_{name.replace(' ', '_')}"
    _written(tmp_path, f"{module}.py", PLUGINS[name])
    note = _written(tmp_path, "n.txt", "Rose came.\n")
    words = [sys.executable, "-m", "workup.cli", "redact", str(note), "--system", f"{module}:Thing"]
    code = "import sys; sys.path.insert(0, sys.argv.pop(1)); from workup.cli import main; main()"
    run = [sys.executable, "-c", code, str(tmp_path), *words[3:]]
    done = subprocess.run(run, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 2, done.stderr
    assert SECRET not in done.stderr and "Traceback" not in done.stderr and "Error" in done.stderr
    shown = subprocess.run([*run, "--debug"], capture_output=True, text=True, check=False, timeout=120)
    assert SECRET not in shown.stderr  # a file of the user's own has them
    [file] = re.findall(r"\S+traceback-\S+\.txt", shown.stderr)
    assert SECRET in Path(file).read_text(encoding="utf-8")


def test_a_registered_plug_in_that_cannot_be_loaded_is_told_without_its_words(monkeypatch: pytest.MonkeyPatch) -> None:
    from importlib.metadata import EntryPoint

    from workup import plugins

    class Broken(EntryPoint):
        def load(self) -> Any:
            raise RuntimeError(SECRET)

    broken = Broken("broken", "nowhere:Thing", "workup.systems")
    monkeypatch.setattr(plugins, "registered", lambda noun: {"broken": broken})
    with pytest.raises(PluginError) as caught:
        plugins.find("systems", "broken")
    assert SECRET not in str(caught.value) and "RuntimeError" in str(caught.value)


def test_a_model_that_cannot_be_read_is_told_without_its_words(tmp_path: Path) -> None:
    pytest.importorskip("sklearn")
    import pickle

    from workup.systems.risk.sklearn import _load

    class Loud:
        def __reduce__(self) -> Any:
            return (eval, (f"getattr(__import__('sys'), {SECRET!r})",))

    with pytest.raises(SystemFailure) as caught:
        _load(pickle.dumps(Loud()), where="system 'm'")
    assert SECRET not in str(caught.value) and "AttributeError" in str(caught.value)


# ---- characters that steer a terminal --------------------------------------------------------------------------------


def _steers(text: str) -> list[str]:
    return [f"U+{ord(one):04X}" for one in STEERING if one in text.replace("\r\n", "\n")]


def test_messages_show_such_characters_as_numbers(capsys: pytest.CaptureFixture[str]) -> None:
    from workup.cli.common import VOICE, detail, echo, say

    VOICE.quiet, VOICE.verbose = False, True
    say(HOSTILE)
    detail(HOSTILE)
    echo(f"{HOSTILE}\nsecond\tline with a no-break\u00a0blank")
    said = capsys.readouterr()
    assert not _steers(said.err) and not _steers(said.out)
    assert said.err.count("red") == 2 and "second\tline with a no-break\u00a0blank" in said.out
    VOICE.verbose = False


def test_the_log_of_a_run_holds_none(tmp_path: Path) -> None:
    with RunDirectory.open(tmp_path / "run") as directory:
        directory.log(f"warning: {HOSTILE}")
    text = (tmp_path / "run" / "run.log").read_bytes().decode()
    assert not _steers(text) and text.count("\n") == 1


def test_what_a_program_says_on_stderr_is_shown_escaped(tmp_path: Path) -> None:
    script = _written(
        tmp_path,
        "program.py",
        f"import sys\nsys.stderr.buffer.write(({HOSTILE!r} + '\\n').encode() + b'bytes \\xff\\n')\n"
        'for line in sys.stdin: print(\'{"id": "1", "spans": []}\', flush=True)\n',
    )
    note = _written(tmp_path, "n.txt", "Rose came.\n")
    with_ = f"run={json.dumps([sys.executable, str(script)])}"
    code = "from workup.cli import main; main()"
    run = [sys.executable, "-c", code, "redact", str(note), "--system", "command", "--with", with_]
    done = subprocess.run(run, capture_output=True, check=False, timeout=120)
    said = done.stderr.decode()
    assert done.returncode == 0, said
    assert "red" in said and "bytes \\xff" in said and not _steers(said)


def test_junit_is_well_formed_and_holds_none() -> None:
    from workup.report import Verdict
    from workup.reports.junit import render

    text = render([Verdict(f"recall.low >= 0.9{HOSTILE}", "fail", {"low": 0.1}, HOSTILE)], name=HOSTILE)
    xml.etree.ElementTree.fromstring(text.encode())
    assert not _steers(text)


def test_errors_of_every_command_are_escaped(tmp_path: Path) -> None:
    done = call("redact", tmp_path / f"x{HOSTILE}.txt")
    assert done.code == 2
    assert isinstance(done, Done)
    with pytest.raises(WorkupError):
        raise InputError("x", where=HOSTILE)
    assert not _steers(visible_lines(HOSTILE)) and errors.visible_lines("plain\ntext") == "plain\ntext"


def test_pages_leave_out_ids_of_cases_that_look_like_patients() -> None:
    from workup.reports.conversation.advice import case_name

    assert [case_name({"case": name}) for name in (ID, "Lee, Rose", "1951-03-14", "case-07")] == [
        *["not shown"] * 3,
        "case-07",
    ]

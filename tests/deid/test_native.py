"""The native de-identifier as a system under test."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from workup.corpora.generate.notes import generate
from workup.deid import gazetteer
from workup.documents.mappings import LabelMapping
from workup.errors import InputError
from workup.systems.spans.native import Native
from workup.testing import check_system

NOTE = "Dr. Ada Berg saw Mr. Trevino, a 47-year-old, in Room 12 on 3/14/2021."


def opened(**settings: Any) -> Native:
    return Native(**{"name": "native", "base": Path(), **settings})


def test_conforms() -> None:
    check_system(opened(), task="spans", texts=[NOTE, "No name here."])


def test_answers_canonical_leaves_with_scores() -> None:
    system = opened(policy="all")
    (spans,) = system.detect([NOTE])
    assert spans is not None
    assert [span.label for span in spans] == [
        "misc",
        "name_provider",
        "misc",
        "name_patient",
        "age_under_90",
        "facility_unit",
        "date",
    ]
    assert all(span.score is not None and 0.5 <= span.score <= 1 for span in spans)
    assert LabelMapping.load(system.mapping).unmapped(system.emits) == []


def test_safe_harbor_and_clinicians_unless_asked_otherwise() -> None:
    (spans,) = opened().detect([NOTE])
    assert spans is not None and [span.label for span in spans] == ["name_provider", "name_patient", "date"]
    assert opened().version == opened(policy="hipaa_plus_providers").version != opened(policy="all").version


def test_policy_and_threshold_choose() -> None:
    (spans,) = opened(policy="hipaa_safe_harbor").detect([NOTE])
    assert spans is not None and [span.label for span in spans] == ["name_patient", "date"]
    (spans,) = opened(threshold=0.99, tagger="off").detect([NOTE])
    assert spans is not None and [span.label for span in spans] == ["name_provider"]


def test_travels_and_its_version_tells_rules_apart(tmp_path: Path) -> None:
    (tmp_path / "own.yaml").write_text("allow: [Berg]\n", encoding="utf-8")
    plain, own = opened(), opened(base=tmp_path, config="own.yaml")
    assert plain.version != own.version
    assert pickle.loads(pickle.dumps(own)).detect([NOTE]) == own.detect([NOTE])


@pytest.mark.parametrize("wrong", [{"threshold": 2}, {"layers": ["rulez"]}, {"config": "absent.yaml"}, {"batch": 0}])
def test_wrong_settings(wrong: dict[str, Any]) -> None:
    with pytest.raises(InputError):
        opened(**wrong)


def test_gazetteers_are_the_recorded_ones() -> None:
    assert all(source.licence and source.version for source in gazetteer.provenance())
    assert gazetteer.people()["nguyen"].surname > 5 and "s" in gazetteer.places()["ohio"].kinds


def test_most_of_what_notes_hold_is_found() -> None:
    system, must, missed = opened(policy="hipaa_plus_providers"), 0, 0
    for note in generate(25, seed=4242).documents():
        (spans,) = system.detect([note.text])
        masked = {i for span in spans or () for i in range(span.start, span.end)}
        for gold in note.spans:
            if gold.label in system.emits:
                must += 1
                missed += any(i not in masked and note.text[i].isalnum() for i in range(gold.start, gold.end))
    assert must > 100 and missed / must < 0.05


def test_answers_do_not_depend_on_the_order_of_sets() -> None:
    """Python deals another order of sets to every process; findings and their evidence must be the same in all."""
    script = (
        "from workup.corpora.generate.notes import generate; from workup.deid import Deidentifier; "
        "notes = [one.text for one in generate(12, seed=41).documents()]; print(Deidentifier.load().detect(notes))"
    )
    answers = {
        subprocess.run(
            [sys.executable, "-c", script],
            env={**os.environ, "PYTHONHASHSEED": seed},
            check=True,
            capture_output=True,
            text=True,
        ).stdout
        for seed in ("1", "2", "3")
    }
    assert len(answers) == 1

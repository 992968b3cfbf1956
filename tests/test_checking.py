"""What can be known to be wrong with a study is refused before its system is asked, all of it in one message."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml

from tests.support.shell import call as workup
from workup.cli import report as records
from workup.errors import MissingExtra, StudyError, WorkupError
from workup.preflight import checked
from workup.report import LensResult, Report
from workup.reports import html, pdf
from workup.settings import Part
from workup.study import Study
from workup.task import StudyDesign
from workup.validate import validate

N = 240


class Untouchable:
    """A system that must never be asked."""

    name, version = "untouchable", "1"

    def predict(self, table: Mapping[str, Any]) -> Sequence[float]:
        raise AssertionError("the system was asked")


def table() -> dict[str, Any]:
    draw = np.random.default_rng(3)
    risk = draw.beta(2, 4, N)
    return {
        "died": (draw.random(N) < risk).astype(float),
        "p": risk,
        "sex": draw.choice(["F", "M"], N).astype(object),
        "zip": np.array([f"z{i % 60}" for i in range(N)], dtype=object),
        "hospital": draw.choice(["A", "B", "C"], N).astype(object),
    }


def study(**changes: Any) -> Study:
    base = changes.pop("base", ".")
    columns = {"outcome": "died", "risk": "p", "groups": ["sex"], **changes.pop("columns", {})}
    content = {"name": "x", "task": "risk", "columns": columns, "thresholds": [0.2], "bootstrap": {"replicates": 200}}
    return Study.of({**content, **changes}, base=base)


FAULTS: list[tuple[str, dict[str, Any], str]] = [
    ("drift without a time", {"lenses": {"drift": {}}}, "lenses.drift needs times"),
    ("sites without a site", {"lenses": {"sites": {}}}, "lenses.sites needs to know the sites"),
    ("subgroups without groups", {"columns": {"groups": []}, "lenses": {"subgroups": {}}}, "needs groups"),
    ("a margin of 5", {"lenses": {"subgroups": {"margin": 5}}}, "below 1; got 5. To fix: write 0.05 for 5 points"),
    (
        "a family of an unknown metric",
        {"lenses": {"subgroups": {"margin": 0.05, "family": {"metrics": ["aurok"]}}}},
        "lenses.subgroups.family.metrics: 'aurok' is not a metric of this study; did you mean 'auroc'?",
    ),
    (
        "a family at an unknown threshold",
        {"lenses": {"subgroups": {"margin": 0.05, "family": {"thresholds": [0.3]}}}},
        "lenses.subgroups.family.thresholds: 0.3 is not a threshold of the study. To fix: choose among 0.2",
    ),
    ("a margin of 1", {"lenses": {"subgroups": {"margin": 1}}}, "lenses.subgroups.margin"),
    ("a margin of 0", {"lenses": {"subgroups": {"margin": 0}}}, "expected a number above 0; got 0"),
    ("a margin for a share", {"lenses": {"subgroups": {"margin": {"ppv": 5}}}}, "lenses.subgroups.margin.ppv"),
    ("a margin for no metric", {"lenses": {"subgroups": {"margin": {"auc": 0.1}}}}, "'auc' is not a metric"),
    ("a group that is no group", {"lenses": {"subgroups": {"by": ["sx"]}}}, "did you mean 'sex'?"),
    ("a group that is no column", {"columns": {"groups": ["sx"]}}, "columns.groups[0] names 'sx'"),
    ("a reference that is no level", {"lenses": {"subgroups": {"comparator": "X"}}}, "'X' is neither rest"),
    ("too many levels", {"columns": {"groups": ["zip"]}, "lenses": {"subgroups": {}}}, "'zip' has 60 levels"),
    ("too many to plan for", {"columns": {"groups": ["zip"]}, "lenses": {"power": {}}}, "'zip' has 60 levels"),
    (
        "too many to follow from site to site",
        {"columns": {"groups": ["zip"], "site": "hospital"}, "lenses": {"sites": {"by": ["zip"]}}},
        "lenses.sites.by: 'zip' has 60 levels",
    ),
    (
        "too many combinations",
        {
            "columns": {"groups": ["sex", "zip"]},
            "lenses": {"subgroups": {"by": ["sex"], "intersections": [["sex", "zip"]]}},
        },
        "lenses.subgroups.intersections: 'sex × zip' has",
    ),
    ("a setting unknown to its lens", {"lenses": {"power": {"powr": 0.8}}}, "did you mean 'power'?"),
    ("a setting of another type", {"lenses": {"drift": {"quiet": "long"}}}, "lenses.drift: 'quiet': expected"),
    ("an unknown lens", {"lenses": {"subgroup": {}}}, "did you mean 'subgroups'?"),
    ("an unknown window", {"lenses": {"drift": {"window": "fortnight"}}}, "lenses.drift.window"),
    ("an unknown chart", {"lenses": {"drift": {"charts": ["shewhart"]}}}, "'shewhart' is not a known chart"),
    ("a limit for no metric", {"lenses": {"sites": {"limit": {"auc": 0.7}}}}, "'auc' is not a metric"),
    ("folds without a refit", {"lenses": {"internal": {"folds": 5}}}, "folds needs a refit function"),
    ("a gate on another threshold", {"gates": ["ppv{threshold=0.5}.low >= 0.1"]}, "no threshold 0.5"),
    ("a gate without a threshold", {"thresholds": [], "gates": ["ppv.low >= 0.1"]}, "it needs a decision threshold"),
    ("a gate on no lens", {"gates": ["auroc{sex=F}.low >= 0.5"]}, "no lens of this study shows 'auroc' by 'sex'"),
    ("a gate on no slice", {"gates": ["auroc{sx=F}.low >= 0.5"]}, "nothing in this study is sliced by 'sx'"),
    (
        "a gate on no level",
        {"lenses": {"subgroups": {}}, "gates": ["auroc{sex=X}.low >= 0.5"]},
        "'sex' has no level 'X'; Known: F, M",
    ),
    ("a gate on no baseline", {"gates": ["auroc.low >= baseline - 0.02"]}, "the study names none"),
    ("an unknown engine", {"engine": "serail"}, "did you mean 'serial'?"),
    ("a baseline that is not there", {"baseline": "nothing.json"}, "nothing.json"),
    ("sites that are not there", {"sites": "sites.csv"}, "sites: 'sites.csv' is not a file"),
    ("strata that are no group", {"bootstrap": {"strata": "sx"}}, "bootstrap.strata: 'sx'"),
    ("a refit that is not there", {"lenses": {"internal": {"refit": "no_such_module:fit"}}}, "no_such_module"),
    ("a split that is not there", {"split": "split.json"}, "split: 'split.json' is not a file"),
]


@pytest.mark.parametrize(("why", "changes", "says"), FAULTS, ids=[why for why, *_ in FAULTS])
def test_a_fault_is_found_before_the_system_is_asked(
    why: str, changes: dict[str, Any], says: str, tmp_path: Path
) -> None:
    with pytest.raises(WorkupError) as caught:
        validate(study(base=tmp_path, **changes), table=table(), system=Untouchable())
    assert says in str(caught.value)


def test_recorded_answers_are_looked_at_too() -> None:
    for column, says in (("q", "no such column"), ("sex", "must be a number in every row")):
        wrong = study(systems=[{"name": "old", "use": "recorded", "with": {"column": column}}])
        with pytest.raises(WorkupError, match=says):
            checked(wrong, table=table())


def test_all_faults_are_told_at_once() -> None:
    wrong = {"lenses": {"subgroups": {"margin": 5}, "drift": {}}, "gates": ["ppv{threshold=0.5}.low >= 0.1"]}
    with pytest.raises(StudyError) as caught:
        checked(study(baseline="none.json", **wrong), table=table(), more=["report.formats: 'docx' is not a form."])
    message = str(caught.value)
    assert message.startswith("5 things to mend before the system is asked:")
    for words in ("docx", "none.json", "margin", "needs times", "no threshold 0.5"):
        assert words in message


def test_what_is_right_is_not_refused() -> None:
    asked = {
        "lenses": {
            "internal": {},
            "subgroups": {"margin": {"auroc": 0.05, "oe_ratio": 2.0, "calibration_slope": 1.5}, "comparator": "F"},
            "sites": {"limit": {"auroc": 0.6}},
            "power": {},
        },
        "columns": {"site": "hospital"},
        "gates": [
            *("auroc.low >= 0.6", "ppv.low >= 0.1", "ppv{threshold=0.20}.low >= 0.1", "auroc{sex=*}.low >= 0.5"),
            *("auroc{sex=F}.low >= 0.5", "auroc{site=A}.low >= 0.5", "auroc{pooled=sites}.low >= 0.5"),
        ],
    }
    ready = checked(study(**asked), table=table())
    assert len(ready.gates) == 7 and len(ready.corpus.cases) == N


def test_gates_of_documents_and_conversations_are_looked_at_too() -> None:
    spans = {"name": "x", "task": "spans", "modes": ["strict"], "policies": ["hipaa_safe_harbor"]}
    document = {"id": "a", "text": "Ann Lee", "spans": [{"start": 0, "end": 7, "label": "name_patient"}]}
    for slice_, says in (("mode=iou:0.5", "no mode 'iou:0.5'"), ("policy=gdpr", "no policy 'gdpr'")):
        wrong = Study.of({**spans, "gates": [f"recall{{{slice_}}}.low >= 0.5"]})
        with pytest.raises(StudyError, match=says):
            checked(wrong, table=[document], systems=False)
    right = Study.of({**spans, "gates": ["recall{mode=strict,level=leaf}.low >= 0.5", "recall{label=date}.low >= 0.5"]})
    assert len(checked(right, table=[document], systems=False).gates) == 2


# ---- lenses of others ------------------------------------------------------------------------------------------------


class Settings(Part):
    """Settings of a lens that another package brings."""

    wanted: int = 3


def check(chosen: Settings, design: StudyDesign) -> Iterator[str]:
    """One rule of its own."""
    if chosen.wanted > 3:
        yield f".wanted: at most 3; got {chosen.wanted}."


def lens(scores: Any, metrics: Any, *, settings: Mapping[str, Any], **_: Any) -> LensResult:
    """A lens that says nothing of its slices, so gates on them are not judged in advance."""
    return LensResult(lens="own", settings=dict(settings))


OWN = f"{__name__}:lens"


def test_a_lens_of_another_package_is_checked_by_the_same_rule() -> None:
    for settings, says in (({"wanted": "x"}, "whole number"), ({"wanted": 9}, "at most 3; got 9")):
        with pytest.raises(StudyError, match=says):
            checked(study(lenses={OWN: settings}), table=table())
    assert checked(study(lenses={OWN: {}}, gates=["auroc{shift=night}.low >= 0.5"]), table=table()).gates


# ---- through the command line ----------------------------------------------------------------------------------------


def written(folder: Path, **changes: Any) -> Path:
    import csv

    columns = table()
    with (folder / "t.csv").open("w", newline="") as file:
        csv.writer(file).writerows([list(columns), *zip(*columns.values(), strict=True)])
    content = {**study(**changes).record(), "corpus": {"path": "t.csv"}}
    (folder / "study.yaml").write_text(yaml.safe_dump(content))
    return folder / "study.yaml"


@pytest.mark.parametrize("dry", [True, False])
def test_the_command_line_refuses_before_it_makes_anything(dry: bool, tmp_path: Path) -> None:
    file = written(tmp_path, report={"formats": ["docx"]}, lenses={"drift": {}})
    found = workup("run", file, *(["--dry-run"] if dry else []))
    assert found.code == 2
    assert "report.formats: 'docx' is not a form of a report" in found.err and "needs times" in found.err
    assert not (tmp_path / "runs").exists()


def test_an_uninstalled_form_is_refused_before_the_work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def absent() -> Any:
        raise MissingExtra("weasyprint", extra="pdf", purpose="a report as PDF")

    monkeypatch.setattr(pdf, "writer", absent)
    found = workup("run", written(tmp_path, report={"formats": ["pdf"]}), "--dry-run")
    assert found.code == 2 and "pip install" in found.err
    assert records.form_faults(["md", "html"], where="report.formats") == []


def test_what_was_computed_is_kept_when_drawing_fails(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(report: Any, **_: Any) -> str:
        raise KeyError("patient Smith")

    monkeypatch.setattr(html, "render", broken)
    file = written(tmp_path, report={"formats": ["html", "md"]})
    found = workup("run", file, "-o", tmp_path / "run")
    assert found.code == 2
    assert "its record is kept in report.json" in found.err and "workup report" in found.err
    assert "Smith" not in found.err and "Traceback" not in found.err
    assert (tmp_path / "run" / "report.md").exists() and not (tmp_path / "run" / "report.html").exists()
    held = Report.read(tmp_path / "run")
    assert held.estimate("auroc").value is not None
    assert json.loads((tmp_path / "run" / "timings.json").read_text())["study_file"]
    monkeypatch.undo()
    assert workup("report", tmp_path / "run", "-f", "html", "-o", tmp_path / "again.html").code == 0

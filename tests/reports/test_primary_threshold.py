"""The primary threshold, the first named or `primary: {threshold: …}`, is the one that pages and verdicts speak of."""

from __future__ import annotations

import json
import re
from functools import cache
from typing import Any

import numpy as np
import pytest

from workup.compare import compare
from workup.errors import StudyError
from workup.packs.pack import make_pack
from workup.report import Report
from workup.reports import flat, html, markdown, text
from workup.reports.charts import forest
from workup.reports.page import key_figures
from workup.reports.power import report as power
from workup.reports.sites import forests as site_forests
from workup.reports.wording import primary_threshold
from workup.study import Study
from workup.tasks.risk.task import RiskTask
from workup.validate import validate

N = 1600


def table() -> dict[str, Any]:
    draw = np.random.default_rng(8)
    lp = draw.normal(-0.8, 1.2, N)
    return {
        "died": (draw.random(N) < 1 / (1 + np.exp(-lp))).astype(int),
        "p": 1 / (1 + np.exp(-lp)),
        "sex": draw.choice(["F", "M"], N),
        "hospital": draw.choice(["north", "south", "east", "west"], N),
    }


def study(**changes: Any) -> Study:
    columns = {"outcome": "died", "risk": "p", "groups": ["sex"], "site": "hospital"}
    lenses: dict[str, Any] = {
        "internal": {},
        "subgroups": {"margin": 0.1, "family": {"thresholds": "primary"}},
        "sites": {"by": ["sex"]},
        "power": {},
    }
    content = {"name": "x", "task": "risk", "columns": columns, "lenses": lenses, "bootstrap": {"replicates": 200}}
    return Study.of({**content, "thresholds": [0.1, 0.3, 0.5], **changes})


@cache
def report(named: bool) -> Report:
    # Named as primary, or by being listed first; never the smallest or the middle one for its own sake.
    chosen = {"primary": {"threshold": 0.3}} if named else {"thresholds": [0.3, 0.5, 0.1]}
    return validate(study(**chosen, gates=["sensitivity.low >= 0.1"]), table=table())


def read_again(found: Report) -> Report:
    return Report.from_dict(json.loads(found.to_json()))


@pytest.mark.parametrize("named", [True, False])
def test_the_record_and_its_verdicts(named: bool) -> None:
    found = report(named)
    assert primary_threshold(found) == primary_threshold(read_again(found)) == 0.3
    [gate] = found.verdicts
    expected = found.estimate("sensitivity", threshold=0.3)
    assert gate.observed is not None
    assert gate.observed["value"] == pytest.approx(expected.value)
    judged = {row["slice"].get("threshold") for row in found.results["subgroups"].comparisons if row["margin"]}
    assert judged == {None, 0.3}
    head = [row for row in compare(found, found).rows if row["headline"]]
    assert {row["slice"]["threshold"] for row in head if "threshold" in row["slice"]} == {0.3}


@pytest.mark.parametrize("named", [True, False])
def test_plain_words_card_and_forests(named: bool) -> None:
    found = read_again(report(named))
    plain = [text.render(found), markdown.render(found), re.sub(r"<[^>]+>", " ", html.render(found))]
    for page in plain:
        said = " ".join(page.split())
        assert re.findall(r"At a threshold of ([\d.]+) it flags", said) == ["0.3"]
        meaning = said[said.rindex("What this means for a new site") :]
        assert re.findall(r"(?:Sensitivity|Specificity) at ([\d.]+):", meaning)[:2] == ["0.3", "0.3"]
    assert re.findall(r"Sensitivity at ([\d.]+)", " ".join(card.title for card in key_figures(found))) == ["0.3"]
    titles = [figure.title for figure in forest.forests(found)["sex"]] + [f.title for f in site_forests.forests(found)]
    assert sum("at" in title.split() for title in titles) == 4
    assert {title.split(" at ")[1] for title in titles if " at " in title} == {"0.3"}
    assert json.loads(flat.render(found))["threshold"] == 0.3
    curves = [figure.title for one in power.figures(found).values() for figure in one]
    assert next(title for title in curves if " at " in title).endswith("at 0.3")


@pytest.mark.parametrize("named", [True, False])
def test_single_rows_and_packs(named: bool) -> None:
    chosen = study(primary={"threshold": 0.3}) if named else study(thresholds=[0.3, 0.5, 0.1])
    task = RiskTask()
    corpus = task.read(chosen, table())
    scores = task.scores(corpus, corpus.cohort.table["p"])
    assert {row["threshold"] for row in task.details(scores, chosen)} == {0.3}
    only = {"internal": {}, "subgroups": {}}
    one_site = validate(chosen.model_copy(update={"lenses": only}), table=table())
    pack = make_pack(one_site, site="north", k=0)
    assert pack["settings"]["thresholds"][0] == 0.3


@pytest.mark.parametrize("value", [0.2, "0.3", True, None, float("nan"), [0.3]])
def test_a_primary_threshold_must_be_one_of_the_study(value: Any) -> None:
    with pytest.raises(StudyError, match=r"primary\.threshold: .* is not a threshold of the study; choose among 0\.1"):
        study(primary={"threshold": value})


def test_without_thresholds_none_can_be_primary() -> None:
    with pytest.raises(StudyError, match=r"primary\.threshold: 0\.2 is not a threshold of the study; list it under"):
        study(thresholds=[], primary={"threshold": 0.2})


def test_the_threshold_of_a_cost_ratio_can_be_primary_and_is_found_in_the_record() -> None:
    chosen = study(cost_ratio=2, primary={"threshold": 0.333333333333})
    assert chosen.primary["threshold"] == 1 / 3
    found = read_again(validate(study(cost_ratio=2, primary={"threshold": 0.333333333333}), table=table()))
    assert primary_threshold(found) == 0.333333333333
    assert "At a threshold of 0.333333 it flags" in text.render(found)


def test_a_threshold_of_one_third_is_found_in_memory_and_in_the_record() -> None:
    found = validate(study(thresholds=[1 / 3]), table=table())
    numbers, again = json.loads(flat.render(found)), json.loads(flat.render(read_again(found)))
    assert numbers == again
    for name in ("sensitivity", "specificity", "precision", "npv"):
        assert None not in (numbers[name], numbers[f"{name}_lower"], numbers[f"{name}_upper"]), name
    for name in ("alerts_per_100", "number_needed_to_evaluate", "demographic_parity_ratio_sex"):
        assert numbers[name] is not None, name
    for page in (html.render(found), html.render(read_again(found))):
        assert "Sensitivity at 0.333333" in page.split('<dl class="key">')[1].split("</dl>")[0]

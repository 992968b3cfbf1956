"""The sites lens on rows: each site as in its own report, none lost, and any task's metric served."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import special

from tests.support.planted_months import metrics_of
from workup.errors import InputError, StudyError
from workup.estimate import Draws
from workup.evidence import SiteEvidence, holdings
from workup.lenses.internal import internal
from workup.lenses.sites.lens import sites
from workup.lenses.sites.pooling import Goal, PoolSettings, pool_sites, poolable
from workup.lenses.subgroups.lens import subgroups
from workup.metric import Metric, mean, ratio
from workup.report import LensResult, Report
from workup.scores import Scores
from workup.study import Study
from workup.validate import validate

DRAWS = Draws(seed=5, replicates=200)
HITS = ratio("recall", lambda s: s["hit"], lambda s: s["gold"], describe="share found")
LENGTH = mean("length", lambda s: s["gold"], describe="mean", better="neither")


def cohort(seed: int = 1, n: int = 900, *, names: str = "ABC", **fields: Any) -> Scores:
    rng = np.random.default_rng(seed)
    lp = rng.normal(-0.8, 1.1, n)
    where = rng.choice(list(names), n)
    y = (rng.random(n) < special.expit(lp + np.where(where == "B", 0.5, 0.0))).astype(float)
    plain: dict[str, Any] = {
        "site": where.astype(object),
        "groups": {"sex": rng.choice(["F", "M"], n, p=[0.45, 0.55]).astype(object)},
        "inputs": {"age": np.where(rng.random(n) < 0.1, np.nan, rng.normal(60, 9, n))},
    }
    values = {"outcome": y, "risk": special.expit(lp), "label_delay": rng.gamma(2.0, 5.0, n)}
    return Scores.of(values, **{**plain, **fields})


def look(scores: Scores, measured: list[Metric] | None = None, **settings: Any) -> LensResult:
    beside = {
        key: settings.pop(key) for key in ("places", "intended", "reference", "levels", "draws") if key in settings
    }
    chosen = metrics_of(scores) if measured is None else measured
    return sites(scores, chosen, settings=settings, **{"draws": DRAWS, **beside})


def table(**columns: list[Any]) -> dict[str, np.ndarray[Any, Any]]:
    return {name: np.array(column, dtype=object) for name, column in columns.items()}


def of_metric(found: LensResult, metric: str) -> Any:
    return next(row for row in found.pooled if row["metric"] == metric)


def test_a_site_here_is_what_its_own_report_says() -> None:
    scores = cohort()
    assert scores.site is not None
    found = look(scores, by=["sex"])
    rows = np.flatnonzero(scores.site.codes == 1)
    alone = internal(scores.take(rows), metrics_of(scores), settings={}, draws=DRAWS)
    here = {e.metric: e for e in found.estimates if e.slice.get("site") == "B" and "sex" not in e.slice}
    for e in alone.estimates:
        if e.metric in here:
            assert here[e.metric] == replace(e, slice={"site": "B", **e.slice})
    assert set(here) == {metric.name for metric in poolable(metrics_of(scores))}


def written(results: dict[str, LensResult]) -> Any:
    """Results as they come back from a record: twelve digits, keys in order of the alphabet."""
    corpus = {"name": "c", "version": "", "seed": 0, "n_cases": 1, "n_patients": 1, "sha256": ""}
    made = Report({"name": "s", "task": "risk"}, corpus, {"name": "m", "version": ""}, 0, results)
    return Report.from_dict(json.loads(made.to_json())).results


def test_evidence_of_hospitals_pooled_apart_gives_the_same_numbers() -> None:
    """Three hospitals run the lenses on tables of their own; ids, row order and group codes are theirs."""
    scores = cohort()
    whole = look(scores, by=["sex"])
    assert scores.site is not None
    measured = poolable(metrics_of(scores))
    evidence = []
    for name, inside in scores.site.masks():
        part = scores.take(np.flatnonzero(inside))
        own = Scores.of(
            dict(part.values),
            groups={"sex": [part.groups["sex"].names[code] for code in part.groups["sex"].codes]},
            inputs={"age": np.asarray(part.inputs["age"])},
        )
        everyone = internal(own, measured, settings={}, draws=DRAWS)
        groups = subgroups(own, measured, settings={"by": ["sex"]}, draws=DRAWS)
        sent = written({"internal": everyone, "subgroups": groups})
        everyone, groups = sent["internal"], sent["subgroups"]
        evidence.append(
            SiteEvidence.of_results(name, everyone, groups, holdings=holdings(own), facts={}, source="rows")
        )
    apart = pool_sites(
        evidence[::-1],
        scales={metric.name: metric.scale for metric in measured},
        settings=PoolSettings(),
        goals={metric.name: Goal(metric.better, metric.target) for metric in measured},
    )
    assert len(apart.pooled) == len(whole.pooled)
    for mine, theirs in zip(whole.pooled, apart.pooled, strict=True):
        for key, value in mine.items():
            near = isinstance(value, float) or key == "weights"
            # A bound of tau near 0 is where a nearly level line crosses: evidence of twelve digits moves it by 1e-11.
            apart_by = 1e-10 if key in ("tau_low", "i2_low") else 1e-12
            assert theirs[key] == (pytest.approx(value, rel=1e-9, abs=apart_by) if near else value), key
    for key in ("gaps", "leave_one_out", "not_pooled"):
        assert len(apart.tables[key]) == len(whole.tables[key])
    for mine, theirs in zip(whole.tables["gaps"], apart.tables["gaps"], strict=True):
        assert (mine["group"], mine["metric"]) == (theirs["group"], theirs["metric"])
        assert mine["value"] == pytest.approx(theirs["value"], rel=1e-9)


def test_any_task_is_served() -> None:
    rng = np.random.default_rng(4)
    n = 600
    hit = (rng.random(n) < 0.9).astype(float)
    scores = Scores.of({"hit": hit, "gold": np.ones(n)}, site=rng.choice(["x", "y", "z", "w"], n))
    found = look(scores, [HITS, LENGTH], limit=0.5)
    recall = of_metric(found, "recall")
    assert recall["scale"] == "logit"
    assert recall["value"] == pytest.approx(hit.mean(), abs=0.01)
    assert recall["limit"] == [0.5, None], "a single number is for the first metric of which more is better"
    assert recall["verdict"] == "adequate"
    # A mean that is the same in every row has no interval anywhere; it is listed, not dropped.
    length = of_metric(found, "length")
    assert (length["k"], length["value"]) == (0, None)
    assert {row["site"] for row in found.tables["not_pooled"] if row["metric"] == "length"} == set("wxyz")


def test_rows_without_a_site_are_a_site() -> None:
    names = np.array(["A", "B", None], dtype=object)[np.arange(900) % 3]
    found = look(cohort(site=names))
    assert [row["site"] for row in found.tables["sites"]] == ["A", "B", "missing"]
    assert sum(row["rows"] for row in found.tables["sites"]) == 900
    assert of_metric(found, "auroc")["sites"] == ["A", "B", "missing"]
    assert any(note == "300 rows name no site; they stand together as the site 'missing'." for note in found.notes)


def test_patients_at_two_sites_are_counted() -> None:
    scores = cohort(
        patient=[f"p{i // 2}" for i in range(900)], site=[("A", "B", "C")[(i // 6) % 3] for i in range(900)]
    )
    assert not any("more than one site" in note for note in look(scores, [metrics_of(scores)[0]]).notes)
    moved = cohort(patient=[f"p{i // 2}" for i in range(900)], site=["A", "B"] * 5 + ["C"] * 890)
    assert any(
        note.startswith("5 patients appear at more than one site") for note in look(moved, [metrics_of(moved)[0]]).notes
    )


def test_a_site_that_only_waits_is_still_there() -> None:
    everything = cohort(names="ABCD")
    assert everything.site is not None
    late = everything.site.codes == 3
    scores = replace(everything.take(np.flatnonzero(~late)), waiting=everything.take(np.flatnonzero(late)))
    found = look(scores)
    last = found.tables["sites"][-1]
    assert (last["site"], last["patients"], last["waiting"]) == ("D", 0, int(late.sum()))
    assert of_metric(found, "auroc")["left_out"] == ["D"]
    assert any("Site D is not in the pooled" in note for note in found.notes)


def test_a_site_with_one_class_or_perfect_separation_is_named() -> None:
    scores = cohort(n=900)
    assert scores.site is not None
    y, risk = scores["outcome"].copy(), scores["risk"].copy()
    y[scores.site.codes == 0] = 0.0
    sharp = scores.site.codes == 2
    risk[sharp] = np.where(y[sharp] > 0, 0.9, 0.1)
    found = look(replace(scores, values={**scores.values, "outcome": y, "risk": risk}))
    reasons = {row["site"]: row["reason"] for row in found.tables["not_pooled"] if row["metric"] == "auroc"}
    assert set(reasons) == {"A", "C"}
    assert "undefined" in reasons["A"]
    assert of_metric(found, "auroc")["k"] == 1
    assert of_metric(found, "sensitivity")["left_out"] == ["A"]


def test_whole_study_metrics_are_not_pooled_and_said() -> None:
    found = look(cohort())
    assert not {"ici", "e50", "e90", "emax", "ece"} & {row["metric"] for row in found.pooled}
    assert any("ici, e50, e90, emax" in note for note in found.notes)


def test_what_the_file_and_the_data_say_of_the_sites() -> None:
    places = table(
        site=["A", "B", "Z"],
        name=["Alpha", "Beta", "Zeta"],
        type=["academic", "rural", "rural"],
        volume=[1200.0, None, 30.0],
        payer_public=[0.6, 0.7, 0.8],
    )
    found = look(cohort(), places=places, intended=("Rural", "icu"), small=280)
    a, b, c = found.tables["sites"]
    assert (a["name"], a["type"], a["volume"], a["payer_public"]) == ("Alpha", "academic", 1200, 0.6)
    assert "volume" not in b
    assert "type" not in c
    assert 0.05 < a["missing_inputs"]["age"] < 0.15
    assert sum(a["demographics"]["sex"].values()) == pytest.approx(1)
    assert a["label_delay_days"]["median"] == pytest.approx(8.4, abs=1.5)
    assert [row["status"] for row in found.tables["settings"]] == ["validated", "not validated"]
    assert any("not in the file of sites" in note and note.endswith(": C.") for note in found.notes)
    assert any("without data: Z" in note for note in found.notes)
    assert [(row["by"], row["level"]) for row in found.tables["subsets"][:3]] == [
        ("type", "academic"),
        ("type", "missing"),
        ("type", "rural"),
    ]


def test_sites_named_by_numbers_meet_their_row() -> None:
    scores = cohort(site=np.array([1.0, 2.0, 3.0])[np.arange(900) % 3])
    places = {"site": np.array([1.0, 2.0, 3.0]), "volume": np.array([10.0, 20.0, 30.0])}
    assert [row["volume"] for row in look(scores, places=places).tables["sites"]] == [10, 20, 30]


@pytest.mark.parametrize(
    ("places", "message"),
    [
        (table(hospital=["A"]), "a column 'site'"),
        (table(site=["A", "B", "A"]), "row 3: each site has one row"),
        (table(site=["A", None]), "row 2: every row must name its site"),
    ],
)
def test_a_file_of_sites_that_cannot_be_read(places: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        look(cohort(), places=places)


def test_gaps_between_groups_are_followed_from_site_to_site() -> None:
    found = look(cohort(n=1500), by=["sex"])
    gaps = [row for row in found.tables["gaps"] if row["metric"] == "sensitivity"]
    assert len(gaps) == 1, "two groups have one gap, told once"
    assert gaps[0]["k"] == 3
    assert gaps[0]["low"] < 0 < gaps[0]["high"]
    assert {row["slice"].get("sex") for row in found.pooled} == {None, "F", "M"}


def test_a_group_that_a_site_does_not_have() -> None:
    everyone = cohort()
    assert everyone.site is not None
    sex = np.where(everyone.site.codes == 0, "F", np.where(np.arange(900) % 2 == 0, "F", "M"))
    found = look(cohort(groups={"sex": sex.astype(object)}), by=["sex"])
    men = next(row for row in found.pooled if row["metric"] == "auroc" and row["slice"] == {"sex": "M"})
    assert (men["sites"], men["left_out"]) == (["B", "C"], ["A"])
    assert found.tables["sites"][0]["demographics"]["sex"] == {"F": 1.0}


def test_a_development_site_and_levels_and_strata() -> None:
    scores = cohort(names="ABCD")
    draws = replace(DRAWS, strata=scores.groups["sex"])
    found = look(scores, development="A", levels=(0.95, 0.90), draws=draws)
    assert of_metric(found, "auroc")["sites"] == ["B", "C", "D"]
    assert {e.level for e in found.estimates} == {0.95, 0.90}
    assert {row["against"] for row in found.comparisons} == {"development site A"}
    assert found.settings["levels"] == [0.95, 0.90]


def test_progress_goes_to_the_end() -> None:
    told: list[tuple[int, int]] = []
    scores = cohort()
    sites(scores, metrics_of(scores), settings={}, draws=DRAWS, progress=lambda done, total: told.append((done, total)))
    assert told[-1] == (600, 600)
    assert [done for done, _ in told] == sorted(done for done, _ in told)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"by": ["sexx"]}, "did you mean 'sex'"),
        ({"method": "FE"}, "method"),
        ({"limits": 0.7}, "did you mean 'limit'"),
        ({"development": "Q"}, "'Q' is not known"),
        ({"limit": {"aurok": 0.7}}, "did you mean 'auroc'"),
    ],
)
def test_settings_that_teach(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(StudyError, match=message):
        look(cohort(), **settings)


def test_sites_are_needed() -> None:
    scores = cohort(site=None)
    with pytest.raises(StudyError, match=r"columns\.site"):
        look(scores)


def test_sites_left_out_one_by_one_are_pooled_in_the_internal_lens() -> None:
    scores = cohort()

    def refit(rows: Any) -> Scores:
        share = scores["outcome"][rows].mean()
        return replace(scores, values={**scores.values, "risk": np.clip(scores["risk"] * share / 0.35, 0.01, 0.99)})

    settings = {"optimism": 0, "leave_one_site_out": True}
    found = internal(scores, metrics_of(scores), settings=settings, draws=DRAWS, refit=refit)
    auroc = of_metric(found, "auroc")
    assert (auroc["slice"], auroc["k"]) == ({"validation": "leave-one-site-out"}, 3)
    mean_row = next(e for e in found.estimates if e.metric == "auroc" and e.slice.get("pooled") == "sites")
    assert mean_row.slice == {"validation": "leave-one-site-out", "pooled": "sites"}
    assert (mean_row.value, mean_row.low) == (auroc["value"], auroc["low"])
    each = [e.value for e in found.estimates if e.metric == "auroc" and "site" in e.slice]
    assert min(each) <= auroc["value"] <= max(each)
    assert internal(scores, metrics_of(scores), settings={}, draws=DRAWS).pooled == ()


def test_a_study_names_its_sites_settings_and_internal_report(tmp_path: Path) -> None:
    scores = cohort(n=600)
    assert scores.site is not None
    columns = {
        "y": scores["outcome"],
        "p": scores["risk"],
        "hospital": [scores.site.names[i] for i in scores.site.codes],
    }
    content: dict[str, Any] = {
        "name": "abroad",
        "task": "risk",
        "columns": {"outcome": "y", "risk": "p", "site": "hospital"},
        "lenses": {"sites": {"limit": {"auroc": [0.5, None]}, "internal": "home.json", "subsets": ["type"]}},
        "bootstrap": {"replicates": 200},
        "sites": "sites.csv",
        "intended_settings": ["rural", "prison"],
        "gates": ["auroc{pooled=sites}.low >= 0.6@0.90", "auroc{site=*}.value >= 0.99"],
    }
    home = validate(Study.of({**content, "lenses": {"internal": {}}, "sites": None, "gates": []}), table=columns)
    (tmp_path / "home.json").write_text(home.to_json(), encoding="utf-8")
    (tmp_path / "sites.csv").write_text(
        "site,type,volume\nA,rural,120\nB,academic,900\nC,rural,300\n", encoding="utf-8"
    )
    report = validate(Study.of(content, base=tmp_path), table=columns)
    found = report.results["sites"]
    assert [(row["setting"], row["status"]) for row in found.tables["settings"]] == [
        ("rural", "validated"),
        ("prison", "not validated"),
    ]
    auroc = next(row for row in found.comparisons if row["metric"] == "auroc")
    assert auroc["against"] == "internal report"
    assert auroc["internal"] == pytest.approx(home.estimate("auroc").value, rel=1e-11)
    assert auroc["finding"] == "no clear change"
    assert {row["level"]: row["k"] for row in found.tables["subsets"] if row["metric"] == "auroc"} == {
        "academic": 1,
        "rural": 2,
    }
    assert [verdict.outcome for verdict in report.verdicts] == ["pass", "fail", "fail", "fail"]
    assert Report.from_dict(json.loads(report.to_json())).to_json() == report.to_json()
